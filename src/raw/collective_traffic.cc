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
  std::vector<std::uint8_t> has_master(session.collectives.Size());
  for (std::size_t i = 0; i < parts.Size(); ++i) {
    if (parts.collective[i] < 0 || parts.master[i] == 0) continue;
    has_master[static_cast<std::size_t>(parts.collective[i])] = 1;
  }
  std::vector<CollectiveRows> rows;
  std::vector<std::size_t> place(session.collectives.Size());  // counted from 1
  for (std::size_t i = 0; i < parts.Size(); ++i) {
    if (parts.collective[i] < 0) continue;
    const auto collective = static_cast<std::size_t>(parts.collective[i]);
    if (has_master[collective] == 0) continue;
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

Transfer TrafficReader::Rdma(const std::vector<std::size_t>& plane, std::size_t at) const {
  std::size_t end = at;
  double bytes = 0;
  for (; end < plane.size() && IsPayload(plane[end]); ++end) {
    bytes += static_cast<double>(session_.parts.bytes[plane[end]]);
  }
  // Without its end nobody knows when the payload arrived.
  if (end + closing_ > plane.size()) return {.parts = end - at};
  const Tasks& tasks = session_.tasks;
  const std::size_t last = Task(plane[end + closing_ - 1]);
  return {.kind = TransferKind::kRdma,
          .parts = end + closing_ - at,
          .megabytes = bytes / kBytesPerMegabyte,
          .milliseconds = (tasks.dur[last] +
                           static_cast<double>(tasks.start[last] - tasks.start[Task(plane[at])])) /
                          kNsPerMs};
}

Transfer TrafficReader::At(const std::vector<std::size_t>& plane, std::size_t at) const {
  const std::size_t part = plane[at];
  if (IsPayload(part)) return Rdma(plane, at);
  const CollectiveParts& parts = session_.parts;
  const std::string_view name = session_.strings.View(parts.name[part]);
  if (parts.transport[part] != kSdma || (name != "Memcpy" && name != "Reduce_Inline")) return {};
  return {.kind = TransferKind::kCopy,
          .local = parts.link[part] == kOnChip,
          .link = parts.link[part],
          .megabytes = static_cast<double>(parts.bytes[part]) / kBytesPerMegabyte,
          .milliseconds = session_.tasks.dur[Task(part)] / kNsPerMs};
}

double TrafficReader::Extent(const std::vector<std::size_t>& parts) const {
  double extent = 0;
  const TimeNs first = parts.empty() ? 0 : session_.tasks.start[Task(parts.front())];
  for (const std::size_t part : parts) {
    const std::size_t task = Task(part);
    extent = std::max(
        extent, static_cast<double>(session_.tasks.start[task] - first) + session_.tasks.dur[task]);
  }
  return extent;
}

}  // namespace mpa::raw
