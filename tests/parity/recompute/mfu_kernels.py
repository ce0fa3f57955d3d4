# SPDX-License-Identifier: Apache-2.0
"""How much of the chip every kernel used."""

import re
from dataclasses import dataclass, field
from fractions import Fraction

from . import mfu_flops
from .mfu_chip import NO_CHIP, number_type
from .mfu_tensors import tensors_of
from .module_statistic import ANY_THREAD

CUBE_CORES = ("AI_CORE", "AIC", "MIX_AIC", "KERNEL_AICORE", "KERNEL_MIX_AIC")
LABEL = re.compile(r"([0-9]+)-(.+)", re.DOTALL)
NO_DURATION = "no duration"


@dataclass(eq=False)
class FlopsRange:
    """Operations that the program counted itself, with the kernels of the operators in it."""
    flops: int
    name: str
    mark: object
    kernels: list = field(default_factory=list)


@dataclass(eq=False)
class Use:
    """`mfu` and `measured_mfu` are None where they are not known, and `reason` says why."""
    kernel: object
    tensors: object
    op: object = None
    range: FlopsRange = None
    flops: int = None
    source: str = ""
    number_type: str = ""
    peak: Fraction = None
    mfu: Fraction = None
    measured_mfu: Fraction = None
    reason: str = ""

    @property
    def family(self):
        return mfu_flops.kind(self.kernel.type)


def kernel_uses(rank, chip):
    """Of each kernel, in the order of the capture."""
    tensors = tensors_of(rank.capture)
    uses = {id(kernel): Use(kernel, tensors(kernel)) for kernel in rank.device.kernels}
    ranges = list(_flops_ranges(rank))
    for op, work in rank.work.items():
        around = _range_of(rank, op, ranges)
        for kernel in work:
            use = uses.get(id(kernel))
            if use:
                use.op, use.range = op, around
                if around:
                    around.kernels.append(use)
    for use in uses.values():
        use.flops, use.reason = mfu_flops.operations(use.kernel.type, use.tensors)
        use.source = "" if use.flops is None else "shapes"
    for counted in ranges:
        _share(counted)
    for use in uses.values():
        if use.flops is not None:
            _rate(use, chip)
    return list(uses.values())


def _flops_ranges(rank):
    for mark in rank.ranges("mfu_flops"):
        match = LABEL.fullmatch(mark.text)
        if match and int(match[1]) > 0 and mark.end > mark.start:
            yield FlopsRange(int(match[1]), match[2], mark)


def _range_of(rank, op, ranges):
    """The innermost range in which the operator begins."""
    around = [counted for counted in ranges
              if counted.mark.start <= op.start <= counted.mark.end
              and rank.group_of.get(counted.mark.thread, ANY_THREAD)
              in (rank.group_of[op.thread], ANY_THREAD)]
    return max(around, key=lambda counted: (counted.mark.start, -counted.mark.end), default=None)


def _share(counted):
    """Divides the operations of a range among its kernels that do matrix work."""
    workers = ([use for use in counted.kernels if use.family]
               or [use for use in counted.kernels if use.kernel.core in CUBE_CORES]
               or counted.kernels)
    by_shapes = all(use.flops for use in workers)
    weights = [use.flops if by_shapes else use.kernel.length for use in workers]
    for use in counted.kernels:
        use.flops, use.source, use.reason = None, "", mfu_flops.NO_MATRIX_WORK
    given = weight = 0
    for use, own in zip(workers, weights):
        weight += own
        until_here = counted.flops * weight // sum(weights) if sum(weights) else 0
        use.flops, use.source, use.reason = until_here - given, "recorded", ""
        given = until_here


def _rate(use, chip):
    kernel = use.kernel
    use.number_type = number_type(kernel.type, use.tensors)
    use.peak, use.reason = chip.peak(use.number_type)
    if not kernel.length:
        use.reason = NO_DURATION
    if use.reason:
        return
    use.mfu = Fraction(use.flops, kernel.length) / use.peak
    mhz = chip.measured_mhz(kernel.start, kernel.end)
    if chip.mhz and mhz:
        use.measured_mfu = use.mfu * chip.mhz / mhz


def concerns_all(use):
    """A chip that is not known says nothing of the kernel."""
    return use.reason == NO_CHIP
