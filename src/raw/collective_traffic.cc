// SPDX-License-Identifier: Apache-2.0
#include "collective_traffic.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mpa/base/text.h"

namespace mpa::raw {
namespace {

constexpr double kBytesPerMegabyte = 1e6, kNsPerMs = 1e6;
constexpr std::int64_t kSdma = 0, kOnChip = 0, kPayload = 1;  // see enumerations

}  // namespace

std::vector<CollectiveRows> PartsByCollective(const Session& session) {
  const CollectiveParts& parts = session.parts;
  std::vector<CollectiveRows> rows;
  std::vector<std::size_t> place(session.collectives.Size());  // counted from 1
  for (std::size_t i = 0; i < parts.Size(); ++i) {
    if (parts.collective[i] < 0) continue;
    const auto collective = static_cast<std::size_t>(parts.collective[i]);
    if (place[collective] == 0) {
      rows.push_back({.collective = collective, .parts = {}});
      place[collective] = rows.size();
    }
    rows[place[collective] - 1].parts.push_back(i);
  }
  return rows;
}

std::vector<std::vector<std::size_t>> PartsByPlane(const Session& session,
                                                   const CollectiveRows& rows) {
  std::vector<std::vector<std::size_t>> planes;
  std::unordered_map<std::int64_t, std::size_t> place;
  for (const std::size_t part : rows.parts) {
    const auto [found, is_first] = place.try_emplace(session.parts.plane[part], planes.size());
    if (is_first) planes.emplace_back();
    planes[found->second].push_back(part);
  }
  return planes;
}

TrafficReader::TrafficReader(const Session& session, std::size_t collective) : session_(session) {
  // A pair of ranks ends a payload by a notification and a wait, a group by a barrier of two more.
  const std::string name = ToLower(session.strings.View(session.collectives.name[collective]));
  closing_ = ContainsAny(name, {"send", "receive"}) ? 2 : 4;
}

bool TrafficReader::IsPayload(std::size_t part) const {
  return session_.parts.rdma[part] == kPayload;
}

bool TrafficReader::IsWait(std::size_t part) const {
  return session_.strings.View(session_.parts.name[part]) == "Notify_Wait";
}

PayloadRun TrafficReader::Payloads(const std::vector<std::size_t>& plane, std::size_t at) const {
  PayloadRun run{.end = at};
  for (; run.end < plane.size() && IsPayload(plane[run.end]); ++run.end) {
    run.bytes += static_cast<double>(session_.parts.bytes[plane[run.end]]);
  }
  // Without the end of the transfer, the arrival of the payload is unknown.
  if (run.end + closing_ > plane.size()) return run;
  run.closed = run.end + closing_;
  const std::size_t first = Task(plane[at]), last = Task(plane[run.closed - 1]);
  const Tasks& tasks = session_.tasks;
  run.dur = tasks.Exact(last) + static_cast<double>(tasks.start[last] - tasks.start[first]);
  return run;
}

Transfer TrafficReader::At(const std::vector<std::size_t>& plane, std::size_t at) const {
  const std::size_t part = plane[at];
  if (IsPayload(part)) {
    const PayloadRun run = Payloads(plane, at);
    if (run.closed == 0) return {.parts = run.end - at};
    return {.kind = TransferKind::kRdma,
            .parts = run.closed - at,
            .megabytes = run.bytes / kBytesPerMegabyte,
            .milliseconds = run.dur / kNsPerMs};
  }
  const CollectiveParts& parts = session_.parts;
  const std::string_view name = session_.strings.View(parts.name[part]);
  if (parts.transport[part] != kSdma || (name != "Memcpy" && name != "Reduce_Inline")) return {};
  return {.kind = TransferKind::kCopy,
          .local = parts.link[part] == kOnChip,
          .link = parts.link[part],
          .megabytes = static_cast<double>(parts.bytes[part]) / kBytesPerMegabyte,
          .milliseconds = session_.tasks.Exact(Task(part)) / kNsPerMs};
}

double TrafficReader::Extent(const std::vector<std::size_t>& parts) const {
  double extent = 0;
  const TimeNs first = parts.empty() ? 0 : session_.tasks.start[Task(parts.front())];
  for (const std::size_t part : parts) {
    const std::size_t task = Task(part);
    extent = std::max(extent, static_cast<double>(session_.tasks.start[task] - first) +
                                  session_.tasks.Exact(task));
  }
  return extent;
}

namespace {

/// Bytes per second, computed in the order that gives the doubles of the profiler's tables.
double BytesPerSecond(double bytes, double dur) {
  return dur > 0 ? bytes / dur * 1000 * 1000 * 1000 : 0;
}

void SetBandwidthsOfPlane(const TrafficReader& reader, const std::vector<std::size_t>& plane,
                          Session& session) {
  CollectiveParts& parts = session.parts;
  for (std::size_t i = 0; i < plane.size(); ++i) {
    const auto task = static_cast<std::size_t>(parts.task[plane[i]]);
    parts.bandwidth[plane[i]] =
        BytesPerSecond(static_cast<double>(parts.bytes[plane[i]]), session.tasks.Exact(task));
  }
  // Consecutive payloads share the time until the last of them has arrived.
  for (std::size_t i = 0; i < plane.size(); ++i) {
    if (!reader.IsPayload(plane[i])) continue;
    const PayloadRun run = reader.Payloads(plane, i);
    const double bandwidth = BytesPerSecond(run.bytes, run.dur);
    for (; i < run.end; ++i) {
      if (run.closed != 0) parts.bandwidth[plane[i]] = bandwidth;
    }
  }
}

}  // namespace

void SetBandwidths(Session& session) {
  for (const CollectiveRows& rows : PartsByCollective(session)) {
    const TrafficReader reader(session, rows.collective);
    for (const std::vector<std::size_t>& plane : PartsByPlane(session, rows)) {
      SetBandwidthsOfPlane(reader, plane, session);
    }
  }
}

}  // namespace mpa::raw
