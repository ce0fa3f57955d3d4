# SPDX-License-Identifier: Apache-2.0
"""The documents that the plain modes write of text captures."""

import csv
import json
from collections import defaultdict

from .communication import STEP, read_job, seen_sets
from .communication_tables import TOTAL, groups_of, links_of, rank_text, ratio, step_table

TIMES = ("Elapse Time(ms)", "Transit Time(ms)", "Wait Time(ms)", "Synchronization Time(ms)", "Idle Time(ms)")


def flat(value, path="$"):
    """[[path, value]] of a document, in order of paths; an empty part has none."""
    if isinstance(value, dict):
        return sorted(row for key, of_key in value.items() for row in flat(of_key, f"{path}.{key}"))
    if isinstance(value, list):
        return [row for place, item in enumerate(value) for row in flat(item, f"{path}[{place}]")]
    return [[path, value]]


def set_of(seen, p2p, group):
    return rank_text(seen.get((p2p, group)) or seen[not p2p, group], ", ")


def group_document(job):
    sets = {kind: [] for kind in ("collective", "p2p")}
    for (p2p, _), ranks in sorted(seen_sets(job).items()):
        if sorted(ranks) not in sets["p2p" if p2p else "collective"]:
            sets["p2p" if p2p else "collective"].append(sorted(ranks))
    return {**sets, "comm_group_parallel_info": [
        {"type": kind, "rank_set": sorted(ranks), "group_name": group, "group_id": key, "pg_name": name}
        for kind, ranks, group, key, name in groups_of(job)]}


def nested():
    return defaultdict(nested)


def summed(entries):
    """Of the entries of one group of one rank in a step."""
    times = {name: sum(entry["Communication Time Info"][name] for entry in entries) for name in TIMES}
    transit, wait, synchronization = (times[f"{name} Time(ms)"] for name in ("Transit", "Wait", "Synchronization"))
    times |= {"Wait Time Ratio": ratio(wait, wait + transit),
              "Synchronization Time Ratio": ratio(synchronization, synchronization + transit)}
    links = {}
    for entry in entries:
        for link, use in entry["Communication Bandwidth Info"].items():
            own = links.setdefault(link, {"Transit Time(ms)": 0, "Transit Size(MB)": 0, "Size Distribution": {}})
            own["Transit Time(ms)"] += use["Transit Time(ms)"]
            own["Transit Size(MB)"] += use["Transit Size(MB)"]
            for size, (count, time) in use["Size Distribution"].items():
                known = own["Size Distribution"].get(size, (0, 0))
                own["Size Distribution"][size] = [known[0] + count, known[1] + time]
    for own in links.values():
        own["Bandwidth(GB/s)"] = ratio(own["Transit Size(MB)"], own["Transit Time(ms)"])
    return {"Communication Time Info": times, "Communication Bandwidth Info": links}


def time_document(directory, job):
    document, parts, seen = nested(), defaultdict(list), seen_sets(job)
    for folder in directory.rglob("communication.json"):
        rank = next(facts.rank for facts in job if facts.path == str(folder.parents[1]))
        for step, kinds in json.loads(folder.read_text(encoding="utf-8")).items():
            for kind, entries in kinds.items():
                for name, entry in entries.items():
                    operator, _, group = name.rpartition("@")
                    if operator and not operator.lower().startswith("total"):
                        key = set_of(seen, kind == "p2p", group)
                        document[key][step][name][str(rank)] = entry
                        parts[key, step, group, rank].append(entry)
    for (key, step, group, rank), entries in parts.items():
        document[key][step][f"{TOTAL}@{group}"][str(rank)] = summed(entries)
    return document


def matrix_document(job):
    document, seen = nested(), seen_sets(job)
    for (step, p2p, name, group, *ends), (transport, operator, size, time) in links_of(job).items():
        own = document[set_of(seen, p2p, group)][step][f"{name}@{group}"]["-".join(map(str, ends))]
        time += own.get("Transit Time(ms)", 0)  # the total of both kinds
        size += own.get("Transit Size(MB)", 0)
        own.update({"Transport Type": transport, "Transit Time(ms)": time, "Transit Size(MB)": size, "Op Name": operator,
                    "Bandwidth(GB/s)": ratio(size, time)})
    return document


def step_file(job):
    rows = step_table(job, ", ")
    known = any(row[-1] is not None for row in rows)
    header = ["Step", "Type", "Index", *STEP, *(("DP Index", "PP Index", "TP Index") if known else ())]
    return [header] + [[*row[:3], *map(str, row[3:12]), *("NA" if cell is None else str(cell) for cell in row[12:] if known)]
                       for row in rows]


def documents_of(directory, recipe="all"):
    """{file: rows}; a document has rows of a path and a value."""
    job = read_job(directory)
    files = {"communication_group.json": flat(group_document(job)), "cluster_step_trace_time.csv": step_file(job)}
    if recipe in ("all", "communication_time"):
        files["cluster_communication.json"] = flat(time_document(directory, job))
    if recipe in ("all", "communication_matrix"):
        files["cluster_communication_matrix.json"] = flat(matrix_document(job))
    return files


def read_documents(folder):
    """Those that the program wrote."""
    files = {path.name: flat(json.loads(path.read_text(encoding="utf-8"))) for path in folder.glob("*.json")}
    for path in folder.glob("*.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            files[path.name] = [*csv.reader(file)]
    return files
