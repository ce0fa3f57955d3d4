// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// Counters of memories, links and processors, sampled over time.
namespace mpa {

/// What a value of a counter says.
enum class CounterKind : std::uint8_t {
  kLevel,  ///< holds until the next sample: memory in use, a clock
  kRate,   ///< the mean since the sample before
  kTotal,  ///< a count since the driver started: it grows, or starts again
};

/// One counter: what is sampled, of which part. Row number = counter.
template <template <typename> class Of>
struct CounterFields {
  Of<StringId> group{};  ///< "HBM", "LLC", "RoCE"
  Of<StringId> name{};   ///< "read", "rx"
  Of<StringId> part{};   ///< which link, port or core: "0", "port 1"; empty: there is one
  Of<StringId> unit{};   ///< "B/s", "%", "B", "MHz", "packets", "packets/s", "ns"; empty: a number
  Of<CounterKind> kind{};
  Of<bool> of_host{};                  ///< of the machine, else of the device
  Of<double> limit = Initially{-1.0};  ///< the most that the capture says is possible; -1: unknown
};
struct Counters : Table<CounterFields> {};

/// Samples, of each counter in order of time, as the intervals that their values are of: levels and
/// totals hold until the next sample, rates are of the time since the one before.
template <template <typename> class Of>
struct CounterSampleFields {
  Of<TimeNs> start{}, dur{};  ///< 0 for the first of a rate and the last of the others
  Of<std::int32_t> counter = Initially{-1};  ///< its row in Counters
  Of<double> value{};                        ///< in its unit
};
struct CounterSamples : Table<CounterSampleFields> {};

}  // namespace mpa
