// SPDX-License-Identifier: Apache-2.0
// What analyses can do with captures, found out by trying them.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/parallel.h"
#include "mpa/base/progress.h"
#include "mpa/base/rank.h"
#include "mpa/capture/ability.h"
#include "mpa/pipeline/analyzer_checks.h"
#include "mpa/pipeline/find_ranks.h"
#include "mpa/recipe/arguments.h"

namespace mpa {

namespace {

// Captures of which only the events tell some of what is in them.
bool HasEvents(CaptureKind kind) { return IsKineto(kind) || kind == CaptureKind::kNpuText; }

// What the survey left open.
void Fill(const RankTrace& trace, RankFacts& facts) {
  if (!facts.steps) {
    const std::set<std::int64_t> steps(trace.steps.id.begin(), trace.steps.id.end());
    facts.steps.emplace(steps.begin(), steps.end());
  }
  const auto tell = [](bool is_there, Recorded& state) {
    if (state == Recorded::kUnknown) state = is_there ? Recorded::kYes : Recorded::kNo;
  };
  Contents& recorded = facts.recorded;
  if (!IsKineto(facts.kind))
    tell(!trace.counters.Empty() || !trace.core_clocks.Empty(), recorded.hardware);
  if (!HasEvents(facts.kind)) return;
  tell(!trace.kernels.Empty() || !trace.device_tasks.Empty() || !trace.communications.Empty() ||
           !trace.overlaps.Empty(),
       recorded.device_tasks);
  tell(!trace.communications.Empty(), recorded.communication);
  tell(!trace.host_ops.Empty(), recorded.host_ops);
  tell(!trace.python_calls.Empty(), recorded.stacks);
  tell(!trace.memory_samples.Empty(), recorded.memory);
  tell(!trace.allocations.Empty(), recorded.op_memory);
  tell(!trace.mstx.Empty(), recorded.mstx);
}

// What the commands say of the events, too. Raw captures are judged by their records.
void WarnOfBroken(const std::vector<KeptPromise>& promises, RankFacts& facts) {
  if (facts.kind == CaptureKind::kNpuRaw) return;
  for (const KeptPromise& kept : promises) {
    for (const std::string& line : kept.lines) {
      facts.warnings.push_back({"events_damaged", line, std::string(MendOf(*kept.rule, line)), {}});
    }
  }
}

bool HasRows(const Report& report) {
  return std::ranges::any_of(report.sheets, [](const Sheet& sheet) { return !sheet.rows.empty(); });
}

// Empty where it was not tried.
using Found = std::optional<bool>;

// What an analysis made of a rank.
struct Trial {
  Found alone;                  // whether it finds something in this rank
  bool lacks_trace = false;     // tables alone are there, and it needs more
  std::vector<RankPart> parts;  // of a recipe; two where it compares with another run
};

bool FindsSomething(const Recipe& recipe, const std::vector<RankPart>& parts) {
  Report report;
  recipe.reduce(parts, {}, {.documents = false, .screen = Detail::kNone}, report);
  return recipe.empty_is_answer || HasRows(report);
}

// Whether `run` finds something; what it cannot read or use holds nothing for it.
template <typename Run>
bool Succeeds(Run run) {
  try {
    return run();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kResource) throw;
    return false;
  }
}

Tables NeedsOf(const AnalyzerCheck& check) {
  return Tables::kSteps | (check.recipe != nullptr ? check.recipe->needs : check.comparison->needs);
}

const Recipe& RecipeToTry(const Recipe& recipe) {
  const auto& all = AllRecipes();
  const auto other = std::ranges::find(all, recipe.tried_as, &Recipe::name);
  return other == all.end() ? recipe : *other;
}

Trial TryOn(const RankTrace& trace, const AnalyzerCheck& check) {
  Trial trial;
  if (check.comparison != nullptr) {
    trial.alone = Succeeds([&] {
      const CompareInput input(trace, "", trace, "", {});
      Report report;
      check.comparison->run(input, report);
      return HasRows(report);
    });
    return trial;
  }
  const Recipe& recipe = RecipeToTry(*check.recipe);
  if (LacksTimeline(trace, recipe)) {
    trial.alone = false;
    trial.lacks_trace = true;
    return trial;
  }
  trial.alone = Succeeds([&] {
    trial.parts.push_back({trace.rank, recipe.map(trace, {})});
    if (!recipe.baseline.empty())
      trial.parts.push_back({trace.rank, recipe.map(trace, {.is_baseline = true})});
    return FindsSomething(recipe, trial.parts);
  });
  return trial;
}

// The captures below a directory.
struct Place {
  const OpenOptions& options;
  const std::filesystem::path& directory;
};

RankTrace Load(const Place& place, const RankInput& input, const RankFacts& facts, Tables wanted) {
  RankTrace trace = LoadRank(input, {wanted, ""}, std::nullopt).trace;
  trace.capture_path = input.path.string();
  trace.capture_group = WayTo(place.directory, input).string();
  trace.rank = facts.id;
  return trace;
}

// By analysis; empty where the rank is not read.
std::vector<Trial> TryRank(const Place& place, RankFacts& facts,
                           std::vector<KeptPromise>& promises) {
  const std::vector<AnalyzerCheck>& checks = AllAnalyzerChecks();
  std::vector<Trial> trials(checks.size());
  const std::vector<RankInput> inputs = Discover(facts.path, place.options).ranks;
  if (inputs.empty()) return {};
  Tables wanted = Tables::kNone;
  for (const AnalyzerCheck& check : checks) wanted = wanted | NeedsOf(check);
  try {
    const RankTrace trace = Load(place, inputs.front(), facts, wanted);
    Fill(trace, facts);
    promises = JudgePromises(trace);
    WarnOfBroken(promises, facts);
    ParallelFor(checks.size(), [&](std::size_t i) { trials[i] = TryOn(trace, checks[i]); });
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kResource) throw;
    // Some analyses do without what cannot be read, but all of them need the steps.
    const bool has_steps = Succeeds([&] {
      Load(place, inputs.front(), facts, Tables::kSteps);
      return true;
    });
    for (std::size_t i = 0; i < checks.size(); ++i) {
      trials[i].alone = has_steps && Succeeds([&] {
                          const RankTrace trace =
                              Load(place, inputs.front(), facts, NeedsOf(checks[i]));
                          trials[i] = TryOn(trace, checks[i]);
                          return trials[i].alone.value_or(false);
                        });
    }
    if (HasEvents(facts.kind)) facts.problem = error.what();
  }
  return trials;
}

// What an analysis finds in all ranks together; some need several.
Found FoundInJob(const std::vector<std::vector<Trial>>& trials, std::size_t check) {
  std::vector<RankPart> parts, baseline;
  for (const std::vector<Trial>& of_rank : trials) {
    if (of_rank.empty()) return std::nullopt;
    const Trial& trial = of_rank[check];
    if (trial.lacks_trace) return false;
    if (!trial.alone || *trial.alone) return trial.alone;
    if (!trial.parts.empty()) parts.push_back(trial.parts.front());
    if (trial.parts.size() > 1) baseline.push_back(trial.parts.back());
  }
  const Recipe* recipe = AllAnalyzerChecks()[check].recipe;
  if (recipe == nullptr || trials.size() < 2) return false;
  parts.insert(parts.end(), baseline.begin(), baseline.end());
  return Succeeds([&] { return FindsSomething(RecipeToTry(*recipe), parts); });
}

Verdict Judged(const AnalyzerCheck& check, const RankFacts& facts, Found alone, Found in_job) {
  Verdict verdict = JudgeByFacts(check, facts);
  if (verdict.CannotRun()) {
    // Comparisons list what they cannot compare, too, so their rows prove nothing.
    if (check.recipe == nullptr || check.recipe->empty_is_answer) return verdict;
    const bool was_tried = facts.kind != CaptureKind::kGpu || check.recipe->tried_as.empty();
    return was_tried && alone.value_or(false) ? Verdict() : verdict;
  }
  if (!in_job.value_or(true)) {
    verdict.ability = Ability::kCannotRun;
    if (verdict.lacks.empty())
      verdict.lacks.push_back({"nothing that it could show was recorded", ""});
  }
  return verdict;
}

}  // namespace

std::vector<JudgedCapture> TryCaptures(const std::filesystem::path& directory,
                                       const OpenOptions& options, std::vector<RankFacts>& ranks) {
  std::error_code ignored;
  const std::filesystem::path top = std::filesystem::canonical(directory, ignored);
  std::vector<std::vector<Trial>> trials;
  std::vector<JudgedCapture> judged(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    trials.emplace_back();
    if (ranks[i].bytes == 0) continue;
    trials.back() = TryRank({options, top}, ranks[i], judged[i].promises);
  }
  ClearProgressLine();
  std::vector<Found> in_job;
  for (std::size_t i = 0; i < AllAnalyzerChecks().size(); ++i)
    in_job.push_back(FoundInJob(trials, i));
  for (RankIndex rank; rank < ranks.size(); ++rank) {
    for (std::size_t i = 0; i < in_job.size(); ++i) {
      judged[rank].verdicts.push_back(Judged(AllAnalyzerChecks()[i], ranks[rank],
                                             trials[rank].empty() ? Found() : trials[rank][i].alone,
                                             in_job[i]));
    }
  }
  return judged;
}

}  // namespace mpa
