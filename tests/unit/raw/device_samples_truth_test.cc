// SPDX-License-Identifier: Apache-2.0
// Counters, frequencies and memory samples of the planted captures.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "mpa/raw/session.h"
#include "raw/raw_captures.h"

namespace mpa::raw {
namespace {

using test::PlantedCapture;

std::vector<PlantedCapture> WholeCaptures() {
  std::vector<PlantedCapture> all;
  for (const char* name : {"level0", "level1", "stack_mstx_gc", "hwts", "two_ranks",
                           "truncated_framework", "truncated_tensor_info"}) {
    for (PlantedCapture& capture : test::SharedRawCaptures(name)) all.push_back(std::move(capture));
  }
  return all;
}

/// The planted items of a kind; none where the capture has no such list.
nlohmann::json Planted(const PlantedCapture& capture, const char* kind) {
  return capture.truth.value(kind, nlohmann::json::array());
}

double Metric(const Session& session, std::size_t kernel, const std::string& name) {
  const Counters& counters = session.counters;
  const auto found = std::find(counters.names.begin(), counters.names.end(), name);
  if (found == counters.names.end()) return -1;
  return counters
      .values[static_cast<std::size_t>(session.kernels.counters[kernel]) * counters.names.size() +
              static_cast<std::size_t>(found - counters.names.begin())];
}

/// Cycles and the values of kernels in order of start: "start cycles first-ratio ...".
std::vector<std::string> PlantedCounters(const PlantedCapture& capture) {
  std::vector<std::string> lines;
  const bool stars = capture.truth.at("options").at("chip") != "1";
  for (const auto& kernel : capture.truth.at("kernels")) {
    if (!kernel.contains("counters") || kernel.value("before_start", false)) continue;
    const auto& counters = kernel.at("counters");
    const auto cycles = counters.at("cycles").get<double>();
    const auto& values = counters.at("values");
    const auto core = kernel.at("core").get<std::string>();
    const bool cube = stars && (core == "AI_CORE" || core == "MIX_AIC");
    // Orders of the events: 0x416, 0x417, 0x9, ... of cube cores, 0x8, 0xa, 0x9, ... of others.
    const double ratio = cube ? values[0].get<double>() / cycles + values[1].get<double>() / cycles
                              : values[0].get<double>() / cycles;
    const double scalar = values[2].get<double>() / cycles;
    const double misses = values[6].get<double>() == 0 || values[7].get<double>() == 0
                              ? 0
                              : values[7].get<double>() / values[6].get<double>();
    lines.push_back(fmt::format("{} {} {:.10g} {:.10g} {:.10g}",
                                kernel.at("start_ns").get<TimeNs>(), cycles, ratio, scalar,
                                misses));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> FoundCounters(const Session& session) {
  std::vector<std::string> lines;
  const bool apart = session.info.devices[0].generation == Generation::kStars;
  for (std::size_t i = 0; i < session.kernels.Size(); ++i) {
    if (session.kernels.counters[i] < 0) continue;
    const bool cube = apart && Metric(session, i, "aic_total_cycles") != 0;
    const std::string prefix = !apart ? "" : cube ? "aic_" : "aiv_";
    const auto value = [&](const char* name) { return Metric(session, i, prefix + name); };
    const auto task = static_cast<std::size_t>(session.kernels.task[i]);
    lines.push_back(fmt::format("{} {} {:.10g} {:.10g} {:.10g}", session.tasks.start[task],
                                value("total_cycles"), value(cube ? "mac_ratio" : "vec_ratio"),
                                value("scalar_ratio"), value("icache_miss_rate")));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(PlantedCounters, ComeBackOnTheirKernels) {
  const auto captures = WholeCaptures();
  MPA_SKIP_WITHOUT(captures);
  for (const PlantedCapture& capture : captures) {
    SCOPED_TRACE(capture.path.string());
    const Session session = ReadSession(capture.path, Parts::kCann | Parts::kCounters);
    EXPECT_EQ(FoundCounters(session), PlantedCounters(capture));
  }
}

TEST(PlantedCounters, OfACutCaptureAreOnTheRightKernels) {
  for (const char* name : {"truncated", "truncated_device"}) {
    const auto captures = test::SharedRawCaptures(name);
    MPA_SKIP_WITHOUT(captures);
    const Session session = ReadSession(captures[0].path, Parts::kCann | Parts::kCounters);
    const auto found = FoundCounters(session), planted = PlantedCounters(captures[0]);
    EXPECT_TRUE(std::includes(planted.begin(), planted.end(), found.begin(), found.end()));
    EXPECT_GT(found.size(), planted.size() / 2);
  }
}

// Without a frequency in force before the collection the planted captures run at the nominal clock.
TEST(PlantedFrequencies, AreTheNominalOneAndTheChanges) {
  const auto captures = WholeCaptures();
  MPA_SKIP_WITHOUT(captures);
  for (const PlantedCapture& capture : captures) {
    SCOPED_TRACE(capture.path.string());
    const Session session = ReadSession(capture.path, Parts::kFrequency);
    const TimeNs begin = session.info.devices[0].begin;
    std::vector<std::pair<TimeNs, std::int64_t>> planted, found;
    if (session.info.devices[0].generation == Generation::kStars) planted.emplace_back(begin, 1800);
    for (const auto& change : Planted(capture, "frequency")) {
      const auto time = change.at("time_ns").get<TimeNs>();
      if (time >= begin) planted.emplace_back(time, change.at("mhz").get<std::int64_t>());
    }
    for (std::size_t i = 0; i < session.core_clocks.Size(); ++i) {
      found.emplace_back(session.core_clocks.start[i], session.core_clocks.mhz[i]);
    }
    EXPECT_EQ(found, planted);
  }
}

TEST(PlantedMemory, ComesBack) {
  const auto captures = WholeCaptures();
  MPA_SKIP_WITHOUT(captures);
  for (const PlantedCapture& capture : captures) {
    SCOPED_TRACE(capture.path.string());
    const Session session = ReadSession(capture.path, Parts::kMemory);
    std::vector<std::string> planted, found;
    for (const auto& sample : Planted(capture, "device_memory")) {
      planted.push_back(fmt::format("{} {} 0 {}", sample.at("time_ns").get<TimeNs>(),
                                    sample.at("device").get<bool>(),
                                    sample.at("hbm").get<std::int64_t>()));
    }
    const DeviceMemory& device = session.device_memory;
    for (std::size_t i = 0; i < device.Size(); ++i) {
      found.push_back(fmt::format("{} {} {} {}", device.time[i], device.whole_device[i] != 0,
                                  device.ddr[i], device.hbm[i]));
    }
    EXPECT_EQ(found, planted);

    planted.clear();
    found.clear();
    const bool all = session.info.devices[0].generation == Generation::kHwts;
    for (const auto& sample : Planted(capture, "module_memory")) {
      const auto time = sample.at("time_ns").get<TimeNs>();
      if (!all && time < session.info.devices[0].begin) continue;
      planted.push_back(fmt::format("{} {} {}", time, sample.at("module").get<int>(),
                                    sample.at("reserved").get<std::int64_t>()));
    }
    const ModuleMemory& modules = session.module_memory;
    for (std::size_t i = 0; i < modules.Size(); ++i) {
      found.push_back(
          fmt::format("{} {} {}", modules.time[i], modules.module[i], modules.reserved[i]));
    }
    EXPECT_EQ(found, planted);

    planted.clear();
    found.clear();
    for (const auto& event : Planted(capture, "op_memory")) {
      planted.push_back(fmt::format(
          "{} {} {} {} {} {}", event.at("time_ns").get<TimeNs>(),
          event.at("name").get<std::string>(), event.at("address").get<std::uint64_t>(),
          event.at("size").get<std::int64_t>(), event.at("allocated").get<std::int64_t>(),
          event.at("reserved").get<std::int64_t>()));
    }
    const OpMemory& ops = session.op_memory;
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      found.push_back(fmt::format("{} {} {} {} {} {}", ops.time[i],
                                  session.strings.View(ops.name[i]), ops.address[i], ops.bytes[i],
                                  ops.allocated[i], ops.reserved[i]));
    }
    std::sort(planted.begin(), planted.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, planted);
  }
}

}  // namespace
}  // namespace mpa::raw
