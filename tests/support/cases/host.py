# SPDX-License-Identifier: Apache-2.0
"""Cases of the host: the device waits because the host compiles, synchronises, collects garbage or is slow."""

from large_job import LAYER, UPDATE, Operator

from .case import Case, MS, Plants, planted, small_job


class Compiled(Plants):
    """Two operators of each step are compiled when they are called."""

    CALLS = {1: 3 * MS, 13: 2 * MS}

    def pause_ns(self, rank, step, number):
        return self.CALLS.get(number, 0)

    def record(self, writer, number, done):
        if number in self.CALLS:
            writer.add_operator("aten::index", done.free, done.host_end)
            writer.add_call("aclopCompileAndExecute", done.free + 10_000, done.host)


class LookedUp(Compiled):
    """They are found among those that were compiled before."""

    CALLS = {1: MS // 20, 13: MS // 20}


class Collected(Plants):
    """Python collects garbage in two of four steps, at different places."""

    AT, LENGTH = ((1, 5), (3, 9)), 6 * MS

    def pause_ns(self, rank, step, number):
        return self.LENGTH if (step, number) in self.AT else 0

    def record(self, writer, number, done):
        if done.host > done.free:
            writer.add_collection(done.free, done.host)


class CollectedFast(Collected):
    LENGTH = MS // 50


class SmallBatches(Plants):
    """Kernels and transfers take a tenth of the usual time."""

    HELD = 15 << 30

    def operator(self, rank, step, operator):
        return operator._replace(ns=operator.ns // 10)

    def transfer(self, kind, members):
        return 0.1

    def record(self, writer, number, done):
        writer.add_memory(done.host_end, self.HELD, self.HELD)


class LargeBatches(Plants):
    def record(self, writer, number, done):
        writer.add_memory(done.host_end, SmallBatches.HELD, SmallBatches.HELD)


class Blocking(Plants):
    """A call waits for the device behind each launch, as with ASCEND_LAUNCH_BLOCKING=1."""

    blocks = True


# A result is read behind each multiplication.
READS = [step for operator in 2 * LAYER + UPDATE
         for step in ([operator, Operator("aten::item")] if operator.name.startswith("aten::m") else [operator])]

CASES = [
    Case("operator-compilation", finding="host.compile",
         **planted(lambda: small_job(Compiled()), lambda: small_job(LookedUp()), place="aclopCompileAndExecute")),
    # What the reads take of the host's own time stays.
    Case("frequent-synchronisation", finding="host.sync", within=0.2,
         **planted(lambda: small_job(program=READS), small_job, place="aten::item")),
    # The waits behind collectives are a finding of their own.
    Case("launch-blocking", finding="host.launch_blocking", within=0.3,
         **planted(lambda: small_job(Blocking()), small_job, place="aclrtSynchronizeStream")),
    Case("garbage-collection", finding="host.gc",
         **planted(lambda: small_job(Collected()), lambda: small_job(CollectedFast()), place="garbage collection")),
    Case("small-batches", finding="host.launch_bound",
         **planted(lambda: small_job(SmallBatches()), lambda: small_job(LargeBatches()), cost_ns=None,
                   place="larger batches")),
]
