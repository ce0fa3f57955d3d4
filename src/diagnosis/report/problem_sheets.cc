// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer_sheets.h"
#include "mpa/base/notes.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/variables.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

struct ProblemRow {
  std::string category, description, suggestion;
  Cell count, time, ratio, income, income_ratio, severity, alone, key;
};

// Those of the Python tool, and behind them what it does not have.
const SheetColumns<ProblemRow>& ProblemColumns() {
  using Row = ProblemRow;
  static const SheetColumns<Row> columns = {
      TextColumn<&Row::category>(
          "category", 30, "The kind of problem, in the words of the Python tool if it has any"),
      TextColumn<&Row::description>("description", 60, "What was found, and what was measured"),
      TextColumn<&Row::suggestion>("suggestion", 60, "What to do about it"),
      CountColumn<&Row::count>("problem count", 14, "How often the problem occurs"),
      TimeColumn<&Row::time>("total_time(us)", 14, Unit::kNsShownAsUs,
                             "Time that the problem takes"),
      NumberColumn<&Row::ratio>("time ratio", Format::kPercent, 12,
                                "The time as a share of the step"),
      TimeColumn<&Row::income>(
          "income(us)", 14, Unit::kNsShownAsUs,
          "Time per step that a fix saves once the findings above it are fixed"),
      NumberColumn<&Row::income_ratio>("income ratio", Format::kPercent, 12,
                                       "The income as a share of the step"),
      TextColumn<&Row::severity>(
          "severity", 12, "Share of the step that a fix saves; empty where nothing was replayed"),
      TimeColumn<&Row::alone>("income alone(us)", 14, Unit::kNsShownAsUs,
                              "Time per step that a fix saves if nothing else is fixed"),
      TextColumn<&Row::key>("key", 30, "The finding's name for programs"),
  };
  return columns;
}

// What was seen and has no price: nothing was replayed.
SheetColumns<ProblemRow> ObservationColumns() {
  SheetColumns<ProblemRow> columns = ProblemColumns();
  constexpr std::size_t kWithoutPrice = 5;  // up to the time
  columns.resize(kWithoutPrice);
  return columns;
}

// The links of the summary lead to what a fix saves, or else to how long the problem takes.
void LeadToTimes(const Sheet& sheet, WorkbookSummary& summary) {
  constexpr std::size_t kTime = 4, kIncome = 6;
  for (SummaryTable& table : summary.tables) {
    for (std::optional<RowPlace>& link : table.links) {
      if (!link || link->sheet != sheet.name) continue;
      const std::vector<Cell>& cells = sheet.rows[link->row].cells;
      const auto* income = std::get_if<std::int64_t>(&cells[kIncome]);
      const bool saves = income != nullptr && *income > 0;
      if (saves || !std::holds_alternative<std::monostate>(cells[kTime]))
        link->column = saves ? kIncome : kTime;
    }
  }
}

double ShareOfStep(TimeNs time, TimeNs step) { return step > 0 ? Share(time, step) : 0; }

ProblemRow RowOf(const Diagnosis& diagnosis, const Finding& finding) {
  ProblemRow row;
  row.category = ProblemOf(finding);
  row.description = TitleOf(finding);
  const std::string facts = FactsText(finding, kAllColumns);  // cells are not cut
  if (!facts.empty()) row.description += "\n" + facts;
  row.suggestion = "1. " + AdviceOf(finding);
  for (const Metric& metric : finding.metrics) {
    if (metric.info == &kCallsPerStep) row.count = metric.value;
    if (metric.info != &kTimePerStep) continue;
    row.time = static_cast<TimeNs>(metric.value);
    row.ratio = ShareOfStep(static_cast<TimeNs>(metric.value), diagnosis.step);
  }
  row.income = finding.gain;
  row.income_ratio = ShareOfStep(finding.gain, diagnosis.step);
  row.severity = std::string(NameOf(ImpactOf(diagnosis, finding)));
  row.alone = finding.alone;
  row.key = finding.key;
  return row;
}

ProblemRow RowOf(const AnalyzerNote& note) {
  ProblemRow row;
  row.category = note.category;
  row.description = note.description;
  row.suggestion = "1. " + note.suggestion;
  row.count = note.count;
  if (note.time > 0) row.time = note.time;
  return row;
}

// Part of the shown account, in the words of the Python tool.
struct OverallRow {
  std::string index;
  TimeNs time = 0, whole = 0;
  double Share() const { return ShareOfStep(time, whole); }
};

const SheetColumns<OverallRow>& OverallColumns() {
  using Row = OverallRow;
  static const SheetColumns<Row> columns = {
      TextColumn<&Row::index>("Performance Index", 34, "What the time of the step was spent on"),
      TimeColumn<&Row::time>("Duration(ms)", 14, Unit::kNsShownAsMs, "How long; mean of the steps"),
      NumberColumn<&Row::Share>("Duration Ratio", Format::kPercent, 14,
                                "The time as a share of the step"),
  };
  return columns;
}

class OverallSheet {
 public:
  explicit OverallSheet(const AccountRow& account) : account_(account) {}

  Sheet Make(std::string_view name) && {
    sheet_ = SheetOf(name, OverallColumns());
    Add("Computing Time", {"comp."});
    Add("    -- Flash Attention", {"comp.attention"});
    Add("    -- Conv", {"comp.conv"});
    Add("    -- Matmul", {"comp.matmul", "comp.gmm"});
    Add("    -- Vector", {"comp.vector", "comp.format"});
    Add("    -- SDMA(Tensor Move)", {"comp.move"});
    Add("    -- Other", {"comp.mc2", "comp.aicpu", "comp.other"});
    Add("Uncovered Communication Time", {"comm."});
    Add("    -- Wait", {"comm.wait_peer", "comm.bubble"});
    Add("    -- Transmit", {"comm.transfer", "comm.slow", "comm.inner", "comm.unsplit"});
    Add("Free Time", {"free.", "copy."});
    Add("    -- SDMA", {"copy."});
    Add("    -- Free", {"free."});
    AddRow(OverallColumns(), {"E2E Time", account_.window, account_.window}, 0, sheet_);
    return std::move(sheet_);
  }

 private:
  void Add(const char* index, std::initializer_list<std::string_view> prefixes) {
    TimeNs time = 0;
    for (const auto& [category, of_category] : account_.categories) {
      for (const std::string_view prefix : prefixes)
        time += category.starts_with(prefix) ? of_category : 0;
    }
    AddRow(OverallColumns(), {index, time, account_.window}, 0, sheet_);
  }

  const AccountRow& account_;
  Sheet sheet_;
};

struct SummaryRow {
  RankId rank;
  std::int32_t step = -1;
  std::string category;
  TimeNs time = 0, whole = 0;
  double Share() const { return ShareOfStep(time, whole); }
};

const SheetColumns<SummaryRow>& SummaryColumns() {
  using Row = SummaryRow;
  static const SheetColumns<Row> columns = {
      CountColumn<&Row::rank, kRank>("rank_id", 10, "Rank"),
      CountColumn<&Row::step>("step", 10, "Step"),
      TextColumn<&Row::category>("Performance Index", 26, "What the time was spent on"),
      TimeColumn<&Row::time>(
          "Duration(ms)", 14, Unit::kNsShownAsMs,
          "Time of the step that was spent on it; the rows of a step add up to it"),
      NumberColumn<&Row::Share>("Duration Ratio", Format::kPercent, 14,
                                "The time as a share of the step"),
  };
  return columns;
}

}  // namespace

void AddProblemSheets(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis,
                      Report& report) {
  Sheet problems = SheetOf(Translated(kProblemsSheet), ProblemColumns());
  Sheet others = SheetOf(Translated(kOthersSheet), ProblemColumns());
  Sheet observations = SheetOf(Translated("observations"), ObservationColumns());
  AnalyzerSheets analyzers(ranks, diagnosis);
  for (const auto& add : {AddEnvironmentSheet, AddRankSheets, AddTransferSheets, AddKernelSheets})
    add(analyzers);
  for (const Finding& finding : diagnosis.findings) {
    AddRow(ProblemColumns(), RowOf(diagnosis, finding), 0, IsFault(finding) ? problems : others);
  }
  for (const AnalyzerNote& note : analyzers.notes) {
    AddRow(ObservationColumns(), RowOf(note), 0, observations);
  }
  report.summary = DiagnosisSummary(diagnosis);
  for (const Sheet* sheet : {&problems, &others}) LeadToTimes(*sheet, *report.summary);
  report.sheets.push_back(std::move(problems));
  for (Sheet* sheet : {&others, &observations}) {
    if (!sheet->rows.empty()) report.sheets.push_back(std::move(*sheet));
  }
  if (const auto shown = ShownAccount(diagnosis)) {
    report.sheets.push_back(OverallSheet(*shown).Make(Translated("Overall Summary")));
  }
  Sheet summary = SheetOf(Translated("Step Accounting"), SummaryColumns());
  std::map<RankId, std::size_t> place;
  for (std::size_t i = 0; i < report.ranks.size(); ++i) place[report.ranks[i]] = i;
  for (const AccountRow& row : diagnosis.accounting) {
    for (const auto& [category, time] : row.categories) {
      AddRow(SummaryColumns(), {row.rank, row.step, std::string(category), time, row.window},
             place[row.rank], summary);
    }
  }
  report.sheets.push_back(std::move(summary));
  for (Sheet& sheet : analyzers.sheets) report.sheets.push_back(std::move(sheet));
  AppendNew(analyzers.left_out, report.notes);
}

// The environment variables that cost time.

namespace {

struct VariableRow {
  std::string name, value, description, suggestion;
};

// By name.
std::set<std::string> PoorOf(RankId rank, const RankDiagnosis& part, const Diagnosis& diagnosis) {
  std::set<std::string> names;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.setting && finding.Concerns(rank)) names.insert(finding.setting->variable);
  }
  for (const Variable& variable : Variables()) {
    if (!variable.is_finding && IsPoor(variable, part.settings))
      names.insert(std::string(variable.name));
  }
  return names;
}

VariableRow RowOf(const std::string& name, const RankDiagnosis& part) {
  static constexpr std::string_view kDiffers = "the ranks have different values";
  const Variable* variable = VariableNamed(name);
  const bool costs = variable != nullptr && IsPoor(*variable, part.settings);
  return {name, ValueIn(part.settings, name),
          std::string(Translated(costs ? CostsOf(*variable) : kDiffers)),
          std::string(Translated(costs ? variable->advice : kAgree))};
}

}  // namespace

void AddEnvironmentSheet(AnalyzerSheets& sheets) {
  static constexpr std::string_view kEnvironment = "Environment Variable Issues";
  static const SheetColumns<VariableRow> columns = {
      TextColumn<&VariableRow::name>("Environment", 28, "The variable"),
      TextColumn<&VariableRow::value>(
          "Value", 24, "Value of the variable on the rank; empty where it is not set"),
      TextColumn<&VariableRow::description>("Description", 50, "What the value costs"),
      TextColumn<&VariableRow::suggestion>("Suggestion", 50, "What to set"),
      RankColumn<VariableRow>(10),
  };
  std::set<std::string> poor;
  RankIndex rank;
  sheets.Add(kEnvironment, columns, [&](const RankDiagnosis& part, auto add) {
    for (const std::string& name : PoorOf(sheets.ranks[rank].rank, part, sheets.diagnosis)) {
      poor.insert(name);
      add(RowOf(name, part));
    }
    ++rank;
  });
  sheets.AddNote(kEnvironment, {static_cast<std::int64_t>(poor.size()), 0},
                 Say("{} environment variables have values that may cost time", poor.size()),
                 Say("set them as the sheet says"));
}

}  // namespace mpa
