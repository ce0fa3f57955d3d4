# SPDX-License-Identifier: Apache-2.0
"""What the device did: kernels, tasks, collectives with their groups and tasks, and the profiler's
own overlap analysis; of each work the launch on the host, as far as it is known.

Points in time are whole nanoseconds; `duration` also has the parts of a nanosecond that traces
record. Launches come from the host, see host_records.py."""

from dataclasses import dataclass, field
from fractions import Fraction

from .host_records import Place

COPIES = ("SDMA_SQE", "PCIE_DMA_SQE", "SDMA", "MEMCPY_ASYNC")
# The names of a counter in captures of all versions, and the one it has here.
COUNTERS = {"aicore_time": "aic_total", "aic_total_time": "aic_total", "mac_time": "aic_mac",
            "aic_mac_time": "aic_mac", "aic_mte2_time": "aic_mte2", "aiv_time": "aiv_total",
            "aiv_total_time": "aiv_total", "aiv_vec_time": "aiv_vec"}


@dataclass(eq=False)
class Work:
    name: str
    start: int
    end: int
    duration: Fraction
    type: str = ""  # of a kernel its operator type, of a task and a collective its own
    stream: int | None = None
    id: int | None = None  # the task's number in its format
    launch: Place | None = None
    shapes: str = ""
    connection: int | None = None  # of device work that one call launched

    @property
    def length(self):
        return self.end - self.start


@dataclass(eq=False)
class Kernel(Work):
    core: str = ""
    counters: dict = field(default_factory=dict)  # short name -> ns


@dataclass(eq=False)
class Group:
    name: str
    process_group: str = ""  # the job's name for it


@dataclass(eq=False)
class Collective(Work):
    group: Group | None = None
    tasks: list = field(default_factory=list)

    @property
    def is_lccl(self):
        return self.name.lower() == "kernel_aivec"


@dataclass(eq=False)
class CollectiveTask(Work):
    group: Group | None = None
    plane: object = None
    operation: Collective | None = None
    peer: int | None = None  # the other rank, within the group
    size: int | None = None  # bytes


@dataclass
class Device:
    is_gpu: bool = False
    kernels: list = field(default_factory=list)
    tasks: list = field(default_factory=list)
    collectives: list = field(default_factory=list)
    collective_tasks: list = field(default_factory=list)
    groups: list = field(default_factory=list)
    overlaps: list = field(default_factory=list)  # of Work
    reserved: list = field(default_factory=list)  # of (time, component, bytes)
    traffic: list = field(default_factory=list)  # of (step, transport, megabytes, milliseconds)
    is_minimal: bool = False
    opens: int = 0  # until when a GPU did what was queued before the capture, or before the step


def rank_in_group(number):
    """None of a number that stands for no rank."""
    return number if number is not None and 0 <= number < 2**31 else None


def name_groups(groups, document):
    """Gives groups the names that the job has for them, `document` being parallel_group_info."""
    for group in groups:
        for key, entry in document.items():
            if group.name in (key, f"Group {key} Communication"):
                group.process_group = entry.get("group_name", "")
