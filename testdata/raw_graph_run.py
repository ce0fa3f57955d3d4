# SPDX-License-Identifier: Apache-2.0
"""The runs of make_head_captures.py, compiled graphs, as raw captures.

The kernels of a graph are handed to the runtime once, when its model is loaded; these records are
kept for the whole run (`unaging`). Each run of the model brings device records of the same tasks.
"""
import raw_layout as raw
from make_head_captures import EPOCH, hard_cases, two_steady_calls
from raw_setup import Setup

LEAD = 10_000  # µs from the begin of the collection to the times of the runs
LEVELS = {"Model": raw.MODEL, "Node": raw.NODE}
# Numbers of calls; the profiler reserves them.
TYPES = {"ModelExecute": 1, "ModelLoad": 2, "InputCopy": 3, "OutputCopy": 4, "launch": 5,
         "step_info": 14}
STREAM, FIRST_TASK = 2, 301
UNAGING = "unaging."


class GraphCapture:
    """Records a run through `process`, which is idle otherwise."""

    def __init__(self, process, run):
        self.process, self.run, self.next_task = process, run, FIRST_TASK
        self.tasks, self.loaded = {}, {}  # by connection, by kernel
        process.truth.update(calls=[], graph_kernels=[], model_runs=[])

    def record(self):
        for thread, name, start, end in self.run.host:
            self.operator(thread, name, start, end)
        for thread, name, start, end, args in self.run.cann:
            self.call(thread, name, start, end, args)
        self.load_models(min(thread for thread, *_ in self.run.host))
        for kernel in self.run.device:
            self.kernel(*kernel)
        for model, number, start, end in self.run.iterations:
            for tag, time in enumerate((start, end)):
                self.process.log.append((self.device_ticks(time), "ts_track.data",
                                         lambda _, at, tag=tag, number=number, model=model:
                                         raw.track_step(at, number, model, STREAM, 0, tag)))
            self.process.truth["model_runs"].append({"model": model, "index": number,
                                                     **self.span(start, end)})

    @staticmethod
    def span(start, end):
        return {"start_ns": (EPOCH + start) * 1000, "end_ns": (EPOCH + end) * 1000}

    def ticks(self, time):
        return self.process.host.ticks((LEAD + time) * 1000)

    def device_ticks(self, time):
        # The anchors of the device tell a time that is a bit earlier; the run has round ones.
        return self.process.device_clock.ticks((LEAD + time) * 1000 + 40)

    def operator(self, thread, name, start, end):
        scope = 6 if name.startswith("ProfilerStep#") else 0
        self.process.record("torch.op_range", raw.op_range(
            self.ticks(start), self.ticks(end), -1, self.process.process, thread, 0, scope,
            [(2, name)]))

    def call(self, thread, name, start, end, args, prefix=""):
        level, bare = name.split("@")
        self.process.types[LEVELS[level], TYPES[bare]] = bare
        item = args.get("item_id", "0")
        key = int(item) if item.isdigit() else self.process.text(item)
        request = args.get("request_id", 0)
        self.process.record(prefix + "api_event.data", raw.api_event(
            LEVELS[level], TYPES[bare], thread, self.ticks(start), self.ticks(end), key, request))
        if "connection_id" in args:
            self.launched(args["connection_id"], thread, item, start + 5)
        self.process.truth["calls"].append({"name": bare, "level": LEVELS[level], "tid": thread,
                                            **self.span(start, end)})

    def launched(self, connection, thread, name, time):
        """What a launch says of its kernel."""
        task = self.tasks[connection] = self.task()
        key = self.process.text(name)
        self.track(thread, time, task, name)
        self.process.record("compact.node_basic_info", raw.node_basic_info(
            thread, self.ticks(time) + 20, key, raw.CORES["AI_CORE"], key, 1, 0, 0))

    def task(self):
        self.next_task += 1
        return self.next_task - 1

    def track(self, thread, time, task, function, prefix=""):
        self.process.record(prefix + "compact.task_track", raw.task_track(
            thread, self.ticks(time), self.process.device, STREAM, task,
            raw.TASK_TYPES["KERNEL_AICORE"], self.process.text(function), 1))

    def load_models(self, thread):
        """One load a model, long before the run; within it its kernels are handed over."""
        models = sorted({model for _, _, _, model, _ in self.run.device if model is not None})
        for index, model in enumerate(models):
            start = 1000 * index - LEAD + 1000
            self.call(thread, "Model@ModelLoad", start, start + 500, {"item_id": str(model)},
                      UNAGING)
            for name, _, _, owner, _ in self.run.device:
                if owner == model:
                    self.loaded[name] = self.task()
                    self.track(thread, start + 100 + 10 * len(self.loaded), self.loaded[name], name,
                               UNAGING)

    def kernel(self, name, start, end, model, connection):
        task = self.loaded.get(name) or self.tasks.get(connection)
        if task is None:  # launched without a call that is recorded
            task = self.task()
            self.track(1, start - 20, task, name)
        for ends, time in enumerate((start, end)):
            self.process.log_task(ends, self.device_ticks(time), "AI_CORE", STREAM, task)
        if connection is not None:
            model = 0  # launched within a call of the model level, which tells no number
        self.process.truth["graph_kernels"].append({
            "name": name, "model": raw.NONE if model is None else model, "task": task,
            **self.span(start, end)})


def setup():
    return Setup("5", seed=None, begin=EPOCH - LEAD, details=False)


RUNS = {"head_steady": two_steady_calls, "head_hard": hard_cases}
