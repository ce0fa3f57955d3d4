# SPDX-License-Identifier: Apache-2.0
"""A small text capture of a training loop, and beside it the trace of the operating system's scheduler.

Each step has OPERATORS operators, one after the other on the main thread; each launches a kernel. In the middle of the step the
main thread stands still for `stall` us, so that the device waits. What it did then is what is planted: see STALLS."""

import json
import random
from pathlib import Path

OUTPUT = "ASCEND_PROFILER_OUTPUT"
EPOCH = 1_700_000_000_000_000  # us
MONOTONIC = 5_000_000_000  # us: what the monotonic clock showed then
PROCESS, MAIN, HELPER, HOG = 1000, 1000, 1003, 4711
CORE, OTHER_CORE = 2, 5
STEPS, OPERATORS = 5, 40
PERIOD, KERNEL, STALL = 150, 100, 5000  # us
STEP = OPERATORS * PERIOD + STALL + 2000

STALLS = {
    "preempted": "another process gets the core",
    "woken": "the thread sleeps for a moment, and another process has the core when it is woken",
    "own": "another thread of the process gets the core",
    "interrupts": "the core handles interrupts of the device",
    "sleeping": "the thread sleeps until the helper wakes it: nothing of the machine is to blame",
    "running": "the thread runs all the time",
}


def write_capture(directory, rank=0, offset=0):
    """Writes the capture of a rank; returns the times at which the main thread stands still, in us of the epoch."""
    events, rows, stalls = [], [], []
    begin = EPOCH + offset
    device = begin
    number = 0
    events.append({"ph": "M", "name": "process_name", "pid": PROCESS, "tid": 0, "args": {"name": "Python"}})
    events.append({"ph": "M", "name": "process_name", "pid": 2000, "tid": 0, "args": {"name": "Ascend Hardware"}})
    events.append({"ph": "M", "name": "process_name", "pid": 2300, "tid": 0, "args": {"name": "CANN"}})
    for step in range(STEPS):
        start = begin + step * STEP
        events.append(span(f"ProfilerStep#{step}", start, STEP - 100, PROCESS, MAIN, cat="cpu_op"))
        now = start + 50
        events.append(span("other::work", start + 100, 20, PROCESS, HELPER, cat="cpu_op"))
        for i in range(OPERATORS):
            if i == OPERATORS // 2:
                stalls.append((now, now + STALL))
                now += STALL
            number += 1
            events.append(span("aten::mul", now, 100, PROCESS, MAIN, cat="cpu_op"))
            events.append(span("Node@launch", now + 20, 40, 2300, MAIN, args={"level": "node", "connection_id": number}))
            flow = {"name": f"HostToDevice{number}", "id": str(number), "cat": "HostToDevice"}
            events.append({"ph": "s", "pid": 2300, "tid": MAIN, "ts": f"{now + 20}.000", **flow})
            device = max(device, now + 80)
            events.append({"ph": "f", "pid": 2000, "tid": 2, "ts": f"{device}.000", **flow})
            torch = {"name": "torch_to_npu", "id": device * 1000, "cat": "async_npu"}
            events.append({"ph": "s", "pid": PROCESS, "tid": MAIN, "ts": f"{now}.000", **torch})
            events.append({"ph": "f", "pid": 2000, "tid": 2, "ts": f"{device}.000", **torch})
            events.append(span("aclnnMul_MulAiCore_Mul", device, KERNEL, 2000, 2, args={
                "Task Type": "AI_VECTOR_CORE", "Stream Id": 2, "Task Id": number, "connection_id": number}))
            rows.append(f"{step},4294967295,{number},2,aclnnMul_MulAiCore_Mul,Mul,AI_VECTOR_CORE,{device}.000\t,{KERNEL},0,8")
            device += KERNEL
            now += PERIOD
    output = Path(directory, OUTPUT)
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text(json.dumps(events), encoding="utf-8")
    (output / "kernel_details.csv").write_text(
        "Step Id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n"
        + "\n".join(rows) + "\n", encoding="utf-8")
    info = {"config": {"common_config": {"activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"]},
                       "experimental_config": {"_profiler_level": "Level1"}}, "rank_id": rank}
    Path(directory, f"profiler_info_{rank}.json").write_text(json.dumps(info), encoding="utf-8")
    return stalls


def span(name, start, dur, pid, tid, cat=None, args=None):
    event = {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": f"{start}.000", "dur": dur, "args": args or {}}
    return {**event, "cat": cat} if cat else event


def write_clock(directory, offset=0):
    """start_info and end_info of the profiler: how its monotonic clock goes with the epoch."""
    host = Path(directory, "PROF_000001_20231114221320000_ABC", "host")
    host.mkdir(parents=True)
    for name, key, time in (("start_info", "collectionTimeBegin", 0), ("end_info", "collectionTimeEnd", STEPS * STEP)):
        (host / name).write_text(json.dumps({"clockMonotonicRaw": str((MONOTONIC + offset + time) * 1000),
                                             key: str(EPOCH + time)}), encoding="utf-8")


class Trace:
    """Lines of ftrace, by time; times in us since the epoch."""

    def __init__(self, names=None):
        self.names = {MAIN: "python", HELPER: "helper", HOG: "CSD", 0: "<idle>", 18: "migration/2", **(names or {})}
        self.lines = []

    def add(self, time, core, thread, event):
        stamp = MONOTONIC + time - EPOCH
        text = (f"{self.names[thread]:>16}-{thread:<7} [{core:03}] d..2. {stamp // 1000000}.{stamp % 1000000:06}: {event}")
        self.lines.append((time, len(self.lines), text))

    def switch(self, time, core, before, state, after):
        names = [f"swapper/{core}" if thread == 0 else self.names[thread] for thread in (before, after)]
        self.add(time, core, before, f"sched_switch: prev_comm={names[0]} prev_pid={before} prev_prio=120 prev_state={state} "
                                     f"==> next_comm={names[1]} next_pid={after} next_prio=120")

    def wake(self, time, core, by, thread, target):
        for event in ("sched_waking", "sched_wakeup"):
            self.add(time, core, by, f"{event}: comm={self.names[thread]} pid={thread} prio=120 target_cpu={target:03}")

    def interrupt(self, begin, end, core, thread, name="sq_send_trigger_irq", number=31):
        self.add(begin, core, thread, f"irq_handler_entry: irq={number} name={name}")
        self.add(end, core, thread, f"irq_handler_exit: irq={number} ret=handled")

    def text(self, written=None):
        lines = [line for _, _, line in sorted(self.lines)]
        count = len(lines)
        return (f"# tracer: nop\n#\n# entries-in-buffer/entries-written: {count}/{written or count}   #P:8\n#\n"
                + "\n".join(lines) + "\n")


def trace_of(stalls, what, seed=1, begin=EPOCH - 1000, end=EPOCH + STEPS * STEP + 1000):
    """The trace in which the main thread did `what` when it stood still, and ran otherwise."""
    noise = random.Random(seed)
    trace = Trace()
    trace.switch(begin, CORE, 0, "R", MAIN)
    trace.switch(begin + 5, OTHER_CORE, 0, "R", HELPER)
    for start, stop in stalls:
        if what == "preempted":
            trace.switch(start, CORE, MAIN, "R", HOG)
            trace.switch(stop, CORE, HOG, "S", MAIN)
        elif what == "own":
            trace.switch(start - 30, OTHER_CORE, HELPER, "S", 0)
            trace.switch(start, CORE, MAIN, "R", HELPER)
            trace.switch(stop, CORE, HELPER, "S", MAIN)
            trace.switch(stop + 30, OTHER_CORE, 0, "R", HELPER)
        elif what == "woken":
            trace.switch(start, CORE, MAIN, "S", HOG)
            trace.wake(start + 50, OTHER_CORE, HELPER, MAIN, CORE)
            trace.switch(stop, CORE, HOG, "R", MAIN)
        elif what == "sleeping":
            trace.switch(start, CORE, MAIN, "S", 0)
            trace.wake(stop - 3, OTHER_CORE, HELPER, MAIN, CORE)
            trace.switch(stop, CORE, 0, "R", MAIN)
        elif what == "interrupts":
            for at in range(start, stop, 100):
                trace.interrupt(at + 2, at + 97, CORE, MAIN)
        # Kernel threads get the core for some us now and then, as everywhere.
        if noise.random() < 0.5:
            trace.switch(stop + 300, CORE, MAIN, "R", 18)
            trace.switch(stop + 304, CORE, 18, "S", MAIN)
    trace.switch(end, CORE, MAIN, "S", 0)
    return trace


def build(directory, what, name="rank0_ascend_pt", rank=0, **options):
    """A capture with its trace beside it; returns its path and the times that were planted."""
    capture = Path(directory, name)
    stalls = write_capture(capture, rank)
    write_clock(capture)
    Path(directory, "trace.txt").write_text(trace_of(stalls, what, **options).text(), encoding="utf-8")
    return capture, stalls


def host_span(capture):
    """From the first record of the host to the end of the last, in us."""
    events = json.loads((Path(capture) / OUTPUT / "trace_view.json").read_text(encoding="utf-8"))
    spans = [(int(float(event["ts"])), event["dur"]) for event in events
             if event["ph"] == "X" and event["pid"] in (PROCESS, 2300)]
    return max(start + dur for start, dur in spans) - min(start for start, _ in spans)
