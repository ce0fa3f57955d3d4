// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/measure/accounting.h"
#include "mpa/measure/host_places.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/thread_time.h"
#include "mpa/model/rank_trace.h"

namespace mpa::recipes::free_analysis {

/// How the host dispatched a piece of device work.
struct HostSide {
  std::optional<Interval> call;  ///< that handed it to the device
  std::optional<TimeNs> op_end;  ///< of the framework operator that launched it
  bool known = true;             ///< false: no such work was recorded
  /// That made the call, and that ran the operator; -1: unknown.
  std::int64_t call_thread = -1, op_thread = -1;
};

/// What kept a thread that dispatches from running between the dispatches around a gap, as the
/// scheduler of the operating system recorded it.
struct HeldThread {
  ThreadDoing doing{};
  std::string thread, by;  ///< by name; who had the core is empty where that was idle or unknown
  TimeNs time = 0;
};

/// What a gap lies next to.
enum class Edge : std::uint8_t { kKernel, kCollective, kCopy, kStep };
constexpr Edge LastOf(Edge) { return Edge::kStep; }
/// "kernel"; of kStep "start of the step" or "end of the step".
std::string_view NameOf(Edge edge, bool at_begin);

/// A time in which the device had nothing to do.
struct Gap {
  Interval time;
  std::int32_t step = -1;  ///< -1: the capture has no steps and is one
  Edge from = Edge::kKernel, to = Edge::kKernel;
  bool was_queued = false;  ///< the work that ends it was launched, and the device did not begin it
  /// The device may have run work that was not recorded: what ends the gap was queued, and is the
  /// first kernel or collective of its stream.
  bool maybe_busy = false;
  /// Tasks within the gap, by type; the most frequent first.
  std::vector<std::pair<std::string, std::size_t>> tasks;
  TimeNs longest_rest = 0;  ///< the longest piece of the gap without those tasks
  HostSide before, behind;  ///< the work that ends where the gap begins, and begins where it ends
  std::optional<HeldThread> held;  ///< for a tenth of the time between them at least
};

/// The longest gaps in the account of a rank, the longest first; of equal ones the earlier. All of
/// them together are the free time of its steps. Those that may have been busy do not count towards
/// `most`.
std::vector<Gap> FindGaps(const RankTrace& trace, const RankAccount& account, std::size_t most);

/// The same as the reference has them: between kernels and collectives, wherever steps end; copies
/// are tasks within.
std::vector<Gap> FindReferenceGaps(const RankTrace& trace, std::size_t most);

// Why the device was idle: what the host did between the dispatches around a gap.

enum class IdleReason : std::uint8_t {
  kDevice,     ///< other tasks ran on the device
  kFramework,  ///< the framework dispatched nothing
  kRuntime,    ///< the runtime (CANN) was late with what the framework had dispatched
  kHost,       ///< the host; the capture does not say which of the two
  kEdge,       ///< no work before the gap or behind it, in the whole capture
  kMaybeBusy,  ///< the device may not have been idle
  kUnknown,    ///< the capture does not say what dispatched the work
};
constexpr IdleReason LastOf(IdleReason) { return IdleReason::kUnknown; }

struct GapReason {
  IdleReason kind = IdleReason::kUnknown;
  std::optional<TimeNs> framework_idle;  ///< between the ends of the two operators
  std::optional<TimeNs> runtime_idle;    ///< between the ends of the two calls
  std::string text;
};

/// `runtime` is what the layer below the framework is called on the rank's device.
GapReason ReasonOf(const Gap& gap, std::string_view runtime = "CANN");
/// The text of a reason in the language of the process.
std::string ReasonInWords(const std::string& reason);

// What the account of the rank's steps says of its free time and of single gaps.

struct GapAccount {
  /// Its categories, the largest first: "free.python 1.25 us, copy.h2d 0.5 us". They add up to the
  /// gap, but for what lies outside the steps.
  std::string causes;
  /// What the host did longest, for a tenth of the gap at least: "aten::item at train.py:90".
  std::string place;
};

class StepAccounts {
 public:
  /// Refers to the rank, which must outlive it.
  explicit StepAccounts(const RankTrace& trace);

  const RankAccount& Account() const { return account_; }
  CategoryTimes Categories() const;  ///< of all steps together
  GapAccount Of(const Interval& gap) const;

 private:
  const RankTrace& trace_;
  RankAccount account_;
  CallSites sites_;
};

}  // namespace mpa::recipes::free_analysis
