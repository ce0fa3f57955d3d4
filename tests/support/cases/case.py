# SPDX-License-Identifier: Apache-2.0
"""What a case of the suite is: a capture with a known cause, a healthy twin, and what has to be said of both.

A family of cases is a file of this directory with a list CASES. docs/cases.md has a section for each.
"""

from dataclasses import dataclass, field
from typing import Callable

from large_job import LargeJob, Plants

US, MS = 1_000, 1_000_000
ADVISOR = "advisor all -d ./result"


@dataclass
class Truth:
    """What is true of a capture with a cause."""

    ranks: list = field(default_factory=list)  # of the culprits; empty: all
    place: str = ""  # the name at which it costs most
    cost_ns: int | None = 0  # that a step gets longer by; 0: it does not, None: what a mend saves is an estimate
    metrics: dict = field(default_factory=dict)  # what was measured, by its name in JSON
    says: list = field(default_factory=list)  # texts that the first lines have


@dataclass
class Case:
    """`plant` and `healthy` make in a directory what the command names; `plant` returns the truth. `finding` is the
    id or the key that advisor has to name first, and must not name for the healthy twin. Where the command is another
    one, its first `lines` lines have the texts of the truth, which those of the healthy twin have not."""

    name: str  # of its section in docs/cases.md
    plant: Callable
    healthy: Callable
    finding: str = ""
    command: str = ADVISOR
    lines: int = 2
    within: float = 0.1  # of the cost and of metrics, by which what is said may be off


def write_job(folder, job):
    for rank in range(job.ranks):
        job.write(folder, rank)


def small_job(plants=Plants(), ranks=2, steps=4, layers=2, program=None):
    return LargeJob(ranks, plants, steps, layers, program)


def planted(job, twin, write=write_job, **truth):
    """The two makers of a case: those of a job with the cause and of its healthy twin. The cause costs by which steps
    of the one are longer than steps of the other."""

    def plant(folder):
        made = job()
        write(folder / "result", made)
        return Truth(**{"cost_ns": (max(made.ends) - max(twin().ends)) // made.steps, **truth})

    return {"plant": plant, "healthy": lambda folder: write(folder / "result", twin())}
