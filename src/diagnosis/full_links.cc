// SPDX-License-Identifier: Apache-2.0
// Links that can move no more while the step waits for them. A counter shows that a link is full
// only where the capture states its limit. Without one, it shows that nothing ever moved more; what
// stands behind that may be the link, or whoever sends.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diagnose.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/advice.h"

namespace mpa {
namespace {

constexpr Threshold kFullShare{"share", 0.03, 0, 1,
                               "links that hold up less than this share of the steps do not"
                               " matter"};

constexpr double kGigabyte = 1e9;
constexpr MetricInfo kFullRate{"full_rate", "GB/s", "{} over the link"},
    kFullLimit{"full_limit", "GB/s", "its limit {}"}, kFullTime{"full_time", "ns", "for {}"},
    kFullExposed{"full_exposed", "ns", "{} of it exposed communication"};

TimeNs LengthOfSteps(const RankDiagnosis& part) {
  return part.steps.empty() ? 0 : part.steps.back().end - part.steps.front().begin;
}

// Of several ranks and links the one that holds up its rank longest.
struct Fullest {
  const FullLink* link = nullptr;
  std::vector<RankId> ranks;
  std::vector<Evidence> places;
};

void AddPlace(const Job& job, RankIndex rank, const FullLink& link, Fullest& fullest) {
  if (fullest.link == nullptr || link.exposed > fullest.link->exposed) fullest.link = &link;
  const RankId name = job.ranks[rank].rank;
  if (fullest.ranks.empty() || fullest.ranks.back() != name) fullest.ranks.push_back(name);
  const RankDiagnosis& part = job.Part(rank);
  const auto steps = static_cast<TimeNs>(std::max<std::size_t>(1, part.steps.size()));
  fullest.places.push_back({.rank = name,
                            .source = part.source,
                            .table = "counters",
                            .name = link.name,
                            .start = link.start,
                            .dur = link.longest,
                            .capture = part.capture,
                            .time = link.exposed / steps,
                            .of_all = link.exposed / steps});
}

void FindFullLinks(Conclusions& conclusions) {
  const auto& [job, replays, diagnosis] = conclusions;
  Fullest at_limit, flat;
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    const RankDiagnosis& part = job.Part(rank);
    const double least = job.thresholds[kFullShare] * static_cast<double>(LengthOfSteps(part));
    for (const FullLink& link : part.full_links) {
      if (static_cast<double>(link.exposed) < least) continue;
      AddPlace(job, rank, link, link.limit > 0 ? at_limit : flat);
    }
  }
  for (Fullest* fullest : {&at_limit, &flat}) {
    if (fullest->link == nullptr) continue;
    const FullLink& link = *fullest->link;
    Finding found = NewFinding(job, kCommFullLink, link.limit > 0 ? "" : "flat");
    if (link.limit <= 0) {
      found.variant = &kCommFullLinkFlat;
      found.confidence = Certainty::kLow;  // what stands behind it is not recorded
    }
    found.ranks = std::move(fullest->ranks);
    if (found.ranks.size() == job.ranks.size()) found.ranks.clear();
    found.Measure(kFullRate, link.rate / kGigabyte);
    if (link.limit > 0) found.Measure(kFullLimit, link.limit / kGigabyte);
    found.Measure(kFullTime, link.time);
    found.Measure(kFullExposed, link.exposed);
    found.evidence = std::move(fullest->places);
    StableSort(found.evidence,
               [](const Evidence& a, const Evidence& b) { return a.time > b.time; });
    diagnosis.findings.push_back(std::move(found));
  }
}

AdvicePart MoveLess() {
  return {
      "send less over it (lower precision, fewer members between hosts, hierarchical"
      " collectives)",
      Change("data over the link", "less")};
}
AdvicePart MoveBeside() {
  return {"transfer while something is computed", Change("transfers", "beside computing")};
}

}  // namespace

const FindingType kCommFullLink = Fault(
    Area::kCommunication, "comm.full_link", {"communication", "hardware"},
    "a link moves all it can while the step waits for it",
    {.looked_at =
         "counters of links (HCCS, PCIe, RoCE, NIC, UB, SIO) while communication is exposed,"
         " beside the limit of the port or, without one, the most that they ever moved",
     .refuted_by = "the link moved more at another time, moves as much when nothing waits for it,"
                   " or its rate varies",
     .npu_alone = true,
     .applies = [](const Coverage& job) { return job.operations && job.counts_links; },
     .conclude = FindFullLinks,
     .advice = {{MoveLess(), MoveBeside()}},
     .thresholds = {&kFullShare}});

const FindingVariant kCommFullLinkFlat{
    "a link stays at the most that it moves in the run while the step waits for it",
    {{{"compare the rate with what the link is made for", Check("rate of the link")},
      MoveLess(),
      MoveBeside()}}};

}  // namespace mpa
