# SPDX-License-Identifier: Apache-2.0
"""Tables of jobs that the Python tool recorded, and how those of the program differ from them."""

import csv
import json
import shutil
import sqlite3
import subprocess
from collections import Counter
from pathlib import Path

from recompute_job.documents import flat
from reference import is_close

FILES = (("cases.json", ("cluster_", "recipe_")), ("sim_cases.json", ("sim_",)))
# What a row is about; rows of other tables are told apart by all their cells.
KEYS = {"CommunicationGroupMapping": ("type", "group_name"),
        "ClusterCommunicationTime": ("step", "rank_id", "hccl_op_name", "group_name"),
        "ClusterCommunicationBandwidth": ("step", "rank_id", "hccl_op_name", "group_name", "band_type", "package_size"),
        "ClusterCommunicationMatrix": ("step", "hccl_op_name", "group_name", "src_rank", "dst_rank"),
        "ClusterStepTraceTime": ("step", "type", "index"), "ClusterBaseInfo": ("key",),
        "ComputationalOperatorMaskingLinearity": ("stepId", "parallelType", "stepStartTime", "totalCommunicationOperatorTime"),
        "FreeAnalysis": ("rankId", "startTime(us)"), "SlowOpStats": ("OpName", "GroupName", "Timestamp"),
        "slow_op_stats.csv": ("OpName", "GroupName", "Timestamp"), "CannApiSum": ("name",),
        "CannApiSumRank": ("rank", "name"), "HcclGroupNameMap": ("GroupName",),
        "CommunicationBottleneck": ("startTime(us)", "communicationOp"), "SlowLinkSum": ("opTypeRelatedRanksDataSize",),
        "ComputeOpPerRankStatsByOpName": ("Rank", "OpName", "OpType", "TaskType", "InputShapes"),
        "cluster_step_trace_time.csv": ("Step", "Type", "Index"), "cluster_communication_matrix.json": ("path",),
        "cluster_communication.json": ("path",), "communication_group.json": ("path",)}
RANKS = ("rank", "Rank", "rankId", "rank_id", "rankID")
ROWS, ORDER = "rows", "order"


def load(golden):
    """[(case, its tables, whether its rows stand in any order)]"""
    for name, starts in FILES:
        content = json.loads((golden / name).read_text(encoding="utf-8"))
        for case in content["cases"]:
            if case["name"].startswith(starts):
                file = golden / content.get("golden", ".") / f"{case['name']}.json"
                yield case, json.loads(file.read_text(encoding="utf-8")), content.get("any_order", False)


def recorded(content, data):
    """{table or file: (header, rows)}"""
    tables = {}
    for file, of_file in content.items():
        for name, rows in of_file.items():
            if name == "json":
                rows = [["path", "value"], *rows]
            key = Path(file).name if name in ("csv", "json") else name
            rows = [[cell.replace("<data>", str(data)) if isinstance(cell, str) else cell for cell in row] for row in rows]
            width = len(rows[0])  # cells at the end without a value are not recorded
            tables[key] = rows[0], [[*row, *[None] * (width - len(row))] for row in rows[1:]]
    return tables


def written(folder, wanted):
    """The same of what the program wrote; wanted are columns by table, if only those count."""
    tables = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".json":
            tables[path.name] = ["path", "value"], flat(json.loads(path.read_text(encoding="utf-8")))
        elif path.suffix == ".csv":
            with open(path, newline="", encoding="utf-8") as file:
                rows = [[cell or None for cell in row] for row in csv.reader(file)]
            tables[path.name] = rows[0], tables.get(path.name, (0, []))[1] + rows[1:]
        elif path.suffix == ".db":
            connection = sqlite3.connect(path)
            for name, in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                columns = (wanted or {}).get(name) or ["*"]
                cursor = connection.execute(f'SELECT {", ".join(columns)} FROM "{name}"')
                tables[name] = [column[0] for column in cursor.description], [list(row) for row in cursor]
            connection.close()
    if wanted:
        tables = {name: (header, [row for row in rows if not wanted[name] or None not in row])
                  for name, (header, rows) in tables.items() if name in wanted}
    return tables


def run(tool, case, data, scratch):
    """(the directory of the job, the words of the command, {table: (header, rows)})"""
    words = [word.replace("{copy:", "").rstrip("}") if word.startswith("{copy:") else word for word in case["args"].split()]
    out = scratch / case["name"]
    job = data / words[words.index("-d") + 1]
    if "{copy:" in case["args"]:  # the reference changed a copy; ours changes nothing
        words[words.index("-d") + 1] = str(job)
    words = [word.replace("{out}", str(out)) for word in words]
    subprocess.run([tool, *words, "-q"], cwd=data, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tables = written(out, case.get("collect"))
    shutil.rmtree(out)
    return job, words, tables


def in_order_of_ranks(header, rows):
    place = next((header.index(name) for name in RANKS if name in header), None)
    return rows if place is None else sorted(rows, key=lambda row: str(row[place]).zfill(12))


def keyed(name, header, rows):
    """{what a row is about: row}; equal ones are numbered."""
    columns, out, seen = [header.index(title) for title in KEYS.get(name, ()) if title in header], {}, Counter()
    for row in rows:
        key = tuple(f"{cell:.6g}" if isinstance(cell, (int, float)) and abs(cell) < 1e9 else str(cell or "")
                    for cell in ([row[column] for column in columns] or row))
        out[(*key, seen[key])] = row
        seen[key] += 1
    return out


def differences(name, theirs, ours, any_order):
    """Counter of cells that differ, by column; by ROWS if one of the two lacks the row, by ORDER if it stands elsewhere.
    Second, how many are equal."""
    (their_header, their_rows), (header, rows) = theirs, ours
    if not {*their_header} & {*header}:
        return Counter({ROWS: sum(map(len, their_rows)) + sum(map(len, rows))}), 0
    columns = list(dict.fromkeys([*their_header, *header]))
    if not any_order:
        their_rows, rows = in_order_of_ranks(their_header, their_rows), in_order_of_ranks(header, rows)
    if not KEYS.get(name):
        their_header = header if len(their_header) == len(header) else their_header
    expected, found = keyed(name, their_header, their_rows), keyed(name, header, rows)
    counts, equal = Counter(), 0
    for key in dict.fromkeys([*expected, *found]):
        if key not in expected or key not in found:
            counts[ROWS] += len(header)
            continue
        left, right = dict(zip(their_header, expected[key])), dict(zip(header, found[key]))
        for column in columns:
            if column in left and column in right and is_close(left[column], right[column], column):
                equal += 1
            else:
                counts[column] += 1
    if not any_order and [key for key in expected if key in found] != [key for key in found if key in expected]:
        counts[ORDER] += sum(a != b for a, b in zip(expected, found)) * len(header)
    return counts, equal
