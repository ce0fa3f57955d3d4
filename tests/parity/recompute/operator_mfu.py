# SPDX-License-Identifier: Apache-2.0
"""The tables of `-m operator_mfu`. Rows are without the number of the rank."""

from collections import defaultdict
from fractions import Fraction

from . import module_statistic
from .mfu_flops import ATTENTION, CONVOLUTIONS, NO_FORMULA, NO_MATRIX_WORK, does_matrix_work
from .mfu_kernels import concerns_all
from .sheets import round_half_away

KERNEL_COLUMNS = ["rank_id", "op_name", "kernel_name", "kernel_start(ns)", "kernel_end(ns)",
                  "kernel_duration(ns)", "mfu", "actual_tflops", "chip_peak_tflops", "flops",
                  "flops_op_name", "input_shapes", "output_shapes", "flops_source",
                  "compute_type", "mfu_of_measured_clock", "why_no_mfu"]
MODULE_COLUMNS = ["rank_id", "parent_module", "module", "op_name", "kernel_list",
                  "total_kernel_duration(ns)", "avg_kernel_duration(ns)", "op_count", "avg_mfu"]
SUMMARY_COLUMNS = ["rank_id", "work", "kernels", "duration(ns)", "share_of_device_time", "flops",
                   "actual_tflops", "mfu", "mfu_of_measured_clock", "why_no_mfu"]
WASTE_COLUMNS = ["rank_id", "op_type", "kernel_name", "input_shapes", "compute_type", "kernels",
                 "duration(ns)", "mfu", "wasted(ns)"]
WASTES = 10


def rounded(value, digits):
    return None if value is None else round_half_away(value, digits)


def tera(per_nanosecond):
    return None if per_nanosecond is None else round_half_away(Fraction(per_nanosecond) / 1000, 2)


def per_time(flops, duration):
    return Fraction(flops, duration) if flops is not None and duration else None


def kernels(uses):
    """Kernels that do matrix work or are part of a range: those of ranges first."""
    listed = [use for use in uses if use.flops is not None
              or (use.tensors.input_shapes if use.range
                  else use.family or does_matrix_work(use.kernel.type))]
    listed.sort(key=lambda use: (not use.range, (use.op or use.kernel).start, use.kernel.start))
    for use in listed:
        kernel = use.kernel
        yield [use.op.name if use.op else "", kernel.name, kernel.start, kernel.end,
               kernel.length, rounded(use.mfu, 4), tera(per_time(use.flops, kernel.length)),
               tera(use.peak), use.flops, use.range.name if use.range else kernel.type,
               use.tensors.input_shapes, use.tensors.output_shapes, use.source, use.number_type,
               rounded(use.measured_mfu, 4), use.reason]


def percent(ratio):
    """"54.61%", "50.0%": the shortest text with a decimal."""
    text = f"{float(round_half_away(ratio * 100, 2)):.2f}"
    return (text[:-1] if text.endswith("0") else text) + "%"


def average(row, uses):
    """The utilisation of each kernel of a row of modules over the calls that know it."""
    ratios = {id(use.kernel): use.mfu for use in uses}
    texts = []
    for same in zip(*(work for _, work in row.calls)):
        known = [ratios[id(kernel)] for kernel in same if ratios.get(id(kernel))]
        texts.append(percent(sum(known) / len(known)) if known else "-")
    return ",".join(texts) if any(text != "-" for text in texts) else ""


def modules(rank, uses, backward):
    for row in module_statistic.rows(rank, backward):
        yield [row.parent, row.module, row.op, row.kernels, row.total, row.average,
               len(row.calls), average(row, uses)]


def kind_of_work(use):
    if use.family in ATTENTION:
        return "attention"
    if use.family in CONVOLUTIONS:
        return "convolutions"
    return "matrix products" if use.family else "other recorded work"


def share(work, reason, uses, device_time):
    duration = sum(use.kernel.length for use in uses)
    flops = sum(use.flops or 0 for use in uses)
    reason = reason or next((use.reason for use in uses if concerns_all(use)), "")
    return [work, len(uses), duration, rounded(Fraction(duration, device_time or 1), 4),
            flops or None, tera(per_time(flops or None, duration)), mean(uses, "mfu"),
            mean(uses, "measured_mfu"), reason]


def mean(uses, ratio):
    """Over time, of the kernels that have one."""
    known = [(getattr(use, ratio), use.kernel.length) for use in uses
             if getattr(use, ratio) is not None]
    time = sum(duration for _, duration in known)
    return rounded(sum(value * duration for value, duration in known) / time, 4) if time else None


def summary(uses):
    device_time = sum(use.kernel.length for use in uses)
    known, unknown = defaultdict(list), defaultdict(list)
    for use in uses:
        if use.flops is not None:
            known[kind_of_work(use)].append(use)
        if use.reason not in ("", NO_FORMULA, NO_MATRIX_WORK) and not concerns_all(use):
            unknown[use.kernel.type, use.reason].append(use)
    everything = [use for use in uses if use.flops is not None]
    if everything:
        yield share("counted matrix work", "", everything, device_time)
    uncounted = [use for uses in unknown.values() for use in uses if use.flops is None]
    if uncounted:
        yield share("matrix work not counted", "", uncounted, device_time)
    for work, of_kind in sorted(known.items()):
        yield share(work, "", of_kind, device_time)
    for (op_type, reason), concerned in sorted(unknown.items()):
        yield share(op_type, reason, concerned, device_time)


def waste(uses):
    """Kernels of one type with the same shapes, by the time that they leave the chip idle."""
    alike = defaultdict(list)
    for use in uses:
        if use.mfu is not None:
            alike[use.kernel.type, use.tensors.input_shapes, use.number_type].append(use)
    listed = []
    for (op_type, shapes, number_type), members in alike.items():
        duration = sum(use.kernel.length for use in members)
        used = sum(use.mfu * use.kernel.length for use in members)
        wasted = int(round_half_away(duration - used, 0))
        if wasted > 0:
            listed.append([op_type, members[0].kernel.name, shapes, number_type, len(members),
                           duration, rounded(used / duration, 4), wasted])
    return sorted(listed, key=lambda row: (-row[7], row[0], row[2]))[:WASTES]
