// SPDX-License-Identifier: Apache-2.0
// How much of the communication of each way to run in parallel no computing hides.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/measure/activities.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/report.h"
#include "mpa/report/screen_list.h"

namespace mpa::recipes::computational_op_masking {
namespace {

// Names of process groups that count together.
using TypeSet = std::vector<std::string>;

// "dp,edp;tp" is two sets. Throws Error for texts with empty names.
std::vector<TypeSet> ParseTypeSets(const std::string& text) {
  std::vector<TypeSet> sets;
  for (const std::string_view set : Split(text, ';')) {
    TypeSet& types = sets.emplace_back();
    for (const std::string_view type : Split(set, ',')) {
      if (types.emplace_back(Trim(type)).empty()) {
        Fail(ErrorKind::kUsage,
             "give names joined by ',' in sets joined by ';', such as 'dp,edp;tp'");
      }
    }
  }
  return sets;
}

constexpr Option<std::vector<TypeSet>> kTypeSets{
    .name = "parallel_types",
    .type_name = "SETS",
    .help = "Names of process groups, joined by ',', in sets joined by ';'",
    .usual = "dp,edp;edp;dp;ep;pp;mp;tp",
    .read = ParseTypeSets};

// The communication of a set of types in a step of a rank.
struct SetInStep {
  std::uint32_t set = 0;  // position in the list of sets
  std::int32_t step = -1;
  TimeNs begin = 0, end = 0;  // of the step
  TimeNs total = 0, exposed = 0;

  double Share(TimeNs time) const {
    return static_cast<double>(time) / static_cast<double>(end - begin);
  }
};

struct Masking {
  std::vector<SetInStep> rows;  // by set, then step
  bool has_steps = false, has_groups = false;
};

std::map<std::string, Intervals, std::less<>> CommunicationByType(const RankTrace& trace) {
  const Communications& ops = trace.communications;
  std::map<std::string, std::vector<Interval>, std::less<>> rows;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    if (ops.group[i] < 0) continue;
    const auto group = static_cast<std::size_t>(ops.group[i]);
    const std::string_view type = trace.strings.View(trace.comm_groups.process_group[group]);
    if (type.empty()) continue;
    rows[std::string(type)].push_back({ops.start[i], ops.start[i] + ops.dur[i]});
  }
  std::map<std::string, Intervals, std::less<>> types;
  for (auto& [type, intervals] : rows) types[type] = Union(std::move(intervals));
  return types;
}

Masking MapMasking(const RankTrace& trace, const RecipeArguments& arguments) {
  const auto chosen = ChosenStep(trace.steps, arguments);
  const Intervals computing = ActivitiesOf(trace).computing;
  const auto types = CommunicationByType(trace);
  const std::vector<TypeSet> sets = arguments[kTypeSets];
  Masking part{{}, !trace.steps.Empty(), !types.empty()};
  for (std::uint32_t set = 0; set < sets.size(); ++set) {
    Intervals total;
    bool any = false;
    for (const std::string& type : sets[set]) {
      const auto found = types.find(type);
      if (found == types.end()) continue;
      any = true;
      total = Union(total, found->second);
    }
    if (!any) continue;
    const Intervals exposed = Difference(total, computing);
    for (const std::size_t i : trace.steps.RowsByStart()) {
      const Interval step{trace.steps.start[i], trace.steps.end[i]};
      if (step.end <= step.begin || (chosen && trace.steps.id[i] != *chosen)) continue;
      part.rows.push_back({set, trace.steps.id[i], step.begin, step.end,
                           Length(Intersection(total, {step})),
                           Length(Intersection(exposed, {step}))});
    }
  }
  return part;
}

void CheckMasking(const Masking& part) {
  for (const SetInStep& row : part.rows) {
    if (row.begin < 0 || row.end <= row.begin || row.exposed < 0 || row.total < row.exposed)
      Fail(ErrorKind::kCorrupt, "a step has impossible times");
  }
}

struct MaskingItem {
  RankId rank;
  const TypeSet& types;
  const SetInStep* row = nullptr;
};

Column MaskingColumn(const char* name, Format format, const char* meaning) {
  return NamedColumn(name, format, 20, meaning);
}

std::vector<ColumnOf<MaskingItem>> MaskingColumns() {
  using Item = MaskingItem;
  return {
      {MaskingColumn("stepId", Format::kInteger, "The step."),
       Member<&Item::row, &SetInStep::step>},
      {MaskingColumn("parallelType", Format::kText,
                     "Process groups whose communication counts together, joined by '+'."),
       [](const Item& item) -> Cell { return fmt::format("{}", fmt::join(item.types, "+")); }},
      {MaskingColumn("stepStartTime", Format::kInteger, "Start of the step on the host, in ns."),
       Member<&Item::row, &SetInStep::begin>},
      {MaskingColumn("stepEndTime", Format::kInteger, "End of the step on the host, in ns."),
       Member<&Item::row, &SetInStep::end>},
      {MaskingColumn("totalCommunicationOperatorTime", Format::kInteger,
                     "Time in the step in which the groups communicated, in ns."),
       Member<&Item::row, &SetInStep::total>},
      {MaskingColumn("timeRatioOfStepCommunicationOperator", Format::kDecimals4,
                     "Time in which the groups communicated, as a part of the step."),
       [](const Item& item) -> Cell { return item.row->Share(item.row->total); }},
      {MaskingColumn("totalTimeWithoutCommunicationBlackout", Format::kInteger,
                     "Communication time that no kernel hides, in ns."),
       Member<&Item::row, &SetInStep::exposed>},
      {MaskingColumn(
           "ratioOfUnmaskedCommunication", Format::kDecimals4,
           "Communication time that no kernel hides as a part of the step, with five decimals."),
       [](const Item& item) -> Cell { return Rounded(item.row->Share(item.row->exposed), 5); }},
      {MaskingColumn(
           "ratioOfMaskedCommunication", Format::kDecimals4,
           "Communication time that kernels hide as a part of the step, with five decimals."),
       [](const Item& item) -> Cell {
         return Rounded(item.row->Share(item.row->total - item.row->exposed), 5);
       }},
      {MaskingColumn("rankId", Format::kInteger, "The rank."), Member<&Item::rank, kRank>}};
}

using Ranks = std::vector<OfRank<Masking>>;

void AddLines(const Ranks& ranks, const std::vector<TypeSet>& sets, Report& report) {
  struct Sums {
    TimeNs length = 0, total = 0, exposed = 0;
  };
  OutlierLines outliers;
  ScreenLines lines;
  std::string verdict;  // of the groups of which least is hidden
  double most_exposed = -1;
  const ScreenList list(
      2, {ScreenText("process groups", 20), ScreenNumber("min", 8, 1), ScreenNumber("median", 8, 1),
          ScreenNumber("max", 8, 1), ScreenText("(rank)", 10), ScreenNumber("hidden", 8, 1)});
  const auto percent = [](double value) { return fmt::format("{:.1f} %", value); };
  for (std::uint32_t set = 0; set < sets.size(); ++set) {
    std::vector<RankValue> exposed, hidden;
    for (const auto& [id, part] : ranks) {
      Sums sums;
      for (const SetInStep& row : part.rows) {
        if (row.set != set) continue;
        sums.length += row.end - row.begin;
        sums.total += row.total;
        sums.exposed += row.exposed;
      }
      if (sums.length == 0) continue;
      exposed.push_back({id, PercentOf(sums.exposed, sums.length)});
      hidden.push_back({id, PercentOf(sums.total - sums.exposed, sums.length)});
    }
    if (exposed.empty()) continue;
    const std::string name = fmt::format("{}", fmt::join(sets[set], "+"));
    outliers.Add(name, exposed, percent);
    std::vector<Cell> cells = SpreadCells({name}, exposed);
    const RankSpread spread = SpreadOf(exposed);
    const double median_hidden = SpreadOf(std::move(hidden)).median;
    if (spread.median > most_exposed) {
      most_exposed = spread.median;
      verdict =
          Say("communication of {} that computing does not hide: {:.1f} % of the steps, {:.1f}"
              " % more are hidden (medians of {})",
              ShortenName(Printable(name), 24), spread.median, median_hidden,
              Counted(exposed.size(), "rank"));
    }
    cells.emplace_back(median_hidden);
    lines.push_back(list.LineOf(cells));
  }
  if (lines.empty()) return;
  constexpr std::size_t kShown = 10;
  AddSentence(verdict, report.lines);
  report.lines.push_back(Say("communication that computing does not hide, in % of the steps"));
  report.lines.push_back(list.Heading());
  const std::size_t shown = std::min(kShown, lines.size());
  report.lines.insert(report.lines.end(), lines.begin(),
                      lines.begin() + static_cast<std::ptrdiff_t>(shown));
  AddMoreLine(lines.size(), shown, "set", report.lines);
  outliers.AppendTo(report.lines);
}

void AddNotes(const Ranks& ranks, Report& report) {
  const auto count_without = [&](bool Masking::*fact) {
    return std::ranges::count_if(ranks, [&](const auto& rank) { return !(rank.part.*fact); });
  };
  if (const auto count = count_without(&Masking::has_steps); count > 0) {
    report.notes.push_back(
        Say("{} of {} ranks have no steps; call step() of the profiler after each step", count,
            ranks.size()));
  }
  if (const auto count = count_without(&Masking::has_groups); count > 0) {
    report.notes.push_back(Say(
        "{} of {} ranks do not name the process groups of their communication (dp, tp, ...); record"
        " parallel_group_info with add_metadata_json() of the profiler",
        count, ranks.size()));
  }
}

void ReduceMasking(const Ranks& ranks, const RecipeArguments& arguments, OutputSelection wanted,
                   Report& report) {
  const std::vector<TypeSet> sets = arguments[kTypeSets];
  if (wanted.sheets) {
    ItemSheet list({"ComputationalOperatorMaskingLinearity",
                    ToTranslate("How much communication of each group computing hides")},
                   MaskingColumns(),
                   {"computational_operator_masking_linearity", TextFile::Unit::kAsTheyAre});
    list.sheet.charts = {HeatOf("Share of communication that nothing hides, mean of the steps",
                                "rankId", "parallelType",
                                {"ratioOfUnmaskedCommunication", Tint::kUnsplit}, Measured::kShare,
                                Chart::SameLabel::kMean)};
    for (const auto& [id, part] : ranks) {
      const RankIndex rank = BeginRank(id, report);
      for (const SetInStep& row : part.rows) {
        if (row.set >= sets.size()) {
          Fail(ErrorKind::kCorrupt, "the part of {} names an unknown set", RankText(id));
        }
        list.Add({id, sets[row.set], &row}, rank);
      }
    }
    report.sheets.push_back(std::move(list.sheet));
  }
  AddNotes(ranks, report);
  if (wanted.screen != Detail::kNone) AddLines(ranks, sets, report);
}

Verdict JudgeMasking(const RankFacts& facts) {
  return JudgeReadable(facts)
      .Refuse(facts.kind == CaptureKind::kGpu && facts.recorded.groups == Recorded::kNo,
              "the trace does not name process groups", "collect with PyTorch 2.3 or later")
      .Refuse(facts.recorded.communication == Recorded::kNo, NoCommunication(facts),
              "profiler_level=Level1")
      .Refuse(facts.steps && facts.steps->empty(), "no steps were recorded",
              "call prof.step() after each step");
}

}  // namespace

Recipe ComputationalOpMasking() {
  return MakeRecipe<MapMasking, ReduceMasking, CheckMasking>(
      {.name = "computational_op_masking",
       .folder = "ComputationalOpMasking",
       .summary = "how much communication of each process group computing does not hide",
       .needs = Tables::kOverlaps | Tables::kKernels | Tables::kDeviceTasks |
                Tables::kCommunications | Tables::kSteps,
       .options = {kTypeSets},
       .can_run = JudgeMasking,
       .only_with = "process groups by their names",
       .cuts_steps = true});
}

}  // namespace mpa::recipes::computational_op_masking
