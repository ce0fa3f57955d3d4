# SPDX-License-Identifier: Apache-2.0
"""Text captures of NPUs: trace_view.json and the tables beside it."""

import copy
import csv
import json
import shutil

from .capture import DEVICE, HOST, Capture, Span

OUTPUT = "ASCEND_PROFILER_OUTPUT"
# Sums over a capture, which the planter does not keep up to date: both sides of a comparison do without them.
DERIVED = ("operator_details.csv", "op_statistic.csv", "api_statistic.csv")
DEVICE_PROCESSES = ("Ascend Hardware", "HCCL", "Communication", "Overlap Analysis")
HOST_TIMES = {"operator_memory.csv": ("Allocation Time(us)", "Release Time(us)", "Active Release Time(us)"),
              "memory_record.csv": ("Timestamp(us)",), "npu_module_mem.csv": ("Timestamp(us)",)}
CATEGORIES = {"cpu_op": "op", "python_function": "python", "enqueue": "queue", "dequeue": "queue"}


def in_ns(us):
    """Of a text or a number; exact, which a float of today's date is not."""
    whole, _, part = str(us).strip().partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def in_us(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


class TextCapture(Capture):
    def __init__(self, path):
        super().__init__(path)
        self.events = json.loads((path / OUTPUT / "trace_view.json").read_text(encoding="utf-8"))
        self.processes = {e["pid"]: e["args"]["name"] for e in self.events if e["name"] == "process_name"}
        self._lanes = {(e["pid"], e["tid"]): e["args"]["name"] for e in self.events if e["name"] == "thread_name"}
        self._device = {pid for pid, name in self.processes.items() if name in DEVICE_PROCESSES}
        self.spans = [self._span(e) for e in self.events if e["ph"] == "X"]
        begins, ends = {}, []
        for event in self.events:
            if event["ph"] == "s" and event["cat"] != "fwdbwd":
                begins[event["cat"], event["id"]] = in_ns(event["ts"])
            elif event["ph"] == "f":
                ends.append((event["cat"], event["id"], in_ns(event["ts"])))
        self.arrows = [(begins[c, i], to) for c, i, to in ends if (c, i) in begins]

    def _side(self, event):
        return DEVICE if event["pid"] in self._device else HOST

    def _span(self, event):
        process = self.processes.get(event["pid"])
        kind = CATEGORIES.get(event.get("cat"), "other")
        if event["name"].startswith("ProfilerStep"):
            kind = "step"
        elif process == "CANN":
            kind = "call"
        elif process == "Ascend Hardware":
            kind = self._kind_of_task(event)
        elif process in ("HCCL", "Communication"):
            is_whole = "Communication" in str(self._lanes.get((event["pid"], event["tid"])))
            kind = "collective" if is_whole else "task"
        start = in_ns(event["ts"])
        return Span(event["name"], kind, self._side(event), (process, event["tid"]), start,
                    start + in_ns(event.get("dur", 0)), event)

    @staticmethod
    def _kind_of_task(event):
        if event["name"] in ("EVENT_WAIT", "Notify Wait", "SDMA", "Write Value", "Notify_Wait"):
            return "task"
        return "copy" if "MEMCPY" in event["name"].upper() else "kernel"

    def write(self, path):
        shutil.copytree(self.path, path, ignore=shutil.ignore_patterns(*DERIVED, "trace_view.json"))
        output = path / OUTPUT
        self._write_tables(output)
        if self.own:  # what was summed up of both streams is not true any more
            self.events = [e for e in self.events if self.processes.get(e["pid"]) != "Overlap Analysis" or e["ph"] == "M"]
        starts = {(s.record["pid"], s.record["tid"], s.start): self.now(s)[0] for s in self.spans}
        for span in self.spans:
            start, end = self.now(span)
            span.record["ts"] = in_us(start)
            if "dur" in span.record:
                span.record["dur"] = (end - start) / 1000
        for event in self.events:
            if event["ph"] not in ("X", "M") and "ts" in event:
                moved = starts.get((event["pid"], event["tid"], in_ns(event["ts"]))) if event["ph"] in "sf" else None
                event["ts"] = in_us(moved or self.clocks[self._side(event)](in_ns(event["ts"])))
        self.events.extend(self._new_event(span) for span in self.added)
        (output / "trace_view.json").write_text(json.dumps(self.events), encoding="utf-8")

    @staticmethod
    def _new_event(span):
        event = copy.deepcopy(span.record)
        event["name"], event["ts"], event["dur"] = span.name, in_us(span.start), (span.end - span.start) / 1000
        return event

    def _write_tables(self, output):
        for name, columns in HOST_TIMES.items():
            _rewrite(output / name, lambda row, columns=columns: self._move(row, columns))
        self._moved = {(s.start, s.name): self.now(s) for s in self.spans if s.side == DEVICE}
        _rewrite(output / "kernel_details.csv", self._move_kernel)
        if self.own:
            (output / "step_trace_time.csv").unlink(missing_ok=True)
        _rewrite(output / "step_trace_time.csv", self._change_step)
        for file in output.glob("communication.json"):
            document = json.loads(file.read_text(encoding="utf-8"))
            self._move_collectives(document)
            file.write_text(json.dumps(document), encoding="utf-8")

    def _move(self, row, columns):
        for column in columns:
            if row[column].strip() not in ("", "N/A"):
                row[column] = in_us(self.clocks[HOST](in_ns(row[column]))) + "\t"

    def _move_kernel(self, row):
        clock = self.clocks[DEVICE]
        start, dur = in_ns(row["Start Time(us)"]), in_ns(row["Duration(us)"])
        waited = in_ns(row["Wait Time(us)"]) if row.get("Wait Time(us)", "N/A").strip() not in ("", "N/A") else None
        begin, end = self._moved.get((start, row["Name"])) or (clock(start), clock(start + dur, is_end=True))
        row["Start Time(us)"], row["Duration(us)"] = in_us(begin) + "\t", in_us(end - begin)
        if waited:
            row["Wait Time(us)"] = in_us(begin - clock(start - waited, is_end=True))

    # -- what waiting.py asks

    def stream_of(self, span):
        args = span.record.get("args", {})
        return args.get("Physic Stream Id", args.get("stream id"))

    def stream_of_collectives(self):
        return next(self.stream_of(s) for s in self.of("task") if s.lane[0] in ("HCCL", "Communication"))

    def is_wait(self, span):
        return span.name in ("Notify_Wait", "Notify Wait")

    def peer_of_wait(self, span):
        return span.record["args"]["dst rank"] if span.name == "Notify_Wait" else None

    def _change_step(self, row):
        step = next((s for s in self.steps() if s.name == f"ProfilerStep#{row['Step']}"), None)
        if step is None:
            return
        lanes = {self._lanes.get((s.record["pid"], s.record["tid"])): [] for s in self.spans}
        for span in self.spans:
            if self.processes.get(span.record["pid"]) == "Overlap Analysis" and step.start <= span.start < step.end:
                start, end = self.now(span)
                lanes[self._lanes[span.record["pid"], span.record["tid"]]].append((end - start - span.dur) / 1000)
        computing, both, exposed, free = (sum(lanes.get(name, ())) for name in (
            "Computing", "Communication", "Communication(Not Overlapped)", "Free"))
        start, end = self.now(step)
        first = min((s.start for s in self.work() if step.start <= s.start), default=step.start)
        preparing = (self.clocks[DEVICE](first) - start - (first - step.start)) / 1000
        for column, delta in {"Computing": computing, "Communication": both, "Communication(Not Overlapped)": exposed,
                              "Communication(Not Overlapped and Exclude Receive)": exposed, "Free": free,
                              "Overlapped": both - exposed, "Preparing": preparing,
                              "Stage": computing + exposed + free}.items():
            if row.get(column, "").strip():
                row[column] = repr(float(row[column]) + delta)

    def _move_collectives(self, document):
        by_name = {s.name: s for s in self.of("collective")}
        for step in document.values():
            for operations in step.values():
                for name, operation in operations.items():
                    span = by_name.get(name.split("@")[0])
                    if span is None or "Communication Time Info" not in operation:
                        continue
                    times = operation["Communication Time Info"]
                    start, end = self.now(span)
                    times["Start Timestamp(us)"] = start / 1000
                    times["Elapse Time(ms)"] += (end - start - span.dur) / 1e6
                    if "Idle Time(ms)" in times:
                        times["Idle Time(ms)"] += (end - start - span.dur) / 1e6


def _rewrite(path, change):
    if not path.exists():
        return
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        columns, rows = reader.fieldnames, list(reader)
    for row in rows:
        change(row)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
