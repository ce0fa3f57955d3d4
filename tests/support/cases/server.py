# SPDX-License-Identifier: Apache-2.0
"""Cases of servers that the profiler of the device shows: what the host does between two runs of the model, engines
that have unequal work, and a model that got slower."""

from large_job import CUBE, MIXED, TP, VECTOR, Operator

from .case import Case, MS, US, Plants, Truth, planted, small_job, write_job

LAYERS, REQUESTS, PROMPT = 8, 32, 2048
LAYER = [Operator("aten::rms_norm", None, "RmsNorm", VECTOR, 40 * US),
         Operator("aten::mm", None, "MatMulV3", CUBE, 250 * US),
         Operator("npu::attention", None, "PagedAttentionMaskNdKernel", MIXED, 150 * US),
         Operator("aten::mm", None, "MatMulV3", CUBE, 250 * US),
         Operator("c10d::allreduce_", group="tp")]
SAMPLE = [Operator("aten::argmax", None, "ArgMaxV2", VECTOR, 40 * US), Operator("aten::item")]
PROGRAM = LAYERS * LAYER + SAMPLE
OF_MODEL = LAYERS * len(LAYER)  # operators
SCHEDULER = "vllm/v1/core/sched/scheduler.py(171): schedule"
SAMPLER = "vllm/v1/sample/sampler.py(90): forward"
TOKENIZER = "vllm/transformers_utils/tokenizer.py(62): encode"


class Server(Plants):
    """Engines that decode. The host is ten times as fast as one that launches training."""

    def on_host(self, rank):
        return 0.1

    def transfer(self, kind, members):
        return 0.3

    def work(self, rank, step):
        """Requests that are generated for, tokens of prompts that are read."""
        return REQUESTS, 0

    def run_of_model(self, rank, step):
        requests, prompts = self.work(rank, step)
        read = f"1({prompts})" if prompts else "0(0)"
        return f"execute_context_{read}_generation_{requests}({requests})", OF_MODEL


class Between(Server):
    """The host does something before each step of a kind, after it has read the results of the one before."""

    def __init__(self, name, time):
        super().__init__()
        self.name, self.time = name, time

    def delays(self, step):
        return step > 0

    def pause_ns(self, rank, step, number):
        return self.time if number == 0 and self.delays(step) else 0

    def record(self, writer, number, done):
        if self.name and done.host > done.free:
            writer.add_python(self.name, done.free, done.host)


class BeforePrompts(Between):
    """Every third step reads a prompt, whose text was encoded just before."""

    def delays(self, step):
        return step % 3 == 2

    def work(self, rank, step):
        return (0, PROMPT) if self.delays(step) else (REQUESTS, 0)

    def operator(self, rank, step, operator):
        return operator._replace(ns=3 * operator.ns) if self.delays(step) else operator


class BesideModel(Server):
    """A thread of its own schedules the next step while the device runs this one."""

    THREAD = 7

    def record(self, writer, number, done):
        if number == 1:
            writer.add_python(SCHEDULER, done.start, done.start + MS, self.THREAD)


class Engines(Server):
    """Two engines wait for each other in each layer, as those do which share experts. A step takes as long as it has
    requests."""

    REQUESTS = 48, 16

    def work(self, rank, step):
        return self.REQUESTS[rank // TP], 0

    def operator(self, rank, step, operator):
        return operator._replace(ns=operator.ns * self.REQUESTS[rank // TP] // 32)

    def transfer(self, kind, members):
        return 0.05


class EvenEngines(Engines):
    REQUESTS = 32, 32


class SlowerModel(Server):
    """Its products take a third longer than before."""

    def operator(self, rank, step, operator):
        return operator._replace(ns=operator.ns * 4 // 3) if operator.kernel == "MatMulV3" else operator


def serving(plants, **settings):
    return small_job(plants, **{"steps": 9, "program": PROGRAM, **settings})


def engines(plants):
    joined = [operator._replace(group="dp") if operator.group else operator for operator in PROGRAM]
    return serving(plants, ranks=2 * TP, program=joined)


def old_and_new(new):
    """Two captures of a server, and by how much the second one decodes more slowly."""
    def make(folder):
        job, before = serving(new()), serving(Server())
        write_job(folder / "new", job)
        write_job(folder / "old", before)
        more = max(job.ends) / max(before.ends) - 1
        return Truth(says=["REGRESSION decode:time_per_token", f"(+{100 * more:.1f} %, limit 3 %"])
    return make


CASES = [
    Case("scheduler-slow", finding="serve.host",
         **planted(lambda: serving(Between(SCHEDULER, 3 * MS)), lambda: serving(Server()), place="scheduler.py")),
    Case("sampler-slow", finding="serve.host",
         **planted(lambda: serving(Between(SAMPLER, 3 * MS)), lambda: serving(Server()), place="sampler.py")),
    Case("service-slower-than-model", finding="serve.host",
         **planted(lambda: serving(Between("", 3 * MS)), lambda: serving(Server()), place="not recorded")),
    Case("asynchronous-scheduling", finding="serve.host",
         **planted(lambda: serving(Between(SCHEDULER, MS)), lambda: serving(BesideModel()), place="scheduler.py")),
    Case("pre-and-post-processing", finding="serve.host",
         **planted(lambda: serving(BeforePrompts(TOKENIZER, 8 * MS)), lambda: serving(BeforePrompts(TOKENIZER, 0)),
                   place="tokenizer.py")),
    Case("uneven-engines", finding="serve.balance",
         **planted(lambda: engines(Engines()), lambda: engines(EvenEngines()), ranks=[0, 1])),
    Case("slower-model", command="compare -d ./new -bp ./old --fail_on 'decode:time_per_token>+3%'",
         plant=old_and_new(SlowerModel), healthy=old_and_new(Server)),
]
