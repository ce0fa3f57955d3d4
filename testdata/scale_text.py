# SPDX-License-Identifier: Apache-2.0
"""The files of a text capture of many steps: every file of one step is text in which a later step
has other digits in few places, which bytes.replace finds faster than anything could be formatted.
"""
import json
from itertools import islice

import make_captures as one
from synthetic_run import EPOCH, ns
from training_step import IDS

STEP_TEXT = "@step@"  # the number of the step, where it is not part of the name of an operator
# Microseconds, without the digits that tell a time within the step.
TIME = EPOCH // 1000 // 100000
COUNTERS = [  # process, name, key, how many in a step
    ("Acc PMU", "read_bandwidth", "value", 688), ("Acc PMU", "write_band_width", "value", 688),
    ("Acc PMU", "read_ost", "value", 688), ("Acc PMU", "write_ost", "value", 688),
    ("QoS", "QoS OTHERS", "value", 1405), ("NPU MEM", "APP/HBM", "KB", 84),
    ("HBM", "HBM 0/Read", "Read(MB/s)", 52), ("HBM", "HBM 0/Write", "Write(MB/s)", 52),
    ("LLC", "LLC 0 Read/Hit Rate", "Hit Rate(%)", 52)]
COUNTER_PID = 2500
COPY_TASKS = {"Notify_Wait": "Notify Wait", "Notify_Record": "Write Value"}
PART_OF_CATEGORY = {"cpu_op": 0, "enqueue": 1, "dequeue": 1, "async_task_queue": 1, "fwdbwd": 3,
                    "python_function": 4, "async_npu": 6}
METADATA, DEVICE = 2, 5


def at_step(text, number):
    """`text`, which tells of step 0, as of another one."""
    return (text.replace(b"%d" % TIME, b"%d" % (TIME + number))
            .replace(b"%d" % IDS, b"%d" % (IDS + number))
            .replace(b"ProfilerStep#1", b"ProfilerStep#%d" % (1 + number))
            .replace(STEP_TEXT.encode(), b"%d" % (1 + number)))


def trace_parts(run):
    """The events of a step in the order a trace has them: a list of parts, each of which holds
    those of all steps before the next part begins. Names of processes come after the operators."""
    parts = [[] for _ in range(7)]
    for event in one.trace_events(run, level1=True) + more_events(run):
        complete(event)
        part = METADATA if event["ph"] == "M" else PART_OF_CATEGORY.get(event.get("cat"), DEVICE)
        parts[part].append(event)
    parts[DEVICE].sort(key=lambda event: event["ts"])
    return [", ".join(map(json.dumps, part)).encode() for part in parts]


def complete(event):
    """Adds the args that the small captures do without."""
    args, category = event.get("args"), event.get("cat")
    if category == "cpu_op":
        event["args"] = {"Sequence number": -1, "Fwd thread id": 0, **args}
    elif event["pid"] == one.HARDWARE and "Task Type" in (args or {}):
        args.update({"Model Id": one.NO_MODEL, "Batch Id": 0, "Subtask Id": one.NO_MODEL})
    elif args and "transport type" in args:
        args.update({"notify_id": "0", "duration estimated(us)": 0.6002072538860104, "stream id": 4,
                     "task id": 807, "context id": 0, "src rank": 0, "dst rank": 1,
                     "size(Byte)": 4096, "data type": "BFP16", "link type": "ON_CHIP",
                     "bandwidth(GB/s)": 12.5, "model id": one.NO_MODEL})


def more_events(run):
    """Calls of CANN, tasks of the collectives on their stream, and counters."""
    events = []
    for connection, level, name, start, dur, item in run.cann_calls():
        place = dict(pid=one.CANN, tid=one.DEQUEUE, ts=one.us_text(start))
        events.append(dict(name=f"{level}@{name}", ph="X", dur=one.us_number(dur), **place,
                           args={"Thread Id": one.DEQUEUE, "Mode": "ACL_OP", "level": level.lower(),
                                 "id": name, "item_id": "0", "connection_id": connection}))
        if item and item is not run.launches[0]:  # whose arrow is drawn with the other events
            arrow = dict(name=f"HostToDevice{connection}", cat="HostToDevice", id=str(connection))
            events += [dict(ph="s", **arrow, **place),
                       dict(ph="f", bp="e", **arrow, **target(item))]
    for task in run.comm_tasks:
        events.append(dict(name=task.name, ph="X", pid=one.HARDWARE, tid=4,
                           ts=one.us_text(task.start), dur=one.us_number(task.dur),
                           args={"Task Type": COPY_TASKS.get(task.name, "SDMA"), "Stream Id": 4,
                                 "Task Id": task.op_id, "connection_id": task.connection}))
    processes = {"CANN": one.CANN}
    for process, name, key, count in COUNTERS:
        pid = processes.setdefault(process, COUNTER_PID + len(processes))
        events += [dict(name=name, ts=one.us_text(ns(99) * i // count), pid=pid, tid=0,
                        args={key: i % 97}, ph="C") for i in range(count)]
    events += [dict(name="process_name", ph="M", pid=pid, tid=0, args={"name": process})
               for process, pid in processes.items()]
    return events


def target(item):
    """Where the arrow to launched work ends."""
    time = one.us_text(item.start)
    if item.group:
        return dict(pid=one.HCCL, tid=3 * list(one.GROUPS).index(item.group), ts=time)
    return dict(pid=one.HARDWARE, tid=item.stream, ts=time)


def operator_rows(run):
    yield ("Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),"
           "Device Self Duration(us),Device Total Duration(us),"
           "Device Self Duration With AICore(us),Device Total Duration With AICore(us)").split(",")
    device = {}
    for kernel in run.kernels:
        if kernel.op:
            device[kernel.op.key] = device.get(kernel.op.key, 0) + kernel.dur
    for op in run.ops:
        work = one.us_number(device.get(op.key, 0))
        host = one.us_number(op.dur)
        yield [op.name, op.shapes, op.stack, host, host, work, work, work, work]


def numbered(rows):
    """Rows whose first column is the number of the step."""
    rows = iter(rows)
    yield next(rows)
    for row in rows:
        yield [STEP_TEXT, *row[1:]]


TABLES = {"kernel_details.csv": lambda run: numbered(one.kernel_rows(run)),
          "operator_memory.csv": one.memory_rows, "memory_record.csv": one.record_rows,
          "operator_details.csv": operator_rows,
          "step_trace_time.csv": lambda run: numbered(islice(one.step_rows(run), 2))}


def communication(run):
    """What communication.json says of the step."""
    def entry(ms):
        times = {"Elapse Time(ms)": ms, "Transit Time(ms)": ms * 0.6, "Wait Time(ms)": ms * 0.4}
        return {"Communication Time Info": times, "Communication Bandwidth Info": {
            kind: {"Transit Size(MB)": 8 * busy, "Transit Time(ms)": ms * 0.6 * busy,
                   "Bandwidth(GB/s)": 13.3 * busy, "Large Packet Ratio": 0,
                   "Size Distribution": {"8.0": [busy, ms * 0.6]}}
            for kind, busy in (("RDMA", 0), ("HCCS", 1), ("PCIE", 0), ("SDMA", 1), ("SIO", 0))}}
    operations = {f"{op.name}@{op.group}": entry(one.ms_number(op.dur)) for op in run.comm_ops}
    operations["Total Op Info"] = entry(sum(one.ms_number(op.dur) for op in run.comm_ops))
    return json.dumps({"step" + STEP_TEXT: {"p2p": {}, "collective": operations}})[1:-1]


def statistic(runs, counts):
    """The rows of op_statistic.csv; `counts` says how often each of the `runs` occurs."""
    header, *_ = one.statistic_rows(runs[0])
    yield header
    table = {}
    for run, count in zip(runs, counts):
        for kernel in run.kernels:
            table.setdefault((kernel.type, kernel.core), []).append((kernel.dur, count))
    totals = {key: sum(dur * count for dur, count in times) for key, times in table.items()}
    whole = sum(totals.values())
    for key in sorted(table, key=lambda key: (-totals[key], key)):
        durations = [dur / 1000 for dur, _ in table[key]]
        number = sum(count for _, count in table[key])
        yield [*key, number, totals[key] / 1000, min(durations),
               round(totals[key] / 1000 / number, 3), max(durations),
               round(100 * totals[key] / whole, 3)]


def write_text(output, runs, size):
    """Writes the capture whose trace has about `size` bytes; `runs` take turns."""
    traces = [trace_parts(run) for run in runs]
    steps = max(1, size // sum(map(len, traces[0])))

    def every_step(texts):
        return (at_step(texts[number % len(runs)], number) for number in range(steps))

    with (output / "trace_view.json").open("wb") as file:
        file.write(b"[")
        for part in range(len(traces[0])):
            texts = [trace[part] for trace in traces]
            file.write(b", " if part else b"")
            write_joined(file, b", ", texts[:1] if part == METADATA else every_step(texts))
        file.write(b"]")
    for name, rows in TABLES.items():
        tables = [one.csv_text(rows(run)).encode() for run in runs]
        header, _, _ = tables[0].partition(b"\r\n")
        with (output / name).open("wb") as file:
            file.write(header + b"\r\n")
            write_joined(file, b"", every_step([text.partition(b"\r\n")[2] for text in tables]))
    with (output / "communication.json").open("wb") as file:
        file.write(b"{")
        write_joined(file, b", ", every_step([communication(run).encode() for run in runs]))
        file.write(b"}")
    counts = [len(range(first, steps, len(runs))) for first in range(len(runs))]
    one.write(output / "op_statistic.csv", one.csv_text(statistic(runs, counts), "\n"))
    return steps


def write_joined(file, separator, texts):
    for number, text in enumerate(texts):
        file.write(separator + text if number else text)
