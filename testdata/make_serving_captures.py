#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes captures of a server: serving_base.json and serving_new.json in testdata/captures.

Each is a trace of a GPU whose steps are named as vLLM names them. README.md says what they take.
"""

import json
from pathlib import Path

CAPTURES = Path(__file__).resolve().parent / "captures"
START, HOST, DEVICE, STREAM = 1_000_000, 4000, 0, 7
MARK, ATTENTION, SAMPLING = 60, 40, 10  # us
# How servers name a step that reads prompts, one that decodes, and one that does nothing.
VLLM = ("execute_context_{requests}({tokens})_generation_0(0)", "execute_context_0(0)_generation_{requests}({tokens})",
        "execute_context_0(0)_generation_0(0)")
DETAILED = ("execute_{tokens}_context_{requests}(sq{tokens}sk9sqsq9sqsk9)_generation_0(sq0sk0sqsq0sqsk0)",
            "execute_{tokens}_context_0(sq0sk0sqsq0sqsk0)_generation_{requests}(sq{tokens}sk9sqsq9sqsk9)",
            "execute_0_context_0(sq0sk0sqsq0sqsk0)_generation_0(sq0sk0sqsq0sqsk0)")
SGLANG = ("step[EXTEND bs={requests} toks={tokens}]", "step[DECODE bs={requests}]", "step[IDLE bs=0]")
PREFILL, DECODE, DUMMY = range(3)


def steps(more=0, other=16, prompts=0):
    """Phase, requests, tokens, length, matrix product (us). The first step of 32 requests warms up. `more`: time of
    the host that each of the others takes longer, `prompts`: that of the steps that read prompts."""
    return ([(PREFILL, 2, 4000, 1000 + prompts, 700)] * 3 + [(DECODE, other, other, 200, 100)] * 3 +
            [(DECODE, 32, 32, 600, 100)] + [(DECODE, 32, 32, 300 + more, 100)] * 5)


def span(category, name, tid, begin, length, pid=HOST, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": begin, "dur": length,
            "args": args}


def trace(all_steps, names=VLLM, mark="user_annotation"):
    """In each step attention and a matrix product, then a kernel that the sampler launches. The device has nothing
    to do in the rest of the step, which lasts until the next begins."""
    events, begin, number = [], START, 0
    for phase, requests, tokens, length, product in all_steps:
        name = names[phase].format(requests=requests, tokens=tokens)
        events.append(span(mark, name, HOST, begin, MARK))
        events.append(span("python_function", "vllm/v1/sample/sampler.py(90): forward", HOST, begin + MARK + 2, 8))
        kernels = ((5, "flash_fwd_splitkv_kernel", 20, ATTENTION), (10, "sgemm_128x64", 60, product),
                   (MARK + 5, "elementwise_kernel", 70 + product, SAMPLING))
        for launched, kernel, start, duration in kernels if phase != DUMMY else kernels[1:2]:
            number += 1
            events += [span("cuda_runtime", "cudaLaunchKernel", HOST, begin + launched, 2, correlation=number),
                       span("kernel", kernel, STREAM, begin + start, duration, pid=DEVICE, device=DEVICE,
                            stream=STREAM, correlation=number)]
        begin += length
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}],
            "distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": events}


def main():
    for name, run in (("serving_base", steps()), ("serving_new", steps(more=30, other=64))):
        path = CAPTURES / f"{name}.json"
        document = trace(run)
        lines = ",\n".join(json.dumps(event) for event in document.pop("traceEvents"))
        head = json.dumps(document)[:-1]
        path.write_text(f'{head}, "traceEvents": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
