# SPDX-License-Identifier: Apache-2.0
"""How fast a chip can multiply."""

import json
from fractions import Fraction
from itertools import pairwise

from .files import exact, ns
from .mfu_flops import ATTENTION, CONVOLUTIONS, kind, names

FP16_PER_CYCLE = 2 * 16 * 16 * 16
SPEED = {"INT8": Fraction(2), "FP16": Fraction(1), "HF32": Fraction(1, 2), "FP32": Fraction(1, 4)}
WIDTHS = ("INT4", "INT8", "FP16", "HF32", "FP32")
TYPES = {"INT4": "INT4", "INT8": "INT8", "FLOAT16": "FP16", "BF16": "FP16", "FLOAT": "FP32",
         "FLOAT32": "FP32"}

NO_PEAK = "data type unknown, or without a known peak"
NO_CHIP = "number or frequency of the cores unknown"


class Chip:
    """`mhz` is the nominal clock, `fp16` operations in a nanosecond; None where unknown."""

    def __init__(self, capture, options):
        device = device_of(capture)
        chip = recorded_chip(capture, device)
        cores = exact(options.get("ai_core_num", chip.get("ai_core_num")))
        self.mhz = exact(options.get("aic_frequency", chip.get("aic_frequency")))
        self.fp16 = None
        if "peak_tflops" in options:
            self.fp16 = exact(options["peak_tflops"]) * 1000
        elif cores and self.mhz:
            self.fp16 = cores * self.mhz * FP16_PER_CYCLE / 1000
        # Since Atlas A2 there are two vector cores for each cube core.
        self._has_fp32 = not chip or chip["aiv_num"] >= 2 * chip["ai_core_num"]
        self._clocks = clocks_of(capture, device)

    def peak(self, kind_of_number):
        """(operations in a nanosecond, "") or (None, why they are not known)."""
        known = kind_of_number in SPEED
        if not known or (kind_of_number in ("FP32", "HF32") and not self._has_fp32):
            return None, NO_PEAK
        if self.fp16 is None:
            return None, NO_CHIP
        return self.fp16 * SPEED[kind_of_number], ""

    def measured_mhz(self, start, end):
        """The mean clock; None where it was not measured from the start on."""
        if not self._clocks or self._clocks[0][0] > start:
            return None
        pieces = ((min(until, end) - max(time, start), mhz)
                  for (time, mhz), (until, _) in pairwise([*self._clocks, (end, None)]))
        return sum(length * mhz for length, mhz in pieces if length > 0) / (end - start)


def recorded_chip(capture, device):
    """What info.json says of the device, or of one of several that are alike."""
    chips = [chip for file in capture.root.glob("PROF_*/device_*/info.json.*")
             for chip in json.loads(file.read_text(encoding="utf-8"))["DeviceInfo"]]
    return next((chip for chip in chips if chip["id"] == device), chips[0] if chips else {})


def clocks_of(capture, device):
    """[(time, MHz)] of the cube cores."""
    if capture.kind == "db":
        found = capture.rows("SELECT timestampNs, freq FROM AICORE_FREQ WHERE deviceId = ?",
                             device) if capture.has_table("AICORE_FREQ") else []
    else:
        found = [(ns(event["ts"]), event["args"]["MHz"]) for event in capture.events
                 if event["ph"] == "C" and event["name"] == "AI Core Freq"]
    return sorted((time, exact(mhz)) for time, mhz in found)


def device_of(capture):
    """The number of the rank's device; None where the capture does not tell it."""
    if capture.kind == "db" and capture.has_table("RANK_DEVICE_MAP"):
        for row in capture.rows("SELECT deviceId FROM RANK_DEVICE_MAP"):
            return row["deviceId"]
    return None


def number_type(op_type, tensors):
    """The type in which a kernel multiplies: the widest of its operands; empty if one is unknown.
    Convolutions take FP32 for HF32 unless the capture says otherwise."""
    family, types = kind(op_type), names(tensors.input_types)
    operands = {"conv2dbackpropinput": (1, 2), "conv2dbackpropfilter": (0, 2),
                "": (0,)}.get(family, (0, 1, 2) if family in ATTENTION else (0, 1))
    found = [TYPES.get(types[place]) if place < len(types) else None for place in operands]
    if None in found:
        return ""
    if tensors.hf32 == "YES" or (family in CONVOLUTIONS and tensors.hf32 != "NO"):
        found = ["HF32" if name == "FP32" else name for name in found]
    return max(found, key=WIDTHS.index)
