#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SQLite's own pass over what a recipe needs of a database: each table once, in the order of its
rows, and of each column the largest value, so that every cell is taken apart and nothing is kept.

    sqlite_pass.py RECIPE DATABASE...      prints the CPU seconds
"""
import sqlite3
import sys
import time

HOST_OPS = [("PYTORCH_API", "startNs endNs name globalTid connectionId", "type = 50001"),
            ("CONNECTION_IDS", "id connectionId", "")]
MARKED = [("MSTX_EVENTS", "startNs endNs eventType message globalTid connectionId", "")]
KERNELS = [("TASK", "startNs endNs streamId connectionId globalTaskId", ""),
           ("COMPUTE_TASK_INFO", "globalTaskId name opType taskType inputShapes", "")]
TASKS = [("TASK", "startNs endNs streamId connectionId globalTaskId taskType modelId taskId", ""),
         KERNELS[1]]
COLLECTIVES = [("COMMUNICATION_OP",
                "startNs endNs opName opType groupName connectionId opId dataType count", "")]
WAITS = [("COMMUNICATION_TASK_INFO",
          "globalTaskId taskType groupName planeId opId srcRank dstRank size transportType linkType"
          " rdmaType notifyId", "")]
STEPS = [("STEP_TIME", "id startNs endNs", "")]
CALLS = [("CANN_API", "startNs endNs type name globalTid connectionId", "")]
PYTHON = [("PYTORCH_API", "startNs endNs name globalTid connectionId type", "")]
STACKS = [("PYTORCH_CALLCHAINS", "id stack stackDepth", "")]
COUNTERS = [("TASK_PMU_INFO", "globalTaskId name value", "")]
TENSORS = [("COMPUTE_TASK_INFO", "globalTaskId name opType taskType inputShapes inputDataTypes"
            " inputFormats outputShapes outputFormats outputDataTypes", "")]
SUMS = [("CommAnalyzerTime", "hccl_op_name group_name start_timestamp elapse_time transit_time"
         " wait_time synchronization_time idle_time step type", ""),
        ("CommAnalyzerBandwidth", "hccl_op_name group_name transport_type transit_size transit_time"
         " bandwidth large_packet_ratio package_size count total_duration step type", ""),
        ("CommAnalyzerMatrix", "hccl_op_name group_name src_rank dst_rank transport_type"
         " transit_size transit_time bandwidth step type op_name", "")]
MEMORY = [("MEMORY_RECORD", "component timestamp totalReserved totalAllocated", "")]

DEVICE = TASKS + COLLECTIVES + WAITS
LATE = HOST_OPS + DEVICE + STEPS
HOST = PYTHON + [HOST_OPS[1]] + CALLS + MARKED
MODULES = PYTHON + [HOST_OPS[1]] + KERNELS[:1] + TENSORS + COLLECTIVES + MARKED

NEEDS = {
    "slow_rank": LATE,
    "slow_link": LATE,
    "cluster_time_summary": LATE + CALLS,
    "communication_bottleneck": LATE + CALLS,
    "free_analysis": HOST + DEVICE + STEPS,
    "top_operators": HOST + DEVICE + STEPS + STACKS + COUNTERS,
    "export_stacks": HOST + DEVICE + STEPS + STACKS,
    "compute_op_sum": KERNELS,
    "hccl_sum": COLLECTIVES,
    "cann_api_sum": [("CANN_API", "startNs endNs type name", "")],
    "communication_time_sum": SUMS[:2],
    "communication_matrix": SUMS[2:],
    "all": LATE,
    "module_statistic": MODULES,
    "memory_timeline": PYTHON + STACKS + MEMORY +
    [("OP_MEMORY", "name size allocationTime releaseTime", "")],
    "head_overhead": HOST + DEVICE[:3] + STEPS,
    "export_summary": HOST_OPS + [("CANN_API", "startNs endNs type name", "")] +
    KERNELS[:1] + TENSORS + COLLECTIVES + COUNTERS + STEPS,
    "mstx_sum": MARKED + HOST_OPS + STEPS,
}


def merged(needs):
    """One pass for each table: all columns, and the rows of all."""
    tables = {}
    for table, columns, where in needs:
        known, rows = tables.setdefault(table, ({}, where))
        known.update(dict.fromkeys(columns.split()))
        tables[table] = known, where if rows == where else ""
    return tables


def seconds(recipe, databases):
    begin = time.process_time()
    for path in databases:
        connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        for table, (columns, where) in merged(NEEDS[recipe]).items():
            found = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            largest = ", ".join(f"MAX({column})" for column in columns if column in found)
            if largest:
                condition = f" WHERE {where}" if where else ""
                connection.execute(f"SELECT {largest} FROM {table} NOT INDEXED{condition}").fetchall()
        connection.close()
    return time.process_time() - begin


if __name__ == "__main__":
    print(f"{seconds(sys.argv[1], sys.argv[2:]):.4f}")
