# SPDX-License-Identifier: Apache-2.0
"""The ranks of captures as Python reads them from their files, without the program."""

import csv
import gzip
import json
import re
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal

# As exporters of 2021 named them.
OLD_KINDS = {"Kernel": "kernel", "Memcpy": "gpu_memcpy", "Memset": "gpu_memset", "Operator": "cpu_op", "Runtime": "cuda_runtime"}
STEP = re.compile(r"ProfilerStep#(\d+)")


@dataclass
class Op:
    start: int
    dur: int
    name: str
    track: object
    stack: str = None
    is_call: bool = False  # of the runtime of a GPU


@dataclass
class Work:
    """A kernel, collective or copy. Its launch: the track and time on the host, or an operator."""
    start: int
    dur: int
    name: str
    launch: object = None
    op: object = None
    op_type: str = None
    core: str = None
    shapes: str = None
    stream: object = None
    group: str = None


@dataclass
class Rank:
    number: object  # or its name
    ops: list = field(default_factory=list)
    kernels: list = field(default_factory=list)
    comms: list = field(default_factory=list)
    copies: list = field(default_factory=list)
    memory: Counter = field(default_factory=Counter)
    allocations: list = field(default_factory=list)  # name, bytes
    steps: list = field(default_factory=list)  # number, start, end on the host
    earlier_end: int = 0

    def complete(self):
        """Steps by their marks; the operator that launched each piece of work is the innermost around the launch."""
        self.steps = sorted(((int(STEP.search(op.name)[1]), op.start, op.start + op.dur)
                             for op in self.ops if STEP.search(op.name)), key=lambda step: step[1])
        tracks = defaultdict(list)
        for op in self.ops:
            tracks[op.track].append(op)
        for track in tracks.values():
            track.sort(key=lambda op: (op.start, -op.dur))
        around = {}
        launches = sorted({work.launch for work in self.kernels + self.comms if work.launch and not work.op}, key=str)
        for name, track in tracks.items():
            open_ops, rest = [], iter(track + [None])
            following = next(rest)
            for time in sorted(time for of, time in launches if of == name):
                while following and following.start <= time:
                    open_ops.append(following)
                    following = next(rest)
                open_ops = [op for op in open_ops if op.start + op.dur >= time]
                fitting = [op for op in open_ops if not op.is_call]
                around[name, time] = fitting[-1] if fitting else None
        for work in self.kernels + self.comms:
            work.op = work.op or around.get(work.launch)
        return self

    def leave_out_earlier(self):
        """What was queued before the capture: without a launch, ahead of the first work of the stream that has one."""
        works = self.kernels + self.comms + self.copies
        firsts = {}
        for work in works:
            if work.launch:
                firsts[work.stream] = min(firsts.get(work.stream, work.start), work.start)
        earlier = {id(work) for work in works if not work.launch
                   and work.start < firsts.get(work.stream, min(firsts.values(), default=0))}
        self.earlier_end = max((work.start + work.dur for work in works if id(work) in earlier), default=0)
        for table in (self.kernels, self.comms, self.copies):
            table[:] = [work for work in table if id(work) not in earlier]
        return self

    def launching_step(self, work):
        """The position of the step that launched it."""
        for i, (_, start, end) in enumerate(self.steps):
            if work.launch and start <= work.launch[1] <= end:
                return i
        return None

    def windows(self):
        """(number, begin, end) of steps on the device: from where the work before is done, at the latest the first kernel
        of its own on the busiest stream, to the begin of the next, or where host and device are done."""
        works = self.kernels + self.comms + self.copies
        if not self.steps:
            return [(None, min(work.start for work in works), max(work.start + work.dur for work in works))]
        streams = Counter()
        for kernel in self.kernels:
            streams[kernel.stream] += kernel.dur
        busiest = max(streams, key=streams.get, default=None)
        first, done, before = {}, defaultdict(int), self.earlier_end
        for table in (self.kernels, self.comms, self.copies):
            for work in table:
                step, end = self.launching_step(work), work.start + work.dur
                if step is not None:
                    done[step] = max(done[step], end)
                elif work.launch and work.launch[1] < self.steps[0][1]:
                    before = max(before, end)
                if step is not None and table is self.kernels and work.stream == busiest:
                    first[step] = min(first.get(step, work.start), work.start)
        begins = []
        for i, (_, start, _) in enumerate(self.steps):
            begins.append(max(start, min(before, first.get(i, before))))
            before = max(before, done[i])
        ends = begins[1:] + [max(self.steps[-1][2], done[len(self.steps) - 1])]
        return [(step[0], begin, end) for step, begin, end in zip(self.steps, begins, ends)]

    def step_of(self, work):
        """The number of the step that launched it, or in whose time on the device it starts."""
        step = self.launching_step(work)
        if step is not None:
            return self.steps[step][0]
        return next((number for number, begin, end in self.windows() if begin <= work.start < end), None)


def ns(us):
    """Whole ns of a number of us, as it is written."""
    return int((Decimal(us) * 1000).to_integral_value())


def recorded(text):
    return None if text in (None, "", "N/A") else text


def read_text(directory):
    output = directory / "ASCEND_PROFILER_OUTPUT"
    rank = Rank(int(re.search(r"rank(\d+)_", directory.name)[1]))
    events = json.loads((output / "trace_view.json").read_text(encoding="utf-8"), parse_float=Decimal)
    names = {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "process_name"}
    threads = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    begins = {event["id"]: (event["tid"], ns(event["ts"])) for event in events
              if event["ph"] == "s" and event["cat"] == "async_npu"}
    launches = {(names[event["pid"]], event["tid"], ns(event["ts"])): begins.get(event["id"]) for event in events
                if event["ph"] == "f" and event["cat"] == "async_npu"}
    for event in events:
        if event["ph"] != "X":
            continue
        start, dur, process = ns(event["ts"]), ns(event["dur"]), names[event["pid"]]
        if event.get("cat") == "cpu_op":
            rank.ops.append(Op(start, dur, event["name"], event["tid"], event["args"].get("Call stack")))
        thread = threads.get((event["pid"], event["tid"]), "")
        if process in ("HCCL", "Communication") and thread.startswith("Group"):
            rank.comms.append(Work(start, dur, event["name"], launches.get((process, event["tid"], start)), group=thread))
        if process == "Ascend Hardware" and event["name"] == "MEMCPY_ASYNC":
            rank.copies.append(Work(start, dur, event["name"], launches.get((process, event["tid"], start))))
    with open(output / "kernel_details.csv", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["Name"].startswith("hcom_"):
                continue
            start, stream_id = ns(row["Start Time(us)"]), int(row.get("Stream ID", 0))
            launch = next((value for (process, tid, time), value in launches.items()
                           if process == "Ascend Hardware" and time == start), None)
            op_type, core, shapes = (recorded(row.get(name)) for name in ("Type", "Accelerator Core", "Input Shapes"))
            rank.kernels.append(Work(start, ns(row["Duration(us)"]), row["Name"], launch, None, op_type, core, shapes, stream_id))
    with open(output / "memory_record.csv", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["Total Allocated(MB)"]:
                bytes_ = int(Decimal(row["Total Allocated(MB)"]) * 1024 * 1024)
                rank.memory[row["Component"]] = max(rank.memory[row["Component"]], bytes_)
    with open(output / "operator_memory.csv", encoding="utf-8") as stream:
        rank.allocations = [(row["Name"], int(Decimal(row["Size(KB)"]) * 1024)) for row in csv.DictReader(stream)]
    return rank.complete()


def read_database(directory):
    (file,) = directory.glob("ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db")
    database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    tables = {name for name, in database.execute("SELECT name FROM sqlite_master")}
    rank = Rank(database.execute("SELECT rankId FROM RANK_DEVICE_MAP").fetchone()[0])
    texts = dict(database.execute("SELECT id, value FROM STRING_IDS"))
    stacks = defaultdict(list)
    for key, stack in database.execute("SELECT id, stack FROM PYTORCH_CALLCHAINS ORDER BY id, stackDepth") \
            if "PYTORCH_CALLCHAINS" in tables else ():
        stacks[key].append(texts[stack])
    meta = dict(database.execute("SELECT name, value FROM META_DATA"))
    groups = json.loads(meta.get("parallel_group_info", "{}"))
    of_connection = defaultdict(list)
    for key, connection in database.execute("SELECT id, connectionId FROM CONNECTION_IDS"):
        of_connection[key].append(connection)
    launches = {}
    for start, end, thread, connection, name, chain in database.execute(
            "SELECT startNs, endNs, globalTid, connectionId, p.name, callchainId FROM PYTORCH_API p"
            " JOIN ENUM_API_TYPE e ON e.id = p.type WHERE e.name = 'op'"):
        op = Op(int(start), int(end) - int(start), texts[name], thread, ";".join(stacks[chain]) or None)
        rank.ops.append(op)
        for one in of_connection.get(connection, ()):
            launches[one] = (thread, op.start)
    of_task, kind_of = {}, {}
    for key, start, end, connection, stream, kind in database.execute(
            "SELECT globalTaskId, startNs, endNs, connectionId, streamId, taskType FROM TASK"):
        kind_of[key] = texts[kind]
        of_task[key] = Work(start, end - start, texts[kind], launches.get(connection), stream=stream)
        if texts[kind] == "MEMCPY_ASYNC":
            rank.copies.append(of_task[key])
    for key, *what in database.execute("SELECT globalTaskId, name, opType, taskType, inputShapes FROM COMPUTE_TASK_INFO"):
        task = of_task[key]
        name, op_type, core, shapes = (recorded(texts[text]) for text in what)
        rank.kernels.append(Work(task.start, task.dur, name, task.launch, None, op_type, core or kind_of[key], shapes, task.stream))
    if "COMMUNICATION_OP" in tables:
        for name, start, end, connection, group in database.execute(
                "SELECT opName, startNs, endNs, connectionId, groupName FROM COMMUNICATION_OP"):
            rank.comms.append(Work(start, end - start, texts[name], launches.get(connection),
                                   group=groups.get(texts[group], {}).get("group_name") or texts[group]))
    if "MEMORY_RECORD" in tables:
        rank.memory = Counter({texts[component]: most for component, most in database.execute(
            "SELECT component, max(totalAllocated) FROM MEMORY_RECORD GROUP BY 1")})
        rank.allocations = [(texts[name], size) for name, size in database.execute("SELECT name, size FROM OP_MEMORY")]
    return rank.complete()


def read_gpu(file):
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        trace = json.load(stream, parse_float=Decimal)
    rank = Rank(trace["distributedInfo"]["rank"] if "distributedInfo" in trace else file.name.split(".")[0])
    rank.allocations = [(None, event["args"]["Bytes"]) for event in trace["traceEvents"]
                        if event["name"] == "[memory]" and event["args"]["Device Type"] == 1 and event["args"]["Bytes"] > 0]
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    for event in events:
        event["cat"] = OLD_KINDS.get(event.get("cat"), event.get("cat"))
    calls = {event["args"]["correlation"]: (event["tid"], ns(event["ts"])) for event in events if event.get("cat") == "cuda_runtime"}
    for event in events:
        start, dur, kind = ns(event["ts"]), ns(event["dur"]), event["cat"]
        if kind in ("cpu_op", "cuda_runtime", "user_annotation"):
            rank.ops.append(Op(start, dur, event["name"], event["tid"], event["args"].get("Call stack"), kind == "cuda_runtime"))
        if kind in ("kernel", "gpu_memcpy", "gpu_memset"):
            work = Work(start, dur, event["name"], calls.get(event["args"]["correlation"]), stream=event["tid"],
                        group=event["args"].get("Process Group Description"))
            into = rank.copies if kind != "kernel" else rank.comms if event["name"].startswith("nccl") else rank.kernels
            into.append(work)
    return rank.complete().leave_out_earlier()


def read_truth(file):
    """What a raw capture was made of."""
    truth = json.loads(file.read_text(encoding="utf-8"))
    (metadata,) = file.parent.glob(f"{truth['capture']}/profiler_metadata.json")
    groups = json.loads(metadata.read_text(encoding="utf-8")).get("parallel_group_info", {})
    rank = Rank(truth["rank"])
    rank.ops = [Op(op["start_ns"], op["end_ns"] - op["start_ns"], op["name"], op["tid"], op.get("stack")) for op in truth["host_ops"]]

    def work(name, of, *more, group=None):
        op = None if of["op"] is None else rank.ops[of["op"]]
        return Work(of["start_ns"], of["end_ns"] - of["start_ns"], name, op and (op.track, op.start), op, *more, group=group)

    for kernel in truth["kernels"]:
        tensors = [",".join(map(str, shape)) for is_output, _, _, shape in truth["tensor_sets"][kernel["tensors"]] if not is_output] \
            if kernel.get("tensors") is not None else []
        if not kernel.get("before_start"):
            rank.kernels.append(work(kernel["name"], kernel, kernel["type"], kernel["core"],
                                     f'"{";".join(tensors)}"' if tensors else None, kernel["stream"]))
    for collective in truth["collectives"]:
        rank.comms.append(work(collective["type"], collective, group=groups[collective["group"]]["group_name"]))
    rank.copies = [work(task["host_task_type"], task) for task in truth["tasks"] if task["host_task_type"] == "MEMCPY_ASYNC"]
    for record in truth["memory"]:
        if not record["workspace"]:
            rank.memory["PTA"] = max(rank.memory["PTA"], record["allocated"])
    rank.allocations = None  # it does not say whose the workspaces are
    return rank.complete()
