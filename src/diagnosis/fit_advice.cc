// SPDX-License-Identifier: Apache-2.0
// What advice on a finding has to fit: how its ranks ran and were captured.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/causes/system_calls.h"
#include "mpa/diagnosis/causes/variables.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/advice.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {
namespace {

bool IsPoorOnAny(const Job& job, std::string_view variable) {
  return std::ranges::any_of(job.ranks, [&](const DiagnosedRank& rank) {
    return IsPoor(*VariableNamed(variable), rank.part->settings);
  });
}

std::vector<DiagnosedRank> RanksOf(const Job& job, const Finding& found) {
  std::vector<DiagnosedRank> ranks;
  for (const DiagnosedRank& rank : job.ranks) {
    if (found.Concerns(rank.rank)) ranks.push_back(rank);
  }
  // Uncaptured ranks have no settings of their own: those of the whole job stand for them.
  return ranks.empty() ? job.ranks : ranks;
}

// The functions that take most of it, or their files, say that they write logs or metrics.
bool MostlyLogs(const Finding& found) {
  TimeNs logging = 0, all = 0;
  for (const Evidence& place : found.evidence) {
    all += place.time;
    const auto logs = [](std::string_view text) {
      return ContainsAny(ToLower(text),
                         {"logg", "/log", "log(", "_log", "print", "tensorboard", "wandb",
                          "summary", "metric", "meter", "progress", "tqdm", "acquire", "lock"});
    };
    if (logs(place.name) || logs(place.line)) logging += place.time;
  }
  return all > 0 && 2 * logging >= all;
}

// How the ranks of a finding ran and were captured. What all calls of a late rank did is what those
// did that make it late.
void AddFacts(const Job& job, Finding& found) {
  const std::vector<DiagnosedRank> ranks = RanksOf(job, found);
  AdviceFacts facts = FactsOf(ranks, job.thresholds);
  facts.copying_in = found.facts.copying_in;
  facts.copying_out = found.facts.copying_out;
  facts.copying_pinned = found.facts.copying_pinned;
  facts.reading = found.facts.reading;
  facts.synchronising = found.facts.synchronising;
  facts.loading = found.facts.loading;
  facts.waiting_for_workers = found.facts.waiting_for_workers;
  facts.casts_inputs = found.facts.casts_inputs;
  facts.writes_beside = found.facts.writes_beside;
  facts.memory_is_free = found.facts.memory_is_free;
  if (found.Is(kHostSystemCall)) NoteSystemCalls(found.evidence, facts);
  facts.logs = found.Is(kHostPython) && MostlyLogs(found);
  if (found.absent) {
    const std::vector<RankState> states = found.absent->Of(found.ranks);
    facts.absent.insert(states.begin(), states.end());
  }
  found.facts = facts;
  if (found.type->area != Area::kRanks) return;
  for (const DiagnosedRank& rank : ranks) {
    for (const BlockedPart& call : rank.part->blocked) {
      if (NameOf(call.category) == found.category) AddWait(*rank.part, call, found.facts);
    }
  }
}

// Settings that the ranks of a finding have already.
void LeaveOutDone(const Job& job, Finding& found) {
  const Advice& advice = AdviceOn(found);
  const std::vector<DiagnosedRank> of_finding = RanksOf(job, found);
  for (const auto* parts : {&advice.parts, &advice.of_gpu}) {
    for (const AdvicePart& part : *parts) {
      if (part.action.what != "set_env") continue;
      if (part.against_poor && !IsPoorOnAny(job, part.setting)) {
        found.already_set.emplace_back(part.setting);
        continue;
      }
      const std::string& value = std::get<std::string>(part.action.args.back().second);
      const bool done = std::ranges::all_of(of_finding, [&](const DiagnosedRank& rank) {
        return IsDone(part.setting, value, rank.part->settings);
      });
      if (done) found.already_set.emplace_back(part.setting);
    }
  }
}

}  // namespace

void FitAdvice(const Job& job, Diagnosis& diagnosis) {
  for (Finding& found : diagnosis.findings) {
    AddFacts(job, found);
    LeaveOutDone(job, found);
  }
}

}  // namespace mpa
