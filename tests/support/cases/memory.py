# SPDX-License-Identifier: Apache-2.0
"""Cases of device memory: tensors that are kept from step to step, and an allocator that finds no room between its
tensors."""

from .case import Case, Plants, planted, small_job

MB, GB = 1 << 20, 1 << 30
HELD, POOL, BATCH = 29 * GB, 42 * GB, 2 * GB
ALLOCATING = 4  # number of the operator that allocates what is kept


class Memory(Plants):
    """Each step needs memory for its batch, and gives it back."""

    KEPT = POOLED = 0  # after each step

    def record(self, writer, number, done):
        before = HELD + done.step * self.KEPT
        pool = POOL + done.step * self.POOLED
        if number == 0:
            writer.add_memory(done.host, before, pool)
            writer.add_allocation("aten::addmm", BATCH, done.host, done.host + 2_000_000)
        if number == ALLOCATING:
            kept = ("model.py(42): forward", "train.py(5): main")
            writer.add_operator("aten::empty", done.host, done.host + 5_000, stack=kept)
            writer.add_memory(done.host, before + BATCH + self.KEPT, pool + self.POOLED)
            if self.KEPT:
                writer.add_allocation("aten::empty", self.KEPT, done.host + 2_000, None)
            writer.add_memory(done.host_end, before + self.KEPT, pool + self.POOLED)


class Leaking(Memory):
    KEPT = 47 * MB


class InPieces(Memory):
    POOLED = 600 * MB


def memory_job(plants):
    return small_job(plants, steps=6)


CASES = [
    Case("memory-leak", finding="mem.growth",
         **planted(lambda: memory_job(Leaking()), lambda: memory_job(Memory()), cost_ns=0,
                   metrics={"tensors_per_step": Leaking.KEPT})),
    Case("memory-fragmentation", finding="mem.fragments",
         **planted(lambda: memory_job(InPieces()), lambda: memory_job(Memory()), cost_ns=0,
                   metrics={"reserved_per_step": InPieces.POOLED, "allocated": HELD + BATCH})),
]
