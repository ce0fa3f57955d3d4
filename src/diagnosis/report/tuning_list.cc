// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/printable.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/utf8.h"
#include "mpa/diagnosis/part/analyzer_rows.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

constexpr std::size_t kMaxTuned = 10;

using TunedNames = std::vector<std::string>;

bool IsTuned(const TunedNames& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

TunedNames LongestOf(const std::vector<DiagnosedRank>& ranks, KernelList AnalyzerRows::*list) {
  std::vector<const KernelRow*> kernels;
  for (const DiagnosedRank& rank : ranks) {
    for (const KernelRow& kernel : (rank.part->analyzers.*list).rows) kernels.push_back(&kernel);
  }
  StableSort(kernels, std::greater(), &KernelRow::dur);
  TunedNames names;
  for (const KernelRow* kernel : kernels) {
    if (names.size() == kMaxTuned) break;
    if (!IsTuned(names, kernel->name)) names.push_back(kernel->name);
  }
  return names;
}

}  // namespace

std::string TuningList(const std::vector<DiagnosedRank>& ranks) {
  TunedNames names = LongestOf(ranks, &AnalyzerRows::on_some_cores);
  for (const std::string& name : LongestOf(ranks, &AnalyzerRows::without_bound)) {
    if (!IsTuned(names, name)) names.push_back(name);
  }
  if (names.empty()) return {};
  nlohmann::json listed = nlohmann::json::array();
  for (const std::string& name : names) listed.push_back(ValidUtf8(name));
  return PrintableJson(nlohmann::json{{"tune_ops_name", std::move(listed)}}.dump()) + "\n";
}

}  // namespace mpa
