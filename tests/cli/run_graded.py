#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forty questions of engineers, each answered by at most 4 calls with --agent and 20 kB of output.

    run_graded.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is the class below: graded. Answers are worked out here from the raw files, by other means.
Exit status: 0 passed, 1 failed, 2 usage, 77 the captures are not there.
"""

import csv
import gzip
import json
import sqlite3
import sys
import unittest
from collections import Counter, defaultdict
from pathlib import Path

from cli import Cli, main

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
MOE, SLOW, LINK = (DATA / "sim" / name for name in ("moe_ep8", "slow_rank", "slow_link"))
TEXT, DB, GPU = DATA / "npu/text/level1", DATA / "npu/db/level1", DATA / "gpu" / "alexnet.json.gz"
MOST_CALLS, MOST_BYTES = 4, 20_000

KERNELS = ("SELECT n.value AS name, t.value AS type, s.value AS shapes, k.startNs AS start, k.endNs - k.startNs AS dur, "
           "k.streamId AS stream FROM COMPUTE_TASK_INFO c JOIN TASK k USING (globalTaskId) JOIN STRING_IDS n ON n.id = c.name "
           "JOIN STRING_IDS t ON t.id = c.opType JOIN STRING_IDS s ON s.id = c.inputShapes")
COMMS = ("SELECT n.value AS name, o.startNs AS start, o.endNs - o.startNs AS dur FROM COMMUNICATION_OP o "
         "JOIN STRING_IDS n ON n.id = o.opName")
OPS = ("SELECT n.value AS name, o.startNs AS start, o.endNs - o.startNs AS dur FROM PYTORCH_API o "
       "JOIN STRING_IDS n ON n.id = o.name WHERE o.type IN (SELECT id FROM ENUM_API_TYPE WHERE name = 'op')")


def rows(capture, sql):
    """Of each rank of a job of databases, by rank."""
    found = {}
    for file in sorted(capture.rglob("ascend_pytorch_profiler*.db")):
        base = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        base.row_factory = sqlite3.Row
        rank = base.execute("SELECT rankId FROM RANK_DEVICE_MAP").fetchone()[0]
        found[rank] = [dict(row) for row in base.execute(sql)]
        base.close()
    return found


def everyone(capture, sql):
    return [row for of_rank in rows(capture, sql).values() for row in of_rank]


def table(name, rank=0):
    with open(TEXT / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def ns(text):
    """Of decimal microseconds."""
    whole, _, part = text.strip().partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def kernels():
    return [row for row in table("kernel_details.csv") if not row["Name"].startswith("hcom_")]


def union(spans):
    total, end = 0, None
    for start, finish in sorted(spans):
        if end is None or start > end:
            total += finish - start
            end = finish
        elif finish > end:
            total += finish - end
            end = finish
    return total


def gpu_kernels():
    with gzip.open(GPU, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return [event for event in events if event.get("cat") == "kernel"]


def percentile(values, part):
    values = sorted(values)
    place = (len(values) - 1) * part / 100
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def most(pairs):
    """The key of the largest sum."""
    sums = defaultdict(int)
    for key, value in pairs:
        sums[key] += value
    return max(sums.items(), key=lambda item: item[1])


def sql(capture, statement):
    return ["query", capture, statement]


def truth(job):
    return json.loads((job / "truth.json").read_text(encoding="utf-8"))


# The question, the calls, and what the answer must hold: values of the first row of the last answer, in order; or a text.
QUESTIONS = [
    ("How many compute kernels did rank 0 run?", [sql(MOE, "SELECT count(*) FROM kernel WHERE rank = 0")],
     lambda: [len(rows(MOE, KERNELS)[0])]),
    ("How long do the kernels of rank 3 take together, in ns?", [sql(MOE, "SELECT sum(dur) FROM kernel WHERE rank = 3")],
     lambda: [sum(row["dur"] for row in rows(MOE, KERNELS)[3])]),
    ("Which operator type takes most time over all ranks?",
     [sql(MOE, "SELECT op_type, sum(dur) FROM kernel GROUP BY 1 ORDER BY 2 DESC LIMIT 1")],
     lambda: most((row["type"], row["dur"]) for row in everyone(MOE, KERNELS))),
    ("What is the longest single kernel?", [sql(MOE, "SELECT name, dur FROM kernel ORDER BY dur DESC LIMIT 1")],
     lambda: max(((row["name"], row["dur"]) for row in everyone(MOE, KERNELS)), key=lambda row: row[1])),
    ("How many kernels are shorter than 10 us, and what do they take?",
     [sql(MOE, "SELECT count(*), sum(dur) FROM kernel WHERE dur < 10000")],
     lambda: [sum(1 for row in everyone(MOE, KERNELS) if row["dur"] < 10000),
              sum(row["dur"] for row in everyone(MOE, KERNELS) if row["dur"] < 10000)]),
    ("What is the p99 of MatMulV3 on rank 5?",
     [sql(MOE, "SELECT percentile(dur, 99) FROM kernel WHERE op_type = 'MatMulV3' AND rank = 5")],
     lambda: [percentile([row["dur"] for row in rows(MOE, KERNELS)[5] if row["type"] == "MatMulV3"], 99)]),
    ("Which rank has the most kernel time?", [sql(MOE, "SELECT rank, sum(dur) FROM kernel GROUP BY 1 ORDER BY 2 DESC LIMIT 1")],
     lambda: max(((rank, sum(row["dur"] for row in of)) for rank, of in rows(MOE, KERNELS).items()), key=lambda one: one[1])),
    ("Which input shapes does MatMulV3 have most often?",
     [sql(MOE, "SELECT shapes, count(*) FROM kernel WHERE op_type = 'MatMulV3' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1")],
     lambda: sorted(Counter(row["shapes"] for row in everyone(MOE, KERNELS) if row["type"] == "MatMulV3").items(),
                    key=lambda one: (-one[1], one[0]))[0]),
    ("How many collectives did each rank run?", [sql(MOE, "SELECT rank, count(*) FROM comm GROUP BY 1 ORDER BY 1 LIMIT 1")],
     lambda: [0, len(rows(MOE, COMMS)[0])]),
    ("How long did rank 5 communicate?", [sql(MOE, "SELECT sum(dur) FROM comm WHERE rank = 5")],
     lambda: [sum(row["dur"] for row in rows(MOE, COMMS)[5])]),
    ("Which collective took longest, and on which rank?", [sql(MOE, "SELECT dur, rank FROM comm ORDER BY dur DESC LIMIT 1")],
     lambda: max((row["dur"], rank) for rank, of in rows(MOE, COMMS).items() for row in of)),
    ("How busy was the device of rank 1, overlaps counted once?",
     [sql(MOE, "SELECT busy_ns(start, dur) FROM kernel WHERE rank = 1")],
     lambda: [union([(row["start"], row["start"] + row["dur"]) for row in rows(MOE, KERNELS)[1]])]),
    ("How many streams ran kernels?", [sql(MOE, "SELECT count(DISTINCT stream) FROM kernel WHERE rank = 0")],
     lambda: [len({row["stream"] for row in rows(MOE, KERNELS)[0]})]),
    ("Which steps were captured?", [sql(MOE, "SELECT min(step), max(step) FROM step")], lambda: truth(MOE)["steps"]),
    ("How many ranks does the job have?", [sql(MOE, "SELECT count(DISTINCT rank) FROM step")], lambda: [truth(MOE)["world"]]),
    ("What did the device run in the first 2 ms of step 10 on rank 0?",
     [sql(MOE, "SELECT count(*) FROM kernel k JOIN step s USING (rank) WHERE rank = 0 AND s.step = 10 AND "
               "k.start >= s.start AND k.start < s.start + 2000000")],
     lambda: [sum(1 for row in rows(MOE, KERNELS)[0] if 0 <= row["start"] - rows(
         MOE, "SELECT min(startNs) AS start FROM STEP_TIME")[0][0]["start"] < 2_000_000)]),
    ("Which operators spend more than 0.2 ms on the host?", [sql(MOE, "SELECT count(*) FROM op WHERE dur > 200000")],
     lambda: [sum(1 for row in everyone(MOE, OPS) if row["dur"] > 200_000)]),
    ("Which operator is called most often?", [sql(MOE, "SELECT count(*) FROM op WHERE name = 'aten::mm'")],
     lambda: [sum(1 for row in everyone(MOE, OPS) if row["name"] == "aten::mm")]),
    ("How many calls of CANN does rank 2 make?", [sql(MOE, "SELECT count(*) FROM call WHERE rank = 2")],
     lambda: [rows(MOE, "SELECT count(*) AS n FROM CANN_API")[2][0]["n"]]),
    ("Which chip is it?", [["check", MOE / "db"]], lambda: "Ascend910B"),
    ("What slows the step of this job?", [["advisor", "all", "-d", MOE / "db"]], lambda: "experts of rank 5"),
    ("Which rank do the others wait for?", [["-m", "slow_rank", "-d", MOE / "db"]], lambda: "rank 5"),
    ("Who is slow in this job?", [["advisor", "all", "-d", SLOW / "db"]],
     lambda: f"rank {truth(SLOW)['causes'][0]['ranks'][0]}"),
    ("Who came last to collectives most often?",
     [sql(SLOW / "db", "SELECT rank FROM arrival GROUP BY 1 ORDER BY sum(late_ns) DESC LIMIT 1")],
     lambda: [truth(SLOW)["causes"][0]["ranks"][0]]),
    ("Is a link slow?", [["-m", "slow_link", "-d", LINK / "db"]], lambda: "link"),
    ("How long do the kernels of the text capture take?", [sql(TEXT / "rank0_ascend_pt", "SELECT count(*), sum(dur) FROM kernel")],
     lambda: [len(kernels()), sum(ns(row["Duration(us)"]) for row in kernels())]),
    ("Which core type takes most?",
     [sql(TEXT / "rank0_ascend_pt", "SELECT core, sum(dur) FROM kernel GROUP BY 1 ORDER BY 2 DESC LIMIT 1")],
     lambda: most((row["Accelerator Core"], ns(row["Duration(us)"])) for row in kernels())),
    ("Which type of kernel occurs most often?",
     [sql(TEXT / "rank0_ascend_pt", "SELECT op_type, count(*) FROM kernel GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1")],
     lambda: sorted(Counter(row["Type"] for row in kernels()).items(), key=lambda one: (-one[1], one[0]))[0]),
    ("What is the median kernel?", [sql(TEXT / "rank0_ascend_pt", "SELECT median(dur) FROM kernel")],
     lambda: [percentile([ns(row["Duration(us)"]) for row in kernels()], 50)]),
    ("Which kernel shapes take most?",
     [sql(TEXT / "rank0_ascend_pt", "SELECT op_type, sum(dur) FROM kernel WHERE op_type LIKE 'MatMul%' GROUP BY 1 ORDER BY 2 DESC LIMIT 1")],
     lambda: most((row["Type"], ns(row["Duration(us)"])) for row in kernels() if row["Type"].startswith("MatMul"))),
    ("How much memory did PyTorch reserve at most, in bytes?",
     [sql(TEXT / "rank0_ascend_pt", "SELECT max(reserved_bytes) FROM memory WHERE component = 'PTA'")],
     lambda: [round(max(float(row["Total Reserved(MB)"]) for row in table("memory_record.csv") if row["Component"] == "PTA") * 2**20)]),
    ("What is the largest allocation, in bytes?",
     [sql(TEXT / "rank0_ascend_pt", "SELECT max(bytes) FROM allocation")],
     lambda: [round(max(float(row["Size(KB)"]) for row in table("operator_memory.csv")) * 1024)]),
    ("How much of the step is computing, by the profiler's own account?",
     [sql(TEXT / "rank0_ascend_pt", "SELECT sum(computing) FROM step_trace_time")],
     lambda: [sum(ns(row["Computing"]) for row in table("step_trace_time.csv"))]),
    ("How many kernels of the database?", [sql(DB / "rank0_ascend_pt", "SELECT count(*) FROM kernel")],
     lambda: [len(next(iter(rows(DB / "rank0_ascend_pt", KERNELS).values())))]),
    ("Which collective takes most?",
     [sql(DB / "rank0_ascend_pt", "SELECT name, dur FROM comm ORDER BY dur DESC LIMIT 1")],
     lambda: max(((row["name"], row["dur"]) for row in next(iter(rows(DB / "rank0_ascend_pt", COMMS).values()))), key=lambda r: r[1])),
    ("What was not recorded?",
     [sql(MOE / "db", "SELECT group_concat(what, ' ') FROM captured WHERE rank = 0 AND state = 'no'")], lambda: "memory"),
    ("What differs between rank 0 and rank 1?",
     [["query", DB / "rank0_ascend_pt", "-bp", DB / "rank1_ascend_pt",
       "SELECT sum(CASE side WHEN 'comparison' THEN dur ELSE -dur END) FROM kernel"]],
     lambda: [sum(row["dur"] for row in rows(DB / "rank0_ascend_pt", KERNELS)[0]) -
              sum(row["dur"] for row in rows(DB / "rank1_ascend_pt", KERNELS)[1])]),
    ("How many kernels has the trace of the GPU?", [sql(GPU, "SELECT count(*) FROM kernel")], lambda: [len(gpu_kernels())]),
    ("Which kernel of the GPU takes longest?", [sql(GPU, "SELECT name FROM kernel ORDER BY dur DESC LIMIT 1")],
     lambda: [max(gpu_kernels(), key=lambda event: event["dur"])["name"]]),
    ("How much time do the ten longest kernels of the GPU take, in ns?",
     [sql(GPU, "SELECT sum(dur) FROM (SELECT dur FROM kernel ORDER BY dur DESC LIMIT 10)")],
     lambda: [sum(sorted((round(event["dur"] * 1000) for event in gpu_kernels()), reverse=True)[:10])]),
]


class Graded(Cli):
    def ask(self, calls):
        """The last answer, within what is allowed."""
        self.assertLessEqual(len(calls), MOST_CALLS)
        output = 0
        for call in calls:
            place = [] if call[0] in ("query", "check") else ["-o", self.out]
            result = self.run_tool(*call, *place, "--agent")
            output += len(result.out.encode())
            self.assertIn(result.code, (0, 5), result.out)
        self.assertLessEqual(output, MOST_BYTES)
        return json.loads(result.out)["message"]

    def test_there_are_forty(self):
        self.assertEqual(len(QUESTIONS), 40)
        self.assertEqual(len({question for question, _, _ in QUESTIONS}), 40)

    @unittest.skipUnless(MOE.is_dir(), "the captures are not there")
    def test_each(self):
        for question, calls, answer in QUESTIONS:
            with self.subTest(question=question):
                message, expected = self.ask(calls), answer()
                if isinstance(expected, str):
                    self.assertIn(expected, json.dumps([message["answer"], message["data"]]))
                    continue
                found = message["data"][0]["rows"][0]
                self.assertEqual(len(found), len(expected))
                for one, other in zip(found, expected):
                    if isinstance(other, float):
                        self.assertAlmostEqual(one, other, delta=1e-6 * abs(other))
                    else:
                        self.assertEqual(one, other)


if __name__ == "__main__":
    sys.exit(main(__doc__, Graded))
