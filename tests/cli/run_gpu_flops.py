#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operations of GPUs: those of convolutions, attention and products by the shapes of their operators, what is not
counted and why, and that both recipes warn of what cannot be.

    run_gpu_flops.py --tool BINARY --testdata DIR gpuflops|sharedgpuflops [-v]

gpuflops makes its trace; sharedgpuflops reads public traces, and is skipped where there are none.

Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from cli import Cli, main
from gpu_operations import counted_kernels

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "traces"
BF16 = "c10::BFloat16"
# name, values of scalars, shapes; kernels with their us. The image is 2 x 3 x 8 x 8, the filter 4 x 3 x 3 x 3: with a
# border of 1 the output is 2 x 4 x 8 x 8, each value of 3 x 3 x 3 multiply-adds.
CONVOLUTION = ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]
BACKWARD = ["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"]
ONE_CONVOLUTION = 2 * (2 * 4 * 8 * 8) * (3 * 3 * 3)
OPERATORS = (
    ("aten::convolution", [[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], []], CONVOLUTION,
     (("nchwToNhwcKernel", 5), ("cutlass_tensorop_bf16_fprop_optimized", 20))),
    ("aten::convolution_backward", [[2, 4, 8, 8], [2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], [], []], BACKWARD,
     (("cutlass_tensorop_bf16_dgrad_optimized", 10), ("cutlass_tensorop_bf16_wgrad_optimized", 30))),
    ("aten::_scaled_dot_product_flash_attention", [[1, 2, 16, 8], [1, 2, 16, 8], [1, 2, 16, 8], [], [], [], []],
     ["", "", "", "0.", "True", "False", ""], (("pytorch_flash::flash_fwd_kernel", 10),)),
    ("aten::mm", [[4, 8], [8, 16]], ["", ""], (("sm90_xmma_gemm_bf16bf16", 2),)),
    ("vllm::unified_attention_with_output", [[32, 64, 64], [32, 8, 64]], ["", ""],
     (("kernel_unified_attention_2d", 7),)),
    ("mine::fused", [[4, 4]], [""], (("my_gemm_kernel", 3),)),
    ("aten::add", [[4, 4], [4, 4]], ["", ""], (("elementwise_kernel", 100),)),
)
ATTENTION = 2 * 2 * (16 * 16 // 2) * (8 + 8)
PRODUCT = 2 * 4 * 8 * 16


def trace():
    """The operators one after the other, their kernels behind them, and a product that nobody launched."""
    events, time, device, link = [], 0, 1000, 0
    for name, shapes, values, kernels in OPERATORS:
        types = [BF16 if shape else "Scalar" for shape in shapes]
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": time, "dur": 50,
                       "args": {"Input Dims": shapes, "Input type": types, "Concrete Inputs": values}})
        for place, (kernel, length) in enumerate(kernels):
            link += 1
            events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                        "ts": time + 10 + 10 * place, "dur": 5, "args": {"correlation": link}},
                       {"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": device, "dur": length,
                        "args": {"correlation": link, "stream": 7}}]
            device += length
        time += 100
    events.append({"ph": "X", "cat": "kernel", "name": "volta_sgemm_64x64", "pid": 0, "tid": 7, "ts": device,
                   "dur": 4, "args": {"correlation": 999, "stream": 7}})
    events.append({"ph": "X", "cat": "python_function", "name": "nn.Module: Net_0", "pid": 1, "tid": 1, "ts": 0,
                   "dur": time, "args": {}})
    return json.dumps({"distributedInfo": {"rank": 0}, "traceEvents": events,
                       "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}]})


class Operations(Cli):
    def recipe(self, name, directory, *more):
        result = self.run_tool("-m", name, "-d", directory, "--json", "-o", self.out, *more)
        self.assertIn(result.code, (0, 5), result.err)
        return json.loads(result.out), result.warnings

    def sheet(self, document, name):
        return next(sheet["rows"] for sheet in document["sheets"] if sheet["name"] == name)


class GpuFlops(Operations):
    def setUp(self):
        super().setUp()
        self.job = self.write("job/a.pt.trace.json", trace()).parent

    def test_operations_of_each_kernel(self):
        document, _ = self.recipe("operator_mfu", self.job)
        rows = {row["kernel_name"]: (row["flops"], row["flops_op_name"], row["why_no_mfu"])
                for row in self.sheet(document, "OperatorMFU")}
        no_peak = "number or frequency of the cores unknown"
        self.assertEqual(rows, {
            "cutlass_tensorop_bf16_fprop_optimized": (ONE_CONVOLUTION, "Convolution", no_peak),
            # Two gradients, by the time of their kernels.
            "cutlass_tensorop_bf16_dgrad_optimized": (2 * ONE_CONVOLUTION // 4, "Convolution", no_peak),
            "cutlass_tensorop_bf16_wgrad_optimized": (2 * ONE_CONVOLUTION * 3 // 4, "Convolution", no_peak),
            "pytorch_flash::flash_fwd_kernel": (ATTENTION, "Attention", no_peak),
            "sm90_xmma_gemm_bf16bf16": (PRODUCT, "MatMul", no_peak),
            "kernel_unified_attention_2d": (None, "Attention", "paged cache: sequence lengths unknown"),
            "my_gemm_kernel": (None, "MatMul", "no formula for the operator that launched it"),
            "volta_sgemm_64x64": (None, "MatMul", "no operator is known to have launched it")})

    def test_the_total_says_what_it_counts(self):
        document, _ = self.recipe("operator_mfu", self.job)
        shares = [(row["work"], row["kernels"], row["duration_ns"], row["flops"], row["why_no_mfu"])
                  for row in self.sheet(document, "MFUSummary")]
        everything = 3 * ONE_CONVOLUTION + ATTENTION + PRODUCT
        no_peak = "number or frequency of the cores unknown"
        self.assertEqual(shares[1:], [
            ("counted matrix work", 5, 72_000, everything, no_peak),
            ("matrix work not counted", 3, 14_000, None, ""),
            ("attention", 1, 10_000, ATTENTION, no_peak),
            ("convolutions", 3, 60_000, 3 * ONE_CONVOLUTION, no_peak),
            ("matrix products", 1, 2_000, PRODUCT, no_peak),
            ("Attention", 1, 7_000, None, "paged cache: sequence lengths unknown"),
            ("MatMul", 1, 3_000, None, "no formula for the operator that launched it"),
            ("MatMul", 1, 4_000, None, "no operator is known to have launched it")])
        screen = self.run_tool("-m", "operator_mfu", "-d", self.job, "--print", "-o", self.out).out
        self.assertIn("    not counted: paged cache: sequence lengths unknown\n", screen)

    def test_utilisation_is_against_the_peak_of_fp16(self):
        document, warnings = self.recipe("operator_mfu", self.job, "--peak_tflops", "100")
        (product,) = (row for row in self.sheet(document, "OperatorMFU") if row["flops"] == PRODUCT)
        self.assertEqual(product["compute_type"], "FP16")
        self.assertAlmostEqual(product["mfu"], PRODUCT / 2000 / 100_000)  # in 2000 ns, of 100,000 a ns
        self.assertEqual([line for line in warnings if "above 100 %" in line], [])

    def test_both_recipes_warn_of_what_cannot_be(self):
        """With a peak of 10^-6 TFLOPS, 1000 operations in a ms, all that is counted is beyond it."""
        for recipe in ("operator_mfu", "module_statistic"):
            with self.subTest(recipe=recipe):
                _, warnings = self.recipe(recipe, self.job, "--peak_tflops", "0.000001")
                self.assertEqual([line.partition("warning: ")[2] for line in warnings if "100 %" in line],
                                 ["rank 0: MFU above 100 % of 5 of 5 kernels; the operations that were counted for "
                                  "them or the numbers of the chip are wrong"])

    def test_shapes_that_were_recorded_are_not_asked_for(self):
        only = {"traceEvents": [event for event in json.loads(trace())["traceEvents"]
                                if event["cat"] != "kernel" or event["name"] == "my_gemm_kernel"]}
        job = self.write("other/a.pt.trace.json", json.dumps(only)).parent
        _, warnings = self.recipe("operator_mfu", job)
        said = [line for line in warnings if "no kernel with a known number of operations" in line]
        self.assertEqual(len(said), 1, warnings)
        self.assertTrue(said[0].endswith("operators have shapes"), said)


class SharedGpuFlops(Operations):
    """Each kernel of public traces against gpu_operations.py."""

    def check(self, path, least):
        job = self.write("job/note.txt", "").parent
        (job / path.name).write_bytes(path.read_bytes())
        document, _ = self.recipe("operator_mfu", job)
        expected = counted_kernels(path)
        shares, kinds = defaultdict(list), Counter()
        for row in self.sheet(document, "OperatorMFU"):
            key = row["kernel_start_ns"], row["kernel_name"]
            if row["flops"] is None:
                self.assertNotIn(key, expected, row)
                continue
            operator, name, count = expected[key]
            shares[operator].append((row["flops"], row["kernel_duration_ns"], count))
            kinds[name] += 1
        for of_operator in shares.values():
            total, time = of_operator[0][2], sum(duration for _, duration, _ in of_operator)
            self.assertEqual(sum(flops for flops, _, _ in of_operator), total)
            for flops, duration, _ in of_operator:
                self.assertLessEqual(abs(flops - total * duration / time), 1)
        self.assertEqual({name: kinds[name] for name in least}, least)

    def test_a_video_model(self):
        self.check(SHARED / "tracelens/h100_timesformer_1016002.json.gz",
                   {"aten::addmm": 85, "aten::bmm": 48, "aten::convolution": 1})

    def test_a_training_with_convolutions(self):
        self.check(SHARED / "tracelens/mi300_resnet_act_checkpoint.json.gz",
                   {"aten::convolution": 117, "aten::convolution_backward": 117})

    def test_a_server_that_reads_prompts(self):
        self.check(SHARED / "serving/sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz",
                   {"aten::mm": 145, "aiter::mha_batch_prefill": 36})

    def test_a_server_that_replays_a_graph(self):
        """The operators are those of the graph's capture: 24 layers of 32 tokens, then the vocabulary."""
        document, _ = self.recipe("operator_mfu", SHARED / "serving/vllm_decode")
        counts = Counter(row["flops"] for row in self.sheet(document, "OperatorMFU") if row["flops"])
        self.assertEqual(counts, {2 * 32 * 2880 * 5120: 24, 2 * 32 * 4096 * 2880: 24, 2 * 32 * 2880 * 32: 24,
                                  2 * 32 * 2880 * 201088: 1})


if __name__ == "__main__":
    if "sharedgpuflops" in sys.argv and not SHARED.is_dir():
        print(f"SKIPPED: no traces in {SHARED}")
        sys.exit(77)
    sys.exit(main(__doc__, GpuFlops, SharedGpuFlops))
