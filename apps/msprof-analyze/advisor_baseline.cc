// SPDX-License-Identifier: Apache-2.0
#include "advisor_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "command.h"
#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/printable.h"
#include "mpa/io/json_document.h"
#include "mpa/report/amount.h"

namespace mpa {
namespace {

[[noreturn]] void FailNoDiagnosis(const std::filesystem::path& file) {
  Fail(ErrorKind::kCorrupt, "{}: not a diagnosis; make one with 'advisor all -d DIR --json'",
       file.string());
}

// Of a finding in the list of its document: faults, opportunities, settings and memory, the
// capture.
int SectionIn(const nlohmann::json& finding) {
  const auto text = [&](const char* member) {
    const nlohmann::json& value = io::Member(finding, member);
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  const std::string id = text("id");
  if (id.starts_with("capture.")) return 3;
  if (id.starts_with("env.") || id.starts_with("mem.")) return 2;
  return text("kind") == "fault" ? 0 : 1;
}

// A document that was cut lost findings of its last section, or of later ones. Nothing if it was
// not cut.
std::optional<int> FirstCutSection(const nlohmann::json& document) {
  const nlohmann::json& omitted = io::Member(io::Member(document, "omitted"), "findings");
  if (!omitted.is_number_integer() || omitted.get<std::int64_t>() <= 0) return std::nullopt;
  const nlohmann::json& findings = document["findings"];
  return findings.empty() ? 0 : SectionIn(findings.back());
}

std::map<std::string, std::int64_t> GainsOf(const nlohmann::json& document) {
  std::map<std::string, std::int64_t> gains;
  for (const nlohmann::json& finding : io::Member(document, "findings")) {
    const nlohmann::json& key = io::Member(finding, "key");
    const nlohmann::json& gain = io::Member(finding, "gain_ns");
    if (key.is_string() && gain.is_number_integer())
      gains[key.get<std::string>()] = gain.get<std::int64_t>();
  }
  return gains;
}

bool IsDropped(const nlohmann::json& diagnosis, const nlohmann::json& row) {
  const nlohmann::json& dropped = io::Member(io::Member(diagnosis, "capture"), "dropped_steps");
  return std::find(dropped.begin(), dropped.end(), io::Member(row, "step")) != dropped.end();
}

ChangeNode StepChange(const nlohmann::json& before, const nlohmann::json& now) {
  const auto old_accounts = MeanAccounts(before), accounts = MeanAccounts(now);
  const bool alone = old_accounts.size() == 1 && accounts.size() == 1;
  ChangeNode longest;
  for (const auto& [rank, account] : accounts) {
    // The numbers of single ranks need not agree.
    const auto old = alone ? old_accounts.begin() : old_accounts.find(rank);
    if (old == old_accounts.end()) continue;
    ChangeNode step = AccountChange(rank < 0 ? "step" : fmt::format("step of rank {}", rank),
                                    {.parts = old->second}, {.parts = account});
    if (longest.children.empty() || step.comparison > longest.comparison) longest = std::move(step);
  }
  return longest;
}

// "step of rank 0: +12.000 ms (+8.1 %)" and what that is made of.
void AddStep(const ChangeNode& step, bool chinese, std::size_t width,
             std::vector<std::string>& lines) {
  constexpr std::size_t kIndent = 2;
  if (step.children.empty()) return;
  const AmountScale scale = AmountScale::ForPartsOf(std::max(step.base, step.comparison));
  lines.push_back(fmt::format("{}{}{} {} ({})", chinese ? "单步耗时变化" : step.name,
                              chinese ? "：" : ": ", scale.Signed(scale.Rounded(step.Change())),
                              scale.unit(), GrowthOf(step.base, step.comparison)));
  if (chinese) return;  // the parts have English names
  for (const std::string& line :
       ChangeLines(SummariseChange(step, scale), scale, width - kIndent)) {
    lines.push_back("  " + line);
  }
}

}  // namespace

std::map<std::int64_t, TimesByName> MeanAccounts(const nlohmann::json& diagnosis) {
  std::map<std::int64_t, TimesByName> accounts;
  std::map<std::int64_t, std::int64_t> steps;
  for (const nlohmann::json& row : io::Member(diagnosis, "accounting")) {
    const nlohmann::json& rank = io::Member(row, "rank");
    if (!rank.is_number_integer() || IsDropped(diagnosis, row)) continue;
    ++steps[rank.get<std::int64_t>()];
    for (const auto& [leaf, time] : io::Member(row, "leaves").items()) {
      if (time.is_number_integer())
        accounts[rank.get<std::int64_t>()][leaf].ns += time.get<std::int64_t>();
    }
  }
  for (auto& [rank, account] : accounts) {
    for (auto& [leaf, time] : account) time.ns /= steps[rank];
  }
  return accounts;
}

nlohmann::json ReadEarlierDiagnosis(const std::string& path) {
  return InContext("--baseline", [&] {
    const std::filesystem::path file = ExpandHome(path);
    nlohmann::json document = io::ReadJson(file);
    // What --agent prints has the diagnosis within.
    if (io::Member(document, "message").is_object()) document = nlohmann::json(document["message"]);
    const nlohmann::json& schema = io::Member(document, "schema");
    const bool known =
        schema.is_string() && schema.get<std::string>().starts_with("mpa.diagnosis/1");
    if (!known || !io::Member(document, "findings").is_array()) FailNoDiagnosis(file);
    return document;
  });
}

FindingChanges ChangesOf(const nlohmann::json& before, const nlohmann::json& now, double grown) {
  FindingChanges changes;
  changes.step = StepChange(before, now);
  const std::map<std::string, std::int64_t> old_gains = GainsOf(before), gains = GainsOf(now);
  const std::optional<int> cut_from = FirstCutSection(before);
  std::map<std::string, int> sections;
  for (const nlohmann::json& finding : io::Member(now, "findings"))
    sections[finding.value("key", "")] = SectionIn(finding);
  for (const auto& [key, gain] : gains) {
    const auto old = old_gains.find(key);
    if (old != old_gains.end()) {
      const bool has_grown = static_cast<double>(gain) > grown * static_cast<double>(old->second);
      if (has_grown) changes.rows.push_back({"grown", key, old->second, gain});
    } else if (cut_from && sections[key] >= *cut_from) {
      ++changes.untold;
    } else {
      changes.rows.push_back({"new", key, 0, gain});
    }
  }
  for (const auto& [key, gain] : old_gains) {
    if (!gains.contains(key)) changes.rows.push_back({"gone", key, gain, 0});
  }
  return changes;
}

std::vector<std::string> LinesOf(const FindingChanges& changes, bool chinese, std::size_t width) {
  static const std::map<std::string_view, std::string_view> words = {
      {"new", "新增"}, {"grown", "变大"}, {"gone", "消失"}};
  constexpr std::size_t kWord = 6;
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  std::vector<std::string> lines;
  AddStep(changes.step, chinese, width, lines);
  const std::size_t before_findings = lines.size();
  for (const FindingChange& change : changes.rows) {
    const std::string word(chinese ? words.at(change.what) : change.what);
    const std::string blanks(kWord - std::min(kWord, ColumnsOf(word)), ' ');
    const std::string start =
        fmt::format("{}{} {}{}", word, blanks, Printable(change.key), chinese ? "：" : ": ");
    const bool grown = change.what == "grown";
    lines.push_back(
        grown ? fmt::format("{}{:.1f} -> {:.1f} ms", start, ms(change.before), ms(change.now))
              : fmt::format("{}{:.1f} ms", start, ms(change.before + change.now)));
  }
  if (changes.untold > 0) {
    lines.push_back(fmt::format(
        fmt::runtime(chinese
                         ? "{} 项无法判断是否新增：基线文档经过截断（可用 --top 1000 重新生成）"
                         : "may be new: {}; the baseline was cut (--top 1000 keeps all findings)"),
        changes.untold));
  } else if (lines.size() == before_findings) {
    lines.emplace_back(chinese ? "与基线相比，没有新增、消失或变大的问题"
                               : "no finding is new, gone or has grown since the baseline");
  }
  return lines;
}

nlohmann::ordered_json StepChangeJson(const ChangeNode& step) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const ChangeNode& part : LeavesOf(step)) {
    parts.push_back({{"name", part.name},
                     {"leaf", part.leaf},
                     {"before_ns", part.base},
                     {"now_ns", part.comparison}});
  }
  return {{"before_ns", step.base}, {"now_ns", step.comparison}, {"parts", parts}};
}

nlohmann::ordered_json ChangesJson(const std::vector<FindingChange>& changes) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const FindingChange& change : changes) {
    rows.push_back({{"what", change.what},
                    {"key", change.key},
                    {"before_ns", change.before},
                    {"gain_ns", change.now}});
  }
  return rows;
}

}  // namespace mpa
