#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Raw captures on the command line: read as they are, and parsed.

    run_raw.py --tool BINARY --testdata DIR --raw DIR

--raw is where testdata/make_raw_captures.py wrote its captures. Exit status: 0 passed, 1 failed.
"""
import argparse
import csv
import json
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import msprof_output  # noqa: E402

ARGUMENTS = None  # set by main()
TIMEOUT_SECONDS = 60
TEXT_FILES = {"trace_view.json", "kernel_details.csv", "operator_details.csv", "op_statistic.csv",
              "api_statistic.csv", "step_trace_time.csv", "task_time.csv", "operator_memory.csv",
              "memory_record.csv", "npu_module_mem.csv", "communication.json",
              "communication_matrix.json", "hccs.csv", "pcie.csv", "nic.csv", "roce.csv",
              "l2_cache.csv"}
DATABASES = {"ascend_pytorch_profiler_0.db", "analysis.db"}
DONE_MARK = "analyse.done"
# Runs in which every kind of record occurs, on both families of chips.
RUNS = ("stars", "hwts")
ALL_RUNS = RUNS + ("no_queue", "head_steady", "head_hard")


class Raw(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()

    def tool(self, *arguments, code=0):
        done = subprocess.run([ARGUMENTS.tool, *arguments], check=False, cwd=self.scratch,
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def capture(self, run):
        """A capture of the run that may be written to."""
        (source,) = (ARGUMENTS.raw / run).glob("*_ascend_pt")
        copy = self.scratch / f"{run}_ascend_pt"
        shutil.copytree(source, copy)
        return copy

    def parsed(self, run, export_type):
        """The results of the run alone: nothing raw is beside them."""
        raw = self.capture(run)
        out = self.scratch / export_type
        self.tool("parse", "-d", raw, "-o", out, "--export_type", export_type)
        shutil.rmtree(raw)
        return out / raw.name

    def names(self, capture):
        return {path.name for path in (capture / "ASCEND_PROFILER_OUTPUT").iterdir()}


class SeveralCollections(Raw):
    """Several PROF_* directories in one capture."""

    def setUp(self):
        super().setUp()
        self.first, self.again = (self.capture(run) for run in ("stars", "stars_again"))
        self.both = self.scratch / "both_ascend_pt"
        shutil.copytree(self.first, self.both)
        (self.prof,) = self.again.glob("PROF_*")
        self.added = self.both / self.prof.name
        shutil.copytree(self.prof, self.added)

    def with_framework(self):
        for file in (self.again / "FRAMEWORK").iterdir():
            with open(self.both / "FRAMEWORK" / file.name, "ab") as both:
                both.write(file.read_bytes())

    def sheet(self, mode, capture, code=0):
        done = self.tool("-m", mode, "-d", capture, "--json", "-o", self.scratch / "out", code=code)
        return json.loads(done.stdout)["sheets"][0]["rows"], done.stderr

    def kernels(self, capture, code=0):
        """Of each type of operators the number and the time of its kernels."""
        rows, told = self.sheet("compute_op_sum", capture, code)
        return Counter({(row["op_type"], column): row[column] for row in rows for column in ("count", "sum_ns")}), told

    def change(self, pattern, old, new):
        found = [file for file in self.added.rglob(pattern) if file.is_file()]
        self.assertTrue(found)
        for file in found:
            text = file.read_text()
            self.assertIn(old, text)
            file.write_text(text.replace(old, new))

    def left_out(self, *said):
        kernels, told = self.kernels(self.both, 5)
        self.assertEqual(kernels, self.kernels(self.first)[0])
        for words in ("give each PROF_* alone", self.added.name, *said):
            self.assertIn(words, told)

    def test_those_that_follow_each_other_are_read(self):
        self.with_framework()
        kernels, told = self.kernels(self.both, 5)
        self.assertEqual(kernels, self.kernels(self.first)[0] + self.kernels(self.again)[0])
        (end,) = self.first.glob("PROF_*/host/end_info")
        begin = json.loads((self.prof / "host/start_info").read_text())["collectionTimeBegin"]
        pause = (int(begin) - int(json.loads(end.read_text())["collectionTimeEnd"])) // 1000
        self.assertRegex(told, r"the profiler was started several times, all PROF_\* are read; the time between them "
                               r"counts as free, in the step before it and end to end; .* "
                               rf"\({pause} ms before {self.prof.name}\)")
        steps = {row["step"]: row for row in self.sheet("cluster_time_summary", self.both, 5)[0]}
        self.assertEqual(set(steps), {3, 4, 5, 6})
        apart = (row for capture in (self.first, self.again)
                 for row in self.sheet("cluster_time_summary", capture)[0])
        for row in apart:
            for column in ("computation", "communication", "memory"):
                self.assertEqual(steps[row["step"]][column], row[column], (row["step"], column))
            if row["step"] != 4:  # after which the profiler was off
                self.assertEqual(steps[row["step"]], row)

    def test_every_command_names_the_pause(self):
        """Also those that read what was parsed from it."""
        self.with_framework()
        out = self.scratch / "out"
        for export_type in ("text", "db"):
            self.tool("parse", "-d", self.both, "-o", self.scratch / export_type, "--export_type", export_type, code=5)
        for capture, said in ((self.both, "the profiler was started several times"),
                              (self.scratch / "text" / self.both.name, "nothing was recorded between two steps"),
                              (self.scratch / "db" / self.both.name, "nothing was recorded between two steps")):
            for command in (["-m", "cluster_time_summary"], ["-m", "free_analysis"], ["advisor", "all"],
                            ["compare", "-bp", self.first], ["compare", "-bp", self.first, "--fail_on", "e2e>1%"]):
                done = self.tool(*command, "-d", capture, "-o", out, code=5)
                self.assertIn(said, done.stderr, command)

    def test_modules_have_the_work_of_both(self):
        self.with_framework()

        def modules(capture, code=0):
            done = self.tool("compare", "-d", capture, "-bp", capture, "--json", "-o", self.scratch / "out",
                             "--enable_operator_compare", code=code)
            rows = next(sheet["rows"] for sheet in json.loads(done.stdout)["sheets"]
                        if sheet["name"] == "ModuleCompareStatistic")
            return Counter({(row["module_name"], row["operator_name"]): round(1e6 * row["base_device_total_time_ms"])
                            for row in rows if row["base_device_total_time_ms"]})
        self.assertEqual(modules(self.both, 5), modules(self.first) + modules(self.again))

    def test_the_order_of_the_names_does_not_matter(self):
        self.with_framework()
        whole = self.kernels(self.both, 5)[0]
        self.added.rename(self.both / "PROF_000000_20250101000000000_A")
        self.assertEqual(self.kernels(self.both, 5)[0], whole)

    def test_parsed(self):
        self.with_framework()
        self.tool("parse", "-d", self.both, "-o", self.scratch / "parsed", "--export_type", "text", code=5)
        output = self.scratch / "parsed" / self.both.name / "ASCEND_PROFILER_OUTPUT"
        with open(output / "kernel_details.csv", newline="") as file:
            times = [float(row["Start Time(us)"]) for row in csv.DictReader(file)]
        self.assertEqual(times, sorted(times))
        later = [time for time in times if time > times[0] + 5e6]
        for capture, rows in ((self.first, len(times) - len(later)), (self.again, len(later))):
            self.tool("parse", "-d", capture, "-o", self.scratch / "parsed", "--export_type", "text")
            alone = self.scratch / "parsed" / capture.name / "ASCEND_PROFILER_OUTPUT/kernel_details.csv"
            self.assertEqual(rows, len(alone.read_text().splitlines()) - 1)

    def test_other_devices(self):
        (device,) = self.added.glob("device_0")
        for file in device.glob("*.0"):
            file.rename(file.with_suffix(".1"))
        device.rename(self.added / "device_1")
        self.left_out("it is of another device", ": device 1 in place of 0")

    def test_other_processes(self):
        self.change("info.json*", '"pid": "4400"', '"pid": "4401"')
        self.left_out("it is of another process", ": process 4401 in place of 4400")

    def test_two_of_one_time(self):
        shutil.rmtree(self.added)
        (prof,) = self.first.glob("PROF_*")
        shutil.copytree(prof, self.added)
        self.left_out("it is of the time of the one before")

    def test_damaged_control_files(self):
        for name in ("start_info", "end_info", "info.json", "host_start.log"):
            for file in self.added.rglob(f"{name}*"):
                file.write_text("{")
        kernels, told = self.kernels(self.both, 5)
        self.assertEqual(kernels, self.kernels(self.first)[0])
        self.assertIn(f"{self.added}: ", told)

    def test_check_tells_the_same(self):
        told = self.tool("check", self.both, code=0).stdout
        self.assertIn("the profiler was started several times", " ".join(told.split()))
        self.assertIn("-> give each PROF_* alone", told)


class Parse(Raw):
    def test_writes_the_files_of_the_profiler(self):
        capture = self.capture("stars")
        self.tool("parse", "-d", capture)
        self.assertEqual(self.names(capture), TEXT_FILES | DATABASES | {DONE_MARK})

    def test_writes_what_is_asked_for(self):
        for export_type, files in (("text", TEXT_FILES), ("db", DATABASES)):
            capture = self.parsed("stars", export_type)
            self.assertEqual(self.names(capture), files | {DONE_MARK})
            self.assertTrue((capture / "profiler_info_0.json").is_file())

    def test_keeps_results_that_are_there(self):
        capture = self.capture("stars")
        results = capture / "ASCEND_PROFILER_OUTPUT"
        results.mkdir()
        (results / "notes.txt").write_text("mine")
        (results / "op_statistic.csv").write_text("old")
        self.assertIn("--force", self.tool("parse", "-d", capture, code=2).stderr)
        self.assertEqual(self.names(capture), {"notes.txt", "op_statistic.csv"})
        self.tool("parse", "-d", capture, "--force", "--export_type", "text")
        self.assertEqual(self.names(capture), TEXT_FILES | {DONE_MARK, "notes.txt"})
        self.assertEqual((results / "notes.txt").read_text(), "mine")
        self.assertTrue((results / "op_statistic.csv").read_text().startswith("Device_id"))

    def test_all_captures_below_a_directory(self):
        for rank in "01":
            shutil.copytree(self.capture("stars"), self.scratch / "job" / f"r{rank}_ascend_pt")
            shutil.rmtree(self.scratch / "stars_ascend_pt")
        self.tool("parse", "-d", "job", "-o", "out", "--export_type", "db")
        for rank in "01":
            self.assertEqual(self.names(self.scratch / "out" / f"r{rank}_ascend_pt"),
                             DATABASES | {DONE_MARK})

    def test_jobs_change_nothing(self):
        capture = self.capture("stars")
        for jobs in ("1", "4"):
            self.tool("parse", "-d", capture, "-o", f"out{jobs}", "--jobs", jobs)
        one, four = (self.scratch / f"out{jobs}" / capture.name / "ASCEND_PROFILER_OUTPUT"
                     for jobs in ("1", "4"))
        for name in TEXT_FILES | DATABASES:
            self.assertEqual((one / name).read_bytes(), (four / name).read_bytes(), name)

    def test_the_name_of_a_capture_decides_nothing(self):
        capture = self.capture("stars")
        self.tool("parse", "-d", capture)
        expected = self.names(capture)
        for driver in ("PROF_", "driver"):
            renamed = self.scratch / "job" / f"with_{driver}"
            shutil.copytree(capture, renamed)
            shutil.rmtree(renamed / "ASCEND_PROFILER_OUTPUT")
            if driver != "PROF_":
                (prof,) = renamed.glob("PROF_*")
                prof.rename(renamed / driver)
        self.tool("parse", "-d", self.scratch / "job")
        for renamed in (self.scratch / "job").iterdir():
            self.assertEqual(self.names(renamed), expected)
            for name in TEXT_FILES:
                self.assertEqual((renamed / "ASCEND_PROFILER_OUTPUT" / name).read_bytes(),
                                 (capture / "ASCEND_PROFILER_OUTPUT" / name).read_bytes(), name)

    def test_what_feeds_what_is_told_on_demand(self):
        capture = self.capture("stars")
        self.assertNotIn("op_range", self.tool("parse", "-d", capture).stderr)
        told = self.tool("parse", "-d", capture, "--force", "-v").stderr
        for file in ("torch.op_range", "stars_soc.data", "api_event.data", "hash_dic"):
            self.assertRegex(told, f"{file}.*: its (records|texts) are read")
        for name in TEXT_FILES | DATABASES:
            self.assertIn(f"{name}: made from ", told)

    def test_tables_are_utf_8_whatever_the_records_hold(self):
        capture = self.capture("stars")
        (texts,) = capture.glob("PROF_*/host/data/*hash_dic.slice_0")
        texts.write_bytes(texts.read_bytes().replace(b"MatMul", b"Mat\xffMu"))
        operators = capture / "FRAMEWORK" / "torch.op_range"
        operators.write_bytes(operators.read_bytes().replace(b"aten::cat", b"aten::\xfeat"))
        self.tool("parse", "-d", capture, "--export_type", "text")
        results = capture / "ASCEND_PROFILER_OUTPUT"
        for name in TEXT_FILES:
            (results / name).read_text(encoding="utf-8")
        for name, text in (("kernel_details.csv", "Mat\N{REPLACEMENT CHARACTER}Mu"),
                           ("operator_details.csv", "aten::\N{REPLACEMENT CHARACTER}at")):
            self.assertIn(text, (results / name).read_text(encoding="utf-8"))

    def test_what_is_cut_off_is_told(self):
        capture = self.capture("stars")
        (calls,) = capture.glob("PROF_*/host/data/aging.api_event.data.slice_0")
        calls.write_bytes(calls.read_bytes()[:-7])
        done = self.tool("parse", "-d", capture, code=5)
        self.assertIn("cut off", done.stderr)
        self.assertIn("api_event", done.stderr)
        self.assertEqual(self.names(capture), TEXT_FILES | DATABASES | {DONE_MARK})

    def test_lines_of_dictionaries_that_are_no_entries_are_told(self):
        for name in ("hash_dic", "type_info_dic"):
            capture = self.capture("stars")
            (texts,) = capture.glob(f"PROF_*/host/data/*{name}.slice_0")
            content = bytearray(texts.read_bytes())
            begin = content.index(b"\n", len(content) // 2) + 1
            content[begin:begin + 3] = b"\xff" * 3
            texts.write_bytes(content)
            self.assertIn("texts are lost", self.tool("parse", "-d", capture, code=5).stderr)
            shutil.rmtree(capture)

    def test_broken_samples_are_told(self):
        for name, told in (("hccs", "cut off inside a line"), ("nic", "cut off inside a line"),
                           ("pcie", "cut off inside a record"), ("hbm", "cut off inside a record")):
            with self.subTest(name=name):
                capture = self.capture("stars")
                last = max(capture.glob(f"PROF_*/device_0/data/{name}.data.*.slice_?"))
                last.write_bytes(last.read_bytes()[:-7])
                stderr = self.tool("parse", "-d", capture, "--export_type", "text", code=5).stderr
                self.assertIn(told, stderr)
                self.assertIn(f"{name}.data", stderr)
                shutil.rmtree(capture)

    def test_documents_elsewhere_are_neither_read_nor_copied(self):
        for name in ("profiler_info_0.json", "profiler_metadata.json", "profiler_notes.json"):
            with self.subTest(name=name):
                capture = self.capture("stars")
                secret = self.scratch / "secret.json"
                secret.write_text('{"rank_id": 7}')
                (capture / name).unlink(missing_ok=True)
                (capture / name).symlink_to(secret)
                for command in ("parse",), ("compare", "-bp", capture), ("-m", "module_statistic"):
                    done = self.tool(*command, "-d", capture, "-o", self.scratch / "out", code=3)
                    self.assertIn("leads out of the capture, to ", done.stderr)
                self.assertFalse(any((self.scratch / "out").rglob("profiler_*")))
                shutil.rmtree(capture)

    def test_nothing_to_parse(self):
        (self.scratch / "x_ascend_pt").mkdir()
        self.assertIn("no raw data", self.tool("parse", "-d", "x_ascend_pt", code=3).stderr)
        self.assertIn("missing", self.tool("parse", "-d", "missing", code=3).stderr)

    def test_an_output_that_cannot_be_made(self):
        (self.scratch / "out").write_text("a file")
        self.assertIn("out", self.tool("parse", "-d", self.capture("stars"), "-o", "out/below",
                                       code=6).stderr)


class FromMsprof(Raw):
    """What export_summary makes of what CANN's msprof exported of a run: what parse writes of its records."""

    def rows(self, directory, name):
        with open(directory / name, encoding="utf-8", newline="") as file:
            return [{key: value for key, value in row.items() if key != "Step Id"} for row in csv.DictReader(file)]

    def test_it_is_what_parse_writes(self):
        for run in RUNS:
            with self.subTest(run=run):
                parsed = self.parsed(run, "text")
                prof = msprof_output.export(parsed, self.scratch / run / "PROF_000001_20260225061520123_ABCDEFGH")
                out = self.scratch / f"{run}_exported"
                self.tool("-m", "export_summary", "-d", prof, "-o", out)
                (of_rank,) = (out / "cluster_analysis_output/ExportSummary").iterdir()
                for name in ("kernel_details.csv", "api_statistic.csv"):
                    expected = self.rows(parsed / "ASCEND_PROFILER_OUTPUT", name)
                    self.assertGreater(len(expected), 10)
                    self.assertEqual(self.rows(of_rank, name), expected, name)


class MindSpore(Raw):
    """Captures of MindSpore: the driver's data as from PyTorch, FRAMEWORK in a format of its own."""

    def capture_of_mindspore(self, name="stars_ascend_ms"):
        capture = self.capture("stars")
        for file in (capture / "FRAMEWORK").iterdir():
            file.unlink()
        (capture / "FRAMEWORK" / "mindspore.op_range").write_bytes(bytes(100))
        settings = json.loads((capture / "profiler_info_0.json").read_text())
        del settings["torch_npu_version"]
        (capture / "profiler_info_0.json").write_text(json.dumps(settings))
        return capture.rename(capture.with_name(name))

    def columns(self, database, table):
        with closing(sqlite3.connect(database)) as connection:
            return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]

    def test_results_have_its_names(self):
        for name in "stars_ascend_ms", "renamed":
            with self.subTest(name=name):
                capture = self.capture_of_mindspore(name)
                told = self.tool("parse", "-d", capture).stderr
                self.assertIn("recorded but not read: mindspore_op_range", told)
                names = self.names(capture)
                self.assertEqual({name for name in names if name.endswith(".db")},
                                 {"ascend_mindspore_profiler_0.db", "communication_analyzer.db"})
                self.assertIn("kernel_details.csv", names)
                self.assertIn("communication.json", names)
                self.assertNotIn("task_time.csv", names)
                shutil.rmtree(capture)

    def test_tables_of_collectives_have_no_steps(self):
        capture = self.capture_of_mindspore()
        self.tool("parse", "-d", capture, "--export_type", "db")
        database = capture / "ASCEND_PROFILER_OUTPUT" / "communication_analyzer.db"
        self.assertEqual(self.columns(database, "CommAnalyzerTime"), [
            "hccl_op_name", "group_name", "start_timestamp", "elapse_time", "transit_time",
            "wait_time", "synchronization_time", "idle_time"])
        self.assertEqual(self.columns(database, "CommAnalyzerMatrix"), [
            "hccl_op_name", "group_name", "src_rank", "dst_rank", "transport_type",
            "transit_size", "transit_time", "bandwidth"])
        self.assertEqual(self.columns(database, "StepTraceTime"), [])
        with closing(sqlite3.connect(database)) as connection:
            for table in "CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix":
                ((rows,),) = connection.execute(f"SELECT COUNT(*) FROM {table}")
                self.assertGreater(rows, 0, table)

    def test_check_names_the_framework(self):
        page = self.tool("check", "-d", self.capture_of_mindspore("renamed")).stdout
        self.assertRegex(page, r"framework +MindSpore")


class CapturedGraphs(Raw):
    def parsed_run(self):
        truth = json.loads((ARGUMENTS.raw / "captured_graphs" / "truth.json").read_text())
        capture = self.capture("captured_graphs")
        self.tool("parse", "-d", capture)
        return truth, capture / "ASCEND_PROFILER_OUTPUT"

    def test_kernels_of_every_run(self):
        truth, results = self.parsed_run()
        with open(results / "kernel_details.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(
            [(row["Name"], row["Type"], row["Accelerator Core"], row["Model ID"],
              row["Input Shapes"]) for row in rows],
            [(kernel["name"], kernel["op_type"], kernel["core"], str(kernel["model"]),
              kernel["inputs"]) for kernel in truth["captured_kernels"]])

    def test_data_preprocess(self):
        """As the profiler's own parser writes it."""
        truth, results = self.parsed_run()
        lines = (results / "data_preprocess.csv").read_text().splitlines()
        self.assertEqual(lines[0], "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),"
                                   "Task_time(us),Dispatch_time(us),Total_time(us),Stream ID,"
                                   "Task ID")
        expected = [f"0,{kernel['start_ns'] // 1000}.{kernel['start_ns'] % 1000:03}\t,"
                    f"{kernel['name']},12.0,5.0,32.0,3.0,35.0,{kernel['stream']},{kernel['task']}"
                    for kernel in sorted(truth["ai_cpu"], key=lambda one: one["start_ns"])]
        self.assertEqual(lines[1:], expected)

    def test_queues_of_input_data(self):
        """As the profiler's own parser writes them, with all decimals of the times."""
        _, results = self.parsed_run()
        self.assertEqual((results / "dp.csv").read_text().splitlines(), [
            "Device_id,Timestamp(us),Action,Source,Cached Buffer Size",
            "0,1735689600019000.000,queue dequeue,iterator_default,131",
            '0,1735689600020500.000,queue dequeue,"prompts, new",130'])

    def test_kernels_that_arrange_collectives_have_a_table(self):
        _, results = self.parsed_run()
        with closing(sqlite3.connect(results / "ascend_pytorch_profiler_0.db")) as connection:
            names = connection.execute(
                "SELECT DISTINCT value FROM COMMUNICATION_SCHEDULE_TASK_INFO "
                "JOIN STRING_IDS ON STRING_IDS.id = name").fetchall()
            models = connection.execute("SELECT DISTINCT modelId FROM TASK ORDER BY 1").fetchall()
        self.assertEqual(names, [("AllGatherMatmul_4",)])
        self.assertEqual(models, [(6,), (7,)])


class Agreement(Raw):
    """A run says the same raw and parsed."""

    def story(self, capture):
        """The sheets of a comparison with another run, without the paths."""
        (other,) = (ARGUMENTS.raw / "stars_odd_clock").glob("*_ascend_pt")
        done = self.tool("compare", "-d", capture, "-bp", other, "--json")
        return json.loads(done.stdout.replace(str(capture), "CAPTURE"))["sheets"]

    def tables(self, recipe, capture):
        out = self.scratch / "tables"
        self.tool("-m", recipe, "-d", capture, "-o", out, "--export_type", "json")
        (document,) = out.glob(f"cluster_analysis_output/*/{recipe}.json")
        tables = json.loads(document.read_text().replace(str(capture), "CAPTURE"))["sheets"]
        shutil.rmtree(out)
        return tables

    def test_compare(self):
        for run in RUNS:
            with self.subTest(run):
                raw = self.story(self.capture(run))
                shutil.rmtree(self.scratch / f"{run}_ascend_pt")
                self.assertEqual(raw, self.story(self.parsed(run, "text")))
                shutil.rmtree(self.scratch / "text")

    def test_raw_against_parsed_differs_in_nothing(self):
        parsed = self.parsed("stars", "text")
        done = self.tool("compare", "-d", self.capture("stars"), "-bp", parsed, "--json")
        for sheet in json.loads(done.stdout)["sheets"]:
            for row in sheet["rows"]:
                for key, value in row.items():
                    if key.endswith("diff_ms") or key == "diff":
                        self.assertIn(value, (0, None), (sheet["name"], row))

    def test_recipes(self):
        for recipe in ("module_statistic", "operator_mfu"):
            with self.subTest(recipe):
                raw = self.capture("stars")
                expected = self.tables(recipe, raw)
                out = self.scratch / "parsed"
                self.tool("parse", "-d", raw, "-o", out, "--export_type", "db")
                parsed = out / raw.name
                # The chip is described beside the raw data.
                for directory in raw.glob("PROF_*/device_0"):
                    target = parsed / directory.relative_to(raw)
                    target.mkdir(parents=True)
                    shutil.copy(directory / "info.json.0", target)
                self.assertEqual(expected, self.tables(recipe, parsed))
                shutil.rmtree(raw)
                shutil.rmtree(out)

    def head_of(self, capture):
        done = self.tool("cluster", "-m", "head_overhead", "-d", capture, "-o", "head", "--force", "-v")
        # The parsed captures do not tell their rank and level.
        lines = re.sub(r"\s+", " ", done.stdout)  # which are wrapped behind the rank
        label = f"rank {capture.name.removesuffix('_ascend_pt')}"
        return lines.replace(label, "rank 0").replace("raw capture, Level1", "text capture")

    def test_compiled_graphs(self):
        for run in ("head_steady", "head_hard"):
            with self.subTest(run):
                parsed = ARGUMENTS.testdata / "captures" / f"{run}_ascend_pt"
                self.assertEqual(self.head_of(self.capture(run)), self.head_of(parsed))


class Operators(Raw):
    """A run has the same operators raw, in text files and in databases, and they are those of its
    process."""

    def sheets(self, capture, *options):
        """Sheet -> rows of texts and numbers, those of one side."""
        done = self.tool("compare", "-d", capture, "-bp", capture, "--enable_operator_compare",
                         "--enable_memory_compare", "--enable_api_compare", "--json", *options)
        return {sheet["name"]: [{key: self.told(row[key]) for key in sheet["columns"]
                                 if not key.startswith("comparison_")} for row in sheet["rows"]]
                for sheet in json.loads(done.stdout)["sheets"]}

    @staticmethod
    def told(cell):
        """A cell without what formats number and name differently: tasks, the types of copies, and
        what CANN allocated."""
        if not isinstance(cell, str):
            return cell
        cell = re.sub(r"MEMCPY_ASYNC, \d+, \w+", "MEMCPY_ASYNC", cell)
        return re.sub(r", (\d+|None), (?=[A-Z])", ", ", cell).replace("cann::", "")

    def formats(self, run):
        """The run as text files, as a database, and raw."""
        shutil.rmtree(self.scratch)
        self.scratch.mkdir()
        for export_type in ("text", "db"):
            yield self.parsed(run, export_type)
        yield self.capture(run)

    def test_formats_agree(self):
        for run in ALL_RUNS:
            for options in ((), ("--disable_module",)):
                with self.subTest(run=run, options=options):
                    text, database, raw = (self.sheets(capture, *options)
                                           for capture in self.formats(run))
                    self.assertGreater(len(text["ApiCompare"]), 1)
                    self.assertEqual(text, raw)
                    self.assertEqual(text, database)

    def test_formats_agree_to_the_nanosecond(self):
        """Ticks of this run are no whole nanoseconds, as the times in databases are."""
        text, database, raw = (self.device_times(capture)
                               for capture in self.formats("stars_odd_clock"))
        self.assertEqual(text.keys(), raw.keys())
        self.assertEqual(text.keys(), database.keys())
        for name, (time, calls, works) in text.items():
            self.assertEqual(raw[name][1:], (calls, works), name)
            self.assertAlmostEqual(raw[name][0], time, delta=1e-12, msg=name)  # 16 digits of text
            self.assertEqual(database[name][1:], (calls, works), name)
            self.assertAlmostEqual(database[name][0], time, delta=works * 1e-6, msg=name)

    def test_they_have_the_work_that_they_launched(self):
        for run in RUNS + ("no_queue",):
            truth = json.loads((ARGUMENTS.raw / run / "truth.json").read_text())
            for capture in self.formats(run):
                with self.subTest(run=run, capture=capture):
                    found = {name: (round(time * 1e6), calls, works)
                             for name, (time, calls, works) in self.device_times(capture).items()}
                    self.assertEqual(found, self.truly_launched(truth))

    def device_times(self, capture):
        """Name of an operator -> device time in ms, calls, how many kernels, copies and
        collectives."""
        sheets = self.sheets(capture, "--disable_module")
        works = Counter()
        for row in sheets["OperatorCompare"]:
            works[row["base_operator_name"]] += row["base_kernel_details"].count("[duration: ")
        return {row["operator_name"]: (row["base_device_duration_ms"],
                                       row["base_operator_number"], works[row["operator_name"]])
                for row in sheets["OperatorCompareStatistic"]}

    @staticmethod
    def truly_launched(truth):
        """The same from what is in the capture."""
        ops = truth["host_ops"]

        def is_outermost(op):
            return op["parent"] is None or ops[op["parent"]]["name"].startswith("ProfilerStep#")

        def outermost(op):
            return op if is_outermost(op) else outermost(ops[op["parent"]])

        calls = Counter(op["name"] for op in ops if is_outermost(op))
        works, times = Counter(), Counter()
        copies = [task for task in truth["tasks"] if task["host_task_type"] == "MEMCPY_ASYNC"]
        for work in truth["kernels"] + copies + truth["collectives"]:
            if work["op"] is None:
                continue
            name = outermost(ops[work["op"]])["name"]
            works[name] += 1
            times[name] += work["end_ns"] - work["start_ns"]
        return {name: (times[name], calls[name], works[name]) for name in calls
                if not name.startswith("ProfilerStep#")}


class ListedTensors(Raw):
    """torch.param_tensor_info says what memory from before the capture is."""

    MB = 1 << 20

    def raise_totals(self, file):
        """100 MB more were allocated before."""
        data, at = bytearray(file.read_bytes()), 0
        while at < len(data):
            (length,) = struct.unpack_from("<I", data, at + 2)
            (total,) = struct.unpack_from("<q", data, at + 6 + 24)
            struct.pack_into("<q", data, at + 6 + 24, total + 100 * self.MB)
            at += 6 + length
        file.write_bytes(data)

    def test_parameters_gradients_and_states(self):
        def field(kind, value):
            return struct.pack("<HI", kind, len(value)) + value

        def tensor(number):
            return f"0x{number:x};0x{number << 20:x};float;4;10,262144;262144,1;20;0"  # 10 MB
        capture = self.capture("stars")
        self.raise_totals(capture / "FRAMEWORK/torch.memory_usage")
        module = f"weight){tensor(101)}){tensor(102)}"
        optimizer = f"{tensor(101)}){tensor(102)})exp_avg>{tensor(103)}]exp_avg_sq>{tensor(104)}]"
        (capture / "FRAMEWORK/torch.param_tensor_info").write_bytes(
            field(5, struct.pack("<Q", 1) + field(2, module.encode())) +
            field(5, struct.pack("<Q", 2) + field(3, optimizer.encode())))
        done = self.tool("-m", "memory_timeline", "-d", capture, "-o", "tables", "--json")
        self.assertNotIn("not read", done.stderr)
        (rank,) = next(sheet["rows"] for sheet in json.loads(done.stdout)["sheets"] if sheet["name"] == "MemoryRanks")
        found = {name: rank[f"{name}_bytes"] // self.MB for name in (
            "parameter", "gradient", "optimizer_state", "before_capture", "held_before", "held_before_explained")}
        self.assertEqual(found, {"parameter": 10, "gradient": 10, "optimizer_state": 20, "before_capture": 60,
                                 "held_before": 100, "held_before_explained": 40})
        self.assertEqual(rank["kinds_from"], "listed tensors")


class Kinds(Raw):
    """Records that nothing reads are named."""

    def with_more(self):
        """A capture with two kinds that are not read, one of them empty, and an unknown file."""
        capture = self.capture("stars")
        (data,) = capture.glob("PROF_*/device_0/data")
        (data / "dvpp.data.0.slice_0").write_bytes(bytes(64))
        (data / "tscpu.data.0.slice_0").write_bytes(b"")
        (data / "novelty.data.0.slice_0").write_bytes(bytes(64))
        return capture

    def test_in_one_line_that_costs_nothing(self):
        capture = self.with_more()
        for command in ("parse", "-d", capture), ("compare", "-d", capture, "-bp", capture), \
                ("-m", "module_statistic", "-d", capture, "-o", "tables"), \
                ("compare", "-d", capture, "-bp", self.scratch / "base_ascend_pt", "--fail_on",
                 "step_time>+3%", "--min_steps", "2"):
            with self.subTest(command=command):
                shutil.rmtree(self.scratch / "base_ascend_pt", ignore_errors=True)
                (source,) = (ARGUMENTS.raw / "stars").glob("*_ascend_pt")
                shutil.copytree(source, self.scratch / "base_ascend_pt")
                told = self.tool(*command, *(["--raw"] if command[0] != "parse" else [])).stderr
                lines = [line for line in told.splitlines() if "not read" in line]
                self.assertEqual(len(lines), 1, told)
                self.assertIn("recorded but not read: dvpp; files of unknown kinds: "
                              "novelty.data.0.slice_0", lines[0])

    def test_only_where_there_are_any(self):
        self.assertNotIn("not read", self.tool("parse", "-d", self.capture("stars")).stderr)

    def test_missing_work_of_the_device_makes_the_results_partial(self):
        capture = self.capture("stars")
        (data,) = capture.glob("PROF_*/host/data")
        (data / "aging.compact.dpu_track.slice_0").write_bytes(bytes(64))
        told = self.tool("parse", "-d", capture, code=5).stderr
        self.assertIn("recorded but not read: dpu_track", told)

    def test_early_names_of_the_task_log(self):
        capture = self.capture("hwts")
        self.tool("parse", "-d", capture, "-o", "expected", "--export_type", "text")
        (data,) = capture.glob("PROF_*/device_0/data")
        before = "hwts.data.0.slice_"
        for early in "hwts.log.data.45.dev.profiler_default_tag.0.slice_", "hwts.log.data.45.0.":
            with self.subTest(name=early):
                for log in list(data.glob(f"{before}*")):
                    log.rename(data / log.name.replace(before, early))
                before = early
                self.tool("parse", "-d", capture, "-o", early, "--export_type", "text")
                for name in "kernel_details.csv", "trace_view.json":
                    path = Path(capture.name) / "ASCEND_PROFILER_OUTPUT" / name
                    self.assertEqual((self.scratch / early / path).read_bytes(),
                                     (self.scratch / "expected" / path).read_bytes())

    def test_check_lists_them(self):
        capture = self.with_more()
        page = self.tool("check", "-d", capture).stdout
        self.assertRegex(page, r"records read +api_event, type_info_dic")
        self.assertRegex(page, r"not read +dvpp\n")
        self.assertRegex(page, r"unknown files +novelty.data.0.slice_0\n")
        (rank,) = json.loads(self.tool("check", "-d", capture, "--json").stdout)["ranks"]
        kinds = {kind["kind"]: kind for kind in rank["records"]["kinds"]}
        self.assertEqual(kinds["dvpp"], {
            "side": "device", "kind": "dvpp", "holds": "engines for pictures and videos",
            "read": False, "files": 1, "bytes": 64})
        self.assertTrue(kinds["torch_op_range"]["read"])
        self.assertNotIn("tscpu", kinds)
        self.assertEqual(rank["records"]["unknown_count"], 1)
        (unknown,) = rank["records"]["unknown_files"]
        self.assertTrue(unknown.endswith("device_0/data/novelty.data.0.slice_0"))

    def test_check_of_a_full_directory_fits_a_screen(self):
        capture = self.capture("stars")
        (data,) = capture.glob("PROF_*/device_0/data")
        for index in range(500):
            (data / f"novelty{index}").write_bytes(b"x")
        page = self.tool("check", "-d", capture).stdout
        self.assertIn("492 more", page)
        self.assertLess(page.count("\n"), 60)


class Choice(Raw):
    def kind(self, *arguments):
        return json.loads(self.tool("check", *arguments, "--json").stdout)["ranks"][0]["kind"]

    def test_raw_data_of_a_parsed_capture_is_read_on_demand(self):
        capture = self.capture("stars")
        self.tool("parse", "-d", capture, "--export_type", "text")
        self.assertEqual(self.kind("-d", capture), "npu_text")
        self.assertEqual(self.kind("-d", capture, "--raw"), "npu_raw")
        shutil.rmtree(capture / "ASCEND_PROFILER_OUTPUT")
        self.assertEqual(self.kind("-d", capture), "npu_raw")

    def test_renamed_captures_say_the_same(self):
        capture = self.capture("stars")
        for driver in ("PROF_", "driver"):
            with self.subTest(driver=driver):
                renamed = self.scratch / f"with_{driver}"
                shutil.copytree(capture, renamed)
                if driver != "PROF_":
                    (prof,) = renamed.glob("PROF_*")
                    prof.rename(renamed / driver)
                pages = [self.tool("check", "-d", path, "--json").stdout
                         .replace(str(path), "CAPTURE") for path in (capture, renamed)]
                self.assertEqual(*map(json.loads, pages))
                tables = []
                for path in (capture, renamed):
                    self.tool("-m", "module_statistic", "-d", path, "-o", "tables",
                              "--export_type", "json")
                    (table,) = (self.scratch / "tables").rglob("module_statistic.json")
                    tables.append(json.loads(table.read_text().replace(str(path), "CAPTURE")))
                    shutil.rmtree(self.scratch / "tables")
                self.assertEqual(tables[0]["sheets"], tables[1]["sheets"])

    def test_the_directory_of_the_driver_alone(self):
        (driver,) = self.capture("stars").glob("PROF_*")
        page = self.tool("check", "-d", driver).stdout
        self.assertIn("raw, not parsed", page)
        self.tool("compare", "-d", driver, "-bp", driver, "--enable_kernel_compare", "--json")

    def test_a_gate_judges_raw_captures(self):
        capture = self.capture("stars")
        done = self.tool("compare", "-d", capture, "-bp", capture, "--fail_on", "step_time>+3%",
                         "--min_steps", "2")
        self.assertIn("OK", done.stdout)


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("--tool", "--testdata", "--raw"):
        parser.add_argument(option, type=Path, required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)


if __name__ == "__main__":
    main()
