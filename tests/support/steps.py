# SPDX-License-Identifier: Apache-2.0
"""Writes captures of any number of steps in the text form of NPU captures: what a gate needs.

A step begins where the one before ends. Its kernels run one after the other from 1 ms on, then a
collective that nothing hides; the rest of the step is free time.
"""

import json

EPOCH_US = 1_700_000_000_000_000
HOST, DEVICE, COLLECTIVES, OVERLAP = 1000, 2000, 2100, 2200
MAIN, STREAM = 1001, 2
KERNELS = (("MatMulV2", 40_000), ("Relu", 2_000))  # type, us
CSV_HEADER = ("Step Id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),"
              "Duration(us),Wait Time(us),Block Dim,Input Shapes,Input Data Types,Input Formats,"
              "Output Shapes,Output Data Types,Output Formats")


def write_capture(path, lengths_us, kernels=KERNELS, allreduce_us=10_000, rank=0, level="Level1",
                  reserved_mb=1024, shapes="8,64;64,64", steps=True, item_us=0):
    """A capture in the directory `path` with a step of each length. At its end,
    while the device has nothing to do, the host is in aten::item for `item_us`."""
    events, rows, number = [], [], 0

    def meta(kind, pid, tid, name):
        events.append({"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}})
        events.append({"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid,
                       "args": {"sort_index": tid}})

    def span(name, pid, tid, start, length, **more):
        events.append({"ph": "X", "name": name, "pid": pid, "tid": tid,
                       "ts": f"{EPOCH_US + start}.000", "dur": length, **more})

    for pid, name in ((HOST, "Python"), (DEVICE, "Ascend Hardware"), (COLLECTIVES, "Communication"),
                      (OVERLAP, "Overlap Analysis")):
        meta("process_name", pid, 0, name)
    meta("thread_name", COLLECTIVES, 0, "Group group_0 Communication")
    for tid, name in enumerate(("Computing", "Communication", "Communication(Not Overlapped)")):
        meta("thread_name", OVERLAP, tid, name)
    begin = 0
    for step, length in enumerate(lengths_us, 1):
        if steps:
            span(f"ProfilerStep#{step}", HOST, MAIN, begin, length, cat="cpu_op", args={})
        if item_us:
            span("aten::item", HOST, MAIN, begin + length - item_us, item_us, cat="cpu_op", args={})
        at = begin + 1000
        for kind, duration in kernels:
            number += 1
            span(f"aten::{kind.lower()}", HOST, MAIN, begin + 10 * number % 900, 5, cat="cpu_op",
                 args={})
            for phase, pid, tid, time in (("s", HOST, MAIN, begin + 10 * number % 900),
                                          ("f", DEVICE, STREAM, at)):
                events.append({"ph": phase, "name": "async_npu", "id": number, "pid": pid,
                               "tid": tid, "ts": f"{EPOCH_US + time}.000", "cat": "async_npu"})
            span(f"aclnn_{kind}", DEVICE, STREAM, at, duration,
                 args={"Task Type": "AI_CORE", "Stream Id": STREAM, "Task Id": number})
            text = kind.replace('"', "'").replace("\n", " ")  # within a cell
            rows.append(f'{step},1,{number},{STREAM},"aclnn_{text}","{text}",AI_CORE,'
                        f'{EPOCH_US + at}.000\t,{duration},0,8,"""{shapes}""",FLOAT,ND,"""8""",'
                        'FLOAT,ND')
            at += duration
        span("Computing", OVERLAP, 0, begin + 1000, at - begin - 1000)
        if allreduce_us:
            span(f"hcom_allReduce__001_{step}_1", COLLECTIVES, 0, at, allreduce_us, args={})
            span("Communication", OVERLAP, 1, at, allreduce_us)
            span("Communication(Not Overlapped)", OVERLAP, 2, at, allreduce_us)
        begin += length
    output = path / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text(json.dumps(events), encoding="utf-8")
    (output / "kernel_details.csv").write_text("\n".join([CSV_HEADER, *rows, ""]), encoding="utf-8")
    (output / "memory_record.csv").write_text(
        "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),"
        f"Stream Ptr,Device Type\nPTA,{EPOCH_US + 500}.000\t,1,{reserved_mb},1,1,NPU:0\n",
        encoding="utf-8")
    (path / f"profiler_info_{rank}.json").write_text(json.dumps(
        {"config": {"common_config": {"activities": ["ProfilerActivity.CPU",
                                                     "ProfilerActivity.NPU"],
                                      "record_shapes": True},
                    "experimental_config": {"_profiler_level": level}},
         "rank_id": rank}), encoding="utf-8")
    return path
