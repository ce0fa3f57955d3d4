# SPDX-License-Identifier: Apache-2.0
"""Cases of the threads that launch, which a trace of the scheduler beside the capture shows (trace.txt of ftrace)."""

import json

from large_job import EPOCH, MAIN

from .case import Case, MS, Plants, planted, small_job, write_job

RANK, CORE = 3, 5  # of the rank whose launches are slow, and of its thread
FAR_CORE = 60  # of another NUMA node
NODES = "# node0 cpu list : 0-47\n# node1 cpu list : 48-95\n"
MONOTONIC = 7_000_000_000_000  # on the clock of the trace, when the capture begins
HEAD = "# tracer: nop\n#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
RUN_BEFORE = 5 * MS


class Stalled(Plants):
    """The thread of one rank stands still before some operators of each step; the profile does not tell why."""

    TIME, AT = 8 * MS, (3, 17)

    def __init__(self):
        super().__init__()
        self.stalls = []

    def pause_ns(self, rank, step, number):
        return self.TIME if rank == RANK and number in self.AT else 0

    def record(self, writer, number, done):
        if done.host > done.free:
            self.stalls.append((done.free, done.host))


class Lines:
    """Lines of ftrace, in order of their times."""

    def __init__(self):
        self.lines = []

    def add(self, time, name, thread, event, core=CORE):
        seconds, rest = divmod((MONOTONIC + time) // 1000, 1_000_000)
        text = f"{name:>16}-{thread:<7} [{core:03}] d..2. {seconds}.{rest:06}: {event}\n"
        self.lines.append((time, len(self.lines), text))

    def switch(self, time, before, after, state, core=CORE):
        event = (f"sched_switch: prev_comm={before[0]} prev_pid={before[1]} prev_prio=120 prev_state={state} ==> "
                 f"next_comm={after[0]} next_pid={after[1]} next_prio=120")
        self.add(time, *before, event, core)

    def text(self):
        return HEAD + "".join(text for _, _, text in sorted(self.lines))


class Steady(Stalled):
    AT = ()


class Far(Plants):
    """The thread of one rank is moved to another NUMA node, from which on its operators take longer."""

    FACTOR, FROM = 1.6, 2  # the step

    def __init__(self):
        super().__init__()
        self.step, self.moved = 0, None

    def pause_ns(self, rank, step, number):
        self.step = step
        return 0

    def on_host(self, rank):
        return self.FACTOR if rank == RANK and self.step >= self.FROM else 1

    def record(self, writer, number, done):
        if writer.rank == RANK and done.step == self.FROM and number == 0:
            self.moved = done.free


class AsFast(Far):
    FACTOR = 1


LAUNCHING, IDLE = ("python3", MAIN), ("swapper/5", 0)


def taken_by(name, thread, times):
    """Another thread has the core for as many parts of each stall, with a moment between them."""
    def add(lines, begin, end):
        length = (end - begin) // times
        for number in range(times):
            start = begin + number * length
            lines.switch(start, LAUNCHING, (name, thread), "R")
            lines.switch(start + length - (2_000 if number + 1 < times else 0), (name, thread), LAUNCHING, "S")
    return add


def interrupted_by(name, number, length):
    def add(lines, begin, end):
        for start in range(begin, end, length):
            until = min(start + length, end) - 1_000
            lines.add(start, *LAUNCHING, f"irq_handler_entry: irq={number} name={name}")
            lines.add(until, *LAUNCHING, f"irq_handler_exit: irq={number} ret=handled")
    return add


def write_clock(capture):
    """How the clock of other tools than the profiler goes with that of the capture."""
    host = next(capture.glob("PROF_*")) / "host"
    host.mkdir()
    host.joinpath("start_info").write_text(json.dumps(
        {"clockMonotonicRaw": str(MONOTONIC), "collectionTimeBegin": str(EPOCH // 1000)}), encoding="utf-8")


def with_trace(add_stall):
    """Writes a job whose ranks have a trace of the scheduler; in that of one rank the stalls have a reason."""
    def write(folder, job):
        write_job(folder, job)
        for rank in range(job.ranks):
            lines = Lines()
            lines.switch(-RUN_BEFORE, IDLE, LAUNCHING, "S")
            for begin, end in job.plants.stalls if rank == RANK else ():
                add_stall(lines, begin, end)
            lines.switch(max(job.ends) + RUN_BEFORE, LAUNCHING, IDLE, "S")
            capture = folder / f"rank{rank}_ascend_pt"
            capture.joinpath("trace.txt").write_text(lines.text(), encoding="utf-8")
            write_clock(capture)
    return write


def with_nodes(folder, job, nodes=NODES):
    """The same of a job in which a thread moves. `nodes` "": the trace does not say which cores are of which node."""
    write_job(folder, job)
    for rank in range(job.ranks):
        lines, core = Lines(), CORE
        lines.switch(-RUN_BEFORE, IDLE, LAUNCHING, "S")
        if rank == RANK:
            lines.switch(job.plants.moved, LAUNCHING, IDLE, "S")
            core = FAR_CORE
            lines.switch(job.plants.moved + 4_000, IDLE, LAUNCHING, "S", core)
        lines.switch(max(job.ends) + RUN_BEFORE, LAUNCHING, IDLE, "S", core)
        capture = folder / f"rank{rank}_ascend_pt"
        capture.joinpath("trace.txt").write_text(nodes + lines.text(), encoding="utf-8")
        write_clock(capture)


def scheduled(add_stall, **truth):
    return planted(lambda: small_job(Stalled(), ranks=4), lambda: small_job(Steady(), ranks=4), with_trace(add_stall),
                   ranks=[RANK], **truth)


CASES = [
    Case("threads-switched", finding="host.preempted", **scheduled(taken_by("CSD", 777, 1), place="CSD")),
    Case("kernel-threads", finding="host.preempted",
         **scheduled(taken_by("kworker/5:1", 91, 20), place="kworker/5:1")),
    Case("interrupts", finding="host.interrupts",
         **scheduled(interrupted_by("sq_send_trigger_irq", 180, MS // 2), place="sq_send_trigger_irq")),
    Case("numa-moves", finding="host.numa_moves",
         **planted(lambda: small_job(Far(), ranks=4), lambda: small_job(AsFast(), ranks=4), with_nodes, ranks=[RANK],
                   place="NUMA node 1 -> python3", metrics={"slower_on_node": Far.FACTOR})),
]
