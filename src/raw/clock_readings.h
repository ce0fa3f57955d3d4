// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control_documents.h"
#include "mpa/base/time.h"

/// Several control files contain readings of the machine's clocks. If they disagree, the reading
/// that others confirm is used.
namespace mpa::raw {

/// One instant on the wall clock and on the monotonic clock.
struct Instant {
  TimeNs epoch = 0, monotonic = 0;
  TimeNs Offset() const { return epoch - monotonic; }
};
/// start_info ("collectionTimeBegin") or end_info ("collectionTimeEnd"); empty: no reading.
std::optional<Instant> InstantOf(const Json& document, const char* micros_key);

/// One instant on the counter of the host and on its monotonic clock.
struct CounterAnchor {
  std::int64_t count = 0;
  TimeNs monotonic = 0;
  /// The same for another instant.
  CounterAnchor MovedTo(TimeNs time, std::int64_t hertz) const;
};
/// host_start.log; its count is 0 if it has none. Empty: no reading.
std::optional<CounterAnchor> AnchorOf(const KeyValues& host_start);

/// The combined facts about the machine from all control files.
struct MachineClock {
  std::int64_t host_hertz = 0;           ///< 0: host stamps are monotonic ns
  std::optional<TimeNs> offset;          ///< from the monotonic clock to the epoch
  std::optional<CounterAnchor> counter;  ///< confirmed, if several files contain it
  std::optional<TimeNs> begin;           ///< of the collection, on the monotonic clock
  std::set<std::string> wrong;           ///< files that others contradict

  bool Trusts(const std::string& file) const { return !wrong.contains(file); }
};

/// Counts files that contradict the others. `profiler_info` may be null.
MachineClock AgreeOnClocks(const std::vector<SideDocuments>& sides, const Json& profiler_info,
                           Issues& issues);

}  // namespace mpa::raw
