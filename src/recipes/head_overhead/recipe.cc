// SPDX-License-Identifier: Apache-2.0
// Who owns the time between the start of a compiled graph's call and its first kernel.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "advice.h"
#include "analyse.h"
#include "head_part.h"
#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa::recipes::head_overhead {
namespace {

using head::HeadOptions;
using head::HeadPart;
using head::Policy;

constexpr double kMaxMilliseconds = 1e12;  // fits into a time
constexpr const char* kNoHostOperators =
    "no host operators were recorded, and calls of compiled graphs are host operators";
constexpr const char* kWithCpu = "activities with ProfilerActivity.CPU";
constexpr std::string_view kPolicies[] = {"auto", "entry", "step", "device_idle"},
                           kPhases[] = {"steady", "compile"};

std::optional<std::size_t> ReadCall(const std::string& text) {
  const auto call = WholeNumber<std::size_t>(text);
  if (!call || text.size() >= 10) Fail(ErrorKind::kUsage, "give the number of a call, from 0");
  return call;
}

constexpr Option<Policy> kPolicy{
    .name = "policy",
    .type_name = "NAME",
    .help =
        "Where the time of the front end begins. auto: at the end of the previous call of"
        " the step; entry: at the entry of the compiled model; step: as auto, but the first"
        " call begins with its step; device_idle: when the device runs out of work",
    .choices = kPolicies};
constexpr Option<double> kMaxGap{
    "max_gap", "MS",
    "In captures without steps, do not count a longer wait before a call as work of the platform",
    100};
constexpr Option<std::optional<head::Phase>> kPhase{
    .name = "phase",
    .type_name = "NAME",
    .help = "Calls to show on the screen and in HEAD_CHILD: steady or compile",
    .usual_text = "steady, if there are any",
    .choices = kPhases};
constexpr Option<Thresholds> kThresholds{
    .name = "thresholds",
    .type_name = "LIST",
    .help =
        "Thresholds of the advice, such as lookup_us=500,built_tensors=4; an unknown name"
        " lists all names",
    .read = head::ReadThresholds};
constexpr Option<std::string> kPicture{
    .name = "picture",
    .type_name = "FILE",
    .help =
        "Write an HTML page with a picture of one call: the one with the longest head, of the"
        " graph that takes the most time",
    .is_page = true};
constexpr Option<std::optional<std::size_t>> kCall{.name = "call",
                                                   .type_name = "N",
                                                   .help = "Draw this call, a callId in HEAD_CALL",
                                                   .read = ReadCall};

HeadOptions OptionsOf(const RankTrace& trace, const RecipeArguments& arguments) {
  return {.policy = arguments[kPolicy],
          .max_gap = std::llround(std::min(arguments[kMaxGap], kMaxMilliseconds) * 1e6),
          .step = ChosenStep(trace.steps, arguments)};
}

// Steady calls, unless there are none or others were asked for.
head::Phase PhaseToShow(const RecipeArguments& arguments, const std::vector<head::Call>& calls) {
  if (const auto given = arguments[kPhase]) return *given;
  const auto any = [&](head::Phase phase) {
    return std::ranges::any_of(
        calls, [&](const head::Call& call) { return call.Counts() && call.phase == phase; });
  };
  const bool compiles_only = !any(head::Phase::kSteady) && any(head::Phase::kCompile);
  return compiles_only ? head::Phase::kCompile : head::Phase::kSteady;
}

// Of all steps with calls. The rows of a step, one for each thread, follow one another.
TimeNs TimeOf(const std::vector<head::StepRow>& steps) {
  TimeNs sum = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i == 0 || steps[i].step != steps[i - 1].step) sum += steps[i].duration;
  }
  return sum;
}

// The picture for --picture; empty when it was not asked for or there is no such call.
std::optional<Timeline> Picture(const RecipeArguments& arguments,
                                const head::HeadAnalysis& analysis,
                                const std::vector<head::Scope>& scopes, head::Phase phase) {
  if (!arguments.Has(kPicture.name)) return std::nullopt;
  auto call = arguments[kCall];
  if (!call) call = CallToPicture(analysis.calls, scopes, phase);
  if (!call || *call >= analysis.calls.size()) return std::nullopt;
  return PictureOf(analysis, *call);
}

HeadPart MapHeadOverhead(const RankTrace& trace, const RecipeArguments& arguments) {
  const HeadOptions options = OptionsOf(trace, arguments);
  head::HeadAnalysis analysis(trace, options);
  HeadPart part;
  part.facts = FactsOf(trace, analysis.forest);
  const std::vector<head::Scope> scopes = head::FindScopes(analysis.calls);
  part.phase = PhaseToShow(arguments, analysis.calls);
  part.children = head::SumChildren(scopes, part.phase, analysis);
  part.summary = head::Summarise(analysis.calls, scopes, analysis.steps);
  part.steps = head::SumSteps(analysis.calls, analysis.steps);
  const Thresholds thresholds = arguments[kThresholds];
  part.advice = head::GiveAdvice(
      {analysis.calls, scopes, part.summary, part.children, thresholds, TimeOf(part.steps)});
  part.picture = Picture(arguments, analysis, scopes, part.phase);
  part.calls = std::move(analysis.calls);
  return part;
}

using RankHead = OfRank<HeadPart>;

// A rank in full: with the longest head of several, whose spread is behind its answer.
void AddScreen(const std::vector<RankHead>& ranks, std::string_view policy, bool all,
               Report& report) {
  const std::size_t room = all ? std::numeric_limits<std::size_t>::max() : kScreenLines;
  const std::size_t longest = head::LongestHead(ranks);
  const auto add = [&](const RankHead& rank, const ScreenLines& spread) {
    for (ScreenLine& line : HeadScreen(rank.part, RankText(rank.rank), policy, room, spread)) {
      report.lines.push_back(std::move(line));
    }
  };
  add(ranks[longest], head::HeadSpreadLines(ranks));
  for (std::size_t i = 0; all && i < ranks.size(); ++i) {
    if (i != longest) add(ranks[i], {});
  }
}

void AddFindings(const std::vector<RankHead>& ranks, Report& report) {
  for (const auto& [rank, part] : ranks) {
    for (const head::AdviceRow& row : part.advice) {
      report.advice_cards.push_back(row);
      report.advice_cards.back().rank = rank;
    }
  }
  StableSort(report.advice_cards, std::greater(), &AdviceCard::severity);
}

// That of the first rank which has one.
void AddPicture(const std::vector<RankHead>& ranks, const RecipeArguments& arguments,
                Report& report) {
  if (!arguments.Has(kPicture.name)) return;
  for (const auto& [rank, part] : ranks) {
    if (!part.picture) continue;
    report.timelines.push_back(*part.picture);
    return;
  }
  report.notes.push_back(Say("--picture: no such call; no picture written"));
}

void ReduceHeadOverhead(const std::vector<RankHead>& ranks, const RecipeArguments& arguments,
                        OutputSelection wanted, Report& report) {
  if (std::ranges::all_of(ranks, [](const RankHead& rank) { return rank.part.facts.of_gpu; })) {
    Fail(ErrorKind::kInput, "head_overhead supports NPU graphs only");
  }
  if (std::ranges::all_of(ranks, [](const RankHead& rank) {
        return rank.part.facts.framework_events == 0 && rank.part.calls.empty();
      })) {
    Fail(ErrorKind::kInput, "head_overhead: {}; collect with {}", Translated(kNoHostOperators),
         kWithCpu);
  }
  if (wanted.sheets) head::AddHeadSheets(ranks, report);
  if (wanted.screen != Detail::kNone) {
    AddScreen(ranks, kPolicies[static_cast<std::size_t>(arguments[kPolicy])],
              wanted.screen == Detail::kAll, report);
  }
  AddFindings(ranks, report);
  AddPicture(ranks, arguments, report);
}

// Whether compiled graphs ran, only the events tell.
Verdict JudgeHeadOverhead(const RankFacts& facts) {
  const bool level0 = facts.settings && facts.settings->level == "Level0";
  const bool no_cann_calls = facts.kind == CaptureKind::kNpuText && level0;
  const bool no_operators = facts.recorded.host_ops == Recorded::kNo;
  return JudgeReadable(facts)
      .Refuse(facts.kind == CaptureKind::kGpu, "only NPU graphs are examined", "")
      .RefuseKineto(facts, "do not name graphs")
      .Refuse(no_operators && no_cann_calls, kNoHostOperators, kWithCpu)
      .AddLack(no_operators, "no host operators were recorded: only calls of the runtime are known",
               kWithCpu)
      .AddLack(facts.recorded.device_tasks == Recorded::kNo,
               "no device activity was recorded: what the device waits for is unknown",
               "activities with ProfilerActivity.NPU")
      .AddLack(no_cann_calls,
               "text captures of Level0 have no CANN calls: GE is not split, first kernels are"
               " guessed",
               "profiler_level=Level1, or export_type=Db")
      .AddLack(facts.steps && facts.steps->empty(), "no steps: the head is known per call only",
               "call prof.step() after each step")
      .AddLack(facts.complete == Recorded::kNo,
               "the data breaks off: the end of the run is missing", kCopyAgain);
}

}  // namespace

Recipe HeadOverhead() {
  RecipeInfo recipe;
  recipe.name = "head_overhead";
  recipe.folder = "HeadOverhead";
  recipe.summary =
      "breakdown of the time before the first kernel of a compiled graph (torch.compile with"
      " TorchAir)";
  recipe.needs = Tables::kHostOps | Tables::kQueuedWork | Tables::kHostCalls | Tables::kDeviceRuns |
                 Tables::kModelIterations | Tables::kGarbageCollections | Tables::kSteps |
                 Tables::kPythonCalls | Tables::kMstx;
  recipe.options = {kPolicy, kMaxGap, kPhase, kThresholds, kPicture, kCall};
  recipe.can_run = JudgeHeadOverhead;
  recipe.empty_is_answer = true;
  recipe.cuts_steps = true;
  return MakeRecipe<MapHeadOverhead, ReduceHeadOverhead>(std::move(recipe));
}

}  // namespace mpa::recipes::head_overhead
