# SPDX-License-Identifier: Apache-2.0
"""A serving run as a raw capture: graphs were captured from streams before the profiler began, and
each request runs them again (aclgraph).

What the runtime knows of the graphs is recorded once and kept for the whole run (`unaging`): tasks,
streams, operators. Each run brings device records of the same tasks, with no call around them.
"""
import raw_layout as raw
from raw_setup import DEVICE_SHIFT, MONOTONIC

MODELS = (6, 7)
STREAM, SCHEDULE_STREAM = 70, 71  # captured from the program's streams 52 and 53
ORIGINAL = {STREAM: 52, SCHEDULE_STREAM: 53}
CAPTURED = -900_000_000  # ns: long before the collection
DESTROYED = 65535
FP16 = "FLOAT16"


def tensors(*shapes, output):
    return [(0, "ND", FP16, shape) for shape in shapes] + [(1, "ND", FP16, output)]


# model, stream, task, core, name, type, blocks, ratio, tensors; without type nothing but the task
# is known. Blocks of the operator count where the task does not say any.
OPERATORS = (
    (6, STREAM, 11, "AI_VECTOR_CORE", "Gather_1", "GatherV2", 40, 0,
     tensors((32000, 64), (16,), output=(16, 64))),
    (7, STREAM, 21, "AI_CORE", "MatMul_1", "MatMulV3", 24, 2,
     tensors((16, 64), (64, 64), output=(16, 64))),
    (7, STREAM, 22, "AI_VECTOR_CORE", "Concat_2", "ConcatD", 8, 0,
     tensors((4, 64), (4, 64), (4, 64), (4, 64), output=(16, 64))),
    (7, STREAM, 23, "AI_VECTOR_CORE", "te_add_kernel", None, 12, 0, []),
    (7, STREAM, 24, "AI_CPU", "Sample_3", "Multinomial", 1, 0, tensors((16, 64), output=(16, 1))),
    (7, SCHEDULE_STREAM, 31, "AI_CPU", "AllGatherMatmul_4", "AllGatherMatmul", 1, 0, []),
)
TASK_TYPES = {"AI_CORE": "KERNEL_AICORE", "AI_VECTOR_CORE": "KERNEL_AIVEC",
              "AI_CPU": "KERNEL_AICPU"}
ENTRIES = {"AI_CORE": "AI_CORE", "AI_VECTOR_CORE": "AIV_SQE", "AI_CPU": "AI_CPU"}
RUNS = {6: (10_000_000,), 7: (20_000_000, 21_000_000, 22_000_000)}
LENGTH, STRIDE = 40_000, 50_000  # ns of a kernel, and from its start to the next
WITHOUT_BLOCKS = (21,)           # tasks whose records do not say them
REUSE = 15_000_000               # the stream of model 6 is destroyed, and captured for model 7


class Serving:
    """Records the run through `process`; with `later_forms` as current runtimes do."""

    def __init__(self, process, later_forms):
        self.process, self.later = process, later_forms
        self.thread = process.process
        process.truth.update(captured_kernels=[], ai_cpu=[], input_queue=[])

    def record(self):
        for model in MODELS:
            self.capture(model)
            for operator in OPERATORS:
                if operator[0] == model:
                    self.describe(*operator)
        self.destroy_stream()
        self.process.record("unaging.additional.mc2_comm_info", raw.mc2_comm_info(
            self.thread, self.ticks(CAPTURED), self.process.text("group_0"), 2, 0,
            ORIGINAL[SCHEDULE_STREAM], [54, 55]))
        for model, starts in RUNS.items():
            for start in starts:
                self.run(model, start)
        self.call(5_000_000)
        self.take_input(19_000_000, "iterator_default", 131, raw.input_queue, "aicpu.data")
        self.take_input(20_500_000, "prompts, new", 130, raw.input_queue_of_old,
                        "DATA_PREPROCESS.DP")

    def ticks(self, time):
        return self.process.host.ticks(time)

    def captured(self, model):
        """When: model 7 takes over the stream during the collection."""
        return CAPTURED if model == 6 else REUSE + 100_000

    def capture(self, model):
        later = self.later
        pack = raw.capture_stream_info_v2 if later else raw.capture_stream_info
        file = "unaging.compact.capture_stream_info" + ("_v2" if later else "")
        nowhere = 0xFFFFFFFF if later else 0xFFFF
        for stream, original in ORIGINAL.items():
            if stream == STREAM or model == 7:
                self.process.record(file, pack(self.thread, self.ticks(self.captured(model)), 0,
                                               stream, original, model, self.process.device))
        if model == 6:
            self.process.record(file, pack(self.thread, self.ticks(REUSE - 1000), 1, nowhere,
                                           nowhere, model, self.process.device))

    def track(self, time, stream, task, task_type, function=0, blocks=None, ratio=0):
        """`task`: with the number of the wrap in its high half."""
        arguments = (self.thread, self.ticks(time), self.process.device, stream, task,
                     raw.TASK_TYPES[task_type], function)
        if self.later:
            file, data = "task_track_v2", raw.task_track_v2(*arguments, blocks, ratio)
        elif blocks is None:
            file, data = "task_track", raw.short_task_track(*arguments)
        else:
            file, data = "task_track", raw.task_track(*arguments, blocks, ratio)
        self.process.record("unaging.compact." + file, data)

    def describe(self, model, stream, task, core, name, op_type, blocks, ratio, shapes):
        text = self.process.text
        time = self.captured(model) + 10 * task
        told = task not in WITHOUT_BLOCKS
        self.track(time, stream, task, TASK_TYPES[core], text(name if op_type is None else "te_op"),
                   blocks if told else None, ratio)
        if op_type is None:
            return
        kind = "variable" if len(shapes) > 3 else "additional"
        self.process.record(f"unaging.{kind}.capture_op_info", raw.capture_op_info(
            self.thread, self.ticks(time), model, self.process.device, stream, task, core, blocks,
            ratio, text(name), text(op_type), text('{"a": 1}') if task == 21 else 0,
            int(core == "AI_CORE"), shapes))

    def destroy_stream(self):
        """The numbers of its tasks begin again, as a batch of their own."""
        process = self.process
        self.track(REUSE, STREAM, DESTROYED << 16, "FLIP_TASK")
        process.log.append((process.device_clock.ticks(REUSE), "ts_track.data",
                            lambda _, at: raw.track_flip(at, STREAM, DESTROYED, 0)))

    def run(self, model, start):
        mine = [operator for operator in OPERATORS if operator[0] == model]
        for index, (_, stream, task, core, name, op_type, blocks, ratio, shapes) in enumerate(mine):
            begin = start + index * STRIDE
            ticks = [self.process.device_clock.ticks(begin + end * LENGTH) for end in (0, 1)]
            for end in (0, 1):
                self.process.log_task(end, ticks[end], ENTRIES[core], stream, task)
            kernel = {"name": name, "op_type": op_type or name, "core": core, "model": model,
                      "stream": stream, "task": task, "blocks": blocks,
                      "mix_blocks": blocks * ratio, "state": "static" if op_type else "N/A",
                      "hf32": ("YES" if core == "AI_CORE" else "NO") if op_type else "N/A",
                      "attributes": '{"a": 1}' if task == 21 else "N/A",
                      "inputs": self.shapes(shapes, 0), "outputs": self.shapes(shapes, 1),
                      "schedules": stream == SCHEDULE_STREAM}
            self.process.tell_times(kernel, ticks)
            self.process.truth["captured_kernels"].append(kernel)
            if core == "AI_CPU":
                self.on_ai_cpu(kernel, begin)

    def take_input(self, time, source, size, pack, file):
        """The program takes an entry from a queue of input data."""
        monotonic = MONOTONIC + DEVICE_SHIFT + time
        self.process.log.append((self.process.device_clock.ticks(time), file, lambda *_: pack(
            monotonic, "queue dequeue", source, size)))
        self.process.truth["input_queue"].append({
            "time_ns": self.process.setup.begin * 1000 + time, "action": "queue dequeue",
            "source": source, "size": size})

    @staticmethod
    def shapes(shapes, output):
        texts = [",".join(map(str, shape)) for is_output, _, _, shape in shapes
                 if is_output == output]
        return f'"{";".join(texts)}"' if texts else "N/A"

    def on_ai_cpu(self, kernel, begin):
        clock = self.process.device_clock
        start, end, submitted = (clock.ticks(begin + time) for time in (4_000, 36_000, 1_000))
        values = (kernel["stream"], kernel["task"], start, 500, 512, 517, end, submitted, end, 3)
        if kernel["stream"] == STREAM:
            self.process.log.append((start, "aicpu.data", lambda *_: raw.ai_cpu_kernel(*values)))
        else:
            self.process.log.append((start, "DATA_PREPROCESS.AICPU",
                                     lambda *_: raw.ai_cpu_kernel_of_old(*values)))
        self.process.truth["ai_cpu"].append({
            "name": kernel["name"], "stream": kernel["stream"], "task": kernel["task"],
            "start_ns": clock.epoch(start), "dur_ns": clock.epoch(end) - clock.epoch(start),
            "compute_us": 12, "copy_us": 5, "dispatch_us": 3, "total_ns": 35_000})

    def call(self, time):
        """The program's own call that runs a model."""
        self.process.types[raw.ACL, 10 << 16 | 1] = "aclmdlRIExecuteAsync"
        self.process.record("api_event.data", raw.api_event(
            raw.ACL, 10 << 16 | 1, self.thread, self.ticks(time), self.ticks(time + 20_000)))
