// SPDX-License-Identifier: Apache-2.0
// Which findings hide others, and the order in which findings are shown.
#include <algorithm>
#include <functional>
#include <utility>

#include "diagnose.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

// Those that hide others cost much, so they are among the first.
constexpr std::size_t kMaxDominating = 4;

void Insert(Finding candidate, Diagnosis& diagnosis) {
  const auto place = std::ranges::find_if(
      diagnosis.hidden, [&](const Finding& other) { return other.alone < candidate.alone; });
  diagnosis.hidden.insert(place, std::move(candidate));
}

// A gain is clearly larger than what is saved alone.
bool IsMore(TimeNs gain, const Finding& finding, const Thresholds& thresholds) {
  return gain - finding.alone > ShareOf(finding.gain, thresholds[kHiddenShare]);
}

}  // namespace

StepReplays::Removals FixesOf(const Diagnosis& diagnosis) {
  StepReplays::Removals fixes;
  for (const Finding& finding : diagnosis.findings) {
    if (!finding.what_if.expect.IsEmpty()) fixes.push_back(&finding.what_if.expect);
  }
  return fixes;
}

void FindHiding(StepReplays& replays, Diagnosis& diagnosis) {
  const StepReplays::Removals fixes = FixesOf(diagnosis);
  for (std::size_t i = 1; i < fixes.size(); ++i) {
    Finding& finding = diagnosis.findings[i];
    if (!IsMore(finding.gain, finding, diagnosis.thresholds)) continue;
    const std::size_t ahead = std::min(i, kMaxDominating);
    std::vector<StepReplays::Removals> pairs;
    for (std::size_t other = 0; other < ahead; ++other) pairs.push_back({fixes[other], fixes[i]});
    const std::vector<TimeNs> with_both = replays.Times({}, pairs);
    for (std::size_t other = 0; other < ahead; ++other) {
      const TimeNs with_other = diagnosis.step - diagnosis.findings[other].alone;
      const TimeNs then = with_other - with_both[other];
      if (IsMore(then, finding, diagnosis.thresholds))
        finding.after.push_back(diagnosis.findings[other].key);
    }
    if (!finding.after.empty()) continue;
    // It takes several of them.
    for (std::size_t other = 0; other < ahead; ++other)
      finding.after.push_back(diagnosis.findings[other].key);
  }
}

void AddHidden(const std::function<TimeNs(const Removal&)>& step_with, Finding candidate,
               Diagnosis& diagnosis) {
  const StepReplays::Removals fixes = FixesOf(diagnosis);
  const std::size_t ahead = std::min(fixes.size(), kMaxDominating);
  for (std::size_t other = 0; other < ahead; ++other) {
    const Finding& finding = diagnosis.findings[other];
    const TimeNs then = diagnosis.step - finding.alone - step_with(*fixes[other]);
    if (candidate.alone - then > ShareOf(candidate.alone, diagnosis.thresholds[kHiddenShare]))
      candidate.after.push_back(finding.key);
  }
  const bool several = candidate.after.empty();  // it takes more than one of them
  for (std::size_t other = 0; several && other < fixes.size(); ++other)
    candidate.after.push_back(diagnosis.findings[other].key);
  Insert(std::move(candidate), diagnosis);
}

void AddHiddenBehindOthers(StepReplays& replays, const StepReplays::Removals& others,
                           Finding candidate, Diagnosis& diagnosis) {
  StepReplays::Removals with = others;
  with.push_back(&candidate.what_if.expect);
  candidate.alone = replays.Time(others) - replays.Time(with);
  if (candidate.alone < LeastGain(diagnosis.thresholds, diagnosis.step)) return;
  candidate.if_uncaptured_ranks_do_too = true;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.Is(kRankLate)) candidate.after.push_back(finding.key);
  }
  Insert(std::move(candidate), diagnosis);
}

std::vector<std::size_t> OrderOfFindings(const std::vector<Finding>& findings) {
  // Two that pay only together stand together, where the larger of them does.
  struct Block {
    std::vector<std::size_t> findings;
    TimeNs gain = 0;
  };
  std::vector<Block> blocks;
  bool joins = false;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!joins) blocks.emplace_back();
    blocks.back().findings.push_back(i);
    blocks.back().gain = std::max(blocks.back().gain, findings[i].gain);
    joins = findings[i].pays_only_with_next;
  }
  StableSort(blocks, std::greater{}, &Block::gain);
  std::vector<std::size_t> order;
  for (const Block& block : blocks)
    order.insert(order.end(), block.findings.begin(), block.findings.end());
  return order;
}

}  // namespace mpa
