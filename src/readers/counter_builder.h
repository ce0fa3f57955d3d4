// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "counter_names.h"
#include "mpa/base/time.h"
#include "mpa/model/rank_trace.h"

namespace mpa::readers {

/// The captures write MB and KB, and mean these.
inline constexpr double kBytesOfMb = 1 << 20, kBytesOfKb = 1 << 10;
/// Of a share of 1, and of a byte.
inline constexpr double kPercentOfShare = 100, kBitsOfByte = 8;

/// "port 3".
std::string PortName(std::int64_t port);
/// Of a service class and the die, if it is known: "OTHERS", "OTHERS die 1".
std::string QosPart(std::string_view event, std::int64_t die);

/// Brings samples, as a file lists them, into the tables of a rank.
class CounterBuilder {
 public:
  explicit CounterBuilder(RankTrace& trace) : trace_(trace) {}

  /// `info` is one of counter_names.h. Samples that no counter can have are counted as issues.
  void Add(const CounterInfo& info, std::string_view part, TimeNs time, double value);
  /// A sample without a value: the rate before it is not known, the one behind it is since then.
  void AddUnknown(const CounterInfo& info, std::string_view part, TimeNs time);
  /// The capture says that the counter can reach this; of several the most counts.
  void AddLimit(const CounterInfo& info, std::string_view part, double limit);
  /// Appends all counters, in order of group, part and name.
  void Finish();

 private:
  struct Series {
    const CounterInfo* info = nullptr;
    std::string part;
    double limit = -1;
    std::vector<std::pair<TimeNs, double>> samples;  // NaN: not known
  };

  Series& Of(const CounterInfo& info, std::string_view part);
  void Append(Series& series);

  RankTrace& trace_;
  std::vector<Series> series_;
  std::map<const CounterInfo*, std::map<std::string, std::size_t, std::less<>>> places_;
};

}  // namespace mpa::readers
