// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "mpa/model/rank_trace.h"

namespace mpa::test {

/// Fills a RankTrace by hand. Every function returns the number of the row it added.
class RankBuilder {
 public:
  explicit RankBuilder(DeviceKind device = DeviceKind::kNpu) { trace.device = device; }

  StringId Text(std::string_view text) { return trace.strings.Intern(text); }

  std::int32_t Thread(std::int64_t tid) {
    trace.tracks.Append({.pid = 1, .tid = tid});
    return static_cast<std::int32_t>(trace.tracks.Size()) - 1;
  }
  void Op(std::string_view name, TimeNs start, TimeNs end, std::int32_t track) {
    trace.host_ops.Append({.start = start, .dur = end - start, .name = Text(name), .track = track});
  }
  void Launch(std::int64_t link, TimeNs host_time, std::int32_t track) {
    trace.launches.Append({.link = link, .host_time = host_time, .host_track = track});
  }
  void Call(std::string_view name, TimeNs start, TimeNs end, std::int32_t track) {
    trace.python_calls.Append(
        {.start = start, .dur = end - start, .name = Text(name), .track = track});
  }
  /// Work that `queued_track` queued at `queued` and `track` did from `start` to `end`.
  void Queued(TimeNs queued, std::int32_t queued_track, TimeNs start, TimeNs end,
              std::int32_t track) {
    trace.queued_work.Append({.queued = queued,
                              .queued_track = queued_track,
                              .start = start,
                              .dur = end - start,
                              .track = track});
  }
  void Allocation(std::string_view name, std::int64_t bytes, TimeNs allocated,
                  TimeNs released = -1) {
    trace.allocations.Append(
        {.name = Text(name), .bytes = bytes, .allocated = allocated, .released = released});
  }
  /// A kernel of 1 ns at time 0 that is known by name and type only.
  std::size_t Kernel(std::string_view name, std::string_view type = "",
                     std::string_view core = "") {
    trace.kernels.Append({.dur = 1, .name = Text(name), .op_type = Text(type), .core = Text(core)});
    return trace.kernels.Size() - 1;
  }
  std::size_t KernelAt(TimeNs start, TimeNs end, std::string_view name = "kernel") {
    trace.kernels.Append({.start = start, .dur = end - start, .name = Text(name)});
    return trace.kernels.Size() - 1;
  }
  /// A kernel of `dur` ns that an operator launched at that time of the thread. Kernels run one
  /// after the other from time 0.
  void LaunchedKernel(TimeNs launched, std::int32_t track, TimeNs dur,
                      std::string_view name = "kernel") {
    const auto link = static_cast<std::int64_t>(trace.launches.Size());
    Launch(link, launched, track);
    trace.kernels.Append({.start = device_time_, .dur = dur, .name = Text(name), .link = link});
    device_time_ += dur;
  }
  /// A mark (start == end) or range of the program itself.
  void Mstx(std::string_view domain, std::string_view message, TimeNs start, TimeNs end,
            std::int32_t track) {
    trace.mstx.Append({.start = start,
                       .dur = end - start,
                       .kind = start == end ? MstxKind::kMark : MstxKind::kStartEnd,
                       .message = Text(message),
                       .domain = Text(domain),
                       .track = track});
  }
  void Task(std::string_view type, TimeNs start, TimeNs end, std::int64_t stream,
            std::string_view name = "") {
    trace.device_tasks.Append({.start = start,
                               .dur = end - start,
                               .name = Text(name),
                               .type = Text(type),
                               .stream = stream});
  }
  std::int32_t Group(std::string_view name, std::string_view process_group = "") {
    trace.comm_groups.Append({.name = Text(name), .process_group = Text(process_group)});
    return static_cast<std::int32_t>(trace.comm_groups.Size()) - 1;
  }
  void Collective(std::int32_t group, TimeNs start, TimeNs end,
                  std::string_view name = "hcom_allReduce__1_0_1") {
    trace.communications.Append({.start = start,
                                 .dur = end - start,
                                 .name = Text(name),
                                 .op_type = Text(name),
                                 .group = group});
  }
  void CommTask(std::int32_t group, std::int64_t plane, std::string_view name, TimeNs start,
                TimeNs end) {
    trace.comm_tasks.Append(
        {.start = start, .dur = end - start, .name = Text(name), .group = group, .plane = plane});
  }
  void Overlap(Activity activity, TimeNs start, TimeNs end) {
    trace.overlaps.Append({.start = start, .dur = end - start, .activity = activity});
  }
  void Step(std::int32_t id, TimeNs start, TimeNs end) {
    trace.steps.Append({.id = id, .start = start, .end = end});
  }

  RankTrace trace;

 private:
  TimeNs device_time_ = 0;
};

}  // namespace mpa::test
