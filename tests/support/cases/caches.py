# SPDX-License-Identifier: Apache-2.0
"""The case of the caches that miss: logs of function_monitor beside the captures count it."""

from make_captures import MAIN, PID

from .case import Case, Plants, planted, small_job, write_job
from .threads import MONOTONIC, RANK, write_clock

LAYER_OPERATORS = 12  # in a call of the function
INSTRUCTIONS = 1_000_000  # of an operator
USUAL_MISSES, MANY_MISSES = 1_000, 8_000  # of an operator
GHZ = 2.6


class Missing(Plants):
    """Each operator of the layers of one rank takes longer, because its caches miss."""

    TIME = 250_000

    def __init__(self):
        super().__init__()
        self.calls = {}  # by rank

    def pause_ns(self, rank, step, number):
        return self.TIME if rank == RANK and number < 2 * LAYER_OPERATORS else 0

    def record(self, writer, number, done):
        if number >= 2 * LAYER_OPERATORS:
            return
        calls = self.calls.setdefault(writer.rank, [])
        if number % LAYER_OPERATORS == 0:
            calls.append([done.free, 0])
        calls[-1][1] = done.host_end


class Hitting(Missing):
    TIME = 0


def line(start, end, counts):
    """As function_monitor writes it, times in us of the monotonic clock."""
    events = ";".join(f"event-{name}:{count}" for name, count in counts.items())
    return (f"[2023-11-14 22:13:20,000][INFO][function_monitor.py:190] name:layer_forward "
            f"start:{(MONOTONIC + start) / 1000} duration:{(end - start) / 1000} rankId:0 pid:{PID} pname:python3 "
            f"tid:{MAIN} tname:MainThread extraInfo:{events}\n")


def counts_of(rank, start, end, misses=MANY_MISSES):
    """The core takes its cycles whether it works or waits for memory."""
    return {"cycles": int((end - start) * GHZ), "instructions": LAYER_OPERATORS * INSTRUCTIONS,
            "LLC-load-misses": LAYER_OPERATORS * (misses if rank == RANK else USUAL_MISSES),
            "LLC-loads": LAYER_OPERATORS * INSTRUCTIONS // 10, "page-faults": 0}


def with_logs(counts=counts_of):
    def write(folder, job):
        write_job(folder, job)
        for rank, calls in job.plants.calls.items():
            capture = folder / f"rank{rank}_ascend_pt"
            write_clock(capture)
            text = "".join(line(start, end, counts(rank, start, end)) for start, end in calls)
            capture.joinpath(f"function_monitor_{PID}.log").write_text(text, encoding="utf-8")
    return write


def few_misses(rank, start, end):
    return counts_of(rank, start, end, misses=USUAL_MISSES)


CASES = [
    Case("cache-misses", finding="host.cache_misses",
         plant=planted(lambda: small_job(Missing(), ranks=4), lambda: small_job(Hitting(), ranks=4), with_logs(),
                       ranks=[RANK], place="layer_forward",
                       metrics={"cache_misses_of_usual": MANY_MISSES / USUAL_MISSES})["plant"],
         # A rank that is as slow, and whose caches hit.
         healthy=lambda folder: with_logs(few_misses)(folder / "result", small_job(Missing(), ranks=4))),
]
