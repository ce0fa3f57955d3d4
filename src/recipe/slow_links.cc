// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/slow_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/measure/collectives.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/quantiles.h"
#include "mpa/measure/transfer_times.h"
#include "mpa/model/collective_tasks.h"

namespace mpa {
namespace {

// What moved over one link.
struct MovedOver {
  Traffic traffic = {};
  std::string_view kind = {};  // of the link; empty: not recorded
};

class LinkSummer {
 public:
  LinkSummer(const RankTrace& trace, const Intervals& exposed) : trace_(trace), exposed_(exposed) {}

  std::vector<LinkSum> Find() && {
    const CommTasks& tasks = trace_.comm_tasks;
    const std::vector<std::int64_t> operations = OperationsOfTasks(trace_);
    const std::vector<TimeNs> times = OwnTransferTimes(trace_, operations);
    // By operation, transport and peer.
    std::map<std::pair<std::int64_t, StringId>, std::map<std::int32_t, MovedOver>> uses;
    for (std::size_t i = 0; i < tasks.Size(); ++i) {
      if (operations[i] < 0 || !HasPeer(trace_, i) || !MovesData(trace_, i)) continue;
      MovedOver& use = uses[{operations[i], tasks.transport[i]}][tasks.peer[i]];
      use.traffic.Add({1, tasks.bytes[i], times[i]});
      use.kind = trace_.strings.View(tasks.link_type[i]);
    }
    for (auto& [of, links] : uses) {
      std::erase_if(links, [](const auto& link) {
        const Traffic& traffic = link.second.traffic;
        return traffic.bytes < kShowsBandwidth || traffic.time <= 0;
      });
      Add(static_cast<std::size_t>(of.first), of.second, links);
    }
    std::vector<LinkSum> sums;
    for (auto& [key, sum] : sums_) sums.push_back(std::move(sum));
    return sums;
  }

 private:
  void Add(std::size_t operation, StringId transport,
           const std::map<std::int32_t, MovedOver>& links) {
    const Communications& ops = trace_.communications;
    if (ops.group[operation] < 0) return;
    const auto group = static_cast<std::size_t>(ops.group[operation]);
    const TimeNs start = ops.start[operation];
    const TimeNs exposed = LengthWithin(exposed_, {start, start + ops.dur[operation]});
    const auto longest = std::ranges::max_element(
        links, {}, [](const auto& link) { return link.second.traffic.time; });
    for (auto link = links.begin(); link != links.end(); ++link) {
      const auto& [peer, of_link] = *link;
      const Traffic& use = of_link.traffic;
      LinkSum& sum = sums_[{group, transport, peer}];
      sum.group = BareGroupName(trace_.strings.View(trace_.comm_groups.name[group]));
      sum.transport = trace_.strings.View(transport);
      sum.kind = of_link.kind;
      sum.peer = peer;
      sum.all.Add(use);
      if (links.size() == 1) {
        sum.alone.Add(use);
        sum.alone_exposed += std::min(exposed, use.time);
      } else if (link == longest) {
        std::vector<TimeNs> others;
        for (const auto& [other, of_other] : links) {
          if (other != peer) others.push_back(of_other.traffic.time);
        }
        sum.lead += std::min(exposed, use.time - Median(std::move(others)));
      }
    }
  }

  const RankTrace& trace_;
  const Intervals& exposed_;
  std::map<std::tuple<std::size_t, StringId, std::int32_t>, LinkSum> sums_;
};

}  // namespace

std::vector<LinkSum> LinkSumsOf(const RankTrace& trace, const Intervals& exposed) {
  return LinkSummer(trace, exposed).Find();
}

LinkSpeedsOfJob FindSlowLinks(const std::vector<RankLinks>& ranks) {
  using Ends = std::tuple<std::string, RankId, RankId>;
  std::map<Ends, MovedOver> links;
  std::map<Ends, std::vector<std::pair<const LinkSum*, std::size_t>>> sums;
  JobGroups groups;
  for (const RankLinks& rank : ranks) groups.Add(rank.groups);
  for (const RankLinks& rank : ranks) {
    for (const LinkSum& sum : rank.links) {
      const JobGroup* group = groups.Find(sum.group);
      const auto at = static_cast<std::size_t>(sum.peer);
      if (group == nullptr || at >= group->ranks.size()) continue;
      const RankId peer = group->ranks[at];
      const Ends ends{sum.transport, std::min(rank.rank, peer), std::max(rank.rank, peer)};
      MovedOver& use = links[ends];
      use.traffic.Add(sum.all);
      if (!sum.kind.empty()) use.kind = sum.kind;
      sums[ends].emplace_back(&sum, std::max<std::size_t>(1, rank.steps));
    }
  }
  std::map<std::string, std::vector<double>> speeds;
  for (const auto& [ends, use] : links)
    speeds[std::get<0>(ends)].push_back(use.traffic.GigabytesPerSecond());
  std::map<std::string, double> usual;
  for (auto& [transport, values] : speeds) usual[transport] = UsualBandwidth(std::move(values));
  LinkSpeedsOfJob found;
  found.links = links.size();
  for (const auto& [ends, use] : links) {
    const auto& [transport, low, high] = ends;
    SlowLink slow{low, high, std::string(use.kind.empty() ? transport : use.kind),
                  use.traffic.GigabytesPerSecond(), usual[transport]};
    if (slow.speed >= kSlowLinkShare * slow.usual) continue;
    for (const auto& [sum, steps] : sums[ends]) {
      const auto usual_time =
          static_cast<TimeNs>(static_cast<double>(sum->alone.bytes) / slow.usual);
      const TimeNs alone =
          std::min(sum->alone_exposed, std::max<TimeNs>(0, sum->alone.time - usual_time));
      slow.cost = std::max(slow.cost, (sum->lead + alone) / static_cast<TimeNs>(steps));
    }
    found.slow.push_back(std::move(slow));
  }
  StableSort(found.slow, std::greater{}, &SlowLink::cost);
  return found;
}

std::string SlowLinkText(const SlowLink& link) {
  return Say("rank {} to {} ({}) {:.1f} GB/s, the others {:.1f}; costs {:.3f} ms a step",
             RankName(link.low), RankName(link.high), Printable(link.kind), link.speed, link.usual,
             InMs(link.cost));
}

}  // namespace mpa
