// SPDX-License-Identifier: Apache-2.0
// Steps of servers that answer requests: prefill, decode, and what their time was spent on.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/measure/quantiles.h"
#include "mpa/measure/serving_steps.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/report.h"
#include "mpa/report/screen_list.h"

namespace mpa::recipes::serving_phases {
namespace {

struct RankServing {
  std::vector<ServingAccount> steps;
  std::int64_t first = 0;  // number of the first
  EarlierTime earlier = {};
};
using Ranks = std::vector<OfRank<RankServing>>;

void CheckServing(const RankServing& part) {
  for (const ServingAccount& step : part.steps) {
    bool holds = IsDuration(step.Length()) && IsDuration(part.earlier.time);
    for (const TimeNs time : step.times) holds = holds && IsDuration(time);
    if (!holds) Fail(ErrorKind::kCorrupt, "a step has impossible times");
  }
}

// The steps of all ranks of one phase and size, without warm-up.
struct PhaseGroup {
  ServingBatch batch;        // that of its first step
  std::int64_t warm_up = 0;  // steps that are left out
  std::int64_t ranks = 0;
  std::vector<const ServingAccount*> steps;
  TimeNs sum = 0;
  ServingTimes times = {};  // of all steps; they add up to `sum`

  std::string_view Phase() const { return NameOf(batch.phase); }
  std::string Size() const { return SizeText(batch); }
  std::int64_t Count() const { return static_cast<std::int64_t>(steps.size()); }
};

// In order of phase and size.
std::vector<PhaseGroup> GroupSteps(const Ranks& ranks) {
  struct Found {
    PhaseGroup group;
    std::size_t last_rank = 0;  // counted from 1
  };
  std::map<PhaseAndSize, Found> found;
  for (RankIndex rank; rank < ranks.size(); ++rank) {
    for (const ServingAccount& step : ranks[rank].part.steps) {
      auto& [group, last_rank] = found[PhaseAndSizeOf(step.batch)];
      if (last_rank == 0) group.batch = step.batch;
      if (last_rank != rank + 1) ++group.ranks;
      last_rank = rank + 1;
      if (step.is_warm_up) {
        ++group.warm_up;
        continue;
      }
      group.steps.push_back(&step);
      group.sum += step.Length();
      for (std::size_t part = 0; part < kServingParts; ++part) {
        group.times[part] += step.times[part];
      }
    }
  }
  std::vector<PhaseGroup> groups;
  for (auto& [key, of_key] : found) groups.push_back(std::move(of_key.group));
  return groups;
}

// Percentile `percent` of how long the steps took, in ns.
TimeNs LengthAt(const PhaseGroup& group, int percent) {
  std::vector<TimeNs> lengths;
  for (const ServingAccount* step : group.steps) lengths.push_back(step->Length());
  std::ranges::sort(lengths);
  return Percentile(lengths, percent);
}

// The median of TimePerToken() of the steps, in ns; -1: unknown.
TimeNs TimePerToken(const PhaseGroup& group) {
  std::vector<TimeNs> times;
  for (const ServingAccount* step : group.steps) {
    const TimeNs time = step->TimePerToken();
    if (time >= 0) times.push_back(time);
  }
  return times.empty() ? -1 : Median(std::move(times));
}

// Tokens that one engine reads and generates in a second of such steps; -1: unknown.
double TokensPerSecond(const PhaseGroup& group) {
  double tokens = 0;
  for (const ServingAccount* step : group.steps) {
    if (step->batch.Tokens() < 0 || step->is_cut) return -1;
    tokens += static_cast<double>(step->batch.Tokens());
  }
  return group.sum > 0 && tokens > 0 ? tokens / static_cast<double>(group.sum) * 1e9 : -1;
}

// The columns of the parts of a time, which `kTimes` leads to.
template <auto... kTimes>
auto PartColumns() {
  using enum ServingPart;
  return std::vector{
      CountColumn<kTimes..., kAt<kAttention>>("attentionNs", 14,
                                              "Time of attention kernels, in ns."),
      CountColumn<kTimes..., kAt<kMatrix>>(
          "matrixNs", 14, "Time of other matrix products and convolutions, in ns."),
      CountColumn<kTimes..., kAt<kSampling>>("samplingNs", 14,
                                             "Time of kernels that choose tokens, in ns."),
      CountColumn<kTimes..., kAt<kOtherKernel>>("otherKernelNs", 14,
                                                "Time of all other kernels, in ns."),
      CountColumn<kTimes..., kAt<kCommunication>>(
          "communicationNs", 14,
          "Time of communication that no kernel hides, without waiting, in ns."),
      CountColumn<kTimes..., kAt<kWaiting>>(
          "waitingNs", 14, "Time spent waiting for other ranks or engines, in ns."),
      CountColumn<kTimes..., kAt<kCopiesAlone>>("copyNs", 14,
                                                "Time in which nothing but copies runs, in ns."),
      CountColumn<kTimes..., kAt<kHost>>(
          "hostNs", 14, "Time in which the device had nothing to do, also between steps, in ns.")};
}

// The same where the group is of this phase. A token of a prompt and one that is generated take
// different things: a part of a step, and a step.
template <ServingPhase kPhase>
Cell TokenTimeCell(const PhaseGroup& group) {
  return group.batch.phase == kPhase ? kIfKnown(TimePerToken(group)) : Cell();
}
template <ServingPhase kPhase>
Cell StepTokenTimeCell(const ServingAccount& step) {
  return step.batch.phase == kPhase ? kIfKnown(step.TimePerToken()) : Cell();
}

template <int kPercent>
Cell LengthCell(const PhaseGroup& group) {
  return LengthAt(group, kPercent);
}

SheetColumns<PhaseGroup> PhaseColumns() {
  using Item = PhaseGroup;
  return Joined<Item>(
      {TextColumn<&Item::Phase>("phase", 10, "prefill, decode, mixed, dummy or unknown."),
       TextColumn<&Item::Size>("size", 22,
                               "Size of the steps, which are counted together: for decode steps the"
                               " requests or the size of the graph, else the tokens."),
       CountColumn<&Item::Count>("steps", 8, "Number of steps, over all ranks."),
       CountColumn<&Item::warm_up>("warmUpSteps", 12,
                                   "Number of warm-up steps, which are left out."),
       CountColumn<&Item::ranks>("ranks", 8, "Number of ranks with such steps."),
       ComputedColumn<Item>("minNs", Format::kInteger, "Time of the shortest step, in ns.",
                            LengthCell<0>),
       ComputedColumn<Item>("q1Ns", Format::kInteger, "First quartile of the steps, in ns.",
                            LengthCell<25>),
       ComputedColumn<Item>("medianNs", Format::kInteger, "Median of the steps, in ns.",
                            LengthCell<50>),
       ComputedColumn<Item>("q3Ns", Format::kInteger, "Third quartile of the steps, in ns.",
                            LengthCell<75>),
       ComputedColumn<Item>("maxNs", Format::kInteger, "Time of the longest step, in ns.",
                            LengthCell<100>),
       ComputedColumn<Item>("timePerPromptTokenNs", Format::kInteger,
                            "Prefill: median of the step time divided by the prompt tokens, in ns.",
                            TokenTimeCell<ServingPhase::kPrefill>),
       ComputedColumn<Item>(
           "timeToNextTokenNs", Format::kInteger,
           "Decode: median of the time until a request gets its next token, in ns.",
           TokenTimeCell<ServingPhase::kDecode>),
       ComputedColumn<Item>("tokensPerSecond", Format::kDecimals2,
                            "Tokens that an engine reads and generates per second of such steps.",
                            [](const Item& item) { return kIfKnown(TokensPerSecond(item)); }),
       CountColumn<&Item::sum>("sumNs", 14,
                               "Time of all steps, in ns; the next columns add up to it.")},
      PartColumns<&Item::times>());
}

struct StepItem {
  RankId rank{};
  std::int64_t number = 0;
  const ServingAccount* step = nullptr;
};

SheetColumns<StepItem> StepColumns() {
  using Item = StepItem;
  return Joined<Item>(
      {CountColumn<&Item::rank, kRank>("rankId", 8, "The rank."),
       CountColumn<&Item::number>("step", 8, "The step, counted from 0."),
       TextColumn<&Item::step, &ServingAccount::batch, &ServingBatch::phase>(
           "phase", 14, "prefill, decode, mixed, dummy or unknown."),
       CountColumn<&Item::step, &ServingAccount::batch, &ServingBatch::requests, kIfKnown>(
           "requests", 14, "Requests in the batch."),
       CountColumn<&Item::step, &ServingAccount::batch, &ServingBatch::prompt_tokens, kIfKnown>(
           "promptTokens", 14, "Tokens of prompts that were read."),
       CountColumn<&Item::step, &ServingAccount::batch, &ServingBatch::output_tokens, kIfKnown>(
           "outputTokens", 14, "Tokens that were generated."),
       CountColumn<&Item::step, &ServingAccount::batch, &ServingBatch::graph_size, kIfKnown>(
           "graphSize", 14, "Requests for which the captured graph was made."),
       NumberColumn<&Item::step, &ServingAccount::batch, &ServingBatch::Padding>(
           "paddingPercent", Format::kDecimals2, 14,
           "Share of the graph that computed for no request, in percent."),
       CountColumn<&Item::step, &ServingAccount::is_warm_up>("warmUp", 14, "1: a warm-up step."),
       CountColumn<&Item::step, &ServingAccount::window, &Interval::begin>(
           "startNs", 14, "Start of the step on the device, in ns."),
       CountColumn<&Item::step, &ServingAccount::Length>(
           "durationNs", 14, "Time to the next step, in ns; the last columns add up to it."),
       ComputedColumn<Item>(
           "timePerPromptTokenNs", Format::kInteger,
           "Prefill: time of the step divided by the prompt tokens, in ns.",
           [](const Item& item) { return StepTokenTimeCell<ServingPhase::kPrefill>(*item.step); }),
       ComputedColumn<Item>(
           "timeToNextTokenNs", Format::kInteger,
           "Decode: time until a request gets its next token, in ns.",
           [](const Item& item) { return StepTokenTimeCell<ServingPhase::kDecode>(*item.step); })},
      PartColumns<&Item::step, &ServingAccount::times>());
}

void AddSheets(const Ranks& ranks, const std::vector<PhaseGroup>& groups, Report& report) {
  ItemSheet phases({"ServingPhases", ToTranslate("Prefill and decode: the parts of their steps")},
                   PhaseColumns());
  for (const PhaseGroup& group : groups) {
    if (!group.steps.empty()) phases.Add(group);
  }
  phases.sheet.charts = {{.kind = Chart::Kind::kStacked,
                          .title = "What the steps of each phase and size spend their time on",
                          .labels = {"phase", "size"},
                          .values = {{"attentionNs"},
                                     {"matrixNs", Tint::kCompute},
                                     {"samplingNs"},
                                     {"otherKernelNs"},
                                     {"communicationNs", Tint::kTransfer},
                                     {"waitingNs", Tint::kWait},
                                     {"copyNs", Tint::kCopy},
                                     {"hostNs", Tint::kFree}},
                          .measured = Measured::kNs},
                         {.kind = Chart::Kind::kBars,
                          .title = "Time of a token, by phase and size of the step",
                          .labels = {"phase", "size"},
                          .values = {{"timePerPromptTokenNs"}, {"timeToNextTokenNs"}},
                          .measured = Measured::kNs},
                         {.kind = Chart::Kind::kBoxes,
                          .title = "How long steps take, by phase and size",
                          .labels = {"phase", "size"},
                          .values = {{"minNs"}, {"q1Ns"}, {"medianNs"}, {"q3Ns"}, {"maxNs"}},
                          .measured = Measured::kNs}};
  ItemSheet steps({"ServingSteps", ToTranslate("Each step of the server")}, StepColumns());
  for (const auto& [id, part] : ranks) {
    const RankIndex rank = BeginRank(id, report);
    for (std::size_t i = 0; i < part.steps.size(); ++i) {
      steps.Add({id, part.first + static_cast<std::int64_t>(i), &part.steps[i]}, rank);
    }
  }
  report.sheets.push_back(std::move(phases.sheet));
  report.sheets.push_back(std::move(steps.sheet));
}

// What the servers did, in a few lines.

// "attention 41.2 %, host 20.0 %": the largest parts, which are a hundredth at least.
std::string PartsText(const PhaseGroup& group) {
  std::vector<std::pair<TimeNs, ServingPart>> parts;
  for (std::size_t part = 0; part < kServingParts; ++part) {
    if (100 * group.times[part] >= group.sum && group.times[part] > 0)
      parts.push_back({group.times[part], static_cast<ServingPart>(part)});
  }
  StableSort(parts, [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kShown = 4;
  if (parts.size() > kShown) parts.resize(kShown);
  std::string text;
  for (const auto& [time, part] : parts) {
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : Translated(", "),
                        Translated(TitleOf(part)), PercentOf(time, group.sum));
  }
  return text;
}

// The same phase and size is slower on some ranks than on others.
void AddOutliers(const Ranks& ranks, const std::vector<PhaseGroup>& groups, Report& report) {
  OutlierLines outliers;
  for (const PhaseGroup& group : groups) {
    std::vector<RankValue> means;
    for (const auto& [id, part] : ranks) {
      for (const ServingAccount& step : part.steps) {
        if (!step.is_warm_up && AreAlike(step.batch, group.batch))
          means.push_back({id, InMs(step.Length())});
      }
    }
    outliers.Add(Say("{}, {}", group.Phase(), SizeInWords(group.batch)), MeansOfRanks(means),
                 [](double ms) { return fmt::format("{:.3f} ms", ms); });
  }
  outliers.AppendTo(report.lines);
}

void AddPadding(const std::vector<PhaseGroup>& groups, Report& report) {
  std::int64_t asked = 0, computed = 0;
  for (const PhaseGroup& group : groups) {
    for (const ServingAccount* step : group.steps) {
      if (!step->batch.Padding()) continue;
      asked += step->batch.requests;
      computed += step->batch.graph_size;
    }
  }
  if (computed == asked) return;
  report.lines.push_back(
      Say("padding: graphs computed for {} requests but only {} were there, {:.1f} % wasted",
          computed, asked, PercentOf(computed - asked, computed)));
}

void AddLines(const Ranks& ranks, const std::vector<PhaseGroup>& groups, Report& report) {
  std::int64_t steps = 0, warm_up = 0;
  for (const PhaseGroup& group : groups) {
    steps += group.Count();
    warm_up += group.warm_up;
  }
  if (steps == 0) return;
  const PhaseGroup& longest =
      *std::ranges::max_element(groups, {}, [](const PhaseGroup& group) { return group.sum; });
  if (!longest.steps.empty()) {
    AddSentence(Say("{} ({}) takes most: {} a step (median); {}", longest.Phase(),
                    SizeInWords(longest.batch), AmountText(Quantity::kTime, LengthAt(longest, 50)),
                    PartsText(longest)),
                report.lines);
  }
  report.lines.push_back(
      Say("steps of the server: {} on {}{}", steps,
          Counted(static_cast<std::int64_t>(ranks.size()), "rank"),
          warm_up > 0 ? Say(", without {} of warm-up", warm_up) : std::string()));
  const ScreenList list(
      0, {ScreenText("phase", 8), ScreenText("size", 21), ScreenNumber("steps", 6),
          ScreenMs("median ms", 11), ScreenMs("spread ms", 11), ScreenNumber("tokens/s", 9)});
  report.lines.push_back(list.Heading());
  // Those that take most time, in order of phase and size.
  constexpr std::size_t kShown = 8;
  std::vector<const PhaseGroup*> shown;
  for (const PhaseGroup& group : groups) {
    if (!group.steps.empty()) shown.push_back(&group);
  }
  const std::size_t all = shown.size();
  if (all > kShown) {
    StableSort(shown, [](const auto* a, const auto* b) { return a->sum > b->sum; });
    shown.resize(kShown);
    std::ranges::sort(shown);
  }
  for (const PhaseGroup* group : shown) {
    const TimeNs spread = LengthAt(*group, 75) - LengthAt(*group, 25);
    report.lines.push_back(list.Line(group->Phase(), SizeInWords(group->batch), group->Count(),
                                     LengthAt(*group, 50), spread,
                                     kIfKnown(TokensPerSecond(*group))));
    if (const TimeNs time = TimePerToken(*group); time >= 0) {
      report.lines.push_back(Say("  {} {}", AmountText(Quantity::kTime, time),
                                 Translated(NameOfTokenTime(group->batch.phase))));
    }
    if (std::ranges::any_of(group->steps, &ServingAccount::is_cut))
      report.lines.emplace_back(
          Say("  time per token unknown: the end of the last step is missing"));
    report.lines.push_back("  " + PartsText(*group));
  }
  AddMoreLine(all, shown.size(), "size", report.lines);
  AddPadding(groups, report);
  std::vector<EarlierTime> earlier;
  for (const auto& rank : ranks) earlier.push_back(rank.part.earlier);
  AddEarlierTimeLine(earlier, report.lines);
  AddOutliers(ranks, groups, report);
}

RankServing MapServingPhases(const RankTrace& trace, const RecipeArguments&) {
  const RankAccount account = AccountServingSteps(trace);
  RankServing part{.steps = AccountServing(trace, account), .earlier = account.earlier};
  // A step that was cut out keeps its number.
  const std::vector<ServingStep> serving = FindServingSteps(trace);
  if (trace.is_one_step && serving.size() == 1 && serving[0].start == trace.steps.start[0])
    part.first = trace.steps.id[0];
  return part;
}

void ReduceServingPhases(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                         Report& report) {
  std::size_t without = 0;
  for (const auto& rank : ranks) without += rank.part.steps.empty() ? 1 : 0;
  if (without > 0) {
    report.notes.push_back(
        Say("{} of {} ranks have no steps of a server (\"execute_context_..\", \"step[DECODE ..]\","
            " \"decode[..]\", \"prepare input\"), and no kernels show them; to see phases let the"
            " server name its steps while it is profiled, or record with record_shapes=True, see"
            " docs/serving.md",
            without, ranks.size()));
  }
  const std::vector<PhaseGroup> groups = GroupSteps(ranks);
  if (wanted.sheets) AddSheets(ranks, groups, report);
  if (wanted.screen != Detail::kNone) AddLines(ranks, groups, report);
}

}  // namespace

Recipe ServingPhases() {
  return MakeRecipe<MapServingPhases, ReduceServingPhases, CheckServing>(
      {.name = "serving_phases",
       .folder = "ServingPhases",
       .summary = "prefill and decode steps of servers, and where their time goes",
       .needs = kAccountTables,
       .can_run = JudgeReadable,
       .only_with = "steps of a server"});
}

}  // namespace mpa::recipes::serving_phases
