# SPDX-License-Identifier: Apache-2.0
"""Plants of which something wrong is said today: {plant: {name, rank, place, gain or gate: why}}. Shorter is better."""

LATE_OF_SOME = {"name": "sells the stall at kernels behind it", "rank": "names no rank", "place": "names a kernel",
                "gain": "prices the kernels, not the delay"}

MISSES = {
    "resnet_long_step": {"gate": "one long step of six leaves the median as it is, and nothing is said of it"},
    "dlrm_late_operator": {"gate": "names the collective that waits, not the rank that comes late"},
    "text1_late_operator": LATE_OF_SOME | {"gate": "names the operator's time, not the rank"},
    "text1_late_python": LATE_OF_SOME,
    "text1_late_loader": LATE_OF_SOME | {"gate": "names the data loader, not the rank"},
    "db1_late_operator": LATE_OF_SOME,
    "db1_late_loader": LATE_OF_SOME,
    "db1_garbage": {"gain": "counts the whole pause, of which the others had waited a part anyway"},
    "resnet_long_kernel": {"name": "the copy that waits for it is named, not the kernel",
                           "place": "the copy"},
    "resnet_layouts": {"name": "the copy that waits for the conversions is named",
                       "gate": "undecided, for the noise of the first step",
                       "place": "the copy"},
    "resnet_device_copies": {"name": "the blocking copy that waits for those of the device is named",
                             "place": "the blocking copy"},
}
