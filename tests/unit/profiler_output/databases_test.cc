// SPDX-License-Identifier: Apache-2.0
// The databases written from a session made by hand. Texts are found by joins, as readers do.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "mpa/base/error.h"
#include "mpa/profiler_output/profiler_output.h"
#include "raw/database_rows.h"
#include "support/files.h"

namespace mpa::profiler_output {
namespace {

using test::DatabaseRows;
using Rows = std::vector<std::string>;

constexpr TimeNs kDatabasesBegin = 1'772'000'000'000'000'000;

// A capture of one rank: work of one queue entry, a kernel in it, a copy beside it.
class Databases : public testing::Test {
 protected:
  Databases() {
    session.info.rank = 3;
    session.info.process = 100;
    session.info.prof = "PROF_1";
    session.info.path = files.path();
    session.info.begin = kDatabasesBegin;
    raw::Device& device = session.info.devices.emplace_back();
    device.id = 2;
    device.platform = 5;
  }

  StringId Text(std::string_view text) { return session.strings.Intern(text); }

  Rows Query(const std::string& sql) {
    WriteDatabases(session, files.path());
    return DatabaseRows(files / "ascend_pytorch_profiler_3.db", sql);
  }

  std::int32_t AddCall(raw::Level level, const char* name, TimeNs start, const char* item = "") {
    session.calls.Append({{.start = start, .dur = 10, .name = Text(name), .item = Text(item)},
                          {.level = level, .thread = 7}});
    return static_cast<std::int32_t>(session.calls.Size()) - 1;
  }

  std::int32_t AddTask(const char* host, const char* device, TimeNs start, std::int32_t call) {
    session.tasks.Append({{.start = start, .task_id = 12, .stream = 11},
                          {.end = start + 5,
                           .host_type = Text(host),
                           .device_type = Text(device),
                           .device = 2,
                           .call = call}});
    return static_cast<std::int32_t>(session.tasks.Size()) - 1;
  }

  std::int32_t AddOp(const char* name, TimeNs start) {
    session.ops.Append(
        {{.start = start, .dur = 50, .name = Text(name)}, {.process = 100, .thread = 6}});
    return static_cast<std::int32_t>(session.ops.Size()) - 1;
  }

  test::TempDir files;
  raw::Session session;
};

TEST_F(Databases, AreNamedByTheRankWhereItIsKnown) {
  WriteDatabases(session, files.path());
  session.info.rank = -1;
  WriteDatabases(session, files.path());
  EXPECT_EQ(files.Names(),
            (Rows{"analysis.db", "ascend_pytorch_profiler.db", "ascend_pytorch_profiler_3.db"}));
}

TEST_F(Databases, ThatCannotBeWrittenAreNamed) {
  try {
    WriteDatabases(session, files / "missing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutput);
    EXPECT_NE(std::string(error.what()).find("missing/ascend_pytorch_profiler_3.db"),
              std::string::npos);
  }
}

TEST_F(Databases, LeaveOutTablesWithoutRows) {
  EXPECT_EQ(Query("SELECT name FROM sqlite_master WHERE name IN ('TASK', 'CANN_API', 'NPU_MEM',"
                  " 'PYTORCH_API', 'MSTX_EVENTS', 'COMMUNICATION_OP', 'STEP_TIME')"),
            Rows());
}

TEST_F(Databases, NameTheDeviceAndTheRank) {
  Query("SELECT 1 FROM META_DATA");
  const auto path = files / "ascend_pytorch_profiler_3.db";
  EXPECT_EQ(DatabaseRows(path, "SELECT id, name FROM NPU_INFO"), Rows{"2|Ascend910B"});
  EXPECT_EQ(DatabaseRows(path, "SELECT rankId, deviceId FROM RANK_DEVICE_MAP"), Rows{"3|2"});
  EXPECT_EQ(DatabaseRows(path, "SELECT value FROM META_DATA WHERE name = 'SCHEMA_VERSION'"),
            Rows{"1.2.0"});
}

TEST_F(Databases, KeepTheMetadataOfTheFramework) {
  files.Write("profiler_metadata.json", R"({"parallel_group_info": {"a": {"group_name": "tp"}}})");
  EXPECT_EQ(Query("SELECT json_extract(value, '$.a.group_name') FROM META_DATA"
                  " WHERE name = 'parallel_group_info'"),
            Rows{"tp"});
}

TEST_F(Databases, LoseOnlyTheMetadataWhenItIsBroken) {
  files.Write("profiler_metadata.json", "{broken");
  EXPECT_EQ(Query("SELECT count(*) FROM META_DATA"), Rows{"4"});
}

TEST_F(Databases, EndACollectionThatWasNotEndedWithItsLastEvent) {
  AddTask("KERNEL_AIVEC", "AIV_SQE", kDatabasesBegin + 1000, -1);
  EXPECT_EQ(Query("SELECT endTimeNs - startTimeNs FROM SESSION_TIME_INFO"), Rows{"1005"});
}

TEST_F(Databases, NameCallsByLevelAndPiecesOfCollectivesByTheirItem) {
  AddCall(raw::Level::kAcl, "aclnnAdd", kDatabasesBegin);
  AddCall(raw::Level::kCommunication, "master", kDatabasesBegin + 20, "Notify_Wait");
  EXPECT_EQ(Query("SELECT type, value, globalTid FROM CANN_API JOIN STRING_IDS ON id = name"
                  " ORDER BY startNs"),
            (Rows{"20000|aclnnAdd|429496729607", "5500|Notify_Wait|429496729607"}));
}

TEST_F(Databases, ShowATaskAsTheHostCallsItButAGroupAsItsDevicePart) {
  AddTask("KERNEL_AIVEC", "AIV_SQE", kDatabasesBegin, -1);
  AddTask("FFTS_PLUS", "MIX_AIC", kDatabasesBegin + 10, -1);
  AddTask("", "SDMA_SQE", kDatabasesBegin + 20, -1);
  EXPECT_EQ(Query("SELECT value FROM TASK JOIN STRING_IDS ON id = taskType ORDER BY startNs"),
            (Rows{"KERNEL_AIVEC", "MIX_AIC", "SDMA_SQE"}));
}

TEST_F(Databases, ConnectATaskWithItsCall) {
  const auto call = AddCall(raw::Level::kAcl, "aclrtMemcpyAsync", kDatabasesBegin);
  AddTask("MEMCPY_ASYNC", "SDMA_SQE", kDatabasesBegin + 100, call);
  AddTask("PROFILING_ENABLE", "PLACE_HOLDER_SQE", kDatabasesBegin + 200, -1);
  AddTask("PROFILING_DISABLE", "PLACE_HOLDER_SQE", kDatabasesBegin + 300, -1);
  AddTask("", "SDMA_SQE", kDatabasesBegin + 400, -1);
  // Tasks outside of any call share a number; what the host does not know has none.
  EXPECT_EQ(Query("SELECT (SELECT value FROM STRING_IDS JOIN CANN_API ON name = id"
                  " WHERE connectionId = t.connectionId),"
                  " (SELECT count(*) FROM TASK o WHERE o.connectionId = t.connectionId),"
                  " connectionId = -1 FROM TASK t ORDER BY startNs"),
            (Rows{"aclrtMemcpyAsync|1|0", "NULL|2|0", "NULL|2|0", "NULL|1|1"}));
}

// Readers take 0 for no connection.
TEST_F(Databases, NumberConnectionsFromOne) {
  const auto call = AddCall(raw::Level::kAcl, "aclrtMemcpyAsync", kDatabasesBegin);
  AddTask("MEMCPY_ASYNC", "SDMA_SQE", kDatabasesBegin + 100, call);
  EXPECT_EQ(Query("SELECT connectionId FROM TASK JOIN CANN_API USING (connectionId)"), Rows{"1"});
}

TEST_F(Databases, DescribeKernels) {
  const auto task = AddTask("KERNEL_AICORE", "AI_CORE", kDatabasesBegin, -1);
  session.kernels.Append({{.name = Text("MatMul_1"),
                           .op_type = Text("MatMulV2"),
                           .core = Text("AI_CORE"),
                           .state = Text("dynamic"),
                           .input_shapes = Text("\"32,3;16\""),
                           .input_types = Text("DT_BF16;FLOAT"),
                           .hf32 = Text("NO"),
                           .blocks = 24},
                          {.task = task, .attributes = Text("N/A"), .counters = 0}});
  session.counters.names = {"aicore_time", "aic_total_cycles", "aiv_time"};
  session.counters.values = {1500.5, 2701, std::nan("")};
  Query("SELECT 1 FROM TASK");
  const auto path = files / "ascend_pytorch_profiler_3.db";
  EXPECT_EQ(
      DatabaseRows(path,
                   "SELECT startNs, n.value, s.value, a.value, g.value, blockNum"
                   " FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)"
                   " JOIN STRING_IDS n ON n.id = name JOIN STRING_IDS s ON s.id = inputShapes"
                   " JOIN STRING_IDS a ON a.id = attrInfo JOIN STRING_IDS g ON g.id = gridDim"),
      Rows{"1772000000000000000|MatMul_1|\"32,3;16\"||N/A|24"});
  EXPECT_EQ(DatabaseRows(path,
                         "SELECT s.value, p.value FROM TASK_PMU_INFO p"
                         " JOIN STRING_IDS s ON s.id = name ORDER BY p.rowid"),
            (Rows{"aic_total_time|1500.5", "aic_total_cycles|2701"}));
}

TEST_F(Databases, KeepSchedulersOfCollectivesApart) {
  const auto task = AddTask("KERNEL_AICPU", "AI_CPU", kDatabasesBegin, -1);
  session.kernels.Append({{.name = Text("hcom_allReduce_AicpuKernel")}, {.task = task}});
  EXPECT_EQ(Query("SELECT value FROM COMMUNICATION_SCHEDULE_TASK_INFO"
                  " JOIN STRING_IDS ON id = name"),
            Rows{"hcom_allReduce_AicpuKernel"});
}

TEST_F(Databases, ListCollectivesAndTheirPieces) {
  const auto call = AddCall(raw::Level::kNode, "launch", kDatabasesBegin);
  const auto task = AddTask("MEMCPY_ASYNC", "SDMA_SQE", kDatabasesBegin + 100, call);
  session.collectives.Append({.start = kDatabasesBegin + 100,
                              .end = kDatabasesBegin + 105,
                              .name = Text("hcom_allReduce__586_0_1"),
                              .op_type = Text("hcom_allReduce_"),
                              .group = Text("9586"),
                              .group_name = Text("tp"),
                              .algorithm = Text("MESH-RING"),
                              .data_type = 11,
                              .count = 64,
                              .rank_size = 4,
                              .device = 2,
                              .call = call});
  session.parts.Append({.task = task,
                        .collective = 0,
                        .name = Text("Memcpy"),
                        .plane = 1,
                        .master = true,
                        .bytes = 2048,
                        .transport = 0,
                        .data_type = 11,
                        .link = 1,
                        .rdma = 0xFFFFFFFF,
                        .bandwidth = 4e11});
  Query("SELECT 1 FROM TASK");
  const auto path = files / "ascend_pytorch_profiler_3.db";
  EXPECT_EQ(
      DatabaseRows(path,
                   "SELECT n.value, g.value, dataType, count, rankSize, deviceId"
                   " FROM COMMUNICATION_OP JOIN STRING_IDS n ON n.id = opName"
                   " JOIN STRING_IDS g ON g.id = groupName JOIN CANN_API USING (connectionId)"),
      Rows{"hcom_allReduce__586_0_1|tp|11|64|4|2"});
  // 65535 is the profiler's number for a kind that was not given.
  EXPECT_EQ(
      DatabaseRows(path,
                   "SELECT s.value, planeId, rdmaType, transportType, linkType, size,"
                   " isMaster, bandwidth, notifyId, dstRank, opId FROM COMMUNICATION_TASK_INFO"
                   " JOIN TASK USING (globalTaskId)"
                   " JOIN STRING_IDS s ON s.id = COMMUNICATION_TASK_INFO.taskType"),
      Rows{"Memcpy|1|65535|0|1|2048|1|400000000000|4294967295|4294967295|0"});
}

// One operator that hands work to the queue; the work launches a kernel, copies, and sets a mark.
class QueuedWork : public Databases {
 protected:
  QueuedWork() {
    const auto op = AddOp("aten::add", kDatabasesBegin + 1000);
    session.queue.Append({.start = kDatabasesBegin + 1010,
                          .dur = 10,
                          .correlation = 42,
                          .name = Text("aclnnAdd"),
                          .process = 100,
                          .thread = 6,
                          .op = op,
                          .partner = 1});
    session.queue.Append({.start = kDatabasesBegin + 2000,
                          .dur = 100,
                          .dequeue = true,
                          .correlation = 42,
                          .name = Text("aclnnAdd"),
                          .process = 100,
                          .thread = 7,
                          .partner = 0});
    const auto launch = AddCall(raw::Level::kNode, "launch", kDatabasesBegin + 2010);
    const auto copy = AddCall(raw::Level::kAcl, "aclrtMemcpyAsync", kDatabasesBegin + 2040);
    kernel = AddTask("KERNEL_AIVEC", "AIV_SQE", kDatabasesBegin + 3000, launch);
    const auto second = AddTask("KERNEL_AIVEC", "AIV_SQE", kDatabasesBegin + 3010, launch);
    const auto copied = AddTask("MEMCPY_ASYNC", "SDMA_SQE", kDatabasesBegin + 3100, copy);
    for (const auto task : {kernel, second, copied}) {
      session.links.Append({.op = op, .correlation = 42, .task = task});
    }
  }

  std::int32_t kernel = -1;
};

// The way a reader goes from operators to device tasks.
constexpr char kOpsToTasks[] =
    "SELECT s.value, t.startNs FROM PYTORCH_API p JOIN CONNECTION_IDS c ON c.id = p.connectionId"
    " JOIN TASK t ON t.connectionId = c.connectionId JOIN STRING_IDS s ON s.id = p.name"
    " ORDER BY t.startNs";

TEST_F(QueuedWork, LeadsFromTheOperatorToWhatItLaunchedButNotToCopies) {
  EXPECT_EQ(Query(kOpsToTasks),
            (Rows{"aten::add|1772000000000003000", "aten::add|1772000000000003010"}));
}

TEST_F(QueuedWork, HasBothSidesOfTheQueueUnderOneConnection) {
  EXPECT_EQ(Query("SELECT s.value, startNs, endNs, globalTid, c.connectionId - (5 << 28)"
                  " FROM PYTORCH_API p JOIN CONNECTION_IDS c ON c.id = p.connectionId"
                  " JOIN STRING_IDS s ON s.id = p.name WHERE type = 50002 ORDER BY startNs"),
            (Rows{"Enqueue@aclnnAdd|1772000000000001010|1772000000000001020|429496729606|42",
                  "Dequeue@aclnnAdd|1772000000000002000|1772000000000002100|429496729607|42"}));
}

TEST_F(QueuedWork, NamesAnEnqueueWithoutItsOtherSide) {
  session.queue.Append({.start = kDatabasesBegin + 9000, .dur = 1, .correlation = 43});
  EXPECT_EQ(Query("SELECT s.value FROM PYTORCH_API p JOIN STRING_IDS s ON s.id = p.name"
                  " WHERE startNs = '1772000000000009000'"),
            Rows{"Enqueue"});
}

TEST_F(QueuedWork, ConnectsForwardWithBackward) {
  const auto backward = AddOp("AddBackward0", kDatabasesBegin + 5000);
  session.backward.Append({{}, {.sequence = 1, .forward = 0, .backward = backward}});
  EXPECT_EQ(Query("SELECT f.startNs, b.startNs FROM CONNECTION_IDS c JOIN CONNECTION_IDS d"
                  " ON c.connectionId = d.connectionId JOIN PYTORCH_API f ON f.connectionId = c.id"
                  " JOIN PYTORCH_API b ON b.connectionId = d.id"
                  " WHERE f.type = 50001 AND b.type = 50001 AND f.startNs < b.startNs"),
            Rows{"1772000000000001000|1772000000000005000"});
}

TEST_F(QueuedWork, LeadsFromAnOperatorThatMarksToTheMark) {
  session.ops.name[0] = Text("mstx_mark_op");
  session.marks.Append({{.start = kDatabasesBegin + 2060,
                         .dur = 0,
                         .message = Text("here"),
                         .domain = Text("default"),
                         .device_start = kDatabasesBegin + 4000,
                         .device_dur = 0},
                        {.mark_id = 8,
                         .process = 100,
                         .thread = 7,
                         .device = 2,
                         .device_stream = 11,
                         .device_task = 13}});
  // On another thread at the same time: not set by this work.
  session.marks.Append({{.start = kDatabasesBegin + 2060,
                         .dur = 0,
                         .message = Text("elsewhere"),
                         .domain = Text("default")},
                        {.mark_id = 9, .process = 100, .thread = 8}});
  const std::string marks_of_ops =
      "SELECT m.value, e.connectionId FROM PYTORCH_API p"
      " JOIN CONNECTION_IDS c ON c.id = p.connectionId"
      " JOIN MSTX_EVENTS e ON e.connectionId = c.connectionId"
      " JOIN STRING_IDS m ON m.id = e.message";
  EXPECT_EQ(Query(marks_of_ops), Rows{"here|4000000009"});
  EXPECT_EQ(DatabaseRows(files / "ascend_pytorch_profiler_3.db",
                         "SELECT startNs, value, streamId, taskId FROM TASK"
                         " JOIN STRING_IDS ON id = taskType WHERE connectionId = 4000000009"),
            Rows{"1772000000000004000|MsTx|11|13"});
}

TEST_F(QueuedWork, PutsThePartsOfAnOperatorsTextsOnLines) {
  session.ops.types.Stored()[0] = Text("float;Scalar");
  session.ops.stack.Stored()[0] = Text("a.py(1): f;b.py(2): g");
  EXPECT_EQ(Query("SELECT value, inputShapes FROM PYTORCH_API JOIN STRING_IDS ON id = inputDtypes"),
            Rows{"float;\r\nScalar|NULL"});
  EXPECT_EQ(DatabaseRows(files / "ascend_pytorch_profiler_3.db",
                         "SELECT value, stackDepth FROM PYTORCH_API"
                         " JOIN PYTORCH_CALLCHAINS c ON c.id = callchainId"
                         " JOIN STRING_IDS s ON s.id = stack ORDER BY stackDepth"),
            (Rows{"a.py(1): f|0", "b.py(2): g|1"}));
}

TEST_F(QueuedWork, WritesTimesOfTheFrameworkAsText) {
  EXPECT_EQ(Query("SELECT DISTINCT typeof(startNs), typeof(endNs) FROM PYTORCH_API"),
            Rows{"text|text"});
}

TEST_F(Databases, HoldOnlyTextThatReadersCanDecode) {
  AddOp("caf\xe9", kDatabasesBegin);
  EXPECT_EQ(Query("SELECT value FROM STRING_IDS JOIN PYTORCH_API ON id = name"),
            Rows{"caf\xEF\xBF\xBD"});
}

TEST_F(Databases, TakeAnyNumber) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  session.queue.Append({.correlation = kMax, .process = -1, .thread = kMax, .partner = 1});
  session.queue.Append(
      {.dequeue = true, .correlation = kMax, .process = -1, .thread = kMax, .partner = 0});
  const auto op = AddOp("op", 0);
  session.backward.Append({{}, {.forward = op, .backward = op}});
  session.marks.Append({{}, {.mark_id = kMax, .thread = kMax}});
  session.op_memory.Append({.bytes = std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(Query("SELECT count(*) FROM PYTORCH_API"), Rows{"3"});
}

TEST_F(Databases, ShowCollectionsOnTheMainThread) {
  session.garbage_collections.Append({.start = kDatabasesBegin, .dur = 9, .process = 100});
  EXPECT_EQ(Query("SELECT globalTid FROM GC_RECORD"), Rows{"429496729700"});
}

TEST_F(Databases, TellWhatOperatorsOfCannTookAndGaveBack) {
  session.op_memory.Append({.time = kDatabasesBegin,
                            .name = Text("Add"),
                            .address = 4096,
                            .bytes = 512,
                            .allocated = 512,
                            .reserved = 1024,
                            .thread = 7,
                            .device = 2});
  session.op_memory.Append({.time = kDatabasesBegin + 1,
                            .name = Text("Add"),
                            .address = 4096,
                            .bytes = -512,
                            .reserved = 1024,
                            .thread = 7,
                            .device = 2});
  EXPECT_EQ(Query("SELECT n.value, addr, t.value, size, totalAllocate, c.value FROM NPU_OP_MEM"
                  " JOIN STRING_IDS n ON n.id = operatorName JOIN STRING_IDS t ON t.id = type"
                  " JOIN STRING_IDS c ON c.id = component ORDER BY timestampNs"),
            (Rows{"Add|4096|allocate|512|512|GE", "Add|4096|release|512|0|GE"}));
}

// A step with every number of its own: kernels, a collective and a receive.
TEST_F(Databases, AnalyseWhatTheDeviceDidInAStep) {
  const auto at = [](TimeNs us) { return kDatabasesBegin + us * 1000; };
  session.steps.Append({.id = 4, .start = at(20), .end = at(120)});
  const auto call = AddCall(raw::Level::kNode, "launch", at(30));
  for (const auto& [start, end] : {std::pair{100, 130}, {125, 140}, {190, 199}}) {
    const auto task = AddTask("KERNEL_AICORE", "AI_CORE", at(start), call);
    session.tasks.end.back() = at(end);
    session.kernels.Append({{}, {.task = task}});
  }
  for (const auto& [name, start, end] :
       {std::tuple{"hcom_allReduce__1_0_1", 135, 165}, {"hcom_receive__1_0_1", 165, 177}}) {
    session.collectives.Append({.start = at(start),
                                .end = at(end),
                                .dur = 1000.0 * (end - start),
                                .name = Text(name),
                                .device = 2});
  }
  WriteDatabases(session, files.path());
  EXPECT_EQ(DatabaseRows(files / "analysis.db",
                         "SELECT deviceId, step, computing, communication,"
                         " communication_not_overlapped, overlapped, free, stage, bubble,"
                         " communication_not_overlapped_and_exclude_receive, preparing"
                         " FROM StepTraceTime"),
            Rows{"2|4|49|42|37|5|13|87|12|25|80"});
}

// One collective that waits, copies twice and waits again.
TEST_F(Databases, AnalyseWhatACollectiveMoved) {
  constexpr TimeNs kMicro = 1000;
  session.collectives.Append({.start = 1000 * kMicro,
                              .end = 2030 * kMicro,
                              .dur = 1030.0 * kMicro,
                              .name = Text("hcom_allReduce__017_0_1"),
                              .group = Text("17"),
                              .device = 2});
  const auto add_part = [&](const char* name, TimeNs start, TimeNs dur, std::int64_t bytes) {
    const auto task = AddTask("MEMCPY_ASYNC", "SDMA_SQE", start * kMicro, -1);
    session.tasks.end.back() = (start + dur) * kMicro;
    session.tasks.dur.back() = dur * kMicro;
    session.parts.Append({.task = task,
                          .collective = 0,
                          .name = Text(name),
                          .master = true,
                          .local_rank = 3,
                          .remote_rank = 4,
                          .bytes = bytes,
                          .transport = bytes > 0 ? 0 : 2,
                          .link = 1});
  };
  add_part("Notify_Wait", 1000, 100, 0);
  add_part("Memcpy", 1200, 250, 64'000'000);
  add_part("Memcpy", 1450, 150, 16'000'000);
  add_part("Notify_Wait", 1700, 330, 0);
  WriteDatabases(session, files.path());
  const auto path = files / "analysis.db";
  EXPECT_EQ(DatabaseRows(path,
                         "SELECT hccl_op_name, group_name, step, type, start_timestamp,"
                         " elapse_time, transit_time, wait_time, synchronization_time,"
                         " round(idle_time, 9) FROM CommAnalyzerTime"),
            Rows{"hcom_allReduce__017_0_1|17|step|collective|1000|1.03|0.4|0.43|0.1|0.2"});
  EXPECT_EQ(DatabaseRows(path,
                         "SELECT hccl_op_name, group_name, step, type, transport_type,"
                         " transit_size, transit_time, bandwidth, large_packet_ratio, package_size,"
                         " count, total_duration FROM CommAnalyzerBandwidth ORDER BY rowid"),
            (Rows{"hcom_allReduce__017_0_1|17|step|collective|HCCS|80|0.4|200|0.5|16|1|0.15",
                  "hcom_allReduce__017_0_1|17|step|collective|HCCS|80|0.4|200|0.5|64|1|0.25",
                  "hcom_allReduce__017_0_1|17|step|collective|SDMA|80|0.4|200|0|0|0|0"}));
  EXPECT_EQ(DatabaseRows(path,
                         "SELECT group_name, step, type, transport_type, src_rank, dst_rank,"
                         " transit_size, transit_time, bandwidth, op_name FROM CommAnalyzerMatrix"
                         " WHERE hccl_op_name = 'allreduce-top1'"),
            Rows{"17|step|collective|HCCS|3|4|80|0.4|200|hcom_allReduce__017_0_1"});
}

TEST_F(Databases, AnalyseNothingWithoutADevice) {
  session.info.prof.clear();
  session.info.devices.clear();
  WriteDatabases(session, files.path());
  EXPECT_EQ(files.Names(), Rows{"ascend_pytorch_profiler_3.db"});
  EXPECT_EQ(DatabaseRows(files / "ascend_pytorch_profiler_3.db",
                         "SELECT rankId, deviceId FROM RANK_DEVICE_MAP"),
            Rows{"3|-1"});
}

}  // namespace
}  // namespace mpa::profiler_output
