# SPDX-License-Identifier: Apache-2.0
"""What the files of a job say about its communication, of databases or of text."""

import csv
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field

from databases import open_unchanged

TIMES = ("Start Timestamp(us)", "Elapse Time(ms)", "Transit Time(ms)", "Wait Time(ms)", "Synchronization Time(ms)",
         "Idle Time(ms)")
USES = ("Transit Size(MB)", "Transit Time(ms)", "Bandwidth(GB/s)", "Large Packet Ratio")
STEP = ("Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free", "Stage", "Bubble",
        "Communication(Not Overlapped and Exclude Receive)", "Preparing")


@dataclass
class RankFacts:
    rank: int
    path: str
    times: list = field(default_factory=list)    # step, p2p, operator, group, six times
    packets: list = field(default_factory=list)  # step, operator, group, link, four of its use, size, count, time
    uses: list = field(default_factory=list)     # step, operator, group, link, four of its use
    matrix: list = field(default_factory=list)   # step, p2p, name, group, from, to, transport, MB, ms, operator
    steps: list = field(default_factory=list)    # step, nine times in us
    groups: dict = field(default_factory=dict)   # id: (name in the job, ranks)
    arguments: dict = field(default_factory=dict)
    host: tuple = ()
    devices: list = field(default_factory=list)


def metadata(facts, texts):
    info = json.loads(texts.get("parallel_group_info") or "{}")
    facts.groups = {key: (group.get("group_name", ""), group.get("global_ranks") or []) for key, group in info.items()}
    facts.arguments = json.loads(texts.get("distributed_args") or "{}")
    facts.arguments.pop("rank", None)


def beside(capture):
    """The texts of the file of metadata next to the results."""
    file = capture / "profiler_metadata.json"
    content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {key: json.dumps(value) for key, value in content.items()}


def of_database(path):
    capture = path.parents[1]
    facts = RankFacts(int(re.search(r"_(\d+)\.db$", path.name)[1]), str(capture))

    def read(file, table, columns="*"):
        connection = open_unchanged(file)
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        rows = [list(row) for row in connection.execute(f"SELECT {columns} FROM {table}")] if known else []
        connection.close()
        return rows
    analysis = path.parent / "analysis.db"
    facts.times = [[row[8], row[9] == "p2p", *row[:8]] for row in read(analysis, "CommAnalyzerTime")]
    facts.packets = [[row[10], *row[:10]] for row in read(analysis, "CommAnalyzerBandwidth")]
    facts.uses = [list(use) for use in dict.fromkeys(tuple(packet[:8]) for packet in facts.packets)]
    facts.matrix = [[row[8], row[9] == "p2p", row[0], row[1], int(row[2]), int(row[3]), *row[4:7], row[10]]
                    for row in read(analysis, "CommAnalyzerMatrix")]
    facts.steps = read(analysis, "StepTraceTime")
    metadata(facts, beside(capture) | dict(read(path, "META_DATA")))
    facts.host = next(iter(map(tuple, read(path, "HOST_INFO"))), ())
    facts.devices = read(path, "RANK_DEVICE_MAP")
    return facts


def of_text(capture):
    info = next(capture.glob("profiler_info_*.json"))
    facts = RankFacts(int(re.search(r"_(\d+)\.json$", info.name)[1]), str(capture))
    folder = capture / "ASCEND_PROFILER_OUTPUT"

    def entries(name):
        content = json.loads((folder / name).read_text(encoding="utf-8"))
        for step, kinds in content.items():
            for kind, of_kind in kinds.items():
                for key, value in of_kind.items():
                    operator, _, group = key.rpartition("@")
                    if operator and not operator.lower().startswith("total"):
                        yield step, kind == "p2p", operator, group, value
    for step, p2p, operator, group, value in entries("communication.json"):
        facts.times.append([step, p2p, operator, group, *(value["Communication Time Info"][name] for name in TIMES)])
        for link, use in value["Communication Bandwidth Info"].items():
            own = [step, operator, group, link, *(use[name] for name in USES)]
            facts.uses.append(own)
            sizes = use["Size Distribution"] or ({0: (0, 0)} if any(own[4:]) else {})  # as databases have them
            facts.packets += [[*own, float(size), *of_size] for size, of_size in sizes.items()]
    for step, p2p, name, group, links in entries("communication_matrix.json"):
        facts.matrix += [[step, p2p, name, group, *map(int, link.split("-")), use["Transport Type"], use["Transit Size(MB)"],
                          use["Transit Time(ms)"], use.get("Op Name", "")] for link, use in links.items()]
    with open(folder / "step_trace_time.csv", newline="", encoding="utf-8") as file:
        facts.steps = [[row["Step"], *(float(row[name]) for name in STEP)] for row in csv.DictReader(file)]
    metadata(facts, beside(capture))
    return facts


def read_job(job):
    """Facts in order of rank."""
    databases = [*job.rglob("ascend_pytorch_profiler_*.db")]
    found = [*map(of_database, databases)] or [of_text(folder.parent) for folder in job.rglob("ASCEND_PROFILER_OUTPUT")]
    return sorted(found, key=lambda facts: facts.rank)


def seen_sets(job):
    """{(p2p, group): the ranks whose files have it}"""
    seen = defaultdict(set)
    for facts in job:
        for row in (*facts.times, *facts.matrix):
            seen[row[1], row[3]].add(facts.rank)
    return seen
