// SPDX-License-Identifier: Apache-2.0
// Times, bandwidths and links of collectives. Sums are computed in the profiler's order, so that
// the doubles are equal to the last digit.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "collective_traffic.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/collectives.h"
#include "mpa/raw/step_ranges.h"
#include "mpa/raw/summaries.h"
#include "round_decimal.h"

namespace mpa::raw {
namespace {

constexpr double kNsPerMillisecond = 1e6;

double Share(double part, double rest) {
  return part + rest == 0 ? 0 : RoundDecimal(part / (part + rest), 4);
}

void SetRatios(CommunicationTime& time) {
  time.wait_ratio = Share(time.wait, time.transit);
  time.synchronization_ratio = Share(time.synchronization, time.transit);
}

/// Epoch microseconds. The whole and the fractional part are separate: only their sum is rounded.
double Microseconds(TimeNs ns) {
  const TimeNs whole = ns / 1000;
  return static_cast<double>(whole) + static_cast<double>(ns % 1000) / 1000.0;
}

/// The times of an operation are those of the plane on which its first master part runs.
CommunicationTime TimesOf(const Session& session, const CollectiveRows& rows) {
  const CollectiveParts& parts = session.parts;
  const auto first =
      std::ranges::find_if(rows.parts, [&](std::size_t part) { return parts.master[part] != 0; });
  const std::size_t main = first == rows.parts.end() ? rows.parts.front() : *first;
  std::vector<std::size_t> plane;
  for (const std::size_t part : rows.parts) {
    if (parts.plane[part] == parts.plane[main]) plane.push_back(part);
  }

  CommunicationTime time;
  time.start_us = Microseconds(session.collectives.start[rows.collective]);
  bool transferred = false;
  const TrafficReader reader(session, rows.collective);
  for (std::size_t i = 0; i < plane.size();) {
    const std::size_t part = plane[i];
    const Transfer transfer = reader.At(plane, i);
    if (transfer.kind == TransferKind::kRdma ||
        (transfer.kind == TransferKind::kCopy && !transfer.local)) {
      time.transit += transfer.milliseconds;
      transferred = true;
    }
    if (transfer.kind == TransferKind::kNone && reader.IsWait(part)) {
      const double wait =
          session.tasks.Exact(static_cast<std::size_t>(parts.task[part])) / kNsPerMillisecond;
      if (!transferred) time.synchronization += wait;
      time.wait += wait;
    }
    i += transfer.parts;
  }
  time.elapse = reader.Extent(plane) / kNsPerMillisecond;
  time.idle = time.elapse - time.transit - time.wait;
  SetRatios(time);
  return time;
}

double Bandwidth(const LinkUse& use) {
  if (use.milliseconds == 0) return 0;
  return RoundDecimal((use.megabytes / 1000) / (use.milliseconds / 1000), 4);
}

LinkKind KindOfLink(std::int64_t link) {
  switch (link) {
    case 1:
    case 5:  // HCCS_SW
      return LinkKind::kHccs;
    case 2:
      return LinkKind::kPcie;
    case 4:
      return LinkKind::kSio;
    default:
      return LinkKind::kSdma;
  }
}

std::map<LinkKind, LinkUse> AllLinks() {
  return {{LinkKind::kRdma, {}},
          {LinkKind::kHccs, {}},
          {LinkKind::kPcie, {}},
          {LinkKind::kSdma, {}},
          {LinkKind::kSio, {}}};
}

double LargePacketRatio(const LinkUse& use, double threshold) {
  double packets = 0, large = 0;
  for (const auto& [size, use_of_size] : use.sizes) {
    packets += use_of_size.first;
    if (size > threshold) large += use_of_size.first;
  }
  return packets > 0 ? RoundDecimal(large / packets, 4) : 0;
}

std::map<LinkKind, LinkUse> LinksOf(const Session& session, const CollectiveRows& rows) {
  std::map<LinkKind, LinkUse> links = AllLinks();
  const TrafficReader reader(session, rows.collective);
  for (const std::vector<std::size_t>& plane : PartsByPlane(session, rows)) {
    for (std::size_t i = 0; i < plane.size();) {
      const Transfer transfer = reader.At(plane, i);
      i += transfer.parts;
      const bool rdma = transfer.kind == TransferKind::kRdma;
      if (!rdma && (transfer.kind != TransferKind::kCopy || transfer.local)) continue;
      LinkUse& use = links[rdma ? LinkKind::kRdma : KindOfLink(transfer.link)];
      use.megabytes += transfer.megabytes;
      use.milliseconds += transfer.milliseconds;
      auto& [count, milliseconds] = use.sizes[transfer.megabytes];
      count += 1;
      milliseconds += transfer.milliseconds;
    }
  }
  LinkUse& sdma = links[LinkKind::kSdma];
  const LinkUse &hccs = links[LinkKind::kHccs], &pcie = links[LinkKind::kPcie],
                &sio = links[LinkKind::kSio];
  sdma.megabytes += hccs.megabytes + pcie.megabytes + sio.megabytes;
  sdma.milliseconds += hccs.milliseconds + pcie.milliseconds + sio.milliseconds;
  constexpr double kLargeRdma = 0.5, kLarge = 32;  // MB
  for (auto& [kind, use] : links) {
    use.bandwidth = Bandwidth(use);
    if (kind == LinkKind::kSdma) continue;  // the sum of the others has no sizes
    use.large_packet_ratio = LargePacketRatio(use, kind == LinkKind::kRdma ? kLargeRdma : kLarge);
  }
  return links;
}

CommunicationOp Total(const std::vector<CommunicationOp>& ops) {
  CommunicationOp total{.name = "Total Op Info", .group = {}, .time = {}, .links = AllLinks()};
  for (const CommunicationOp& op : ops) total.Add(op);
  SetRatios(total.time);
  return total;
}

/// The operations, followed by their total.
std::vector<CommunicationOp> Summarise(const Session& session,
                                       const std::vector<CollectiveRows>& all) {
  const auto text = [&](StringId id) { return std::string(session.strings.View(id)); };
  std::vector<CommunicationOp> ops;
  ops.reserve(all.size() + 1);
  for (const CollectiveRows& rows : all) {
    ops.push_back({.name = text(session.collectives.name[rows.collective]),
                   .group = text(session.collectives.group[rows.collective]),
                   .time = TimesOf(session, rows),
                   .links = LinksOf(session, rows)});
  }
  if (!ops.empty()) ops.push_back(Total(ops));
  return ops;
}

/// The collectives of a step.
struct StepRows {
  std::string name = "step";
  std::vector<CollectiveRows> p2p, collective;
};

/// Of the steps that launched device work. A single step takes everything; without steps, the
/// capture as a whole does.
std::vector<StepRows> RowsBySteps(const Session& session) {
  std::vector<StepRows> steps;
  const StepRanges on_device = StepsOnDevice(session.steps);
  for (const StepRange& step : on_device.All()) {
    steps.push_back({.name = "step" + std::to_string(step.id), .p2p = {}, .collective = {}});
  }
  if (steps.empty()) steps.emplace_back();
  for (CollectiveRows& rows : PartsByCollective(session)) {
    StepRows* step = &steps.front();
    if (steps.size() > 1) {
      const std::ptrdiff_t place = on_device.At(session.collectives.start[rows.collective]);
      if (place < 0) continue;
      step = &steps[static_cast<std::size_t>(place)];
    }
    const StringId name = session.collectives.name[rows.collective];
    const bool pair = IsPointToPointName(session.strings.View(name));
    (pair ? step->p2p : step->collective).push_back(std::move(rows));
  }
  return steps;
}

}  // namespace

std::vector<CommunicationStep> SummariseCommunication(const Session& session) {
  std::vector<CommunicationStep> steps;
  for (const StepRows& rows : RowsBySteps(session)) {
    steps.push_back({.step = rows.name,
                     .p2p = Summarise(session, rows.p2p),
                     .collective = Summarise(session, rows.collective),
                     .p2p_matrix = LinkMatrix(session, rows.p2p),
                     .collective_matrix = LinkMatrix(session, rows.collective)});
  }
  return steps;
}

// The matrix of links: the fastest, the middle and the slowest operations for each kind of
// operation and pair of ranks.

namespace {

constexpr std::int64_t kNoRank = 0xFFFFFFFF;

using Link = std::pair<std::int64_t, std::int64_t>;  // ranks from and to

/// The amount that one operation moved over one link.
struct LinkTraffic {
  Link link;
  std::string_view transport{};  // empty: no link with a name in the matrix
  double megabytes = 0, milliseconds = 0, bandwidth = 0;
  StringId op{};
};

std::string_view TransportOfCopy(std::int64_t link) {
  if (link == 0) return "LOCAL";
  const LinkKind kind = KindOfLink(link);
  return kind == LinkKind::kSdma ? std::string_view() : NameOf(kind);
}

double Bandwidth(double megabytes, double milliseconds) {
  return milliseconds == 0 ? 0 : RoundDecimal(megabytes / milliseconds, 4);
}

/// In the order in which the links are used first.
std::vector<LinkTraffic> TrafficOf(const Session& session, const CollectiveRows& rows) {
  const CollectiveParts& parts = session.parts;
  std::vector<LinkTraffic> traffic;
  std::map<Link, std::size_t> place;
  const TrafficReader reader(session, rows.collective);
  for (const std::vector<std::size_t>& plane : PartsByPlane(session, rows)) {
    for (std::size_t i = 0; i < plane.size();) {
      const std::size_t part = plane[i];
      if (parts.local_rank[part] == kNoRank) {
        ++i;
        continue;
      }
      const Transfer transfer = reader.At(plane, i);
      i += transfer.parts;
      if (transfer.kind == TransferKind::kNone) continue;
      const std::int64_t remote = parts.remote_rank[part];
      const Link link{parts.local_rank[part], remote == kNoRank ? parts.local_rank[part] : remote};
      const auto [found, is_first] = place.try_emplace(link, traffic.size());
      if (is_first) {
        traffic.push_back({.link = link, .op = session.collectives.name[rows.collective]});
      }
      LinkTraffic& sum = traffic[found->second];
      sum.transport =
          transfer.kind == TransferKind::kRdma ? "RDMA" : TransportOfCopy(transfer.link);
      sum.megabytes += transfer.megabytes;
      sum.milliseconds += transfer.milliseconds;
    }
  }
  for (LinkTraffic& sum : traffic) sum.bandwidth = Bandwidth(sum.megabytes, sum.milliseconds);
  return traffic;
}

/// "allreduce" of "hcom_allReduce__586_0_1": the kind that occurs first in the name; if several
/// begin there, the one listed first.
std::string KindOf(std::string_view op) {
  constexpr std::array<std::string_view, 10> kKinds = {
      "send",    "reduce",    "invalid", "broadcast", "allreduce",
      "receive", "allgather", "scatter", "alltoall",  "batchsendrecv"};
  const std::string name = ToLower(op);
  std::size_t first = std::string::npos;
  std::string_view kind;
  for (const std::string_view candidate : kKinds) {
    const std::size_t at = name.find(candidate);
    if (at < first) {
      first = at;
      kind = candidate;
    }
  }
  return std::string(kind.empty() ? op.substr(0, op.find("__")) : kind);
}

/// The amount that all operations of a kind in a group moved over one link.
struct Series {
  std::string kind;
  StringId group{};
  std::vector<LinkTraffic> traffic;
};

std::vector<Series> SeriesOf(const Session& session,
                             const std::vector<CollectiveRows>& collectives) {
  std::vector<Series> all;
  std::map<std::tuple<std::string, StringId, Link>, std::size_t> place;
  for (const CollectiveRows& rows : collectives) {
    const std::string kind =
        KindOf(session.strings.View(session.collectives.name[rows.collective]));
    const StringId group = session.collectives.group[rows.collective];
    for (const LinkTraffic& traffic : TrafficOf(session, rows)) {
      const auto [found, is_first] = place.try_emplace({kind, group, traffic.link}, all.size());
      if (is_first) all.push_back({.kind = kind, .group = group, .traffic = {}});
      all[found->second].traffic.push_back(traffic);
    }
  }
  return all;
}

/// Collects entries by name; the names are in order of first use.
class MatrixBuilder {
 public:
  explicit MatrixBuilder(const Session& session) : session_(session) {}

  void Add(const Series& series, std::string_view place, const LinkTraffic& traffic) {
    const std::string name = series.kind + "-" + std::string(place);
    const auto [found, is_first] = place_.try_emplace({name, series.group}, by_name_.size());
    if (is_first) by_name_.emplace_back();
    by_name_[found->second].push_back({.name = name,
                                       .group = std::string(session_.strings.View(series.group)),
                                       .source = traffic.link.first,
                                       .destination = traffic.link.second,
                                       .transport = std::string(traffic.transport),
                                       .megabytes = traffic.megabytes,
                                       .milliseconds = traffic.milliseconds,
                                       .bandwidth = traffic.bandwidth,
                                       .op = std::string(session_.strings.View(traffic.op))});
  }

  std::vector<MatrixEntry> Take() {
    std::vector<MatrixEntry> entries;
    for (std::vector<MatrixEntry>& part : by_name_) {
      std::move(part.begin(), part.end(), std::back_inserter(entries));
    }
    return entries;
  }

 private:
  const Session& session_;
  std::vector<std::vector<MatrixEntry>> by_name_;
  std::map<std::pair<std::string, StringId>, std::size_t> place_;
};

LinkTraffic Total(const std::vector<LinkTraffic>& traffic) {
  LinkTraffic total{.link = traffic.front().link, .transport = traffic.front().transport};
  for (const LinkTraffic& part : traffic) {
    total.megabytes += part.megabytes;
    total.milliseconds += part.milliseconds;
  }
  total.bandwidth = Bandwidth(total.megabytes, total.milliseconds);
  return total;
}

}  // namespace

std::vector<MatrixEntry> LinkMatrix(const Session& session,
                                    const std::vector<CollectiveRows>& collectives) {
  MatrixBuilder matrix(session);
  for (Series& series : SeriesOf(session, collectives)) {
    std::vector<LinkTraffic>& traffic = series.traffic;
    StableSort(traffic, std::greater(), &LinkTraffic::bandwidth);
    const std::size_t count = traffic.size();
    matrix.Add(series, "top1", traffic.front());
    matrix.Add(series, "middle", traffic[count / 2]);
    matrix.Add(series, "bottom1", traffic.back());
    matrix.Add(series, "total", Total(traffic));
    if (count >= 2) matrix.Add(series, "bottom2", traffic[count - 2]);
    if (count >= 3) matrix.Add(series, "bottom3", traffic[count - 3]);
  }
  return matrix.Take();
}

}  // namespace mpa::raw
