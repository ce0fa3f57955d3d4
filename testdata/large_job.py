# SPDX-License-Identifier: Apache-2.0
"""Captures of a training job of any number of ranks, in which a late rank, a slow link and a slow
host can be planted.

Two ranks of tensor parallelism share each layer; all pairs are data parallel, so that two groups
reach over the whole job. Eight ranks share a host. The device runs what the host has launched, in
order; a collective ends on all its members when the last of them has come and the data has moved.
So what is planted on one rank shows on the others as waiting, as in a real job. Ranks differ by
noise, which depends on nothing but the rank. Times in ns.
"""
import json
import random
import sqlite3
from collections import namedtuple

from make_captures import MAIN, NO_MODEL, PID, SCHEMA, write
from scale_capture import CHIP, settings
from scale_db import MORE_SCHEMA
from scale_links import SCHEMA as LINKS_SCHEMA
from synthetic_run import EPOCH

TP, RANKS_OF_HOST = 2, 8
NOISE = {"device": 0.01, "host": 0.05}
HOST_NS, LATENCY_NS, BETWEEN_STEPS_NS = 250_000, 20_000, 50_000
# Of the host: for the call that launches, and for making the stream that computes wait for a
# collective
LAUNCH_NS, EVENT_NS = 20_000, 10_000
COMPUTE_STREAM = 2
AWAIT, CALL = 1_000_000, 2_000_000  # connections of calls that launch no work begin here
BYTES_OF = {"tp": 4 << 20, "dp": 24 << 20}
TRANSFER_NS = {"tp": 300_000, "dp": 1_800_000}
# `group`: of a collective; `kernel`, `core` and `ns`: of another operator. One without either waits
# for the device.
Operator = namedtuple("Operator", "name module kernel core ns group",
                      defaults=(None, None, None, 0, None))
CUBE, VECTOR, MIXED = "AI_CORE", "AI_VECTOR_CORE", "MIX_AIC"
LAYER = [Operator("aten::native_layer_norm", "Attention", "LayerNormV4", VECTOR, 120_000),
         Operator("aten::mm", "Attention", "MatMulV2", CUBE, 500_000),
         Operator("aten::mul", "Attention", "Mul", VECTOR, 90_000),
         Operator("npu::npu_fusion_attention", "Attention", "FlashAttentionScore", MIXED, 400_000),
         Operator("aten::mm", "Attention", "MatMulV2", CUBE, 300_000),
         Operator("c10d::allreduce_", "Attention", group="tp"),
         Operator("aten::add", "Residual", "Add", VECTOR, 150_000),
         Operator("aten::addmm", "Mlp", "MatMulV3", CUBE, 700_000),
         Operator("aten::gelu", "Mlp", "Gelu", VECTOR, 160_000),
         Operator("aten::addmm", "Mlp", "MatMulV3", CUBE, 700_000),
         Operator("c10d::allreduce_", "Mlp", group="tp"),
         Operator("aten::add", "Residual", "Add", VECTOR, 150_000)]
UPDATE = [Operator("c10d::allreduce_", group="dp"),
          Operator("aten::_foreach_add_", None, "ForeachAddList", VECTOR, 500_000),
          Operator("aten::item")]
TASK_TYPES = {CUBE: "KERNEL_AICORE", VECTOR: "KERNEL_AIVEC", MIXED: "KERNEL_MIX_AIC"}
ENUMS = """
CREATE TABLE ENUM_HCCL_TRANSPORT_TYPE (id INTEGER PRIMARY KEY,name TEXT);
CREATE TABLE ENUM_HCCL_LINK_TYPE (id INTEGER PRIMARY KEY,name TEXT);
CREATE TABLE ENUM_HCCL_DATA_TYPE (id INTEGER PRIMARY KEY,name TEXT);
INSERT INTO ENUM_HCCL_TRANSPORT_TYPE VALUES (0,'SDMA');
INSERT INTO ENUM_HCCL_LINK_TYPE VALUES (1,'HCCS'),(0,'ON_CHIP'),(65535,'INVALID_TYPE');
INSERT INTO ENUM_HCCL_DATA_TYPE VALUES (4,'FP32');
INSERT INTO ENUM_API_TYPE VALUES (10000,'node'),(20000,'acl'),(50001,'op'),(50003,'trace');"""
# A table that only the profilers write which were asked for it.
GC_SCHEMA = "CREATE TABLE GC_RECORD (startNs INTEGER,endNs INTEGER,globalTid INTEGER);"
# What one operator of one step did on one rank; `last`: when the last member of its group came;
# `free`: since when the host has had nothing else to do.
Done = namedtuple("Done", "operator step free host issued host_end start end last")


class Plants:
    """`late`, `link`, `host`: (number, factor), where a link is that of the pair of a rank. What
    else can be planted is a method that a class of its own overrides. `blocks`: the host waits for
    the device behind each launch."""
    blocks = False

    def __init__(self, late=None, link=None, host=None):
        self.late, self.link, self.host = late, link, host

    @staticmethod
    def _factor(plant, number):
        return plant[1] if plant and plant[0] == number else 1

    def device(self, rank):
        return self._factor(self.late, rank)

    def on_host(self, rank):
        return self._factor(self.host, rank // RANKS_OF_HOST)

    def transfer(self, kind, members):
        return self._factor(self.link, members[0]) if kind == "tp" else 1

    def operator(self, rank, step, operator):
        """What the rank runs in its place; of the same kind."""
        return operator

    def pause_ns(self, rank, step, number):
        """How long the host does something else before it comes to this operator of the program."""
        return 0

    def copy_ns(self, kind, number):
        """How long each member of this collective copies its data before it sends them."""
        return 0

    def run_of_model(self, rank, step):
        """In a server, which has no steps of the profiler: the name of a run of the model, and how
        many operators of the step are in it."""
        return None

    def record(self, writer, number, done):
        """Adds records beside those of the operator, which is the number-th one of its step."""


class LargeJob:
    def __init__(self, ranks, plants=Plants(), steps=3, layers=4, program=None):
        assert ranks % TP == 0, f"the number of ranks has to be a multiple of {TP}"
        self.ranks, self.steps, self.plants = ranks, steps, plants
        self.program = program or layers * LAYER + UPDATE
        self.groups = {"tp": [list(range(first, first + TP)) for first in range(0, ranks, TP)],
                       "dp": [list(range(first, ranks, TP)) for first in range(TP)]}
        self.done = [[] for _ in range(ranks)]
        self._run(plants)

    def _run(self, plants):
        ranks = range(self.ranks)
        noise = [random.Random(rank).gauss for rank in ranks]
        host, device = [0] * self.ranks, [0] * self.ranks
        for step in range(self.steps):
            host = [time + BETWEEN_STEPS_NS for time in host]
            for number, operator in enumerate(self.program):
                free = host
                begins = [time + plants.pause_ns(rank, step, number)
                          for rank, time in enumerate(host)]
                host = list(begins)
                own = [plants.operator(rank, step, operator) for rank in ranks]
                for rank in ranks:
                    host[rank] += int(HOST_NS * plants.on_host(rank) *
                                      (1 + abs(noise[rank](0, NOISE["host"]))))
                issued = [time - min(LAUNCH_NS, (time - before) // 2)
                          for before, time in zip(begins, host)]
                came = [max(device[rank], host[rank] + LATENCY_NS) for rank in ranks]
                last = came
                if operator.group:
                    copy = plants.copy_ns(operator.group, step * len(self.program) + number + 1)
                    last = self._run_collective(operator.group, came, plants, device, copy)
                elif operator.kernel:
                    for rank in ranks:
                        device[rank] = came[rank] + int(
                            own[rank].ns * plants.device(rank) *
                            (1 + noise[rank](0, NOISE["device"])))
                else:
                    host = [max(times) for times in zip(host, device)]
                for rank in ranks:
                    self.done[rank].append(
                        Done(own[rank], step, free[rank], begins[rank], issued[rank], host[rank],
                             came[rank], device[rank], last[rank]))
                if plants.blocks:
                    host = [max(times) for times in zip(host, device)]
        self.ends = host

    def _run_collective(self, kind, came, plants, device, copy):
        last = list(came)
        for members in self.groups[kind]:
            all_here = max(came[rank] for rank in members) + copy
            end = all_here + int(TRANSFER_NS[kind] * plants.transfer(kind, members))
            for rank in members:
                last[rank], device[rank] = all_here, end
        return last

    def group_of(self, rank, kind):
        return self.groups[kind][rank // TP if kind == "tp" else rank % TP]

    def write(self, directory, rank):
        """Makes directory/rank<N>_ascend_pt."""
        capture = directory / f"rank{rank}_ascend_pt"
        write(capture / f"profiler_info_{rank}.json", json.dumps(settings("db", rank)))
        chip = capture / "PROF_000001_20231114221320000_LARGE/device_0/info.json.0"
        write(chip, json.dumps(CHIP))
        output = capture / "ASCEND_PROFILER_OUTPUT"
        output.mkdir()
        RankWriter(self, rank).write(output)


class RankWriter:
    """The databases of one rank."""

    def __init__(self, job, rank):
        self.job, self.rank = job, rank
        self.strings, self.rows, self.links = {}, {}, {}

    def write(self, output):
        steps = {}
        for number, done in enumerate(self.job.done[self.rank], 1):
            steps.setdefault(done.step, []).append(done)
            self._add_host(number, done)
            if self.job.plants.blocks and done.end > done.host_end:
                self.add_call("aclrtSynchronizeStream", done.host_end, done.end)
            if done.operator.group:
                self._add_collective(number, done)
            elif done.operator.kernel:
                self._add_kernel(number, done)
            self.job.plants.record(self, (number - 1) % len(self.job.program), done)
        for step, own in steps.items():
            self._add_step(step, own)
        self._add_job()
        for value, number in self.strings.items():
            self._add("STRING_IDS", number, value)
        tables = "".join(f"CREATE TABLE {name} ({columns});" for name, columns in
                         (line.split(" ", 1) for line in SCHEMA))
        asked = GC_SCHEMA if "GC_RECORD" in self.rows else ""
        fill(output / f"ascend_pytorch_profiler_{self.rank}.db",
             tables + MORE_SCHEMA + ENUMS + asked, self.rows)
        fill(output / "analysis.db", LINKS_SCHEMA, self.links)

    def _text(self, value):
        return self.strings.setdefault(value, len(self.strings) + 1)

    def _add(self, table, *values):
        self.rows.setdefault(table, []).append(values)

    def _add_link(self, table, *values):
        self.links.setdefault(table, []).append(values)

    def _add_step(self, step, own):
        run = self.job.plants.run_of_model(self.rank, step)
        if run:
            self.add_operator(run[0], own[0].host, own[run[1] - 1].host_end)
        else:
            self._add("STEP_TIME", step, EPOCH + own[0].host, EPOCH + own[-1].host_end)

    def add_operator(self, name, start, end, connection=None, thread=MAIN, kind=50001, stack=()):
        """`stack`: lines of the program, the innermost first."""
        chain = len(self.rows.get("PYTORCH_API", ())) if stack else None
        for depth, line in enumerate(stack):
            self._add("PYTORCH_CALLCHAINS", chain, self._text(line), depth)
        self._add("PYTORCH_API", str(EPOCH + start), str(EPOCH + end), PID << 32 | thread,
                  connection, self._text(name), -1, None, None, None, chain, kind)

    def add_python(self, name, start, end, thread=MAIN):
        self.add_operator(name, start, end, thread=thread, kind=50003)

    def add_call(self, name, start, end):
        """A call of the runtime that launches nothing."""
        self._add_call(name, start, end, CALL + len(self.rows["CANN_API"]))

    def add_collection(self, start, end):
        self._add("GC_RECORD", EPOCH + start, EPOCH + end, PID << 32 | MAIN)

    def add_memory(self, time, allocated, reserved):
        """What the allocator of the framework holds at a time, in bytes."""
        self._add("MEMORY_RECORD", self._text("PTA"), EPOCH + time, allocated, reserved, allocated,
                  0, 0)

    def add_allocation(self, name, size, start, end):
        """`end` None: it is never released."""
        end = None if end is None else EPOCH + end
        length = None if end is None else end - EPOCH - start
        self._add("OP_MEMORY", self._text(name), size, EPOCH + start, end, end, length, length, 0,
                  0)

    def _add_job(self):
        job, rank = self.job, self.rank
        members = {kind: job.group_of(rank, kind) for kind in ("tp", "dp")}
        groups = {group_id(kind, of): {"group_name": kind, "group_rank": of.index(rank),
                                       "global_ranks": of} for kind, of in members.items()}
        sizes = {"tensor_model_parallel_size": TP, "pipeline_model_parallel_size": 1,
                 "data_parallel_size": job.ranks // TP, "world_size": job.ranks, "rank": rank}
        for name, value in (("parallel_group_info", groups), ("distributed_args", sizes)):
            self._add("META_DATA", name, json.dumps(value))
        host = rank // RANKS_OF_HOST
        self._add("HOST_INFO", str(host), f"node{host}")
        self._add("NPU_INFO", 0, "Ascend910B")
        self._add("RANK_DEVICE_MAP", rank, 0)
        self._add("SESSION_TIME_INFO", EPOCH, EPOCH + job.ends[rank])

    def _add_host(self, number, done):
        thread, operator = PID << 32 | MAIN, done.operator
        start, end = EPOCH + done.host, EPOCH + done.host_end
        launches = operator.kernel or operator.group
        self.add_operator(operator.name, done.host, done.host_end, number if launches else None)
        if not launches:
            return self._add_call("aclrtSynchronizeStream", done.issued, done.host_end,
                                  AWAIT + number)
        called = done.host_end - EVENT_NS if operator.group else done.host_end
        self._add_call("launch", done.issued, called, number)
        self._add("CONNECTION_IDS", number, number)
        if operator.group:
            self._add_call("aclrtStreamWaitEvent", called, done.host_end, AWAIT + number)
            self._add_task("EVENT_WAIT", done.start, done.end, AWAIT + number, COMPUTE_STREAM)
        if operator.module:
            self._add("MSTX_EVENTS", start, end, 2, number, NO_MODEL, self._text(operator.module),
                      thread, thread, self._text("Module"), NO_MODEL)

    def _add_call(self, name, start, end, connection):
        level = 10000 if name == "launch" else 20000
        self._add("CANN_API", EPOCH + start, EPOCH + end, level, PID << 32 | MAIN, connection,
                  self._text(name))

    def _add_task(self, kind, start, end, connection, stream):
        task = len(self.rows.get("TASK", ()))
        self._add("TASK", EPOCH + start, EPOCH + end, 0, connection, task, PID, self._text(kind),
                  NO_MODEL, stream, task, NO_MODEL)
        return task

    def _add_kernel(self, number, done):
        text, kernel, core = self._text, done.operator.kernel, done.operator.core
        inputs, output = shapes_of(done.operator)
        task = self._add_task(TASK_TYPES[core], done.start, done.end, number, COMPUTE_STREAM)
        blocks = 48 if core == VECTOR else 24  # as many as the chip has cores
        self._add("COMPUTE_TASK_INFO", text(f"aclnn{kernel}"), task, blocks, 0, text(core),
                  text(kernel), text("ND;ND"), text("DT_BF16;DT_BF16"), text(inputs), text("ND"),
                  text("DT_BF16"), text(output), text("N/A"), text("dynamic"), text("NO"))

    def _add_collective(self, number, done):
        """Everybody waits until all are there, and sends to the next one of the group."""
        kind = done.operator.group
        members, text = self.job.group_of(self.rank, kind), self._text
        own, size = members.index(self.rank), BYTES_OF[kind]
        group = group_id(kind, members)
        hashed = str(group_hash(group))
        name = f"hcom_allReduce__{hashed[-3:]}_{number}_1"
        self._add("COMMUNICATION_OP", text(name), EPOCH + done.start, EPOCH + done.end, number,
                  text(group), number, 0, 0, 4, text("RING"), size // 4, text("hcom_allReduce_"))
        peer = (own + 1) % len(members)
        copied = done.start + self.job.plants.copy_ns(kind, number)
        for task, start, end, to, link, of in (
                *([("Memcpy", done.start, copied, own, 0, size)] if copied > done.start else []),
                ("Notify_Wait", copied, max(done.last, copied), NO_MODEL, 65535, 0),
                ("Memcpy", max(done.last, copied), done.end, peer, 1, size)):
            row = self._add_task("SDMA" if of else "Notify Wait", start, end, number,
                                 COMPUTE_STREAM + 1)
            self._add("COMMUNICATION_TASK_INFO", text(name), row, text(task), 0, text(group), row,
                      65535, own, to, 0, of, 4, link, number)
        wait, transit = ((to - since) / 1e6 for since, to in
                         ((done.start, done.last), (done.last, done.end)))
        step, megabytes = f"step{done.step}", size / 1e6
        self._add_link("CommAnalyzerTime", name, hashed, (EPOCH + done.start) / 1000,
                       wait + transit, transit, wait, 0, 0, step, "collective")
        self._add_link("CommAnalyzerBandwidth", name, hashed, "HCCS", megabytes, transit,
                       megabytes / transit, 0, megabytes, 1, transit, step, "collective")
        self._add_link("CommAnalyzerMatrix", "hcom_allReduce_", hashed, str(own), str(peer), "HCCS",
                       megabytes, transit, megabytes / transit, step, "collective", name)


def shapes_of(operator):
    """Of inputs and output in BF16, with which a kernel reaches half of what the chip can do."""
    if operator.core == VECTOR:  # 1 TB/s
        shape = f"{operator.ns // 49},8192"
        return f'"{shape};{shape}"', f'"{shape}"'
    middle = operator.ns // 172  # 195 TFLOPS
    return f'"4096,{middle};{middle},4096"', '"4096,4096"'


def group_id(kind, members):
    return f"10.0.0.1%eth0_60000_{kind}_{members[0]}"


def group_hash(group):
    """By which analysis.db names a group, see GroupHash() of the program."""
    high = low = 0
    for code in group.encode():
        high, low = (high * 29 + code) % 2**32, (low * 131 + code) % 2**32
    return high << 32 | low


def fill(path, schema, rows):
    with sqlite3.connect(path, isolation_level=None) as db:
        db.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;" + schema)
        db.execute("BEGIN")
        for table, values in rows.items():
            places = ",".join("?" * len(values[0]))
            db.executemany(f"INSERT INTO {table} VALUES ({places})", values)
        db.execute("COMMIT")
    db.close()
