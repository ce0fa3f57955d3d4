// SPDX-License-Identifier: Apache-2.0
// Times, bandwidths and links of collectives. Sums are computed in the profiler's order, so that
// the doubles are equal to the last digit.
#include <algorithm>
#include <utility>

#include "collective_traffic.h"
#include "mpa/measure/collectives.h"
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
  const auto first = std::find_if(rows.parts.begin(), rows.parts.end(),
                                  [&](std::size_t part) { return parts.master[part] != 0; });
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
          session.tasks.dur[static_cast<std::size_t>(parts.task[part])] / kNsPerMillisecond;
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
  std::vector<std::size_t> place(session.steps.Size());  // of a row of session.steps
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (session.steps.device_start[i] < 0) continue;
    place[i] = steps.size();
    steps.push_back(
        {.name = "step" + std::to_string(session.steps.id[i]), .p2p = {}, .collective = {}});
  }
  if (steps.empty()) steps.emplace_back();
  const StepsOnDevice on_device(session.steps);
  for (CollectiveRows& rows : PartsByCollective(session)) {
    StepRows* step = &steps.front();
    if (steps.size() > 1) {
      const std::int32_t row = on_device.At(session.collectives.start[rows.collective]);
      if (row < 0) continue;
      step = &steps[place[static_cast<std::size_t>(row)]];
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

}  // namespace mpa::raw
