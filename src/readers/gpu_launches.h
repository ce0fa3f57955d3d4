// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "trace_builder.h"

namespace mpa::readers {

/// Work of a device, with the number that it shares with the call which launched it; -1: not
/// recorded.
struct CorrelatedEvent {
  EventPlace place;
  std::int64_t correlation = -1;
  std::int64_t device = -1;  ///< the number of the device
};

/// What a call of the runtime or driver does.
enum class CallKind : std::uint8_t {
  kOther,   ///< nothing on the device, or it may do nothing: memory of no size is filled, too
  kLaunch,  ///< one kernel, or one copy
  kGraphLaunch,
  kCaptureBegins,  ///< launches up to the end are captured, not done
  kCaptureEnds,
};
CallKind KindOfCall(std::string_view name);

/// A call, with the number that it shares with all the work it launched; -1: not recorded.
struct RuntimeCall {
  EventPlace place;
  std::int64_t correlation = -1;
  CallKind kind = CallKind::kOther;
};

/// The work of a trace; each table in the order of its rows.
struct GpuWork {
  std::vector<CorrelatedEvent> kernels, communications, tasks;

  bool IsEmpty() const { return kernels.empty() && communications.empty() && tasks.empty(); }
};

class GpuLaunches;

/// Leaves the work of one device and process: several devices, or ranks, in one trace are not one.
/// The one with most work stays, work and operators of the others are counted as issues and
/// dropped. To be called before the work is linked.
void KeepOneDevice(const GpuLaunches& launches, std::string_view file_name, GpuWork& work,
                   RankTrace& trace);

/// The operator of PyTorch that says of a collective what it is.
inline constexpr std::string_view kCollectiveOperator = "record_param_comms";
/// True for an operator that asks for a collective: c10d::, nccl:, record_param_comms.
bool IsOperatorOfCollective(std::string_view op);

/// Counts that the trace has operators that ask for collectives, and no collectives, if so.
void CountLackOfCollectives(std::string_view file_name, RankTrace& trace);

/// Makes collectives of the kernels that an operator of communication launched itself, whatever
/// their names are. To be called when the work is linked.
void MoveCollectives(RankTrace& trace);

/// Finds the launch of each piece of device work of a GPU trace: by the arrow of its
/// correlation that ends there, the call of its correlation, or any arrow that ends there. An
/// arrow, and a call, may lead to many pieces (captured graphs). The order of the events in the
/// file does not matter: of several starts with one number the last before the work counts.
class GpuLaunches {
 public:
  /// `calls` are those of the runtime and the driver. `arrows_decide`: also where the correlation
  /// names another call.
  GpuLaunches(const std::vector<FlowPoint>& arrows, const std::vector<RuntimeCall>& calls,
              bool arrows_decide);

  /// The place on the host that launched the work; empty when the trace does not say.
  std::optional<EventPlace> Find(const CorrelatedEvent& work) const;
  /// True when all launches of the trace come from one process.
  bool HasOneProcess() const;
  /// Gives the work of one table the links of its launches.
  void Link(const std::vector<CorrelatedEvent>& work, std::vector<std::int64_t>& links);
  /// Appends all launches that lead to an event, in order of time, whose links are their rows, and
  /// gives these links to the tables. To be called when all tables are linked.
  void Append(TrackNumbers& tracks, RankTrace& trace,
              const std::vector<std::vector<std::int64_t>*>& linked) const;

 private:
  using Places = std::vector<std::pair<std::int64_t, EventPlace>>;  // by number, then time
  struct ArrowEnd {
    EventPlace place, start;
    std::int64_t id = 0;
    auto operator<=>(const ArrowEnd&) const = default;
  };
  struct Source {
    EventPlace host;
    std::ptrdiff_t arrow = -1;  // row of ends_, and of launches_; -1: found without an arrow
  };
  std::optional<Source> FindSource(const CorrelatedEvent& work) const;

  struct Launch {
    EventPlace host;
    TimeNs device_time = 0;  // of a piece of work
    std::int64_t stream = -1;
  };

  bool arrows_decide_;
  Places starts_, calls_;
  std::vector<ArrowEnd> ends_;    // in order
  std::vector<Launch> launches_;  // of each arrow, then of work without one
};

}  // namespace mpa::readers
