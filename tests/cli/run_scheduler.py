#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of the operating system's scheduler beside a capture.

    run_scheduler.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: threads (what findings say of planted states, checked against the trace itself),
threadtraces (forms of traces, and those that do not fit), hostthreads (the recipe).
Exit status: 0 passed, 1 failed, 2 usage.
"""

import csv
import json
import re
import shutil
import sys
from collections import defaultdict

from cli import Cli, main
import scheduled_capture as made

FINDINGS = {"preempted": "host.preempted", "own": "host.few_cores", "woken": "host.woken_late",
            "interrupts": "host.interrupts"}
SWITCH = re.compile(r"\[(\d+)\] \S+ (\d+)\.(\d+): sched_switch: prev_comm=(.+) prev_pid=(\d+) .* prev_state=(\S+) ==> "
                    r"next_comm=(.+) next_pid=(\d+)")
WAKE = re.compile(r"\[\d+\] \S+ (\d+)\.(\d+): sched_waking: comm=.+ pid=(\d+)")


def epoch(seconds, micros):
    return int(seconds) * 1_000_000 + int(micros) - made.MONOTONIC + made.EPOCH


def waits_of(text, thread):
    """How long the thread could run and did not, in us, by who got its core: told anew from the lines."""
    waits = defaultdict(int)
    since = core = holder = None
    for line in text.splitlines():
        if found := SWITCH.search(line):
            now = epoch(found[2], found[3])
            if since is not None and (int(found[8]) == thread or found[1] == core):
                waits[holder] += now - since
                since = now
            if int(found[8]) == thread:
                since = None
            elif int(found[5]) == thread and found[6] == "R":
                since, core, holder = now, found[1], found[7]
            elif since is not None and found[1] == core:
                holder = found[7]
            if int(found[5]) == thread and found[6] != "R":
                core, holder = found[1], found[7]
        elif (found := WAKE.search(line)) and int(found[3]) == thread and since is None:
            since = epoch(found[1], found[2])
    return dict(waits)


class Scheduled(Cli):
    def build(self, what, **options):
        return made.build(self.scratch / what, what, **options)

    def diagnose(self, capture, code=0, warnings=0):
        done = self.run_tool("advisor", "all", "-d", capture, "--json", "-o", self.out)
        self.assertEqual((done.code, done.errors), (code, []), done.err)
        about = [line for line in done.warnings if "memory_record" not in line]
        if code == 0:
            self.assertEqual(len(about), warnings, about)
        self.warned = "\n".join(about)
        return {found["id"]: found for found in json.loads(done.out)["findings"]}

    def metric(self, found, name):
        (value,) = [metric["value"] for metric in found["metrics"] if metric["name"] == name]
        return value


class Threads(Scheduled):
    """A thread that launches and does not get a core."""

    def test_each_state_is_named_and_priced(self):
        for what, finding in FINDINGS.items():
            with self.subTest(what=what):
                capture, stalls = self.build(what)
                found = self.diagnose(capture)
                self.assertEqual([name for name in found if name in FINDINGS.values()], [finding])
                # The device waits for all but the moment in which it still has work.
                stall = made.STALL * 1000
                self.assertGreater(found[finding]["gain_ns"], 0.9 * stall)
                self.assertLessEqual(found[finding]["gain_ns"], stall + 4_000)  # with a switch to the kernel
                self.assertEqual(next(iter(found)), finding)
                self.assertEqual(len(stalls), made.STEPS)

    def test_times_are_those_of_the_trace(self):
        for what, finding in (("preempted", "host.preempted"), ("woken", "host.woken_late")):
            with self.subTest(what=what):
                capture, _ = self.build(what)
                waits = waits_of((capture.parent / "trace.txt").read_text(encoding="utf-8"), made.MAIN)
                found = self.diagnose(capture)[finding]
                places = {place["name"]: place for place in found["evidence"]}
                self.assertEqual(places["CSD -> python"]["time_per_step_ns"], waits["CSD"] * 1000 // made.STEPS)
                if what == "preempted":
                    self.assertLessEqual(self.metric(found, "time_per_step"), sum(waits.values()) * 1000 / made.STEPS)
                    self.assertEqual(self.metric(found, "longest_hold_up"), made.STALL * 1000)

    def test_healthy_twins_are_silent(self):
        for what in ("sleeping", "running"):
            with self.subTest(what=what):
                capture, _ = self.build(what)
                found = self.diagnose(capture)
                self.assertEqual([name for name in found if name in FINDINGS.values()], [])
                self.assertEqual(next(iter(found)), "host.unrecorded")

    def test_without_a_trace_nothing_changes(self):
        capture, _ = self.build("preempted")
        (capture.parent / "trace.txt").unlink()
        alone = self.run_tool("advisor", "all", "-d", capture, "--json", "-o", self.out)
        shutil.rmtree(capture / "PROF_000001_20231114221320000_ABC")
        plain = self.run_tool("advisor", "all", "-d", capture, "--json", "-o", self.out)
        self.assertEqual(alone.out, plain.out)
        self.assertNotIn("host.preempted", alone.out)

    def test_free_times_say_who_had_the_core(self):
        capture, _ = self.build("preempted")
        done = self.run_tool("-m", "free_analysis", "-d", capture, "-o", self.out, "--export_type", "text")
        self.assertEqual((done.code, done.errors), (0, []), done.err)
        (file,) = self.out.rglob("free_analysis.csv")
        rows = list(csv.DictReader(file.open(encoding="utf-8")))
        longest = [row["Reason"] for row in rows if float(row["Duration(us)"]) > made.STALL]
        self.assertEqual(len(longest), made.STEPS)
        for reason in longest:
            self.assertTrue(reason.startswith(f"thread python was preempted by CSD for {made.STALL:.1f} us; "), reason)


class ThreadTraces(Scheduled):
    """Traces of all forms, and those that do not belong to the capture."""

    def preempted(self):
        capture, _ = self.build("preempted")
        return capture, capture.parent / "trace.txt"

    def test_forms_say_the_same(self):
        capture, trace = self.preempted()
        text = trace.read_text(encoding="utf-8")
        expected = self.diagnose(capture)["host.preempted"]
        report = "cpus=8\n" + re.sub(r" d\.\.2\. ", " ", "\n".join(text.splitlines()[4:]))
        report = re.sub(r"prev_comm=(\S+) prev_pid=(\d+) prev_prio=(\d+) prev_state=(\S+) ==> next_comm=(\S+) "
                        r"next_pid=(\d+) next_prio=(\d+)", r"\1:\2 [\3] \4 ==> \5:\6 [\7]", report)
        report = re.sub(r"sched_wakeup: comm=(\S+) pid=(\d+) prio=(\d+) target_cpu=(\d+)",
                        r"sched_wakeup: \1:\2 [\3] CPU:\4", report)
        perf = re.sub(r"-(\d+) +\[", r" \1 [", re.sub(r" d\.\.2\. ", " ", "\n".join(text.splitlines()[4:])))
        perf = re.sub(r": sched_", ":       sched:sched_", perf)
        for name, other in (("report.txt", report), ("sched.txt", perf)):
            with self.subTest(form=name):
                trace.unlink(missing_ok=True)
                file = trace.parent / name
                file.write_text(other + "\n", encoding="utf-8")
                self.assertEqual(self.diagnose(capture)["host.preempted"], expected)
                file.unlink()

    def test_perf_says_its_clock(self):
        capture, trace = self.preempted()
        shutil.rmtree(capture / "PROF_000001_20231114221320000_ABC")
        text = trace.read_text(encoding="utf-8")
        at = f"{made.EPOCH // 10**6}.{made.EPOCH % 10**6:06}"
        own = f"{made.MONOTONIC // 10**6}.{made.MONOTONIC % 10**6:06}000"
        trace.write_text(f"# reference time: 2023-11-14 22:13:20.000000 = {at} (TOD) = {own} (monotonic_raw)\n"
                         + "\n".join(text.splitlines()[4:]) + "\n", encoding="utf-8")
        self.assertIn("host.preempted", self.diagnose(capture))

    def test_traces_that_do_not_fit_are_not_used(self):
        capture, trace = self.preempted()
        text = trace.read_text(encoding="utf-8")
        def later(micros):
            return re.sub(r" (\d+)\.(\d{6}): ", lambda found: " {}.{:06}: ".format(
                *divmod(int(found[1]) * 10**6 + int(found[2]) + micros, 10**6)), text)
        cases = {
            "recorded at another time": later(3600 * 10**6),
            "do not run when the profile": later(made.STALL // 2),
            "no thread of the rank's process": text.replace(f"-{made.MAIN} ", "-77 ")
                                                   .replace(f"pid={made.MAIN} ", "pid=77 ")
                                                   .replace(f"-{made.HELPER} ", "-78 ")
                                                   .replace(f"pid={made.HELPER} ", "pid=78 "),
            "make a text of it: trace-cmd report": None,
        }
        for reason, other in cases.items():
            with self.subTest(reason=reason):
                if other is None:
                    trace.unlink()
                    (trace.parent / "trace.dat").write_bytes(b"\x17\x08\x44tracing6\x00")
                else:
                    trace.write_text(other, encoding="utf-8")
                found = self.diagnose(capture, warnings=1)
                self.assertIn(reason, self.warned)
                self.assertNotIn("host.preempted", found)
        (trace.parent / "trace.dat").unlink()
        trace.write_text(text, encoding="utf-8")
        shutil.rmtree(capture / "PROF_000001_20231114221320000_ABC")
        self.assertNotIn("host.preempted", self.diagnose(capture, warnings=1))
        self.assertIn("the clock of the capture is unknown", self.warned)

    def test_lost_events_are_said(self):
        capture, trace = self.preempted()
        lines = trace.read_text(encoding="utf-8").splitlines()
        at = next(i for i, line in enumerate(lines) if "next_comm=CSD" in line)
        lines.insert(at + 1, f"CPU:{made.CORE} [LOST 9 EVENTS]")
        trace.write_text("\n".join(lines) + "\n", encoding="utf-8")
        found = self.diagnose(capture, code=5)
        # Of the first of the stalls nothing is known.
        time = self.metric(found["host.preempted"], "time_per_step")
        self.assertLess(abs(time - made.STALL * 1000 * (made.STEPS - 1) / made.STEPS), 20_000)

    def test_broken_lines_are_counted(self):
        capture, trace = self.preempted()
        text = trace.read_text(encoding="utf-8")
        trace.write_text(text + "python-1000 [002] d..2. 5001.0: sched_switch: prev_comm=\n", encoding="utf-8")
        self.assertIn("host.preempted", self.diagnose(capture, code=5))

    def test_containers_have_other_numbers(self):
        capture, trace = self.preempted()
        text = trace.read_text(encoding="utf-8")
        trace.write_text(text.replace(f"-{made.MAIN} ", "-50321 ").replace(f"pid={made.MAIN} ", "pid=50321 "),
                         encoding="utf-8")
        mapping = {"50321": {"name": "python", "NSpid": str(made.MAIN), "Tgid": "50321", "PPid": "1"},
                   "4711": {"name": "CSD", "NSpid": "", "Tgid": "4711", "PPid": "1"}}
        (trace.parent / "pid_mapping.json").write_text(json.dumps(mapping), encoding="utf-8")
        self.assertIn("host.preempted", self.diagnose(capture))

    def test_ranks_share_the_trace_of_their_machine(self):
        capture, _ = self.preempted()
        job = capture.parent
        text = (job / "trace.txt").read_text(encoding="utf-8")
        (capture / "trace.txt").write_text(text, encoding="utf-8")
        found = self.diagnose(capture, warnings=1)
        self.assertIn("another trace of the scheduler covers the same time", self.warned)
        self.assertIn("host.preempted", found)


class HostThreads(Scheduled):
    """The recipe that lists threads and interrupts."""

    def rows(self, capture, code=0):
        done = self.run_tool("-m", "host_threads", "-d", capture, "-o", self.out, "--export_type", "text")
        self.assertEqual((done.code, done.errors), (code, []), done.err)
        self.screen = " ".join(done.out.split())
        return {file.stem: list(csv.DictReader(file.open(encoding="utf-8"))) for file in self.out.rglob("*.csv")}

    def test_times_add_up_and_are_those_of_the_trace(self):
        capture, _ = self.build("preempted")
        sheets = self.rows(capture)
        (threads,) = [rows for rows in sheets.values() if rows and "running(ns)" in rows[0]]
        (main_thread,) = [row for row in threads if int(row["threadId"]) == made.MAIN]
        states = ("running", "preempted", "woken", "interrupted", "sleeping", "uninterruptible", "unknown")
        self.assertEqual(sum(int(main_thread[f"{state}(ns)"]) for state in states),
                         made.host_span(capture) * 1000)
        waits = waits_of((capture.parent / "trace.txt").read_text(encoding="utf-8"), made.MAIN)
        self.assertEqual(int(main_thread["preempted(ns)"]), sum(waits.values()) * 1000)
        self.assertEqual((main_thread["by"], int(main_thread["by(ns)"])), ("CSD", waits["CSD"] * 1000))
        self.assertEqual(int(main_thread["taken"]), len(re.findall(rf"prev_pid={made.MAIN} .*prev_state=R ",
                                                                   (capture.parent / "trace.txt").read_text())))
        self.assertIn("python (1000) of rank 0 could run and did not for 25.0 ms", self.screen)
        self.assertIn("most of it behind CSD", self.screen)

    def test_interrupts_are_listed_by_core(self):
        capture, stalls = self.build("interrupts")
        (rows,) = [rows for rows in self.rows(capture).values() if rows and "interrupt" in rows[0]]
        (row,) = rows
        count = sum(len(range(begin, end, 100)) for begin, end in stalls)
        self.assertEqual((row["core"], row["interrupt"], int(row["count"])), ("2", "sq_send_trigger_irq", count))
        self.assertEqual((int(row["time(ns)"]), int(row["longest(ns)"])), (count * 95_000, 95_000))
        self.assertEqual(row["ofThreads(ns)"], row["time(ns)"])

    def test_without_a_trace_that_is_said(self):
        capture, _ = self.build("preempted")
        (capture.parent / "trace.txt").unlink()
        done = self.run_tool("-m", "host_threads", "-d", capture, "-o", self.out)
        self.assertEqual(done.code, 3, done.out)
        said = " ".join(done.err)
        self.assertIn("no trace of the operating system's scheduler", said)
        self.assertIn("trace-cmd record -C mono_raw", said)

    def test_check_knows_where_a_trace_is(self):
        def ability(capture):
            (rank,) = json.loads(self.run_tool("check", "--json", "-d", capture).out)["ranks"]
            return {one["name"]: one for one in rank["analyzers"]}["cluster: host_threads"]["ability"]
        capture, _ = self.build("preempted")
        self.assertEqual(ability(capture), "can_run")
        (capture.parent / "trace.txt").unlink()
        self.assertEqual(ability(capture), "cannot_run")


if __name__ == "__main__":
    sys.exit(main(__doc__, Threads, ThreadTraces, HostThreads))
