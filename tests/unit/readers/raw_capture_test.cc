// SPDX-License-Identifier: Apache-2.0
// A raw capture fills the tables of a rank like the files that the profiler's own parser made of
// the same records.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "mpa/capture/capture.h"
#include "mpa/model/launches.h"
#include "pipeline/load_rank.h"
#include "raw/raw_captures.h"
#include "support/files.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

using Rows = std::vector<std::string>;

constexpr Tables kAllTables = static_cast<Tables>((1u << 26) - 1) | Tables::kKernelLoads;

RankTrace Load(const fs::path& path, bool raw) {
  return LoadRank(OpenRank(path, {.force = true, .raw = raw}), {kAllTables, ""}, std::nullopt)
      .trace;
}

// The text files of the parsed capture beside the small documents of the raw one.
fs::path TextCapture(const test::PlantedCapture& capture, const test::TempDir& directory) {
  fs::path home = directory / "parsed_ascend_pt";
  fs::create_directories(home / "ASCEND_PROFILER_OUTPUT");
  for (const auto& entry : fs::directory_iterator(capture.path)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("profiler_")) fs::create_symlink(entry.path(), home / name);
  }
  for (const auto& entry : fs::directory_iterator(capture.parsed)) {
    if (entry.path().extension() == ".db") continue;
    fs::create_symlink(entry.path(), home / "ASCEND_PROFILER_OUTPUT" / entry.path().filename());
  }
  return home;
}

// One line per row of a table, ordered.
template <typename Line>
Rows Lines(std::size_t count, Line line) {
  Rows rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(line(i));
  std::sort(rows.begin(), rows.end());
  return rows;
}

class Printed {
 public:
  explicit Printed(const RankTrace& trace) : trace_(trace) {}

  Rows HostOps() const {
    const auto& t = trace_.host_ops;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {} {} {} {}", t.start[i], t.dur[i], Text(t.name[i]),
                         Thread(t.track[i]), Text(t.shapes[i]), Text(t.types[i]), Text(t.stack[i]));
    });
  }
  Rows PythonCalls() const {
    const auto& t = trace_.python_calls;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {}", t.start[i], t.dur[i], Text(t.name[i]), Thread(t.track[i]));
    });
  }
  Rows BackwardLinks() const {
    const auto& t = trace_.backward_links;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {}", t.forward_time[i], Thread(t.forward_track[i]),
                         t.backward_time[i], Thread(t.backward_track[i]));
    });
  }
  Rows QueuedWork() const {
    const auto& t = trace_.queued_work;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {} {} {} {}", t.queued[i], t.queued_dur[i],
                         Thread(t.queued_track[i]), t.start[i], t.dur[i], Thread(t.track[i]),
                         Text(t.name[i]));
    });
  }
  Rows Marks() const {
    const auto& t = trace_.mstx;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {} {} {}", t.start[i], t.dur[i], static_cast<int>(t.kind[i]),
                         Text(t.message[i]), Text(t.domain[i]), Thread(t.track[i]));
    });
  }
  Rows HostCalls() const {
    const auto& t = trace_.host_calls;
    return Lines(t.Size(), [&](std::size_t i) {
      const std::string_view item = Text(t.item[i]);  // "0" is how the timeline writes none
      return fmt::format("{} {} {} {} {} {} {}", t.start[i], t.dur[i], Text(t.name[i]),
                         Thread(t.track[i]), item == "0" ? "" : item, t.model[i], t.request[i]);
    });
  }
  Rows GarbageCollections() const {
    const auto& t = trace_.garbage_collections;
    return Lines(t.Size(),
                 [&](std::size_t i) { return fmt::format("{} {}", t.start[i], t.dur[i]); });
  }
  Rows Steps() const {
    const auto& t = trace_.steps;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {}", t.id[i], t.start[i], t.end[i]);
    });
  }
  Rows Kernels() const {
    const auto& t = trace_.kernels;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}", t.start[i], t.dur[i],
                         Text(t.name[i]), Text(t.op_type[i]), Text(t.core[i]), Text(t.shapes[i]),
                         Text(t.input_types[i]), Text(t.input_formats[i]), Text(t.output_shapes[i]),
                         Text(t.output_formats[i]), Text(t.hf32[i]), t.stream[i], t.step[i]);
    });
  }
  // The start of each kernel with the start and thread of what launched it.
  Rows KernelLaunches() const { return Launched(trace_.kernels.start, trace_.kernels.link); }
  Rows DeviceTasks() const {
    const auto& t = trace_.device_tasks;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {:.3f} {} {} {} {}", t.start[i], t.dur[i], t.dur_rest[i],
                         Text(t.name[i]), Text(t.type[i]), t.task_id[i], t.stream[i]);
    });
  }
  Rows Communications() const {
    const auto& t = trace_.communications;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {} {} {}", t.start[i], t.dur[i], Text(t.name[i]),
                         Group(t.group[i]), Text(t.data_type[i]), t.count[i]);
    });
  }
  Rows CommTasks() const {
    const auto& t = trace_.comm_tasks;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {} {} {} {} {} {} {} {}", t.start[i], t.dur[i], Text(t.name[i]),
                         Group(t.group[i]), t.own_rank[i], t.peer[i], t.bytes[i],
                         Text(t.transport[i]), Text(t.link_type[i]), t.notify[i], t.stream[i]);
    });
  }
  Rows Groups() const {
    const auto& t = trace_.comm_groups;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {}", Text(t.name[i]), Text(t.process_group[i]));
    });
  }
  Rows DeviceRuns() const {
    const auto& t = trace_.device_runs;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {} {}", t.start[i], t.dur[i], Text(t.name[i]),
                         t.is_collective[i], t.model[i]);
    });
  }
  Rows Overlaps() const {
    const auto& t = trace_.overlaps;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {}", t.start[i], t.dur[i], static_cast<int>(t.activity[i]));
    });
  }
  Rows MemorySamples() const {
    const auto& t = trace_.memory_samples;
    return Lines(t.Size(), [&](std::size_t i) {
      // The times of these went through doubles, or the device's clock, in the parsed form, which
      // rounds MB, too.
      const bool exact = Text(t.component[i]) != "APP" && !Text(t.component[i]).ends_with("GE");
      return fmt::format("{} {} {} {}", exact ? t.time[i] : -1, Text(t.component[i]),
                         t.reserved_bytes[i], (t.allocated_bytes[i] + 512) / 1024);
    });
  }
  Rows Allocations() const {
    const auto& t = trace_.allocations;
    return Lines(t.Size(), [&](std::size_t i) {
      if (Text(t.name[i]).starts_with("cann::")) {  // timed by the device's clock there
        return fmt::format("{} {} {}", Text(t.name[i]), t.bytes[i], t.released[i] - t.allocated[i]);
      }
      return fmt::format("{} {} {} {}", Text(t.name[i]), t.bytes[i], t.allocated[i], t.released[i]);
    });
  }
  Rows KernelStatistics() const {
    const auto& t = trace_.kernel_statistics;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {} {} {}", Text(t.op_type[i]), Text(t.core[i]), t.count[i],
                         t.total[i], t.min[i], t.max[i]);
    });
  }
  Rows Transfers() const {
    const auto& t = trace_.transfers;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {}", t.step[i], static_cast<int>(t.transport[i]), t.bytes[i],
                         t.time[i]);
    });
  }
  Rows StepTimes() const {
    const auto& t = trace_.step_times;
    return Lines(t.Size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {} {}", t.step[i], t.computing[i], t.exposed_communication[i],
                         t.communication[i], t.free[i]);
    });
  }
  // The changes: the parsed form repeats them, and the last one at the end of the collection.
  Rows Clocks() const {
    const auto& t = trace_.core_clocks;
    Rows rows;
    for (std::size_t i = 0; i < t.Size(); ++i) {
      if (i > 0 && t.mhz[i] == t.mhz[i - 1]) continue;
      rows.push_back(fmt::format("{} {}", t.start[i], t.mhz[i]));
    }
    return rows;
  }

 private:
  std::string_view Text(StringId id) const { return trace_.strings.View(id); }
  std::string Thread(std::int32_t track) const {
    if (track < 0) return "-";
    const auto row = static_cast<std::size_t>(track);
    return fmt::format("{}:{}", trace_.tracks.pid[row], trace_.tracks.tid[row]);
  }
  std::string_view Group(std::int32_t group) const {
    return group < 0 ? "-" : Text(trace_.comm_groups.name[static_cast<std::size_t>(group)]);
  }
  Rows Launched(const std::vector<TimeNs>& start, const std::vector<std::int64_t>& link) const {
    const LaunchIndex index(trace_);
    return Lines(start.size(), [&](std::size_t i) {
      const auto launch = index.Find(link[i]);
      if (!launch) return fmt::format("{} -", start[i]);
      return fmt::format("{} {} {}", start[i], trace_.launches.host_time[*launch],
                         Thread(trace_.launches.host_track[*launch]));
    });
  }

  const RankTrace& trace_;
};

// Says what only one of them has, and no more than a few lines of it.
void ExpectSame(const Rows& parsed, const Rows& raw, const char* table) {
  Rows only_parsed, only_raw;
  std::set_difference(parsed.begin(), parsed.end(), raw.begin(), raw.end(),
                      std::back_inserter(only_parsed));
  std::set_difference(raw.begin(), raw.end(), parsed.begin(), parsed.end(),
                      std::back_inserter(only_raw));
  if (only_parsed.empty() && only_raw.empty()) return;
  std::string text = fmt::format("{}: {} rows parsed, {} raw; {} and {} differ\n", table,
                                 parsed.size(), raw.size(), only_parsed.size(), only_raw.size());
  for (std::size_t i = 0; i < std::min<std::size_t>(3, only_parsed.size()); ++i) {
    text += "  parsed: " + only_parsed[i] + "\n";
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(3, only_raw.size()); ++i) {
    text += "  raw:    " + only_raw[i] + "\n";
  }
  ADD_FAILURE() << text;
}

// The parsed form has rounded the counters to whole nanoseconds more than once.
void ExpectSameCounters(const RankTrace& parsed, const RankTrace& raw) {
  ASSERT_EQ(parsed.kernels.Size(), raw.kernels.Size());
  ASSERT_EQ(parsed.kernel_loads.Size(), parsed.kernels.Size());
  ASSERT_EQ(raw.kernel_loads.Size(), raw.kernels.Size());
  const std::vector<std::size_t> parsed_rows = parsed.kernels.RowsByStart(),
                                 raw_rows = raw.kernels.RowsByStart();
  const auto expect_near = [&](const auto& left, const auto& right) {
    for (std::size_t i = 0; i < raw_rows.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(left[parsed_rows[i]]),
                  static_cast<double>(right[raw_rows[i]]), 1);
    }
  };
  for (const auto column : {&Kernels::aic_total, &Kernels::aic_mac, &Kernels::aic_mte2,
                            &Kernels::aiv_total, &Kernels::aiv_vec}) {
    expect_near(parsed.kernels.*column, raw.kernels.*column);
  }
  for (const auto column :
       {&KernelLoads::aic_fixpipe_time, &KernelLoads::aiv_mte2_time, &KernelLoads::aiv_mte3_time}) {
    expect_near(parsed.kernel_loads.*column, raw.kernel_loads.*column);
  }
}

class RawReader : public testing::TestWithParam<const char*> {};

TEST_P(RawReader, FillsTheTablesLikeTheParsedFiles) {
  const auto captures = test::SharedRawCaptures(GetParam());
  MPA_SKIP_WITHOUT(captures);
  for (const test::PlantedCapture& capture : captures) {
    const test::TempDir directory;
    const RankTrace parsed_trace = Load(TextCapture(capture, directory), /*raw=*/false);
    const RankTrace raw_trace = Load(capture.path, /*raw=*/true);
    const Printed parsed(parsed_trace), raw(raw_trace);
    ExpectSame(parsed.HostOps(), raw.HostOps(), "host_ops");
    ExpectSame(parsed.PythonCalls(), raw.PythonCalls(), "python_calls");
    ExpectSame(parsed.BackwardLinks(), raw.BackwardLinks(), "backward_links");
    ExpectSame(parsed.QueuedWork(), raw.QueuedWork(), "queued_work");
    ExpectSame(parsed.Marks(), raw.Marks(), "mstx");
    ExpectSame(parsed.GarbageCollections(), raw.GarbageCollections(), "garbage_collections");
    ExpectSame(parsed.Steps(), raw.Steps(), "steps");
    ExpectSame(parsed.Kernels(), raw.Kernels(), "kernels");
    ExpectSame(parsed.KernelLaunches(), raw.KernelLaunches(), "launches of kernels");
    ExpectSame(parsed.DeviceTasks(), raw.DeviceTasks(), "device_tasks");
    ExpectSame(parsed.Groups(), raw.Groups(), "comm_groups");
    ExpectSame(parsed.Communications(), raw.Communications(), "communications");
    ExpectSame(parsed.CommTasks(), raw.CommTasks(), "comm_tasks");
    ExpectSame(parsed.Overlaps(), raw.Overlaps(), "overlaps");
    ExpectSame(parsed.MemorySamples(), raw.MemorySamples(), "memory_samples");
    ExpectSameCounters(parsed_trace, raw_trace);
    ExpectSame(parsed.Allocations(), raw.Allocations(), "allocations");
    ExpectSame(parsed.KernelStatistics(), raw.KernelStatistics(), "kernel_statistics");
    ExpectSame(parsed.Transfers(), raw.Transfers(), "transfers");
    ExpectSame(parsed.StepTimes(), raw.StepTimes(), "step_times");
    ExpectSame(parsed.Clocks(), raw.Clocks(), "core_clocks");
    ExpectSame(parsed.HostCalls(), raw.HostCalls(), "host_calls");
    ExpectSame(parsed.DeviceRuns(), raw.DeviceRuns(), "device_runs");
    EXPECT_EQ(parsed_trace.backward_tid, raw_trace.backward_tid);
    EXPECT_EQ(parsed_trace.device_id, raw_trace.device_id);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, RawReader, testing::Values("level1", "two_ranks"));

}  // namespace
}  // namespace mpa
