#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers to the twenty questions of docs/query.md on captures of real programs.

    run_questions.py --tool BINARY --testdata DIR realquestions [-v]

Each is worked out again from the files of the captures (CSV and JSON of the profiler, its databases by sqlite3,
traces of GPUs, what raw captures are known to hold), without the program, and has to be equal row by row.
Exit status: 0 passed, 1 failed, 2 usage, 77 skipped: there are no captures in ../shared/data.
"""

import json
import re
import sys
import unittest
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

from cli import Cli, main
from real_ranks import read_database, read_gpu, read_text, read_truth

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"


def union(spans):
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif end > begin:
            merged.append([begin, end])
    return merged


def length(spans):
    return sum(end - begin for begin, end in spans)


def spans_of(works, begin=0, end=1 << 62):
    return union((max(begin, work.start), min(end, work.start + work.dur)) for work in works)


def percentile(values, percent):
    """Between two values the part of the way; halves are rounded up."""
    place = Decimal(percent) / 100 * (len(values) - 1)
    values = sorted(values)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return int(values[below] + (values[above] - values[below]) * (place - below) + Decimal("0.5"))


def grouped(rows, keys):
    """Rows by their first values, which come first in each of the answer."""
    groups = defaultdict(list)
    for row in rows:
        groups[row[:keys]].append(row[keys:])
    return groups


def none_first(row):
    return tuple((value is not None, value) if not isinstance(value, (int, float)) else (True, value) for value in row)


def longest(rows, *order):
    """By the last value, the longest first, then by the others."""
    return sorted(([*row] for row in rows), key=lambda row: (-row[-1], none_first(row[:-1])))


def totals(pairs):
    return [(*key, len(values), sum(value for value, in values)) for key, values in grouped(pairs, 1).items()]


def answers(ranks):
    """What questions begin with, and their rows; None: not known."""
    kernels = [(rank, kernel) for rank in ranks for kernel in rank.kernels]
    comms = [(rank, comm) for rank in ranks for comm in rank.comms]
    first = min((start for rank in ranks for _, start, _ in rank.steps), default=None)
    yield "Which kernels take the most time", longest(totals((kernel.name, kernel.dur) for _, kernel in kernels))[:10]
    types = grouped([(kernel.op_type, kernel.core, kernel.dur) for _, kernel in kernels], 2)
    yield "Which types of operators", longest((*key, sum(dur for dur, in durs)) for key, durs in types.items())[:10]
    yield "What did the device do from 100", \
        sorted([kernel.start - first, kernel.dur, kernel.name] for _, kernel in kernels
                 if first and 100_000_000 <= kernel.start - first < 200_000_000)
    short = [kernel.dur for _, kernel in kernels if kernel.dur < 10_000]
    yield "How many kernels are shorter", \
        [[len(kernels), len(short), sum(short) * 100 / sum(kernel.dur for _, kernel in kernels) if kernels else None]]
    with_kernel = {id(kernel.op) for _, kernel in kernels}
    idle = grouped([(op.name, op.dur) for rank in ranks for op in rank.ops
                    if op.dur > 1_000_000 and id(op) not in with_kernel], 1)
    yield "Which operators take over 1 ms", \
        longest((*key, len(durs), max(dur for dur, in durs)) for key, durs in idle.items())
    shapes = grouped([(kernel.op_type, kernel.shapes, kernel.dur) for _, kernel in kernels if kernel.shapes], 2)
    yield "Which shapes repeat", \
        longest((*key, len(durs), sum(dur for dur, in durs)) for key, durs in shapes.items() if len(durs) > 1)[:10]
    products = grouped([(rank.number, kernel.dur) for rank, kernel in kernels
                        if (kernel.op_type or "").lower().startswith("matmul")], 1)
    yield "How do the times of a kernel spread", \
        [[*key, len(durs), *(percentile([dur for dur, in durs], part) for part in (50, 99)), max(durs)[0]]
           for key, durs in sorted(products.items())]
    lines = grouped([((kernel.op.stack or ";").split(";")[0] or None, kernel.dur) for _, kernel in kernels if kernel.op], 1)
    yield "Which lines of the program", longest((*key, sum(dur for dur, in durs)) for key, durs in lines.items())[:10]
    yield "Does the account add up", \
        [[rank.number, number, end - begin, end - begin] for rank in ranks for number, begin, end in rank.windows()]
    by_step = defaultdict(list)
    for rank, kernel in kernels:
        by_step[rank.number, rank.step_of(kernel)].append(kernel)
    yield "How long was the device busy", [[*key, length(spans_of(works)), sum(work.dur for work in works)]
           for key, works in sorted(by_step.items(), key=lambda item: none_first(item[0]))]
    waits = grouped([(rank.number, kernel.start - kernel.launch[1]) for rank, kernel in kernels if kernel.launch], 1)
    yield "How long does work wait", \
        [[*key, percentile([time for time, in times], 50), max(times)[0]] for key, times in sorted(waits.items())]
    launched = defaultdict(lambda: [set(), 0])
    for _, kernel in kernels:
        if kernel.op:
            launched[kernel.op.name][0].add(id(kernel.op))
            launched[kernel.op.name][1] += kernel.dur
    yield "Which operators launched", longest((name, len(ops), time) for name, (ops, time) in launched.items())[:10]
    yield "How long does communication take", longest(totals((comm.group, comm.dur) for _, comm in comms))
    hidden = []
    for rank, comm in comms:
        covered = length(spans_of(rank.kernels, comm.start, comm.start + comm.dur))
        if covered:
            hidden.append([rank.number, first and comm.start - first, comm.dur, covered])
    yield "How much of the communication", sorted(hidden, key=none_first)
    gaps = []
    for rank in ranks:
        ordered = sorted(rank.kernels, key=lambda kernel: kernel.start)
        gaps += [(rank.number, kernel.start - before.start - before.dur, kernel.name)
                 for before, kernel in zip(ordered, ordered[1:])]
    yield "What are the gaps between", \
        sorted(([*gap] for gap in gaps if gap[1] > 0), key=lambda gap: (-gap[1], gap[2]))[:10]
    yield "How much memory was in use", \
        [[rank.number, "PTA", rank.memory["PTA"]] for rank in ranks if "PTA" in rank.memory]
    known = [pair for rank in ranks for pair in rank.allocations or ()]
    yield "Which operators allocate", \
        longest(totals(known))[:10] if all(rank.allocations is not None for rank in ranks) else None
    yield "How long are the steps", \
        [[rank.number, number, end - start] for rank in ranks for number, start, end in rank.steps]


def account(rank, windows):
    """(step, what) -> ns of what the device did and (step) -> the times in which it did nothing."""
    times, idle = {}, {}
    for number, begin, end in windows:
        done = []
        for what, works in (("comp", rank.kernels), ("comm", rank.comms), ("copy", rank.copies)):
            before = length(done)
            done = union([*done, *spans_of(works, begin, end)])
            times[number, what] = length(done) - before
        edges = [begin, *(edge for span in done for edge in span), end]
        idle[number] = union(zip(edges[::2], edges[1::2]))
        times[number, "free"] = length(idle[number])
    return {key: time for key, time in times.items() if time}, idle


def jobs():
    """(capture, reader, files) that others recorded, or simulated."""
    for job in ("text/level0", "text/level1", "db/level0", "db/level1", "db_mstx"):
        yield f"npu/{job}", read_text if "text" in job else read_database, "*_ascend_pt"
    for job in ("tp2pp2dp2", "moe_ep8", "slow_link"):
        yield f"sim/{job}/db", read_database, "*_ascend_pt"
    for job in ("level1", "two_ranks", "hwts"):
        yield f"raw/{job}", read_truth, "truth*.json"
    yield "traces/dlrm_8ranks", read_gpu, "*.gz"
    for file in ("gpu/ddp_nccl", "gpu/alexnet", "traces/tracelens/mi300_resnet_act_checkpoint",
                 "traces/resnet50_2021/workers0.pt.trace"):
        yield file + ".json.gz", read_gpu, None


def question(begin):
    """The statement of the page below the line that begins so."""
    page = (ROOT / "docs" / "query.md").read_text(encoding="utf-8")
    (statement,) = re.findall(rf"(?m)^{re.escape(begin)}.*\n\n```sql\n((?:.*\n)*?)```$", page)
    return statement


@unittest.skipUnless(SHARED.is_dir(), "no captures in ../shared/data")
class RealQuestions(Cli):
    def rows(self, capture, sql):
        result = self.run_tool("query", SHARED / capture, sql, "--json", "--max_rows", "1000000", "--max_chars", "100000000")
        self.assertIn(result.code, (0, 5), result.err)
        return json.loads(result.out)["rows"]

    def test_answers(self):
        for capture, read, files in jobs():
            ranks = [read(file) for file in (SHARED / capture).glob(files)] if files else [read(SHARED / capture)]
            ranks.sort(key=lambda rank: rank.number)
            for asked, expected in answers(ranks):
                if expected is not None:
                    with self.subTest(capture=capture, question=asked):
                        self.assertEqual(self.rows(capture, question(asked)), expected)
            self.check_account(capture, ranks)

    def check_account(self, capture, ranks):
        """Kinds of leaves, which add up to the steps; gaps are when nothing runs, and the list has the longest. Begins of
        steps are those of the host, on the clock of the device."""
        given, leaves, gaps = Counter(), Counter(), defaultdict(list)
        for rank, step, leaf, time in self.rows(capture, question("Where did the time of each step")):
            leaves[rank, step, leaf.split(".")[0]] += time
        for rank, step, start, dur in self.rows(capture, "SELECT rank, step, start, dur FROM gap"):
            gaps[rank, step].append((start, start + dur))
        windows = {(rank, step): (begin, dur) for rank, step, begin, dur in self.rows(
            capture, "SELECT DISTINCT rank, step, step_start, step_dur FROM account")}
        for rank in ranks:
            of_rank = []
            for number, begin, end in rank.windows():
                shown, dur = windows.pop((rank.number, number))
                self.assertAlmostEqual(shown, begin, delta=50_000)
                of_rank.append((number, shown, shown + dur))
            times, idle = account(rank, of_rank)
            given.update({(rank.number, *key): time for key, time in times.items()})
            for step, spans in idle.items():
                with self.subTest(capture=capture, gaps=(rank.number, step)):
                    self.assertEqual(union(gaps[rank.number, step]), spans)
        with self.subTest(capture=capture):
            self.assertEqual(windows, {})
            self.assertEqual(leaves, given)
            longest_gaps = sorted((-(end - start), rank, step) for (rank, step), spans in gaps.items() for start, end in spans)
            shown = self.rows(capture, question("Which idle times are the longest"))
            self.assertEqual([-dur for _, _, dur, *_ in shown], [gap[0] for gap in longest_gaps[:10]])


if __name__ == "__main__":
    sys.exit(main(__doc__, RealQuestions))
