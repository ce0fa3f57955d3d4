// SPDX-License-Identifier: Apache-2.0
// Graphs that were captured from streams and run again: the kernels of their runs, their models and
// operators are those that the generator planted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "mpa/raw/session.h"
#include "raw/made_capture.h"
#include "raw/raw_captures.h"

namespace mpa::raw {
namespace {

using nlohmann::json;
using test::Int;
using test::MadeCapture;
using test::Put;
using test::Str;
using Lines = std::vector<std::string>;

// The form of the records: that of earlier runtimes, or of current ones.
class CapturedGraphs : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto captures = test::GeneratedRawCaptures(GetParam());
    MPA_NEED_GENERATED(captures);
    truth_ = captures.front().truth;
    session_ = std::make_unique<Session>(ReadSession(captures.front().path, Parts::kAll));
  }

  const json& Planted(const char* list) const { return truth_.at(list); }
  const Session& Found() const { return *session_; }
  std::string_view Text(StringId id) const { return session_->strings.View(id); }

 private:
  json truth_;
  std::unique_ptr<Session> session_;
};

Lines Sorted(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST_P(CapturedGraphs, KernelsHaveTheirOperatorsInEveryRun) {
  Lines found, planted;
  const Kernels& kernels = Found().kernels;
  const Tasks& tasks = Found().tasks;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const auto task = static_cast<std::size_t>(kernels.task[i]);
    found.push_back(
        fmt::format("{} {} {} {} {} blocks {} {} {} {} {} model {} stream {} task {} {}-{}",
                    Text(kernels.name[i]), Text(kernels.op_type[i]), Text(kernels.core[i]),
                    Text(kernels.state[i]), Text(kernels.hf32[i]), kernels.blocks[i],
                    kernels.mix_blocks[i], Text(kernels.input_shapes[i]),
                    Text(kernels.output_shapes[i]), Text(kernels.attributes[i]), tasks.model[task],
                    tasks.stream[task], tasks.task_id[task], tasks.start[task], tasks.end[task]));
  }
  for (const json& kernel : Planted("captured_kernels")) {
    planted.push_back(
        fmt::format("{} {} {} {} {} blocks {} {} {} {} {} model {} stream {} task {} {}-{}",
                    Str(kernel, "name"), Str(kernel, "op_type"), Str(kernel, "core"),
                    Str(kernel, "state"), Str(kernel, "hf32"), Int(kernel, "blocks"),
                    Int(kernel, "mix_blocks"), Str(kernel, "inputs"), Str(kernel, "outputs"),
                    Str(kernel, "attributes"), Int(kernel, "model"), Int(kernel, "stream"),
                    Int(kernel, "task"), Int(kernel, "start_ns"), Int(kernel, "end_ns")));
  }
  EXPECT_EQ(Sorted(found), Sorted(planted));
  EXPECT_EQ(Found().issues.Lines(), Lines{});
}

TEST_P(CapturedGraphs, KernelsThatArrangeCollectivesDoNotCompute) {
  std::int64_t computing = 0, planted = 0;
  const Overlaps& activities = Found().overlaps;
  for (std::size_t i = 0; i < activities.Size(); ++i) {
    if (activities.activity[i] != Activity::kComputing) continue;
    computing += activities.dur[i];
  }
  // No two kernels touch.
  for (const json& kernel : Planted("captured_kernels")) {
    if (!kernel.at("schedules").get<bool>())
      planted += Int(kernel, "end_ns") - Int(kernel, "start_ns");
  }
  EXPECT_EQ(computing, planted);
  EXPECT_EQ(Found().schedule_streams, (std::vector<std::int64_t>{53, 71}));
}

TEST_P(CapturedGraphs, TheAiCpuTellsOfItsKernels) {
  Lines found, planted;
  const AiCpuKernels& kernels = Found().ai_cpu;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    found.push_back(fmt::format("{}+{} {} {} {} {} {} stream {} task {}", kernels.start[i],
                                kernels.dur[i], Text(kernels.name[i]), kernels.compute[i],
                                kernels.copy[i], kernels.dispatch[i], kernels.total[i],
                                kernels.stream[i], kernels.task[i]));
  }
  for (const json& kernel : Planted("ai_cpu")) {
    planted.push_back(fmt::format("{}+{} {} {} {} {} {} stream {} task {}", Int(kernel, "start_ns"),
                                  Int(kernel, "dur_ns"), Str(kernel, "name"),
                                  Int(kernel, "compute_us"), Int(kernel, "copy_us"),
                                  Int(kernel, "dispatch_us"), Int(kernel, "total_ns"),
                                  Int(kernel, "stream"), Int(kernel, "task")));
  }
  EXPECT_EQ(found, Sorted(planted));  // times have one number of digits
}

TEST_P(CapturedGraphs, QueuesOfInputDataHaveTheirEntries) {
  Lines found, planted;
  const InputQueue& queue = Found().input_queue;
  for (std::size_t i = 0; i < queue.Size(); ++i) {
    found.push_back(fmt::format("{} {} {} {}", queue.time[i], Text(queue.action[i]),
                                Text(queue.source[i]), queue.size[i]));
  }
  for (const json& entry : Planted("input_queue")) {
    planted.push_back(fmt::format("{} {} {} {}", Int(entry, "time_ns"), Str(entry, "action"),
                                  Str(entry, "source"), Int(entry, "size")));
  }
  EXPECT_EQ(found, planted);
}

INSTANTIATE_TEST_SUITE_P(Forms, CapturedGraphs,
                         testing::Values("captured_graphs", "captured_graphs_v2"),
                         [](const auto& one) { return one.param; });

// A record of capture_op_info of the task 7 of stream 2, with `tensors` tensors.
std::string LongOp(std::uint32_t tensors) {
  const auto payload = static_cast<std::uint32_t>(64 + 44 * tensors);
  std::string bytes = MadeCapture::Record(24 + payload, 5000, 805, 50, payload);
  Put(bytes, 24, std::uint32_t{9});
  Put(bytes, 32, std::uint32_t{2});
  Put(bytes, 36, std::uint32_t{7});
  Put(bytes, 48, std::uint64_t{100});
  Put(bytes, 56, std::uint64_t{101});
  Put(bytes, 84, tensors);
  return bytes;
}

constexpr const char* kLongOps = "host/data/unaging.variable.capture_op_info.slice_0";

Session ReadWith(const std::string& long_ops) {
  MadeCapture capture;
  capture.Call(20000, 1, 50, 70);
  capture.Launch(60, 2, 7, 0, 102, 4);
  capture.Task(2, 7, 0, 200, 300);
  capture.Add(kLongOps, long_ops);
  return ReadSession(capture.Write(), Parts::kAll);
}

TEST(LongCapturedOps, ThatBreakOffCostThemselves) {
  const Session session = ReadWith(LongOp(5) + LongOp(4).substr(0, 100));
  ASSERT_EQ(session.kernels.Size(), 1u);
  EXPECT_EQ(session.strings.View(session.kernels.name[0]), "aclnnAdd_Add_Add");
  ASSERT_EQ(session.issues.Lines().size(), 1u);
  EXPECT_NE(session.issues.Lines()[0].find("cut off"), std::string::npos);
}

TEST(LongCapturedOps, ThatAreDamagedEndTheirFile) {
  std::string damaged = LongOp(5);
  Put(damaged, 0, std::uint16_t{0});
  const Session session = ReadWith(damaged + LongOp(5));
  ASSERT_EQ(session.kernels.Size(), 1u);
  EXPECT_EQ(session.strings.View(session.kernels.name[0]), "te_add");  // by its function
  ASSERT_EQ(session.issues.Lines().size(), 1u);
  EXPECT_NE(session.issues.Lines()[0].find("damaged"), std::string::npos);
}

TEST(LongCapturedOps, WithMoreTensorsThanTheyHoldHaveThoseThatAreThere) {
  std::string wrong = LongOp(1);
  Put(wrong, 84, std::uint32_t{0xFFFFFFFF});
  EXPECT_EQ(ReadWith(wrong).kernels.Size(), 1u);
}

// Runtimes that write both forms write the same in them.
TEST(CapturedGraphTasks, OfBothFormsCountOnce) {
  MadeCapture capture;
  capture.Call(20000, 1, 50, 70);
  capture.Launch(60, 2, 7, 0, 102, 4);
  std::string later = MadeCapture::Record(64, 5000, 802, 60, 40);
  Put(later, 28, std::uint32_t{3});
  capture.Add("host/data/unaging.compact.task_track_v2.slice_0", later);
  capture.Task(2, 7, 0, 200, 300);
  const Session session = ReadSession(capture.Write(), Parts::kAll);
  ASSERT_EQ(session.kernels.Size(), 1u);
  EXPECT_EQ(session.issues.Lines(), Lines{});
}

TEST(AiCpu, RecordsThatCannotBeReadAreTold) {
  MadeCapture capture;
  capture.Add("device_0/data/aicpu.data.0.slice_0", MadeCapture::Record(256, 6000, 4, 50, 200));
  const Session session = ReadSession(capture.Write(), Parts::kAll);
  ASSERT_EQ(session.issues.Lines().size(), 1u);
  EXPECT_NE(session.issues.Lines()[0].find("cannot be read yet"), std::string::npos);
}

}  // namespace
}  // namespace mpa::raw
