# SPDX-License-Identifier: Apache-2.0
"""Training runs with planted memory, as a trace of torch.profiler and as a text capture of an NPU.

Times are in us from the begin of the run, sizes in KB.
"""

import json

START = 1_700_000_000_000_000  # us
MAIN, BACKWARD, DEVICE_STREAM = 1001, 1002, 7
NODE = "autograd::engine::evaluate_function: "
BEFORE_KB = 4096  # held before the capture
WEIGHT_KB = 768  # of that parameters, each with a gradient of its size


class Run:
    """A training loop that keeps the activation `leak_kb` of each step in a list."""

    STEP, LENGTH = 1000, 900  # us

    def __init__(self, steps=3, leak_kb=0):
        self.ops, self.lives, self.copies, self.steps = [], [], [], steps
        self.frees = []  # of what was held before: (time, KB)
        for step in range(steps):
            self.step(step, step * self.STEP, leak_kb)

    def op(self, name, begin, length, thread=MAIN, line=None):
        stack = f"model.py({line}): forward;\r\ntrain.py(5): main" if line else ""
        self.ops.append((name, begin, length, thread, stack))

    def life(self, name, kb, begin, end):
        """`end` None: it is never released."""
        self.lives.append((name, kb, begin, end))

    def step(self, number, t, leak_kb):
        last = number + 1 == self.steps
        self.op(f"ProfilerStep#{number + 5}", t, self.LENGTH)
        self.op("aten::to", t + 10, 30, line=11)  # the input
        self.op("aten::empty", t + 12, 5)
        self.op("aten::copy_", t + 20, 15)
        self.copies.append((t + 22, t + 30))
        self.life("aten::empty", 512, t + 13, None if last else t + self.STEP + 11)
        self.op("aten::linear", t + 100, 40, line=20)
        self.op("aten::addmm", t + 105, 30, line=20)
        self.life("aten::addmm", 2048, t + 110, t + 330)  # activation
        self.life("aten::addmm", 256, t + 112, t + 130)  # temporary
        self.op("aten::relu", t + 150, 20, line=21)
        self.life("aten::relu", 1024, t + 155, t + 320)  # activation
        if leak_kb:
            self.op("aten::mul", t + 180, 10, line=42)
            self.life("aten::mul", leak_kb, t + 185, None)
        self.op("aten::mse_loss", t + 200, 10, line=30)
        self.life("aten::mse_loss", 1, t + 205, None if last else t + self.STEP + 206)  # held by a variable
        self.op(NODE + "ReluBackward0", t + 300, 30, BACKWARD)
        self.op("aten::threshold_backward", t + 305, 20, BACKWARD)
        self.life("aten::threshold_backward", 1024, t + 308, t + 390)  # autograd detail
        self.op(NODE + "AddmmBackward0", t + 350, 50, BACKWARD)
        self.op("aten::mm", t + 360, 20, BACKWARD)
        self.life("aten::mm", WEIGHT_KB, t + 365, None if last else t + self.STEP + 5)  # gradient
        self.op("Optimizer.step#Adam.step", t + 500, 100)
        self.op("aten::_foreach_add", t + 510, 20)
        self.life("aten::_foreach_add", 768, t + 515, t + 590)  # temporary: until the optimizer ends
        if number == 0:
            self.op("aten::zeros_like", t + 550, 10)
            self.life("aten::zeros_like", 1536, t + 555, None)  # a state of the optimizer

    def changes(self):
        """(time, KB, life or None) in order."""
        found = [(-1, BEFORE_KB, None), *((time, -kb, None) for time, kb in self.frees)]
        for number, (_, kb, begin, end) in enumerate(self.lives):
            found.append((begin, kb, number))
            if end is not None:
                found.append((end, -kb, number))
        return sorted(found, key=lambda change: change[0])

    def totals(self):
        """(time, bytes allocated) at every change."""
        held = 0
        for time, kb, _ in self.changes():
            held += kb << 10
            if time >= 0:
                yield time, held

    RESERVED = 16 << 20

    def trace(self, rank=0):
        events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": thread, "ts": START + begin,
                   "dur": length, "args": {"Call stack": stack} if stack else {}}
                  for name, begin, length, thread, stack in self.ops]
        for number, (call, copy) in enumerate(self.copies, 100):
            events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 1, "tid": MAIN,
                        "ts": START + call, "dur": 2, "args": {"correlation": number}},
                       {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0,
                        "tid": DEVICE_STREAM, "ts": START + copy, "dur": 5,
                        "args": {"device": 0, "stream": DEVICE_STREAM, "correlation": number, "bytes": 512 << 10}}]
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": MAIN,
                       "ts": START + 107, "dur": 1, "args": {"correlation": 99}})
        events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": DEVICE_STREAM, "ts": START + 120,
                       "dur": 50, "args": {"device": 0, "stream": DEVICE_STREAM, "correlation": 99}})
        for (time, kb, number), (_, total) in zip(self.changes()[1:], self.totals()):
            events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": MAIN,
                           "ts": START + time,
                           "args": {"Total Reserved": self.RESERVED, "Total Allocated": total, "Bytes": kb << 10,
                                    "Addr": 4096 * (1 + number if number is not None else 9000 + time),
                                    "Device Id": 0, "Device Type": 1}})
        return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}],
                "distributedInfo": {"rank": rank, "world_size": 1}, "traceEvents": events}

    def write_trace(self, file, rank=0):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(self.trace(rank)), encoding="utf-8")
        return file

    def write_text(self, capture, rank=0):
        output = capture / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        settings = {"config": {"common_config": {"profile_memory": True}}, "rank_id": rank}
        (capture / f"profiler_info_{rank}.json").write_text(json.dumps(settings), encoding="utf-8")

        def us(time):
            return "" if time is None else f"{START + time}.000\t"
        events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "Python"}},
                  {"ph": "M", "name": "process_name", "pid": 2, "tid": 0, "args": {"name": "Ascend Hardware"}}]
        for name, begin, length, thread, stack in self.ops:
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": thread,
                           "ts": f"{START + begin}.000", "dur": length, "args": {"Call stack": stack} if stack else {}})
        for number, (call, copy) in enumerate(self.copies, 100):
            flow = {"cat": "async_npu", "name": "async_npu", "id": number}
            events += [{"ph": "X", "name": "MEMCPY_ASYNC", "pid": 2, "tid": 0, "ts": f"{START + copy}.000", "dur": 5,
                        "args": {"Task Type": "MEMCPY_ASYNC", "Stream Id": 0, "Task Id": number}},
                       {**flow, "ph": "s", "pid": 1, "tid": MAIN, "ts": f"{START + call - 2}.000"},
                       {**flow, "ph": "f", "bp": "e", "pid": 2, "tid": 0, "ts": f"{START + copy}.000"}]
        (output / "trace_view.json").write_text(json.dumps(events), encoding="utf-8")
        rows = ["Name,Size(KB),Allocation Time(us),Release Time(us)"]
        rows += [f"{name},{kb},{us(begin)},{us(end)}" for name, kb, begin, end in self.lives]
        (output / "operator_memory.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        rows = ["Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB)"]
        rows += [f"PTA,{us(time)},{total / 2 ** 20},{self.RESERVED / 2 ** 20}" for time, total in self.totals()]
        (output / "memory_record.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        return capture
