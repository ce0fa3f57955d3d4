#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that every recipe and command gives the same numbers of one job in every format.

    run_twins.py --tool BINARY --testdata DIR [--raw DIR] GROUP [-v]

GROUP is one of the classes below: twins (tables of text and database of one run), parsed (tables of raw captures, and of
what `parse` makes of them as text and as database), twinanswers and parsedanswers (of the same, what compare, its gate and
advisor say), exporters (text of an older exporter; the numbers of the Python tool). support/same_tables.py lists what may
differ, with reasons.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import contextlib
import csv
import itertools
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from captures import build_database  # noqa: E402
from groups import parse_arguments, run_group  # noqa: E402
from same_tables import Results, differences, recipes_of  # noqa: E402

TOOL = CAPTURES = RAW = None  # set by main()


# What a screen may say that another has not: the line that names why, and what of the other lines is then not the same.
NAMED = {
    "all": (r"free \(profiler's table\).*", ""),  # its own number: the table of databases leaves out both ends
    "communication_time": (r"free \(profiler's table\).*", ""),
    "communication_matrix": (r"free \(profiler's table\).*", ""),
    "freq_analysis": (r"the clocks of the cores were not measured", ".+"),
    "slow_link": (r"no collectives can be compared: their sizes were not recorded", ".+"),
    "top_operators": (r"not recorded: busy units .*", r" (-|\w+ \d+ %)$"),
}


# Lines of what only some formats record.
UNSHARED = {"top_operators": r".*(hit the L2 cache|l2_victim_rate).*"}  # the profiler's database has no table of it


def told(recipe, result):
    """The lines of a screen, what of them may differ, and whether it names why something is missing."""
    reason, masked = NAMED.get(recipe, ("$", ""))
    lines = [line.strip() for line in result.screen if not re.fullmatch(UNSHARED.get(recipe, "$"), line)]
    names = any(re.fullmatch(reason, line) for line in lines)
    return [line for line in lines if not re.fullmatch(reason, line)], masked, names


def words(lines, masked):
    text = "\n".join(re.sub(masked, "", line) if masked else line for line in lines)
    return re.sub(r"\b(database|text|raw) capture", "capture", text).split()


def screens_agree(recipe, left, right):
    (lines, masked, names), (others, _, other_names) = told(recipe, left), told(recipe, right)
    if not (names or other_names):
        masked = ""
    return words(lines, masked) == words(others, masked)


class OneJob(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()

    def assert_agree(self, jobs, recipes=None):
        """jobs: {format: directory}; gives the recipes that made rows."""
        with_results = set()
        for recipe in recipes or recipes_of(TOOL):
            results = {form: Results(TOOL, recipe, job, self.options(recipe, job)) for form, job in jobs.items()}
            (first, reference), *others = results.items()
            for form, result in others:
                with self.subTest(recipe=recipe, formats=(first, form)):
                    self.assertEqual([*differences(reference, result)], [])
                    self.assertTrue(screens_agree(recipe, reference, result),
                                    "\n".join([*reference.screen, "--", *result.screen]))
            if any(rows for _, rows in reference.tables.values()):
                with_results.add(recipe)
        return with_results

    @staticmethod
    def options(recipe, job):
        return {"calibrate_npu_gpu": ["--baseline_profiling_path", CAPTURES / "gpu_base.json"],
                "cluster_time_compare_summary": ["--bp", job],
                "operator_mfu": ["--peak_tflops", "9"], "module_statistic": ["--peak_tflops", "9"]}.get(recipe, [])


def twin_job(form, scratch, twins="twin_"):
    """Two ranks of a run in one of its formats. `twins` begins the names of the captures. "older": text of an exporter whose overlap analysis begins with the first
    kernel or collective and ends with the last, beside a record of what the process took."""
    for rank, run in enumerate(("base", "new")):
        name = f"{twins}{'text' if form == 'older' else form}_{run}_ascend_pt"
        source = CAPTURES / name
        if not source.exists():
            source = build_database(CAPTURES, name, scratch)
        capture = scratch / twins / form / f"{rank}_ascend_pt"
        shutil.copytree(source, capture)
        for info in capture.glob("profiler_info*.json"):
            info.unlink()
        (capture / f"profiler_info_{rank}.json").write_text("{}", encoding="utf-8")
        if form == "older":
            as_older_exporter(capture / "ASCEND_PROFILER_OUTPUT")
    return scratch / twins / form


def as_older_exporter(output):
    trace = output / "trace_view.json"
    events = json.loads(trace.read_text(encoding="utf-8"))
    (analysis,) = [event["pid"] for event in events
                   if event["name"] == "process_name" and event["args"]["name"] == "Overlap Analysis"]
    times = [(float(event["ts"]), float(event["ts"]) + float(event["dur"])) for event in events
             if event["pid"] == analysis and event["ph"] == "X" and event["name"] != "Free"]
    first, last = min(begin for begin, _ in times), max(end for _, end in times)
    trace.write_text(json.dumps([event for event in events if not (
        event["pid"] == analysis and event["ph"] == "X" and not first <= float(event["ts"]) < last)]), encoding="utf-8")
    record = output / "memory_record.csv"
    rows = record.read_text(encoding="utf-8")
    if "\nAPP," not in rows:
        record.write_text(rows + "APP,1700000000060000.000\t,,2048.0,,,NPU:0\n", encoding="utf-8")


class Twins(OneJob):
    """Two ranks of a run, recorded in both formats at once."""

    # What these need is in one of the two only: summaries of steps and communication, calls of CANN, step numbers, counters.
    NOT_IN_BOTH = {"all", "communication_time", "communication_matrix", "communication_group_map", "communication_time_sum",
                   "cann_api_sum", "export_summary", "hardware"}

    def test_every_recipe(self):
        recipes = [recipe for recipe in recipes_of(TOOL) if recipe not in self.NOT_IN_BOTH]
        with_results = self.assert_agree({form: twin_job(form, self.scratch) for form in ("db", "text", "older")}, recipes)
        self.assertLessEqual({"module_statistic", "operator_mfu", "hccl_sum", "compute_op_sum", "free_analysis",
                              "communication_bottleneck", "computational_op_masking"}, with_results)


def parsed_jobs(name, scratch):
    """{format: directory} of a raw capture."""
    jobs = {}
    for form in ("db", "text", "raw"):
        jobs[form] = scratch / name / form
        shutil.copytree(RAW / name, jobs[form])
        if form != "raw":
            subprocess.run([TOOL, "parse", "-d", jobs[form], "--export_type", form, "-q"], check=True,
                           stdout=subprocess.DEVNULL)
    return jobs


class Parsed(OneJob):
    """A raw capture and both results of `parse`."""

    def jobs(self, name):
        return parsed_jobs(name, self.scratch)

    def test_every_recipe(self):
        # The former see below; traces round counters and lack some, which run_hardware.py tests.
        recipes = [recipe for recipe in recipes_of(TOOL) if recipe not in ("export_summary", "hardware")]
        with_results = self.assert_agree(self.jobs("stars"), recipes)
        # Kernels of captured graphs have no record of their operator; the profiler's database does not list them.
        for name in ("hwts", "no_queue", "head_hard"):
            self.assert_agree(self.jobs(name), recipes)
        self.assertLessEqual({"all", "module_statistic", "operator_mfu", "mstx_sum", "pp_chart"}, with_results)

    def exported(self, job):
        """{file: content} that export_summary writes of the databases in the job, of its only rank."""
        out = self.scratch / "out"
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run([TOOL, "-m", "export_summary", "-d", job, "-o", out, "-q"], check=True, stdout=subprocess.DEVNULL)
        return {path.name: path.read_bytes() for path in out.rglob("ExportSummary/*/*.csv")}

    def written(self, job):
        """The same of the files that parse wrote as text."""
        return {name: path.read_bytes() for name in ("kernel_details.csv", "api_statistic.csv")
                for path in job.rglob(f"ASCEND_PROFILER_OUTPUT/{name}")}

    def test_files_of_ranks_are_those_of_parse(self):
        """Byte by byte: of chips with separate cores, without, and where nothing recorded states and counters."""
        for name in ("stars", "hwts", "head_hard", "head_steady"):
            with self.subTest(name):
                jobs = self.jobs(name)
                written = self.written(jobs["text"])
                self.assertEqual(len(written), 2)
                self.assertEqual(self.exported(jobs["db"]), written)

    def test_files_of_ranks_at_level0(self):
        """No types, shapes and counters; the calls of CANN are recorded in databases alone."""
        jobs = {form: self.scratch / form for form in ("db", "text")}
        for form, job in jobs.items():
            shutil.copytree(RAW / "stars", job)
            for sample in job.rglob("sample.json"):
                sample.write_text(sample.read_text(encoding="utf-8").replace('"l1"', '"l0"'), encoding="utf-8")
            for info in job.rglob("profiler_info*.json"):
                info.write_text(info.read_text(encoding="utf-8").replace("Level1", "Level0"), encoding="utf-8")
            subprocess.run([TOOL, "parse", "-d", job, "--export_type", form, "-q"], check=True, stdout=subprocess.DEVNULL)
        written, exported = self.written(jobs["text"]), self.exported(jobs["db"])
        self.assertEqual([*written], ["kernel_details.csv"])
        self.assertNotIn(b"OP State", written["kernel_details.csv"])
        self.assertEqual(exported["kernel_details.csv"], written["kernel_details.csv"])
        self.assertIn("api_statistic.csv", exported)

    def test_the_use_of_cubes_needs_the_chip(self):
        """The database does not say how many cores the chip has: without info.json the column is left out."""
        job = self.jobs("stars")["db"]
        for info in job.rglob("info.json.*"):
            info.unlink()
        header = self.exported(job)["kernel_details.csv"].split(b"\r\n")[0]
        self.assertIn(b",aic_mac_ratio,", header)
        self.assertNotIn(b"cube_utilization", header)

    def test_files_of_ranks(self):
        """Raw captures have none: parse writes them."""
        jobs = self.jobs("stars")
        raw = jobs.pop("raw")
        self.assertEqual(self.assert_agree(jobs, ["export_summary"]), {"export_summary"})
        result = Results(TOOL, "export_summary", raw)
        self.assertEqual((result.code, result.tables), (3, {}))
        self.assertIn("'msprof-analyze parse' writes these files", result.errors)


class TwinAnswers(OneJob):
    """What people see of the formats of one run."""

    def formats(self):
        """Name and {format: directory} of the jobs. The device of the first begins with a copy."""
        for name, forms in (("", ("text", "older")), ("twin_", ("db", "text", "older"))):
            yield name, {form: twin_job(form, self.scratch, name) for form in forms}

    @staticmethod
    def capture(job):
        return sorted(job.glob("*_ascend_pt"))[0]

    def run_tool(self, *words):
        done = subprocess.run([TOOL, *words], check=False, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              timeout=120)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        return done.stdout

    def pairs(self):
        """Name, and captures of one rank in two formats."""
        for name, jobs in self.formats():
            for base, comparison in itertools.combinations(jobs, 2):
                yield f"{name} {base} {comparison}", self.capture(jobs[base]), self.capture(jobs[comparison])

    def test_comparisons(self):
        """Each number of the screen that both sides have is the same, and so is each of the sheets."""
        compared = set()
        for pair, base, comparison in self.pairs():
            with self.subTest(pair):
                screen = self.run_tool("compare", "-d", comparison, "-bp", base, "-o", self.scratch / "out", "-q")
                for line in screen.splitlines():
                    row = re.fullmatch(r"( *\S.*?)  +(\S+) +(\S+) +(\S+) +(\S+)", line)
                    if row and row[5] not in ("%", "N/A"):
                        self.assertEqual(row[2], row[3], line)
                        compared.add(row[1].strip())
                self.assertIn("\nend to end: no change\n", screen)
        self.assertLessEqual({"Computing", "Exposed communication", "Free between tasks", "End to end"}, compared)
        self.assertTrue([name for name in compared if name.startswith("Peak memory")])

    METRICS = ("step_time", "e2e", "computing", "comm_exposed", "comm_total", "copies", "free", "lccl", "peak_memory")

    def test_gates(self):
        decided = set()
        rules = [*itertools.chain.from_iterable(("--fail_on", f"{metric}>+0.01%") for metric in self.METRICS)]
        for pair, base, comparison in self.pairs():
            gate = json.loads(self.run_tool("compare", "-d", comparison, "-bp", base, *rules, "--min_steps", "1", "--json"))
            for metric in gate["metrics"]:
                with self.subTest(pair, metric=metric["name"]):
                    if metric["verdict"] == "inconclusive":
                        self.assertRegex(metric["reason"], "has no values|records of different allocators")
                    else:
                        self.assertEqual((metric["base"], metric["verdict"]), (metric["comparison"], "ok"))
                        decided.add(metric["name"])
        self.assertLessEqual({"step_time", "e2e", "computing", "free", "peak_memory"}, decided)

    def test_advisor(self):
        for name, jobs in self.formats():
            documents = {form: json.loads(self.run_tool("advisor", "all", "-d", job, "--json")) for form, job in jobs.items()}
            (first, reference), *others = documents.items()
            for form, document in others:
                with self.subTest(job=name, formats=(first, form)):
                    self.assertEqual(reference["step_ns"], document["step_ns"])
                    self.assertEqual(reference["accounting"], document["accounting"])

    def test_memory_has_one_name(self):
        """compare, the gate and memory_timeline say what the allocators reserved."""
        for name, jobs in self.formats():
            for form, job in jobs.items():
                capture = self.capture(job)
                itself = ("compare", "-d", capture, "-bp", capture)
                with self.subTest(job=name, format=form):
                    gate = json.loads(self.run_tool(*itself, "--fail_on", "peak_memory>+1%", "--json"))
                    peaks = [metric["base"] for metric in gate["metrics"] if metric["name"] == "peak_memory"]
                    self.assertEqual(peaks, [self.peak(form, jobs)])
                    screen = self.run_tool(*itself, "-o", self.scratch / "out", "-q")
                    shown = re.findall(r"^Peak memory reserved \((\w+)\) +(\S+)", screen, re.M)
                    self.assertEqual(shown, [amount(peaks[0])])
                    columns, rows = Results(TOOL, "memory_timeline", capture).tables["MemoryRanks"]
                    self.assertEqual([row[columns.index("mostReservedBytes")] for row in rows], peaks)

    def peak(self, form, jobs):
        """What all allocators reserved, by the sums that the profiler itself made: of two the rows "PTA+GE"."""
        if form == "db":
            (file,) = self.capture(jobs[form]).rglob("ascend_pytorch_profiler*.db")
            with contextlib.closing(sqlite3.connect(file)) as database:
                return database.execute("SELECT max(totalReserved) FROM MEMORY_RECORD").fetchone()[0]
        record = self.capture(jobs["text"]) / "ASCEND_PROFILER_OUTPUT" / "memory_record.csv"
        with open(record, newline="", encoding="utf-8") as rows:
            return max(round(float(row["Total Reserved(MB)"]) * 2**20) for row in csv.DictReader(rows)
                       if row["Component"] != "APP")


def amount(size):
    """Unit and number as screens have them."""
    unit, digits = next((unit, digits) for unit, digits in (("GB", 9), ("MB", 6), ("kB", 3)) if size >= 10**digits)
    whole = size / 10**digits
    return unit, f"{whole:.{3 if whole < 10 else 2 if whole < 100 else 1}f}"


class ParsedAnswers(TwinAnswers):
    """The same of a raw capture and both results of `parse`: of one chip the database lacks the memory of CANN."""

    def formats(self):
        for name in ("stars", "hwts"):
            yield name, parsed_jobs(name, self.scratch)


class Exporters(OneJob):
    """What an older exporter leaves out, and what the Python tool makes of it."""

    def words(self):
        older, text = (TwinAnswers.capture(twin_job(form, self.scratch, "")) for form in ("older", "text"))
        return "compare", "-d", older, "-bp", text

    def run_tool(self, *more):
        return subprocess.run([TOOL, *self.words(), *more], check=True, stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", timeout=60)

    def test_process(self):
        """What the process took is a row of its own, and nothing is said of the exporter."""
        done = self.run_tool("-o", self.scratch / "out")
        self.assertRegex(done.stdout, r"\nPeak memory reserved \(GB\) +1\.611 +1\.611 .*\n"
                                      r"Peak memory of process \(GB\) +2\.147 +2\.147 ")
        self.assertNotRegex(done.stdout + done.stderr, "exporter|overlap analysis|warning")

    def test_compat(self):
        """The times of the overlap analysis, and the largest row of memory_record.csv."""
        document = json.loads(self.run_tool("--enable_profiling_compare", "--compat", "--json").stdout)
        times = {row["index"]: (row["base_duration_ms"], row["comparison_duration_ms"])
                 for row in document["sheets"][0]["rows"]}
        self.assertEqual(times["E2E Time"], (1450, 1400))
        self.assertEqual(times["Free Time"], (898, 848))

    def test_compat_memory(self):
        screen = self.run_tool("--compat", "-o", self.scratch / "out", "-q").stdout
        self.assertEqual(re.findall(r" (\d\.\d\dG) ", screen), ["2.00G", "2.00G"])


def main():
    global TOOL, CAPTURES, RAW
    arguments = parse_arguments(__doc__, [*OneJob.__subclasses__(), *TwinAnswers.__subclasses__()])
    TOOL, CAPTURES, RAW = arguments.tool, arguments.captures, arguments.raw
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
