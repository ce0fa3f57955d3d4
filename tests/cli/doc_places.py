# SPDX-License-Identifier: Apache-2.0
"""The directories and files that the pages of docs/ name in their commands, made of testdata."""

import re
import shutil
import sqlite3

import cli  # noqa: F401  # finds tests/support
import snapshots
from captures import build_job, gzip_copy
from steps import write_capture

# ms, about 100: what README.md shows.
STEPS_US = (99_800, 100_200, 100_000, 99_900, 100_100)


class Places:
    """Each method makes the place of its name, or what the tables below call by it."""

    def __init__(self, captures, raw):
        self.captures, self.raw = captures, raw

    def text(self, path, name):
        shutil.copytree(self.captures / name, path)

    def steps(self, path, slower=False, count=5, rank=0):
        """Steps of 100 ms, or 5 ms longer, as README.md says of what."""
        lengths = [STEPS_US[number % len(STEPS_US)] for number in range(count)]
        if slower:
            write_capture(path, [length + 5_000 for length in lengths],
                          kernels=(("MatMulV2", 43_000), ("Relu", 2_000)), allreduce_us=11_500, rank=rank)
        else:
            write_capture(path, lengths, rank=rank)

    def job_of_steps(self, path, slower=False):
        """Three ranks of 12 steps, with transfers of another capture under the names of their collectives."""
        for rank in range(3):
            capture = path / f"rank{rank}_ascend_pt"
            self.steps(capture, slower, 12, rank)
            output = capture / "ASCEND_PROFILER_OUTPUT"
            transfers = self.captures / "text_base_ascend_pt/ASCEND_PROFILER_OUTPUT/communication.json"
            (output / transfers.name).write_text(
                transfers.read_text(encoding="utf-8").replace("hcom_allGather__002_0_1", "hcom_allReduce__001_2_1"), encoding="utf-8")

    def nsight(self, path):
        """An export of Nsight Systems with one module, which launches one kernel."""
        database = sqlite3.connect(path)
        database.executescript("""
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
            INSERT INTO StringIds VALUES (1, 'gemm');
            CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, text TEXT, textId INTEGER);
            INSERT INTO NVTX_EVENTS VALUES (0, 1000, 59, 7, 'Linear', NULL);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, globalTid INTEGER, correlationId INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 7, 5);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, correlationId INTEGER,
                                                     demangledName INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5000, 5300, 0, 5, 1);""")
        database.commit()
        database.close()

    def job(self, path, what):
        path.parent.mkdir(exist_ok=True)
        scratch = path.with_name(f"{path.name}.parts")
        scratch.mkdir()
        build_job(self.captures, what, scratch).rename(path)
        scratch.rmdir()

    def trace(self, path, name):
        """A directory with a trace."""
        path.mkdir(parents=True)
        shutil.copy(self.captures / name, path)

    def file(self, path, name):
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.captures / name, path)

    def gz(self, path, name):
        gzip_copy(self.captures, name, path.parent).rename(path)

    def snapshot(self, path, leak=0):
        snapshots.write(path, [snapshots.training(leak=leak)[0]])

    def raw_capture(self, path, name):
        (capture,) = (self.raw / name).glob("*_ascend_pt")
        shutil.copytree(capture, path)


def of(method, *arguments, **settings):
    return lambda places, path: getattr(places, method)(path, *arguments, **settings)


SERVERS = {"new": of("trace", "serving_new.json"), "base": of("trace", "serving_base.json"),
           "captures": of("trace", "serving_base.json"),
           "output": of("text", "server_requests"), "output_before": of("text", "server_requests")}
# Place -> what makes it. A page may have places of its own, which count first.
PLACES = {
    "new_ascend_pt": of("steps", slower=True), "old_ascend_pt": of("steps"),
    "raw_ascend_pt": of("raw_capture", "stars"), "parsed_ascend_pt": of("text", "text_base_ascend_pt"),
    "rank0_ascend_pt": of("text", "text_base_ascend_pt"), "gpu_trace.json.gz": of("gz", "gpu_base.json"),
    "result": of("job", "8:db_base_ascend_pt,db_new_ascend_pt:late=5"),
}
PAGE_PLACES = {
    "docs/advisor.md": {"new": of("job", "8:db_new_ascend_pt:slow=3")},
    "docs/cases.md": {"new": of("trace", "serving_new.json"), "old": of("trace", "serving_base.json"),
                      "server": of("text", "server_requests")},
    "docs/ci.md": {"profiles/new_1": of("steps"), "profiles/new_2": of("steps"), "profiles/new_3": of("steps")},
    "docs/formats.md": {"trace.json.gz": of("gz", "gpu_base.json")},
    "docs/from-python.md": {"new_job": of("job_of_steps", slower=True), "old_job": of("job_of_steps"),
                            "gpu.json": of("file", "gpu_base.json")},
    "docs/history.md": {"profiles/new_1": of("steps")},
    "docs/memory.md": {"new.pkl": of("snapshot", leak=8 * snapshots.MB), "old.pkl": of("snapshot"),
                       "snapshot.pkl": of("snapshot")},
    "docs/query.md": {"server": of("trace", "serving_base.json"), "records": of("text", "server_requests"),
                      "job": of("text", "rl_apart")},
    "docs/raw-captures.md": {"new_ascend_pt": of("raw_capture", "stars"), "old_ascend_pt": of("raw_capture", "stars_again"),
                             "result": of("raw_capture", "stars")},
    "docs/recipes.md": {"job": of("raw_capture", "stars"), "gpu.sqlite": of("nsight"),
                        "ranks_of_node_3": of("job", "2:toy_model_ascend_pt"),
                        "npu_result": of("job", "1:toy_model_ascend_pt"),
                        "run": of("text", "graph_replay"),
                        "capture.json": of("file", "graph_replay/capture_traces/graph_capture_rank_0.2.json")},
    "docs/rl.md": {"outputs/profile": of("text", "rl_colocated")},
    "docs/serving.md": SERVERS,
    "docs/timeline.md": {"result": of("job_of_steps")},
}


def make(root, page, text, captures, raw):
    """Makes in `root` what the commands in `text` of the page name."""
    root.mkdir(parents=True)
    places = Places(captures, raw)
    for name, build in {**PLACES, **PAGE_PLACES.get(page, {})}.items():
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w.])", text):
            build(places, root / name)
