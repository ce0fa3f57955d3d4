# SPDX-License-Identifier: Apache-2.0
"""communication_group_map, communication_time_sum, communication_matrix_sum and the plain modes."""

import json
import math
from collections import defaultdict

from .communication import read_job, seen_sets
from .operators import group_hash

TOTAL = "Total Op Info"
# The rows of these come in the order of the files; these cells say what a row is about.
KEYS = {"ClusterCommunicationTime": (0, 1, 2, 3), "ClusterCommunicationBandwidth": (0, 1, 2, 3, 4, 9),
        "ClusterCommunicationMatrix": (0, 1, 2, 3, 4)}


def rank_text(ranks, separator=","):
    return str(tuple(sorted(ranks))) if separator == ", " else f"({separator.join(map(str, sorted(ranks)))})"


def groups_of(job):
    """[(type, ranks, hash, id, name in the job)]"""
    of_hash = {}
    for facts in job:
        for key, (name, ranks) in facts.groups.items():
            of_hash.setdefault(str(group_hash(key)), (key, name, ranks))
    rows = []
    for (p2p, group), seen in sorted(seen_sets(job).items()):
        key, name, ranks = of_hash.get(group, ("", "", ()))
        rows.append(("p2p" if p2p else "collective", {*ranks} or seen, group, key, name))
    return rows


def group_table(job):
    return [[kind, rank_text(ranks), *texts] for kind, ranks, *texts in groups_of(job)]


def ratio(part, whole):
    return round(part / whole, 4) if whole >= 1e-15 else 0


def time_tables(job):
    times, totals = [], defaultdict(lambda: [0.0] * 5)
    packets, of_link, of_size = [], defaultdict(lambda: [0.0, 0.0]), defaultdict(lambda: [0.0, 0.0])
    for facts in job:
        for step, _, operator, group, start, *lengths in facts.times:
            times.append([step, facts.rank, operator, group, math.floor(start + 0.5), *lengths, 0, 0])
            of_group = totals[step, facts.rank, group]
            of_group[:] = [a + b for a, b in zip(of_group, lengths)]
        for step, _, group, link, size, time, *_ in facts.uses:
            sums = of_link[step, facts.rank, group, link]
            sums[:] = [sums[0] + size, sums[1] + time]
        for step, operator, group, *rest, package, count, time in facts.packets:
            packets.append([step, facts.rank, operator, group, *rest, package, count, time])
            sums = of_size[step, facts.rank, group, rest[0], package]
            sums[:] = [sums[0] + count, sums[1] + time]
    for (step, rank, group), sums in totals.items():
        _, transit, wait, synchronization, _ = sums
        times.append([step, rank, TOTAL, group, 0, *sums, ratio(synchronization, transit + synchronization),
                      ratio(wait, transit + wait)])
    for (step, rank, group, link, package), sums in of_size.items():
        size, time = of_link[step, rank, group, link]
        packets.append([step, rank, TOTAL, group, link, size, time, ratio(size, time), 0, package, *sums])
    return {"ClusterCommunicationTime": times, "ClusterCommunicationBandwidth": packets}


def ranks_of_job(job):
    """{(group, rank in the group): rank in the job}: a link to itself tells, else the metadata."""
    known = {}
    for facts in job:
        for _, _, _, group, source, destination, *_ in facts.matrix:
            if source == destination:
                known.setdefault((group, source), facts.rank)
    for _, ranks, group, key, _ in groups_of(job):
        for local, rank in enumerate(sorted(ranks) if key else ()):
            known.setdefault((group, local), rank)
    return known


def links_of(job):
    """{(step, p2p, name, group, from, to): [transport, operator, MB, ms]}, those of totals last"""
    known, links, totals = ranks_of_job(job), {}, {}
    for facts in job:
        for step, p2p, name, group, *ends, transport, size, time, operator in facts.matrix:
            ends = [known.get((group, end)) for end in ends]
            if None in ends:
                continue
            places = [(links, name), (totals, TOTAL)] if "total" in name else [(links, name)]
            for sums, key in places:
                own = sums.setdefault((step, p2p, key, group, *ends), [transport, operator, 0.0, 0.0])
                own[2:] = [own[2] + size, own[3] + time]
    return links | totals


def matrix_table(job):
    return [[step, name, group, source, destination, transport, operator, size, time, size / time if time else 0.0]
            for (step, _, name, group, source, destination), (transport, operator, size, time) in links_of(job).items()]


def joined(sets):
    """The unions of those that share a rank, in order of their smallest."""
    out = []
    for ranks in map(set, sets):
        near = [other for other in out if other & ranks]
        out = [other for other in out if not other & ranks] + [ranks.union(*near)]
    return sorted(out, key=sorted)


def stages_of(job):
    groups = groups_of(job)
    pipelines = joined(ranks for kind, ranks, _, _, name in groups if kind == "p2p" and name.lower().startswith("pp"))
    if not pipelines:
        return []
    return joined(ranks for kind, ranks, *_ in groups
                  if kind == "collective" and all(len(ranks & pipeline) < 2 for pipeline in pipelines))


def place_of(job, rank):
    """Data, pipeline and tensor index."""
    arguments = next((facts.arguments for facts in job if facts.arguments), None)
    if arguments is None:
        return [None] * 3
    world, tensor, pipeline, data, context = (max(1, arguments.get(name, 1)) for name in (
        "world_size", "tensor_model_parallel_size", "pipeline_model_parallel_size", "data_parallel_size",
        "context_parallel_size"))
    data *= context
    if world != tensor * pipeline * data or rank >= world:
        return [None] * 3
    return [rank % (tensor * data) // tensor, rank // (tensor * data), rank % tensor]


def us(value):
    return round(float(value) * 1000) / 1000


def step_table(job, separator=","):
    rows, stages, longest = [], stages_of(job), {}
    for facts in job:
        for step, *times in facts.steps:
            times = [*map(us, times)]
            rows.append([step, "rank", str(facts.rank), *times, *place_of(job, facts.rank)])
            for number, ranks in enumerate(stages):
                if facts.rank in ranks:
                    own = longest.setdefault((int(step), number), times)
                    longest[int(step), number] = [*map(max, own, times)]
    for (step, number), times in sorted(longest.items()):
        rows.append([str(step), "stage", rank_text(stages[number], separator), *times, None, None, None])
    return rows


def job_tables(job):
    arguments = next((facts.arguments for facts in job if facts.arguments), None)
    return {"HostInfo": [[*host] for host in dict.fromkeys(facts.host for facts in job if facts.host)],
            "RankDeviceMap": [[*device, facts.host[0], facts.path] for facts in job for device in facts.devices],
            "ClusterBaseInfo": [["distributed_args", json.dumps(arguments, sort_keys=True)]] if arguments else []}


def in_order(name, rows):
    return sorted(rows, key=lambda row: [str(row[place]) for place in KEYS[name]]) if name in KEYS else rows


def tables_of(directory, recipe):
    job = read_job(directory)
    if recipe == "communication_matrix_sum":
        return {"ClusterCommunicationMatrix": matrix_table(job)}
    tables = {"CommunicationGroupMapping": group_table(job)}
    if recipe in ("all", "communication_time", "communication_time_sum"):
        tables |= time_tables(job)
    if recipe in ("all", "communication_matrix"):
        tables["ClusterCommunicationMatrix"] = matrix_table(job)
    if recipe in ("all", "communication_time", "communication_matrix"):
        tables |= {"ClusterStepTraceTime": step_table(job), **job_tables(job)}
    return tables


RECIPES = ("all", "communication_time", "communication_matrix", "communication_group_map", "communication_time_sum",
           "communication_matrix_sum")
