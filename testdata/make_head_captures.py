#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the captures of compiled graphs: captures/head_*_ascend_pt and captures/head_*_ascend_pt.sql.

    python3 make_head_captures.py

The runs below are worked out in README.md, "Compiled graphs". Times are microseconds; the text
capture holds them behind an epoch, so that no digit may be lost, the database as nanoseconds.
"""

import json
from pathlib import Path

CAPTURES = Path(__file__).resolve().parent / "captures"
EPOCH = 1_700_000_000_000_000
PID = 4000
CANN_PID, HARDWARE_PID, STEP_TRACE_PID = (PID << 10 | layer << 5 for layer in (7, 13, 17))
NO_MODEL = 4294967295
UPDATE = "UpdateModelParam_static_bin"
LEVELS = {"AscendCL": 20000, "Model": 15000, "Node": 10000, "Hccl": 5500, "Runtime": 5000}


class Run:
    """Events as (thread, name, start, end); what the runtime did with its args."""

    def __init__(self, name):
        self.name = name
        self.host, self.cann, self.device, self.iterations = [], [], [], []

    def thread(self, tid, *events):
        self.host += [(tid, *event) for event in events]

    def runtime(self, tid, *calls):
        """(name, start, end), then args: item, request, connection."""
        self.cann += [(tid, name, start, end, args[0] if args else {})
                      for name, start, end, *args in calls]

    def kernels(self, *kernels):
        """(name, start, end, model or None, connection or None)."""
        self.device += kernels


def two_steady_calls():
    run = Run("head_steady_ascend_pt")
    run.thread(
        100,
        ("ProfilerStep#7", 1000, 4000),
        ("aten::randn", 1050, 1080),
        ("TorchDynamo Cache Lookup", 1200, 1290),
        ("Torch-Compiled Region: 0/0", 1295, 2000),
        ("npu_fx_compiler inference", 1340, 1990),
        ("aten::lift_fresh", 1352, 1354),
        ("aten::lift_fresh", 1360, 1362),
        ("aten::contiguous", 1380, 1440),
        ("aten::clone", 1384, 1438),
        ("aten::empty_like", 1388, 1400),
        ("aten::copy_", 1404, 1436),
        ("TorchNpuGraphBase::Run", 1470, 1930),
        ("AssembleInputs", 1500, 1540),
        ("AssembleOutputs", 1570, 1580),
        ("ExecuteGraph", 1600, 1850),
        ("RefreshAtTensorFromGeTensor", 1860, 1920),
        ("aten::set_", 1865, 1880),
        ("aten::argmax", 2050, 2090),
        ("TorchDynamo Cache Lookup", 2100, 2180),
        ("Torch-Compiled Region: 1/0", 2185, 2760),
        ("npu_fx_compiler inference", 2220, 2750),
        ("TorchNpuGraphBase::Run", 2260, 2720),
        ("AssembleInputs", 2290, 2330),
        ("AssembleOutputs", 2350, 2360),
        ("ExecuteGraph", 2380, 2660),
        ("RefreshAtTensorFromGeTensor", 2665, 2710))
    run.runtime(
        100,
        ("Model@InputCopy", 1610, 1650),
        ("Node@launch", 1630, 1645, {"item_id": UPDATE, "connection_id": 71}),
        ("Node@step_info", 1655, 1660),
        ("Model@ModelExecute", 1665, 1700, {"item_id": "5", "request_id": 12}),
        ("Node@step_info", 1705, 1710),
        ("Model@OutputCopy", 1712, 1713),
        ("Model@InputCopy", 2390, 2430),
        ("Model@ModelExecute", 2440, 2480, {"item_id": "6", "request_id": 3}))
    run.kernels(
        ("Add", 900, 1250, None, None), (UPDATE, 1660, 1666, None, 71),
        ("MatMul_1", 1720, 2300, 5, None), ("Relu_2", 2310, 2390, 5, None),
        ("ArgMax", 2400, 2440, None, None), ("MatMul_3", 2500, 3300, 6, None))
    run.iterations = [(5, 12, 1718, 2395), (6, 3, 2499, 3302)]
    return run


def hard_cases():
    run = Run("head_hard_ascend_pt")
    run.thread(
        200,
        ("TorchDynamo Cache Lookup", 100, 130),
        ("_compile.compile_inner (dynamo_timed)", 140, 50140),
        ("OutputGraph.call_user_compiler (dynamo_timed)", 5140, 45140),
        ("Torch-Compiled Region: 0/0", 50160, 93000),
        ("npu_fx_compiler inference", 50200, 92200),
        ("aten::lift_fresh", 50210, 50212),
        ("TorchNpuGraphBase::Load", 50300, 50700),
        ("TorchNpuGraphBase::Compile", 50800, 82000),
        ("TorchNpuGraphBase::Run", 82100, 92150),
        ("AssembleInputs", 82130, 82180),
        ("AssembleOutputs", 82200, 82215),
        ("LoadGraph", 82300, 91300),
        ("ExecuteGraph", 91320, 91900),
        ("RefreshAtTensorFromGeTensor", 91950, 92100),
        ("aten::item", 92300, 92400),
        ("TorchDynamo Cache Lookup", 92420, 92450),
        ("Torch-Compiled Region: 1/0", 92460, 92990),
        ("npu_fx_compiler inference", 92480, 92980),
        ("aten::contiguous", 92490, 92520),
        ("aten::clone", 92492, 92518),
        ("TorchNpuGraphBase::Run", 92530, 92950),
        ("AssembleInputs", 92550, 92590),
        ("AssembleOutputs", 92610, 92620),
        ("TorchNpuGraphBase::Run", 97000, 97400),
        ("AssembleInputs", 97030, 97070),
        ("ExecuteGraph", 97150, 97330))
    run.thread(
        201,
        ("cache_compiler inference", 95000, 95400),
        ("TorchNpuGraphBase::Run", 95060, 95390),
        ("AssembleInputs", 95080, 95120),
        ("AssembleOutputs", 95140, 95150),
        ("ExecuteGraph", 95160, 95330))
    run.runtime(200, ("Model@InputCopy", 92650, 92690), ("Model@ModelExecute", 92700, 92760))
    run.kernels(
        (UPDATE, 91500, 91506, None, None), ("MatMul_1", 91800, 92250, None, None),
        ("MatMul_2", 92780, 93500, None, None), ("MatMul_3", 95290, 95900, None, None),
        ("MatMul_4", 97300, 97800, None, None))
    return run


def write_text(run):
    def span(name, pid, tid, start, end, **more):
        return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": f"{EPOCH + start}.000",
                "dur": end - start, **more}

    names = {PID: "Python", CANN_PID: "CANN", HARDWARE_PID: "Ascend Hardware",
             STEP_TRACE_PID: "Step Trace"}
    events = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
              for pid, name in names.items() if pid != STEP_TRACE_PID or run.iterations]
    events += [span(name, PID, tid, start, end, cat="cpu_op")
               for tid, name, start, end in run.host]
    for tid, name, start, end, args in run.cann:
        events.append(span(name, CANN_PID, tid, start, end, args={"Thread Id": tid, **args}))
        if "connection_id" in args:
            events.append(flow("s", args["connection_id"], CANN_PID, tid, start))
    for name, start, end, model, connection in run.device:
        args = {"Model Id": NO_MODEL if model is None else model, "Task Type": "AI_CORE"}
        if connection is not None:
            args["connection_id"] = connection
            events.append(flow("f", connection, HARDWARE_PID, 2, start))
        events.append(span(name, HARDWARE_PID, 2, start, end, args=args))
    events += [span(f"Iteration {number}", STEP_TRACE_PID, 70000 + model, start, end)
               for model, number, start, end in run.iterations]
    file = CAPTURES / run.name / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(event) for event in events)
    file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def flow(phase, connection, pid, tid, time):
    return {"ph": phase, "name": f"HostToDevice{connection}", "cat": "HostToDevice",
            "id": str(connection), "pid": pid, "tid": tid, "ts": f"{EPOCH + time}.000"}


def write_database(run):
    ids = {}

    def text(value):
        return ids.setdefault(value, len(ids) + 1)

    def rows(table, lines):
        return f"INSERT INTO {table} VALUES\n" + ",\n".join(lines) + ";\n" if lines else ""

    def nanoseconds(time):
        return (EPOCH + time) * 1000

    host = [f"('{nanoseconds(start)}','{nanoseconds(end)}',{PID << 32 | tid},{text(name)},50001)"
            for tid, name, start, end in run.host]
    steps = [f"({name.split('#')[1]},{nanoseconds(start)},{nanoseconds(end)})"
             for _, name, start, end in run.host if name.startswith("ProfilerStep#")]
    calls, connection = [], 1000
    for tid, name, start, end, args in run.cann:
        connection += 1  # every call has one; most launched nothing
        level, bare = name.split("@")
        calls.append(f"({nanoseconds(start)},{nanoseconds(end)},{LEVELS[level]},{PID << 32 | tid},"
                     f"{args.get('connection_id', connection)},{text(bare)})")
    tasks = [f"({nanoseconds(start)},{nanoseconds(end)},0,{connection or 0},{number},{PID},"
             f"{text('KERNEL_AICORE')},2,{NO_MODEL if model is None else model})"
             for number, (_, start, end, model, connection) in enumerate(run.device)]
    kernels = [f"({text(kernel[0])},{number},{text('AI_CORE')})"
               for number, kernel in enumerate(run.device)]
    first = min(event[2] for event in run.host)
    last = max(event[3] for event in run.host)
    strings = [f"({number},'{value}')" for value, number in ids.items()]
    file = CAPTURES / f"{run.name}.sql"
    file.write_text(
        f"-- {run.name} as a database, see \"Compiled graphs\" in testdata/README.md.\n"
        "BEGIN;\n"
        "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);\n"
        "CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);\n"
        "INSERT INTO ENUM_API_TYPE VALUES (5000,'runtime'), (5500,'hccl'), (10000,'node'),\n"
        "    (15000,'model'), (20000,'acl'), (50001,'op'), (50002,'queue'), (50003,'trace');\n"
        "CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER);\n"
        "CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER,\n"
        "    name INTEGER, sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER,\n"
        "    inputShapes INTEGER, callchainId INTEGER, type INTEGER);\n"
        "CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);\n"
        "CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,\n"
        "    connectionId INTEGER PRIMARY KEY, name INTEGER);\n"
        "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER,\n"
        "    globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER,\n"
        "    streamId INTEGER, taskId INTEGER, modelId INTEGER);\n"
        "CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY,\n"
        "    blockDim INTEGER, mixBlockDim INTEGER, taskType INTEGER, opType INTEGER);\n"
        + rows("SESSION_TIME_INFO",
               [f"({nanoseconds(first - 5000)},{nanoseconds(last + 5000)})"])
        + rows("PYTORCH_API (startNs, endNs, globalTid, name, type)", host)
        + rows("STEP_TIME", steps)
        + rows("CANN_API (startNs, endNs, type, globalTid, connectionId, name)", calls)
        + rows("TASK (startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, "
               "streamId, modelId)", tasks)
        + rows("COMPUTE_TASK_INFO (name, globalTaskId, taskType)", kernels)
        + rows("STRING_IDS", strings)
        + "COMMIT;\n", encoding="utf-8")


if __name__ == "__main__":
    for made in (two_steady_calls(), hard_cases()):
        write_text(made)
        write_database(made)
