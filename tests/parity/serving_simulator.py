# SPDX-License-Identifier: Apache-2.0
"""Simulated servers of requests: steps that prefill and decode, captured graphs, engines in lock step.

The simulator of jobs in DIR/tools/sim knows one kind of step that decodes. Here its ranks run a server on it: the batch
changes from step to step, a graph is replayed for the next larger size that was captured, prompts are read by eager
steps, and engines wait for each other in every layer. Steps have the names of vLLM and no ProfilerStep. What a planted
cause costs is known because the same job is simulated without it.

`DIR/tools/sim` has to be the first entry of sys.path when this module is imported.
"""

import copy
import sqlite3
from pathlib import Path
from typing import NamedTuple

import config as sim_config
import engine
import simulate_job
from workload import Op, Workload

US, MS = 1000, 1_000_000

# name -> parameters; of tools/sim the first letter of `owner` is enough
CAUSES = {
    "padding": {"sizes": [512]},
    "graph_missed": {"largest": 96},
    "bubbles": {"us": 600.0},
    "schedule": {"ms": 4.0},
    "detokenize": {"ms": 4.0},
    "idle_engine": {"engine": 1},
    "prompts_apart": {"engine": 1, "steps_later": 2},
    "exchange_alone": {},
}
FRAMES = {"schedule": "vllm/v1/core/sched/scheduler.py(171): schedule",
          "detokenize": "vllm/v1/engine/detokenizer.py(91): update"}
SIZES = [8 * i for i in range(1, 65)]
BASE = {"kind": "infer", "dp": 1, "tp": 4, "layers": 6, "hidden": 4096, "ffn": 11008, "heads": 32, "seq": 1024,
        "micro_batch_size": 16, "micro_batches": 1, "steps": 14, "format": "db"}

sim_config.PRESETS["server"] = BASE
sim_config.BASE.update({"requests": [90, 126], "prompt": 512, "prefill_every": 5, "joined": False,
                        "exchanged": 1 << 19, "overlapped": False})  # bytes between engines in every layer
sim_config.CAUSES.update({name: (parameters, "host", name) for name, parameters in CAUSES.items()})
sim_config.INFER_CAUSES |= set(CAUSES)


class Work(NamedTuple):
    """What an engine does in a step."""
    phase: str  # "prefill", "decode", "dummy"
    requests: int
    tokens: int

    def name(self):
        if self.phase == "prefill":
            return f"execute_context_{self.requests}({self.tokens})_generation_0(0)"
        return f"execute_context_0(0)_generation_{self.requests}({self.requests})"


def planted(config, name):
    return next((c for c in config["causes"] if c["name"] == name), None)


def work_of(config, number, step):
    """The work of an engine: in turn a few requests, and more of them; every few steps a prompt."""
    every = config["prefill_every"]
    apart = planted(config, "prompts_apart")
    later = apart["steps_later"] if apart and number == apart["engine"] else 0
    if every and (step - later) % every == every - 1:
        return Work("prefill", 1, config["prompt"])
    least, most = config["requests"]
    requests = (most if step % 2 else least) + step % 3
    idle = planted(config, "idle_engine")
    if idle is None:
        return Work("decode", requests, requests)
    if number == idle["engine"]:
        return Work("dummy", 0, 0)
    # The others have its share.
    engines = config["dp"]
    return Work("decode", requests * engines // (engines - 1), requests * engines // (engines - 1))


def graph_size(config, requests):
    """The graph for so many requests; None: there is none."""
    padding, missed = planted(config, "padding"), planted(config, "graph_missed")
    sizes = padding["sizes"] if padding else SIZES
    if missed:
        sizes = [size for size in sizes if size <= missed["largest"]]
    return min((size for size in sizes if size >= max(1, requests)), default=None)


class ServerRank(engine.Rank):
    """A rank of an engine of the server."""

    def infer(self):
        for step in range(self.config["steps"]):
            self.begin_step(step)
            work = work_of(self.config, self.dp, step)
            yield from self.serve(work)
            self.end_step()

    def serve(self, work):
        self.host_work("schedule")
        start = self.host
        self.copy_inputs(max(1, work.requests))
        size = graph_size(self.config, work.requests)
        if work.phase == "prefill":
            self.prefill(work)
        elif size is None:
            self.eager(work)
        else:
            self.replay(work, size)
        # Another thread queues: what follows in the program has waited for it.
        self.host = max(self.host, self.deq)
        self.cpu(start, self.host, work.name(), chain=1)
        for op in self.workload(max(1, work.requests)).get("decode_post", self.flags):
            self.run_op(op, 6)
        yield from self.item(chain=5)
        self.host_work("detokenize")

    def end_step(self):
        self.steps.append((self.step_start, self.host))
        self.host += 3000

    def host_work(self, name):
        """What the engine does on the host between its steps."""
        for cause in self.job.effects.at(name, self.rank, self.step):
            start = self.host
            self.host += int(cause["ms"] * MS * self.noise(91, True))
            self.python(start, self.host, FRAMES[name])

    def copy_inputs(self, requests):
        start = self.host
        self.memcpy(requests * 8, 2.0, "acl_memcpy_host_to_device", on_queue=True)
        self.cpu(start, self.host + 500, "aten::copy_", chain=4)
        self.host += 1000

    def workload(self, batch, seq=None):
        key = batch, seq
        if key not in self.job.workloads:
            shape = dict(self.config, seq=seq) if seq else self.config
            self.job.workloads[key] = Workload(shape, batch)
        return self.job.workloads[key]

    def replay(self, work, size):
        self.host = max(self.host, self.deq)
        a = self.host + int(6000 * self.hf)
        self.host = a + int(70_000 * self.hf * self.noise(41, True))
        self.maybe_gc()
        self.python(a - 3000, self.host + 3000, "torch_npu/npu/graphs.py(129): replay")
        self.graph_conn = self.next_conn()
        self.cann(a, self.host, engine.ACL, self.tid, self.graph_conn, "aclmdlRIExecuteAsync")
        ready = a + 45_000
        graph, asked = self.workload(size), self.workload(max(1, work.requests))
        bubbles = self.job.effects.at("bubbles", self.rank, self.step)
        exchange = None  # that runs beside the layer, where halves of the batch take turns
        for layer in range(self.config["layers"]):
            for what in ("decode_attention", "decode_mlp"):
                for padded, plain in zip(graph.get(what, self.flags), asked.get(what, self.flags)):
                    # Attention does nothing for requests that are not there.
                    is_attention = padded.kind == "attention"
                    if is_attention and bubbles:
                        self.wait_for_host(ready + int((layer + 1) * bubbles[0]["us"] * US))
                    self.graph([self.timed_as(padded, plain) if is_attention else padded], layer, ready)
                if self.config["tp"] > 1:
                    self.graph_all_reduce(size * self.config["hidden"] * 2, ready)
            if exchange:
                self.wait_for_exchange(exchange, ready)
            exchange = self.graph_exchange(ready) if self.config["joined"] else None
        if exchange:
            self.wait_for_exchange(exchange, ready)
        self.graph(graph.get("decode_head", self.flags), 99, ready)

    def wait_for_host(self, until):
        """The graph waits until the host has told it the lengths of the sequences."""
        node = engine.Node(self.rank, self.step, "w", "aclrtStreamWaitEvent", 0, 20, engine.COMPUTE_STREAM, engine.NONE_ID)
        node.depend = until
        self.add(node)

    @staticmethod
    def timed_as(padded, plain):
        op = copy.copy(padded)
        op.calls = [copy.copy(call) for call in padded.calls]
        for call, other in zip(op.calls, plain.calls):
            call.kernels = [copy.copy(kernel) for kernel in call.kernels]
            for kernel, timed in zip(call.kernels, other.kernels):
                kernel.dur = timed.dur
        return op

    def graph_exchange(self, ready):
        """Every layer meets those of the other engines. Returns what nothing has waited for yet."""
        group = self.job.group_of("dp", self.rank)
        coll = self.job.collective(self, "allReduce", group, self.config["exchanged"], engine.BF16, "coll", None, 0, None)
        stream = self.job.comm_stream(group, "coll")
        node = engine.Node(self.rank, self.step, "c", coll, ready, 0, stream, self.graph_conn, coll)
        node.model = 1
        coll.parts[self.rank] = node
        wait = engine.Node(self.rank, self.step, "w", "aclrtStreamWaitEvent", ready, 20, stream, engine.NONE_ID)
        self.add(wait, self.tails.get(engine.COMPUTE_STREAM))
        self.add(node)
        if not self.config["overlapped"] or self.job.effects.at("exchange_alone", self.rank, self.step):
            self.wait_for_exchange(node, ready)
            return None
        return node

    def wait_for_exchange(self, node, ready):
        self.add(engine.Node(self.rank, self.step, "w", "aclrtStreamWaitEvent", ready, 20, engine.COMPUTE_STREAM,
                             engine.NONE_ID), node)

    def eager(self, work):
        """Decodes without a graph."""
        asked = self.workload(work.requests)
        for layer in range(self.config["layers"]):
            for what in ("decode_attention", "decode_mlp"):
                for op in asked.get(what, self.flags):
                    self.run_op(self.named(op), layer)
                if self.config["tp"] > 1:
                    self.all_reduce("tp", work.requests * self.config["hidden"] * 2)
            if self.config["joined"]:
                self.all_reduce("dp", self.config["exchanged"])
        for op in asked.get("decode_head", self.flags):
            self.run_op(self.named(op), 99)

    @staticmethod
    def named(op):
        """An operator of a graph as the framework calls it."""
        named = Op(op.outer, [copy.copy(call) for call in op.calls], op.module, op.kind, op.pair)
        for call in named.calls:
            call.aten = "npu::" + call.acl.removeprefix("aclnn").lower()
        named.uid = op.uid
        return named

    def prefill(self, work):
        prompt = self.workload(1, work.tokens)
        for layer in range(self.config["layers"]):
            for what in ("fwd_attention", "fwd_mlp"):
                for op in prompt.get(what, self.flags):
                    self.run_op(op, layer)
                if self.config["tp"] > 1:
                    self.all_reduce("tp", work.tokens * self.config["hidden"] * 2)
            if self.config["joined"]:
                self.all_reduce("dp", self.config["exchanged"])


class ServerJob(engine.Job):
    def __init__(self, config, record=True):
        self.workloads = {}
        super().__init__(config, record)


def without_marks_of_steps(job):
    """Of a server the profiler knows no steps."""
    for path in Path(job).rglob("ascend_pytorch_profiler_*.db"):
        with sqlite3.connect(path) as database:
            database.execute("DELETE FROM STEP_TIME")
    for path in Path(job).rglob("analysis.db"):
        with sqlite3.connect(path) as database:
            tables = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            if "StepTraceTime" in tables:
                database.execute("DELETE FROM StepTraceTime")


def simulate(folder, **settings):
    """Writes the captures of a server into folder/db; returns what is true of it."""
    engine.Rank, engine.Job, simulate_job.Job = ServerRank, ServerJob, ServerJob
    simulate_job.make_truth.__globals__["Job"] = ServerJob
    settings = {"preset": "server", **settings}
    Path(folder).mkdir(parents=True, exist_ok=True)
    truth = simulate_job.simulate(sim_config.load_config(settings), str(folder), "db", jobs=1, progress=lambda text: None)
    without_marks_of_steps(folder)
    return truth
