# SPDX-License-Identifier: Apache-2.0
"""What the process of a raw capture does: a small training run, every step alike."""
from contextlib import ExitStack, contextmanager

import raw_layout as raw

STACK = "model.py(12): forward;train.py(20): step;train.py(31): <module>"
X, W, B = (1024, 512), (512, 512), (512,)


def tensors(*inputs, out=X, kind="DT_BF16", layout="ND"):
    return [(0, layout, kind, shape) for shape in inputs] + [(1, layout, kind, out)]


@contextmanager
def module(process, name, number):
    """A range of the domain Module around the code of a module, and its Python call."""
    main = process.main
    with process.python(main, f"{name}######{140000000000 + number}"):
        begin = process.ticks_after(main, 60)
        yield
        process.range_mark(main, "Module", name, begin)


def workspace(process, thread, acl):
    """The call on the thread of the operator that plans a kernel."""
    with process.call(thread, raw.ACL, acl + "GetWorkspaceSize", 5 << 16):
        thread.spend(process.about(1200))


def operator(process, thread, name, kernels, sequence=-1, forward_thread=0, inner=None, shapes="",
             types=""):
    """An operator that hands `kernels` (arguments of Process.kernel) to the task queue."""
    with ExitStack() as nest:
        nest.enter_context(process.op(thread, name, shapes, types, sequence, forward_thread,
                                      int(forward_thread > 0),
                                      None if forward_thread else STACK))
        if inner:
            nest.enter_context(process.op(thread, inner, shapes, types, sequence, forward_thread,
                                          int(forward_thread > 0)))
        for kernel in kernels:
            workspace(process, thread, kernel["acl"])
            stream = process.streams[kernel.pop("on", 2)]
            process.enqueue(thread, kernel["acl"],
                            lambda queue, kernel=kernel, stream=stream:
                            process.kernel(queue, stream, **kernel))
        return len(process.truth["host_ops"]) - 1


def switch_streams(process, thread, first, then):
    """`then` waits for what `first` has to do."""
    done = []
    process.enqueue(thread, "record_event", lambda queue: done.append(
        process.event(queue, first, wait=False)))
    process.enqueue(thread, "wait_event", lambda queue: process.event(
        queue, then, wait=True, after=done[0]))


def matmul(acl, time, blocks=24, scratch=1 << 20):
    return dict(acl=acl, op_type="MatMulV2", core="AI_CORE", time=time, blocks=blocks,
                tensors=tensors(X, W, B), scratch=scratch, flag=int(acl == "aclnnAddmm"))


def vector(acl, op_type, time, inputs=(X,), blocks=40):
    return dict(acl=acl, op_type=op_type, core="AI_VECTOR_CORE", time=time, blocks=blocks,
                tensors=tensors(*inputs))


def attention(acl, time):
    return dict(acl=acl, op_type="FlashAttentionScore", core="MIX_AIC", time=time, blocks=20,
                ratio=2, tensors=tensors(*[(2, 8, 512, 64)] * 5, out=(2, 8, 512, 64)))


def communicate(process, thread, name, op_type, parts, count, grouped):
    compute, streams = process.streams[2], (process.streams[5], process.streams[6])
    with process.op(thread, name, "512,512", "c10::BFloat16"):
        switch_streams(process, thread, compute, streams[0])
        process.enqueue(thread, name, lambda queue: process.collective(
            queue, streams, op_type, "dp_group_0", count, "BFP16", parts, grouped))


def parts(process, payload, time, reduce=False):
    peer = 1 - process.setup.rank
    moves = "Reduce_Inline" if reduce else "Memcpy"
    return [("Memcpy", 0, raw.NONE, payload, "ON_CHIP", "SDMA", 3000),
            ("Notify_Record", 0, peer, 0, "RESERVED", "LOCAL", 400),
            ("Notify_Wait", 0, peer, 0, "RESERVED", "LOCAL", 5200),
            (moves, 0, peer, payload, "HCCS", "SDMA", time),
            ("Notify_Record", 1, peer, 0, "RESERVED", "LOCAL", 440),
            ("Notify_Wait", 1, peer, 0, "RESERVED", "LOCAL", 6200),
            ("Memcpy", 1, peer, payload // 2, "HCCS", "SDMA", time)]


def forward(process, layers):
    main, compute = process.main, process.streams[2]
    pairs = []
    with process.python(main, "loader.py(7): next_batch"):
        with process.op(main, "aten::to", "8,512", "long int"):
            process.allocator(main, "malloc", 0x100000, 1 << 20)
            process.enqueue(main, "acl_memcpy_host_to_device",
                            lambda queue: process.copy(queue, compute, 16384, 1))
    communicate(process, main, "HcclBroadcast", "hcom_broadcast_", parts(process, 1 << 20, 9000),
                1 << 19, False)
    for layer in range(layers):
        with module(process, "Linear", layer):
            process.sequence += 1
            pairs.append((process.sequence, operator(
                process, main, "aten::linear", [matmul("aclnnAddmm", 42000)], process.sequence,
                inner="aten::addmm", shapes="1024,512;512,512;512",
                types="c10::BFloat16;c10::BFloat16;c10::BFloat16")))
        with module(process, "SelfAttention", layer):
            process.sequence += 1
            pairs.append((process.sequence, operator(
                process, main, "npu::npu_fusion_attention",
                [attention("aclnnFlashAttentionScore", 31000)], process.sequence,
                shapes="2,8,512,64", types="c10::BFloat16")))
            operator(process, main, "aten::add", [vector("aclnnAdd", "Add", 5000, (X, X))])
            if process.stars:
                operator(process, main, "aten::dropout", [dict(
                    acl="aclnnDropoutGenMaskV2", op_type="DSAGenBitMask", core="DSA_SQE",
                    time=2600, blocks=0, tensors=tensors(out=(65536,), kind="UINT8"), on=3)])
                with process.op(main, "aten::_masked_scale"):
                    switch_streams(process, main, process.streams[3], compute)
    operator(process, main, "aten::cat", [vector("aclnnCat", "ConcatD", 7000, [X] * 6)])
    return pairs


def backward(process, pairs):
    thread, main = process.backward, process.main
    thread.wait(main.now + 400)
    for sequence, forward_op in reversed(pairs):
        attends = "attention" in process.truth["host_ops"][forward_op]["name"]
        node = "NpuFusionAttentionBackward0" if attends else "AddmmBackward0"
        kernels = ([attention("aclnnFlashAttentionScoreGrad", 52000)] if attends else
                   [matmul("aclnnMm", 38000), matmul("aclnnMatmul", 36000, scratch=0)])
        backward_op = operator(process, thread, f"autograd::engine::evaluate_function: {node}",
                               kernels, sequence, main.number, inner=node)
        process.truth["fwd_bwd"].append({"sequence": sequence, "forward": forward_op,
                                         "backward": backward_op})
    communicate(process, thread, "HcclAllreduce", "hcom_allReduce_",
                parts(process, 4 << 20, 21000, True), 1 << 21, process.stars)
    main.wait(thread.now + 400)


def optimize(process):
    main, compute = process.main, process.streams[2]
    with process.op(main, "Optimizer.step#AdamW.step", scope=7):
        with process.op(main, "aten::_local"):
            switch_streams(process, main, process.streams[5], compute)
        operator(process, main, "npu::npu_apply_adam_w",
                 [vector("aclnnApplyAdamW", "ApplyAdamW", 9000, [W] * 4)])
    operator(process, main, "aten::nonzero", [dict(
        acl="aclnnNonzero", op_type="NonZero", core="AI_CPU", time=64000, blocks=1,
        tensors=tensors((8, 512), out=(4096, 2), kind="INT64"))])
    with process.op(main, "aten::item"):
        process.directly(lambda: process.copy(main, compute, 4, 2, "aclrtMemcpy"))
        with process.call(main, raw.ACL, "aclrtSynchronizeStream", 3 << 16):
            main.wait(max(stream.free for stream in process.streams.values()) + 3000)
    process.allocator(main, "free", 0x100000, 1 << 20)
    process.allocator(main, "block_free", 0x100000, 1 << 20)


def step(process, number, layers):
    main = process.main
    began = main.now
    process.truth["steps"].append({"id": number})
    first = process.correlation + 1
    with process.op(main, f"ProfilerStep#{number}", scope=6, stack=STACK) as op:
        with process.python(main, "train.py(20): step"):
            note = []
            if process.stars:
                process.point_mark(main, "default", "loss: 0.25, " * 30)
                begin = process.ticks_after(main, 60)
                with process.op(main, "mark"):
                    process.enqueue(main, "mark", lambda queue: note.append(
                        process.trace_task(queue, process.streams[2])))
            pairs = forward(process, layers)
            if process.stars:
                with process.op(main, "mark"):
                    process.enqueue(main, "mark", lambda queue: note.append(
                        process.trace_task(queue, process.streams[2])))
                process.range_mark(main, "default", "forward", begin, note)
            backward(process, pairs)
            optimize(process)
            process.collect_garbage(main, 12000)
        process.sample_memory(began, 30 << 30)
        # Handed over when nobody waits any more: it ends after the step.
        operator(process, main, "aten::mul_", [vector("aclnnInplaceMul", "Mul", 61000)])
    host = process.truth["host_ops"][op]
    work = [item for key in ("kernels", "tasks", "collectives") for item in process.truth[key]
            if (item["correlation"] or 0) >= first]
    process.truth["steps"][-1].update(
        op=op, host_start_ns=host["start_ns"], host_end_ns=host["end_ns"],
        device_start_ns=min(work, key=lambda item: (item["correlation"], item["start_ns"]))
        ["start_ns"],
        device_end_ns=max(host["end_ns"], max(
            work, key=lambda item: (item["correlation"], item["end_ns"]))["end_ns"]))
    main.wait(max(stream.free for stream in process.streams.values()) + 20000)
    main.now += -main.now % 1000  # steps begin with a microsecond, the unit of some samples


def start(process):
    """What comes before the steps: a kernel from before the start of the device, its switches."""
    process.queue.wait(1_000_000)
    process.kernel(process.queue, process.streams[2], "aclnnMuls", "Mul", "AI_VECTOR_CORE", 1600, 1,
                   tensors((64,), out=(64,)), before_start=True)
    process.main.wait(7_800_000)
    process.simple_task(process.main, process.streams[9], "PROFILING_ENABLE", "PLACE_HOLDER_SQE",
                        20, None)
    process.main.wait(8_000_000)


def finish(process):
    process.simple_task(process.main, process.streams[9], "PROFILING_DISABLE", "PLACE_HOLDER_SQE",
                        20, None)
    return process.main.now + 1_000_000
