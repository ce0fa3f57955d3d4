# SPDX-License-Identifier: Apache-2.0
"""Cases of devices and of what moves between them: slow operators, unaligned data, uneven experts, late nodes."""

from large_job import TRANSFER_NS

from .case import Case, MS, Plants, planted, small_job

NODE = 8  # ranks of a host


class Positions(Plants):
    """An operator lists the positions of a mask, for which vector cores take long."""

    def operator(self, rank, step, operator):
        if operator.kernel != "Gelu":
            return operator
        return operator._replace(name="aten::nonzero", kernel="NonZero", ns=20 * operator.ns)


class Masked(Plants):
    """It multiplies by the mask instead, at half the time."""

    def operator(self, rank, step, operator):
        if operator.kernel != "Gelu":
            return operator
        return operator._replace(name="aten::mul", kernel="Mul", ns=10 * operator.ns)


class Unaligned(Plants):
    """Every third collective copies its data within the device first, for as long as it then sends them; the others
    copy them into a buffer, as fast as the memory is."""

    def copy_ns(self, kind, number):
        return TRANSFER_NS[kind] // (1 if number % 3 == 0 else 50)


class Aligned(Plants):
    """All of them copy into the buffer alone."""

    def copy_ns(self, kind, number):
        return TRANSFER_NS[kind] // 50


class Experts(Plants):
    """One rank of four has the experts that get twice the tokens."""

    FACTOR = 2

    def operator(self, rank, step, operator):
        if operator.kernel != "MatMulV3":
            return operator
        return operator._replace(name="npu::npu_grouped_matmul", kernel="GroupedMatmul",
                                 ns=operator.ns * (self.FACTOR if rank == 2 else 1))


class EvenExperts(Experts):
    FACTOR = 1


class LateNode(Plants):
    """The ranks of the second node wait for their batch in each step."""

    WAIT, AT = "executor.py(88): wait_for_batch", 1

    def pause_ns(self, rank, step, number):
        return 8 * MS if rank >= NODE and number == self.AT else 0

    def record(self, writer, number, done):
        if done.host > done.free:
            writer.add_python(self.WAIT, done.free, done.host)


CASES = [
    Case("slow-vector-operators", finding="op.reformulate",
         **planted(lambda: small_job(Positions()), lambda: small_job(Masked()), place="NonZero")),
    Case("unaligned-communication", finding="comm.unaligned",
         **planted(lambda: small_job(Unaligned()), lambda: small_job(Aligned()))),
    Case("uneven-experts", finding="ep.imbalance",
         **planted(lambda: small_job(Experts(), ranks=4), lambda: small_job(EvenExperts(), ranks=4),
                   ranks=[2], place="GroupedMatmul")),
    Case("nodes-out-of-step", finding="host.python",
         **planted(lambda: small_job(LateNode(), ranks=2 * NODE), lambda: small_job(ranks=2 * NODE),
                   ranks=list(range(NODE, 2 * NODE)), place="wait_for_batch")),
]
