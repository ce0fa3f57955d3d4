#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests of a server: what msServiceProfiler recorded, how long requests take, and what holds them up.

    run_serving_requests.py --tool BINARY --testdata DIR requests|causes|servergate [-v]

The records are those of a simulated server (tests/support/server_records.py). Numbers are computed a second time here,
from the files.

Exit status: 0 passed, 1 failed, 2 usage.
"""

import ast
import csv
import json
import shutil
import sys
from collections import defaultdict
from fractions import Fraction

from cli import BASE, Cli, main

import server_records as records  # found only now

SERVER_COMMANDS = ("-m", "serving_requests", "-d")


def percentile(values, percent):
    """On the straight line between two values, rounded half up."""
    values = sorted(values)
    place = Fraction(percent * (len(values) - 1), 100)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    exact = values[low] + (place - low) * (values[high] - values[low])
    return int((exact + Fraction(1, 2)) // 1)


def nanoseconds(milliseconds):
    return round(Fraction(milliseconds) * 1_000_000)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Server(Cli):
    def sheets(self, directory, *more, code=0):
        result = self.run_tool(*SERVER_COMMANDS, directory, "--json", "-o", self.out, *more)
        self.assertEqual(result.code, code, result.err)
        return {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}

    def write_rows(self, path, rows):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)

    def write_server(self, plan, name="server", **settings):
        records.write(plan, self.scratch / name, **settings)
        return self.scratch / name


class Requests(Server):
    def times(self, rows):
        """By metric, in ns."""
        times = defaultdict(list)
        for row in rows:
            first, whole = nanoseconds(row["first_token_latency(ms)"]), nanoseconds(row["execution_time(ms)"])
            times["ttft"].append(first)
            times["e2e"].append(whole)
            times["queue"].append(nanoseconds(row["queue_wait_time(ms)"]))
            later = int(row["reply_token_size"]) - 1
            if later > 0:
                times["tpot"].append((whole - first + later // 2) // later)
        return times

    def test_times_of_requests(self):
        server = self.write_server(records.HEALTHY)
        sheets = self.sheets(server)
        requests = rows_of(server / "request.csv")
        dp_rank = {}
        for row in rows_of(server / "batch.csv"):
            for one in ast.literal_eval(row["res_list"]):
                dp_rank.setdefault(one["rid"], int(row["dp_rank"]))
        groups = {None: requests}
        for rank in (0, 1):
            groups[rank] = [row for row in requests if dp_rank[row["http_rid"]] == rank]
        latency = {(row["dp_rank"], row["metric"]): row for row in sheets["ServingLatency"]}
        self.assertEqual(len(latency), 12)
        for rank, rows in groups.items():
            for metric, values in self.times(rows).items():
                found = latency[rank, metric]
                self.assertEqual(found["requests"], len(values))
                for column, percent in (("p50ns", 50), ("p90ns", 90), ("p99ns", 99), ("max_ns", 100)):
                    self.assertEqual(found[column], percentile(values, percent), (rank, metric, column))
        load = {row["dp_rank"]: row for row in sheets["ServingLoad"]}
        for rank, rows in groups.items():
            self.assertEqual(load[rank]["requests"], len(rows))
            prompts = [int(row["recv_token_size"]) for row in rows]
            self.assertEqual(load[rank]["prompt_tokens"], sum(prompts))
            self.assertEqual(load[rank]["reply_tokens"], sum(int(row["reply_token_size"]) for row in rows))
            hits = sum(float(row["cache_hit_rate"]) * prompt for row, prompt in zip(rows, prompts))
            self.assertAlmostEqual(load[rank]["prefix_hit_percent"], 100 * hits / sum(prompts), places=4)
            begin = min(float(row["start_time(ms)"]) for row in rows)
            end = max(float(row["start_time(ms)"]) + 1000 * float(row["execution_time(ms)"]) for row in rows)
            self.assertAlmostEqual(load[rank]["requests_per_second"], len(rows) / (end - begin) * 1e6, places=4)
        self.assertEqual(len(sheets["ServingRequests"]), len(requests))
        self.assertEqual(sheets["ServingRequests"][0]["start_ns"],
                         int(float(requests[0]["start_time(ms)"])) * 1000)

    def test_batches(self):
        server = self.write_server(records.HEALTHY)
        sheets = self.sheets(server)
        lengths, sizes = defaultdict(list), defaultdict(list)
        for row in rows_of(server / "batch.csv"):
            if row["name"] != "modelExec":
                continue
            prefill, decode = int(row["prefill_batch_size"]), int(row["decode_batch_size"])
            phase = "mixed" if prefill and decode else "prefill" if prefill else "decode"
            lengths[int(row["dp_rank"]), phase].append(nanoseconds(row["during_time(ms)"]))
            sizes[int(row["dp_rank"]), phase].append(prefill + decode)
        found = {(row["dp_rank"], row["phase"]): row for row in sheets["ServingBatches"]}
        self.assertEqual(set(found), set(lengths))
        for key, values in lengths.items():
            self.assertEqual(found[key]["batches"], len(values))
            self.assertEqual(found[key]["p50ns"], percentile(values, 50))
            self.assertEqual(found[key]["max_ns"], max(values))
            self.assertEqual(found[key]["max_requests"], max(sizes[key]))
            self.assertAlmostEqual(found[key]["mean_requests"], sum(sizes[key]) / len(values), places=4)
        for row in sheets["ServingTime"]:
            self.assertEqual(row["active_ns"], row["execution_ns"] + row["scheduling_ns"] + row["sampling_ns"] +
                             row["other_ns"])
            whole = sum(sum(values) for (rank, _), values in lengths.items() if rank == row["dp_rank"])
            self.assertAlmostEqual(row["execution_ns"] / whole, 1, places=2)

    def test_ranks_of_a_model_count_once(self):
        """Each of them records the batch that all of them run; a process with other batches counts by itself."""
        server = self.write_server(records.HEALTHY)
        expected = self.sheets(server)
        rows = rows_of(server / "batch.csv")
        extra = []
        for row in rows:
            if row["name"] == "modelExec":
                extra.append({**row, "prof_id": "77", "start_time(ms)": str(float(row["start_time(ms)"]) + 90)})
        self.write_rows(server / "batch.csv", rows + extra)
        found = self.sheets(server)
        for name in ("ServingBatches", "ServingTime"):
            self.assertEqual(found[name], expected[name], name)
        for row in extra:
            row["prefill_batch_size"], row["decode_batch_size"] = "0", "200"
        self.write_rows(server / "batch.csv", rows + extra)
        batches = {(row["dp_rank"], row["phase"]): row["batches"] for row in self.sheets(server)["ServingBatches"]}
        before = {(row["dp_rank"], row["phase"]): row["batches"] for row in expected["ServingBatches"]}
        self.assertEqual(sum(batches.values()), 2 * sum(before.values()))

    def test_dates_are_on_the_clock_of_numbers(self):
        """Blocks have local dates, batches numbers: both are of the same part of the run."""
        server = self.write_server(records.HEALTHY)
        rows = self.sheets(server)["ServingOverTime"]
        self.assertEqual(len(rows), 40)
        least = min(row["least_free_percent"] for row in rows if row["least_free_percent"] is not None)
        blocks = [100 * int(row["free_blocks"]) / int(row["total_blocks"]) for row in rows_of(server / "kvcache.csv")]
        self.assertAlmostEqual(least, min(blocks), places=4)
        self.assertGreater(sum(row["least_free_percent"] is not None for row in rows), 36)
        waiting = max(row["waiting"] or 0 for row in rows)
        self.assertEqual(waiting, max(int(row["waiting"] or 0) for row in rows_of(server / "request_status.csv")))
        self.assertEqual(sum(row["arrivals"] for row in rows), records.HEALTHY.requests)

    def test_transfers(self):
        server = self.write_server(records.TRANSFERS)
        moved = defaultdict(list)
        for row in rows_of(server / "pd_split_kvcache.csv"):
            moved[int(row["rank"])].append((nanoseconds(row["during_time(ms)"]), int(row["batch_seq_len"])))
        found = {row["rank_id"]: row for row in self.sheets(server)["ServingTransfers"]}
        self.assertEqual(set(found), set(moved))
        for rank, transfers in moved.items():
            self.assertEqual(found[rank]["p50ns"], percentile([time for time, _ in transfers], 50))
            self.assertEqual(found[rank]["tokens"], sum(tokens for _, tokens in transfers))

    def test_all_forms_say_the_same(self):
        """Tables as text and in a database, and what was recorded before any parsing, of old and of today."""
        plans = (records.HEALTHY, records.TRANSFERS, records.PLANS["kv_blocks_short"][0])
        for number, plan in enumerate(plans):
            expected = self.sheets(self.write_server(plan, f"csv{number}/server"))
            self.assertEqual(len(expected["ServingRequests"]), plan.requests)
            for form in ("db", "slices", "marks"):
                with self.subTest(form, plan=number):
                    found = self.sheets(self.write_server(plan, f"{form}{number}/server", form=form))
                    self.assertEqual(found.keys(), expected.keys())
                    for name, rows in expected.items():
                        self.assertEqual(found[name], rows, name)

    def test_a_trace_says_the_same_as_far_as_it_goes(self):
        """It has neither the sum of the blocks nor hits of the prefix cache."""
        for number, plan in enumerate((records.HEALTHY, records.PLANS["scheduler_slow"][0])):
            expected = self.sheets(self.write_server(plan, f"csv{number}/server"))
            found = self.sheets(self.write_server(plan, f"trace{number}/server", form="trace"))
            for name, rows in expected.items():
                for row in rows:
                    for column in ("least_free_percent", "prefix_hit_percent"):
                        if column in row:
                            row[column] = None
                self.assertEqual(found[name], rows, name)

    def test_one_form_of_several_is_read(self):
        """What lies together is one run, in whatever form; the most complete one counts."""
        server = self.write_server(records.HEALTHY, "server")
        expected = self.sheets(server)
        other = records.PLANS["scheduler_slow"][0]  # would be seen
        for form in ("db", "slices", "trace"):
            records.write(other, server, form=form, spans=False)
        self.assertEqual(self.sheets(server), expected)
        (server / "request.csv").unlink()  # what is left is not whole
        of_database = self.sheets(server)["ServingFindings"]
        self.assertEqual(of_database[0]["finding"], "scheduler_slow")
        (server / "profiler.db").unlink()
        self.assertEqual(self.sheets(server)["ServingFindings"], of_database)

    def test_records_beside_their_tables_count_once(self):
        for raw, parsed in (("run", "run/output"), ("out/raw", "out")):
            records.write(records.HEALTHY, self.scratch / raw, form="slices")
            self.write_server(records.HEALTHY, parsed)
            found = self.sheets(self.scratch / raw.split("/")[0])
            self.assertEqual(len(found["ServingRequests"]), records.HEALTHY.requests)
            self.assertEqual({row["instance"] for row in found["ServingRequests"]}, {parsed.rsplit("/")[-1]})

    def test_a_broken_process_costs_itself(self):
        server = self.write_server(records.HEALTHY, form="slices")
        for name, content in (("201", b"no database"), ("100", b"")):
            (server / f"ms_service_host-{name}.db").write_bytes(content)
        result = self.run_tool(*SERVER_COMMANDS, server, "--json", "-o", self.out)
        self.assertEqual(result.code, 5, result.err)
        sheets = {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}
        self.assertEqual(len(sheets["ServingRequests"]), records.HEALTHY.requests)

    def test_older_columns(self):
        """Releases of 2025 write microseconds, and say so in the names of columns."""
        server = self.write_server(records.HEALTHY, "new")
        rows = rows_of(server / "request.csv")
        older = self.scratch / "old"
        older.mkdir()
        columns = {"http_rid": "http_rid", "start_time_httpReq(microsecond)": "start_time(ms)",
                   "recv_token_size": "recv_token_size", "reply_token_size": "reply_token_size",
                   "execution_time(microsecond)": "execution_time(ms)",
                   "queue_wait_time(microsecond)": "queue_wait_time(ms)",
                   "first_token_latency": "first_token_latency(ms)"}
        with open(older / "request.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            for row in rows:
                cells = {new: row[old] for new, old in columns.items()}
                for new in columns:
                    if columns[new].endswith("(ms)") and not new.startswith("start"):
                        cells[new] = str(float(Fraction(cells[new]) * 1000))
                writer.writerow(cells.values())
        expected = [row for row in self.sheets(server)["ServingLatency"] if row["dp_rank"] is None]
        found = self.sheets(older)["ServingLatency"]
        for row, other in zip(expected, found, strict=True):
            self.assertEqual({**row, "instance": ""}, {**other, "instance": ""})

    def test_broken_rows_are_counted(self):
        server = self.write_server(records.HEALTHY)
        lines = (server / "request.csv").read_text().splitlines()
        lines[3] = lines[3].split(",", 1)[1]  # too few cells
        cells = lines[5].split(",")
        cells[0] = ""
        lines[5] = ",".join(cells)
        cells = lines[7].split(",")
        cells[4], cells[6] = "5", "9"  # the first token behind the last
        lines[7] = ",".join(cells)
        (server / "request.csv").write_text("\n".join(lines) + "\n")
        batches = (server / "batch.csv").read_text().splitlines()
        batches[2] = batches[2].replace("modelExec", "modelExec", 1).rsplit(",", 2)[0] + ",soon,later"
        (server / "batch.csv").write_text("\n".join(batches) + "\n")
        result = self.run_tool(*SERVER_COMMANDS, server, "-o", self.out)
        self.assertEqual(result.code, 5, result.err)
        said = " ".join(result.err)
        for text in ("fewer cells than the header", "it has no id", "later than its end"):
            self.assertIn(text, said)

    def test_a_broken_table_costs_itself(self):
        server = self.write_server(records.HEALTHY)
        (server / "kvcache.csv").write_bytes(b"name,start_time,free_blocks\n" + b"\xff\x00" * 50_000)
        result = self.run_tool(*SERVER_COMMANDS, server, "--json", "-o", self.out)
        self.assertEqual(result.code, 5, result.err)
        sheets = {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}
        self.assertEqual(len(sheets["ServingRequests"]), records.HEALTHY.requests)

    def test_other_commands_refuse(self):
        server = self.write_server(records.HEALTHY)
        for command in (("-m", "compute_op_sum", "-d", server, "-o", self.out), ("advisor", "all", "-d", server),
                        ("compare", "-d", server, "-bp", BASE, "-o", self.out)):
            result = self.run_tool(*command)
            self.assertEqual(result.code, 3, (command, result.err))
            self.assertIn("serving_requests", " ".join(result.errors), command)
        result = self.run_tool(*SERVER_COMMANDS, BASE, "-o", self.out)
        self.assertEqual(result.code, 3)
        self.assertIn("no records of a server's requests", result.errors[0])

    def test_records_of_devices_are_named(self):
        raw = self.write("raw/ascend_service_profiler_host-1.db", b"SQLite format 3\0").parent
        result = self.run_tool(*SERVER_COMMANDS, raw, "-o", self.out)
        self.assertEqual(result.code, 3)
        self.assertIn("ms_service_", result.errors[0])

    def test_other_files_of_the_name(self):
        """request.csv of somebody else is no record of a server."""
        other = self.write("other/request.csv", "name,amount\nbread,2\n").parent
        result = self.run_tool(*SERVER_COMMANDS, other, "-o", self.out)
        self.assertEqual(result.code, 3)
        self.assertIn("no records of a server's requests", result.errors[0])

    def test_beside_a_capture_of_a_device(self):
        """The capture keeps every byte of what is said of it; its device time belongs to the server's."""
        job = self.capture_copy().parent
        plain = self.run_tool("-m", "compute_op_sum", "-d", job, "--json", "-o", self.out)
        self.write_server(records.HEALTHY, "server")
        beside = self.run_tool("-m", "compute_op_sum", "-d", job, "--json", "-o", self.out)
        self.assertEqual((plain.code, plain.out, plain.all_err), (beside.code, beside.out, beside.all_err))
        found = self.sheets(job)
        self.assertEqual(len(found["ServingRequests"]), records.HEALTHY.requests)

    def test_check_names_the_tables(self):
        server = self.write_server(records.HEALTHY)
        result = self.run_tool("check", server)
        self.assertEqual(result.code, 0, result.err)
        for text in ("records of a server", "request, batch, forward, kvcache, request_status", "serving_requests"):
            self.assertIn(text, result.out)
        document = json.loads(self.run_tool("check", server, "--json").out)
        (rank,) = document["ranks"]
        self.assertEqual(rank["kind"], "server_records")
        able = [one["name"] for one in rank["analyzers"] if one["ability"] != "cannot_run"]
        self.assertEqual(able, ["compare: requests of a server", "cluster: serving_requests"])

    def test_a_single_database(self):
        server = self.write_server(records.HEALTHY, form="db", spans=False)
        latency = [[{**row, "instance": ""} for row in self.sheets(path)["ServingLatency"]]
                   for path in (server, server / "profiler.db")]
        self.assertEqual(*latency)


class Causes(Server):
    def test_each_cause_is_named_first(self):
        for name, (plan, twin) in records.PLANS.items():
            with self.subTest(name):
                planted = self.write_server(plan, f"{name}/planted")
                found = self.sheets(planted)["ServingFindings"]
                self.assertTrue(found, name)
                self.assertEqual(found[0]["finding"], name)
                for row in found:
                    for column in ("title", "evidence", "mend", "refuted_by"):
                        self.assertTrue(row[column], (name, column))
                    self.assertTrue(row["share_percent"] is None or 0 <= row["share_percent"] <= 100)
                healthy = self.write_server(twin, f"{name}/healthy")
                self.assertEqual(self.sheets(healthy)["ServingFindings"], [], name)
                shutil.rmtree(self.scratch / name)

    def test_another_run_of_the_server(self):
        for seed in (7, 8):
            for plan in (records.HEALTHY, records.TRANSFERS, records.TWO_INSTANCES):
                healthy = self.write_server(plan, f"healthy{seed}", seed=seed)
                self.assertEqual(self.sheets(healthy)["ServingFindings"], [], seed)
                shutil.rmtree(healthy)

    def test_the_screen(self):
        for name, (plan, _) in records.PLANS.items():
            with self.subTest(name):
                planted = self.write_server(plan, name)
                result = self.run_tool(*SERVER_COMMANDS, planted, "-o", self.out)
                self.assertEqual(result.code, 0, result.err)
                lines = result.out.splitlines()
                self.assertLessEqual(len(lines), 40, name)
                self.assertLessEqual(max(map(len, lines)), 80, name)
                title = self.sheets(planted)["ServingFindings"][0]["title"]
                self.assertTrue(result.out.startswith(title), (name, lines[0]))

    def test_numbers_of_the_evidence(self):
        """What a finding says of the planted cause, computed from the files."""
        server = self.write_server(records.PLANS["scheduler_slow"][0], "scheduler")
        rows = rows_of(server / "batch.csv")
        mean = [sum(float(row["during_time(ms)"]) for row in rows if row["name"] == name) /
                sum(row["name"] == name for row in rows) for name in ("batchFrameworkProcessing", "modelExec")]
        (found,) = self.sheets(server)["ServingFindings"]
        for value in mean:
            self.assertIn(f"{value:.2f} ms", found["evidence"])
        server = self.write_server(records.PLANS["kv_blocks_short"][0], "blocks")
        again, decoded = 0, set()
        for row in rows_of(server / "batch.csv"):
            if row["name"] != "batchFrameworkProcessing":
                continue
            for one in ast.literal_eval(row["res_list"]):
                if one["type"] == 1:
                    decoded.add(one["rid"])
                elif one["rid"] in decoded:
                    decoded.remove(one["rid"])
                    again += 1
        self.assertGreater(again, 0)
        self.assertIn(f"{again} prompts were read again", self.sheets(server)["ServingFindings"][0]["evidence"])

    def test_who_is_out_of_step(self):
        """The rank, how late it is and what that costs, computed from the passes of both ranks."""
        server = self.write_server(records.PLANS["forwards_out_of_step"][0])
        (found,) = self.sheets(server)["ServingFindings"]
        self.assertEqual(found["where"], "dp 1")
        starts = defaultdict(list)
        for row in rows_of(server / "forward.csv"):
            starts[int(row["dp_rank"])].append(nanoseconds(row["start_time(ms)"]))
        late = [second - first for first, second in zip(starts[0], starts[1]) if second > first]
        self.assertIn(f"{percentile(late, 50) / 1e6:.3f} ms behind", found["evidence"])
        self.assertIn(f"{100 * len(late) / len(starts[0]):.0f} % of {len(starts[0])} rounds", found["evidence"])

    def test_out_of_step_at_the_end(self):
        plan = records.replace(records.TOGETHER, late_end=(0, 8 * records.MS, 0.9))
        (found,) = self.sheets(self.write_server(plan))["ServingFindings"]
        self.assertEqual((found["finding"], found["where"]), ("forwards_out_of_step", "dp 0"))
        self.assertIn("ends its forward pass", found["evidence"])

    def test_clocks_that_differ_are_innocent(self):
        """Begin and end are equally far apart: nobody waits."""
        server = self.write_server(records.TOGETHER)
        rows = rows_of(server / "forward.csv")
        for row in rows:
            if row["dp_rank"] == "1":
                for column in ("start_time(ms)", "end_time(ms)"):
                    row[column] = f"{float(row[column]) + 9:.3f}"
        self.write_rows(server / "forward.csv", rows)
        self.assertEqual(self.sheets(server)["ServingFindings"], [])

    def test_ranks_that_do_not_wait_for_each_other(self):
        """They run side by side, at their own pace, as with dense models."""
        plan = records.replace(records.HEALTHY, weights=(3, 2), per_second=9)
        self.assertEqual(self.sheets(self.write_server(plan))["ServingFindings"], [])

    def test_an_overlapped_scheduler_is_innocent(self):
        """As slow, but while batches run: nothing waits for it."""
        plan = records.replace(records.PLANS["scheduler_slow"][0], is_async=True)
        self.assertEqual(self.sheets(self.write_server(plan))["ServingFindings"], [])

    def test_full_blocks_without_waiting_are_no_finding(self):
        """Nearly all blocks are in use, but nobody waits and nothing is read again."""
        server = self.write_server(records.HEALTHY)
        for name in ("batch", "kvcache"):
            rows = rows_of(server / f"{name}.csv")
            for row in rows:
                if int(row["total_blocks"]):
                    row["free_blocks"] = 20
            self.write_rows(server / f"{name}.csv", rows)
        self.assertEqual(self.sheets(server)["ServingFindings"], [])


class ServerGate(Server):
    """Two runs of a server: percentiles side by side, and a verdict on them."""

    def gate(self, base, comparison, *rules):
        rules = [word for rule in rules for word in ("--fail_on", rule)]
        result = self.run_tool("compare", "-bp", base, "-d", comparison, "--json", "-o", self.out, *rules)
        return result, json.loads(result.out) if result.out else None

    def test_slower_requests_fail(self):
        base = self.write_server(records.HEALTHY, "base")
        slow = self.write_server(records.replace(records.HEALTHY, step=30 * records.MS), "slow")
        result, document = self.gate(base, slow, "tpot_p50>+5%", "ttft_p99>+5%")
        self.assertEqual(result.code, 1, result.err)
        metrics = {metric["name"]: metric for metric in document["metrics"]}
        for side, directory in (("base", base), ("comparison", slow)):
            rows = rows_of(directory / "request.csv")
            firsts = [nanoseconds(row["first_token_latency(ms)"]) for row in rows]
            self.assertIn(percentile(firsts, 99), metrics["ttft_p99"].values(), side)
        self.assertEqual(metrics["tpot_p50"]["verdict"].lower(), "regression")

    def test_the_same_server_passes(self):
        base = self.write_server(records.HEALTHY, "base", seed=11)
        for seed in (12, 13, 14):
            again = self.write_server(records.HEALTHY, f"again{seed}", seed=seed)
            result, _ = self.gate(base, again, "ttft_p50>+10%", "tpot_p50>+5%", "e2e_p50>+15%")
            self.assertNotEqual(result.code, 1, (seed, result.out))

    def test_a_baseline_keeps_the_requests(self):
        base = self.write_server(records.HEALTHY, "base")
        file = self.scratch / "baseline.json"
        saved = self.run_tool("compare", "-d", base, "--save_baseline", file, "--fail_on", "ttft_p99>+5%")
        self.assertEqual(saved.code, 0, saved.err)
        result, document = self.gate(file, base, "ttft_p99>+5%", "queue_p90>+5%")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(len(document["metrics"]), 2)

    def test_several_instances_count_together(self):
        base = self.write_server(records.TWO_INSTANCES, "base")
        result, document = self.gate(base, base, "ttft_p90>+5%")
        self.assertIn(result.code, (0, 4), result.err)
        firsts = [nanoseconds(row["first_token_latency(ms)"])
                  for name in ("instance0", "instance1") for row in rows_of(base / name / "request.csv")]
        self.assertIn(percentile(firsts, 90), document["metrics"][0].values())

    def test_few_requests_and_wrong_names(self):
        base = self.write_server(records.replace(records.HEALTHY, requests=8), "base")
        other = self.write_server(records.replace(records.HEALTHY, requests=8), "other", seed=2)
        result, _ = self.gate(base, other, "ttft_p99>+5%")
        self.assertEqual(result.code, 4, result.err)
        self.assertIn("20 are needed", result.out + " ".join(result.err))
        result, _ = self.gate(base, other, "ttft_p95>+5%")
        self.assertEqual(result.code, 2)
        self.assertIn("ttft_p90", result.errors[0])

    def test_compare_shows_percentiles(self):
        base = self.write_server(records.HEALTHY, "base")
        slow = self.write_server(records.replace(records.HEALTHY, step=30 * records.MS, per_second=5), "slow")
        result = self.run_tool("compare", "-bp", base, "-d", slow, "--json", "-o", self.out)
        self.assertEqual(result.code, 0, result.err)
        sheets = {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}
        rows = {(row["quantity"], row["percentile"]): row for row in sheets["RequestCompare"] if row["dp_rank"] is None}
        for side, directory in (("base", base), ("comparison", slow)):
            firsts = [nanoseconds(row["first_token_latency(ms)"]) for row in rows_of(directory / "request.csv")]
            row = rows["time to first token", "p99"]
            self.assertEqual(row[f"{side}_count"], len(firsts))
            self.assertAlmostEqual(row[f"{side}_time_ms"], percentile(firsts, 99) / 1e6, places=4)
        self.assertIn("decode batches", {name for name, _ in rows})

    def test_instances_are_compared_by_name(self):
        base = self.write_server(records.TWO_INSTANCES, "base")
        again = self.write_server(records.TWO_INSTANCES, "again")
        slow = records.replace(records.TWO_INSTANCES, step=30 * records.MS, instances=(1,), requests=200, per_second=4.6)
        shutil.rmtree(again / "instance1")
        records.write(slow, again / "instance1", seed=2)
        records.write(slow, again / "instance7", seed=7)
        result = self.run_tool("compare", "-bp", base, "-d", again, "--json", "-o", self.out)
        self.assertEqual(result.code, 0, result.err)
        sheets = {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}
        rows = {(row["instance"], row["dp_rank"], row["quantity"], row["percentile"]): row
                for row in sheets["RequestCompare"]}
        self.assertEqual({key[:2] for key in rows}, {("", None), *((f"instance{number}", rank) for number in (0, 1)
                                                                   for rank in (None, 0, 1))})
        for side, directory, names in (("base", base, ("instance0", "instance1")),
                                       ("comparison", again, ("instance0", "instance1", "instance7"))):
            times = {name: [nanoseconds(row["first_token_latency(ms)"])
                            for row in rows_of(directory / name / "request.csv")] for name in names}
            times[""] = [time for one in times.values() for time in one]
            for name in ("", "instance0", "instance1"):
                row = rows[name, None, "time to first token", "p90"]
                self.assertEqual(row[f"{side}_count"], len(times[name]), (side, name))
                self.assertAlmostEqual(row[f"{side}_time_ms"], percentile(times[name], 90) / 1e6, places=4)
        dp_rank = {one["rid"]: int(row["dp_rank"]) for row in rows_of(base / "instance0" / "batch.csv")
                   for one in ast.literal_eval(row["res_list"])}
        for rank in (0, 1):
            times = [nanoseconds(row["first_token_latency(ms)"]) for row in rows_of(base / "instance0" / "request.csv")
                     if dp_rank[row["http_rid"]] == rank]
            row = rows["instance0", rank, "time to first token", "p99"]
            self.assertEqual(row["base_count"], len(times))
            self.assertAlmostEqual(row["base_time_ms"], percentile(times, 99) / 1e6, places=4)
        self.assertEqual(rows["instance0", 1, "decode batches", "p50"]["diff_ratio"], 1)
        self.assertGreater(rows["instance1", 0, "decode batches", "p50"]["diff_ratio"], 1.3)
        screen = self.run_tool("compare", "-bp", base, "-d", again, "-o", self.out).out
        self.assertIn("only in the comparison: instance instance7", screen)
        self.assertIn("instance instance1: decode batches run longer", " ".join(screen.split()))


if __name__ == "__main__":
    sys.exit(main(__doc__, Requests, Causes, ServerGate))
