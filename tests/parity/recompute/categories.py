# SPDX-License-Identifier: Apache-2.0
"""What kind of work a kernel does: by the operator that launched it, else by its type and name."""

from collections import defaultdict

ATTENTION, CONV, MATMUL = "Flash Attention", "Conv", "Matmul"
OPERATORS = (
    (ATTENTION, ("flash_attention", "fusion_attention", "flashattn", "xformers_flash",
                 "efficient_attention", "flash2attn")),
    (CONV, ("aten::conv",)),
    (MATMUL, ("aten::addmm", "aten::bmm", "aten::mm", "aten::matmul")))
BACKWARD = ("bwd", "backward", "back", "grad")
GPU_CUBE = ("gemm", "conv", "cutlass", "wgrad", "gemvx")
# Kernels of a GPU that no such operator launched: cuDNN, FlashAttention, cuBLAS, CUTLASS, rocBLAS.
GPU_NAMES = (
    (ATTENTION, ("flash_fwd", "flash_bwd", "fmha", "attn_fwd", "attn_bwd")),
    (CONV, ("convolve", "fprop", "dgrad", "wgrad", "winograd", "scudnn", "igemm_")),
    (MATMUL, ("gemm", "gemv", "matmul", "cutlass", "cijk_", "nvjet")))
TRANS = ("cast", "transdata", "transpose")
FUSED = ("allgathermatmul", "matmulreducescatter", "matmulallreduce")
CUBE_CORES = ("AI_CORE", "MIX_AIC", "KERNEL_AICORE", "KERNEL_MIX_AIC")
VECTOR_CORES = ("AI_VECTOR_CORE", "MIX_AIV", "KERNEL_AIVEC", "KERNEL_MIX_AIV")
PAGED, MOVE, MC2, CUBE = "Page Attention", "SDMA (Tensor Move)", "MC2", "Cube"
VECTOR_TRANS, VECTOR_PLAIN = "Vector (Trans)", "Vector (No Trans)"


def has(text, words):
    return any(word in text for word in words)


def core_of(kernel):
    """"Cube", "Vector", or None where nothing tells."""
    counted = {name: value for name, value in kernel.counters.items() if name != "aic_mte2"}
    if counted:
        busy = max(counted.get("aic_total", 0), counted.get("aic_mac", 0)) > 0
        return "Cube" if busy else "Vector"
    if kernel.core in CUBE_CORES:
        return "Cube"
    return "Vector" if kernel.core in VECTOR_CORES else None


class Categories:
    """Categories of one side. of(kernel) is the label of its row in OverallMetrics, or None."""

    def __init__(self, side):
        self._is_gpu = side.device.is_gpu
        self._threads = {operator.thread for operator in side.host.operators}
        self._operators = defaultdict(list)
        for operator in sorted(side.host.operators, key=lambda operator: operator.start):
            family = next((family for family, words in OPERATORS
                           if has(operator.name.lower(), words)), None)
            if family:
                self._operators[operator.thread].append((operator, family))
        self._backward_thread = side.host.backward_thread

    def of(self, kernel):
        name, kind = kernel.name.lower(), kernel.type.lower()
        if self._is_gpu:
            core = "Cube" if has(name, GPU_CUBE) or by_gpu_name(name) == MATMUL else "Vector"
        else:
            core = core_of(kernel)
            if "pagedattention" in kind:
                return PAGED
            if name.startswith("aclnninplacecopy") and "tensormove" in name:
                return MOVE
            if name in FUSED:
                return MC2
        family = self._by_operator(kernel)
        if family:
            return f"{family} ({core})" if core else None
        if family := by_gpu_name(name) if self._is_gpu else by_type(kind):
            return f"{family} (Cube)"
        if core == "Vector":
            trans = has(name, TRANS) and not self._is_gpu
            return VECTOR_TRANS if trans else VECTOR_PLAIN
        return CUBE if core else None

    def _by_operator(self, kernel):
        """The first operator of these families that its thread was running at the launch."""
        if kernel.launch is None:
            return None
        thread, time = kernel.launch
        own = self._operators[thread] if thread in self._threads else [
            entry for entries in self._operators.values() for entry in entries]
        for operator, family in own:
            if operator.start <= time <= operator.end:
                if family == MATMUL:
                    return family
                backward = has(operator.name.lower(), BACKWARD) or (
                    family == CONV and str(thread[1]) == str(self._backward_thread))
                return f"{family} ({'Backward' if backward else 'Forward'})"
        return None


def by_gpu_name(name):
    family = next((family for family, words in GPU_NAMES if has(name, words)), None)
    if family in (None, MATMUL):
        return family
    return f"{family} ({'Backward' if has(name, BACKWARD) else 'Forward'})"


def by_type(kind):
    if has(kind, ("flashattention", "fusedinferattention")):
        return f"{ATTENTION} ({'Backward' if has(kind, ('bwd', 'grad')) else 'Forward'})"
    if kind.startswith("conv"):
        return f"{CONV} ({'Backward' if has(kind, BACKWARD) else 'Forward'})"
    return MATMUL if "matmul" in kind else None
