// SPDX-License-Identifier: Apache-2.0
// Databases written from planted captures against those that the profiler's own parser wrote. Rows
// are compared in the form in which readers see them: texts and times in place of numbers that
// mean nothing outside of their database.
#include <gtest/gtest.h>

#include "mpa/profiler_output/profiler_output.h"
#include "raw/database_rows.h"
#include "raw/raw_captures.h"
#include "support/files.h"

namespace mpa::profiler_output {
namespace {

namespace fs = std::filesystem;

struct Table {
  std::string name, query;
};

void PrintTo(const Table& table, std::ostream* out) { *out << table.name; }

std::string NameFor(const testing::TestParamInfo<Table>& info) { return info.param.name; }

fs::path ProfilerDatabase(const fs::path& directory) {
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().filename().string().starts_with("ascend_pytorch_profiler")) return entry;
  }
  return {};
}

// The text of a column of string numbers.
std::string Text(const std::string& column) {
  return "(SELECT value FROM STRING_IDS WHERE id = " + column + ")";
}

void ExpectSameRows(const Table& table, const std::string& capture_name) {
  const auto captures = test::SharedRawCaptures(capture_name);
  MPA_SKIP_WITHOUT(captures);
  for (const test::PlantedCapture& capture : captures) {
    const test::TempDir files;
    WriteDatabases(raw::ReadSession(capture.path, raw::Parts::kAll), files.path());
    const auto rows = [&](const fs::path& directory) {
      const bool is_analysis = table.query.find("StepTraceTime") != std::string::npos;
      return test::DatabaseRows(
          is_analysis ? directory / "analysis.db" : ProfilerDatabase(directory), table.query);
    };
    EXPECT_EQ(rows(files.path()), rows(capture.parsed)) << capture.path;
  }
}

// The kernel that ended before the collection began is described in the profiler's database, but
// has no task there: it shows in no join. Copies, which have no size there, are left out, as are
// samples of the memory of the device, whose times are rounded there.
const Table kDeviceTables[] = {
    {"Task", "SELECT startNs, endNs, deviceId, globalPid, " + Text("taskType") +
                 ", contextId, streamId, taskId, modelId FROM TASK ORDER BY 1, 2, 7, 8, 6"},
    {"TaskCall",
     "SELECT t.startNs, t.streamId, t.contextId, c.startNs, c.type FROM TASK t"
     " LEFT JOIN CANN_API c USING (connectionId) ORDER BY 1, 2, 3"},
    {"Kernel", "SELECT startNs, streamId, contextId, blockNum, mixBlockNum, " + Text("c.name") +
                   ", " + Text("c.taskType") + ", " + Text("opType") + ", " + Text("inputShapes") +
                   ", " + Text("inputDataTypes") + ", " + Text("outputFormats") + ", " +
                   Text("attrInfo") + ", " + Text("opState") + ", " + Text("hf32Eligible") +
                   " FROM COMPUTE_TASK_INFO c JOIN TASK USING (globalTaskId) ORDER BY 1, 2, 3"},
    {"Activity", "SELECT deviceId, startNs, endNs, type FROM OVERLAP_ANALYSIS ORDER BY 2, 3, 4"},
    {"StepTimes",
     "SELECT deviceId, step, computing, communication, free, stage, bubble, preparing"
     " FROM StepTraceTime ORDER BY 2"},
    {"OpToTask",
     "SELECT p.startNs, p.globalTid, t.startNs, t.streamId, t.contextId"
     " FROM PYTORCH_API p JOIN CONNECTION_IDS c ON c.id = p.connectionId"
     " JOIN TASK t ON t.connectionId = c.connectionId ORDER BY 1, 3, 4, 5"},
};

const Table kCollectiveTables[] = {
    {"Counter", "SELECT startNs, streamId, contextId, " + Text("name") +
                    ", round(value, 6) FROM TASK_PMU_INFO JOIN TASK USING (globalTaskId)"
                    " ORDER BY 1, 2, 3, 4"},
    {"Collective", "SELECT startNs, endNs, " + Text("opName") + ", " + Text("groupName") + ", " +
                       Text("algType") + ", " + Text("opType") +
                       ", relay, retry, dataType, count, deviceId, rankSize,"
                       " (SELECT a.startNs FROM CANN_API a WHERE a.connectionId = c.connectionId)"
                       " FROM COMMUNICATION_OP c ORDER BY 1"},
    {"Piece", "SELECT startNs, streamId, contextId, " + Text("i.name") + ", " + Text("i.taskType") +
                  ", " + Text("groupName") +
                  ", planeId, notifyId, rdmaType, srcRank, dstRank, transportType, size, dataType,"
                  " linkType, isMaster, round(bandwidth) FROM COMMUNICATION_TASK_INFO i JOIN TASK"
                  " USING (globalTaskId) ORDER BY 1, 2, 3"},
    {"ModuleMemory", "SELECT moduleId, timestampNs, totalReserved FROM NPU_MODULE_MEM ORDER BY 2"},
    {"OpMemory", "SELECT timestampNs, " + Text("operatorName") + ", addr, " + Text("type") +
                     ", size, globalTid, totalAllocate, totalReserve, " + Text("component") +
                     " FROM NPU_OP_MEM ORDER BY 1, 4"},
    {"MemoryRecord", "SELECT timestamp, " + Text("component") +
                         ", totalAllocated, totalReserved, totalActive, streamPtr, deviceId"
                         " FROM MEMORY_RECORD ORDER BY 1, 2"},
    {"Allocation", "SELECT allocationTime, " + Text("name") +
                       ", size, releaseTime, activeReleaseTime, duration, activeDuration,"
                       " allocationTotalAllocated, releaseTotalReserved, streamPtr"
                       " FROM OP_MEMORY ORDER BY 1, 2"},
};

const Table kHostTables[] = {
    {"Call",
     "SELECT startNs, endNs, type, globalTid, " + Text("name") + " FROM CANN_API ORDER BY 1, 2, 3"},
    {"Api", "SELECT startNs, endNs, globalTid, " + Text("name") +
                ", sequenceNumber, fwdThreadId, " + Text("inputDtypes") + ", " +
                Text("inputShapes") + ", type FROM PYTORCH_API ORDER BY 1, 2, 4"},
    {"Queue",
     "SELECT startNs, globalTid, c.connectionId FROM PYTORCH_API p"
     " JOIN CONNECTION_IDS c ON c.id = p.connectionId WHERE type = 50002 ORDER BY 1, 2"},
    {"Step", "SELECT id, startNs, endNs FROM STEP_TIME ORDER BY 1"},
    {"Mark", "SELECT startNs, endNs, eventType, rangeId, category, " + Text("message") +
                 ", globalTid, endGlobalTid, " + Text("domainId") +
                 ", connectionId FROM MSTX_EVENTS ORDER BY 1, 2"},
    {"Stack", "SELECT startNs, stackDepth, " + Text("stack") +
                  " FROM PYTORCH_API p JOIN PYTORCH_CALLCHAINS c ON c.id = p.callchainId"
                  " ORDER BY 1, endNs, 2"},
    {"Collection", "SELECT startNs, endNs, globalTid FROM GC_RECORD ORDER BY 1"},
    {"Device", "SELECT id, n.name, rankId FROM NPU_INFO n JOIN RANK_DEVICE_MAP ON deviceId = id"},
    {"Time", "SELECT startTimeNs, endTimeNs FROM SESSION_TIME_INFO"},
    {"Host", "SELECT hostUid, hostName FROM HOST_INFO"},
    {"Enumeration",
     "SELECT 'module', id, name FROM ENUM_MODULE UNION ALL"
     " SELECT 'link', id, name FROM ENUM_HCCL_LINK_TYPE UNION ALL"
     " SELECT 'rdma', id, name FROM ENUM_HCCL_RDMA_TYPE UNION ALL"
     " SELECT 'api', id, name FROM ENUM_API_TYPE ORDER BY 1, 2"},
};

class DeviceTables : public testing::TestWithParam<Table> {};
class CollectiveTables : public testing::TestWithParam<Table> {};
class HostTables : public testing::TestWithParam<Table> {};

TEST_P(DeviceTables, AreThoseOfTheProfiler) {
  ExpectSameRows(GetParam(), "level0");
  ExpectSameRows(GetParam(), "level1");
}

TEST_P(CollectiveTables, AreThoseOfTheProfiler) { ExpectSameRows(GetParam(), "level1"); }

// Device times of this capture, whose ticks are no whole ns, differ by 1 ns from the profiler's.
TEST_P(HostTables, AreThoseOfTheProfiler) { ExpectSameRows(GetParam(), "stack_mstx_gc"); }

INSTANTIATE_TEST_SUITE_P(Tables, DeviceTables, testing::ValuesIn(kDeviceTables), NameFor);
INSTANTIATE_TEST_SUITE_P(Tables, CollectiveTables, testing::ValuesIn(kCollectiveTables), NameFor);
INSTANTIATE_TEST_SUITE_P(Tables, HostTables, testing::ValuesIn(kHostTables), NameFor);

}  // namespace
}  // namespace mpa::profiler_output
