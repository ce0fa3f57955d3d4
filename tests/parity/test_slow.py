#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes slow_rank and slow_link from the databases of simulated jobs.

    test_slow.py --tool BINARY [--shared DIR]

DIR/data/sim has the jobs; truth is the columns of COMMUNICATION_OP, not the program. Every cell of the four tables
has to be the recomputed one, and one that is altered has to be noticed.

Exit status: 0 equal, 1 otherwise, 2 usage, 77 skipped: there are no such jobs.
"""

import re
import statistics
import sys
from collections import Counter, defaultdict

from databases import open_unchanged
from recompute_job.values import alike, altered, stats
from recomputed_tables import judge, tool_and_jobs

BYTES = {"INT8": 1, "UINT8": 1, "INT16": 2, "UINT16": 2, "FP16": 2, "BFP16": 2, "INT32": 4, "UINT32": 4,
         "FP32": 4, "INT64": 8, "UINT64": 8, "FP64": 8, "INT128": 16}
# Dixon's limits at 99.5 % for the sizes of the groups of the jobs.
LIMITS = {3: .994, 4: .920, 5: .823, 6: .744, 7: .680, 8: .723}
COLLECTIVES = """SELECT g.value, n.value, t.value, d.name, c.count, c.startNs, c.endNs - c.startNs
    FROM COMMUNICATION_OP c JOIN STRING_IDS g ON g.id = c.groupName JOIN STRING_IDS n ON n.id = c.opName
    JOIN STRING_IDS t ON t.id = c.opType LEFT JOIN ENUM_HCCL_DATA_TYPE d ON d.id = c.dataType ORDER BY c.startNs, c.opId"""


def joint_collectives(directory):
    """{(group, name, occurrence): [(rank, type, data type, bytes, start, duration)]}"""
    joint = defaultdict(list)
    databases = {int(re.search(r"_(\d+)\.db$", path.name)[1]): path
                 for path in directory.rglob("ascend_pytorch_profiler_*.db")}
    for rank in sorted(databases):
        connection = open_unchanged(databases[rank])
        seen = Counter()
        for group, name, kind, data_type, count, start, duration in connection.execute(COLLECTIVES):
            if re.search("send|recv|receive", kind, re.I):
                continue
            size = int(count) * BYTES[data_type] if data_type in BYTES else None
            joint[group, name, seen[group, name]].append((rank, kind, data_type, size, start, duration))
            seen[group, name] += 1
        connection.close()
    return joint


def is_late(durations):
    """Whether the shortest is late."""
    values = sorted(durations)
    if len(values) < 2:
        return False
    if len(set(values)) <= 3:
        return values[1] - values[0] > max(100_000, values[0])
    high = values[-1] if len(values) <= 7 else values[-2]
    return (values[1] - values[0]) / (high - values[0]) > LIMITS[len(values)]


def slow_rank(joint):
    votes, ops = Counter(), []
    for (group, name, _), members in joint.items():
        durations = [member[-1] for member in members]
        if not is_late(durations):
            continue
        rank, *_, start, _ = min(members, key=lambda member: (member[-1], member[0]))
        votes[rank] += 1
        ops.append([str(rank), name, group, start, *stats(durations)])
    return {"SlowRank": [list(item) for item in sorted(votes.items())],
            "SlowOpStats": sorted(ops, key=lambda row: row[3])}


def deviates(transfers):
    """Of the times of single collectives."""
    if len(transfers) >= 11:
        mean, limit = statistics.fmean(transfers), 3 * statistics.pstdev(transfers)
        return limit > 0 and max(abs(value - mean) for value in transfers) > limit
    if len(transfers) < 4:
        return False
    median = statistics.median(transfers)
    usual = statistics.median(abs(value - median) for value in transfers)
    return any(value > 1.5 * median and value - median > 4 * usual for value in transfers)


def slow_link(joint):
    classes = defaultdict(list)
    for (group, name, _), members in joint.items():
        transfer = min(member[-1] for member in members)
        for rank, kind, data_type, size, start, duration in members:
            if size is not None:
                classes[kind, size, len(members)].append(
                    (rank, start, [rank, group, duration, name, kind, data_type, size, transfer, len(members)]))
    sums, ops = [], []
    for (kind, size, ranks), rows in sorted(classes.items()):
        rows = [row for _, _, row in sorted(rows)]
        if not deviates([transfer for _, transfer in {(row[1], row[3]): row[7] for row in rows}.items()]):
            continue
        ops += rows
        of_class = stats([row[7] for row in rows])
        offset = max(of_class[7] - of_class[1], of_class[1] - of_class[3]) / of_class[2]
        longest, shortest = (pick(rows, key=lambda row: row[7])[0] for pick in (max, min))
        sums.append([f"{kind}{ranks}_{size}", *of_class, offset, longest, shortest])
    return {"SlowLinkSum": sorted(sums, key=lambda row: -row[-3]), "SlowLinkOps": ops}


def check(tool, job, recipe, recompute):
    return judge(tool, recipe, job, job.parent.name, recompute(joint_collectives(job)), alike, altered)


def main():
    tool, jobs = tool_and_jobs(__doc__)
    results = [check(tool, job, recipe, recompute) for job in jobs
               for recipe, recompute in (("slow_rank", slow_rank), ("slow_link", slow_link))]
    cells, wrong = map(sum, zip(*results))
    print(f"{cells} cells, {wrong} wrong")
    return 1 if wrong or not cells else 0


if __name__ == "__main__":
    sys.exit(main())
