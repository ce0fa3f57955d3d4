// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/measure/accounting.h"
#include "mpa/measure/durations.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// Something that occupies the device: a kernel, a copy that is no part of a collective, or an
/// operation of communication.
struct DeviceItem {
  TimeNs begin = 0, end = 0;
  TimeCategory category{};  ///< of an operation kUnsplit
  TimeCategory
      own{};  ///< by the work's own name: a conversion launched by a convolution is a conversion
  PieceTable table{};
  std::int32_t row = -1;
  std::int64_t stream = -1, connection = -1, link = -1, model = -1;
  std::int64_t number = -1;  ///< of its task, see DeviceTasks
};

/// In order of begin.
std::vector<DeviceItem> FindDeviceItems(const RankTrace& trace);

HostClock HostClockOf(const RankTrace& trace, std::span<const DeviceItem> items);

/// Something the device did once because the host asked for it, with the rows that list it: a
/// kernel may stand among the tasks, too, and a kernel that communicates among the collectives.
struct DeviceWork {
  static constexpr std::int32_t kNone = -1;
  std::int32_t task = kNone;        ///< row of the device tasks
  std::int32_t kernel = kNone;      ///< row of the kernels
  std::int32_t collective = kNone;  ///< row of the communications
  std::int32_t schedule = kNone;    ///< row of the schedule kernels, which arrange collectives
  /// Those of the collective where it is one.
  TimeNs start = 0, dur = 0;
  double dur_rest = 0;  ///< see DeviceTasks

  ExactSum Time() const { return {dur, dur_rest}; }
  /// A row of the kernels that does not communicate.
  bool IsComputeKernel() const { return kernel != kNone && collective == kNone; }
  friend bool operator==(const DeviceWork&, const DeviceWork&) = default;
};

/// Device work with the place on the host that launched it.
struct LaunchedWork {
  DeviceWork work;
  std::int32_t track = -1;
  TimeNs launched = 0;
  std::int64_t op = Nesting::kNone;  ///< row of the innermost operator that ran there and then
};

struct WorkOfRank {
  std::vector<LaunchedWork> launched;  ///< in order of thread, launch and start
  std::vector<DeviceWork> unlaunched;  ///< whose launch is unknown; no tasks
};

/// All work of the device, each piece once: rows of two tables with one launch and one start are
/// one piece. It belongs to one launch, also where a broken capture names several (see
/// LaunchIndex), and so to one operator. `ops`: the nested host operators.
///
/// Every command takes from here what an operator launched. Two leave some of it out, as the Python
/// tool does: an OpTree has no schedule kernels, FindOpWork() no copies.
WorkOfRank FindDeviceWork(const RankTrace& trace, const Nesting& ops);

/// The collective's name where it is one.
std::string_view NameOf(const RankTrace& trace, const DeviceWork& work);

/// "<name>, <task id>, <task type>, [input shapes: <shapes>] [duration: <us>]" of NPU work, name
/// and duration of GPU work; ends with a line feed.
std::string DescribeWork(const RankTrace& trace, const DeviceWork& work);

/// A number as Python prints a float, the form of the numbers within texts: "12.0", "12.5".
std::string PythonFloat(double value);
/// The same of a time in microseconds.
inline std::string PythonUs(TimeNs time) { return PythonFloat(InUs(time)); }

}  // namespace mpa
