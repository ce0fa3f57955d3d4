// SPDX-License-Identifier: Apache-2.0
#include "raw/device_tasks.h"

#include <gtest/gtest.h>

#include "raw/made_capture.h"
#include "support/files.h"

namespace mpa::raw {
namespace {

using test::Put;

constexpr unsigned kStart = 0, kEnd = 1, kContextStart = 0b100010, kContextEnd = 0b100011;

std::string Stars(unsigned function, unsigned type, unsigned stream, unsigned task,
                  std::uint64_t count, unsigned context = 0, unsigned sub_type = 0) {
  std::string bytes(64, '\0');
  Put(bytes, 0, static_cast<std::uint16_t>(function | type << 10));
  Put(bytes, 2, std::uint16_t{0x6BD3});
  Put(bytes, 4, static_cast<std::uint16_t>(stream));
  Put(bytes, 6, static_cast<std::uint16_t>(task));
  Put(bytes, 8, count);
  Put(bytes, 16, static_cast<std::uint8_t>(sub_type));
  Put(bytes, 18, static_cast<std::uint16_t>(context));
  return bytes;
}

std::vector<DeviceTask> Read(const std::string& bytes, Issues& issues, bool wide = false) {
  test::TempDir directory;
  directory.Write("stars_soc.data.0.slice_0", bytes);
  return ReadDeviceTasks(DataFiles(directory.path()), Generation::kStars, wide, issues);
}

using BeginEnd = std::pair<std::uint64_t, std::uint64_t>;

std::vector<BeginEnd> Spans(const std::vector<DeviceTask>& tasks) {
  std::vector<BeginEnd> spans;
  spans.reserve(tasks.size());
  for (const DeviceTask& task : tasks) spans.emplace_back(task.start, task.end);
  return spans;
}

TEST(DeviceTasks, PairStartsAndEndsOfTasksAndContexts) {
  Issues issues;
  const auto tasks = Read(Stars(kStart, 0, 2, 7, 10) + Stars(kContextStart, 0, 2, 7, 12, 5, 6) +
                              Stars(kContextEnd, 0, 2, 7, 18, 5, 6) + Stars(kEnd, 0, 2, 7, 20),
                          issues);
  ASSERT_EQ(Spans(tasks), (std::vector<BeginEnd>{{12, 18}, {10, 20}}));
  EXPECT_EQ(tasks[0].context, 5u);
  EXPECT_EQ(DeviceTypeName(Generation::kStars, tasks[0]), "MIX_AIC");
  EXPECT_EQ(tasks[1].context, kWholeTask);
  EXPECT_EQ(DeviceTypeName(Generation::kStars, tasks[1]), "AI_CORE");
  EXPECT_EQ(tasks[1].stream, 2u);
  EXPECT_EQ(tasks[1].task, 7u);
  EXPECT_TRUE(issues.Empty());
}

// The example of the description: ends without starts and starts without ends are left out.
TEST(DeviceTasks, PairWhatFitsWhenRecordsAreLost) {
  std::string bytes;
  for (const int count : {4, 6, 9, 13}) {
    bytes += Stars(kStart, 0, 1, 1, static_cast<std::uint64_t>(count));
  }
  for (const int count : {3, 5, 8, 10, 15}) {
    bytes += Stars(kEnd, 0, 1, 1, static_cast<std::uint64_t>(count));
  }
  Issues issues;
  EXPECT_EQ(Spans(Read(bytes, issues)), (std::vector<BeginEnd>{{4, 5}, {6, 8}, {9, 10}, {13, 15}}));
  EXPECT_TRUE(issues.Empty());
  EXPECT_TRUE(Read(Stars(kStart, 0, 1, 1, 4), issues).empty());
  EXPECT_FALSE(issues.Empty());
}

struct Scrambled {
  unsigned stream, task, type;
  bool wide;
  std::uint32_t true_stream, true_task;
};

TEST(DeviceTasks, IdsAreUnscrambled) {
  const Scrambled cases[] = {
      {0x0802, 0x1234, 0, false, 2, 0x1234},      // plain: 11 bits of stream
      {0xF005, 0x0007, 0, false, 5, 0xE007},      // high bits of the task in the stream
      {0x2ABC, 0x7123, 0, false, 0x123, 0x7ABC},  // swapped
      {0x7ABC, 0x0001, 0, true, 0x7ABC, 0x0001},  // wide, plain
      {0x8012, 0x8034, 0, true, 0x0034, 0x8012},  // wide, swapped
      {0x8012, 0x8034, 3, true, 0x0012, 0x8034},  // wide, never swapped for place holders
  };
  for (const Scrambled& c : cases) {
    Issues issues;
    const auto tasks =
        Read(Stars(kStart, c.type, c.stream, c.task, 1) + Stars(kEnd, c.type, c.stream, c.task, 2),
             issues, c.wide);
    ASSERT_EQ(tasks.size(), 1u);
    EXPECT_EQ(tasks[0].stream, c.true_stream) << c.stream;
    EXPECT_EQ(tasks[0].task, c.true_task) << c.stream;
  }
}

TEST(DeviceTasks, ReadHwts) {
  std::string start(64, '\0'), end;
  Put(start, 1, std::uint8_t{9});
  Put(start, 2, std::uint16_t{0x6BD3});
  Put(start, 6, std::uint16_t{300});
  Put(start, 8, std::uint64_t{1000});
  Put(start, 16, std::uint32_t{2048 + 3});
  end = start;
  Put(end, 0, std::uint8_t{0x11});
  Put(end, 8, std::uint64_t{1050});
  test::TempDir directory;
  directory.Write("hwts.data.0.slice_0", start + end);
  Issues issues;
  const auto tasks = ReadDeviceTasks(DataFiles(directory.path()), Generation::kHwts, false, issues);
  ASSERT_EQ(Spans(tasks), (std::vector<BeginEnd>{{1000, 1050}}));
  EXPECT_EQ(tasks[0].stream, 3u);
  EXPECT_EQ(tasks[0].task, 300u);
  EXPECT_EQ(DeviceTypeName(Generation::kHwts, tasks[0]), "SDMA_SQE");
}

TEST(DeviceTasks, ReadTaskIdsOf32Bits) {
  const auto record = [](unsigned function, std::uint64_t count) {
    std::string bytes(32, '\0');
    Put(bytes, 0, static_cast<std::uint16_t>(function | 1 << 10));
    Put(bytes, 2, std::uint16_t{0x6BD3});
    Put(bytes, 4, std::uint32_t{0xFEDCBA98});
    Put(bytes, 8, count);
    return bytes;
  };
  test::TempDir directory;
  directory.Write("stars_soc.data.0.slice_0", record(kStart, 5) + record(kEnd, 9));
  Issues issues;
  const auto tasks =
      ReadDeviceTasks(DataFiles(directory.path()), Generation::kStarsV6, false, issues);
  ASSERT_EQ(Spans(tasks), (std::vector<BeginEnd>{{5, 9}}));
  EXPECT_EQ(tasks[0].task, 0xFEDCBA98u);
  EXPECT_EQ(DeviceTypeName(Generation::kStarsV6, tasks[0]), "AIV_SQE");
}

TEST(DeviceBatches, CountFlipsAndTasksThatOvertookThem) {
  std::vector<DeviceTask> tasks;
  const auto add = [&](std::uint32_t task, std::uint64_t start) {
    tasks.push_back({.start = start, .end = start + 1, .stream = 1, .task = task});
  };
  add(0, 25);  // before the flip in time, but with an id below that of the flip task
  add(5, 50);
  add(65534, 10);
  add(65535, 20);
  CountDeviceBatches({{.stream = 1, .count = 30, .task = 2}}, tasks);
  EXPECT_EQ(tasks[0].batch, 1);
  EXPECT_EQ(tasks[1].batch, 1);
  EXPECT_EQ(tasks[2].batch, 0);
  EXPECT_EQ(tasks[3].batch, 0);
}

}  // namespace
}  // namespace mpa::raw
