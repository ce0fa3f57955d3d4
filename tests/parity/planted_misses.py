# SPDX-License-Identifier: Apache-2.0
"""Plants of which something wrong is said today: {plant: {name, rank, place, gain or gate: why}}. Shorter is better."""

MISSES = {
    "ddp_unrecorded": {"name": "a pause without any record is called garbage collection",
                       "gate": "and Python, of which the capture has no event"},
    "resnet_long_step": {"gate": "one long step of six leaves the median as it is, and nothing is said of it"},
    "dlrm_late_operator": {"gate": "names the collective that waits, not the rank that comes late"},
}
