// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/model/rank_trace.h"
#include "mpa/recipe/culprits.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa::bottleneck {

struct Event {
  TimeNs start = 0, dur = 0;
  std::uint32_t name = 0;  ///< position in PackedEvents::Names()
};

/// Events in order of start, some seven bytes each: which of them are asked for is known only when
/// all ranks are there, and a rank may have millions.
class PackedEvents {
 public:
  void Append(TimeNs start, TimeNs dur, std::string_view name);

  /// Those that end at `end` or earlier, in order of start. Throws Error (kCorrupt) for bytes that
  /// Append() does not make.
  std::vector<Event> EndingBy(TimeNs end) const;
  const std::vector<std::string>& Names() const { return names_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bytes_, names_);
  }

 private:
  std::string bytes_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // while events are appended
  TimeNs last_start_ = 0;
};

/// Device work that an operator launched through CANN.
struct LaunchedTask {
  TimeNs start = 0, end = 0;
  TimeNs host_wait = 0;    ///< from the end of the operator to the call
  TimeNs device_wait = 0;  ///< from the end of the call to the start of the work
};

struct RankEvents {
  RankRuns runs;  ///< with those between two ranks
  RankLoad load;
  std::vector<bool> is_looked_at;   ///< of each run: it is in the step that was chosen
  std::vector<LaunchedTask> tasks;  ///< in order of start
  PackedEvents device, framework, runtime;
};

using Ranks = std::vector<OfRank<RankEvents>>;

RankEvents MapEvents(const RankTrace& trace, const RecipeArguments& arguments);

/// When something counts. Times are ns.
struct Limits {
  double slow_npu_happen = 0.05;         ///< part of the duration by which ranks have to differ
  double diff_waiting_time = 100'000;    ///< by which work waits longer on the device
  double start_ns_shifted = 1'000'000;   ///< by which ranks differ that are together
  double device_bound_proportion = 0.5;  ///< part of the work that has to wait so
};

enum class Bound : std::uint8_t { kNone, kDevice, kHost, kUnknown };

/// What made a communication operator long.
struct SlowRun {
  std::string name;             ///< of the operator
  std::int32_t operation = -1;  ///< row of the communications
  TimeNs start = 0, dur = 0;    ///< on the rank that is explained
  std::optional<RankId> slow,
      fast;  ///< the rank that came last, and the one that waited most
  Bound bound = Bound::kNone;
  std::string reason;

  TimeNs End() const { return start + dur; }
};

/// The longest operators of the rank at `target`, the longest first.
std::vector<SlowRun> FindCauses(const Ranks& ranks, std::size_t target, std::size_t most,
                                const Limits& limits);

/// An event that two ranks have, and how much the slow one lags.
struct Lag {
  std::string name;
  TimeNs diff = 0;
};

/// Where a slow rank fell behind.
struct Lags {
  Lag duration;  ///< the event that took longest compared with the fast rank
  Lag start;     ///< the event that began latest
};

/// Pairs the events before `slow_end` and `fast_end` by name, from the last ones back to where both
/// ranks were together: the slow one at most `together` behind. Empty where they never were.
/// `shift`: what the clock of the fast rank is ahead.
std::optional<Lags> FindLags(const PackedEvents& slow, TimeNs slow_end, const PackedEvents& fast,
                             TimeNs fast_end, TimeNs shift, TimeNs together);

}  // namespace mpa::bottleneck
