// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// Counters of memories, links and processors, sampled over time.
namespace mpa {

/// One counter: what is sampled, of which part. Row number = counter.
template <template <typename> class Of>
struct CounterFields {
  Of<StringId> group{};  ///< "HBM", "LLC", "RoCE"
  Of<StringId> name{};   ///< "read", "rx_bandwidth"
  Of<StringId> part{};   ///< which link, port or core; empty: there is one
  Of<StringId> unit{};   ///< "B/s", "%", "B", "MHz", "count"
};
struct Counters : Table<CounterFields> {};

/// Samples, of each counter in order of time. A value holds from its time on.
template <template <typename> class Of>
struct CounterSampleFields {
  Of<TimeNs> time{};
  Of<std::int32_t> counter = Initially{-1};  ///< its row in Counters
  Of<double> value{};                        ///< in its unit
};
struct CounterSamples : Table<CounterSampleFields> {};

}  // namespace mpa
