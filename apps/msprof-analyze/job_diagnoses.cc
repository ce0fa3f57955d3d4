// SPDX-License-Identifier: Apache-2.0
#include "job_diagnoses.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/memory.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/change/job_causes.h"
#include "mpa/diagnosis/recipe.h"
#include "mpa/pipeline/cluster.h"

namespace mpa {
JobDiagnoses::JobDiagnoses(const CapturePairs& pairs, std::filesystem::path base,
                           std::filesystem::path comparison, OpenOptions open)
    : open_(std::move(open)), recipe_(DiagnosisRecipe()) {
  sides_[0].path = std::move(base);
  sides_[1].path = std::move(comparison);
  for (const CapturePair& pair : pairs.pairs) {
    for (Side& side : sides_) side.ranks.insert(pair.rank);
  }
  for (const UnpairedRank& rank : pairs.unpaired) {
    Side& has = sides_[rank.option == "-d" ? 0 : 1];
    if (rank.state == RankState::kDamaged) has.lacks_ranks = true;
    has.ranks.insert(rank.rank);
  }
}

bool JobDiagnoses::AreJobs() const {
  return std::ranges::all_of(
      sides_, [](const Side& side) { return side.ranks.size() > 1 && *side.ranks.begin() >= 0; });
}

std::size_t JobDiagnoses::Ranks() const {
  return std::max(sides_[0].ranks.size(), sides_[1].ranks.size());
}

void JobDiagnoses::Visit(RankId rank, CompareRequest& request) {
  request.visit_needs = recipe_.needs;
  // Each side is condensed by one thread.
  request.visit = [this, rank](bool is_comparison, const RankTrace& trace) {
    Side& side = sides_[is_comparison ? 1 : 0];
    try {
      side.parts.push_back({rank, recipe_.map(trace, {})});
    } catch (const Error& error) {
      if (!IsBadInput(error)) throw;
      side.lacks_ranks = true;
    }
  };
}

void JobDiagnoses::Read(Side& side) const {
  ClusterRequest request;
  request.directory = side.path;
  request.open = open_;
  request.ranks = side.ranks;
  request.reduce_bytes = UsualMemory();
  for (const RankPart& part : side.parts) request.ranks->erase(part.rank);
  if (!request.ranks->empty()) {
    MappedRanks mapped = MapRanks(recipe_, request);
    std::move(mapped.parts.begin(), mapped.parts.end(), std::back_inserter(side.parts));
  }
  StableSort(side.parts, {}, &RankPart::rank);
  side.lacks_ranks = side.lacks_ranks || side.parts.size() < side.ranks.size();
}

std::vector<std::string> JobDiagnoses::Lines(std::size_t width) {
  try {
    for (Side& side : sides_) {
      if (!side.lacks_ranks) Read(side);
    }
    if (sides_[0].lacks_ranks || sides_[1].lacks_ranks) {
      LogNotice("causes over all ranks are not searched, because some ranks could not be read");
      return {};
    }
    const JobCauses base = CausesOf(sides_[0].parts, {});
    const JobCauses comparison = CausesOf(sides_[1].parts, {});
    if (base.step == 0 || comparison.step == 0) return {};
    return CauseLines(CauseChange(Say("job of {} ranks", sides_[1].ranks.size()), base, comparison),
                      width);
  } catch (const Error& error) {
    if (!IsBadInput(error)) throw;
    LogNotice("causes over all ranks are not searched: {}", error.what());
    return {};
  }
}

}  // namespace mpa
