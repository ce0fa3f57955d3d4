// SPDX-License-Identifier: Apache-2.0
// The known fusions that a job has not made, and what they cost.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "finder.h"
#include "fusible_runs.h"
#include "fusion_chains.h"
#include "mpa/base/rank.h"

namespace mpa {
namespace {

constexpr std::string_view kAttentionPlace = "attention";

class OpenFusionFinder {
 public:
  OpenFusionFinder(const Job& job, const IssuingOfRanks& issuing,
                   const std::vector<std::vector<bool>>& in_attention)
      : job_(job), issuing_(issuing), in_attention_(in_attention) {}

  OpenFusions Find() {
    OpenFusions fusions;
    std::map<std::pair<std::string, bool>, OpenFusion> by_place;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const KnownChains chains(job_.Part(rank), rank, job_.thresholds);
      fusions.judged = fusions.judged || chains.IsJudged();
      for (KnownChains::Found& found : chains.Find()) {
        std::string place(found.pattern->place);
        const bool in_attention = IsInAttention(found.run);
        if (in_attention && found.pattern->place != kAttentionPlace) continue;
        if (in_attention) {
          found.breaker = nullptr;
          place.clear();
        }
        if (found.breaker != nullptr) place.append("/").append(found.breaker->name);
        OpenFusion& fusion = by_place[{place, found.gains_little}];
        fusion.pattern = found.pattern;
        fusion.breaker = found.breaker;
        fusion.place = std::move(place);
        fusion.in_attention = in_attention;
        fusion.gains_little = found.gains_little;
        fusion.runs.push_back(std::move(found.run));
      }
      fusions.taken.emplace_back(job_.Part(rank).graph.nodes.size(), false);
      fusions.gone.emplace_back(job_.Part(rank).graph.nodes.size(), false);
    }
    for (auto& [place, fusion] : by_place) {
      Price(fusion);
      if (fusion.matters) {
        for (const FusibleRun& run : fusion.runs) {
          for (const std::uint32_t kernel : run.kernels) fusions.taken[run.rank][kernel] = true;
          for (const std::uint32_t kernel : run.gone) fusions.gone[run.rank][kernel] = true;
        }
      }
      fusions.open.push_back(std::move(fusion));
    }
    return fusions;
  }

 private:
  bool IsInAttention(const FusibleRun& run) const {
    return !in_attention_.empty() && std::ranges::any_of(run.kernels, [&](std::uint32_t kernel) {
      return in_attention_[run.rank][kernel];
    });
  }

  void Price(OpenFusion& fusion) const {
    const FusibleTime time = TimeOf(job_, fusion.runs);
    fusion.calls = time.calls;
    fusion.time = time.time;
    fusion.gone = time.gone;
    fusion.matters = !fusion.in_attention && !fusion.gains_little && Matters(job_, time);
    for (const FusibleRun& run : fusion.runs) TakeRun(job_, issuing_, run, fusion.what_if.expect);
    fusion.what_if.opportunity = true;
  }

  const Job& job_;
  const IssuingOfRanks& issuing_;
  const std::vector<std::vector<bool>>& in_attention_;
};

}  // namespace

FusibleTime TimeOf(const Job& job, const std::vector<FusibleRun>& runs) {
  const auto steps = static_cast<double>(job.ranks.size() * std::max<std::size_t>(1, job.steps));
  FusibleTime time;
  for (const FusibleRun& run : runs) {
    const auto& nodes = job.Part(run.rank).graph.nodes;
    for (const std::uint32_t kernel : run.kernels)
      time.time += static_cast<double>(nodes[kernel].dur);
    for (const std::uint32_t kernel : run.gone) time.gone += static_cast<double>(nodes[kernel].dur);
  }
  time.time /= steps;
  time.gone /= steps;
  time.calls = static_cast<double>(runs.size()) / steps;
  return time;
}

bool Matters(const Job& job, const FusibleTime& time) {
  return time.calls > 0 &&
         time.time >= job.thresholds[kUnfusedShare] * static_cast<double>(job.step_time);
}

void TakeRun(const Job& job, const IssuingOfRanks& issuing, const FusibleRun& run, Removal& removal,
             TimeNs most) {
  const auto& nodes = job.Part(run.rank).graph.nodes;
  const std::uint32_t first = job.graph.first_node[run.rank];
  for (const std::uint32_t kernel : run.gone)
    removal.durations.push_back({first + kernel, std::min(most, nodes[kernel].dur)});
  for (const std::uint32_t kernel : run.joined) {
    removal.prompt.push_back(first + kernel);
    DropIssuing(job, run.rank, issuing[run.rank].Of(kernel), 1, removal);
  }
}

const OpenFusions& FindingSearch::Fusions() {
  if (!fusions) fusions = OpenFusionFinder(job, issuing, in_attention).Find();
  return *fusions;
}

}  // namespace mpa
