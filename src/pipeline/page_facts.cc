// SPDX-License-Identifier: Apache-2.0
// What was analysed, for pages.
#include "page_facts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>

#include "mpa/base/text.h"

namespace mpa {
namespace {

// When the first record begins; -1: nothing is recorded, or its clock does not tell the date.
TimeNs BeginOf(const RankTrace& trace) {
  constexpr TimeNs kYear2010 = 1'262'304'000'000'000'000;
  TimeNs begin = -1;
  for (const std::vector<TimeNs>* starts : {&trace.steps.start, &trace.host_ops.start,
                                            &trace.kernels.start, &trace.device_tasks.start}) {
    if (starts->empty()) continue;
    const TimeNs first = *std::ranges::min_element(*starts);
    begin = begin < 0 ? first : std::min(begin, first);
  }
  return begin < kYear2010 ? -1 : begin;
}

// "0-7, 9"
std::string RanksText(const std::set<std::int64_t>& ranks) {
  constexpr std::size_t kMostPieces = 8;
  std::string text;
  std::size_t pieces = 0;
  for (auto at = ranks.begin(); at != ranks.end();) {
    std::int64_t last = *at;
    const std::int64_t first = last;
    while (++at != ranks.end() && *at == last + 1) last = *at;
    if (++pieces > kMostPieces) return text + ", ...";
    if (!text.empty()) text += ", ";
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

}  // namespace

void AnalysedCaptures::Add(const RankTrace& trace) {
  ++captures_;
  if (trace.rank >= 0) ranks_.insert(trace.rank);
  if (!trace.job.chip.empty()) chips_.insert(trace.job.chip);
  if (!trace.job.host_name.empty()) hosts_.insert(trace.job.host_name);
  if (const TimeNs begin = BeginOf(trace); begin >= 0)
    begin_ = begin_ < 0 ? begin : std::min(begin_, begin);
}

void AnalysedCaptures::Add(const AnalysedCaptures& other) {
  captures_ += other.captures_;
  ranks_.insert(other.ranks_.begin(), other.ranks_.end());
  chips_.insert(other.chips_.begin(), other.chips_.end());
  hosts_.insert(other.hosts_.begin(), other.hosts_.end());
  if (other.begin_ >= 0) begin_ = begin_ < 0 ? other.begin_ : std::min(begin_, other.begin_);
}

std::vector<PageFact> AnalysedCaptures::Facts(const std::string& where) const {
  std::vector<PageFact> facts = {{"captures", where}};
  if (captures_ > 1) facts.back().value += fmt::format(" ({})", captures_);
  if (!ranks_.empty()) facts.push_back({ranks_.size() == 1 ? "rank" : "ranks", RanksText(ranks_)});
  if (begin_ >= 0) {
    const std::time_t seconds = begin_ / 1'000'000'000;
    facts.push_back({"run of", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(seconds))});
  }
  if (!chips_.empty()) facts.push_back({"device", fmt::format("{}", fmt::join(chips_, ", "))});
  if (hosts_.size() == 1) facts.push_back({"host", *hosts_.begin()});
  if (hosts_.size() > 1) facts.push_back({"hosts", fmt::format("{}", hosts_.size())});
  facts.push_back({"made by", "msprof-analyze " MPA_VERSION});
  return facts;
}

std::vector<PageFact> FactsOfSides(const std::array<const RankInput*, 2>& inputs,
                                   const std::array<const RankTrace*, 2>& traces) {
  std::vector<PageFact> facts;
  for (std::size_t side = 0; side < inputs.size(); ++side) {
    AnalysedCaptures one;
    one.Add(*traces[side]);
    for (PageFact& fact : one.Facts(inputs[side]->path.string())) {
      if (fact.name == "made by") continue;
      facts.push_back({(side == 0 ? "base: " : "comparison: ") + fact.name, std::move(fact.value)});
    }
  }
  facts.push_back({"made by", "msprof-analyze " MPA_VERSION});
  return facts;
}

}  // namespace mpa
