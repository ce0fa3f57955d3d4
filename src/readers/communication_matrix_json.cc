// SPDX-License-Identifier: Apache-2.0
// communication_matrix.json: the amounts moved between the ranks of a group.
#include <nlohmann/json.hpp>
#include <string>

#include "communication_steps.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {
namespace {

using io::Member;
using MatrixJson = nlohmann::json;

std::string TextOf(const MatrixJson& object, const char* key) {
  const MatrixJson& value = Member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

double RealOf(const MatrixJson& object, const char* key) {
  const MatrixJson& value = Member(object, key);
  return value.is_number() ? value.get<double>() : 0;
}

// `links`: "<source>-<destination>" -> the amounts moved.
void AddLinks(const std::string& key, const MatrixJson& links, std::vector<MatrixEntry>& matrix,
              Issues& issues) {
  const std::size_t at = key.rfind('@');
  if (!links.is_object() || at == std::string::npos) return;
  for (const auto& [ends, info] : links.items()) {
    const std::size_t dash = ends.find('-');
    const auto source = io::ParseInt(std::string_view(ends).substr(0, dash));
    const auto destination = dash == std::string::npos
                                 ? std::nullopt
                                 : io::ParseInt(std::string_view(ends).substr(dash + 1));
    if (!source || !destination) {
      issues.Count("link left out, its ends are no ranks", "communication_matrix.json");
      continue;
    }
    matrix.push_back({.name = key.substr(0, at),
                      .group = key.substr(at + 1),
                      .source = *source,
                      .destination = *destination,
                      .transport = TextOf(info, "Transport Type"),
                      .megabytes = RealOf(info, "Transit Size(MB)"),
                      .milliseconds = RealOf(info, "Transit Time(ms)"),
                      .bandwidth = RealOf(info, "Bandwidth(GB/s)"),
                      .op = TextOf(info, "Op Name")});
  }
}

void ReadMatrix(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  const MatrixJson document = io::ReadJson(file.path);
  if (!document.is_object()) return;
  for (const auto& [key, kinds] : document.items()) {
    CommunicationStep& step = SummaryOf(key, trace);
    const auto add = [&, &of_step = kinds](const char* kind, std::vector<MatrixEntry>& matrix) {
      const MatrixJson& ops = Member(of_step, kind);
      if (!ops.is_object()) return;
      for (const auto& [name, links] : ops.items()) AddLinks(name, links, matrix, trace.issues);
    };
    add("p2p", step.p2p_matrix);
    add("collective", step.collective_matrix);
  }
}

}  // namespace

Reader CommunicationMatrixJson() {
  return {"communication_matrix.json", FileKind::kCommMatrix, Tables::kCommSummary, ReadMatrix};
}

}  // namespace mpa::readers
