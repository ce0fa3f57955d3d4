#!/usr/bin/env python3
"""Writes the text and database captures below captures/ (standard library only, deterministic).

The tests read the checked-in files and never run this script; it exists to keep the text and the
database form of the synthetic runs in step. The runs themselves are in synthetic_run.py and
twin_run.py, see README.md.
"""
import csv
import io
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from synthetic_run import BACKWARD, DEQUEUE, EPOCH, MAIN, PID, Record, Run, ns  # noqa: E402
from twin_run import Twin  # noqa: E402

ROOT = Path(__file__).resolve().parent / "captures"
HARDWARE, HCCL, OVERLAP, CANN = 2000, 2100, 2200, 2300
NO_MODEL = 4294967295
GROUPS = {"group_0": "dp", "group_1": "tp"}
GROUP_RANKS = [0, 1]
CSV_COUNTERS = ("aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_mte2_time(us),"
                "aic_mte2_ratio,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,"
                "cube_utilization(%)").split(",")
CSV_KERNEL = ("Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,"
              "Start Time(us),Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,"
              "Input Shapes,"
              "Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,"
              "Context ID").split(",") + CSV_COUNTERS


def metadata(rank):
    """What a rank says of its groups; only members have a number in them."""
    number = {"group_rank": rank} if rank in GROUP_RANKS else {}
    return {"parallel_group_info": {key: {"group_name": name, **number, "global_ranks": GROUP_RANKS}
                                    for key, name in GROUPS.items()}}


def us_text(time):
    return f"{(EPOCH + time) // 1000}.{time % 1000:03d}"


def us_number(time):
    return time // 1000 if time % 1000 == 0 else time / 1000


def ms_number(time):
    return time / 1000000


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def csv_text(rows, newline="\r\n"):
    out = io.StringIO()
    csv.writer(out, lineterminator=newline).writerows(rows)
    return out.getvalue()


def trace_lines(run, level1):
    return [json.dumps(event, ensure_ascii=False) for event in trace_events(run, level1)]


def trace_events(run, level1):
    styles = {"tab": lambda t: us_text(t) + "\t", "integer": lambda t: (EPOCH + t) // 1000,
              "float": lambda t: float((EPOCH + t) // 1000),
              "short": lambda t: us_text(t).rstrip("0")}
    events = []

    def stamp(time, style=None):
        return styles.get(style, us_text)(time)

    def meta(pid, name, threads):
        events.append(dict(ph="M", name="process_name", pid=pid, tid=0, args=dict(name=name)))
        for tid, label in threads:
            events.append(dict(ph="M", name="thread_name", pid=pid, tid=tid, args=dict(name=label)))
            events.append(dict(ph="M", name="thread_sort_index", pid=pid, tid=tid,
                               args=dict(sort_index=tid)))

    def span(name, pid, tid, ts, dur, args=None, **more):
        events.append(dict(ph="X", name=name, pid=pid, tid=tid, ts=ts, dur=us_number(dur), **more,
                           **({"args": args} if args is not None else {})))

    def flow(name, cat, ident, start, end):
        for ph, (pid, tid, ts) in (("s", start), ("f", end)):
            events.append(dict(ph=ph, name=name, id=ident, pid=pid, tid=tid, ts=ts, cat=cat))

    streams = sorted({x.stream for x in run.kernels + run.tasks})
    meta(PID, "Python", [(t, f"Thread {t}") for t in (MAIN, BACKWARD, DEQUEUE)])
    meta(HARDWARE, "Ascend Hardware", [(s, f"Stream {s}") for s in streams])
    threads = [(tid, name) for i, key in enumerate(GROUPS)
               for tid, name in [(3 * i, f"Group {key} Communication"), (3 * i + 1, "Plane 0"),
                                 (3 * i + 2, "Plane 1")]
               if level1 or name != "Plane 1"]
    meta(HCCL, "Communication" if level1 else "HCCL", threads)
    meta(OVERLAP, "Overlap Analysis",
         enumerate(("Computing", "Communication", "Communication(Not Overlapped)", "Free")))
    for op in run.ops:
        args = {"Input Dims": op.shapes, "Input type": op.types} if op.shapes else {}
        if op.stack:
            args["Call stack"] = op.stack
        span(op.name, PID, op.thread, stamp(op.start, op.style), op.dur, args, cat="cpu_op")
    for item in run.python:
        span(item.name, PID, MAIN, stamp(item.start), item.dur,
             {"Python id": item.id, "Python parent id": item.parent}, cat="python_function")
    for ident, key, name, enqueue, dequeue, dur in run.queue:
        a, b, thread = stamp(ns(enqueue)), stamp(ns(dequeue)), run.op[key].thread
        span("Enqueue", PID, thread, a, ns(run.enqueue_length), dict(correlation_id=ident),
             cat="enqueue")
        span(f"Dequeue@{name}", PID, DEQUEUE, b, ns(dur), dict(correlation_id=ident), cat="dequeue")
        flow("enqueue_to_dequeue", "async_task_queue", ident, (PID, thread, a), (PID, DEQUEUE, b))
    for ident, forward, backward in run.fwdbwd:
        flow("fwdbwd", "fwdbwd", ident, *((PID, run.op[key].thread, stamp(run.op[key].start))
                                          for key in (forward, backward)))
    stream_key = "Stream Id" if level1 else "Physic Stream Id"
    for item in sorted(run.kernels + run.tasks, key=lambda x: x.start):
        task_type = item.type if item.db_type else item.core
        if not item.db_type and not run.core_types:
            task_type = item.core.replace("AI_VECTOR_CORE", "AI_CORE")
        style = item.style if item.style != "short" else None  # only the flow to it
        span(item.name, HARDWARE, item.stream, stamp(item.start, style), item.dur,
             {"Task Type": task_type, stream_key: item.stream, "Task Id": item.task,
              "connection_id": item.connection})
    tid = {key: 3 * i for i, key in enumerate(GROUPS)}
    for c in run.comm_ops:
        span(c.name, HCCL, tid[c.group], stamp(c.start), c.dur,
             {"connection_id": c.connection, "data_type": "FP32", "count": 4096})
    for t in run.comm_tasks if level1 else []:
        dur = t.dur if t.dur != ns(0.02) else None
        span(t.name, HCCL, tid[t.group] + 1 + t.plane, stamp(t.start), dur or 0,
             {"task type": t.name, "transport type": "SDMA", "src rank": 0, "dst rank": 1})
        if dur is None:  # a duration with 14 decimals
            events[-1]["dur"] = 20.00000000000001
    for item in run.launches:
        pid, thread = (HCCL, tid[item.group]) if item.group else (HARDWARE, item.stream)
        flow("torch_to_npu", "async_npu", EPOCH + item.start,
             (PID, item.op.thread, stamp(item.op.start)),
             (pid, thread, stamp(item.start, item.style)))
    # A call of CANN whose process has no name; runs with calls that databases know name it.
    first = run.launches[0]
    calls = [(first, "aclrtMemcpyAsync", ns(60), ns(2))]
    if run.runtime_calls:
        meta(CANN, "CANN", [])
        calls = [(item, name, ns(start), ns(dur)) for task, name, start, dur in run.runtime_calls
                 for item in run.launches if item.name == task]
    for item, name, start, dur in calls:
        connection = item.connection
        span(f"AscendCL@{name}", CANN, DEQUEUE, stamp(start), dur,
             {"level": "acl", "connection_id": connection})
        flow(f"HostToDevice{connection}", "HostToDevice", str(connection),
             (CANN, DEQUEUE, stamp(start)), (HARDWARE, item.stream, stamp(item.start)))
    events.append(dict(ph="C", name="AI Core Freq", pid=2400, tid=0, ts=stamp(0),
                       args=dict(MHz=1800)))
    for number, (name, thread, start, end) in enumerate(run.overlap(whole=level1)):
        span(name, OVERLAP, thread, stamp(start, "tab" if number == 1 else None), end - start)
    return events


def input_types(kernel):
    return ";".join(["FLOAT"] * (kernel.shapes.count(";") + 1))


def output_shape(kernel):
    return f'"{kernel.output or "8,64"}"'


def kernel_rows(run):
    yield CSV_KERNEL
    end = None
    for k in sorted(run.kernels + run.comm_ops, key=lambda x: x.start):
        wait = 0 if end is None else us_number(max(0, k.start - end))
        end = k.start + k.dur
        step, c = 1 if k.start < ns(run.step_length) else 2, k.counters
        common = [us_text(k.start) + "\t", us_number(k.dur), wait]
        if k.group:
            yield [step, NO_MODEL, "N/A", "N/A", k.name, k.type, "N/A", "HCCL", *common, 0,
                   *["N/A"] * (len(CSV_KERNEL) - 12)]
            continue
        counters = ["N/A"] * len(CSV_COUNTERS)
        if c:
            us = {key: ms * 1000 for key, ms in c.items()}
            counters = [us["aic"], ns(c["aic"]), us["mac"], 0.5, us["mte2"], 0.5, us["aiv"],
                        ns(c["aiv"]), us["vec"], 0.5, 50.0 if c["aic"] else 0]
        yield [step, NO_MODEL, k.task, k.stream, k.name, k.type, "dynamic", k.core, *common, 8, 0,
               "NO", f'"{k.shapes}"', input_types(k), "ND",
               output_shape(k), "FLOAT", "ND", "N/A", *counters]


def level0_rows(run):
    yield ("Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
           "Block Dim").split(",")
    for row in list(kernel_rows(run))[1:]:
        yield [row[0], row[4], "N/A", "N/A", *row[8:12]]


def statistic_rows(run):
    yield ("OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),"
           "Ratio(%)").split(",")
    table = {}
    for k in run.kernels:
        table.setdefault((k.type, k.core), []).append(k.dur / 1000)
    whole = sum(map(sum, table.values()))
    for key, times in sorted(table.items(), key=lambda x: -sum(x[1])):
        yield [*key, len(times), sum(times), min(times), round(sum(times) / len(times), 3),
               max(times), round(100 * sum(times) / whole, 3)]


def memory_rows(run):
    yield ("Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),"
           "Duration(us),Active Duration(us),Stream Ptr,Device Type").split(",")
    for name, size, start, end in run.memory:
        done = [end or ""] * 2 + [""] * 2
        if isinstance(end, int):
            done = [us_text(ns(end)) + "\t"] * 2 + [f"{us_number(ns(end - start))}.000\t"] * 2
        yield [name, size, us_text(ns(start)) + "\t", *done, 4096, "NPU:0"]


def record_rows(run):
    yield ("Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),"
           "Stream Ptr,Device Type").split(",")
    for component, time, reserved in run.records:
        allocated = "" if component == "APP" else reserved / 2
        yield [component, us_text(ns(time)) + "\t", allocated, float(reserved), allocated, 4096,
               "NPU:0"]


def step_rows(run):
    yield ("Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,"
           "Bubble,Communication(Not Overlapped and Exclude Receive),Preparing").split(",")
    for step in (1, 2):
        low = (step - 1) * run.step_length
        inside = [x for x in run.overlap(whole=False) if ns(low) <= x[2] < ns(low + run.step_length)]
        total = {n: sum(e - s for name, _, s, e in inside if name == n) / 1000
                 for n in ("Computing", "Communication(Not Overlapped)", "Communication", "Free")}
        bare, comm = total["Communication(Not Overlapped)"], total["Communication"]
        preparing = (min(x[2] for x in inside) - ns(low)) / 1000
        yield [step, total["Computing"], bare, comm - bare, comm, total["Free"],
               ns(run.step_length - 10) / 1000, 0,
               bare, preparing]


def communication_json(run):
    def entry(rdma, sdma, elapse):
        return {"Communication Time Info": {"Elapse Time(ms)": elapse, "Transit Time(ms)": sdma[1],
                                            "Wait Time(ms)": 10.0},
                "Communication Bandwidth Info": {
                    k: {"Transit Size(MB)": mb, "Transit Time(ms)": ms,
                        "Bandwidth(GB/s)": mb / ms if ms else 0}
                    for k, (mb, ms) in {"RDMA": rdma, "HCCS": sdma, "SDMA": sdma}.items()}}
    steps = {}
    for step, rdma, sdma, part in (("step1", (2, 1), (10, 1), run.comm_ops[:2]),
                                   ("step2", (4, 1), (20, 1), run.comm_ops[2:])):
        ops = {f"{c.name}@{c.group}": entry((0, 0), sdma, ms_number(c.dur)) for c in part}
        whole = entry(rdma, sdma, ms_number(sum(c.dur for c in part)))
        steps[step] = {"p2p": {}, "collective": {**ops, "Total Op Info": whole}}
    return json.dumps(steps, indent=1) + "\n"


def write_text(name, run, level="Level1", metadata=True):
    level1, top = level == "Level1", ROOT / name
    out = top / "ASCEND_PROFILER_OUTPUT"
    metrics = "ACL_AICORE_PIPE_UTILIZATION" if level1 else "ACL_AICORE_NONE"
    info = {"config": {"common_config": {"activities": ["ProfilerActivity.CPU",
                                                        "ProfilerActivity.NPU"],
                                         "record_shapes": True, "profile_memory": True},
                       "experimental_config": {"_profiler_level": level, "_aic_metrics": metrics,
                                               "_export_type": "text"}}, "rank_id": 0}
    write(top / "profiler_info_0.json", json.dumps(info, indent=4))
    write(top / "profiler_metadata.json", json.dumps(metadata(0), indent=4))
    write(out / "trace_view.json", "[" + ",\n".join(trace_lines(run, level1)) + "]")
    write(out / "kernel_details.csv", csv_text(kernel_rows(run) if level1 else level0_rows(run)))
    write(out / "operator_memory.csv", csv_text(memory_rows(run)))
    write(out / "memory_record.csv", csv_text(record_rows(run)))
    write(out / "step_trace_time.csv", csv_text(step_rows(run)))
    if level1:
        write(out / "op_statistic.csv", csv_text(statistic_rows(run), "\n"))
        write(out / "communication.json", communication_json(run))


# Only where a run has rows for them.
OPTIONAL_TABLES = ("PYTORCH_CALLCHAINS", "CANN_API")
SCHEMA = """STRING_IDS id INTEGER PRIMARY KEY,value TEXT
ENUM_API_TYPE id INTEGER PRIMARY KEY,name TEXT
META_DATA name TEXT,value TEXT
HOST_INFO hostUid TEXT,hostName TEXT
NPU_INFO id INTEGER,name TEXT
RANK_DEVICE_MAP rankId INTEGER,deviceId INTEGER
SESSION_TIME_INFO startTimeNs INTEGER,endTimeNs INTEGER
STEP_TIME id INTEGER,startNs INTEGER,endNs INTEGER
PYTORCH_API startNs TEXT,endNs TEXT,globalTid INTEGER,connectionId INTEGER,name INTEGER,\
sequenceNumber INTEGER,fwdThreadId INTEGER,inputDtypes INTEGER,inputShapes INTEGER,\
callchainId INTEGER,type INTEGER
PYTORCH_CALLCHAINS id INTEGER,stack INTEGER,stackDepth INTEGER
CANN_API startNs INTEGER,endNs INTEGER,type INTEGER,globalTid INTEGER,\
connectionId INTEGER PRIMARY KEY,name INTEGER
CONNECTION_IDS id INTEGER,connectionId INTEGER
TASK startNs INTEGER,endNs INTEGER,deviceId INTEGER,connectionId INTEGER,globalTaskId INTEGER,\
globalPid INTEGER,taskType INTEGER,contextId INTEGER,streamId INTEGER,taskId INTEGER,\
modelId INTEGER
COMPUTE_TASK_INFO name INTEGER,globalTaskId INTEGER PRIMARY KEY,blockDim INTEGER,\
mixBlockDim INTEGER,taskType INTEGER,opType INTEGER,inputFormats INTEGER,inputDataTypes INTEGER,\
inputShapes INTEGER,outputFormats INTEGER,outputDataTypes INTEGER,outputShapes INTEGER,\
attrInfo INTEGER,opState INTEGER,hf32Eligible INTEGER
TASK_PMU_INFO globalTaskId INTEGER,name INTEGER,value NUMERIC
COMMUNICATION_OP opName INTEGER,startNs INTEGER,endNs INTEGER,connectionId INTEGER,\
groupName INTEGER,opId INTEGER PRIMARY KEY,relay INTEGER,retry INTEGER,dataType INTEGER,\
algType INTEGER,count NUMERIC,opType INTEGER
COMMUNICATION_TASK_INFO name INTEGER,globalTaskId INTEGER,taskType INTEGER,planeId INTEGER,\
groupName INTEGER,notifyId INTEGER,rdmaType INTEGER,srcRank INTEGER,dstRank INTEGER,\
transportType INTEGER,size INTEGER,dataType INTEGER,linkType INTEGER,opId INTEGER
MEMORY_RECORD component INTEGER,timestamp INTEGER,totalAllocated INTEGER,totalReserved INTEGER,\
totalActive INTEGER,streamPtr INTEGER,deviceId INTEGER
OP_MEMORY name INTEGER,size INTEGER,allocationTime INTEGER,releaseTime INTEGER,\
activeReleaseTime INTEGER,duration INTEGER,activeDuration INTEGER,streamPtr INTEGER,\
deviceId INTEGER""".replace("\\\n", "").split("\n")
TASK_TYPES = {"AI_CORE": "KERNEL_AICORE", "AI_VECTOR_CORE": "KERNEL_AIVEC",
              "MIX_AIC": "KERNEL_MIX_AIC", "AI_CPU": "KERNEL_AICPU",
              "Memcpy": "SDMA", "Reduce_Inline": "SDMA", "Notify_Wait": "Notify Wait",
              "Notify_Record": "Write Value", "RDMASend": "Write Value"}


def db_sql(run):
    strings, tables = {}, {line.split(" ", 1)[0]: [] for line in SCHEMA}

    def text(value):
        return strings.setdefault(value, len(strings) + 1) if value else None

    def add(table, *values, note=""):
        tables[table].append((values, note))

    for number, name in ((5000, "runtime"), (20000, "acl"), (50001, "op"), (50002, "queue"),
                         (50003, "trace"), (50004, "mstx")):
        add("ENUM_API_TYPE", number, name)
    add("META_DATA", "SCHEMA_VERSION", "1.0.0")
    add("META_DATA", "parallel_group_info", json.dumps(metadata(0)["parallel_group_info"]))
    add("HOST_INFO", "1", "synthetic")
    add("NPU_INFO", 0, "Ascend910B")
    add("RANK_DEVICE_MAP", 0, 0)
    add("SESSION_TIME_INFO", EPOCH, EPOCH + ns(2000))

    chains = {}

    def chain(stack):
        if stack and stack not in chains:
            chains[stack] = len(chains)
            for depth, call in enumerate(stack.split(";\r\n")):
                add("PYTORCH_CALLCHAINS", chains[stack], text(call), depth)
        return chains.get(stack)

    def api(kind, name, thread, start, dur, links=(), types=None, shapes=None, sequence=None,
            stack=None):
        ident = None
        if links:
            ident = api.count = getattr(api, "count", -1) + 1
            for link in links:
                add("CONNECTION_IDS", ident, link)
        add("PYTORCH_API", str(EPOCH + start), str(EPOCH + start + dur), PID << 32 | thread, ident,
            text(name), sequence, 0 if sequence else None,
            text(types), text(shapes), chain(stack), kind, note=name)

    for ident, key, name, enqueue, dequeue, dur in run.queue:
        api(50002, "Enqueue", run.op[key].thread, ns(enqueue), ns(run.enqueue_length),
            [800 + ident])
        api(50002, f"Dequeue@{name}", DEQUEUE, ns(dequeue), ns(dur), [800 + ident])
    by_runtime = [task for task, *_ in run.runtime_calls]
    for task, name, start, dur in run.runtime_calls:
        for connection in (x.connection for x in run.launches if x.name == task):
            add("CANN_API", EPOCH + ns(start), EPOCH + ns(start + dur), 20000, PID << 32 | DEQUEUE,
                connection, text(name), note=name)
    for op in run.ops:
        if op.name.startswith("ProfilerStep#"):
            add("STEP_TIME", int(op.name[13:]), EPOCH + op.start, EPOCH + op.start + op.dur)
        links = [x.connection for x in run.launches if x.op is op and x.name not in by_runtime]
        links += [i for i, *ends in run.fwdbwd if op.key in ends]
        api(50001, op.name, op.thread, op.start, op.dur, links, op.types, op.shapes, -1,
            op.stack)
    for item in run.python:
        api(50003, item.name, MAIN, item.start, item.dur)
    number = max(x.task for x in run.kernels + run.tasks)
    for number, t in enumerate(run.comm_tasks, number + 1):
        t.update(task=number, connection=run.comm_ops[t.op_id - 1].connection, stream=4)
        add("COMMUNICATION_TASK_INFO", text(run.comm_ops[t.op_id - 1].name), number, text(t.name),
            t.plane, text(t.group), 0, 65535, 0, 1, 0, 4096,
            2, 0, t.op_id, note=f"{t.name} {t.group} plane {t.plane}")
    for t in sorted(run.kernels + run.tasks + run.comm_tasks, key=lambda x: x.start):
        kind = t.db_type or TASK_TYPES.get(t.core or t.name) or t.core
        add("TASK", EPOCH + t.start, EPOCH + t.start + t.dur, 0, t.connection, t.task, PID,
            text(kind), NO_MODEL, t.stream, t.task, NO_MODEL,
            note=f"{ms_number(t.start)} ms, {kind}: {t.name}")
    for k in run.kernels:
        add("COMPUTE_TASK_INFO", text(k.name), k.task, 8, 0, text(k.core), text(k.type), text("ND"),
            text(input_types(k)), text(f'"{k.shapes}"'), text("ND"),
            text("FLOAT"), text(output_shape(k)), text("N/A"), text("dynamic"), text("NO"),
            note=k.name)
        for key, name in (("aic", "aic_total_time"), ("mac", "aic_mac_time"),
                          ("mte2", "aic_mte2_time"), ("aiv", "aiv_total_time"),
                          ("vec", "aiv_vec_time")):
            if k.counters:
                add("TASK_PMU_INFO", k.task, text(name), ns(k.counters[key]),
                    note=name if k is run.kernels[0] else "")
    lccl = [Record(t, type=t.name, group="lccl", id=len(run.comm_ops) + 1)
            for t in run.tasks if t.lccl]
    for c in run.comm_ops + lccl:
        add("COMMUNICATION_OP", text(c.name), EPOCH + c.start, EPOCH + c.start + c.dur,
            c.connection, text(c.group), c.id, 0, 0, 4, text("RING"), 4096,
            text(c.type), note=f"{c.name} {c.group}")
    for component, time, mb in run.records:
        if component != "APP":
            add("MEMORY_RECORD", text(component), EPOCH + ns(time), mb << 19, mb << 20, mb << 19,
                4096, 0, note=f"{mb} MB")
    for name, kb, start, end in sorted(run.memory, key=lambda row: row[2]):
        end = EPOCH + ns(end) if isinstance(end, int) else None
        dur = end and end - EPOCH - ns(start)
        add("OP_MEMORY", text(name), kb << 10, EPOCH + ns(start), end, end, dur, dur, 4096, 0,
            note=name)
    for value, number in strings.items():
        add("STRING_IDS", number, value)

    def literal(value):
        if isinstance(value, str):
            return "'" + value.replace("'", "''").replace("\r\n", "'||char(13,10)||'") + "'"
        return "NULL" if value is None else str(value)

    out = ["BEGIN;"]
    for line in SCHEMA:
        table, columns = line.split(" ", 1)
        if table in OPTIONAL_TABLES and not tables[table]:
            continue
        out += [f"CREATE TABLE {table} ({columns});", f"INSERT INTO {table} VALUES"]
        for values, note in tables[table]:
            last = values is tables[table][-1][0]
            out.append(f"({','.join(map(literal, values))}){';' if last else ','}"
                       + (f" -- {note}" if note else ""))
    return "\n".join(out + ["COMMIT;", ""])


def write_broken(run):
    trace = ",\n".join(trace_lines(run, True))
    # in the middle of a kernel event
    cut = trace.index('"dur"', trace.index("Conv2DBackpropInput1"))
    out = ROOT / "broken/truncated_trace_ascend_pt/ASCEND_PROFILER_OUTPUT"
    write(out / "trace_view.json", "[" + trace[:cut])
    write(out / "kernel_details.csv", csv_text(kernel_rows(run)))
    write(ROOT / "broken/no_csv_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
          "[" + trace + "]")
    write(ROOT / "broken/not_a_capture/notes.txt", "This folder holds no capture.\n")


if __name__ == "__main__":
    for prefix, kind in (("", Run), ("twin_", Twin)):
        for name in ("base", "new"):
            run = kind(slow=name == "new")
            write_text(f"{prefix}text_{name}_ascend_pt", run)
            write(ROOT / f"{prefix}db_{name}_ascend_pt.sql", db_sql(run))
    base = Run(slow=False)
    write_text("text_level0_ascend_pt", base, "Level0")
    write_broken(base)
