#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes captures/graph_replay: a trace in which captured graphs are replayed, beside it the traces
of their capture, and captures/graph_foreign: captures of other graphs.

    make_graph_captures.py

The model has an embedding, three layers and a head. A layer normalises, multiplies matrices, attends
and adds; its kernels take 2, 20, 10 and 3 us, with 1 us between kernels. The graph was captured for 2
and for 4 tokens. Step 1 has 2 tokens and step 2 has 3, so its graph is that for 4 tokens. In the file
the times are microseconds.
"""

import json
from pathlib import Path

CAPTURES = Path(__file__).resolve().parent / "captures"
HOST, DEVICE = 100, 0
LAYERS = 3
GEMM = "void gemm<float, 64>(float const*, float const*, float*)"
LAYER = (("RMSNorm", "aten::rms_norm", "void rms_norm<float>(float*)", 2),
         ("Linear", "aten::mm", GEMM, 20),
         ("Attention", "vllm::unified_attention", "paged_attention_v1", 10),
         ("Add", "aten::add", "void add<float>(float*, float*)", 3))
FIRST = ("Embedding", "aten::embedding", "void embedding<float>(float*, long*)", 4)
LAST = ("Linear", "aten::mm", GEMM, 30)


def kernels():
    """(module, operator, kernel, us, layer or None) in order."""
    yield (*FIRST, None)
    for layer in range(LAYERS):
        for item in LAYER:
            yield (*item, layer)
    yield (*LAST, None)


def span(category, name, ts, dur, tid=HOST, pid=HOST, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
            "args": args}


def shapes_of(operator, tokens):
    if operator == "aten::mm":
        return [[tokens, 64], [64, 32]]
    return [[tokens, 64]]


def capture(tokens, items=None, named=True):
    """The trace of the capture: an eager run before it, then the graph. No captured launch has work on
    the device."""
    events = [span("cuda_runtime", "cudaLaunchKernel", 10, 2, correlation=1, kernel=FIRST[2]),
              span("kernel", FIRST[2], 15, 4, tid=7, pid=DEVICE, device=DEVICE, stream=7,
                   correlation=1),
              span("cuda_runtime", "cudaStreamBeginCapture", 30, 2, correlation=2)]
    at, correlation, current = 40, 10, None
    open_layer = []

    def close_layer(end):
        if open_layer:
            layer, begin = open_layer.pop()
            events.append(span("python_function", f"nn.Module: Layer_{layer}", begin, end - begin))

    for module, operator, kernel, _, layer in items or kernels():
        if layer != current:
            close_layer(at - 1)
            current = layer
            if layer is not None:
                open_layer.append((layer, at - 1))
        number = 0 if layer is None else layer
        events.append(span("python_function", f"nn.Module: {module}_{number}", at, 30))
        events.append(span("python_function", "model.py(10): forward", at + 1, 28))
        events.append(span("cpu_op", "aten::empty", at + 2, 3))
        events.append(span("cpu_op", operator, at + 6, 20,
                           **{"Input Dims": shapes_of(operator, tokens),
                              "Input type": ["c10::BFloat16"] * len(shapes_of(operator, tokens))}))
        args = {"correlation": correlation}
        if named:
            args["kernel"] = kernel
        events.append(span("cuda_runtime", "cudaLaunchKernel", at + 10, 5, **args))
        at, correlation = at + 40, correlation + 1
    close_layer(at - 1)
    events.append(span("cuda_runtime", "cudaStreamEndCapture", at, 3, correlation=3))
    events.append(span("user_annotation", f"capture_{tokens}_FULL", 25, at + 10 - 25))
    return events


def replay(steps=((1, 2), (2, 3))):
    """Each step launches the graph; its kernels run one after the other."""
    events = []
    for step, tokens in steps:
        begin = 1000 * step
        name = f"execute_{tokens}_context_0(sq0sk0sqsq0sqsk0)_generation_{tokens}(sq{tokens})"
        events.append(span("user_annotation", name, begin, 400))
        events.append(span("cuda_runtime", "cudaGraphLaunch", begin + 50, 100, correlation=step))
        events.append({"ph": "s", "cat": "ac2g", "name": "ac2g", "id": step, "pid": HOST,
                       "tid": HOST, "ts": begin + 50})
        at = begin + 100
        for _, _, kernel, dur, _ in kernels():
            events.append(span("kernel", kernel, at, dur, tid=7, pid=DEVICE, device=DEVICE,
                               stream=7, correlation=step))
            at += dur + 1
    return events


def document(events):
    lines = ",\n".join(json.dumps(event) for event in events)
    return ('{"schemaVersion": 1,\n"deviceProperties": [{"id": 0, "name": "Made up"}],\n'
            '"distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},\n'
            f'"traceEvents": [\n{lines}\n]}}\n')


def write(path, events):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document(events), encoding="utf-8")


def main():
    run = CAPTURES / "graph_replay"
    write(run / "decode.json", replay())
    graphs = run / "capture_traces"
    listed = []
    for tokens in (2, 4):
        name = f"graph_capture_rank_0.{tokens}.json"
        write(graphs / name, capture(tokens))
        listed.append({"file": name, "batch_size": tokens, "mode": "FULL"})
    (graphs / "execution_details.json").write_text(json.dumps(listed, indent=1) + "\n",
                                                   encoding="utf-8")
    foreign = CAPTURES / "graph_foreign"
    items = list(kernels())
    write(foreign / "fewer_kernels.json", capture(2, items[:-1]))
    renamed = [(m, o, "other_" + k if layer == 1 else k, d, layer) for m, o, k, d, layer in items]
    write(foreign / "other_names.json", capture(2, renamed))
    write(foreign / "no_names.json", capture(2, named=False))


if __name__ == "__main__":
    main()
