# SPDX-License-Identifier: Apache-2.0
"""Turns a text capture into what CANN's msprof exports of the same run: names, headers and order of its columns are
those of github.com/Ascend/msprof (op_summary_assembler.cpp, op_statistic_assembler.cpp, task_time_assembler.cpp,
api_statistic_assembler.cpp)."""

import csv
import json
from pathlib import Path

OUTPUT = "mindstudio_profiler_output"
TIME = "20260225061530"
# Headers of op_summary_*.csv, and what torch_npu calls them in kernel_details.csv.
OP_SUMMARY = {"Device_id": "Device_id", "Model ID": None, "Task ID": None, "Stream ID": "Stream ID", "Op Name": "Name",
              "OP Type": "Type", "OP State": None, "Task Type": "Accelerator Core",
              "Task Start Time(us)": "Start Time(us)", "Task Duration(us)": "Duration(us)",
              "Task Wait Time(us)": "Wait Time(us)", "Block Num": "Block Dim", "Mix Block Num": "Mix Block Dim"}
NOT_READ = {"api_statistic": "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance",
            "task_time": "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
                         "task_stop(us)"}
PROCESS = 1000  # of the program; the numbers of processes in the trace are made from it
OF_THE_FRAMEWORK = ("cpu_op", "async_npu", "fwdbwd", "enqueue", "dequeue", "python_function", "GC")


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path, headers, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(headers)
        writer.writerows(rows)


def op_summary_rows(details, device=0):
    """The headers, and a row for each of kernel_details.csv."""
    others = [name for name in details[0] if name not in {*OP_SUMMARY, *OP_SUMMARY.values()} and name not in ("Step Id", "Step ID")]
    headers = [name for name in OP_SUMMARY if not name.startswith("Mix") or
               details[0].keys() & {name, OP_SUMMARY[name]}] + others
    rows = []
    for kernel in details:
        row = [kernel.get(OP_SUMMARY.get(name, name) or "", kernel.get(name, "0")) for name in headers]
        row[0] = device
        row[headers.index("Task Start Time(us)")] += "\t"  # as the exporter does, against spreadsheets
        rows.append(row)
    return headers, rows


def analyze(steps, output):
    """communication.json as CANN writes it (communication_analyzer.py): operators without step and kind, and one total
    of all of them; and a matrix of them."""
    (step,) = steps.values()
    operators = {name: value for kind in ("p2p", "collective") for name, value in step[kind].items()
                 if name != "Total Op Info"}
    # It is of sends and receives, too, so that no number of collectives may come from it.
    wrong = {"Transit Size(MB)": 1e6, "Transit Time(ms)": 1}
    operators["Total Op Info"] = {"Communication Bandwidth Info": {"RDMA": wrong, "SDMA": wrong}}
    output.mkdir()
    (output / "communication.json").write_text(json.dumps(operators), encoding="utf-8")
    (output / "communication_matrix.json").write_text("{}", encoding="utf-8")


def export(capture, prof, time=TIME, slices=1, device=0, analyzed=False):
    """Writes PROF/mindstudio_profiler_output from a text capture: each table, and the trace without what only a
    framework knows, in that many slices; with what "msprof --analyze" adds if it was analyzed."""
    source, output = Path(capture, "ASCEND_PROFILER_OUTPUT"), Path(prof, OUTPUT)
    output.mkdir(parents=True, exist_ok=True)

    def named(table, number, extension):
        return output / (f"{table}_slice_{number}_{time}{extension}" if slices > 1 else f"{table}_{time}{extension}")

    headers, rows = op_summary_rows(read(source / "kernel_details.csv"), device)
    events = [event for event in json.loads((source / "trace_view.json").read_text(encoding="utf-8"))
              if event.get("cat") not in OF_THE_FRAMEWORK]
    numbers = {event["pid"]: index for index, event in enumerate(events) if event["name"] == "process_name"}
    events = [{**event, "pid": PROCESS << 10 | numbers[event["pid"]] % 32 << 5 | device} for event in events
              if event["pid"] in numbers]
    head = [event for event in events if event["ph"] == "M"]
    body = sorted((event for event in events if event["ph"] != "M"), key=lambda event: float(event["ts"]))
    for number in range(slices):
        def part(all_of_them):
            return all_of_them[number * len(all_of_them) // slices:(number + 1) * len(all_of_them) // slices]
        write(named("op_summary", number, ".csv"), headers, part(rows))
        named("msprof", number, ".json").write_text(json.dumps(head + part(body)), encoding="utf-8")
    sums = read(source / "op_statistic.csv")
    write(output / f"op_statistic_{time}.csv", sums[0], [row.values() for row in sums])
    for table, header in NOT_READ.items():
        write(output / f"{table}_{time}.csv", header.split(","), [])
    with_communication = source / "communication.json"
    if analyzed and with_communication.exists():
        analyze(json.loads(with_communication.read_text(encoding="utf-8")), Path(prof, "analyze"))
    (output / "README.txt").write_text("what the files hold\n", encoding="utf-8")
    return Path(prof)
