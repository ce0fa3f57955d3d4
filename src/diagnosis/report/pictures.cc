// SPDX-License-Identifier: Apache-2.0
// What a page draws of a job beside its findings.
#include "mpa/diagnosis/report/pictures.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/mfu/roofline.h"

namespace mpa {
namespace {

// By type, of the mean rank and counted step, the longest first.
std::vector<std::pair<std::string, TimeNs>> TopKernels(const Job& job) {
  constexpr std::size_t kMax = 15;
  std::map<std::string, TimeNs> times;
  for (const auto& steps : job.work) {
    for (std::size_t step = job.first_step; step < steps.size(); ++step) {
      for (const auto& [type, sum] : steps[step].kernels) times[type] += sum.time;
    }
  }
  const auto count = static_cast<TimeNs>(job.ranks.size() * job.CountedSteps());
  std::vector<std::pair<std::string, TimeNs>> kernels;
  for (const auto& [type, time] : times)
    kernels.emplace_back(type, time / std::max<TimeNs>(1, count));
  StableSort(kernels, std::greater{}, &std::pair<std::string, TimeNs>::second);
  if (kernels.size() > kMax) kernels.resize(kMax);
  return kernels;
}

std::vector<LinkPicture> LinksOf(const Job& job) {
  std::vector<LinkPicture> links;
  const LinkSpeeds speeds(job);
  for (const auto& [link, traffic] : speeds.Links()) {
    if (traffic.time > 0)
      links.push_back({link.low, link.high, Share(traffic.bytes, traffic.time)});
  }
  return links;
}

std::optional<PageChart> RooflineOf(const Job& job) {
  std::vector<const Roofline*> ranks;
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    if (!job.Part(rank).roofline) return std::nullopt;
    ranks.push_back(&*job.Part(rank).roofline);
  }
  return RooflineChart(ranks);
}

}  // namespace

JobPictures PicturesOf(const Job& job) {
  return {TopKernels(job), LinksOf(job), RooflineOf(job), LongestWait(job), {}};
}

}  // namespace mpa
