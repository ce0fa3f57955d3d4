// SPDX-License-Identifier: Apache-2.0
// Ties device work to the host operator that launched it.
#include "mpa/model/launches.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

namespace mpa {
namespace {

// The ends of launches, ordered by time.
class LaunchEnds {
 public:
  explicit LaunchEnds(const Launches& launches) : launches_(launches) {
    for (std::size_t i = 0; i < launches.Size(); ++i) {
      if (launches.device_time[i] >= 0) rows_.push_back(i);
    }
    std::ranges::stable_sort(rows_, [&](std::size_t a, std::size_t b) {
      return launches.device_time[a] < launches.device_time[b];
    });
  }

  // The link of the launch that ends at `time` on `stream`; -1 when there is none.
  std::int64_t LinkAt(TimeNs time, std::int64_t stream) const {
    const auto from = std::partition_point(rows_.begin(), rows_.end(), [&](std::size_t row) {
      return launches_.device_time[row] < time;
    });
    std::int64_t link = -1;
    std::size_t same_time = 0;
    for (auto at = from; at != rows_.end() && launches_.device_time[*at] == time; ++at) {
      if (launches_.stream[*at] == stream) return launches_.link[*at];
      link = launches_.link[*at];
      ++same_time;
    }
    return same_time == 1 ? link : -1;
  }

 private:
  const Launches& launches_;
  std::vector<std::size_t> rows_;
};

}  // namespace

void LinkByTime(RankTrace& trace) {
  if (trace.device == DeviceKind::kGpu) return;  // its kernels and arrows are in one file
  const LaunchEnds ends(trace.launches);
  Kernels& kernels = trace.kernels;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    if (kernels.link[i] < 0) kernels.link[i] = ends.LinkAt(kernels.start[i], kernels.stream[i]);
  }
}

bool KnowsLaunches(const RankTrace& trace) {
  const bool has_work =
      !trace.kernels.Empty() || !trace.device_tasks.Empty() || !trace.communications.Empty();
  return !has_work || !trace.launches.Empty();
}

namespace {

std::vector<std::int64_t> LinksOf(const Launches& launches) {
  std::vector<std::int64_t> links = launches.link;
  std::erase_if(links, [](std::int64_t link) { return link < 0; });
  return links;
}

}  // namespace

LaunchIndex::LaunchIndex(const RankTrace& trace) : rows_(LinksOf(trace.launches)) {
  const std::vector<std::int64_t>& links = trace.launches.link;
  for (std::size_t row = 0; row < links.size(); ++row) {
    if (links[row] >= 0) *rows_.Find(links[row]) = static_cast<std::uint32_t>(row + 1);
  }
}

std::optional<std::size_t> LaunchIndex::Find(std::int64_t link) const {
  const std::uint32_t* row = link < 0 ? nullptr : rows_.Find(link);
  if (row == nullptr || *row == 0) return std::nullopt;
  return *row - 1;
}

std::int64_t BusiestStream(const RankTrace& trace, const LaunchIndex& index) {
  if (trace.busiest_stream) return *trace.busiest_stream;
  const Kernels& kernels = trace.kernels;
  std::map<std::int64_t, TimeNs> busy;
  auto of_last = busy.end();  // kernels of one stream often follow each other
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    if (!index.Find(kernels.link[i])) continue;
    if (of_last == busy.end() || of_last->first != kernels.stream[i])
      of_last = busy.try_emplace(kernels.stream[i], 0).first;
    of_last->second += kernels.dur[i];
  }
  const auto busiest =
      std::ranges::max_element(busy, {}, [](const auto& of_stream) { return of_stream.second; });
  return busiest != busy.end() ? busiest->first : -1;
}

}  // namespace mpa
