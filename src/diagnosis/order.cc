// SPDX-License-Identifier: Apache-2.0
// The order in which findings are told.
#include <algorithm>
#include <numeric>

#include "diagnose.h"

namespace mpa {
namespace {

// Gains are those of fixing one after the other, faults first. Told are they by their size: what
// saves most stands first, whatever it is. Only what another one needs stands above that one.
class FindingOrder {
 public:
  FindingOrder(const std::vector<const WhatIf*>& what_ifs, StepReplays& replays,
               const Diagnosis& diagnosis)
      : what_ifs_(what_ifs),
        replays_(replays),
        of_(diagnosis),
        findings_(diagnosis.findings),
        is_placed_(findings_.size(), false) {}

  std::vector<std::size_t> Make() && {
    std::vector<std::size_t> by_gain(findings_.size());
    std::iota(by_gain.begin(), by_gain.end(), std::size_t{0});
    std::ranges::stable_sort(by_gain, std::greater{}, [&](std::size_t i) { return GainAt(i); });
    const auto saves =
        std::ranges::partition_point(by_gain, [&](std::size_t i) { return GainAt(i) > 0; });
    std::stable_partition(by_gain.begin(), saves, [&](std::size_t i) { return !IsGuess(i); });
    for (const std::size_t finding : by_gain) Place(finding);
    return std::move(order_);
  }

 private:
  bool IsWithNext(std::size_t i) const {
    return findings_[i].with_next && i + 1 < findings_.size();
  }
  // What another design of the program could save is a guess: it follows what is known to cost.
  bool IsGuess(std::size_t i) const {
    const FoundCause& finding = findings_[i];
    return finding.kind == FindingKind::kOpportunity && finding.confidence == Certainty::kLow;
  }
  // Two that pay only together stand where the larger of them does.
  TimeNs GainAt(std::size_t i) const {
    TimeNs gain = findings_[i].gain;
    if (IsWithNext(i)) gain = std::max(gain, findings_[i + 1].gain);
    return gain;
  }

  void Place(std::size_t i) {
    if (is_placed_[i]) return;
    if (i > 0 && IsWithNext(i - 1) && !is_placed_[i - 1]) return Place(i - 1);
    for (const std::size_t needed : NeededFor(i)) Place(needed);
    if (is_placed_[i]) return;
    is_placed_[i] = true;
    order_.push_back(i);
    if (IsWithNext(i)) Place(i + 1);
  }

  // Smaller findings, fixed before this one, without any of which it would save clearly less.
  std::vector<std::size_t> NeededFor(std::size_t i) {
    std::vector<std::size_t> needed, smaller;
    const FoundCause& finding = findings_[i];
    const TimeNs much = ShareOf(finding.gain, of_.thresholds[kHiddenShare]);
    if (i >= what_ifs_.size() || finding.with_next || finding.gain - finding.alone <= much)
      return needed;
    for (std::size_t other = 0; other < i; ++other) {
      if (findings_[other].gain < finding.gain && !is_placed_[other]) smaller.push_back(other);
    }
    std::vector<StepReplays::Removals> sets;
    for (const std::size_t other : smaller) {
      StepReplays::Removals& without = sets.emplace_back();
      for (std::size_t before = 0; before < i; ++before) {
        if (before != other) without.push_back(&what_ifs_[before]->expect);
      }
      sets.push_back(without);
      sets.back().push_back(&what_ifs_[i]->expect);
    }
    const std::vector<TimeNs> times = replays_.Times({}, sets);
    for (std::size_t at = 0; at < smaller.size(); ++at) {
      const TimeNs gain = times[2 * at] - times[2 * at + 1];
      if (finding.gain - gain > much) needed.push_back(smaller[at]);
    }
    return needed;
  }

  const std::vector<const WhatIf*>& what_ifs_;
  StepReplays& replays_;
  const Diagnosis& of_;
  const std::vector<FoundCause>& findings_;
  std::vector<bool> is_placed_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::vector<std::size_t> OrderOfFindings(const std::vector<const WhatIf*>& what_ifs,
                                         StepReplays& replays, const Diagnosis& diagnosis) {
  return FindingOrder(what_ifs, replays, diagnosis).Make();
}

}  // namespace mpa
