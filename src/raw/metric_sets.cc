// SPDX-License-Identifier: Apache-2.0
#include "metric_sets.h"

#include <algorithm>

namespace mpa::raw {

namespace {

enum class Formula : std::uint8_t {
  kRatio,      // counts / cycles
  kTime,       // the same part of the total time
  kQuotient,   // first count / second count
  kBandwidth,  // counts * weight bits / time
  kSum,        // counts * weights
  kLanes,      // counts * lanes of the vector unit
};

}  // namespace

struct Metric {
  std::string_view name;
  Formula formula;
  std::array<std::uint16_t, 5> events;  // 0: none
  std::array<double, 5> weights{};
};

namespace {

using enum Formula;

// PipeUtilization and PipeUtilizationExct are seen in real data, the other sets are not.
constexpr Metric kPipeUtilization[] = {{"vec_time", kTime, {0x8}},
                                       {"vec_ratio", kRatio, {0x8}},
                                       {"mac_time", kTime, {0xa}},
                                       {"mac_ratio", kRatio, {0xa}},
                                       {"scalar_time", kTime, {0x9}},
                                       {"scalar_ratio", kRatio, {0x9}},
                                       {"mte1_time", kTime, {0xb}},
                                       {"mte1_ratio", kRatio, {0xb}},
                                       {"mte2_time", kTime, {0xc}},
                                       {"mte2_ratio", kRatio, {0xc}},
                                       {"mte3_time", kTime, {0xd}},
                                       {"mte3_ratio", kRatio, {0xd}},
                                       {"icache_miss_rate", kQuotient, {0x55, 0x54}}};

constexpr Metric kPipeUtilizationExct[] = {{"mac_time", kTime, {0x416, 0x417}},
                                           {"mac_ratio", kRatio, {0x416, 0x417}},
                                           {"scalar_time", kTime, {0x9}},
                                           {"scalar_ratio", kRatio, {0x9}},
                                           {"mte1_time", kTime, {0x302}},
                                           {"mte1_ratio", kRatio, {0x302}},
                                           {"mte2_time", kTime, {0xc}},
                                           {"mte2_ratio", kRatio, {0xc}},
                                           {"fixpipe_time", kTime, {0x303}},
                                           {"fixpipe_ratio", kRatio, {0x303}},
                                           {"icache_miss_rate", kQuotient, {0x55, 0x54}}};

constexpr Metric kArithmeticUtilization[] = {
    {"mac_fp16_ratio", kRatio, {0x49}},
    {"mac_int8_ratio", kRatio, {0x4a}},
    {"vec_fp32_ratio", kRatio, {0x4b}},
    {"vec_fp16_ratio", kRatio, {0x4c, 0x4d}},
    {"vec_int32_ratio", kRatio, {0x4e}},
    {"vec_misc_ratio", kRatio, {0x4f}},
    {"cube_fops", kSum, {0x49, 0x4a}, {8192, 16384}},
    {"vector_fops", kLanes, {0x4c, 0x4d, 0x4b, 0x4e, 0x4f}}};

constexpr Metric kMemory[] = {{"ub_read_bw", kBandwidth, {0x15}, {256 * 4}},
                              {"ub_write_bw", kBandwidth, {0x16}, {256 * 4}},
                              {"l1_read_bw", kBandwidth, {0x31}, {256 * 16}},
                              {"l1_write_bw", kBandwidth, {0x32}, {128 * 8}},
                              {"main_mem_read_bw", kBandwidth, {0x12}, {8 * 8}},
                              {"main_mem_write_bw", kBandwidth, {0x13}, {8 * 8}},
                              {"l2_read_bw", kBandwidth, {0xf}, {256 * 8}},
                              {"l2_write_bw", kBandwidth, {0x10}, {256 * 8}}};

constexpr Metric kMemoryL0[] = {{"l0a_read_bw", kBandwidth, {0x1b}, {256 * 16}},
                                {"l0a_write_bw", kBandwidth, {0x1c}, {256 * 16}},
                                {"l0b_read_bw", kBandwidth, {0x21}, {256 * 16}},
                                {"l0b_write_bw", kBandwidth, {0x22}, {256 * 8}},
                                {"l0c_read_bw", kBandwidth, {0x27}, {256 * 8}},
                                {"l0c_write_bw", kBandwidth, {0x29}, {256 * 8}},
                                {"l0c_read_bw_cube", kBandwidth, {0x28}, {256 * 32}},
                                {"l0c_write_bw_cube", kBandwidth, {0x2a}, {256 * 32}}};

constexpr Metric kMemoryUb[] = {{"ub_read_bw_vector", kBandwidth, {0x43}, {128 * 2}},
                                {"ub_write_bw_vector", kBandwidth, {0x44}, {128 * 2}},
                                {"ub_read_bw_scalar", kBandwidth, {0x37}, {128}},
                                {"ub_write_bw_scalar", kBandwidth, {0x38}, {128}}};

constexpr Metric kResourceConflictRatio[] = {{"vec_bankgroup_cflt_ratio", kRatio, {0x64}},
                                             {"vec_bank_cflt_ratio", kRatio, {0x65}},
                                             {"vec_resc_cflt_ratio", kRatio, {0x66}}};

constexpr Metric kL2Cache[] = {
    {"write_cache_hit", kSum, {0x500}, {1}},   {"write_cache_miss_allocate", kSum, {0x502}, {1}},
    {"r0_read_cache_hit", kSum, {0x504}, {1}}, {"r0_read_cache_miss_allocate", kSum, {0x506}, {1}},
    {"r1_read_cache_hit", kSum, {0x508}, {1}}, {"r1_read_cache_miss_allocate", kSum, {0x50a}, {1}}};

constexpr Metric kMemoryAccess[] = {
    {"read_main_memory_datas", kSum, {0x50d, 0x50e}, {0.125, 0.125}},
    {"write_main_memory_datas", kSum, {0x50c}, {0.125}},
    {"GM_to_L1_datas", kSum, {0x32, 0x206}, {0.25, -0.25}},
    {"L0C_to_L1_datas", kSum, {0x206}, {0.125}},
    {"L0C_to_GM_datas", kSum, {0x20c, 0x206}, {0.125, -0.125}},
    {"GM_to_UB_datas", kSum, {0x3e}, {0.125}},
    {"UB_to_GM_datas", kSum, {0x3d}, {0.125}}};

std::span<const Metric> MetricsOf(std::string_view set) {
  struct Set {
    std::string_view name;
    std::span<const Metric> metrics;
  };
  const Set sets[] = {{"PipeUtilization", kPipeUtilization},
                      {"PipeUtilizationExct", kPipeUtilizationExct},
                      {"ArithmeticUtilization", kArithmeticUtilization},
                      {"Memory", kMemory},
                      {"MemoryL0", kMemoryL0},
                      {"MemoryUB", kMemoryUb},
                      {"ResourceConflictRatio", kResourceConflictRatio},
                      {"L2Cache", kL2Cache},
                      {"MemoryAccess", kMemoryAccess}};
  for (const Set& candidate : sets) {
    if (candidate.name == set) return candidate.metrics;
  }
  return {};
}

constexpr double kMega = 1e6;

// In µs, in the order of operations that gives the doubles of the profiler's tables.
double Microseconds(const CounterValues& values, const CoreLoad& load) {
  if (load.blocks <= 0 || load.cores <= 0 || load.mhz <= 0) return 0;
  const std::int64_t rounds = (load.blocks - 1) / load.cores + 1;
  return static_cast<double>(values.cycles) * kMega / (static_cast<double>(load.mhz) * kMega) /
         static_cast<double>(load.blocks) * static_cast<double>(rounds);
}

using Terms = std::array<double, 5>;

double Weighted(const Terms& counts, const Terms& weights) {
  double sum = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) sum += weights[k] * counts[k];
  return sum;
}

double Ratio(const Terms& counts, double cycles) {
  double sum = 0;
  for (const double count : counts) sum += count / cycles;
  return sum;
}

// What the metrics of one kernel have in common.
struct Run {
  double cycles, hertz, microseconds;
  bool few_lanes;
};

double ValueOf(const Metric& metric, const Terms& counts, const Run& run) {
  constexpr Terms kLanesOfUnit = {128, 64, 64, 64, 32}, kFewLanes = {128, 64, 64, 16, 16};
  constexpr double kBitsPerGigabyte = 8.0 * (1 << 30);
  switch (metric.formula) {
    case kSum:
      return Weighted(counts, metric.weights);
    case kLanes:
      return Weighted(counts, run.few_lanes ? kFewLanes : kLanesOfUnit);
    case kRatio:
      return run.cycles == 0 ? 0 : Ratio(counts, run.cycles);
    case kTime:
      return run.cycles == 0 ? 0 : run.microseconds * Ratio(counts, run.cycles) * 1000;
    case kQuotient:
      if (run.cycles == 0 || counts[0] == 0 || counts[1] == 0) return 0;
      return counts[0] / run.cycles / (counts[1] / run.cycles);
    case kBandwidth:
      if (run.cycles == 0 || run.hertz == 0) return 0;
      return Weighted(counts, metric.weights) / (run.cycles / run.hertz) / kBitsPerGigabyte;
  }
  return 0;
}

}  // namespace

CoreMetrics::CoreMetrics(std::string_view set, std::span<const std::uint32_t> events,
                         std::int64_t platform)
    : metrics_(MetricsOf(set)), few_lanes_(platform >= 2 && platform <= 4) {
  for (const Metric& metric : metrics_) {
    Places& places = places_.emplace_back();
    std::ranges::transform(metric.events, places.begin(), [&](std::uint16_t event) {
      const auto found = std::ranges::find(events, event);
      const std::ptrdiff_t place = found - events.begin();
      const bool counted =
          event != 0 && found != events.end() && place < std::ssize(CounterValues{}.counts);
      return static_cast<std::int16_t>(counted ? place : -1);
    });
  }
}

std::vector<std::string> CoreMetrics::Names() const {
  std::vector<std::string> names;
  for (const Metric& metric : metrics_) names.emplace_back(metric.name);
  return names;
}

double CoreMetrics::Time(const CounterValues& values, const CoreLoad& load) {
  return Microseconds(values, load) * 1000;
}

void CoreMetrics::Evaluate(const CounterValues& values, const CoreLoad& load,
                           double* metrics) const {
  const Run run{.cycles = static_cast<double>(values.cycles),
                .hertz = static_cast<double>(load.nominal_mhz) * kMega,
                .microseconds = Microseconds(values, load),
                .few_lanes = few_lanes_};
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Terms counts{};
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const int place = places_[i][k];
      if (place >= 0) {
        counts[k] = static_cast<double>(values.counts[static_cast<std::size_t>(place)]);
      }
    }
    metrics[i] = ValueOf(metrics_[i], counts, run);
  }
}

}  // namespace mpa::raw
