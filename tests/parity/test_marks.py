#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes mstx_sum, mstx2commop, p2p_pairing, pp_chart and ep_load_balance from databases.

    test_marks.py --tool BINARY [--shared DIR]

Truth is the tables of the captures: those of testdata, and of the simulated jobs in DIR/data/sim if there are any.
Every cell has to be the recomputed one, and one that is altered has to be noticed.

Exit status: 0 equal, 1 otherwise, 2 usage.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
sys.dont_write_bytecode = True

from captures import build_database, build_job  # noqa: E402: found only now
from databases import open_unchanged  # noqa: E402
from recomputed_tables import judge  # noqa: E402

CAPTURES = HERE.parents[1] / "testdata" / "captures"
NONE = 4294967295


class Rank:
    def __init__(self, number, path):
        self.number, self.database = number, open_unchanged(path)
        self.tables = {row[0] for row in self.rows("SELECT name FROM sqlite_master")}
        self.texts = dict(self.rows("SELECT id, value FROM STRING_IDS"))
        self.steps = sorted(self.read("STEP_TIME", "startNs, endNs, id"))
        tasks = self.rows("SELECT connectionId, startNs, endNs FROM TASK")
        self.tasks = defaultdict(list)
        for connection, *span in tasks:
            self.tasks[connection].append(span)

    def rows(self, query):
        return self.database.execute(query).fetchall()

    def read(self, table, columns, more=""):
        return self.rows(f"SELECT {columns} FROM {table} {more}") if table in self.tables else []

    def meta(self, name):
        found = self.read("META_DATA", "value", f"WHERE name = '{name}'")
        return json.loads(found[0][0]) if found else {}

    def marks(self):
        """(start, end, kind, message, thread, domain, connection, span on the device or None)"""
        for start, end, kind, message, thread, domain, connection in self.read(
                "MSTX_EVENTS", "startNs, endNs, eventType, message, globalTid, domainId, connectionId",
                "ORDER BY startNs"):
            spans = self.tasks.get(connection, []) if connection != NONE else []
            device = (min(a for a, _ in spans), max(b for _, b in spans)) if spans else None
            yield start, end, kind, self.texts[message], thread, domain, connection, device

    def step_of(self, time):
        return next((number for start, end, number in reversed(self.steps) if start <= time <= end), None)

    def framework(self, connection):
        found = self.rows("SELECT p.startNs FROM PYTORCH_API p JOIN CONNECTION_IDS c ON c.id = p.connectionId "
                          f"WHERE c.connectionId = {connection} AND p.type = 50001")
        return int(found[-1][0]) if found else None


def quartile(values, part):
    place = part * (len(values) - 1) / 4
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def marked_spans(rank):
    """[(start, name, step, framework, cann, device)]"""
    spans, open_marks, ranges = [], defaultdict(list), defaultdict(list)
    for mark in rank.marks():
        start, end, kind, text, thread, domain, connection, device = mark
        if kind in (0, 3):
            if text.endswith("_start"):
                open_marks[text[:-6], thread, domain].append(mark)
            elif text.endswith("_stop") and open_marks[text[:-5], thread, domain]:
                first = open_marks[text[:-5], thread, domain].pop()
                host = [rank.framework(one[6]) for one in (first, mark)]
                spans.append((first[0], text[:-5], host[1] - host[0] if None not in host else None, start - first[0],
                              device[0] - first[7][0] if device and first[7] else None))
        elif connection != NONE:
            ranges[thread, domain].append((start, -end, text, device))
    for of_thread in ranges.values():
        around = []
        for start, minus_end, text, device in sorted(of_thread, key=lambda one: one[:2]):
            around = [outer for outer in around if outer[0] >= -minus_end and outer[0] > start]
            name = "::".join([outer[1] for outer in around[-1:]] + [text])
            around.append((-minus_end, name))
            spans.append((start, name, 0, -minus_end - start, device[1] - device[0] if device else None))
    return [(start, name, rank.step_of(start) or 0, *rest) for start, name, *rest in sorted(spans, key=lambda s: s[0])]


def mstx_sum(ranks):
    of_rank = {rank.number: marked_spans(rank) for rank in ranks}
    most = Counter()
    for spans in of_rank.values():
        most |= Counter((span[2], span[1]) for span in spans)
    rows, levels = [], {"Framework": 3, "Cann": 4, "Device": 5}
    named = []
    for number, spans in of_rank.items():
        seen = Counter()
        sums = [sum(span[place] or 0 for span in spans) for place in (3, 4, 5)]
        for span in spans:
            key = span[2], span[1]
            name = f"{span[1]}_{seen[key]}" if most[key] > 1 else span[1]
            seen[key] += 1
            shares = [None if value is None else 100 * value / whole if whole else 0
                      for value, whole in zip(span[3:], sums)]
            rows.append([name, span[3], shares[0], span[4], shares[1], span[5], shares[2], number, span[2]])
            named.append((name, number, span))
    rows.sort(key=lambda row: -row[4])
    tables = {"MSTXMarkStats": [[index, *row] for index, row in enumerate(rows)]}
    for level, place in levels.items():
        groups = defaultdict(list)
        for name, number, span in named:
            if span[place] is not None:
                groups[span[2], name].append((span[place], number))
        found = []
        for (step, name), pairs in sorted(groups.items()):
            values = sorted(value for value, _ in pairs)
            spread = (values[-1] - quartile(values, 3)) / sum(values) * 100 if sum(values) else 0
            found.append([name, len(values), statistics.fmean(values),
                          statistics.stdev(values) if len(values) > 1 else None, values[0],
                          next(n for v, n in pairs if v == values[0]), *(quartile(values, part) for part in (1, 2, 3)),
                          values[-1], next(n for v, n in pairs if v == values[-1]), sum(values), spread, step])
        tables[f"MSTXAll{level}Stats"] = sorted(found, key=lambda row: (row[-1], -row[-2]))
    return tables


def ep_load_balance(ranks):
    rows, groups = [], defaultdict(list)
    for rank in ranks:
        group = next((info["global_ranks"] for _, info in sorted(rank.meta("parallel_group_info").items())
                      if info["group_name"] == "exp"), [])
        totals = []
        for (shapes,) in rank.read("COMPUTE_TASK_INFO", "inputShapes",
                                   "JOIN TASK USING (globalTaskId) WHERE opType = "
                                   "(SELECT id FROM STRING_IDS WHERE value = 'GroupedMatmul')"):
            inputs = [part for part in rank.texts[shapes].strip('"').split(";") if part]
            if len(inputs) > 1:
                totals.append(sum(int(part.split(",")[0]) for part in inputs[:-2]))
        if totals:
            rows.append([rank.number, ",".join(map(str, group)), sum(totals)])
            groups[rows[-1][1]].append(sum(totals))
    tops = sorted(([name, max(sums) - min(sums)] for name, sums in groups.items()), key=lambda row: (-row[1], row[0]))
    return {"EPTokensSummary": rows, "TopEPTokensInfo": tops[:20]}


def p2p_pairing(ranks):
    rows = []
    for rank in ranks:
        ends, numbers = defaultdict(set), Counter()
        for op, kind, group, source, target in rank.read("COMMUNICATION_TASK_INFO",
                                                         "opId, taskType, groupName, srcRank, dstRank"):
            if rank.texts[kind] in ("Notify_Record", "Notify_Wait"):
                ends[op, group].add((source, target))
        for name, start, end, group, op in rank.read("COMMUNICATION_OP", "opName, startNs, endNs, groupName, opId",
                                                     "ORDER BY startNs"):
            match = re.fullmatch(r"hcom_([Ss]end|[Rr]ec(?:v|eive))__(\d+)_\d+_\d+", rank.texts[name])
            if not match:
                continue
            connection = None
            if len(ends[op, group]) == 1:
                (own, peer), = ends[op, group]
                way = (own, peer) if match[1].lower() == "send" else (peer, own)
                connection = f"{match[2]}_{way[0]}_{way[1]}_{numbers[match[2], way]}"
                numbers[match[2], way] += 1
            rows.append([rank.number, op, match[0], start, end, rank.texts[group], connection])
    return {"COMMUNICATION_OP": rows}


def pp_chart(ranks):
    rows = []
    for rank in ranks:
        boxes = sorted((device, text.lower()) for *_, text, _, _, _, device in rank.marks() if device and re.search(
            "forward|backward|weightgradstore_pop", text, re.I))
        rows += [["FP" if "forward" in text else "BP", *device, 0 if "forward" in text else 1, rank.number]
                 for device, text in boxes]
    return {"StepTaskInfo": rows}


def mstx2commop(ranks):
    rows = []
    for rank in ranks:
        if "COMMUNICATION_OP" in rank.tables:
            continue
        streams = defaultdict(list)
        named = {mark[6] for mark in rank.marks() if mark[7]}
        for start, end, stream, connection in rank.rows(
                "SELECT startNs, endNs, streamId, connectionId FROM TASK ORDER BY startNs"):
            if connection not in named:
                streams[stream].append((start, end))
        ops = []
        for start, _, _, text, _, _, connection, device in rank.marks():
            text = text.replace('\\"', '"')
            if text.startswith("comm:Hccl"):
                kind, group, data_type, count = text[9:].split(",")
                kind, stream = "hcom_" + kind, None
            elif text.startswith("{") and set(json.loads(text)) >= {"streamId", "count", "dataType", "groupName", "opName"}:
                kind, group, data_type, count, stream = (json.loads(text)[key] for key in (
                    "opName", "groupName", "dataType", "count", "streamId"))
            else:
                continue
            if device is None:
                tasks = streams.get(int(stream), [])
                while tasks and tasks[0][0] < start:
                    tasks.pop(0)
                if not tasks:
                    continue
                device = tasks.pop(0)
            ops.append((*device, None if connection == NONE else connection, group, data_type.upper(), str(count), kind + "_"))
        numbers = Counter()
        for number, (start, end, connection, group, data_type, count, kind) in enumerate(sorted(ops, key=lambda op: op[0])):
            name = f"{kind}_{digits(group)}_{numbers[group, kind]}_1"
            numbers[group, kind] += 1
            rows.append([rank.number, number, name, start, end, connection, group, data_type, count, kind])
    return {"MSTX_COMMUNICATION_OP": rows}


def digits(group):
    """The last three digits of the number of a group."""
    high = low = 0
    for letter in group:
        high, low = (high * 29 + ord(letter)) % 2**32, (low * 131 + ord(letter)) % 2**32
    return f"{(high << 32 | low) % 1000:03}"


RECIPES = {function.__name__: function for function in (mstx_sum, ep_load_balance, p2p_pairing, pp_chart, mstx2commop)}


def alike(a, b):
    if not isinstance(a, float) or isinstance(b, (str, type(None))):
        return a == b
    return abs(a - b) <= 1e-9 * max(1, abs(a))


def altered(tables):
    """The tables with one cell changed, for each cell of the first and the last row, and without a row."""
    for name, rows in tables.items():
        for number in {0, len(rows) - 1} if rows else ():
            for place, cell in enumerate(rows[number]):
                changed = [*rows[number]]
                changed[place] = f"{cell}1" if isinstance(cell, str) else (cell or 0) + 1
                yield {**tables, name: [*rows[:number], changed, *rows[number + 1:]]}
            yield {**tables, name: rows[:number] + rows[number + 1:]}


def check(tool, what, job, recipe):
    databases = {int(re.search(r"_(\d+)\.db$", path.name)[1]): path
                 for path in job.rglob("ascend_pytorch_profiler_*.db")}
    ranks = [Rank(number, databases[number]) for number in sorted(databases)]
    expected = RECIPES[recipe](ranks)
    if not any(expected.values()):
        return 0, 0
    return judge(tool, recipe, job, what, expected, alike, altered)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        jobs = {"pipeline": build_job(CAPTURES, "2:pipeline_first_ascend_pt,pipeline_last_ascend_pt", scratch),
                "comm_marks": build_database(CAPTURES, "comm_marks_ascend_pt", scratch),
                **{job.parent.name: job for job in sorted(args.shared.glob("data/sim/*/db"))}}
        results = [check(args.tool.resolve(), what, job, recipe) for what, job in jobs.items() for recipe in RECIPES]
    cells, wrong = map(sum, zip(*results))
    print(f"{cells} cells, {wrong} wrong")
    return 1 if wrong or not cells else 0


if __name__ == "__main__":
    sys.exit(main())
