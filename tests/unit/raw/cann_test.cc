// SPDX-License-Identifier: Apache-2.0
// Captures made by hand, record by record.
#include <gtest/gtest.h>

#include "mpa/base/error.h"
#include "mpa/raw/session.h"
#include "raw/made_capture.h"

namespace mpa::raw {
namespace {

using test::MadeCapture;
using test::Put;

constexpr unsigned kAcl = 20000, kNode = 10000, kLaunch = 5;
constexpr unsigned kAiCore = 0, kMixAic = 108, kCopy = 5, kEventRecord = 2, kFlip = 98;

Session Read(MadeCapture& capture) {
  return ReadSession(capture.Write(), Parts::kCann | Parts::kMarks);
}

std::string Text(const Session& session, const std::vector<StringId>& column, std::size_t row) {
  return std::string(session.strings.View(column.at(row)));
}

// An operator with its launch: acl 1000..1900, node 1100..1800.
void AddOperator(MadeCapture& capture, unsigned task = 7) {
  capture.Call(kAcl, 1, 1000, 1900);
  capture.Call(kNode, kLaunch, 1100, 1800, 100);
  capture.Launch(1300, 2, task, kAiCore, 102, 24);
  capture.Node(1700, 100, 0, 101, 20);
}

TEST(Cann, LaunchesWithoutWorkAreListed) {
  MadeCapture capture;
  AddOperator(capture);
  capture.Launch(1350, 2, 8, kMixAic);
  capture.Launch(1400, 2, 9, kCopy);
  capture.Launch(1450, 2, 10, kEventRecord);  // is no work
  capture.Task(2, 7, 0, 200, 300);
  capture.Task(2, 8, 0, 300, 400);
  EXPECT_EQ(Read(capture).unanswered_launches, std::vector<TimeNs>{MadeCapture::kBegin + 1400});
}

TEST(Cann, AKernelIsJoinedWithItsOperator) {
  MadeCapture capture;
  AddOperator(capture);
  capture.Tensors(1700, 100,
                  {{.type = 27, .shape = {32, 3}}, {.format = 0x0303, .type = 1, .shape = {16}}});
  capture.Tensors(1700, 100, {{.output = true, .type = 99, .shape = {}}});
  capture.Task(2, 7, 0, 200, 300);
  const Session session = Read(capture);

  ASSERT_EQ(session.tasks.Size(), 1u);
  EXPECT_EQ(session.tasks.start[0], MadeCapture::kBegin + 4000);
  EXPECT_EQ(session.tasks.end[0], MadeCapture::kBegin + 6000);
  EXPECT_EQ(session.tasks.Exact(0), 2000);
  EXPECT_EQ(session.tasks.issued[0], MadeCapture::kBegin + 1300);
  EXPECT_EQ(session.tasks.call[0], 1);
  EXPECT_EQ(Text(session, session.tasks.function, 0), "te_add");
  ASSERT_EQ(session.kernels.Size(), 1u);
  EXPECT_EQ(Text(session, session.kernels.name, 0), "aclnnAdd_Add_Add");
  EXPECT_EQ(Text(session, session.kernels.op_type, 0), "Add");
  EXPECT_EQ(Text(session, session.kernels.core, 0), "AI_CORE");
  EXPECT_EQ(Text(session, session.kernels.state, 0), "dynamic");
  EXPECT_EQ(Text(session, session.kernels.input_shapes, 0), "\"32,3;16\"");
  EXPECT_EQ(Text(session, session.kernels.input_types, 0), "DT_BF16;FLOAT16");
  EXPECT_EQ(Text(session, session.kernels.input_formats, 0), "ND;NC1HWC0:3");
  EXPECT_EQ(Text(session, session.kernels.output_shapes, 0), "\"\"");
  EXPECT_EQ(Text(session, session.kernels.output_types, 0), "99");
  // The task record knows the blocks better than the operator.
  EXPECT_EQ(session.kernels.blocks[0], 24);
  EXPECT_TRUE(session.issues.Empty());
}

TEST(Cann, OperatorsOfStaticGraphsDoNotAge) {
  MadeCapture capture;
  capture.Call(kNode, kLaunch, 1100, 1800, 100);
  capture.Launch(1300, 2, 7, kAiCore);
  capture.Node(1700, 100, 0, 101, 20, true, false);
  capture.Task(2, 7, 0, 200, 300);
  const Session session = Read(capture);
  ASSERT_EQ(session.kernels.Size(), 1u);
  EXPECT_EQ(Text(session, session.kernels.state, 0), "static");
  EXPECT_EQ(Text(session, session.kernels.hf32, 0), "YES");
  EXPECT_EQ(Text(session, session.kernels.input_shapes, 0), "N/A");
}

TEST(Cann, TheContextIsTheKernelOfAMixedGroup) {
  MadeCapture capture;
  capture.Call(kNode, kLaunch, 1100, 1800, 103);
  capture.Launch(1300, 2, 7, kMixAic, 102, 20, 2);
  capture.Contexts(1400, 103, {0});
  capture.Node(1700, 103, 4, 104);
  capture.Task(2, 7, 0, 200, 300);
  capture.Context(2, 7, 0, 6, 210, 290);
  const Session session = Read(capture);

  ASSERT_EQ(session.tasks.Size(), 2u);
  EXPECT_TRUE(session.tasks.group[0]);
  EXPECT_EQ(session.tasks.kind[0], TaskKind::kOther);
  EXPECT_EQ(Text(session, session.tasks.host_type, 0), "KERNEL_MIX_AIC");
  EXPECT_FALSE(session.tasks.group[1]);
  EXPECT_EQ(session.tasks.context[1], 0);
  EXPECT_EQ(Text(session, session.tasks.device_type, 1), "MIX_AIC");
  ASSERT_EQ(session.kernels.Size(), 1u);
  EXPECT_EQ(session.kernels.task[0], 1);
  EXPECT_EQ(session.kernels.blocks[0], 20);
  EXPECT_EQ(session.kernels.mix_blocks[0], 40);
}

TEST(Cann, AKernelWithoutOperatorHasTheNameOfItsFunction) {
  MadeCapture capture;
  capture.Launch(1300, 2, 7, kAiCore, 102, 24);
  capture.Task(2, 7, 0, 200, 300);
  const Session session = Read(capture);
  ASSERT_EQ(session.kernels.Size(), 1u);
  EXPECT_EQ(Text(session, session.kernels.name, 0), "te_add");
  EXPECT_EQ(Text(session, session.kernels.core, 0), "AI_CORE");
  EXPECT_EQ(session.tasks.call[0], -1);
}

TEST(Cann, TasksOfTheDeviceAloneAreKept) {
  MadeCapture capture;
  capture.Task(2, 7, 4, 200, 300);
  const Session session = Read(capture);
  ASSERT_EQ(session.tasks.Size(), 1u);
  EXPECT_EQ(Text(session, session.tasks.host_type, 0), "");
  EXPECT_EQ(Text(session, session.tasks.device_type, 0), "EVENT_RECORD_SQE");
  EXPECT_EQ(session.tasks.model[0], kNoModel);
  EXPECT_EQ(session.tasks.thread[0], -1);
}

TEST(Cann, AFlipTellsTasksOfOneIdApart) {
  MadeCapture capture;
  capture.Launch(1000, 2, 7, kAiCore, 102);
  capture.Launch(2000, 2, 1 << 16, kFlip);
  capture.Launch(3000, 2, 7, kAiCore, 104);
  capture.Task(2, 7, 0, 60, 70);
  capture.Task(2, 7, 0, 200, 300);
  std::string flip(40, '\0');
  Put(flip, 1, std::uint8_t{14});
  Put(flip, 8, std::uint64_t{120});
  Put(flip, 16, std::uint16_t{2});
  Put(flip, 18, std::uint16_t{1});
  capture.Add("device_0/data/ts_track.data.0.slice_0", flip);
  const Session session = Read(capture);
  ASSERT_EQ(session.kernels.Size(), 2u);
  EXPECT_EQ(session.tasks.batch, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(Text(session, session.kernels.name, 0), "te_add");
  EXPECT_EQ(Text(session, session.kernels.name, 1), "Mix");
}

TEST(Cann, ARecordThatIsRunAgainIsJoinedAgain) {
  MadeCapture capture;
  AddOperator(capture);
  capture.Task(2, 7, 0, 200, 300);
  capture.Task(2, 7, 0, 400, 500);
  const Session session = Read(capture);
  EXPECT_EQ(session.kernels.Size(), 2u);
  EXPECT_EQ(session.tasks.call, (std::vector<std::int32_t>{1, 1}));
}

TEST(Cann, HalvesOfCallsArePutTogether) {
  MadeCapture capture;
  capture.Call(kAcl, 1, 5000, ~std::uint64_t{0});
  capture.Call(kAcl, 1, 9000, ~std::uint64_t{0});
  capture.Call(kAcl, 2, 9500, ~std::uint64_t{0});
  const Session session = Read(capture);
  ASSERT_EQ(session.calls.Size(), 1u);
  EXPECT_EQ(session.calls.start[0], MadeCapture::kBegin + 5000);
  EXPECT_EQ(session.calls.End(0), MadeCapture::kBegin + 9000);
  EXPECT_EQ(session.issues.Lines().size(), 1u);
}

TEST(Cann, CopiesLargerThanATaskAreShared) {
  MadeCapture capture;
  capture.Call(kAcl, 1, 1000, 2000);
  capture.Launch(1500, 2, 7, kCopy);
  capture.Launch(1500, 2, 8, kCopy);
  capture.Launch(1600, 2, 9, kEventRecord);
  std::string copy = MadeCapture::Record(64, 5000, 801, 1500, 18);
  Put(copy, 24, std::uint64_t{1000});
  Put(copy, 32, std::uint64_t{700});
  Put(copy, 40, std::uint16_t{1});
  capture.Add("host/data/aging.compact.memcpy_info.slice_0", copy);
  capture.Task(2, 7, 11, 200, 300);
  capture.Task(2, 8, 11, 300, 400);
  capture.Task(2, 9, 4, 400, 401);
  const Session session = Read(capture);
  EXPECT_EQ(session.tasks.copy_bytes, (std::vector<std::int64_t>{700, 300, 0}));
  EXPECT_EQ(session.tasks.copy_direction, (std::vector<std::int64_t>{1, 1, -1}));
  EXPECT_EQ(session.tasks.call, (std::vector<std::int32_t>{0, 0, 0}));
  EXPECT_TRUE(session.calls.launches[0]);
}

std::string MarkRecord(std::uint64_t id, unsigned segment, std::string_view message) {
  std::string bytes = MadeCapture::Record(256, 20500, 0, 1000, 231);
  Put(bytes, 24, std::uint16_t{1});
  Put(bytes, 26, static_cast<std::uint16_t>(segment));
  Put(bytes, 36, std::uint32_t{42});
  Put(bytes, 40, std::uint32_t{43});
  Put(bytes, 48, std::uint32_t{2});
  Put(bytes, 64, std::uint64_t{1000});
  Put(bytes, 72, std::uint64_t{5000});
  Put(bytes, 80, id);
  Put(bytes, 88, std::uint64_t{200});
  bytes.replace(100, message.size(), message);
  return bytes;
}

std::string DeviceMarkRecord(std::uint64_t count, std::uint64_t id) {
  std::string bytes(40, '\0');
  Put(bytes, 1, std::uint8_t{10});
  Put(bytes, 8, count);
  Put(bytes, 16, id);
  Put(bytes, 32, std::uint16_t{3});
  Put(bytes, 34, std::uint16_t{77});
  Put(bytes, 36, std::uint16_t{12});
  return bytes;
}

TEST(Cann, MarksHaveWholeMessagesAndASideOnTheDevice) {
  MadeCapture capture;
  capture.Add("host/data/aging.additional.msproftx.slice_0",
              MarkRecord(9, 1, "tail") + MarkRecord(9, 0, "head "));
  capture.Add("device_0/data/ts_track.data.0.slice_0",
              DeviceMarkRecord(100, 9) + DeviceMarkRecord(250, 9));
  const Session session = Read(capture);
  ASSERT_EQ(session.marks.Size(), 1u);
  EXPECT_EQ(Text(session, session.marks.message, 0), "head tail");
  EXPECT_EQ(Text(session, session.marks.domain, 0), "default");
  EXPECT_EQ(session.marks.End(0), MadeCapture::kBegin + 5000);
  EXPECT_EQ(session.marks.device_start[0], MadeCapture::kBegin + 2000);
  EXPECT_EQ(session.marks.device_dur[0], 3000);
  EXPECT_EQ(session.marks.device_stream[0], 3);
}

TEST(Cann, TheControlFilesDescribeTheCapture) {
  MadeCapture capture;
  const Session session = Read(capture);
  EXPECT_EQ(session.info.rank, 3);
  EXPECT_EQ(session.info.process, 42);
  EXPECT_EQ(session.info.level, 1);
  EXPECT_EQ(session.info.begin, MadeCapture::kBegin);
  EXPECT_EQ(session.info.end, MadeCapture::kBegin + 10'000'000'000);
  ASSERT_EQ(session.info.devices.size(), 1u);
  const Device& device = session.info.devices[0];
  EXPECT_EQ(device.generation, Generation::kStars);
  EXPECT_EQ(device.cube_cores, 24);
  EXPECT_EQ(device.vector_mhz, 1800);
  EXPECT_EQ(device.cube_events, (std::vector<std::uint32_t>{8, 10}));
}

TEST(Cann, OfTwoCollectionsOfOneTimeTheFirstIsRead) {
  test::TempDir directory;
  MadeCapture first, second;
  AddOperator(first);
  first.Task(2, 7, 0, 200, 300);
  const auto copy = [&](MadeCapture& from, const char* name) {
    std::filesystem::copy(from.Write(), directory / name, std::filesystem::copy_options::recursive);
  };
  copy(second, "PROF_000002_2_B");
  copy(first, "PROF_000001_1_A");
  const Session session = ReadSession(directory.path(), Parts::kCann);
  EXPECT_EQ(session.calls.Size(), 2u);
  ASSERT_EQ(session.issues.Lines().size(), 1u);
  EXPECT_NE(session.issues.Lines()[0].find("PROF_000002_2_B, after PROF_000001_1_A"),
            std::string::npos)
      << session.issues.Lines()[0];
}

TEST(Cann, ACallThatEndsBeforeItBeginsIsLeftOutAndNamed) {
  MadeCapture capture;
  AddOperator(capture);
  capture.Task(2, 7, 0, 200, 300);
  capture.Call(kAcl, 1, 3000, 2900);
  const Session session = Read(capture);
  EXPECT_EQ(session.calls.Size(), 2u);
  const std::vector<std::string> lines = session.issues.Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].find("host call left out"), 0u) << lines[0];
}

TEST(Cann, ADeviceWithoutClocksBeginsWithItsLaunches) {
  MadeCapture capture;
  AddOperator(capture);
  capture.Task(2, 7, 0, 200, 300);
  capture.Write();
  std::filesystem::remove(capture.path() / "device_0/dev_start.log.0");
  const Session session = ReadSession(capture.path(), Parts::kAll);
  EXPECT_EQ(session.calls.Size(), 2u);
  ASSERT_EQ(session.tasks.Size(), 1u);
  EXPECT_EQ(session.tasks.start[0], session.tasks.issued[0]);
  EXPECT_EQ(session.tasks.Exact(0), 2000);
  ASSERT_EQ(session.issues.Lines().size(), 2u);
  EXPECT_TRUE(session.issues.Lines()[0].starts_with("device_0/dev_start.log is missing"));
  EXPECT_NE(session.issues.Lines()[1].find("estimated from 1 launches"), std::string::npos);
}

TEST(Cann, ACaptureOfTheFrameworkAloneIsRead) {
  test::TempDir directory;
  directory.Write("profiler_info_5.json",
                  R"({"start_info": {"syscnt_enable": false},
                      "end_info": {"collectionTimeEnd": 2000, "MonotonicTimeEnd": 500}})");
  std::string collection(24, '\0');
  Put(collection, 8, std::uint64_t{100});
  Put(collection, 16, std::uint64_t{130});
  directory.Write("FRAMEWORK/torch.gc_record", collection);
  const Session session = ReadSession(directory.path(), Parts::kAll);
  EXPECT_EQ(session.info.rank, 5);
  EXPECT_EQ(session.info.prof, "");
  ASSERT_EQ(session.garbage_collections.Size(), 1u);
  EXPECT_EQ(session.garbage_collections.start[0], 1600);
  EXPECT_TRUE(session.tasks.Empty());
}

TEST(Cann, BrokenControlFilesAreAnError) {
  MadeCapture capture;
  capture.Add("host/start_info", "{broken");
  capture.Add("device_0/start_info.0", "}");
  capture.Add("host/end_info", "}");
  capture.Add("device_0/end_info.0", "}");
  EXPECT_THROW(ReadSession(capture.Write(), Parts::kAll), Error);
}

TEST(Cann, ADirectoryWithoutRecordsIsAnError) {
  test::TempDir directory;
  EXPECT_THROW(ReadSession(directory.path(), Parts::kAll), Error);
}

TEST(Cann, RecordsThatCannotBeReadYetAreTold) {
  MadeCapture capture;
  AddOperator(capture);
  capture.Task(2, 7, 0, 200, 300);
  capture.Add("host/data/aging.compact.dpu_track.slice_0", std::string(64, '\0'));
  capture.Add("device_0/data/stars_block.data.0.slice_0", std::string(32, '\0'));
  const std::vector<std::string> lines = Read(capture).issues.Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("cannot be read yet"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("2 times"), std::string::npos) << lines[0];
}

}  // namespace
}  // namespace mpa::raw
