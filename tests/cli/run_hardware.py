#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of counters of memories, links and the host: the recipe hardware and the tracks of export timeline.

    run_hardware.py --tool BINARY --testdata DIR [--raw DIR] GROUP [-v]

GROUP is one of the classes below: hardware (captures of testdata with counters that support/counters.py adds), hardwareraw
(raw captures, and what `parse` makes of them), sharedhardware (captures of ../shared; skipped where there are none). Numbers
are computed a second time from the files.
Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import contextlib
import csv
import json
import math
import re
import shutil
import sqlite3
import sys
from pathlib import Path

from cli import Cli
import raw_counters
from captures import build_database
from counters import KB, MB, OUTPUT, PORT_MBITS, add_to_database, add_to_text, samples
from groups import parse_arguments, run_group

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
BEGIN, END = 1_700_000_000_100_000_000, 1_700_000_000_674_000_000  # the device work of the twins
STEP = 2_000_000  # between samples of a link


def counters_of_database(file, device=None):
    """{(group, part, counter): (kind, [(time, value)])}, of what is read for sure."""
    found = {}
    with contextlib.closing(sqlite3.connect(f"file:{file}?immutable=1", uri=True)) as database:
        tables = {name for name, in database.execute("SELECT name FROM sqlite_master")}
        texts = dict(database.execute("SELECT id, value FROM STRING_IDS"))
        modules = dict(database.execute("SELECT id, name FROM ENUM_MODULE")) if "ENUM_MODULE" in tables else {}

        def rows(table, columns, of_device=True):
            if table not in tables:
                return
            where = f" WHERE deviceId = {device}" if of_device and device is not None else ""
            yield from database.execute(f"SELECT timestampNs, {columns} FROM {table}{where}")

        def add(group, part, counter, kind, time, value):
            found.setdefault((group, part, counter), (kind, []))[1].append((time, value))
        for time, hbm, kind, rate in rows("HBM", "hbmId, type, bandwidth"):
            add("HBM", str(hbm), texts[kind], "rate", time, rate)
        for time, read, write in rows("DDR", "read, write"):
            add("DDR", "", "read", "rate", time, read)
            add("DDR", "", "write", "rate", time, write)
        for time, llc, kind, rate, hits in rows("LLC", "llcId, mode, throughput, hitRate"):
            add("LLC", str(llc), texts[kind], "rate", time, rate)
            add("LLC", str(llc), f"{texts[kind]} hit rate", "rate", time, hits)
        for time, whose, ddr, hbm in rows("NPU_MEM", "type, ddr, hbm"):
            name = {"app": "process", "device": "device"}[texts[whose]]
            add("NPU MEM", "", f"{name} DDR", "level", time, ddr)
            add("NPU MEM", "", f"{name} HBM", "level", time, hbm)
        for time, module, reserved in rows("NPU_MODULE_MEM", "moduleId, totalReserved"):
            add("NPU module memory", modules.get(module, str(module)), "reserved", "level", time, reserved)
        for time, rx, tx in rows("HCCS", "rxThroughput, txThroughput"):
            add("HCCS", "", "rx", "rate", time, rx)
            add("HCCS", "", "tx", "rate", time, tx)
        for table, group in (("ROCE", "RoCE"), ("NIC", "NIC")):
            for way in ("rx", "tx"):
                columns = ", ".join(way + column for column in ("ByteRate", "PacketRate", "Packets", "Errors", "Dropped"))
                for time, *row in rows(table, f"funcId, bandwidth, {columns}"):
                    port, bandwidth, rate, packet_rate, packets, errors, dropped = row
                    port = f"port {port}"
                    add(group, port, way, "rate", time, rate)
                    add(group, port, f"{way} share", "rate", time, 800 * rate / bandwidth)
                    add(group, port, f"{way} packets", "rate", time, packet_rate)
                    add(group, port, f"{way} error rate", "level", time, 100 * errors / packets if packets else 0)
                    add(group, port, f"{way} dropped rate", "level", time, 100 * dropped / packets if packets else 0)
                    add(group, port, f"{way} errors", "total", time, errors)
                    add(group, port, f"{way} dropped", "total", time, dropped)
        for kind, name in (("Post", "post"), ("Nonpost", "nonpost"), ("Cpl", "completion"), ("NonpostLatency", "nonpost latency")):
            for way in ("tx", "rx") if kind != "NonpostLatency" else ("tx",):
                for time, value in rows("PCIE", f"{way}{kind}Avg"):
                    add("PCIe", "", f"{way} {name}", "rate", time, value)
        for time, event, rate in rows("QOS", "eventName, bandwidth"):
            add("QoS", texts[event].removeprefix("QoS "), "bandwidth", "rate", time, rate)
        for time, cpu, usage in rows("CPU_USAGE", "cpuId, usage", of_device=False):
            add("CPU Usage", str(cpu), "usage", "level", time, usage)
    return found


def counters_of_text(capture):
    """The same of a trace and npu_module_mem.csv; of ports what traces have."""
    found = {}
    events = json.loads(Path(capture, OUTPUT, "trace_view.json").read_text(encoding="utf-8"))
    processes = {event["pid"]: event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "process_name"}

    def time_of(text):
        whole, _, rest = str(text).strip().partition(".")
        return int(whole) * 1000 + int((rest + "000")[:3])

    def add(group, part, counter, kind, time, value):
        found.setdefault((group, part, counter), (kind, []))[1].append((time, value))
    for event in events:
        if event["ph"] != "C":
            continue
        group, name, time = processes.get(event["pid"]), event["name"], time_of(event["ts"])
        for series, value in event["args"].items():
            if group == "HBM":
                whose, kind = name.split("/")
                add(group, whose.removeprefix("HBM "), kind.lower(), "rate", time, value * MB)
            elif group == "DDR":
                add(group, "", name.split("/")[1].lower(), "rate", time, value * MB)
            elif group == "LLC":
                part, kind, what = re.fullmatch(r"LLC (\d+) (\w+)/(.*)", name).groups()
                rate = what == "Throughput"
                add(group, part, kind.lower() + ("" if rate else " hit rate"), "rate", time, value * (MB if rate else 100))
            elif group == "NPU MEM" and "Memory" not in name:
                whose, kind = name.split("/")
                add(group, "", f"{'process' if whose == 'APP' else 'device'} {kind}", "level", time, value * KB)
            elif group == "HCCS":
                add(group, "", name.lower(), "rate", time, value * MB)
            elif group == "RoCE" and series.startswith("Rx "):
                counter = {"Bandwidth Efficiency": "rx share", "Packets": "rx packets", "Error Rate": "rx error rate",
                           "Dropped Rate": "rx dropped rate"}[series[3:]]
                scale = 1 if counter == "rx packets" else 100
                add(group, name.split("/")[0].lower(), counter, "level" if "rate" in counter else "rate", time, value * scale)
            elif group == "QoS":
                add(group, name.removeprefix("QoS "), "bandwidth", "rate", time, value * MB)
            elif group == "CPU Usage":
                add(group, name.removeprefix("CPU "), "usage", "level", time, value)
    modules = Path(capture, OUTPUT, "npu_module_mem.csv")
    if modules.exists():
        with open(modules, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                add("NPU module memory", row["Component"], "reserved", "level", time_of(row["Timestamp(us)"]),
                    float(row["Total Reserved(MB)"]) * MB)
    return found


def metrics_of(finding):
    return {metric["name"]: metric["value"] for metric in finding["metrics"]}


def kernels_of_database(file):
    """{(type, shapes, types, outputs): ...} of kernels whose loads and stores are the greatest load for half of their time."""
    sizes = {"FLOAT": 4, "FLOAT16": 2, "DT_BF16": 2, "INT32": 4, "INT64": 8, "BOOL": 1, "INT8": 1, "UINT8": 1, "DOUBLE": 8}

    def elements(shapes):
        shapes = "" if shapes == "N/A" else shapes
        return [math.prod(map(int, shape.split(","))) if shape else 0 for shape in shapes.split(";")]
    with contextlib.closing(sqlite3.connect(f"file:{file}?immutable=1", uri=True)) as database:
        texts = dict(database.execute("SELECT id, value FROM STRING_IDS"))
        loads = {}
        for task, name, value in database.execute("SELECT globalTaskId, name, value FROM TASK_PMU_INFO"):
            core, unit, *what = texts[name].split("_")
            if what == ["ratio"]:
                of_task = loads.setdefault(task, {})
                of_task[unit] = max(of_task.get(unit, 0), round(1000 * value))
        tasks = database.execute("SELECT globalTaskId, startNs, endNs, opType, inputShapes, inputDataTypes, outputShapes"
                                 " FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId) ORDER BY startNs").fetchall()
        hbm = {}
        for time, rate, part, kind in database.execute("SELECT timestampNs, bandwidth, hbmId, type FROM HBM WHERE deviceId = 0"):
            hbm.setdefault((part, kind), []).append((time, rate))
    spans = added([intervals("rate", points) for points in hbm.values()])
    found = {}
    for task, start, end, *words in tasks:
        key = tuple(texts[word].strip('"') for word in words)
        kernels = found.setdefault(key, {"count": 0, "time": 0, "measured": 0, "memory": 0, "at": []})
        kernels["count"] += 1
        kernels["time"] += end - start
        kernels["at"].append((start, end))
        units = loads.get(task, {})
        if max(units.values(), default=0) > 0:
            kernels["measured"] += end - start
            if max(units.get("mte2", 0), units.get("mte3", 0)) == max(units.values()):
                kernels["memory"] += end - start
    bound = {}
    for key, kernels in found.items():
        if not kernels["measured"] or 2 * kernels["memory"] < kernels["measured"]:
            continue
        _, shapes, types, outputs = key
        types = types.split(";")
        kernels["bytes"] = kernels["count"] * (sum(count * sizes[kind] for count, kind in zip(elements(shapes), types) if count)
                                               + sum(elements(outputs)) * sizes.get(types[0], 0))
        pieces = [(min(end, b) - max(start, a), rate, number) for start, end in kernels["at"]
                  for number, (a, b, rate) in enumerate(spans) if min(end, b) > max(start, a)]
        time = sum(length for length, *_ in pieces)
        samples = sum(spans[number][1] - spans[number][0] for number in {number for *_, number in pieces})
        kernels["counter"] = sum(length * rate for length, rate, _ in pieces) / time if time else None
        kernels["of_samples"] = time / samples if time else None
        bound[key] = kernels
    return bound


def intervals(kind, points):
    points = sorted(points, key=lambda point: point[0])
    if kind == "rate":
        return [(before[0], point[0], point[1]) for before, point in zip(points, points[1:]) if point[0] > before[0]]
    return [(point[0], after[0], point[1]) for point, after in zip(points, [*points[1:], points[-1]]) if point[1] is not None]


def measures(spans, kind):
    weights = [end - begin for begin, end, _ in spans]
    values = [value for *_, value in spans]
    whole = sum(weights)
    so_far, p95 = 0, max(values)
    for value, weight in sorted(zip(values, weights)):
        so_far += weight
        if whole and so_far >= whole - whole // 20:
            p95 = value
            break
    mean = sum(value * weight for value, weight in zip(values, weights)) / whole if whole else sum(values) / len(values)
    grown = sum(max(0, b - a) for a, b in zip(values, values[1:]))
    most = max(values)
    return {"samples": len(spans), "min": min(values), "mean": mean, "p95": p95, "max": most,
            "max_ns": next(begin for begin, _, value in spans if value == most), "grown": grown if kind == "total" else None}


def added(lists):
    """The sum of several counters at each time."""
    bounds = sorted({bound for spans in lists for begin, end, _ in spans for bound in (begin, end)})
    found = []
    for begin, end in zip(bounds, bounds[1:]):
        values = [value for spans in lists for b, e, value in spans if b <= begin < e]
        if values:
            found.append((begin, end, sum(values)))
    return found


class OfHardware(Cli):
    def sheets(self, given, *more, code=0):
        result = self.run_tool("-m", "hardware", "-d", given, "--json", "-o", self.out, *more)
        self.assertEqual(result.code, code, result.err)
        document = json.loads(result.out)
        return {sheet["name"]: sheet["rows"] for sheet in document["sheets"]}, document

    def screen(self, given, *more):
        result = self.run_tool("-m", "hardware", "-d", given, "-o", self.out, "--export_type", "csv", *more)
        self.assertEqual(result.code, 0, result.err)
        return result.out.splitlines()

    def assert_counters(self, rows, counters, nearness=1e-9):
        """Each counter that is not always 0 has a row with its measures."""
        by_name = {(row["group"], row["part"], row["counter"]): row for row in rows}
        checked = 0
        for key, (kind, points) in counters.items():
            spans = intervals(kind, points)
            if not spans or not any(value for *_, value in spans):
                self.assertNotIn(key, by_name)
                continue
            with self.subTest(counter=key):
                self.assert_measures(by_name[key], measures(spans, kind), nearness)
                self.assertEqual(by_name[key]["kind"], kind)
            checked += 1
        return checked, by_name

    def wrong_columns(self, row, expected, nearness):
        def is_right(column, shown, value):
            if value is None or column in ("samples", "max_ns"):
                return shown == value
            return math.isclose(shown, value, rel_tol=nearness, abs_tol=1e-6)
        return [(column, row[column], value) for column, value in expected.items() if not is_right(column, row[column], value)]

    def assert_measures(self, row, expected, nearness):
        self.assertEqual(self.wrong_columns(row, expected, nearness), [])


class Hardware(OfHardware):
    def setUp(self):
        super().setUp()
        self.tables = samples(BEGIN, END)
        self.db = self.database("0_ascend_pt", self.tables)

    def database(self, name, tables):
        capture = self.scratch / "db" / name
        shutil.copytree(build_database(self.CAPTURES, "twin_db_base_ascend_pt", self.scratch / f"built_{name}"), capture)
        add_to_database(next(capture.rglob("*.db")), tables)
        return capture

    def text(self, tables):
        capture = self.scratch / "text" / "0_ascend_pt"
        shutil.copytree(self.CAPTURES / "twin_text_base_ascend_pt", capture)
        add_to_text(capture, tables)
        return capture

    def test_the_numbers_are_those_of_the_tables(self):
        sheets, _ = self.sheets(self.db)
        counters = counters_of_database(next(self.db.rglob("*.db")))
        checked, by_name = self.assert_counters(sheets["HardwareCounters"], counters)
        self.assertGreater(checked, 20)
        spans = {key: intervals(*value) for key, value in counters.items()}
        both = added([spans["HBM", part, kind] for part in "01" for kind in ("read", "write")])
        row = by_name["HBM", "all", "read and write"]
        self.assert_measures(row, measures(both, "rate"), 1e-9)
        self.assertEqual(row["limit"], 1.6e12)
        self.assertAlmostEqual(row["of_limit_percent"], 100 * row["max"] / 1.6e12)
        self.assertEqual(by_name["RoCE", "port 0", "rx"]["limit"], 200_000 * MB / 8)

    def test_what_ran_while_a_counter_was_high(self):
        sheets, _ = self.sheets(self.db)
        (row,) = [row for row in sheets["HardwareCounters"] if row["counter"] == "read and write" and row["group"] == "HBM"]
        counters = counters_of_database(next(self.db.rglob("*.db")))
        spans = added([intervals(*counters["HBM", part, kind]) for part in "01" for kind in ("read", "write")])
        high = [(begin, end) for begin, end, value in spans if value >= 0.9 * row["max"]]
        with contextlib.closing(sqlite3.connect(next(self.db.rglob("*.db")))) as database:
            texts = dict(database.execute("SELECT id, value FROM STRING_IDS"))
            work = [(start, end, texts[kind]) for start, end, kind in database.execute(
                "SELECT startNs, endNs, opType FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId)")]
            work += [(start, end, texts[kind].removeprefix("hcom_").partition("_")[0].lower())
                     for start, end, kind in database.execute("SELECT startNs, endNs, opType FROM COMMUNICATION_OP")]
        times = {}
        for start, end, kind in work:
            overlap = sum(max(0, min(end, b) - max(start, a)) for a, b in high)
            if overlap:
                times[kind] = times.get(kind, 0) + overlap
        shown = {row["op_type"]: row["overlap_ns"] for row in sheets["HardwareWhileHigh"]
                 if row["group"] == "HBM" and row["counter"] == "read and write"}
        self.assertEqual(row["high_ns"], sum(end - begin for begin, end in high))
        self.assertTrue(shown)
        self.assertEqual(shown, dict(sorted(times.items(), key=lambda item: (-item[1], item[0]))[:5]))

    def test_text_and_database_agree(self):
        """Text rounds rates to thousandths of a megabyte; how many bytes a port moved is in databases alone."""
        text = self.text(self.tables)
        of_text, of_db = (self.sheets(capture)[0]["HardwareCounters"] for capture in (text, self.db))
        checked, _ = self.assert_counters(of_text, counters_of_text(text))
        self.assertGreater(checked, 20)
        by_name = {(row["group"], row["part"], row["counter"]): row for row in of_text}
        only_db = set()
        for row in of_db:
            key = row["group"], row["part"], row["counter"]
            if key not in by_name:
                only_db.add(key)
                continue
            for column in ("unit", "kind", "samples", "max_ns", "max_step"):
                self.assertEqual(by_name[key][column], row[column], (key, column))
            for column in ("min", "mean", "p95", "max"):
                self.assertTrue(math.isclose(by_name[key][column], row[column], rel_tol=1e-5, abs_tol=1100), (key, column))
        self.assertEqual(only_db, {("RoCE", "port 0", name) for name in ("rx", "rx errors", "rx dropped")})
        # The clock of the cores is recorded in the text of the twins alone.
        self.assertEqual({*by_name} - {(row["group"], row["part"], row["counter"]) for row in of_db}, {("AI Core", "", "clock")})

    def test_the_step_alone_has_the_numbers_of_the_sheet_of_steps(self):
        sheets, _ = self.sheets(self.db)
        steps = {row["step"] for row in sheets["HardwareByStep"]}
        self.assertGreater(len(steps), 1)
        for step in steps:
            alone = {(row["group"], row["part"], row["counter"]): row
                     for row in self.sheets(self.db, "--step_id", step)[0]["HardwareCounters"]}
            for row in sheets["HardwareByStep"]:
                if row["step"] != step or not row["max"]:
                    continue
                of_step = alone[row["group"], row["part"], row["counter"]]
                for column in ("mean", "max", "grown"):
                    with self.subTest(step=step, counter=row["counter"], column=column):
                        shown, expected = of_step[column], row[column]
                        self.assertTrue(shown == expected or math.isclose(shown, expected, rel_tol=1e-9))

    def test_over_time_has_the_mean_of_the_whole(self):
        sheets, _ = self.sheets(self.db)
        rows = [row for row in sheets["HardwareOverTime"] if row["group"] == "HBM" and row["counter"] == "read and write"]
        self.assertLessEqual(len(rows), 120)
        (whole,) = [row for row in sheets["HardwareCounters"] if row["group"] == "HBM" and row["counter"] == "read and write"]
        length = sum(row["end_ns"] - row["start_ns"] for row in rows)
        mean = sum(row["mean"] * (row["end_ns"] - row["start_ns"]) for row in rows) / length
        self.assertTrue(math.isclose(mean, whole["mean"], rel_tol=1e-3))

    def test_the_screen_begins_with_the_answer(self):
        lines = self.screen(self.db)
        self.assertRegex(lines[0], r"^HBM read and write reaches 1\.\d+ TB/s, 7\d\.\d % of its peak$")
        self.assertIn("  rank 0: RoCE port 0 rx errors grew by 4 packets", lines)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertLessEqual(len(lines), 30)

    def test_a_port_near_its_limit_has_the_first_word(self):
        db = self.database("1_ascend_pt", samples(BEGIN, END, high=0.3, port=0.97))
        self.assertRegex(self.screen(db)[0], r"^RoCE port 0 rx reaches 2\d\.\d GB/s, 97\.0 % of its peak")

    def test_ranks_that_stand_out(self):
        job = self.scratch / "job"
        for rank in range(4):
            tables = samples(BEGIN, END, high=0.75 if rank != 2 else 0.4)
            shutil.copytree(self.database(f"of_{rank}", tables), job / f"{rank}_ascend_pt")
            (job / f"{rank}_ascend_pt" / f"profiler_info_{rank}.json").write_text("{}")
        (job / "0_ascend_pt" / "profiler_info_0.json").write_text("{}")
        for rank in range(1, 4):
            for info in (job / f"{rank}_ascend_pt").glob("profiler_info_0.json"):
                info.unlink()
            (job / f"{rank}_ascend_pt" / f"profiler_info_{rank}.json").write_text("{}")
        sheets, document = self.sheets(job)
        (row,) = [row for row in sheets["HardwareSpread"] if row["group"] == "HBM" and row["counter"] == "read and write"]
        self.assertEqual((row["ranks"], row["min_rank"], row["outliers"]), (4, 2, "2"))
        self.assertIn("rank 2", json.dumps(document["story"]))

    def with_link(self, rate_of, table="HCCS"):
        """A database whose link is sampled every 2 ms: rate_of(number, how much of the sample is exposed communication). Also
        the exposed time of each sample."""
        capture = self.database(f"of_{table}_{len(list(self.scratch.glob('built_*')))}", samples(BEGIN, END))
        with contextlib.closing(sqlite3.connect(next(capture.rglob("*.db")))) as database:
            busy = database.execute("SELECT startNs, endNs FROM COMMUNICATION_OP").fetchall()
            computing = database.execute("SELECT startNs, endNs FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId)").fetchall()
            database.execute(f"DELETE FROM {table}")
            exposed = []
            for number in range((END - BEGIN) // STEP):
                begin = BEGIN + number * STEP
                bounds = sorted({begin, begin + STEP, *(time for span in busy + computing for time in span
                                                        if begin < time < begin + STEP)})
                pieces = [(a, b) for a, b in zip(bounds, bounds[1:])
                          if any(s <= a and b <= e for s, e in busy) and not any(s <= a and b <= e for s, e in computing)]
                exposed.append(sum(b - a for a, b in pieces))
                rate = rate_of(number, exposed[-1] / STEP)
                row = ((0, begin + STEP, 0, rate) if table == "HCCS" else
                       (0, begin + STEP, PORT_MBITS * MB, 0, rate, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
                database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
            database.commit()
        return capture, exposed

    def full_links(self, capture):
        result = self.run_tool("advisor", "-d", capture, "--json", "-o", self.out)
        self.assertEqual(result.code, 0, result.err)
        return {finding["key"]: finding for finding in json.loads(result.out)["findings"] if finding["id"] == "comm.full_link"}

    def test_links_that_are_full(self):
        capture, exposed = self.with_link(lambda number, share: 4e10 * (1 - number % 3 / 200) if share >= 0.9 else 1e9 * share)
        # The interval of the first sample is not known.
        full = [(number, time) for number, time in enumerate(exposed) if number > 0 and time >= 0.9 * STEP]
        self.assertGreater(len(full), 30)
        found = self.full_links(capture)
        self.assertEqual([*found], ["comm.full_link/flat"])
        metrics = metrics_of(found["comm.full_link/flat"])
        self.assertEqual(metrics["full_time"], len(full) * STEP)
        self.assertEqual(metrics["full_exposed"], sum(time for _, time in full))
        rate = sum(4e10 * (1 - number % 3 / 200) for number, _ in full) / len(full)
        self.assertAlmostEqual(metrics["full_rate"], rate / 1e9, places=6)
        self.assertEqual(found["comm.full_link/flat"]["evidence"][0]["name"], "HCCS rx")
        limit = PORT_MBITS * MB / 8
        found = self.full_links(self.with_link(lambda _, share: limit * (0.95 if share >= 0.5 else 0.1), "ROCE")[0])
        self.assertEqual([*found], ["comm.full_link"])
        self.assertAlmostEqual(metrics_of(found["comm.full_link"])["full_limit"], limit / 1e9, places=6)

    def test_links_that_are_not_full(self):
        limit = PORT_MBITS * MB / 8
        for why, table, rate_of in (
                ("it varies", "HCCS", lambda number, share: share * (4e10 - number % 3 * 4e9)),
                ("it moves as much when nothing waits", "HCCS", lambda number, share: 4e10),
                ("it moved more once", "HCCS", lambda number, share: 6e10 if number == 1 else 4e10 * share),
                ("it is far from its limit", "ROCE", lambda number, share: limit * 0.6 * share)):
            with self.subTest(why):
                self.assertEqual(self.full_links(self.with_link(rate_of, table)[0]), {})

    def test_hostile_values(self):
        file = next(self.db.rglob("*.db"))
        with contextlib.closing(sqlite3.connect(file)) as database:
            database.execute("UPDATE HBM SET bandwidth = -5 WHERE rowid % 3 = 0")
            database.execute("UPDATE LLC SET timestampNs = 'x'")
            database.execute("UPDATE HCCS SET timestampNs = 9223372036854775807 WHERE rowid = 1")
            database.execute("UPDATE ROCE SET bandwidth = 0, rxPackets = 0")
            database.execute("DROP TABLE DDR")
            database.execute("CREATE TABLE DDR (timestampNs INTEGER)")
            database.execute("INSERT INTO DDR VALUES (1)")
            database.commit()
        sheets, _ = self.sheets(self.db, code=5)
        groups = {row["group"] for row in sheets["HardwareCounters"]}
        self.assertIn("HBM", groups)
        self.assertNotIn("LLC", groups)
        self.assertNotIn("DDR", groups)

    def test_captures_without_counters(self):
        for name in ("twin_text_base_ascend_pt", "text_level0_ascend_pt"):
            result = self.run_tool("-m", "hardware", "-d", name, "-o", self.out)
            self.assertEqual(result.code, 0, result.err)

    def test_tracks_of_the_timeline(self):
        trace = self.scratch / "trace.json"
        result = self.run_tool("export", "timeline", "-d", self.db, "-o", trace)
        self.assertEqual(result.code, 0, result.err)
        document = json.loads(trace.read_text())
        zero = int(document["otherData"]["zero_ns"])
        shown = {}
        for event in document["traceEvents"]:
            if event["ph"] == "C":
                ((unit, value),) = event["args"].items()
                shown.setdefault((event["name"], unit), []).append((zero + round(event["ts"] * 1000), value))
        counters = counters_of_database(next(self.db.rglob("*.db")))
        for name, key in (("HBM 0 read", ("HBM", "0", "read")), ("NPU MEM process HBM", ("NPU MEM", "", "process HBM"))):
            expected = []
            for begin, _, value in intervals(*counters[key]):
                if not expected or expected[-1][1] != value:
                    expected.append((begin, value))
            self.assertEqual(shown[name, "B/s" if key[0] == "HBM" else "B"], expected)
        self.assertNotIn(("NPU module memory FMK reserved", "B"), shown)


class HardwareRaw(OfHardware):
    def test_raw_and_parsed_captures_agree(self):
        """`parse` writes the files from which the numbers are computed."""
        found = 0
        for capture in sorted(self.RAW.glob("*/*_ascend_pt")):
            result = self.run_tool("-m", "hardware", "-d", capture, "--raw", "--json", "-o", self.out)
            if result.code not in (0, 5):
                continue
            sheets = {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}
            rows = sheets.get("HardwareCounters", [])
            if not {row["group"] for row in rows} & {"HBM", "RoCE"}:
                continue
            parsed = self.scratch / capture.parent.name
            self.run_tool("parse", "-d", capture, "-o", parsed, "--export_type", "db")
            for file in parsed.rglob("ascend_pytorch_profiler*.db"):
                with self.subTest(capture=capture.parent.name):
                    found += self.assert_counters(rows, counters_of_database(file))[0]
        self.assertGreater(found, 20)


    def with_samples(self, case, newer=False):
        """A copy of a capture with samples of the chip and the host, the rows of its counters, and what they are to be."""
        (capture,) = (self.RAW / case).glob("*_ascend_pt")
        copy = self.scratch / f"{case}{newer}" / capture.name
        shutil.copytree(capture, copy)
        truth = json.loads((self.RAW / case / "truth.json").read_text(encoding="utf-8"))
        if newer:
            # Nothing but its samples is left of a chip whose tasks have other records.
            for info in copy.glob("PROF_*/*/info.json*"):
                raw_counters.change(info, platform_version="15")
            for file in copy.glob("PROF_*/device_*/data/*"):
                file.unlink()
        counters = raw_counters.add_to(copy, truth, newer)
        result = self.run_tool("-m", "hardware", "-d", copy, "--raw", "--json", "-o", self.out)
        self.assertEqual(result.code, 5 if newer else 0, result.err)
        sheets = {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}
        return copy, sheets["HardwareCounters"], counters

    def test_what_the_chip_and_the_host_tell(self):
        for case, newer in (("stars", False), ("stars_odd_clock", False), ("stars", True)):
            with self.subTest(case=case, newer=newer):
                _, rows, counters = self.with_samples(case, newer)
                checked, by_name = self.assert_counters(rows, counters)
                self.assertGreater(checked, 35)
                units = {by_name[key]["unit"] for key in counters if key in by_name}
                self.assertEqual(units, {"B/s", "", "%"})

    def test_parse_keeps_them(self):
        copy, _, counters = self.with_samples("stars")
        parsed = self.scratch / "parsed"
        self.run_tool("parse", "-d", copy, "-o", parsed, "--export_type", "db")
        (file,) = parsed.rglob("ascend_pytorch_profiler*.db")
        checked, _ = self.assert_counters(self.sheets(file)[0]["HardwareCounters"], counters)
        self.assertGreater(checked, 35)

    def test_the_judge_objects(self):
        """Values that are scaled, shifted by one sample, or of another unit are no match."""
        _, rows, counters = self.with_samples("stars")
        by_name = {(row["group"], row["part"], row["counter"]): row for row in rows}

        def missed(change):
            found = []
            for key, (kind, points) in counters.items():
                points = sorted((time, value) for time, value in points if value is not None)
                if len({value for _, value in points}) > 1 and key != ("Disk Usage", "", "usage"):
                    expected = measures(intervals(kind, change(points)), kind)
                    if not self.wrong_columns(by_name[key], expected, 1e-9):
                        found.append(key)
            return found
        times = [lambda points: points,
                 lambda points: [(time, value * MB / 1e6) for time, value in points],
                 lambda points: [(time, value * KB) for time, value in points],
                 lambda points: [(points[i][0], points[i - 1][1]) for i in range(1, len(points))],
                 lambda points: [(time + 1000, value) for time, value in points]]
        same, *others = [len(missed(change)) for change in times]
        self.assertGreater(same, 35)
        self.assertEqual(others, [0, 0, 0, 0])

    def test_samples_without_what_they_are_measured_by(self):
        copy, *_ = self.with_samples("stars")
        for folder, keys in (("device_*", ["qosEvents"]), ("host", ["host_disk_freq"])):
            for file in copy.glob(f"PROF_*/{folder}/sample.json"):
                raw_counters.change(file, **{key: "" for key in keys})
        for file in copy.glob("PROF_*/host/info.json"):
            raw_counters.change(file, cpuNums=0, memoryTotal="?", netCard=7)
        result = self.run_tool("-m", "hardware", "-d", copy, "--raw", "--json", "-o", self.out)
        self.assertEqual(result.code, 5)
        groups = {row["group"] for sheet in json.loads(result.out)["sheets"] for row in sheet["rows"] if "group" in row}
        self.assertIn("SIO", groups)
        self.assertEqual(groups & {"QoS", "CPU Usage", "Memory Usage", "Disk Usage", "Network Usage"}, set())
        for name in ("qosEvents", "cpuNums", "memoryTotal", "host_disk_freq", "netCard"):
            self.assertIn(name, " ".join(result.err))


class SharedHardware(OfHardware):
    def test_databases_and_traces_of_real_runs(self):
        if not SHARED.is_dir():
            self.skipTest(f"no captures in {SHARED}")
        for rank, device in ((0, 0), (1, 1)):
            for kind in ("db/level1", "db_mstx", "db/level0"):
                for capture in sorted((SHARED / "npu" / kind).glob(f"rank{rank}_ascend_pt")):
                    with self.subTest(capture=capture):
                        (file,) = capture.rglob("ascend_pytorch_profiler*.db")
                        rows = self.sheets(capture)[0]["HardwareCounters"]
                        checked, _ = self.assert_counters(rows, counters_of_database(file, device))
                        self.assertGreater(checked, 8)
            for kind in ("level0", "level1"):
                capture = SHARED / "npu" / "text" / kind / f"rank{rank}_ascend_pt"
                with self.subTest(capture=capture):
                    rows = self.sheets(capture)[0]["HardwareCounters"]
                    checked, _ = self.assert_counters(rows, counters_of_text(capture))
                    self.assertGreater(checked, 10)

    def test_kernels_that_memory_holds_up(self):
        """Bytes from the shapes, loads from TASK_PMU_INFO, the counter from HBM: all of the database."""
        file = SHARED / "npu/db/level1/rank0_ascend_pt" / OUTPUT / "ascend_pytorch_profiler_0.db"
        if not file.exists():
            self.skipTest(f"no captures in {SHARED}")
        rows = self.sheets(file.parents[1])[0]["HardwareKernels"]
        expected = kernels_of_database(file)
        self.assertGreater(len(rows), 10)
        # Beyond the 50 longest the sheet ends.
        self.assertEqual(len(rows), min(50, len(expected)))
        checked = 0
        for row in rows:
            same = [kernels for key, kernels in expected.items() if key[:2] == (row["op_type"], row["input_shapes"])
                    and kernels["time"] == row["time_ns"]]
            self.assertEqual(len(same), 1, row)
            (kernels,) = same
            self.assertEqual(row["kernels"], kernels["count"])
            self.assertEqual(row["bound_by"], "loads")
            if row["bytes"] is not None:
                self.assertEqual(row["bytes"], kernels["bytes"], row)
                self.assertAlmostEqual(row["gigabytes_per_second"], kernels["bytes"] / kernels["time"], places=6)
                self.assertAlmostEqual(row["of_peak_percent"], kernels["bytes"] / kernels["time"] / 16, places=6)
                checked += 1
            if kernels["counter"] is not None:
                self.assertAlmostEqual(row["counter_gigabytes_per_second"], kernels["counter"] / 1e9, places=6)
                self.assertAlmostEqual(row["of_samples_percent"], 100 * kernels["of_samples"], places=6)
        self.assertGreater(checked, 10)

    def test_real_runs_have_no_finding_of_links_or_memory(self):
        if not SHARED.is_dir():
            self.skipTest(f"no captures in {SHARED}")
        for job in ("db/level0", "db/level1", "db_mstx", "text/level0", "text/level1"):
            result = self.run_tool("advisor", "-d", SHARED / "npu" / job, "--json", "-o", self.out)
            self.assertEqual(result.code, 0, result.err)
            found = {finding["id"] for finding in json.loads(result.out)["findings"]}
            self.assertEqual(found & {"comm.full_link", "mem.outside"}, set(), job)

    def test_the_screens_are_short(self):
        if not SHARED.is_dir():
            self.skipTest(f"no captures in {SHARED}")
        for job in ("npu/db_mstx", "npu/text/level1", "npu/db/level0"):
            lines = self.screen(SHARED / job)
            self.assertRegex(" ".join(lines[:2]), r"^HBM read and write on rank \d reaches .* GB/s.* while\s+allreduce\s+runs")
            self.assertLessEqual(max(map(len, lines)), 80, lines)
            self.assertLessEqual(len(lines), 30)


def main():
    arguments = parse_arguments(__doc__, (Hardware, HardwareRaw, SharedHardware))
    Cli.TOOL, Cli.CAPTURES, HardwareRaw.RAW = arguments.tool, arguments.captures, arguments.raw
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
