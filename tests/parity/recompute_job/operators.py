# SPDX-License-Identifier: Apache-2.0
"""compute_op_sum, hccl_sum, cann_api_sum and freq_analysis of databases."""

import json
import re
import statistics
from collections import Counter, defaultdict
from fractions import Fraction

from databases import open_unchanged

from .values import Shown, quartile, stats

IDLE_MHZ = 800


def group_hash(text):
    """The number under which the analysis knows a group."""
    halves = []
    for factor in (29, 131):
        value = 0
        for byte in text.encode():
            value = (value * factor + byte) & 0xFFFFFFFF
        halves.append(value)
    return halves[0] << 32 | halves[1]


def databases(job):
    """{rank: path of its database}, in order of rank."""
    paths = {int(re.search(r"_(\d+)\.db$", path.name)[1]): path for path in job.rglob("ascend_pytorch_profiler_*.db")}
    return dict(sorted(paths.items()))


def rows_of(path, query):
    connection = open_unchanged(path)
    rows = connection.execute(query).fetchall()
    connection.close()
    return rows


def texts_of(path):
    return dict(rows_of(path, "SELECT id, value FROM STRING_IDS"))


def gathered(pairs):
    """{key: values} of (key, value)."""
    lists = defaultdict(list)
    for key, value in pairs:
        lists[key].append(value)
    return lists


def by_sum(rows, keys):
    """The largest sum first; of equal ones in order of key, then of rank."""
    return sorted(rows, key=lambda row: (-row[keys + 8], row[:keys], row[keys + 9:]))


def compute_op_sum(job):
    kernels = []
    for rank, path in databases(job).items():
        text = texts_of(path)
        kernels += [(rank, end - start, *(text.get(key) or "N/A" for key in keys)) for start, end, *keys in rows_of(
            path, "SELECT t.startNs, t.endNs, i.name, i.opType, i.taskType, i.inputShapes FROM COMPUTE_TASK_INFO i "
                  "JOIN TASK t USING (globalTaskId)")]
    of_all = gathered(((kind, core), dur) for _, dur, _, kind, core, _ in kernels)
    of_types = gathered(((kind, core, rank), dur) for rank, dur, _, kind, core, _ in kernels)
    of_names = gathered(((name, kind, core, shapes, rank), dur) for rank, dur, name, kind, core, shapes in kernels)
    return {"ComputeOpAllRankStats": by_sum([[*key, *stats(of_all[key])] for key in of_all], 2),
            "ComputeOpPerRankStatsByOpType": by_sum([[*key[:-1], *stats(of_types[key]), key[-1]] for key in of_types], 2),
            "ComputeOpPerRankStatsByOpName": by_sum([[*key[:-1], *stats(of_names[key]), key[-1]] for key in of_names], 4)}


def hccl_sum(job, most=15):
    ops = []
    for rank, path in databases(job).items():
        text = texts_of(path)
        ops += [(rank, end - start, *(text[key] for key in keys)) for start, end, *keys in rows_of(
            path, "SELECT startNs, endNs, opName, opType, groupName FROM COMMUNICATION_OP")]
    of_all = gathered((kind, dur) for _, dur, _, kind, _ in ops)
    of_ranks = gathered(((rank, kind), dur) for rank, dur, _, kind, _ in ops)
    of_names = gathered((name, (dur, rank)) for rank, dur, name, _, _ in ops)
    top = [[name, *stats([dur for dur, _ in runs]), min(runs)[1], min(runs, key=lambda run: (-run[0], run[1]))[1]]
           for name, runs in of_names.items()]
    groups = gathered((group, rank) for rank, _, _, _, group in ops)
    names = [[group, f"{group_hash(group) % 1000:03}", ";".join(map(str, sorted({*groups[group]})))] for group in groups]
    return {"HcclAllRankStats": sorted(([kind, *stats(of_all[kind])] for kind in of_all), key=lambda row: (-row[9], row[0])),
            "HcclPerRankStats": [[kind, *stats(of_ranks[rank, kind]), rank] for rank, kind in sorted(of_ranks)],
            "HcclTopOpStats": sorted(top, key=lambda row: (-row[2], row[0]))[:most],
            "HcclGroupNameMap": sorted(names, key=lambda row: (row[1], row[0]))}


def api_row(name, values, share, deviation):
    values = sorted(values)
    mean, middle = Shown(Fraction(sum(values), len(values)), 1), [Shown(quartile(values, p), 1) for p in (1, 2, 3)]
    return [name, share, sum(values), len(values), mean, values[0], *middle, values[-1], Shown(deviation(values), 1)]


def api_rows(of_names, decimals, deviation):
    whole = sum(map(sum, of_names.values()))
    return [api_row(name, values, Shown(Fraction(100 * sum(values), whole), decimals), deviation)
            for name, values in sorted(of_names.items(), key=lambda item: (-sum(item[1]), item[0]))]


def cann_api_sum(job):
    of_ranks, everywhere, runs = [], defaultdict(list), defaultdict(list)
    ranks = databases(job)
    for rank, path in ranks.items():
        text = texts_of(path)
        calls = gathered((text[name], end - start)
                         for start, end, name in rows_of(path, "SELECT startNs, endNs, name FROM CANN_API"))
        of_ranks += [[*row, rank] for row in api_rows(calls, 2, statistics.pstdev)]
        for name, values in calls.items():
            everywhere[name] += values
            runs[name] += [(value, rank) for value in values]
    rows = []
    of_several = statistics.pstdev if len(ranks) == 1 else lambda values: statistics.stdev(values) if values[1:] else 0.0
    for row in api_rows(everywhere, 1, of_several):
        name, share, total, count, mean, least, *middle, most, deviation = row
        who = [", ".join(map(str, sorted({rank for value, rank in runs[name] if value == edge}))) for edge in (least, most)]
        rows.append([name, share, total, count, mean, *middle, least, most, deviation, *who])
    return {"CannApiSumRank": of_ranks, "CannApiSum": rows}


def nominal_mhz(job, clocks):
    """What the chips say, else the highest clock of most ranks."""
    told = [int(device["aic_frequency"]) for file in job.rglob("info.json.*")
            for device in json.loads(file.read_text(encoding="utf-8")).get("DeviceInfo", ()) if device.get("aic_frequency")]
    votes = Counter(max(mhz) for mhz in clocks.values() if mhz)
    return max(told) if told else max(votes, key=lambda mhz: (votes[mhz], mhz), default=0)


def freq_analysis(job):
    clocks = {rank: sorted({mhz for mhz, in rows_of(path, "SELECT freq FROM AICORE_FREQ")})
              if rows_of(path, "SELECT 1 FROM sqlite_master WHERE name = 'AICORE_FREQ'") else []
              for rank, path in databases(job).items()}
    nominal = nominal_mhz(job, clocks)
    tables = {"FreeFrequencyRanks": [], "AbnormalFrequencyRanks": []}
    for rank, mhz in clocks.items():
        if mhz in ([], [nominal]):
            continue
        tables["FreeFrequencyRanks" if mhz == sorted((IDLE_MHZ, nominal)) else "AbnormalFrequencyRanks"].append(
            [rank, f"[{', '.join(map(str, mhz))}]"])
    return tables


RECIPES = {function.__name__: function for function in (compute_op_sum, hccl_sum, cann_api_sum, freq_analysis)}
