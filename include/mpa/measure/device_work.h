// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// Something the device did because the host asked for it: a row of one of three tables.
struct DeviceWork {
  enum class Table : std::uint8_t { kKernels, kDeviceTasks, kCommunications };
  Table table{};
  std::uint32_t row = 0;
  /// Of a device task, the row in the kernels that says more of it; -1: none.
  std::int64_t kernel = -1;
  TimeNs start = 0, dur = 0;
  double dur_rest = 0;  ///< see DeviceTasks
};

/// A sum of durations, exact also where they are finer than a nanosecond.
struct DeviceTime {
  TimeNs whole = 0;
  double rest = 0;  ///< ns

  void Add(const DeviceWork& work) {
    whole += work.dur;
    rest += work.dur_rest;
  }
  void Add(const DeviceTime& other) {
    whole += other.whole;
    rest += other.rest;
  }
  /// `rest` is less than a nanosecond where the times are those of single tasks.
  friend auto operator<=>(const DeviceTime&, const DeviceTime&) = default;
  friend DeviceTime operator-(const DeviceTime& a, const DeviceTime& b) {
    return {a.whole - b.whole, a.rest - b.rest};
  }
  double Ns() const { return Divided(1); }
  double Us() const { return Divided(1e3L); }
  double Ms() const { return Divided(1e6L); }

 private:
  // Rounded once: what a capture says of a single task is printed with its digits.
  double Divided(long double unit) const {
    return static_cast<double>((static_cast<long double>(whole) + rest) / unit);
  }
};

/// Device work with the place on the host that launched it.
struct LaunchedWork {
  std::int32_t track = -1;
  TimeNs launched = 0;
  DeviceWork work;
};

/// All device work whose launch is known, in order of thread, launch and start. Kernels that the
/// capture lists among the device tasks, too, count once.
std::vector<LaunchedWork> FindLaunchedWork(const RankTrace& trace);

std::string_view NameOf(const RankTrace& trace, const DeviceWork& work);

/// "<name>, <task id>, <task type>, [input shapes: <shapes>] [duration: <us>]" of NPU work, name
/// and duration of GPU work; ends with a line feed.
std::string DescribeWork(const RankTrace& trace, const DeviceWork& work);

/// A number as Python prints a float, the form of the numbers within texts: "12.0", "12.5".
std::string PythonFloat(double value);

}  // namespace mpa
