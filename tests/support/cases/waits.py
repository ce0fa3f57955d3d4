# SPDX-License-Identifier: Apache-2.0
"""Cases of a host that stands still in calls into the operating system or waits for locks, which a record of such
calls beside the capture shows (host_sys=OSRT, MSOSRT, gil_tracer)."""

from host_waits import Use, add_locks, add_to_database
from large_job import EPOCH, MAIN, PID

from .case import Case, planted, small_job, write_job
from .threads import RANK, Stalled, Steady

HELPER = 1077  # a thread of which the profiler records nothing
USUAL = 40_000  # ns of calls that are made all the time


def use(name, begin, end, thread=MAIN):
    return Use(name, PID, thread, EPOCH + begin, end - begin)


def calls(name):
    def uses_of(stalls, ends):
        usual = [use(name, begin, begin + USUAL) for begin in range(0, ends, 1_000_000)
                 if not any(start - USUAL <= begin < end for start, end in stalls)]
        return usual + [use(name, *stall) for stall in stalls]
    return uses_of


def interpreter_lock(stalls, ends):
    """Another thread takes the lock just before each stall, and gives it back at its end."""
    uses = [use("take_gil", ends, ends + USUAL), use("drop_gil", ends + 2 * USUAL, ends + 2 * USUAL)]
    for begin, end in stalls:
        uses += [use("take_gil", begin, end), use("drop_gil", end + 1_000, end + 1_000),
                 use("take_gil", begin - 5_000, begin - 4_000, HELPER), use("drop_gil", end, end, HELPER)]
    return uses


def with_record(add, uses_of):
    """Writes a job with the record of its slow rank, which has stalls or none."""
    def write(folder, job):
        write_job(folder, job)
        add(folder / f"rank{RANK}_ascend_pt", uses_of(job.plants.stalls, job.ends[RANK]))
    return write


def recorded(add, uses_of, **truth):
    return planted(lambda: small_job(Stalled(), ranks=4), lambda: small_job(Steady(), ranks=4),
                   with_record(add, uses_of), ranks=[RANK], **truth)


CASES = [
    Case("python-lock", finding="host.gil", **recorded(add_locks, interpreter_lock, place=f"thread {HELPER}")),
    Case("locks-of-threads", finding="host.lock",
         **recorded(add_to_database, calls("pthread_mutex_lock"), place="pthread_mutex_lock")),
    Case("system-calls", finding="host.system_call", **recorded(add_to_database, calls("ioctl"), place="ioctl")),
]
