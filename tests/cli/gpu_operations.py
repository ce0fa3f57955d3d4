# SPDX-License-Identifier: Apache-2.0
"""The operations of a trace of a GPU, worked out from its events alone: those that each operator asks for, and which
kernels it launched. Shares no code with the program."""

import ast
import gzip
import json
from collections import defaultdict
from decimal import Decimal
from math import prod

PRODUCTS = {"aten::mm": (0, 1), "aten::addmm": (1, 2), "aten::bmm": (0, 1), "aten::baddbmm": (1, 2)}
LINEAR = ("aten::linear", "vllm::rocm_unquantized_gemm", "aiter::gemm_a16w16")


def positions(size, window, stride, padding, dilation):
    """Where a window fits onto one dimension of an image."""
    return len(range(0, size + 2 * padding - dilation * (window - 1), stride))


def convolution(shapes, values):
    image, weight = shapes[:2]
    stride, padding, dilation = (ast.literal_eval(values[i]) for i in (3, 4, 5))
    assert values[6] == "False"
    places = prod(positions(*sizes) for sizes in zip(image[2:], weight[2:], stride, padding, dilation))
    outputs = image[0] * weight[0] * places
    return 2 * outputs * prod(weight[1:])


def convolution_backward(shapes, values):
    assert values[7] == "False"
    of_input, of_weight, _ = ast.literal_eval(values[10])
    return (of_input + of_weight) * 2 * prod(shapes[0]) * prod(shapes[2][1:])


def attention(shapes, values, causal):
    batch, heads, queries, size = shapes[0]
    scores = queries * shapes[1][2]
    assert values[causal] == "False" or queries == shapes[1][2]
    return 2 * batch * heads * scores * (size + shapes[2][3]) // (2 if values[causal] == "True" else 1)


def paged_prefill(shapes, values):
    sequences, longest = shapes[3][0] - 1, int(values[6])
    assert sequences * longest == shapes[0][0] and values[7] == values[6] and values[12] == "True"
    return 2 * sequences * shapes[0][1] * longest * longest // 2 * (2 * shapes[0][2])


def operations(operator):
    """None for an operator that asks for none."""
    name, arguments = operator["name"], operator["args"]
    shapes, values = arguments.get("Input Dims"), arguments.get("Concrete Inputs")
    if name in PRODUCTS:
        left, right = (shapes[i] for i in PRODUCTS[name])
        return 2 * prod(left) * right[-1]
    if name in LINEAR:
        return 2 * prod(shapes[0]) * shapes[1][0]
    if name == "aten::convolution":
        return convolution(shapes, values)
    if name == "aten::convolution_backward":
        return convolution_backward(shapes, values)
    if name == "aten::_scaled_dot_product_flash_attention":
        return attention(shapes, values, causal=4)
    if name == "aiter::mha_batch_prefill":
        return paged_prefill(shapes, values)
    return None


def events_of(path):
    text = gzip.decompress(path.read_bytes())
    document = json.loads(text, parse_float=Decimal)
    return [event for event in document["traceEvents"] if event.get("ph") == "X"]


def counted_kernels(path):
    """{(start in ns, name) of a kernel: the operator around its launch that asks for operations, with these}."""
    events = events_of(path)
    threads, calls = defaultdict(list), {}
    for event in events:
        if event["cat"] == "cpu_op":
            threads[event["pid"], event["tid"]].append(event)
        elif event["cat"] in ("cuda_runtime", "cuda_driver"):
            calls[event["args"].get("correlation")] = event
    for operators in threads.values():
        operators.sort(key=lambda event: (event["ts"], -event["dur"]))
    found = {}
    for kernel in events:
        call = calls.get(kernel["args"].get("correlation")) if kernel["cat"] == "kernel" else None
        if call is None:
            continue
        around = [operator for operator in threads[call["pid"], call["tid"]]
                  if operator["ts"] <= call["ts"] < operator["ts"] + operator["dur"]]
        for operator in reversed(around):  # the innermost first
            count = operations(operator)
            if count is not None:
                found[round(kernel["ts"] * 1000), kernel["name"]] = (id(operator), operator["name"], count)
                break
    return found
