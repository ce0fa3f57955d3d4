# SPDX-License-Identifier: Apache-2.0
"""Plants of which something wrong is said today: {plant: {name, rank, place, gain or gate: why}}. Shorter is better."""

MISSES = {
    "text1_late_python": {"name": "the stretches of Python of that rank are one finding",
                          "gain": "their usual time is in it, and what the others had waited anyway"},
    "db1_garbage": {"gain": "counts the whole pause, of which the others had waited a part anyway"},
    "ddp_pageable": {"name": "the call stands still; that the memory was pageable is not recorded",
                     "place": "the call of the runtime, not the operator"},
    "resnet_long_kernel": {"name": "the copy that waits for it is named, not the kernel",
                           "place": "the copy"},
    "resnet_layouts": {"name": "the copy that waits for the conversions is named",
                       "gate": "undecided, for the noise of the first step",
                       "place": "the copy"},
    "resnet_device_copies": {"name": "the blocking copy that waits for those of the device is named",
                             "place": "the blocking copy"},
}
