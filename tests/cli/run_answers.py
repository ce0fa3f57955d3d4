#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that all commands give one answer to one question.

    run_answers.py --tool BINARY --testdata DIR [--raw DIR] [--shared DIR] GROUP [-v]

GROUP: answers (captures of testdata), answersshared (captures of ../shared; skipped where there are none),
judge (wrong answers are objected to).
Each command that has an opinion on a capture is asked through --json and through its screen. An answer is a number
under a word ("free") of a rank and a step. Two different numbers under one word fail, and so do parts that do not add
up to what they are parts of.
Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from captures import build_database, build_job  # noqa: E402
from groups import run_group  # noqa: E402

TOOL = CAPTURES = RAW = SHARED = None  # set by main()
TIMEOUT_SECONDS = 120
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
ALL = "all"  # of all ranks, or all steps


@dataclass(frozen=True)
class Question:
    """What is asked: a word, of a rank, of a step."""
    word: str
    rank: object = ALL
    step: object = ALL


class Given:
    """Numbers with how exact they are, and who gave them."""

    def __init__(self, capture):
        self.capture, self.given, self.objections = capture, defaultdict(list), []

    def give(self, question, value, slack, source):
        if value is not None:
            self.given[question].append((value, slack, source))

    def object(self, text):
        self.objections.append(f"{self.capture}: {text}")

    def compare(self):
        """Objections, with those to different answers to one question."""
        for question, given in self.given.items():
            exact = min(given, key=lambda answer: answer[1])
            for value, slack, source in given:
                if isinstance(value, str) or isinstance(exact[0], str):
                    differs = value != exact[0]
                else:
                    differs = abs(value - exact[0]) > slack + exact[1] + 1e-9 * abs(exact[0])
                if differs:
                    self.object(f"{question.word} of rank {question.rank}, step {question.step}: "
                                f"{source} says {value}, {exact[2]} says {exact[0]}")
        return self.objections


@dataclass
class Run:
    """What a command printed."""
    code: int
    out: str
    err: str


def run(*arguments):
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([TOOL, *map(str, arguments), "-o", out], check=False, stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8", errors="replace", timeout=TIMEOUT_SECONDS,
                              env={**os.environ, "COLUMNS": "80", "LANG": "C.UTF-8"})
    return Run(done.returncode, done.stdout, done.stderr)


def document(*arguments):
    """The --json of a command; None where it cannot answer (3: nothing of the kind was recorded)."""
    done = run(*arguments, "--json")
    if done.code in (0, 1, 5) and done.out.startswith("{"):
        return json.loads(done.out)
    return None


def slack_of(number, unit=1.0):
    """Half of the last digit that is shown."""
    digits = len(number.partition(".")[2])
    return 0.5 * 10.0 ** -digits * unit * 1.0001


# --- advisor: the account of every step ---

LEAVES = {"computing": ("comp.",), "exposed communication": ("comm.",), "copies": ("copy.",), "free": ("free.",),
          "wait": ("comm.wait_peer", "comm.bubble"), "transfer": ("comm.transfer", "comm.slow", "comm.inner")}


def sum_of(leaves, starts):
    return sum(time for leaf, time in leaves.items() if leaf.startswith(starts))


def ask_advisor(capture, answers):
    """Gives the parts of every step; returns the document."""
    advisor = document("advisor", "all", "-d", capture)
    if advisor is None:
        return None
    for row in advisor["accounting"]:
        leaves, where = row["leaves"], (row["rank"], row["step"])
        if sum(leaves.values()) != row["window_ns"]:
            answers.object(f"advisor: the parts of step {where} are {sum(leaves.values())}, not {row['window_ns']}")
        answers.give(Question("step", *where), row["window_ns"], 0, "advisor --json")
        for word, starts in LEAVES.items():
            if "comm.unsplit" in leaves and word in ("wait", "transfer"):
                continue
            answers.give(Question(word, *where), sum_of(leaves, starts), 0, "advisor --json")
        for leaf, time in leaves.items():
            if leaf.startswith("comp."):
                answers.give(Question(f"class {leaf[5:]}", *where), time, 0, "advisor --json")
    return advisor


def ask_mean_step(advisor, answers):
    """The parts of a single rank add up to the step, the mean of those that count."""
    counted = [row["window_ns"] for row in advisor["accounting"]
               if row["step"] not in advisor["capture"].get("dropped_steps", [])]
    if len(advisor["capture"]["ranks"]) == 1 and counted:
        answers.give(Question("step of the job"), sum(counted) / len(counted), 1, "advisor's accounts")


def ask_advisor_screen(capture, advisor, answers):
    """The first lines: a step, and the parts of the rank that it names."""
    ask_mean_step(advisor, answers)
    screen = run("advisor", "all", "-d", capture).out
    head = screen.split("\n1 ")[0].replace("\n ", " ")
    head = re.sub(r"\s+", " ", head)
    answers.give(Question("step of the job"), advisor["step_ns"], 0, "advisor --json")
    if found := re.search(r"step ([\d.]+) (ns|us|ms|s)\b", head):
        unit = UNITS[found[2]]
        answers.give(Question("step of the job"), float(found[1]) * unit, slack_of(found[1], unit), "advisor screen")
    else:
        answers.object(f"advisor's screen names no step: {head[:80]!r}")
        return
    rank = re.search(r" on rank (\d+)", head)
    shown = {"compute": "computing", "device free": "free"}
    steps = [row for row in advisor["accounting"] if rank and row["rank"] == int(rank[1])]
    if len(steps) == 1:
        for name, word in shown.items():
            if found := re.search(rf"\b{name} ([\d.]+)", head):
                answers.give(Question(word, int(rank[1]), steps[0]["step"]), float(found[1]) * unit,
                             slack_of(found[1], unit), "advisor screen")


# --- cluster_time_summary: its table and its screen ---

COLUMNS = {"step_time": "step", "computation": "computing", "free": "free",
           "communication_not_overlap_computation": "exposed communication",
           "communication_wait_stage_time": "wait", "communication_transmit_stage_time": "transfer",
           "memory_not_overlap_computation_communication": "copies"}
SCREEN_ROWS = {"step": "step_time", "computation": "computation", "free": "free",
               "exposed communication": "communication_not_overlap_computation",
               "copies alone": "memory_not_overlap_computation_communication",
               "waiting for other ranks": "communication_wait_stage_time",
               "transfer": "communication_transmit_stage_time"}


def ask_time_summary(capture, advisor, answers):
    summary = document("-m", "cluster_time_summary", "-d", capture)
    if summary is None:
        return
    rows = summary["sheets"][0]["rows"]
    for row in rows:
        for column, word in COLUMNS.items():
            if row[column] is not None:
                answers.give(Question(word, row["rank"], row["step"]), round(row[column] * 1000), 0,
                             "cluster_time_summary --json")
    if advisor is None:
        return
    warm_up = advisor["capture"].get("dropped_steps", [])
    counted = {(row["rank"], row["step"]) for row in advisor["accounting"] if row["step"] not in warm_up}
    rows = [row for row in rows if (row["rank"], row["step"]) in counted]
    screen = run("-m", "cluster_time_summary", "-d", capture).out
    ranks = sorted({row["rank"] for row in rows})
    for line in screen.splitlines():
        found = re.match(r"  (\S.*?) {2,}([\d.]+) +([\d.]+) +([\d.]+) ", line + " ")
        column = found and SCREEN_ROWS.get(found[1])
        if not column:
            continue
        means = [sum(times) / len(times) for rank in ranks
                 if (times := [row[column] for row in rows if row["rank"] == rank and row[column] is not None])]
        if not means:
            continue
        for what, number, value in (("least", found[2], min(means)), ("largest", found[4], max(means))):
            word = f"{what} {COLUMNS[column]} of the ranks' mean steps"
            answers.give(Question(word), value * 1e3, 500 if len(rows) > len(ranks) else 1, "cluster_time_summary --json")
            unit = UNITS[re.search(r"^  (ns|us|ms|s) in a step", screen, re.M)[1]]
            answers.give(Question(word), float(number) * unit, slack_of(number, unit), "cluster_time_summary screen")


# --- free_analysis: the share of free time ---


def ask_free_analysis(capture, advisor, answers):
    screen = run("-m", "free_analysis", "-d", capture).out
    found = re.search(r"device is free ([\d.]+) %", screen)
    if not found or not advisor:
        return
    if advisor["capture"].get("dropped_steps"):
        return
    shares = []
    for rank in advisor["capture"]["ranks"]:
        rows = [row for row in advisor["accounting"] if row["rank"] == rank]
        window = sum(row["window_ns"] for row in rows)
        shares += [100 * sum(sum_of(row["leaves"], ("free.",)) for row in rows) / window] if window else []
    answers.give(Question("median share of free time"), statistics.median(shares), 0, "advisor --json")
    answers.give(Question("median share of free time"), float(found[1]), slack_of(found[1]), "free_analysis screen")


# --- kernels: how many, and how long ---


def ask_kernels(capture, ranks, answers):
    """Kernels do not include collectives; compute_op_sum and module_statistic count the same ones."""
    sums = document("-m", "compute_op_sum", "-d", capture)
    if sums is None:
        return
    of_rank = defaultdict(int)
    for sheet in sums["sheets"]:
        if sheet["name"] == "ComputeOpPerRankStatsByOpType":
            for row in sheet["rows"]:
                of_rank[row["rank"]] += row["sum_ns"]
    screen = run("-m", "module_statistic", "-d", capture).out
    found = re.search(r"kernels take ([\d.]+) (us|ms|s)\b", screen)
    if found and len(of_rank) == len(ranks):
        unit = UNITS[found[2]]
        answers.give(Question("median time of kernels"), statistics.median(of_rank.values()), 1, "compute_op_sum --json")
        answers.give(Question("median time of kernels"), float(found[1]) * unit, slack_of(found[1], unit),
                     "module_statistic screen")


# --- classes of kernels: the account and compare ---

CLASSES = {"attention": (("Flash Attention (Forward)", "Flash Attention (Backward)", "Page Attention"), ("comp.attention",)),
           "convolution": (("Conv (Forward)", "Conv (Backward)"), ("comp.conv",)),
           "matrix product": (("Matmul",), ("comp.matmul", "comp.gmm")),
           "vector and move": (("Vector", "SDMA (Tensor Move)"), ("comp.vector", "comp.format", "comp.move"))}


def ask_classes(base, comparison, ranks, advisor, answers):
    """Each class takes as long in compare as in the account of all steps, where no kernels ran at the same time."""
    compared = document("compare", "-d", comparison, "-bp", base, "--enable_profiling_compare")
    if compared is None or not compared["sheets"]:
        return
    for side, rank in zip(("base", "comparison"), ranks):
        found = {row["index"].strip(): round(1e6 * (row[f"{side}_duration_ms"] or 0))
                 for row in compared["sheets"][0]["rows"]}
        leaves = defaultdict(int)
        for row in advisor["accounting"]:
            if row["rank"] == rank:
                for leaf, time in row["leaves"].items():
                    leaves[leaf] += time
        families = sum(found.get(name, 0) for names, _ in CLASSES.values() for name in names)
        families += sum(found.get(name, 0) for name in ("Cube", "Other"))
        computing = sum_of(leaves, ("comp.",))
        if not families or abs(found["Computing Time"] - computing) > 100 or abs(families - computing) > 100:
            continue
        for word, (names, parts) in CLASSES.items():
            answers.give(Question(f"all {word}", rank), sum(leaves[part] for part in parts), 0, "advisor --json")
            answers.give(Question(f"all {word}", rank), sum(found.get(name, 0) for name in names), 100, "compare --json")


# --- compare and the gate: a rank against another ---


def ask_compare(base, comparison, ranks, steps, answers):
    """The table of one step of both sides; the rows below a row add up to it."""
    options = ["--base_step", steps[0], "--comparison_step", steps[1]] if steps else []
    compared = document("compare", "-d", comparison, "-bp", base, "--enable_profiling_compare", *options)
    if compared is None or not compared["sheets"]:
        return
    words = {"Computing Time": "computing", "Uncovered Communication Time": "exposed communication",
             "Wait": "wait", "Transmit": "transfer"}
    for side, rank, step in zip(("base", "comparison"), ranks, steps or (ALL, ALL)):
        found = defaultdict(float)
        for row in compared["sheets"][0]["rows"]:
            found[row["index"].strip()] += round(1e6 * (row[f"{side}_duration_ms"] or 0))
        groups = sum(name.endswith(" Communication") for name in found)
        for index, word in words.items():
            if index in found and not (word in ("wait", "transfer") and groups > 1):
                # The profiler's own analysis of text captures rounds the ends of its pieces.
                answers.give(Question(word, rank, step), found[index], 100 + 1e-5 * found[index], "compare --json")
        total = found["Computing Time"] + found["Uncovered Communication Time"] + found["Free Time"]
        if "E2E Time" in found and "LCCL" not in found and abs(total - found["E2E Time"]) > 100:
            answers.object(f"compare, {side}: its parts are {total}, not {found['E2E Time']}")


def shown_table(screen):
    """Indent, name and both sides of the rows of compare's table; the unit."""
    unit, rows = None, []
    for line in screen.splitlines():
        if found := re.match(r"Time \((ns|us|ms|s)\)", line):
            unit = found[1]
        elif unit and (found := re.match(r"( *)(\S.*?) {2,}(-?[\d.,]+) {2,}(-?[\d.,]+) ", line)):
            rows.append((len(found[1]), found[2], found[3], found[4]))
        elif unit:
            break
    return unit, rows


def ask_compare_screen(base, comparison, ranks, steps, answers):
    """The parts on the screen add up to the step, and the lines below the table to the change of the step."""
    options = ["--base_step", steps[0], "--comparison_step", steps[1]] if steps else []
    screen = run("compare", "-d", comparison, "-bp", base, "--enable_profiling_compare", *options).out
    unit, rows = shown_table(screen)
    if not rows:
        return
    scale = UNITS[unit]
    names = {"Computing": "computing", "Exposed communication": "exposed communication", "Step": "step"}
    for side, (rank, step) in enumerate(zip(ranks, steps or (ALL, ALL))):
        total, parts = None, 0.0
        for indent, name, *cells in rows:
            value, slack = float(cells[side]) * scale, slack_of(cells[side], scale)
            if name in names:
                answers.give(Question(names[name], rank, step), value, slack + 100 + 1e-5 * value, "compare screen")
            if indent == 0 and name == "Step":
                total = value
            elif indent == 0 and name not in ("End to end",) and not name.startswith("Peak memory"):
                parts += value
        if total is None:
            answers.object("compare's screen has no step")
        elif abs(total - parts) > 5 * slack_of(rows[0][2], scale) + 1e-5 * total:
            answers.object(f"compare's screen: parts of side {side} are {parts}, the step is {total}")
    lines = screen.split("\n\n", 1)[-1].splitlines()
    head = next((line for line in lines if re.match(r"(step|end to end): [+-]", line)), None)
    if head:
        change = float(re.search(r": ([+-][\d.]+)", head)[1])
        listed = [float(found[1]) for line in lines[lines.index(head) + 1:]
                  if (found := re.match(r"  ([+-][\d.]+) (?:ns|us|ms|s) ", line))]
        if listed and abs(sum(listed) - change) > 1e-9 + 10 ** -len(head.split(".")[1].split()[0]) * 0.01:
            answers.object(f"compare's lines add up to {sum(listed)}, not {change}: {head}")
        give_largest_change(lines[lines.index(head) + 1:], ranks, steps, answers, "compare screen")


def give_largest_change(lines, ranks, steps, answers, source):
    """The first of the lines "  -5.604 ms exposed communication (-5.5 %)": what changed most, and by how much."""
    found = lines and re.match(r"  ([+-])([\d.]+) (ns|us|ms|s) (.*?)(?: \(|, [+->]|$)", lines[0])
    if found and not found[4].startswith("in "):
        where, unit = (tuple(ranks), steps), UNITS[found[3]]
        answers.give(Question("largest change", *where), found[1] + found[4], 0, source)
        answers.give(Question("time of the largest change", *where), float(found[2]) * unit,
                     slack_of(found[2], unit), source)


def ask_gate(base, comparison, ranks, steps, answers):
    """Steps of both sides, and contributions that add up to the change."""
    options = ["--warmup", "0", "--min_steps", "1", "--allow_mismatch", "all"]
    gate = document("compare", "-d", comparison, "-bp", base, "--fail_on", "step_time>+3%", *options[:4])
    if gate is None or not gate.get("metrics"):
        return
    metric = gate["metrics"][0]
    if metric["base"] is None:
        return
    if steps:  # each side has one step
        for rank, step, value in zip(ranks, steps, (metric["base"], metric["comparison"])):
            answers.give(Question("step", rank, step), value, 0, "gate --json")
    if gate["contributions"] and gate["explained"] == metric["name"]:
        total = sum(part["change_ns"] for part in gate["contributions"])
        if total != metric["change"]:
            answers.object(f"gate: contributions add up to {total}, the step changed by {metric['change']}")
    if len(gate["headline"]) > 100:
        answers.object(f"gate: a headline of {len(gate['headline'])} characters: {gate['headline']}")
    lines = run("compare", "-d", comparison, "-bp", base, "--fail_on", "step_time>+3%", *options[:4]).out.splitlines()
    made_of = "what the difference of step_time is made of:"
    if steps and made_of in lines:
        give_largest_change(lines[lines.index(made_of) + 1:], ranks, steps, answers, "gate screen")


def ask_median_step(base, comparison, answers):
    """Of several steps compare's table says that it sums them up, and its column adds up; its lines and the gate show
    the median step and the same largest change of it."""
    screen = run("compare", "-d", comparison, "-bp", base, "--enable_profiling_compare").out
    unit, rows = shown_table(screen)
    head = re.search(r"^(?:median of (\d+) steps|median step \(.*\)): ([+-][\d.]+) (ns|us|ms|s) ", screen, re.M)
    if not head:
        answers.object(f"compare says nothing of the median step: {screen[-400:]!r}")
        return
    if not re.search(rf"^Time \({unit}\), all {head[1] + ' ' if head[1] else ''}steps ", screen, re.M):
        answers.object("compare's table does not say that it sums up all steps")
    names = [name for _, name, *_ in rows]
    if "Exposed communication" in names:
        first = names.index("Exposed communication")
        parts = []
        for row in rows[first + 1:]:
            if row[0] == 0:
                break
            parts += [row] if row[0] == 2 else []
        for side in (2, 3) if parts and len(rows) < 24 and "counted in two groups" in names else ():
            sums = sum(float(row[side]) for row in parts)
            if abs(sums - float(rows[first][side])) > 5 * slack_of(rows[first][side]):
                answers.object(f"compare's groups add up to {sums}, not {rows[first][side]}")
    options = ["--warmup", "0", "--min_steps", "1", "--allow_mismatch", "shapes,framework,device"]
    asked = ["compare", "-d", comparison, "-bp", base, "--fail_on", "step_time>+3%", *options]
    metric = document(*asked)["metrics"][0]
    where = Question("change of the median step")
    answers.give(where, metric["change"], 0, "gate --json")
    answers.give(where, float(head[2]) * UNITS[head[3]], slack_of(head[2], UNITS[head[3]]), "compare screen")
    change = lambda lines: [re.sub(r" of \w+\b", "", line) for line in lines[:1]]  # the gate names no groups
    give_largest_change(change(screen[head.end():].splitlines()[1:]), (0, 1), None, answers, "compare screen")
    lines = run(*asked).out.splitlines()
    made_of = "what the difference of step_time is made of:"
    if made_of in lines:
        give_largest_change(change(lines[lines.index(made_of) + 1:]), (0, 1), None, answers, "gate screen")


# --- who came last ---

LATE_COMMANDS = ("slow_rank", "communication_bottleneck", "cluster_time_summary", "free_analysis")


def late_of_advisor(advisor):
    """Ranks of the findings on late ranks; those that were not captured."""
    late = [finding for finding in advisor["findings"] if finding["id"] == "rank.late"]
    return sorted({rank for finding in late for rank in finding["ranks"]})


def ask_late(capture, advisor, answers):
    """Every command names the late ranks of advisor, or says how many ranks were captured."""
    world, captured = advisor["capture"].get("world"), len(advisor["capture"]["ranks"])
    late = late_of_advisor(advisor)
    missing = world is not None and captured < world
    for name in LATE_COMMANDS:
        done = run("-m", name, "-d", capture)
        if done.code not in (0, 5):
            continue
        screen = re.sub(r"\s+", " ", done.out)
        if missing and f"{captured} of {world} ranks" not in screen:
            answers.object(f"{name} does not say that {captured} of {world} ranks were captured: {done.out[:160]!r}")
        named = {int(rank) for rank in re.findall(r"(?:rank|ranks) (\d+)(?: and \d+)? (?:came|was|were|is) (?:last|late)",
                                                  screen)}
        wrong = named - {*late} if missing and late else set()
        if wrong:
            answers.object(f"{name} calls the ranks {sorted(wrong)} late, advisor {late}")
        first = re.search(r"late ranks in \d+ collectives?: ranks? (\d+)", screen)
        ranks = (advisor.get("late_ranks") or [{"ranks": []}])[0]["ranks"]
        if first and int(first[1]) not in ranks:
            answers.object(f"{name} says that rank {first[1]} was late most, advisor {ranks}")
        if late and missing and name in ("slow_rank", "communication_bottleneck") and not any(
                re.search(rf"\brank {rank}\b", screen) for rank in late):
            answers.object(f"{name} does not name rank {late[0]}: {done.out[:160]!r}")


# --- captures ---


@dataclass
class Job:
    """Captures of one run, and pairs of them to compare with their ranks."""
    name: str
    path: Path
    pairs: list


def captures_in(directory):
    return sorted(path for path in directory.glob("*") if path.name.endswith(("_ascend_pt", "_ascend_ms")))


def ask_everything(job):
    """Objections to what the commands say of a job."""
    name, directory, pairs = job.name, job.path, job.pairs
    answers = Given(name)
    advisor = ask_advisor(directory, answers)
    if advisor is not None:
        ask_advisor_screen(directory, advisor, answers)
        ask_free_analysis(directory, advisor, answers)
        ask_kernels(directory, advisor["capture"]["ranks"], answers)
        ask_late(directory, advisor, answers)
    ask_time_summary(directory, advisor, answers)
    steps_of = defaultdict(list)
    for row in advisor["accounting"] if advisor else []:
        steps_of[row["rank"]].append(row["step"])
    for base, comparison, ranks in pairs:
        single = all(len(steps_of[rank]) == 1 for rank in ranks) and not (advisor or {}).get("capture", {}).get(
            "dropped_steps")
        steps = tuple(steps_of[rank][0] for rank in ranks) if single else None
        named = steps if steps and all(step is not None and step >= 0 for step in steps) else None
        ask_compare(base, comparison, ranks, named, answers) if named else None
        ask_compare_screen(base, comparison, ranks, named, answers) if named else None
        ask_gate(base, comparison, ranks, named, answers)
        if advisor is not None:
            ask_classes(base, comparison, ranks, advisor, answers)
    return answers.compare()


class Agreement(unittest.TestCase):
    """All commands are asked about each capture."""

    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()

    def assert_agree(self, jobs):
        self.assertTrue(jobs)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objections = [text for texts in pool.map(lambda job: ask_everything(job), jobs) for text in texts]
        if objections:
            self.fail(f"{len(objections)} objections:\n" + "\n".join(objections))


class Answers(Agreement):
    NAMES = ("text_base_ascend_pt", "text_level0_ascend_pt", "twin_text_base_ascend_pt", "db_base_ascend_pt",
             "twin_db_new_ascend_pt", "toy_model_ascend_pt", "head_hard_ascend_pt", "gpu_base.json", "gpu_new.json")

    def path(self, name):
        path = CAPTURES / name
        return path if path.exists() else build_database(CAPTURES, name, self.scratch)

    def test_captures(self):
        self.assert_agree([Job(name, path, [(path, path, (0, 0))])
                           for name in self.NAMES for path in [self.path(name)]])

    def test_several_steps(self):
        """Captures of two steps, that differ."""
        for base, comparison in (("text_base_ascend_pt", "text_new_ascend_pt"),
                                 ("twin_db_base_ascend_pt", "twin_db_new_ascend_pt"),
                                 ("twin_text_base_ascend_pt", "twin_text_new_ascend_pt"),
                                 ("text_base_ascend_pt", "twin_text_base_ascend_pt")):
            with self.subTest(base):
                answers = Given(base)
                ask_median_step(self.path(base), self.path(comparison), answers)
                self.assertEqual(answers.compare(), [])

    def test_free_time_of_the_gate(self):
        """Free time and copies of the gate are those of the account."""
        for name in ("text_base_ascend_pt", "db_base_ascend_pt", "gpu_base.json"):
            with self.subTest(name):
                path = self.path(name)
                rows = document("advisor", "all", "-d", path)["accounting"]
                gate = document("compare", "-d", path, "-bp", path, "--fail_on", "free>+3%", "--fail_on", "copies>+3%",
                                "--warmup", "0", "--min_steps", "1")
                shown = {metric["name"]: metric["base"] for metric in gate["metrics"]}
                for word, starts in (("free", "free."), ("copies", "copy.")):
                    median = statistics.median(sum_of(row["leaves"], (starts,)) for row in rows)
                    self.assertEqual(shown[word], median, word)

    def test_raw(self):
        if RAW is None:
            self.skipTest("no raw captures were made")
        self.assert_agree([Job(path.name, path, []) for path in sorted(RAW.rglob("*_ascend_pt"))])

    def test_job_with_a_late_rank(self):
        job = build_job(CAPTURES, "4:twin_db_base_ascend_pt:late=2", self.scratch)
        self.assert_agree([Job("job", job, [])])


class AnswersShared(Agreement):
    """Captures that are kept apart from the sources."""

    def setUp(self):
        super().setUp()
        if not (SHARED / "data").is_dir():
            self.skipTest(f"{SHARED} has no data: name the folder that has it with --shared")

    def test_ranks(self):
        """Jobs of which some ranks are missing, and whole ones."""
        data = SHARED / "data"
        jobs = [path for path in [*data.glob("npu/*/*"), data / "npu/db_mstx", *data.glob("sim/*/db"),
                                  data / "traces/dlrm_8ranks"] if path.is_dir() and not path.name.endswith("_ascend_pt")]
        self.assert_agree([Job(str(job.relative_to(data)), job, pairs_of(job)) for job in sorted(jobs)])

    def test_raw(self):
        data = SHARED / "data/raw"
        self.assert_agree([Job(job.name, job, []) for job in sorted(data.glob("*")) if captures_in(job)])

    def test_traces(self):
        data = SHARED / "data"
        traces = sorted(path for path in [*data.glob("gpu/*.json.gz"), *data.glob("traces/**/*.json.gz")]
                        if path.parent.name not in ("dlrm_8ranks", "capture_traces"))
        self.assert_agree([Job(path.name, path, [(path, path, (None, None))]) for path in traces])


def pairs_of(job):
    """The first two ranks of NPUs, against each other."""
    found = captures_in(job)
    return [(found[0], found[1], (0, 1))] if len(found) > 1 else []


class Judge(unittest.TestCase):
    """The comparison of answers objects to wrong ones."""

    def test_two_numbers(self):
        answers = Given("capture")
        answers.give(Question("free", 0, 1), 44_296_000, 0, "one")
        answers.give(Question("free", 0, 1), 44.3e6, 0.05e6, "another, which rounds")
        self.assertEqual(answers.compare(), [])
        answers.give(Question("free", 0, 1), 25.744e6, 500, "a third")
        self.assertEqual(len(answers.compare()), 1)

    def test_other_questions(self):
        answers = Given("capture")
        answers.give(Question("free", 0, 1), 1, 0, "one")
        answers.give(Question("free", 1, 1), 2, 0, "another")
        self.assertEqual(answers.compare(), [])

    def test_largest_change(self):
        answers = Given("captures")
        give_largest_change(["  -5.604 ms waiting for rank 5 in allreduce (-5.5 %)"], (0, 1), None, answers, "one")
        give_largest_change(["  -5.60 ms waiting for rank 5 in allreduce, -5.5 %"], (0, 1), None, answers, "same")
        self.assertEqual(answers.compare(), [])
        give_largest_change(["  -5.604 ms free time (-5.5 %)"], (0, 1), None, answers, "another cause")
        give_largest_change(["  -5.70 ms waiting for rank 5 in allreduce"], (0, 1), None, answers, "another time")
        self.assertEqual(len(answers.compare()), 2)

    def test_table(self):
        screen = "Time (ms)       Base  Comparison   Diff\nComputing    12.000      13.000 +1.000\n  Conv   1.0  2.0 +1\n\n"
        self.assertEqual(shown_table(screen), ("ms", [(0, "Computing", "12.000", "13.000"), (2, "Conv", "1.0", "2.0")]))


def main():
    global TOOL, CAPTURES, RAW, SHARED
    groups = {group.__name__.lower(): group for group in (Answers, AnswersShared, Judge)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--testdata", required=True, type=Path)
    parser.add_argument("--raw", type=Path, help="what testdata/make_raw_captures.py wrote")
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared")
    parser.add_argument("-v", action="store_true", help="name each test")
    parser.add_argument("group", choices=groups)
    arguments = parser.parse_args()
    TOOL, RAW, SHARED = str(arguments.tool.resolve()), arguments.raw, arguments.shared.resolve()
    CAPTURES = arguments.testdata.resolve() / "captures"
    arguments.group = groups[arguments.group]
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
