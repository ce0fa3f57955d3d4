// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpa::test {

/// The tables of ascend_pytorch_profiler.db, with the columns that exporters write.
inline constexpr const char* kStrings =
    "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);";
inline constexpr const char* kTasks =
    "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER,"
    " globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId"
    " INTEGER,"
    " taskId INTEGER, modelId INTEGER);";
inline constexpr const char* kComputeTasks =
    "CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim"
    " INTEGER,"
    " mixBlockDim INTEGER, taskType INTEGER, opType INTEGER, inputShapes INTEGER);";
inline constexpr const char* kCounters =
    "CREATE TABLE TASK_PMU_INFO (globalTaskId INTEGER, name INTEGER, value NUMERIC);";
inline constexpr const char* kCollectives =
    "CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId"
    " INTEGER,"
    " groupName INTEGER, opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER,"
    " algType INTEGER, count NUMERIC, opType INTEGER);";
inline constexpr const char* kCommTasks =
    "CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER,"
    " planeId INTEGER, groupName INTEGER, opId INTEGER);";
inline constexpr const char* kOperators =
    "CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER,"
    " name INTEGER, sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes"
    " INTEGER,"
    " callchainId INTEGER, type INTEGER);"
    "CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);"
    "CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);"
    "INSERT INTO ENUM_API_TYPE VALUES (50001, 'op'), (50002, 'queue'), (50003, 'trace');";

}  // namespace mpa::test
