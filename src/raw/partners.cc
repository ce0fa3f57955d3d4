// SPDX-License-Identifier: Apache-2.0
#include "partners.h"

#include <fmt/format.h>

#include <algorithm>

namespace mpa::raw {

void PartnerCount::Add(const DeviceTask& task, const Tasks::Row& row, bool has_partner) {
  ++tasks_;
  Stream& stream = streams_[task.stream];
  if (!has_partner) {
    stream.lonely.push_back(row.start);
  } else if (stream.first_launched < 0 || row.start < stream.first_launched) {
    stream.first_launched = row.start;
  }
}

void PartnerCount::Tell(const HostSide& host, const DeviceLog& log, Issues& issues) const {
  std::size_t lost = 0;
  for (const auto& [number, stream] : streams_) {
    const TimeNs first_launched = stream.first_launched;
    if (first_launched < 0) continue;
    lost += static_cast<std::size_t>(
        std::count_if(stream.lonely.begin(), stream.lonely.end(),
                      [=](TimeNs start) { return start > first_launched; }));
  }
  if (host.tasks.empty()) lost = tasks_;
  if (lost == 0) return;
  const bool wrapped = std::any_of(host.tasks.begin(), host.tasks.end(),
                                   [](const HostTask& task) { return task.batch > 0; });
  const bool lacks_flips = wrapped && !log.has_flips;
  issues.Count(
      fmt::format("{} of {} tasks of device_{} have no launch on the host, kernels among them are "
                  "left out: {} would tell; copy the capture again",
                  lost, tasks_, device_.id,
                  lacks_flips ? fmt::format("device_{}/ts_track.data", device_.id)
                              : "host/task_track, or host/context_id_info for groups,"),
      lacks_flips ? "their ids wrapped" : "no record with their stream and id");
}

}  // namespace mpa::raw
