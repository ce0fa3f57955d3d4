// SPDX-License-Identifier: Apache-2.0
#include "matching.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/compare/sequence_matching.h"

namespace mpa::calibrate {

ModuleProfile Combine(ModuleProfile rows) {
  const auto place = [](const ModuleOp& row) { return std::tie(row.parent, row.module, row.op); };
  StableSort(rows, [&](const ModuleOp& a, const ModuleOp& b) { return place(a) < place(b); });
  ModuleProfile combined;
  for (ModuleOp& row : rows) {
    if (combined.empty() || place(combined.back()) != place(row)) {
      combined.push_back(std::move(row));
      continue;
    }
    ModuleOp& sum = combined.back();
    sum.kernels += ", " + row.kernels;
    sum.total += row.total;
    sum.count += row.count;
  }
  return combined;
}

ModuleProfile ProfileOf(const std::vector<ModuleStatisticRow>& rows) {
  ModuleProfile profile;
  for (const ModuleStatisticRow& row : rows) {
    profile.push_back({row.parent, row.module, row.op, row.kernels, row.total, row.count});
  }
  return Combine(std::move(profile));
}

// Which modules of an NPU and a GPU belong together.

namespace {

std::vector<std::uint32_t> Letters(std::string_view text) {
  std::vector<std::uint32_t> letters;
  for (const char c : text) letters.push_back(static_cast<unsigned char>(c));
  return letters;
}

std::string WithoutVendor(std::string key) {
  constexpr std::string_view kVendor = "Ascend";
  for (std::size_t at = key.find(kVendor); at != std::string::npos; at = key.find(kVendor, at)) {
    key.erase(at, kVendor.size());
  }
  return key;
}

// The operators of each module, the longest first.
using Modules = std::map<std::string, std::vector<const ModuleOp*>>;

Modules ModulesOf(const ModuleProfile& profile, bool of_npu) {
  Modules modules;
  for (const ModuleOp& op : profile) {
    modules[of_npu ? WithoutVendor(op.Key()) : op.Key()].push_back(&op);
  }
  for (auto& [key, ops] : modules) {
    StableSort(ops, std::greater(), &ModuleOp::total);
  }
  return modules;
}

// NPU keys to GPU keys, without the equal ones.
std::map<std::string, std::string> FuzzyPartners(const Modules& npu, const Modules& gpu,
                                                 double threshold) {
  struct Candidate {
    double likeness;
    std::string npu, gpu;
  };
  std::vector<Candidate> candidates;
  for (const auto& [npu_key, npu_ops] : npu) {
    if (gpu.contains(npu_key)) continue;
    for (const auto& [gpu_key, gpu_ops] : gpu) {
      if (npu.contains(gpu_key)) continue;
      const double likeness = Likeness(npu_key, gpu_key);
      if (likeness >= threshold) candidates.push_back({likeness, npu_key, gpu_key});
    }
  }
  StableSort(candidates, std::greater(), &Candidate::likeness);
  std::map<std::string, std::string> partners;
  std::set<std::string> taken;
  for (const Candidate& candidate : candidates) {
    if (partners.contains(candidate.npu) || taken.contains(candidate.gpu)) continue;
    partners[candidate.npu] = candidate.gpu;
    taken.insert(candidate.gpu);
  }
  return partners;
}

std::optional<TimeNs> TimeOf(const std::vector<const ModuleOp*>& ops) {
  if (ops.empty()) return std::nullopt;
  TimeNs sum = 0;
  for (const ModuleOp* op : ops) sum += op->total;
  return sum;
}

std::string ParentOf(const std::string& key) {
  const std::size_t slash = key.rfind('/');
  return slash == std::string::npos ? std::string() : key.substr(0, slash);
}

}  // namespace

double Likeness(std::string_view a, std::string_view b) {
  if (a.empty() && b.empty()) return 1;
  std::size_t common = 0;
  for (const MatchedBlock& block : MatchSequences(Letters(a), Letters(b))) common += block.length;
  return 2 * static_cast<double>(common) / static_cast<double>(a.size() + b.size());
}

std::vector<MatchedRow> MatchModules(const ModuleProfile& npu, const ModuleProfile& gpu,
                                     double threshold) {
  const Modules npu_modules = ModulesOf(npu, true), gpu_modules = ModulesOf(gpu, false);
  const auto partners = FuzzyPartners(npu_modules, gpu_modules, threshold);
  struct Pair {
    MatchKind kind = MatchKind::kNone;
    std::vector<const ModuleOp*> npu, gpu;
  };
  std::map<std::string, Pair> pairs;
  for (const auto& [key, ops] : gpu_modules) pairs[key].gpu = ops;
  for (const auto& [key, ops] : npu_modules) {
    const auto partner = partners.find(key);
    Pair& pair = pairs[partner != partners.end() ? partner->second : key];
    pair.npu = ops;
    if (partner != partners.end()) pair.kind = MatchKind::kFuzzy;
    if (gpu_modules.contains(key)) pair.kind = MatchKind::kRule;
  }
  std::vector<MatchedRow> rows;
  for (const auto& [key, pair] : pairs) {
    const auto npu_time = TimeOf(pair.npu), gpu_time = TimeOf(pair.gpu);
    for (std::size_t i = 0; i < std::max(pair.npu.size(), pair.gpu.size()); ++i) {
      rows.push_back({key, pair.kind, i < pair.npu.size() ? pair.npu[i] : nullptr,
                      i < pair.gpu.size() ? pair.gpu[i] : nullptr, npu_time, gpu_time});
    }
  }
  const auto order = [](const MatchedRow& row) {
    const TimeNs growth = row.npu_module.value_or(0) - row.gpu_module.value_or(0);
    const bool one_sided = !row.npu_module || !row.gpu_module;  // no difference: these come last
    return std::tuple(ParentOf(row.key), one_sided, one_sided ? 0 : -growth, row.key,
                      row.gpu == nullptr, row.gpu == nullptr ? 0 : -row.gpu->total);
  };
  StableSort(rows, [&](const MatchedRow& a, const MatchedRow& b) { return order(a) < order(b); });
  return rows;
}

}  // namespace mpa::calibrate
