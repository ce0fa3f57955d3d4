#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plants chains of kernels that one kernel could replace, and looks for them in what advisor says.

    test_fusions.py --tool BINARY [--shared DIR]

Kernels of a capture of testdata get other names, so that one known fusion after the other runs unfused on one stream,
as text, as database, and without types. Each has to be named with its place and the time of the kernels that would
be gone, and so has what breaks it, where a conversion or the like stands between its pieces. Where the pieces are on
several streams, or what one writes is not what the next one reads, nothing may be said. The same on the real captures
of DIR/data, if there are any: as they are, they have no such finding. In a job of DIR/data that waits for its devices,
the chains are findings that save this time.

Exit status: 0 met, 1 otherwise, 2 usage.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
sys.dont_write_bytecode = True

from captures import build_database  # noqa: E402: found only now
from planting import Piece, kernels, plant  # noqa: E402

CAPTURES = HERE.parents[1] / "testdata" / "captures"
STEPS = 2  # of the capture, of which the first one has the chain
FORMS = ("text_base_ascend_pt", "db_base_ascend_pt", "text_level0_ascend_pt")
SHAPE = "8,64"
READS = {"MatMulV2": "8,64;64,64", "MatMulV3": "8,64;64,64", "BatchMatMul": "8,64;64,64",
         "BatchMatMulV2": "8,64;64,64", "Conv2D": "8,64;3,3", "BiasAdd": "8,64;64", "Concat": "8,32;8,32",
         "ConcatD": "8,64;8,64", "Pack": "16,64;16,64"}
WRITES = {"ConcatD": "16,64", "Neg": "8,32", "Pack": "32,64"}

# The end of the key, the kernels, and which of them stay beside the longest.
CHAINS = [
    ("conv_bn_act", "Conv2D BNInfer Relu", ""),
    ("conv_bn_act", "Conv2D BatchNormV3 Add LeakyRelu", ""),
    ("conv_bn_act", "Conv2D BNTrainingReduce BNTrainingUpdate Relu", "BNTrainingUpdate"),
    ("conv_bn", "Conv2D BNInfer", ""),
    ("conv_act", "DepthwiseConv2D Relu6", ""),
    ("conv_act", "Conv2D Add Relu", ""),
    ("conv_bias", "Conv2D BiasAdd", ""),
    ("conv_swish", "Conv2D Sigmoid Mul", ""),
    ("conv_hardswish", "Conv2D Add Relu6 Mul Mul", ""),
    ("conv_dequant", "Conv2D AscendDequant", ""),
    ("pad_conv", "PadV3 Conv2D", ""),
    ("conv_grad_act", "Conv2DBackpropInput ReluGrad", ""),
    ("bn_act", "BNInfer Relu", ""),
    ("matmul_bias_act", "MatMulV2 BiasAdd Relu", ""),
    ("matmul_bias_act", "MatMulV3 Add Gelu", ""),
    ("matmul_bias", "MatMulV2 BiasAdd", ""),
    ("matmul_act", "MatMulV3 Swish", ""),
    ("matmul_act", "BatchMatMulV2 Tanh", ""),
    ("matmul_dequant", "MatMulV2 AscendDequant", ""),
    ("matmul_softmax", "MatMulV2 SoftmaxV2", ""),
    ("matmul_softmax", "MatMulV2 Muls MaskedFill SoftmaxV2", ""),
    ("attention", "MatMulV2 SoftmaxV2 MatMulV3", "MatMulV2 MatMulV3"),
    ("attention", "BatchMatMul Muls SoftmaxV2 BatchMatMulV2", "BatchMatMul BatchMatMulV2"),
    ("masked_softmax", "Muls Add SoftmaxV2", ""),
    ("rms_norm", "Square ReduceMean Adds Rsqrt Mul", ""),
    ("add_rms_norm", "Add RmsNorm", ""),
    ("layer_norm", "ReduceMean Sub Square ReduceMean Add Sqrt RealDiv Mul", ""),
    ("add_layer_norm", "Add LayerNormV4", ""),
    ("group_norm_silu", "GroupNorm Swish", ""),
    ("softmax", "ReduceMax Sub Exp ReduceSum RealDiv", ""),
    ("gelu", "Div Erf Add Mul Mul", ""),
    ("hardswish", "Add Relu6 Mul Div", ""),
    ("swiglu", "Swish Mul", ""),
    ("geglu", "Gelu Mul", ""),
    ("rotary_mul", "Neg Concat Mul Add", ""),
    ("gating", "SoftmaxV2 TopKV2", ""),
]
# Types in a row tell nothing of these: shapes have to be recorded.
WITH_SHAPES = [("cat_cat", "ConcatD Pack", "")]
BREAKERS = {"Reshape": "Reshape", "DropOutDoMaskV3": "Dropout", "Cast": "Cast", "TransData": "TransData",
            "Transpose": "Transpose"}
BROKEN = [(f"{key}/{name}", f"{first} {kernel} {rest}", stays + (kernel if name == "Dropout" else ""))
          for key, first, rest, stays in (("conv_bn_act", "Conv2D", "BNInfer Relu", ""),
                                          ("matmul_bias_act", "MatMulV2", "BiasAdd Relu", ""),
                                          ("matmul_softmax", "MatMulV2", "SoftmaxV2", ""))
          for kernel, name in BREAKERS.items()]
# Real captures, where a convolution is followed by a conversion and an activation.
# In a job that was made: with the title of the finding.
JOB = "sim/slow_rank/db"
OF_JOB = [("conv_bn_act", "Conv2D BNInfer Relu", "", "Conv + BN + activation run unfused (all ranks)"),
          ("matmul_bias_act/TransData", "MatMulV3 BiasAdd TransData Relu", "",
           "TransData breaks MatMul + bias + activation (all ranks)"),
          ("matmul_softmax", "MatMulV3 SoftmaxV2", "", "MatMul + Softmax run unfused (all ranks)")]
REAL = [f"npu/{form}/level{level}/rank0_ascend_pt" for form in ("text", "db") for level in (0, 1)]


def advice(tool, capture):
    run = subprocess.run([tool, "advisor", "all", "-d", capture, "--json"], cwd=capture, capture_output=True,
                         check=False)
    if run.returncode not in (0, 5):  # launches of kernels that are taken out stay
        raise ValueError(f"exit status {run.returncode}: {run.stderr.decode(errors='replace')[-300:]}")
    return json.loads(run.stdout)


def copy_of(form, scratch):
    if (CAPTURES / form).is_dir():
        return Path(shutil.copytree(CAPTURES / form, Path(scratch, form)))
    return build_database(CAPTURES, form, scratch)


def pieces_of(types):
    return [Piece(kind, READS.get(kind, SHAPE), WRITES.get(kind, SHAPE)) for kind in types.split()]


def window(capture, first, length):
    """Kernels of the capture in a row, from the one of that name on."""
    found = kernels(capture)
    at = next(i for i, kernel in enumerate(found) if kernel.name == first)
    return found[at:at + length]


def opened(report):
    """What advisor says of fusions of kernels that are not done: {key: row}."""
    fusions = report.get("fusions", {"open": []})
    return {row["key"].removeprefix("op.unfused/"): row for row in fusions["open"]}


def gone_ns(planted, stays):
    """Of all kernels but the longest piece and what stays; what stands between the pieces is none of them."""
    longest = max((kernel for kernel, piece in planted if piece.type not in BREAKERS), key=lambda kernel: kernel.dur)
    return sum(kernel.dur for kernel, piece in planted if kernel is not longest and piece.type not in stays.split())


def judge_chain(tool, form, chain, scratch):
    key, types, stays = chain
    capture = copy_of(form, scratch)
    pieces = pieces_of(types)
    planted = list(zip(window(capture, "Conv2D1", len(pieces)), pieces))
    plant(capture, planted)
    report = advice(tool, capture)
    row = opened(report).get(key)
    if row is None:
        yield f"not named: {list(opened(report))}"
        return
    want = gone_ns(planted, stays) / STEPS
    if abs(row["gone_ns"] - want) > 1 + want / 1000 or row["calls_per_step"] != 1 / STEPS:
        yield f"{row['gone_ns']} ns of {row['calls_per_step']} chains a step would be gone, want {want}"
    if row["name"] not in {piece.name for _, piece in planted}:
        yield f"its place is {row['name']}"


def judge_number(tool, form, keys, scratch):
    """As many patterns are known as are planted, and none of them is there unplanted."""
    fusions = advice(tool, copy_of(form, scratch)).get("fusions")
    if fusions != {"known": len(keys), "open": []}:
        yield f"says {fusions}, {len(keys)} are planted"


def judge_silence(tool, form, spoil, scratch):
    """No chain of a convolution where one of its pieces is spoilt."""
    capture = copy_of(form, scratch)
    pieces = pieces_of("Conv2D BNInfer Relu")
    planted = list(zip(window(capture, "Conv2D1", len(pieces)), pieces))
    spoil(pieces)
    plant(capture, planted)
    found = [key for key in opened(advice(tool, capture)) if key.startswith(("conv", "bn"))]
    if found:
        yield f"says {found}"


def on_another_stream(pieces):
    pieces[1].stream = 77


def of_other_tensors(pieces):
    pieces[1].read = pieces[1].written = "5,7"


def judge_job(tool, job, chain, scratch):
    """A chain on all ranks and in all steps of a job that waits for its devices is a finding with its price."""
    key, types, stays, title = chain
    copy = Path(shutil.copytree(job, Path(scratch, key.replace("/", "_"))))
    gone = []
    for capture in copy.iterdir():
        found = kernels(capture)
        for i, kernel in enumerate(found):
            if kernel.type == "LogSoftmaxV2":  # behind the product of the last layer
                planted = list(zip(found[i - 1:], pieces_of(types)))
                plant(capture, planted)
                gone.append(gone_ns(planted, stays))
    found = [f for f in advice(tool, copy)["findings"] if f["key"] == f"op.unfused/{key}"]
    want = sum(gone) / len(gone)
    if not found:
        yield "no finding"
    elif abs(found[0]["gain_ns"] - want) > want / 10:
        yield f"saves {found[0]['gain_ns']} ns, want about {want}"
    elif found[0]["text"]["title"] != title:
        yield found[0]["text"]["title"]


def judge_real(tool, capture, scratch):
    """A healthy capture has no finding; a chain planted into it is named with its time."""
    name = "_".join(capture.parts[-4:])
    before = opened(advice(tool, capture))
    if loud := [key for key, row in before.items() if row["is_finding"]]:
        yield f"as it is: finds {loud}"
    copy = Path(shutil.copytree(capture, Path(scratch, name), ignore=shutil.ignore_patterns("PROF_*", "FRAMEWORK")))
    row, = window(copy, "Conv2D1", 1)
    at = next(i for i, kernel in enumerate(kernels(copy)) if kernel.key == row.key)
    planted = list(zip(kernels(copy)[at:at + 3], [Piece("Conv2D", "32,64", "32,64"), Piece("BNInfer", "32,64", "32,64"),
                                                  Piece("Relu", "32,64", "32,64")]))
    plant(copy, planted)
    after = opened(advice(tool, copy))
    want = sum(kernel.dur for kernel, _ in planted[1:])
    if "conv_bn_act" not in after:
        yield f"planted: not named: {list(after)}"
    elif abs(after["conv_bn_act"]["gone_ns"] - want) > 1 or after["conv_bn_act"]["name"] != planted[1][1].name:
        yield f"planted: {after['conv_bn_act']}, want {want} ns"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--shared", default=Path(__file__).resolve().parents[3] / "shared", type=Path)
    args = parser.parse_args()
    tool = Path(args.tool).resolve()
    # All of them as text; what is read from a database, or from names, differs in few ways.
    chains_of = (CHAINS + WITH_SHAPES + BROKEN, CHAINS[::7] + BROKEN[::2], CHAINS[::7] + BROKEN[1::2])
    cases = [(f"{form} {chain[1]}", judge_chain, form, chain) for form, chains in zip(FORMS, chains_of)
             for chain in chains]
    cases += [(f"{form} {spoil.__name__}", judge_silence, form, spoil) for form in FORMS[:2]
              for spoil in (on_another_stream, of_other_tensors)]
    cases.append(("unplanted", judge_number, FORMS[0], {chain[0] for chain in CHAINS + WITH_SHAPES}))
    with tempfile.TemporaryDirectory() as scratch:
        def judge(number):
            name, how, form, what = cases[number]
            place = Path(scratch, str(number))
            place.mkdir()
            return name, list(how(tool, form, what, place))

        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(judge, range(len(cases))))
        real = [args.shared / "data" / name for name in REAL]
        if not all(capture.is_dir() for capture in real):
            print(f"SKIPPED: no real captures in {args.shared / 'data'}")
            real = []
        results += [(str(capture), list(judge_real(tool, capture, scratch))) for capture in real]
        if real:
            results += [(chain[0], list(judge_job(tool, args.shared / "data" / JOB, chain, scratch)))
                        for chain in OF_JOB]
    for name, found in results:
        if found:
            print(f"FAIL {name}", *found, sep="\n     ")
    print(f"{sum(not found for _, found in results)} of {len(results)} cases met")
    return int(any(found for _, found in results))


if __name__ == "__main__":
    sys.exit(main())
