// SPDX-License-Identifier: Apache-2.0
// What was analysed, for pages.
#include "page_facts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>

#include "mpa/base/rank.h"
#include "mpa/base/text.h"

namespace mpa {

TimeNs BeginOf(const RankTrace& trace) {
  constexpr TimeNs kYear2010 = 1'262'304'000'000'000'000;
  TimeNs begin = -1;
  for (const std::vector<TimeNs>* starts :
       {&trace.steps.start, &trace.host_ops.start, &trace.kernels.start, &trace.device_tasks.start,
        &trace.communications.start}) {
    if (starts->empty()) continue;
    const TimeNs first = *std::ranges::min_element(*starts);
    begin = begin < 0 ? first : std::min(begin, first);
  }
  return begin < kYear2010 ? -1 : begin;
}

namespace {

constexpr std::size_t kMostPageRuns = 8;  // a page has more room than a screen

}  // namespace

void AnalysedCaptures::Add(const RankTrace& trace) {
  ++captures;
  if (trace.rank >= 0) ranks.insert(trace.rank);
  if (!trace.job.chip.empty()) chips.insert(trace.job.chip);
  if (!trace.job.host_name.empty()) hosts.insert(trace.job.host_name);
  if (const TimeNs first = BeginOf(trace); first >= 0)
    begin = begin < 0 ? first : std::min(begin, first);
}

void AnalysedCaptures::Add(const AnalysedCaptures& other) {
  captures += other.captures;
  ranks.insert(other.ranks.begin(), other.ranks.end());
  chips.insert(other.chips.begin(), other.chips.end());
  hosts.insert(other.hosts.begin(), other.hosts.end());
  if (other.begin >= 0) begin = begin < 0 ? other.begin : std::min(begin, other.begin);
}

namespace {

PageFact MadeBy() { return {Say("made by"), "msprof-analyze " MPA_VERSION}; }

}  // namespace

std::vector<PageFact> AnalysedCaptures::Facts(const std::string& where) const {
  std::vector<PageFact> facts = {{Say("captures"), where}};
  if (captures > 1) facts.back().value += fmt::format(" ({})", captures);
  // The label of a single capture is in its path.
  const bool is_label = ranks.size() == 1 && ranks.begin()->IsLabel();
  if (!ranks.empty() && !is_label)
    facts.push_back(
        {ranks.size() == 1 ? Say("rank") : Say("ranks"), RankList(ranks).Names(kMostPageRuns)});
  if (begin >= 0) {
    const std::time_t seconds = begin / 1'000'000'000;
    facts.push_back({Say("run of"), fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(seconds))});
  }
  if (!chips.empty()) facts.push_back({Say("device"), fmt::format("{}", fmt::join(chips, ", "))});
  if (hosts.size() == 1) facts.push_back({Say("host"), *hosts.begin()});
  if (hosts.size() > 1) facts.push_back({Say("hosts"), fmt::format("{}", hosts.size())});
  facts.push_back(MadeBy());
  return facts;
}

void AddAbsent(const AbsentRanks& absent, std::vector<PageFact>& facts) {
  std::map<RankState, std::set<RankId>> ranks;
  for (const auto& [rank, state] : absent.states) ranks[state].insert(rank);
  for (const auto& [state, of_state] : ranks) {
    const PageFact fact{std::string(Translated(NameOf(state))),
                        RankList(of_state).Text(kMostPageRuns)};
    facts.insert(std::prev(facts.end()), fact);
  }
}

std::vector<PageFact> FactsOfSides(const std::array<const RankInput*, 2>& inputs,
                                   const std::array<const RankTrace*, 2>& traces) {
  std::vector<PageFact> facts;
  for (std::size_t side = 0; side < inputs.size(); ++side) {
    AnalysedCaptures one;
    one.Add(*traces[side]);
    for (PageFact& fact : one.Facts(inputs[side]->path.string())) {
      if (fact.name == MadeBy().name) continue;
      facts.push_back({side == 0 ? Say("base: {}", fact.name) : Say("comparison: {}", fact.name),
                       std::move(fact.value)});
    }
  }
  facts.push_back(MadeBy());
  return facts;
}

}  // namespace mpa
