#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damages captures at random and counts what the commands do not notice.

    run_lost_records.py --tool BINARY --testdata DIR GROUP [--runs N] [--seed N] [--form FORM] [--kind KIND] [--only N] [--keep DIR] [-v]

GROUP: own (captures of testdata) or shared (real ones, where they lie beside the sources; else the test is skipped).
Each damage (tests/support/lost_records.py) is done to a copy of a capture of a job. Then five commands run on the whole and on
the damaged one. Those whose numbers changed must say so: a new warning, or exit code 5. A run is silent where numbers changed and
it did not; a gate that says "inconclusive" is not. The aim is at most 2 % silent of the runs whose numbers changed. The test fails
above that for text captures and databases (some runs more, as there are few), and above what was reached for traces of GPUs: where
operators, their calls and their kernels are cut off together, what is left is whole in itself. A cell without a number is unknown, not changed, and so is a sheet that is missing as a whole; a row that is missing or
added is changed. A run that refuses the input prints no numbers and counts on neither side. `verdicts` are gates that pass or
fail with changed numbers, also where they say so.

--runs: so many damages (by hand: thousands); --only: one of them, shown in full; --keep: where damaged captures stay;
-v: every silent run.
Exit status: 0 passed, 1 failed, 77 skipped.
"""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import lost_records  # noqa: E402
from captures import build_database, build_job  # noqa: E402
from damage import link_tree  # noqa: E402
from groups import SKIPPED  # noqa: E402

AIM = 0.02
BARS = {"text": 0.03, "database": 0.02, "gpu": 0.55}  # gpu: 0.37 of the own traces, 0.48 of few shared ones
DEFAULT_RUNS = {"own": 160, "shared": 32}
OK, REGRESSION, UNDECIDED, PARTIAL = 0, 1, 4, 5
TIMEOUT_SECONDS = 120
# Answers that are texts, or say how the capture was set up.
NOT_COMPARED = {"notes", "story", "schema_version", "exit_code", "settings", "recorded_settings", "mismatches"}


@dataclass
class Source:
    """A job whose first rank is compared with `base`; `other`: the same ranks of another run, or nothing."""

    name: str
    form: str
    job: Path
    ranks: list  # paths within the job
    base: Path
    other: list


# ---- what is damaged

def text_job(captures, names, parent):
    """Two ranks made of two captures of a first rank."""
    job = Path(parent, f"job_{names[0]}", "text")
    for rank, name in enumerate(names):
        copy = job / f"rank{rank}_ascend_pt"
        shutil.copytree(captures / name, copy)
        for path in (copy / "profiler_info_0.json", copy / "profiler_metadata.json"):
            document = json.loads(path.read_text(encoding="utf-8"))
            if "rank_id" in document:
                document["rank_id"] = rank
            for group in document.get("parallel_group_info", {}).values():
                group["group_rank"] = rank
            path.unlink()
            path.with_name(path.name.replace("_0", f"_{rank}")).write_text(json.dumps(document), encoding="utf-8")
    return job


def gpu_job(captures, names, parent):
    job = Path(parent, f"job_{names[0]}", "traces")
    job.mkdir(parents=True)
    for rank, name in enumerate(names):
        document = json.loads((captures / name).read_text(encoding="utf-8"))
        document["distributedInfo"]["rank"] = rank
        (job / f"rank{rank}.json").write_text(json.dumps(document), encoding="utf-8")
    return job


def own_sources(captures, parent):
    sources = []
    for base, new in (("text_base_ascend_pt", "text_new_ascend_pt"), ("twin_text_base_ascend_pt", "twin_text_new_ascend_pt")):
        job = text_job(captures, (base, new), parent)
        other = text_job(captures, (new, base), parent)
        ranks = sorted(path.name for path in job.iterdir())
        sources.append(Source(base, "text", job, ranks, captures / new, [other / rank for rank in ranks]))
    for base, new in (("db_base_ascend_pt", "db_new_ascend_pt"), ("twin_db_base_ascend_pt", "twin_db_new_ascend_pt")):
        job = build_job(captures, f"2:{base},{new}", parent / base)
        other = build_job(captures, f"2:{new},{base}", parent / new)
        ranks = sorted(path.name for path in job.iterdir())
        sources.append(Source(base, "database", job, ranks, build_database(captures, new, parent / "single"), [other / rank for rank in ranks]))
    job, other = gpu_job(captures, ("gpu_base.json", "gpu_new.json"), parent), gpu_job(captures, ("gpu_new.json", "gpu_base.json"), parent)
    ranks = ["rank0.json", "rank1.json"]
    sources.append(Source("gpu_base", "gpu", job, ranks, captures / "gpu_new.json", [other / rank for rank in ranks]))
    job = gpu_job(captures, ("serving_base.json",), parent)
    sources.append(Source("serving_base", "gpu", job, ranks[:1], captures / "serving_new.json", [captures / "serving_new.json"]))
    sources.append(Source("rl_apart", "gpu", captures / "rl_apart", [f"rank{rank}.json" for rank in range(4)],
                          captures / "rl_apart" / "rank1.json", []))
    sources.append(Source("graph_replay", "gpu", captures / "graph_replay", ["decode.json"], captures / "gpu_base.json", []))
    return sources


def shared_sources(data, parent):
    sources = []
    for form, folder, other in (("database", "npu/db/level0", "npu/db/level1"), ("database", "npu/db/level1", "npu/db/level0"),
                                ("database", "npu/db_mstx", None), ("text", "npu/text/level0", "npu/text/level1"),
                                ("text", "npu/text/level1", "npu/text/level0")):
        job = data / folder
        ranks = ["rank0_ascend_pt", "rank1_ascend_pt"]
        sources.append(Source(folder, form, job, ranks, job / ranks[1], [data / other / rank for rank in ranks] if other else []))
    job = parent / "dlrm"
    job.mkdir()
    for rank in range(2):
        trace, = (data / "traces/dlrm_8ranks").glob(f"worker{rank}_*.gz")
        unpack(trace, job / trace.name.removesuffix(".gz"))
    ranks = sorted(path.name for path in job.iterdir())
    sources.append(Source("dlrm_8ranks", "gpu", job, ranks, job / ranks[1], []))
    for name in ("alexnet", "ddp_nccl"):
        job = parent / name
        job.mkdir()
        unpack(data / f"gpu/{name}.json.gz", job / f"{name}.json")
        sources.append(Source(name, "gpu", job, [f"{name}.json"], data / "gpu/alexnet.json.gz", []))
    return sources


def unpack(packed, path):
    with lost_records.gzip.open(packed) as file:
        path.write_bytes(file.read())


# ---- what the commands say

def commands(source, job, out):
    """Name -> arguments."""
    first = job / source.ranks[0]
    same = ["-o", out, "--json"]
    found = {"compare": ["compare", "-d", first, "-bp", source.base, *same],
             "gate": ["compare", "-d", first, "-bp", source.base, "--fail_on", "e2e>+3%", "--min_steps", "1", *same],
             "summary": ["-m", "cluster_time_summary", "-d", job, *same],
             "operators": ["-m", "top_operators", "-d", job, *same],
             "advisor": ["advisor", "all", "-d", job, *same]}
    if source.form != "gpu":
        found["sums"] = ["-m", "compute_op_sum", "-d", job, *same]
    return found


class Answer:
    def __init__(self, tool, arguments, scratch):
        done = subprocess.run([tool, *map(str, arguments)], check=False, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              errors="replace", timeout=TIMEOUT_SECONDS)
        self.code = done.returncode
        self.warnings = {line.replace(str(scratch), "") for line in done.stderr.splitlines() if ": warning: " in line}
        try:
            self.document = json.loads(done.stdout)
        except ValueError:
            self.document = None

    def tells_more(self, whole):
        verdict = (self.document or {}).get("verdict")
        return self.code != whole.code and (self.code == PARTIAL or verdict == "inconclusive") or bool(self.warnings - whole.warnings)


def by_name(items):
    """Sheets as {name: rows}; other lists of things as they are."""
    if items and all(isinstance(item, dict) and "rows" in item and "name" in item for item in items):
        return {item["name"]: [[row[key] for key in item["columns"]] for row in item["rows"]] for item in items}
    return items


def difference(whole, other, place=""):
    """The first number that differs, as "place: before -> after"; empty: none."""
    whole, other = by_name(whole) if isinstance(whole, list) else whole, by_name(other) if isinstance(other, list) else other
    if isinstance(whole, dict) and isinstance(other, dict):
        leaves = place.endswith("leaves")  # of an account: what is not there is 0
        for key in sorted({*whole, *other} if leaves else {*whole} & {*other}):
            if key in NOT_COMPARED:
                continue
            if found := difference(whole.get(key, 0), other.get(key, 0), f"{place}.{key}".lstrip(".")):
                return found
        return ""
    if isinstance(whole, list) and isinstance(other, list):
        for at, (one, two) in enumerate(zip(whole, other)):
            if found := difference(one, two, f"{place}[{at}]"):
                return found
        texts = all(isinstance(item, str) for item in (*whole, *other))
        return "" if texts or len(whole) == len(other) else f"{place}: {len(whole)} -> {len(other)} entries"
    number = lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)  # noqa: E731
    return f"{place}: {whole} -> {other}" if number(whole) and number(other) and whole != other else ""


@dataclass
class Outcome:
    form: str
    kind: str
    number: int
    source: str
    words: str
    runs: list  # of (command, exit code, whether told, difference)
    warnings: list


class Judge:
    def __init__(self, arguments, sources, scratch):
        self.tool, self.seed, self.keep, self.scratch = arguments.tool, arguments.seed, arguments.keep, scratch
        self.sources = sources
        self.kinds = [(form, kind) for form in lost_records.WAYS for kind in lost_records.WAYS[form]
                      if arguments.form in (None, form) and arguments.kind in (None, kind)]
        self.whole = {}
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            for source, answers in zip(sources, pool.map(lambda one: self.ask(one, one.job, scratch), sources)):
                self.whole[source.name] = answers
                for command, answer in answers.items():
                    if answer.code not in (OK, REGRESSION, UNDECIDED) or answer.document is None:
                        raise SystemExit(f"{source.name}: {command} of the whole capture exits with {answer.code}: {answer.warnings}")

    def ask(self, source, job, scratch):
        return {name: Answer(self.tool, arguments, scratch) for name, arguments in commands(source, job, scratch / "out").items()}

    def damage(self, number):
        """The first damage that can be done, of the kind whose turn it is."""
        form, kind = self.kinds[number % len(self.kinds)]
        chance = random.Random(f"{self.seed}:{number}")
        fitting = [source for source in self.sources if source.form == form]
        for source in chance.sample(fitting, len(fitting)):
            with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
                job = Path(folder, source.job.name)
                link_tree(source.job, job)
                ranks = [lost_records.Rank(job / path, form, source.other[at] if source.other else None) for at, path in enumerate(source.ranks)]
                way = lost_records.WAYS[form][kind]
                # The first rank is what compare and the gate see.
                target = ranks if kind in lost_records.JOB else ranks[0] if chance.random() < 0.8 else chance.choice(ranks)
                words = way(target, chance)
                if words is None:
                    continue
                if self.keep:
                    shutil.copytree(job, self.keep / f"{number}_{source.form}" / job.name, dirs_exist_ok=True)
                answers = self.ask(source, job, Path(folder))
                runs, warnings = [], set()
                for name, answer in answers.items():
                    whole = self.whole[source.name][name]
                    changed = difference(whole.document, answer.document) if answer.document is not None else ""
                    runs.append((name, answer.code, answer.tells_more(whole), changed))
                    warnings |= answer.warnings - whole.warnings
                return Outcome(form, kind, number, source.name, words, runs, sorted(warnings))
        return None


# ---- what is told of it

def report(outcomes, verbose):
    table = defaultdict(Counter)
    for outcome in outcomes:
        for command, code, told, changed in outcome.runs:
            counts = table[outcome.form, outcome.kind]
            counts["runs"] += 1
            counts["refused"] += code not in (OK, REGRESSION, UNDECIDED, PARTIAL)
            counts["changed"] += bool(changed)
            counts["verdicts"] += bool(changed) and command == "gate" and code in (OK, REGRESSION)
            if changed and not told:
                counts["silent"] += 1
                if verbose:
                    print(f"{outcome.number}: {outcome.form}, {outcome.source}: {outcome.kind}: {outcome.words}\n"
                          f"    {command} exits with {code}: {changed}")
    columns = ("runs", "refused", "changed", "silent", "verdicts")
    print(f"{'form':<9} {'kind':<22}", *(f"{column:>8}" for column in columns))
    total = sum(table.values(), Counter())
    for (form, kind), counts in [*sorted(table.items()), (("all", ""), total)]:
        print(f"{form:<9} {kind:<22}", *(f"{counts[column]:>8}" for column in columns))
    share = total["silent"] / max(1, total["changed"])
    print(f"{len(outcomes)} damages, {total['runs']} runs, numbers changed in {total['changed']}, silently in {total['silent']} "
          f"({100 * share:.1f} %, the aim is {100 * AIM:.0f} %)")
    within = total["changed"] > 0
    for form, bar in BARS.items():
        changed, silent = (sum(counts[column] for (of, _), counts in table.items() if of == form) for column in ("changed", "silent"))
        if silent > bar * changed:
            print(f"{form}: {silent} of {changed} silent, at most {100 * bar:.0f} %")
            within = False
    return within


def crashed(outcomes):
    return [f"{outcome.number}: {outcome.words}: {command} exits with {code}" for outcome in outcomes for command, code, _, _ in outcome.runs
            if code not in (OK, REGRESSION, 3, UNDECIDED, PARTIAL)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--testdata", required=True, type=Path)
    parser.add_argument("--runs", type=int, help="how many damages")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--form", choices=lost_records.WAYS)
    parser.add_argument("--kind")
    parser.add_argument("--only", type=int, help="the number of one damage")
    parser.add_argument("--keep", type=Path, help="keep the damaged captures there")
    parser.add_argument("-v", action="store_true", help="name each silent run")
    parser.add_argument("group", choices=DEFAULT_RUNS)
    arguments = parser.parse_args()
    arguments.tool = str(arguments.tool.resolve())
    testdata = arguments.testdata.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        if arguments.group == "own":
            sources = own_sources(testdata / "captures", scratch)
        else:
            data = next((folder for above in testdata.parents if (folder := above / "shared/data").is_dir()), None)
            if data is None:
                print("skipped: no shared/data beside the sources")
                return SKIPPED
            sources = shared_sources(data, scratch)
        judge = Judge(arguments, sources, scratch)
        numbers = range(arguments.runs or DEFAULT_RUNS[arguments.group]) if arguments.only is None else [arguments.only]
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            outcomes = [outcome for outcome in pool.map(judge.damage, numbers) if outcome]
    if arguments.only is not None:
        for outcome in outcomes:
            print(f"{outcome.source}: {outcome.kind}: {outcome.words}", *outcome.runs, *outcome.warnings, sep="\n    ")
    passed = report(outcomes, arguments.v or arguments.only is not None)
    for line in (bad := crashed(outcomes)):
        print(line)
    return 0 if passed and not bad else 1


if __name__ == "__main__":
    sys.exit(main())
