// SPDX-License-Identifier: Apache-2.0
#include "advisor_baseline.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/printable.h"
#include "mpa/io/json_document.h"

namespace mpa {
namespace {

[[noreturn]] void FailNoDiagnosis(const std::filesystem::path& file) {
  Fail(ErrorKind::kCorrupt, "{}: not a diagnosis; make one with 'advisor all -d DIR --json'", file.string());
}

std::map<std::string, std::int64_t> GainsOf(const nlohmann::json& document) {
  std::map<std::string, std::int64_t> gains;
  for (const nlohmann::json& finding : io::Member(document, "findings")) {
    const nlohmann::json& key = io::Member(finding, "key");
    const nlohmann::json& gain = io::Member(finding, "gain_ns");
    if (key.is_string() && gain.is_number_integer()) gains[key.get<std::string>()] = gain.get<std::int64_t>();
  }
  return gains;
}

}  // namespace

nlohmann::json ReadEarlierDiagnosis(const std::string& path) {
  return InContext("--baseline", [&] {
    const std::filesystem::path file = ExpandHome(path);
    nlohmann::json document = io::ReadJson(file);
    // What --agent prints has the diagnosis within.
    if (io::Member(document, "message").is_object()) document = nlohmann::json(document["message"]);
    const nlohmann::json& schema = io::Member(document, "schema");
    const bool known = schema.is_string() && schema.get<std::string>().starts_with("mpa.diagnosis/1");
    if (!known || !io::Member(document, "findings").is_array()) FailNoDiagnosis(file);
    return document;
  });
}

std::vector<FindingChange> ChangesOf(const nlohmann::json& before, const nlohmann::json& now, double grown) {
  std::vector<FindingChange> changes;
  const std::map<std::string, std::int64_t> old_gains = GainsOf(before), gains = GainsOf(now);
  for (const auto& [key, gain] : gains) {
    const auto old = old_gains.find(key);
    if (old == old_gains.end()) {
      changes.push_back({"new", key, 0, gain});
    } else if (static_cast<double>(gain) > grown * static_cast<double>(old->second)) {
      changes.push_back({"grown", key, old->second, gain});
    }
  }
  for (const auto& [key, gain] : old_gains) {
    if (!gains.contains(key)) changes.push_back({"gone", key, gain, 0});
  }
  return changes;
}

std::vector<std::string> ChangeLines(const std::vector<FindingChange>& changes) {
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  std::vector<std::string> lines;
  for (const FindingChange& change : changes) {
    const std::string start = fmt::format("{:<6} {}: ", change.what, Printable(change.key));
    const bool grown = change.what == "grown";
    lines.push_back(grown ? fmt::format("{}{:.1f} -> {:.1f} ms", start, ms(change.before), ms(change.now))
                          : fmt::format("{}{:.1f} ms", start, ms(change.before + change.now)));
  }
  if (lines.empty()) lines.emplace_back("no finding is new, gone or has grown since the baseline");
  return lines;
}

nlohmann::ordered_json ChangesJson(const std::vector<FindingChange>& changes) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const FindingChange& change : changes) {
    rows.push_back({{"what", change.what}, {"key", change.key}, {"before_ns", change.before}, {"gain_ns", change.now}});
  }
  return rows;
}

}  // namespace mpa
