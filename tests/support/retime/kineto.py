# SPDX-License-Identifier: Apache-2.0
"""Traces of GPUs (Kineto)."""

import copy
import gzip
import json

from .capture import DEVICE, HOST, Capture, Span

KINDS = {"cpu_op": "op", "operator": "op", "python_function": "python", "cuda_runtime": "call", "cuda_driver": "call",
         "runtime": "call", "kernel": "kernel", "gpu_memcpy": "copy", "memcpy": "copy", "gpu_memset": "kernel",
         "memset": "kernel"}
COLLECTIVE = ("nccl",)
NEW = 700_000_000  # numbers of what is added


def in_ns(us):
    return us * 1000 if isinstance(us, int) else round(us * 1000)


def in_us(ns):
    return ns // 1000 if ns % 1000 == 0 else ns / 1000


class KinetoCapture(Capture):
    def __init__(self, path):
        super().__init__(path)
        data = path.read_bytes()
        self.document = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
        events = self.document["traceEvents"] if isinstance(self.document, dict) else self.document
        self.events = events
        self._device_pids = {e["pid"] for e in events
                             if e.get("ph") == "X" and str(e.get("cat", "")).lower() in ("kernel", "gpu_memcpy", "memcpy")}
        self._host_pids = {e["pid"] for e in events if e.get("ph") == "X" and str(e.get("cat", "")).lower()
                           in ("cpu_op", "operator", "cuda_runtime", "runtime")}
        calls, work = {}, []
        for event in events:
            if event.get("ph") == "X" and "dur" in event:
                span = self._span(event)
                self.spans.append(span)
                if span.kind == "call" and span.link is not None:
                    calls[span.link] = span
                elif span.side == DEVICE and span.link is not None:
                    work.append(span)
        self.calls = calls
        self.arrows = [(calls[w.link].start, w.start) for w in work if w.link in calls]

    def _side(self, event):
        category = str(event.get("cat", "")).lower()
        if category.startswith("gpu_") or category in ("kernel", "memcpy", "memset", "cuda_sync"):
            return DEVICE
        return DEVICE if event.get("pid") in self._device_pids - self._host_pids else HOST

    def _span(self, event):
        kind = KINDS.get(str(event.get("cat", "")).lower(), "other")
        side = self._side(event)
        if kind == "kernel" and event["name"].lower().startswith(COLLECTIVE):
            kind = "collective"
        if event["name"].startswith("ProfilerStep"):
            kind = "step" if side == HOST else "other"
        start = in_ns(event["ts"])
        link = event.get("args", {}).get("correlation")
        return Span(event["name"], kind, side, (event.get("pid"), event.get("tid")), start, start + in_ns(event["dur"]),
                    event, link)

    def new_link(self):
        self._links = getattr(self, "_links", 2 * NEW) + 1
        return self._links

    def write(self, path):
        for span in self.spans:
            start, end = self.now(span)
            span.record["ts"], span.record["dur"] = in_us(start), in_us(end - start)
        for event in self.events:
            if event.get("ph") != "X" and "ts" in event and event.get("ph") != "M":
                event["ts"] = in_us(self.clocks[self._side(event)](in_ns(event["ts"])))
        self.events.extend(self._new_event(number, span) for number, span in enumerate(self.added))
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.document).encode()
        path.write_bytes(gzip.compress(text, 1) if path.suffix == ".gz" else text)

    @staticmethod
    def _new_event(number, span):
        event = copy.deepcopy(span.record)
        event["name"], event["ts"], event["dur"] = span.name, in_us(span.start), in_us(span.end - span.start)
        if span.thread is not None:
            event["pid"], event["tid"] = span.thread
        args = event.get("args", {})
        for key in ("External id", "external id", "Record function id", "Ev Idx", "Python id"):
            if key in args:
                args[key] = NEW + number
        if "correlation" in args:
            args["correlation"] = span.link if span.link is not None else NEW + number
        return event
