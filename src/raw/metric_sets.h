// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Which metrics a set like "PipeUtilization" has and how they follow from the counters.
namespace mpa::raw {

/// The counters of one record, or the sums of several.
struct CounterValues {
  std::uint64_t cycles = 0;
  std::array<std::uint64_t, 8> counts{};  ///< in the order of the events of the capture
};

/// Converts cycles to times and counts to bandwidths.
struct CoreLoad {
  std::int64_t blocks = 0, cores = 0;
  std::int64_t mhz = 0;  ///< clock while it ran
  std::int64_t nominal_mhz = 0;
};

struct Metric;

/// The metrics of one kind of core.
class CoreMetrics {
 public:
  /// `events`: the numbers of the counted events, in the order of the counters. An unknown set has
  /// only the metrics time and cycles. `platform` as in Device.
  CoreMetrics(std::string_view set, std::span<const std::uint32_t> events, std::int64_t platform);

  /// Names without prefix: "mac_time", "mac_ratio". The total time and the cycles are not listed.
  std::vector<std::string> Names() const;
  std::size_t Size() const { return places_.size(); }
  /// Total time, in ns.
  static double Time(const CounterValues& values, const CoreLoad& load);
  /// Writes Size() values; times in ns, bandwidths in GB/s.
  void Evaluate(const CounterValues& values, const CoreLoad& load, double* metrics) const;

 private:
  static constexpr std::size_t kMaxEvents = 5;
  using Places = std::array<std::int16_t, kMaxEvents>;  // of the counters of a metric; -1: none

  std::span<const Metric> metrics_;
  std::vector<Places> places_;
  bool few_lanes_;  // vector units of the V3 chips
};

}  // namespace mpa::raw
