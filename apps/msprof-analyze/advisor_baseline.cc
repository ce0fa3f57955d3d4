// SPDX-License-Identifier: Apache-2.0
#include "advisor_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "command.h"
#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/change/job_causes.h"
#include "mpa/compare/comparison.h"
#include "mpa/io/json_document.h"
#include "mpa/pipeline/compare.h"
#include "mpa/pipeline/find_ranks.h"
#include "mpa/report/amount.h"

namespace mpa {
namespace {

[[noreturn]] void FailNoDiagnosis(const std::filesystem::path& file) {
  Fail(ErrorKind::kCorrupt, "{}: not a diagnosis; make one with 'advisor all -d DIR --json'",
       file.string());
}

// Empty where there is none.
std::string TextIn(const nlohmann::json& object, const char* member) {
  const nlohmann::json& value = io::Member(object, member);
  return value.is_string() ? value.get<std::string>() : std::string();
}

// Of a finding in the list of its document: faults, opportunities, settings and memory, the
// capture.
int SectionIn(const nlohmann::json& finding) {
  const std::string id = TextIn(finding, "id");
  if (id.starts_with("capture.")) return 3;
  if (id.starts_with("env.") || id.starts_with("mem.")) return 2;
  return TextIn(finding, "kind") == "fault" ? 0 : 1;
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
  return std::ranges::find(dropped, io::Member(row, "step")) != dropped.end();
}

// The accounts of the mean step by rank, without steps that were dropped: ns by category.
std::map<RankId, TimesByName> MeanAccounts(const nlohmann::json& diagnosis) {
  std::map<RankId, TimesByName> accounts;
  std::map<RankId, std::int64_t> steps;
  for (const nlohmann::json& row : io::Member(diagnosis, "accounting")) {
    const nlohmann::json& name = io::Member(row, "rank");
    if ((!name.is_number_integer() && !name.is_string()) || IsDropped(diagnosis, row)) continue;
    const RankId rank =
        name.is_string() ? RankOfLabel(name.get<std::string>()) : name.get<std::int64_t>();
    ++steps[rank];
    for (const auto& [category, time] : io::Member(row, "leaves").items()) {
      if (time.is_number_integer()) accounts[rank][category].time += time.get<std::int64_t>();
    }
  }
  for (auto& [rank, account] : accounts) {
    for (auto& [category, amount] : account) amount.time /= steps[rank];
  }
  return accounts;
}

std::int64_t NumberIn(const nlohmann::json& object, const char* member) {
  const nlohmann::json& number = io::Member(object, member);
  return number.is_number_integer() ? number.get<std::int64_t>() : 0;
}

// Of findings that documents of versions before do not tell as causes, the title.
JobCauses CausesIn(const nlohmann::json& diagnosis) {
  constexpr std::int64_t kLeastPart = 100;  // 1 % of the step, as findings have at least
  JobCauses causes{.step = NumberIn(diagnosis, "step_ns"), .least = 0, .causes = {}};
  causes.least = causes.step / kLeastPart;
  for (const nlohmann::json& finding : io::Member(diagnosis, "findings")) {
    const nlohmann::json& texts = io::Member(finding, "text");
    JobCause cause{.key = TextIn(finding, "key"),
                   .text = TextIn(texts, "cause"),
                   .detail = TextIn(texts, "cause_detail"),
                   .cost = NumberIn(finding, "gain_max_ns"),
                   .is_fault = TextIn(finding, "kind") == "fault"};
    if (cause.text.empty()) cause.text = TextIn(texts, "title");
    if (cause.cost > 0 && SectionIn(finding) < 2 && !cause.key.starts_with("step.long"))
      causes.causes.push_back(std::move(cause));
  }
  for (const nlohmann::json& hidden : io::Member(diagnosis, "hidden")) {
    causes.causes.push_back({.key = TextIn(hidden, "key"),
                             .text = {},
                             .detail = {},
                             .cost = NumberIn(hidden, "alone_ns"),
                             .is_hidden = true});
  }
  return causes;
}

// A document that was cut lacks findings, and one of a single rank has no job.
ChangeNode CausesSince(const nlohmann::json& before, const nlohmann::json& now) {
  const auto ranks = [](const nlohmann::json& diagnosis) {
    return io::Member(io::Member(diagnosis, "capture"), "ranks").size();
  };
  if (FirstCutSection(before) || ranks(before) < 2 || ranks(now) < 2) return {};
  return CauseChange(Say("job of {} ranks", ranks(now)), CausesIn(before), CausesIn(now));
}

ChangeNode StepChange(const nlohmann::json& before, const nlohmann::json& now) {
  const auto old_accounts = MeanAccounts(before), accounts = MeanAccounts(now);
  const bool alone = old_accounts.size() == 1 && accounts.size() == 1;
  ChangeNode longest;
  for (const auto& [rank, account] : accounts) {
    // The numbers of single ranks need not agree.
    const auto old = alone ? old_accounts.begin() : old_accounts.find(rank);
    if (old == old_accounts.end()) continue;
    ChangeNode step = AccountChange(rank < 0 ? "step" : Say("step of rank {}", RankName(rank)),
                                    {.parts = old->second}, {.parts = account});
    if (longest.children.empty() || step.comparison > longest.comparison) longest = std::move(step);
  }
  return longest;
}

// Documents of versions before, and those that were cut, have those that bear on the performance
// alone, and of these the ones that are set.
RecordedSettings KnownSettings(const nlohmann::json& capture) {
  static const std::map<std::string_view, const char*> switches = {
      {"profiler.stack", "with_stack"},
      {"profiler.shapes", "record_shapes"},
      {"profiler.memory", "profile_memory"},
      {"profiler.modules", "with_modules"}};
  RecordedSettings settings;
  for (const auto& [name, value] : io::Member(capture, "settings").items()) {
    // Values that differ by rank, "0 (rank 3), 2 (ranks 0-2)", cannot be compared.
    if (!value.is_string() ||
        value.get_ref<const std::string&>().find(" (rank") != std::string::npos)
      continue;
    const auto found = switches.find(name);
    if (found != switches.end()) {
      AddSetting(SettingKind::kProfiler, found->second, value.get<std::string>(), settings);
    } else if (!name.starts_with("profiler.")) {
      AddSetting(SettingKind::kEnvironment, name, value.get<std::string>(), settings);
    }
  }
  return settings;
}

RecordedSettings SettingsIn(const nlohmann::json& diagnosis) {
  const nlohmann::json& capture = io::Member(diagnosis, "capture");
  const nlohmann::json& recorded = io::Member(capture, "recorded_settings");
  if (!recorded.is_object()) return KnownSettings(capture);
  RecordedSettings settings;
  for (const SettingKind kind : kSettingKinds) {
    const nlohmann::json& values = io::Member(recorded, std::string(NameOf(kind)).c_str());
    if (!values.is_object()) continue;
    settings[kind];
    for (const auto& [name, value] : values.items()) {
      if (value.is_string()) AddSetting(kind, name, value.get<std::string>(), settings);
    }
  }
  return settings;
}

// "step of rank 0: +12.000 ms (+8.1 %)" and what that is made of.
void AddStep(const ChangeNode& step, std::size_t width, std::vector<std::string>& lines) {
  constexpr std::size_t kIndent = 2;
  if (step.children.empty()) return;
  const AmountScale scale = AmountScale::ForPartsOf(std::max(step.base, step.comparison));
  lines.push_back(Say("{}: {} {} ({})", step.name, scale.Signed(scale.Rounded(step.Change())),
                      scale.unit(), GrowthOf(step.base, step.comparison)));
  for (const std::string& line :
       ChangeLines(SummariseChange(step, scale), scale, width - kIndent)) {
    lines.push_back("  " + line);
  }
}

}  // namespace

nlohmann::json ReadEarlierDiagnosis(const std::string& path) {
  return InContext("--baseline", [&] {
    const std::filesystem::path file = ExpandHome(path);
    nlohmann::json document = io::ReadJson(file);
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
  changes.causes = CausesSince(before, now);
  changes.settings = CompareSettings(SettingsIn(before), SettingsIn(now));
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

std::vector<std::string> LinesOf(const FindingChanges& changes, std::size_t width) {
  constexpr std::size_t kWord = 6;
  std::vector<std::string> lines = CauseLines(changes.causes, width);
  AddStep(changes.step, width, lines);
  if (const std::string settings = SettingsLine(changes.settings); !settings.empty()) {
    for (std::string& line : Wrapped(Printable(settings), 2, width))
      lines.push_back(std::move(line));
  }
  const std::size_t before_findings = lines.size();
  for (const FindingChange& change : changes.rows) {
    const std::string start = fmt::format(
        "{} {}", PaddedBehind(std::string(Translated(change.what)), kWord), Printable(change.key));
    lines.push_back(
        change.what == "grown"
            ? Say("{}: {:.1f} -> {:.1f} ms", start, InMs(change.before), InMs(change.now))
            : Say("{}: {:.1f} ms", start, InMs(change.before + change.now)));
  }
  if (changes.untold > 0) {
    lines.push_back(Say("may be new: {}; the baseline was cut (--top 1000 keeps all findings)",
                        changes.untold));
  } else if (lines.size() == before_findings) {
    lines.push_back(Say("no finding is new, gone or has grown since the baseline"));
  }
  return lines;
}

nlohmann::ordered_json StepChangeJson(const ChangeNode& step) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const ChangeNode& part : CategoriesOf(step)) {
    parts.push_back({{"name", part.name},
                     {"leaf", part.category},
                     {"before_ns", part.base},
                     {"now_ns", part.comparison}});
  }
  return {{"before_ns", step.base}, {"now_ns", step.comparison}, {"parts", parts}};
}

nlohmann::ordered_json CauseChangesJson(const ChangeNode& causes) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ChangeNode& cause : causes.children) {
    rows.push_back({{"key", cause.kind == kRemainder ? "" : cause.category},
                    {"text", cause.name},
                    {"detail", cause.cause},
                    {"before_ns", cause.base},
                    {"now_ns", cause.comparison}});
  }
  return rows;
}

nlohmann::ordered_json SettingChangesJson(const ComparedSettings& compared) {
  const auto value = [](const std::optional<std::string>& text) {
    return text ? nlohmann::ordered_json(*text) : nlohmann::ordered_json();
  };
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const SettingDifference& difference : compared.differing) {
    rows.push_back({{"name", difference.name},
                    {"kind", NameOf(difference.kind)},
                    {"before", value(difference.base)},
                    {"now", value(difference.comparison)},
                    {"before_costs_time", difference.base_costs},
                    {"now_costs_time", difference.comparison_costs},
                    {"cost", difference.costs}});
  }
  return {{"line", SettingsLine(compared)}, {"differing", rows}};
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

// Two runs side by side, as the Python tool's advisor shows them.

namespace {

using Times = std::map<RankId, std::int64_t>;  // ns of the mean step, by rank

// What the categories that begin with `prefix` take.
Times TimesOf(const nlohmann::json& diagnosis, std::string_view prefix) {
  Times sums;
  for (const auto& [rank, account] : MeanAccounts(diagnosis)) {
    for (const auto& [category, amount] : account) {
      if (category.starts_with(prefix)) sums[rank] += amount.time;
    }
  }
  return sums;
}

// A rank of the target and its like in the benchmark.
struct RankPair {
  const FoundRank* target = nullptr;
  const FoundRank* benchmark = nullptr;
};

// The pair that lost most. The numbers of single ranks need not agree.
std::optional<RankPair> LargestLoss(const FoundRanks& targets, const Times& target,
                                    const FoundRanks& benchmarks, const Times& benchmark) {
  if (targets.ranks.size() == 1 && benchmarks.ranks.size() == 1) {
    return RankPair{&targets.ranks[0], &benchmarks.ranks[0]};
  }
  std::optional<RankPair> worst;
  std::int64_t most = 0;
  for (const FoundRank& of_target : targets.ranks) {
    const auto same = [&](const FoundRank& other) { return other.rank == of_target.rank; };
    const auto found = std::ranges::find_if(benchmarks.ranks, same);
    const auto own = target.find(of_target.rank), other = benchmark.find(of_target.rank);
    if (found == benchmarks.ranks.end() || own == target.end() || other == benchmark.end())
      continue;
    const std::int64_t loss = own->second - other->second;
    if (worst && loss <= most) continue;
    worst = RankPair{&of_target, &*found};
    most = loss;
  }
  return worst;
}

// 0 where there is none.
double NumberIn(const Row& row, std::size_t column) {
  return column < row.cells.size() ? NumberOf(row.cells[column]).value_or(0) : 0;
}

// The first columns of times of both sides.
std::pair<std::size_t, std::size_t> TotalsOf(const Sheet& sheet) {
  std::size_t own = 0, other = 0;
  for (std::size_t i = sheet.columns.size(); i-- > 0;) {
    if (!sheet.columns[i].name.starts_with("Total Duration")) continue;
    (sheet.columns[i].side == Side::kBase ? own : other) = i;
  }
  return {own, other};
}

// The sheet of compare as the advisor of the Python tool has it. What lost most stands first.
Sheet AsBenchmarkSheet(Sheet sheet, std::string name) {
  const auto [own, other] = TotalsOf(sheet);
  const auto loss = [own = own, other = other](const Row& row) {
    return NumberIn(row, own) - NumberIn(row, other);
  };
  std::ranges::stable_sort(sheet.rows,
                           [&](const Row& a, const Row& b) { return loss(a) > loss(b); });
  for (std::size_t i = 0; i < sheet.rows.size(); ++i) {
    sheet.rows[i].cells[0] = static_cast<std::int64_t>(i + 1);
  }
  for (Column& column : sheet.columns) {
    // Two blanks, as the Python tool writes it.
    if (column.side == Side::kComparison) column.name = "Benchmark  " + column.name;
    column.side = Side::kNeither;
  }
  sheet.banners.clear();
  sheet.look = Look::kList;
  sheet.name = std::move(name);
  return sheet;
}

class BenchmarkComparison {
 public:
  BenchmarkComparison(const ClusterRequest& target, const ClusterRequest& benchmark, Report& report)
      : steps_{target.step, benchmark.step},
        targets_(FindRanks(target.directory, target.ranks, target.open)),
        benchmarks_(FindRanks(benchmark.directory, benchmark.ranks, benchmark.open)),
        report_(report) {}

  void Add(std::string_view comparison, std::string_view title, const Times& target,
           const Times& benchmark) {
    const auto pair = LargestLoss(targets_, target, benchmarks_, benchmark);
    if (!pair) {
      report_.notes.push_back(
          Say("{}: no rank was captured in both runs; give runs with the same ranks", title));
      return;
    }
    CompareRequest request;
    request.base = pair->target->input;
    request.comparison = pair->benchmark->input;
    if (steps_[0] && steps_[1]) {
      request.base_step = steps_[0];
      request.comparison_step = steps_[1];
    }
    request.options.kernel_types = true;
    for (const Comparison& known : AllComparisons()) {
      if (known.name == comparison) request.comparisons.push_back(known);
    }
    CompareOutcome outcome = Compare(request);
    const std::string whose =
        targets_.ranks.size() == 1 ? "Target and Benchmark" : "Rank" + RankName(pair->target->rank);
    for (Sheet& sheet : outcome.report.sheets) {
      report_.sheets.push_back(
          AsBenchmarkSheet(std::move(sheet), fmt::format("{} of {}", title, whose)));
    }
    for (const std::string& note : outcome.report.notes) {
      if (std::ranges::find(report_.notes, note) == report_.notes.end())
        report_.notes.push_back(note);
    }
  }

 private:
  std::optional<std::int32_t> steps_[2];
  FoundRanks targets_, benchmarks_;
  Report& report_;
};

}  // namespace

void AddBenchmarkSheets(const ClusterRequest& target, const nlohmann::json& diagnosis,
                        const ClusterRequest& benchmark, const nlohmann::json& benchmark_diagnosis,
                        Report& report) {
  BenchmarkComparison comparison(target, benchmark, report);
  comparison.Add("kernel", "Kernel compare", TimesOf(diagnosis, "comp."),
                 TimesOf(benchmark_diagnosis, "comp."));
  comparison.Add("api", "Api compare", TimesOf(diagnosis, "free."),
                 TimesOf(benchmark_diagnosis, "free."));
}

}  // namespace mpa
