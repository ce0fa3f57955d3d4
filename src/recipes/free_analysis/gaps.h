// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpa/measure/accounting.h"
#include "mpa/measure/host_places.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"

namespace mpa::free_analysis {

/// How the host dispatched a piece of device work.
struct HostSide {
  std::optional<Interval> call;  ///< that handed it to the device
  std::optional<TimeNs> op_end;  ///< of the framework operator that launched it
};

/// A time in which the device neither computed nor communicated, between two pieces of such work.
struct Gap {
  Interval time;
  /// Tasks of other kinds within, by type; the most frequent first.
  std::vector<std::pair<std::string, std::size_t>> tasks;
  TimeNs longest_rest = 0;  ///< the longest piece of the gap without those tasks
  HostSide before, behind;  ///< the work that ends where the gap begins, and begins where it ends
};

/// The longest gaps of a rank, the longest first; of equal ones the earlier.
std::vector<Gap> FindGaps(const RankTrace& trace, std::size_t most);

// Why the device was idle: what the host did between the dispatches around a gap.

enum class Cause : std::uint8_t {
  kDevice,     ///< other tasks ran on the device
  kFramework,  ///< the framework dispatched nothing
  kRuntime,    ///< the runtime (CANN) was late with what the framework had dispatched
  kHost,       ///< the host; the capture does not say which of the two
  kUnknown,    ///< the capture does not say what dispatched the work
};
constexpr Cause LastOf(Cause) { return Cause::kUnknown; }

struct Reason {
  Cause cause = Cause::kUnknown;
  std::optional<TimeNs> framework_idle;  ///< between the ends of the two operators
  std::optional<TimeNs> runtime_idle;    ///< between the ends of the two calls
  std::string text;
};

Reason ReasonOf(const Gap& gap);

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

  CategoryTimes Categories() const;  ///< of all steps together
  GapAccount Of(const Interval& gap) const;

 private:
  const RankTrace& trace_;
  RankAccount account_;
  CallSites sites_;
};

}  // namespace mpa::free_analysis
