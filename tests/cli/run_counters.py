#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures with other counters than those of busy units, with the use of the L2 cache, and with attributes.

    run_counters.py --tool BINARY --testdata DIR --raw DIR GROUP [-v]

GROUP is one of the classes below: metrics (each aic_metrics, in each form of a capture), cache (l2_cache=True),
arguments (record_op_args=True).
The captures are those of testdata with other columns; every expected number is computed from these.

Exit status: 0 passed, 1 failed, 2 usage.
"""

import contextlib
import csv
import json
import shutil
import sqlite3
import subprocess
import sys
from collections import defaultdict

from cli import BASE, Cli, parse_arguments, run_group
from captures import build_database

RAW = None  # set by main()
# The columns of each set as the vendor's documents name them, with their units.
SETS = {
    "ArithmeticUtilization": ["aic_mac_fp16_ratio", "aic_mac_int8_ratio", "aic_cube_fops", "aiv_vec_fp32_ratio",
                              "aiv_vec_fp16_ratio", "aiv_vec_int32_ratio", "aiv_vec_misc_ratio", "aiv_vector_fops"],
    "Memory": ["aic_l1_read_bw(GB/s)", "aic_main_mem_read_bw(GB/s)", "aic_l2_write_bw(GB/s)", "aiv_ub_read_bw(GB/s)"],
    "MemoryL0": ["aic_l0a_read_bw(GB/s)", "aic_l0c_write_bw_cube(GB/s)"],
    "MemoryUB": ["aiv_ub_read_bw_vector(GB/s)", "aiv_ub_write_bw_scalar(GB/s)"],
    "MemoryAccess": ["aic_read_main_memory_datas(KB)", "aic_GM_to_L1_datas(KB)", "aiv_UB_to_GM_datas(KB)"],
    "ResourceConflictRatio": ["aiv_vec_bankgroup_cflt_ratio", "aiv_vec_bank_cflt_ratio", "aiv_vec_resc_cflt_ratio"],
    "L2Cache": [f"{core}_{count}" for core in ("aic", "aiv") for count in (
        "write_cache_hit", "write_cache_miss_allocate", "r0_read_cache_hit", "r0_read_cache_miss_allocate")],
    "PipelineExecuteUtilization": ["vec_exe_time(us)", "vec_exe_ratio", "mac_exe_time(us)", "mac_exe_ratio"],
}
TOTALS = ["aicore_time(us)", "aic_total_cycles", "aiv_time(us)", "aiv_total_cycles"]  # of every set
UNITS = ("bound", "busiest_unit", "busiest_share_percent")


def bare(title):
    return title.partition("(")[0]


def planted(place):
    """The value of a counter: one that names its place, and is a share."""
    return 0.125 * (place + 1)


class Counters(Cli):
    def kernels(self, capture):
        with open(capture / "ASCEND_PROFILER_OUTPUT/kernel_details.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def write_kernels(self, capture, rows):
        with open(capture / "ASCEND_PROFILER_OUTPUT/kernel_details.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)

    def text(self, name, titles, values=planted):
        """The base run, collected with another set."""
        capture = self.capture_copy()
        rows = []
        for row in self.kernels(capture):
            keys = list(row)
            kept = {key: row[key] for key in keys[:keys.index("Context ID") + 1] + TOTALS}
            is_counted = row["aicore_time(us)"] != "N/A"
            rows.append(kept | {title: values(place) if is_counted else "N/A" for place, title in enumerate(titles)})
        self.write_kernels(capture, rows)
        return capture.rename(self.scratch / f"{name}_ascend_pt")

    def database(self, name, titles):
        capture = build_database(self.CAPTURES, "db_base_ascend_pt", self.scratch)
        with contextlib.closing(sqlite3.connect(next(capture.rglob("*.db")))) as database, database:
            tasks = [task for task, in database.execute("SELECT DISTINCT globalTaskId FROM TASK_PMU_INFO")]
            database.execute("""DELETE FROM TASK_PMU_INFO WHERE name NOT IN (SELECT id FROM STRING_IDS
                                WHERE value IN ('aicore_time', 'aiv_time', 'aic_total_time', 'aiv_total_time'))""")
            for place, title in enumerate(titles):
                number = 900_000 + place
                database.execute("INSERT INTO STRING_IDS VALUES (?, ?)", (number, bare(title)))
                database.executemany("INSERT INTO TASK_PMU_INFO VALUES (?, ?, ?)",
                                     [(task, number, planted(place)) for task in tasks])
        with contextlib.closing(sqlite3.connect(next(capture.rglob("*.db")))) as database:
            database.execute("VACUUM")  # rows that were deleted leave no gap
        return capture.rename(self.scratch / f"{name}_db_ascend_pt")

    def run_json(self, *words):
        result = self.run_tool(*words, "--json")
        self.assertEqual(result.code, 0, (words, result.all_err))
        self.assertNotRegex(result.out, r"\b(nan|inf|-nan)\b", words)
        return json.loads(result.out)

    def top_kernels(self, capture):
        sheets = {sheet["name"]: sheet["rows"]
                  for sheet in self.run_json("-m", "top_operators", "-d", capture, "-o", self.out, "--top", 1000)["sheets"]}
        return [row for row in sheets["TopKernels"] if row["kind"] == "kernel"]


class Metrics(Counters):
    def assert_handled(self, capture, titles, of_databases=False):
        """The counters are shown, and nothing is said of units that were not measured."""
        rows = self.top_kernels(capture)
        self.assertGreater(len(rows), 10)
        shown = "; ".join(f"{bare(title)} {planted(place):.4g}" for place, title in enumerate(titles)
                          if not title.endswith("(us)"))
        counted = [row for row in rows if row["core"] != "AI_CPU"]
        self.assertEqual({row["counters"] for row in counted}, {shown})
        self.assertEqual({row[key] or None for row in rows for key in UNITS}, {None})
        screen = self.run_tool("-m", "top_operators", "-d", capture, "-o", self.out).out.splitlines()
        self.assertLessEqual(max(map(len, screen)), 80)
        self.assertTrue(any(shown[:30] in line or "of requests hit the L2 cache" in line for line in screen), screen)
        self.assertIn("busy units (aic_metrics=PipeUtilization)", " ".join(line.strip() for line in screen))

    def assert_no_claims(self, capture):
        """The units of kernels are neither judged nor 0."""
        told = json.dumps(self.run_json("advisor", "-d", capture, "-o", self.out), ensure_ascii=False)
        for claim in ("Operator No Bound", "is at its limit", "no unit reaches its limit", "MTE Bound"):
            self.assertNotIn(claim, told)
        (sheet,) = [sheet for sheet in self.run_json("compare", "-d", capture, "-bp", self.CAPTURES / BASE,
                                                     "--enable_profiling_compare", "-o", self.out)["sheets"]
                    if sheet["name"] == "OverallMetrics"]
        rows = {row["index"]: row for row in sheet["rows"]}
        self.assertEqual(rows["AllGatherMatmul"]["comparison_duration_ms"], 8)
        computing = [row for row in sheet["rows"] if row["index"] == "Computing"]
        self.assertEqual([(row["base_duration_ms"], row["comparison_duration_ms"]) for row in computing], [(4, None)])

    def test_every_set_of_text_captures(self):
        for name, titles in SETS.items():
            with self.subTest(name):
                capture = self.text(name, titles)
                self.assert_handled(capture, titles)
                self.assert_no_claims(capture)
                self.run_json("check", capture)
                shutil.rmtree(capture)

    def test_every_set_of_databases(self):
        for name, titles in SETS.items():
            with self.subTest(name):
                capture = self.database(name, titles)
                self.assert_handled(capture, titles, of_databases=True)
                shutil.rmtree(capture)

    def test_other_commands(self):
        capture = self.text("Memory", SETS["Memory"])
        for words in (["-m", "operator_mfu"], ["-m", "compute_op_sum"], ["-m", "module_statistic"], ["-m", "all"]):
            result = self.run_tool(*words, "-d", capture, "-o", self.out)
            self.assertIn(result.code, (0, 3), (words, result.all_err))
            self.assertNotRegex(result.out, r"\bnan\b")

    def test_rates_are_means_by_time_and_amounts_by_call(self):
        titles = ["aic_main_mem_read_bw(GB/s)", "aic_GM_to_L1_datas(KB)"]
        capture = self.text("weighted", titles)
        rows = self.kernels(capture)
        groups = defaultdict(list)
        for number, row in enumerate(rows):
            if row["aicore_time(us)"] != "N/A":
                row[titles[0]], row[titles[1]] = number, 10 * number
                groups[row["Type"], row["Input Shapes"], row["Accelerator Core"]].append(
                    (float(row["Duration(us)"]), number))
        self.write_kernels(capture, rows)
        self.assertTrue(any(len({time for time, _ in calls}) > 1 for calls in groups.values()))
        expected = sorted(f"aic_main_mem_read_bw {sum(t * v for t, v in calls) / sum(t for t, _ in calls):.4g}; "
                          f"aic_GM_to_L1_datas {10 * sum(v for _, v in calls) / len(calls):.4g}"
                          for calls in groups.values())
        self.assertEqual(sorted(row["counters"] for row in self.top_kernels(capture) if row["counters"]), expected)

    def test_raw_captures_say_what_parse_makes_of_them(self):
        job = self.scratch / "job"
        shutil.copytree(RAW / "hwts", job)
        for file in job.rglob("sample.json*"):
            if not file.name.endswith(".done"):
                settings = json.loads(file.read_text(encoding="utf-8"))
                settings |= {"ai_core_metrics": "Memory",
                             "ai_core_profiling_events": "0x15,0x16,0x31,0x32,0x12,0x13,0xf,0x10"}
                file.chmod(0o600)
                file.write_text(json.dumps(settings), encoding="utf-8")
        raw = [(row["name"], row["counters"], row["cache_hit_rate_percent"]) for row in self.top_kernels(job)]
        self.assertTrue(any("main_mem_read_bw" in counters for _, counters, _ in raw), raw)
        self.assertTrue(any(hits for *_, hits in raw))
        subprocess.run([self.TOOL, "parse", "-d", job, "--export_type", "text", "-q"], check=True, stdout=subprocess.DEVNULL)
        text = [(row["name"], row["counters"], row["cache_hit_rate_percent"]) for row in self.top_kernels(job)]
        self.assertEqual(len(text), len(raw))
        for parsed, own in zip(sorted(text), sorted(raw)):
            self.assertEqual(parsed[0], own[0])
            self.assertAlmostEqual(parsed[2] or 0, own[2] or 0, delta=1e-3)
            for counter, other in zip(parsed[1].split("; "), own[1].split("; "), strict=True):
                self.assertEqual(counter.split()[:1], other.split()[:1])
                values = [float(text.split()[1]) if text else 0 for text in (counter, other)]
                self.assertAlmostEqual(*values, delta=1e-3 * (1 + max(values)))  # four digits, of tables three decimals

    def test_attributes_are_shown(self):
        capture = self.database("attributes", SETS["Memory"])
        with contextlib.closing(sqlite3.connect(next(capture.rglob("*.db")))) as database, database:
            database.execute("INSERT INTO STRING_IDS VALUES (950000, ?)", ('{"transposeX1":true}',))
            database.execute("""UPDATE COMPUTE_TASK_INFO SET attrInfo = 950000
                                WHERE opType = (SELECT id FROM STRING_IDS WHERE value = 'Gemm')""")
        self.assertEqual({row["type"]: row["attributes"] for row in self.top_kernels(capture) if row["attributes"]},
                         {"Gemm": '{"transposeX1":true}'})
        (rank,) = self.run_json("check", capture)["ranks"]
        self.assertEqual(rank["recorded"]["operator_attributes"], True)


class Cache(Counters):
    """l2_cache.csv: tasks by stream, number and name."""

    TITLE = ["Device_id", "Stream Id", "Task Id", "Hit Rate", "Victim Rate", "Op Name"]

    def capture(self, rows, name="l2_cache.csv"):
        capture = self.capture_copy()
        with open(capture / "ASCEND_PROFILER_OUTPUT" / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([self.TITLE, *rows])
        return capture

    def rates(self, capture):
        """{(type, shapes): hits in percent}"""
        return {(row["type"], row["input_shapes"]): row["cache_hit_rate_percent"] for row in self.top_kernels(capture)}

    def test_hit_rates_stand_beside_kernels(self):
        kernels = self.kernels(self.CAPTURES / BASE)
        hits = {number: (number % 10) / 10 for number in range(len(kernels))}
        capture = self.capture([[0, row["Stream ID"], row["Task ID"], hits[number], 0.05, row["Name"]]
                                for number, row in enumerate(kernels)])
        sums = defaultdict(lambda: [0, 0])
        for number, row in enumerate(kernels):
            time = float(row["Duration(us)"])
            of_row = sums[row["Type"], row["Input Shapes"].strip('"')]
            of_row[0] += time * hits[number]
            of_row[1] += time
        rates = self.rates(capture)
        self.assertEqual(rates.keys() - sums.keys(), set())
        for key, rate in rates.items():
            self.assertAlmostEqual(rate, 100 * sums[key][0] / sums[key][1], places=6, msg=key)
        screen = self.run_tool("-m", "top_operators", "-d", capture, "-o", self.out).out
        self.assertRegex(screen, r"    [0-9.]+ % of requests hit the L2 cache")
        (rank,) = self.run_json("check", capture)["ranks"]
        self.assertEqual(rank["recorded"]["l2_cache"], True)
        (plain,) = self.run_json("check", self.CAPTURES / BASE)["ranks"]
        self.assertEqual(plain["recorded"]["l2_cache"], False)

    def test_numbers_that_repeat(self):
        """As many rows as kernels: in order. Otherwise the mean."""
        for rows, expected in (([[0, 2, 5, 0.2, 0, "X"], [0, 2, 5, 0.6, 0, "X"]], [20, 60]),
                               ([[0, 2, 5, 0.2, 0, "X"], [0, 2, 5, 0.6, 0, "X"], [0, 2, 5, 0.7, 0, "X"]], [50, 50])):
            capture = self.capture(rows)
            kernels = self.kernels(capture)
            for row, shapes in zip(kernels, ("1", "2")):  # two of all
                row |= {"Name": "X", "Type": "X", "Stream ID": "2", "Task ID": "5", "Input Shapes": shapes}
            self.write_kernels(capture, kernels)
            rates = self.rates(capture)
            self.assertEqual([round(rates["X", shapes], 6) for shapes in "12"], expected)
            shutil.rmtree(capture)

    def test_tables_without_numbers_give_the_mean_of_a_name(self):
        kernels = self.kernels(self.CAPTURES / BASE)
        capture = self.capture([[0, 2, 3, 0.5, 0.1, kernels[0]["Name"]], [0, 2, 4, 0.7, 0.1, kernels[0]["Name"]]])
        self.write_kernels(capture, [{key: cell for key, cell in row.items() if key != "Task ID"} for row in kernels])
        self.assertEqual({rate for rate in self.rates(capture).values() if rate is not None}, {60})

    def test_unknown_is_not_0(self):
        kernels = self.kernels(self.CAPTURES / BASE)
        capture = self.capture([[0, row["Stream ID"], row["Task ID"], "N/A", 0.25, row["Name"]] for row in kernels])
        rows = self.top_kernels(capture)
        self.assertEqual({row["cache_hit_rate_percent"] for row in rows}, {None})
        self.assertTrue(all("l2_victim_rate 0.25" in row["counters"] for row in rows))

    def test_counts_of_the_metric_set_give_the_rate(self):
        """Three of four requests hit: 3 + 3 hits, 1 + 1 misses on each core."""
        capture = self.text("L2Cache", SETS["L2Cache"], values=lambda place: 1 if place % 2 else 3)
        rates = {row["cache_hit_rate_percent"] for row in self.top_kernels(capture) if row["core"] != "AI_CPU"}
        self.assertEqual(rates, {75})

    def test_tables_of_msprof(self):
        kernels = self.kernels(self.CAPTURES / BASE)
        capture = self.capture([[0, row["Stream ID"], row["Task ID"], 0.5, 0, row["Name"]] for row in kernels])
        output = self.scratch / "PROF_000001_20261128000000000_ABC/mindstudio_profiler_output"
        output.mkdir(parents=True)
        source = capture / "ASCEND_PROFILER_OUTPUT"
        shutil.copy(source / "trace_view.json", output / "msprof_20261128000000.json")
        shutil.copy(source / "kernel_details.csv", output / "op_summary_20261128000000.csv")
        shutil.copy(source / "l2_cache.csv", output / "l2_cache_20261128000000.csv")
        table = output / "op_summary_20261128000000.csv"
        text = table.read_text(encoding="utf-8")
        for old, new in ((",Name,Type,", ",Op Name,OP Type,"), ("Accelerator Core", "Task Type"),
                         ("Start Time(us)", "Task Start Time(us)"), (",Duration(us)", ",Task Duration(us)")):
            text = text.replace(old, new, 1)
        table.write_text(text, encoding="utf-8")
        self.assertEqual(set(self.rates(output.parent).values()), {50})

    def test_what_is_broken_is_named(self):
        capture = self.capture([[0, 99, 99, 0.5, 0.1, "no such kernel"], [0, 99, 99, "much", 0.1, "another"]])
        result = self.run_tool("-m", "top_operators", "-d", capture, "-o", self.out)
        self.assertEqual(result.code, 5)
        self.assertTrue(any("no row has the task of a kernel" in line for line in result.err), result.err)
        self.assertTrue(any("invalid rate of the L2 cache" in line for line in result.err), result.err)
        alone = self.scratch / "alone"
        alone.mkdir()
        shutil.copy(capture / "ASCEND_PROFILER_OUTPUT/l2_cache.csv", alone)
        for path in (alone, alone / "l2_cache.csv"):
            self.assertEqual(self.run_tool("-m", "top_operators", "-d", path, "-o", self.out).code, 3)


class Arguments(Cli):
    def test_operators_for_the_tuner_are_no_capture(self):
        job = self.scratch / "job"
        shutil.copytree(self.CAPTURES / BASE, job / BASE)
        beside = job / "node_1_20261128000000_ascend_pt_op_args"
        beside.mkdir()
        (beside / "1234_1.json").write_text(json.dumps([{"op_type": "MatMulV2", "inputs": []}]), encoding="utf-8")
        self.assertEqual(self.run_tool("-m", "top_operators", "-d", job, "-o", self.out).code, 0)
        self.assert_fails(3, self.run_tool("compare", "-d", beside, "-bp", job / BASE, "-o", self.out), "record_op_args", "AOE")


def run():
    global RAW
    arguments = parse_arguments(__doc__, (Metrics, Cache, Arguments))
    Cli.TOOL, Cli.CAPTURES, RAW = arguments.tool, arguments.captures, arguments.raw
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(run())
