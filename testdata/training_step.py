# SPDX-License-Identifier: Apache-2.0
"""One step of a made-up training run, about as rich as one of a real capture: scale_capture.py
repeats it. The model is a small transformer, trained data parallel, its activations gathered.

Host threads are walked through call by call, which gives every operator its stack; the device
takes up what they launch. As in synthetic_run.py records hold nanoseconds after EPOCH.
"""
import random
from contextlib import contextmanager

from synthetic_run import BACKWARD, MAIN, Record, Run

# What the names of things in another step begin with instead. More digits than a time has behind
# the step it is in, so nothing else looks like it.
IDS = 987654321
SITE = "/opt/conda/envs/sapling/lib/python3.10/site-packages/"
MODULE, FUNCTIONAL = "torch/nn/modules/module.py", "torch/nn/functional.py"
LOOP = [("/opt/conda/envs/sapling/lib/python3.10/runpy.py", 196, "_run_module_as_main"),
        ("/srv/sapling/pretrain.py", 212, "<module>"), ("/srv/sapling/pretrain.py", 205, "main"),
        (SITE + "torch/distributed/elastic/multiprocessing/errors/__init__.py", 346, "wrapper"),
        ("/srv/sapling/trainer/launch.py", 71, "with_recovery_from_lost_workers"),
        ("/srv/sapling/trainer/loop.py", 148, "run_epoch"),
        (SITE + "torch/utils/_contextlib.py", 115, "decorate_context"),
        ("/srv/sapling/trainer/loop.py", 96, "train_step")]
BLOCKS, PLANES, PARAMETERS = 3, 4, 6
STATE, INNER = "4096,1024", "4096,4096"
LINEAR, LINEAR_INNER = f"{STATE};1024,1024;1024", f"{INNER};4096,1024;1024"
MATRICES = {LINEAR: "4096,1024;1024,1024", LINEAR_INNER: "4096,4096;4096,1024"}
CUBE, VECTOR = "AI_CORE", "AI_VECTOR_CORE"


def unique(number):
    return IDS * 100000 + number


def matmul(us):
    return "aclnnMm_MatMulV2_MatMulV2", "MatMulV2", CUBE, us


def vector(call, kind, us):
    return f"aclnn{call}_{kind}AiCore_{kind}", kind, VECTOR, us


class TrainingStep(Run):
    """`seed` says which operators the model has; ranks and variants of a step differ in their times
    only."""
    step_length, core_types, enqueue_length = 100, True, 0.002

    def __init__(self, seed, rank, variant):
        model = random.Random(seed)
        self.gated, self.clamped = model.randrange(BLOCKS), model.randrange(BLOCKS)
        self.speed = random.Random(f"{seed} {rank}").uniform(0.8, 1.3)
        self.jitter = random.Random(f"{seed} {rank} {variant}")
        super().__init__(slow=False)
        for item in self.kernels + self.tasks + self.comm_ops:
            item["connection"] = unique(item.connection)

    # The host.

    def _host(self):
        self.now, self.thread, self.frames, self.open_calls = 0, MAIN, [], []
        self.ops, self.python, self.queue, self.fwdbwd, self.memory = [], [], [], [], []
        self.pending, self.collectives, self.differentiable, self.modules = [], [], [], {}
        with self.call("ProfilerStep#1"), self.python_frames(LOOP):
            self.forward()
            with self.python_frames([(SITE + "torch/_tensor.py", 487, "backward"),
                                     (SITE + "torch/autograd/__init__.py", 200, "backward")]):
                self.backward()
            self.compiled_call()
            self.optimizer()
        self.op = {op.key: op for op in self.ops}
        self.records = [("PTA", step / 10, 20480 + step % 64) for step in range(500)]

    def spend(self, low, high):
        self.now += self.jitter.randrange(low * 1000, high * 1000, 10)

    @contextmanager
    def call(self, name, shapes="", kernels=()):
        """An operator, which launches `kernels` before it ends."""
        op = Record(key=len(self.ops), name=name, thread=self.thread, start=self.now,
                    shapes=shapes.replace(";", ";\r\n"),
                    types=";\r\n".join(["c10::BFloat16"] * (shapes.count(";") + 1)),
                    stack=";\r\n".join(reversed(self.frames)) if self.thread == MAIN else "")
        self.ops.append(op)
        self.spend(6, 14)
        yield op
        for kernel in kernels:
            self.launch(op, *kernel, shapes)
        self.spend(3, 9)
        op["dur"] = self.now - op.start
        self.now += 300  # nothing begins where something ends, here and below

    def launch(self, op, name, kind, core, us, shapes):
        self.queue.append((unique(len(self.queue)), op.key, kind, self.now / 1e6,
                           self.now / 1e6 + 0.02, 0.012))
        tensors = MATRICES[shapes] if kind == "MatMulV2" else shapes
        self.pending.append((op.key, name, kind, core, us * self.speed, tensors, self.now + 40000))
        self.memory.append((op.name, 8192, self.now / 1e6, min(self.now // 1000000 + 40, 99)))
        self.spend(6, 10)

    def views(self, *names, shapes=STATE):
        """Operators around each other that launch nothing."""
        if names:
            with self.call(names[0], shapes):
                self.views(*names[1:], shapes=shapes)

    @contextmanager
    def python_call(self, name):
        parent = self.open_calls[-1] if self.open_calls else unique(0)
        item = Record(name=name, start=self.now, id=unique(len(self.python) + 1), parent=parent)
        self.python.append(item)
        self.open_calls.append(item.id)
        self.spend(1, 3)
        yield
        self.spend(1, 2)
        self.open_calls.pop()
        item["dur"] = self.now - item.start
        self.now += 300

    @contextmanager
    def python_frames(self, frames):
        if not frames:
            yield
            return
        path, line, function = frames[0]
        with self.python_call(f"{path.removeprefix(SITE)}({line}): {function}"):
            self.frames.append(f"{path}({line}): {function}")
            with self.python_frames(frames[1:]):
                yield
            self.frames.pop()

    def small_calls(self, count):
        for number in range(count):
            with self.python_call(f"{MODULE}({1600 + number % 7}): __getattr__"):
                pass

    @contextmanager
    def module(self, kind, file, line):
        number = self.modules[kind] = self.modules.get(kind, -1) + 1
        with self.python_frames([(SITE + MODULE, 1510, "_wrapped_call_impl"),
                                 (SITE + MODULE, 1519, "_call_impl")]):
            with self.python_call(f"nn.Module: {kind}_{number}"):
                self.small_calls(14)
                with self.python_frames([(file, line, "forward")]):
                    yield

    @contextmanager
    def functional(self, name, line):
        """What could be a module and is called as a function."""
        with self.python_frames([(SITE + FUNCTIONAL, line, name)]):
            self.small_calls(12)
            yield

    # The model.

    def forward(self):
        parallel = SITE + "torch/nn/parallel/distributed.py"
        with self.module("DistributedDataParallel", parallel, 1156):
            with self.module("Sapling", "/srv/sapling/model/sapling.py", 88):
                for block in range(BLOCKS):
                    with self.module("Block", "/srv/sapling/model/block.py", 41):
                        self.block(block)
                self.norm()
        with self.functional("cross_entropy", 3029):
            self.differentiated("aten::log_softmax", "LogSoftmax", STATE,
                                [vector("LogSoftmax", "LogSoftmaxV2", 60)])

    def block(self, block):
        self.norm()
        with self.module("Attention", "/srv/sapling/model/attention.py", 63):
            self.linear(LINEAR, 250)
            self.views("aten::view")
            self.views("aten::permute", "aten::as_strided")
            self.differentiated(
                "npu::npu_fusion_attention", "NpuFusionAttention", "4,1024,1024;4,1024,1024",
                [("aclnnFlashAttentionScore_FlashAttentionScore_FlashAttentionScore",
                  "FlashAttentionScore", "MIX_AIC", 160)],
                [("aclnnFlashAttentionScoreGrad_FlashAttentionScoreGrad_FlashAttentionScoreGrad",
                  "FlashAttentionScoreGrad", "MIX_AIC", 300)])
            self.linear(LINEAR, 200)
            self.dropout()
        self.differentiated("aten::add", "Add", f"{STATE};{STATE}", [vector("Add", "Add", 20)])
        self.norm()
        with self.module("Mlp", "/srv/sapling/model/mlp.py", 27):
            self.linear(LINEAR, 220)
            if block == self.clamped:
                self.differentiated("aten::clamp", "Clamp", INNER, [vector("Clamp", "Clip", 30)])
            name, kind = ("aten::silu", "Silu") if block == self.gated else ("aten::gelu", "Gelu")
            with self.functional(kind.lower(), 2059):
                self.differentiated(name, kind, INNER, [vector(kind, kind, 50)])
            self.linear(LINEAR_INNER, 600)
            self.dropout()
        self.differentiated("aten::add", "Add", f"{STATE};{STATE}", [vector("Add", "Add", 20)])
        self.collective("c10d::allgather_", "allGather", "group_1")

    def norm(self):
        with self.functional("layer_norm", 2515):
            with self.call("aten::layer_norm", f"{STATE};1024;1024"):
                self.differentiated(
                    "aten::native_layer_norm", "NativeLayerNorm", f"{STATE};1024;1024",
                    [("aclnnLayerNorm_LayerNormV3_LayerNormV3", "LayerNormV3", VECTOR, 35)])

    def dropout(self):
        with self.functional("dropout", 1252):
            with self.call("aten::dropout", STATE):
                self.differentiated("aten::native_dropout", "NativeDropout", STATE,
                                    [vector("Dropout", "DropOutDoMask", 18)])

    def linear(self, shapes, us):
        with self.module("Linear", SITE + "torch/nn/modules/linear.py", 114):
            with self.call("aten::linear", shapes):
                for _ in range(2):  # the weight and the bias
                    self.views("aten::t", "aten::transpose", "aten::as_strided", shapes="1024,1024")
                self.differentiated("aten::addmm", "Addmm", shapes,
                                    [matmul(us), vector("Addmm", "Cast", 12)],
                                    [matmul(us), matmul(us), vector("Sum", "ReduceSum", 15)])

    def differentiated(self, name, kind, shapes, kernels, backward=None):
        with self.call(name, shapes, kernels) as op:
            self.views("aten::empty", shapes=shapes)
        self.differentiable.append((op.key, kind, shapes, backward or kernels))

    def collective(self, name, kind, group):
        with self.call(name, STATE) as op:
            self.collectives.append((op.key, kind, group, self.now + 60000))

    def backward(self):
        self.thread = BACKWARD
        for number, (key, kind, shapes, kernels) in enumerate(reversed(self.differentiable), 1):
            with self.call(f"autograd::engine::evaluate_function: {kind}Backward0") as outer:
                with self.call(f"{kind}Backward0", shapes):
                    for kernel in kernels:
                        self.views("aten::t", "aten::transpose", "aten::as_strided", shapes=shapes)
                        with self.call(f"aten::{kernel[1].lower()}", shapes, [kernel]):
                            pass
            self.fwdbwd.append((unique(90000 + number), key, outer.key))
            if number % 9 == 0:
                self.collective("c10d::allreduce_", "allReduce", "group_0")
        for _ in range(BLOCKS * PARAMETERS):
            self.views("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                       "torch::autograd::AccumulateGrad", "aten::new_empty_strided",
                       "aten::empty_strided", "aten::detach", shapes="1024,1024")
        self.thread = MAIN

    def compiled_call(self):
        """A metric of the run, compiled: one steady call of a graph."""
        self.views("TorchDynamo Cache Lookup", shapes="")
        with self.call("Torch-Compiled Region: 0/0"), self.call("npu_fx_compiler inference"):
            with self.call("TorchNpuGraphBase::Run"):
                self.views("AssembleInputs", shapes="")
                self.views("AssembleOutputs", shapes="")
                with self.call("ExecuteGraph", "", [vector("Mean", "ReduceMean", 25)]):
                    pass

    def optimizer(self):
        with self.python_frames([(SITE + "torch/optim/optimizer.py", 280, "wrapper"),
                                 (SITE + "torch/optim/adamw.py", 171, "step")]):
            with self.call("Optimizer.step#AdamW.step"):
                for _ in range(BLOCKS * PARAMETERS):
                    self.small_calls(24)
                    with self.call("npu::npu_apply_adam_w", "1024,1024",
                                   [vector("ApplyAdamWV2", kind, 30)
                                    for kind in ("Mul", "Lerp", "Addcmul", "Sqrt", "Addcdiv")]):
                        self.views("aten::to", "aten::_to_copy", "aten::empty_strided",
                                   shapes="1024,1024")
                        self.views("aten::lerp_", "aten::as_strided", "aten::empty",
                                   shapes="1024,1024")
                self.views("aten::_foreach_add_", "aten::result_type", shapes="1024,1024")
            with self.call("Optimizer.zero_grad#AdamW.zero_grad"):
                for _ in range(BLOCKS * PARAMETERS):
                    self.views("aten::detach", "detach")

    # The device.

    def _device(self):
        free = 0
        for op, name, kind, core, us, shapes, ready in self.pending:
            us = round(us * self.jitter.uniform(0.9, 1.1), 2)
            self.kernel(op, name, kind, core, us / 1000, shapes, start=max(free, ready) / 1e6)
            self.kernels[-1]["output"] = STATE
            free = self.kernels[-1].start + self.kernels[-1].dur + 200
        for number in range(12):
            self.hardware("EVENT_WAIT", "EVENT_WAIT_SQE", 1 + 8 * number, 0.00002, 2, "EVENT_WAIT")
            self.hardware("MEMCPY_ASYNC", "SDMA_SQE", 1.5 + 8 * number, 0.004, 2)

    def _communication(self):
        rows, free = [], 0
        for number, (op, kind, group, ready) in enumerate(self.collectives):
            begin = max(free, ready) / 1e6
            wait = round(self.jitter.uniform(0.4, 0.9), 5)
            tasks = []
            for plane in range(PLANES):
                tasks.append((plane, "Notify_Wait", begin, wait + plane / 100))
                for part in range(4):
                    at = begin + wait + 0.05 + part * 0.3
                    tasks += [(plane, "Notify_Record", at, 0.002),
                              (plane, "Memcpy", at + 0.01, 0.15),
                              (plane, "Reduce_Inline", at + 0.18, 0.1)]
            length = wait + 1.3
            free = begin * 1e6 + length * 1e6 + 1000
            rows.append((op, f"hcom_{kind}__{unique(number)}_1", f"hcom_{kind}_", group, begin,
                         length, tasks))
        self.add_collectives(rows)
        assert free < 99e6 and self.now < 99e6, "does not fit into the step"

    # What the trace and the database hold beyond the other captures.

    def cann_calls(self):
        """(connection, level, name, start, duration, launched item): what launching takes."""
        for number, item in enumerate(self.launches):
            at = item.op.start + 1000 + 20 * (number % 50)
            name = item.type.strip("_") if item.type else item.name
            yield unique(20000 + 2 * number), "AscendCL", f"aclnn{name}", at, 9000, None
            yield unique(20001 + 2 * number), "AscendCL", f"{name}_Tiling", at + 500, 3000, None
            yield item.connection, "Node", "launch", at + 4000, 4500, item
