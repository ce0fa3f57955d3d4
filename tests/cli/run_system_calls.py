#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stalls of a host that calls into the operating system, and waits for locks, explain.

    run_system_calls.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: waits (captures of testdata), sharedwaits (real captures of ../shared beside the
sources; skipped without them). The captures get pauses of a known length; what is said of them follows from these.

Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import json
import shutil
import sys
from pathlib import Path

from cli import Cli, main
import retime
from host_waits import Use, add_locks, add_table, add_to_database, add_to_trace, main_thread, pause
from retime.moments import in_span, moments_in_steps, nothing_recorded

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "npu"
MS = 1_000_000
HELPER = 999  # a thread of which the profiler records nothing
KEYS = {"host.system_call", "host.lock", "host.gil"}


class Planted(Cli):
    """Of a capture: pauses, the uses that fill them, and what is said then."""

    def load(self, path):
        capture = retime.load(path)
        self.process, self.thread = main_thread(capture)
        return capture

    def written(self, capture, name="planted_ascend_pt"):
        target = self.scratch / name
        shutil.rmtree(target, ignore_errors=True)
        capture.write(target)
        return target

    def use(self, name, start, end, thread=None, process=None):
        return Use(name, process or self.process, thread or self.thread, start, end - start)

    def diagnosed(self, capture, *options):
        done = self.run_tool("advisor", "all", "-d", capture, "--json", *options)
        self.assertIn(done.code, (0, 5), done.err)
        return json.loads(done.out), done

    def findings(self, capture):
        document, done = self.diagnosed(capture)
        self.assertEqual(done.code, 0, done.err)
        return {found["key"]: found for found in document["findings"]}

    def assert_found(self, capture, key, pauses, place, steps):
        """It is the first finding, of the time of the pauses, at the longest of them."""
        found = self.findings(capture)
        self.assertEqual(next(iter(found)), key, list(found))
        self.assertEqual(KEYS & set(found), {key})
        metrics = {metric["name"]: metric["value"] for metric in found[key]["metrics"]}
        whole = sum(end - start for start, end in pauses)
        self.assertEqual(round(metrics["time_per_step"]), whole // steps)
        self.assertAlmostEqual(found[key]["gain_ns"], whole / steps, delta=0.02 * whole / steps)
        first = found[key]["evidence"][0]
        longest = max(pauses, key=lambda at: at[1] - at[0])
        self.assertEqual((first["name"], first["start_ns"], first["dur_ns"]),
                         (place, longest[0], longest[1] - longest[0]))
        return found[key]

    def assert_silent(self, capture):
        self.assertFalse(KEYS & set(self.findings(capture)))


class Waits(Planted):
    """The run of the twins, whose first step has the moments."""

    def setUp(self):
        super().setUp()
        self.source = self.CAPTURES / "twin_text_base_ascend_pt"

    def stalled(self, *lengths):
        """The capture with pauses in an operator of each step."""
        capture = self.load(self.source)
        moments = moments_in_steps(capture, lambda begin, end: in_span(capture, ("op",), "aten::linear", begin, end))
        pauses = pause(capture, list(zip(moments, lengths)))
        return self.written(capture), pauses

    def test_slow_system_calls(self):
        for add in (add_table, add_to_trace):
            with self.subTest(add=add.__name__):
                capture, pauses = self.stalled(400 * MS, 300 * MS)
                add(capture, [self.use("ioctl", *at) for at in pauses])
                self.assert_found(capture, "host.system_call", pauses, "ioctl", 2)

    def test_without_the_record_it_is_the_operator(self):
        capture, _ = self.stalled(400 * MS, 300 * MS)
        self.assert_silent(capture)

    def test_a_call_within_a_lock_is_the_lock(self):
        capture, pauses = self.stalled(400 * MS, 300 * MS)
        add_table(capture, [self.use("pthread_mutex_lock", *at) for at in pauses] +
                  [self.use("futex", at[0] + 1000, at[1] - 1000) for at in pauses])
        self.assert_found(capture, "host.lock", pauses, "pthread_mutex_lock", 2)

    def test_the_interpreter_lock_names_its_holder(self):
        capture, pauses = self.stalled(400 * MS, 300 * MS)
        uses = []
        for start, end in pauses:
            uses += [self.use("take_gil", start, end), self.use("drop_gil", end + 1000, end + 1000),
                     self.use("take_gil", start - 5000, start - 4000, thread=HELPER),
                     self.use("drop_gil", end, end, thread=HELPER)]
        add_locks(capture, uses)
        self.assert_found(capture, "host.gil", pauses, f"GIL held by thread {HELPER}", 2)

    def test_what_is_usual_is_silent(self):
        """Short calls all the time, short waits for the lock, and threads that wait for work."""
        capture, pauses = self.stalled(400 * MS, 300 * MS)
        calls, locks = [], []
        for start, end in pauses:
            for at in range(start, end - MS, 2 * MS):
                calls.append(self.use("ioctl", at, at + 900_000))
                locks += [self.use("take_gil", at, at + 50_000), self.use("drop_gil", at + 60_000, at + 60_000)]
            calls.append(self.use("pthread_cond_wait", start - 500 * MS, end + 500 * MS, thread=HELPER))
            calls.append(self.use("ioctl", start, end, thread=HELPER))
            calls.append(self.use("ioctl", start, end, process=4))
        add_table(capture, calls)
        add_locks(capture, locks)
        self.assert_silent(capture)

    def test_another_clock_is_said(self):
        capture, pauses = self.stalled(400 * MS, 300 * MS)
        add_table(capture, [self.use("ioctl", start - 60 * MS, end - 30 * MS) for start, end in pauses])
        document, done = self.diagnosed(capture)
        self.assertEqual(done.code, 5)
        self.assertTrue(any("their clock is not that of the capture" in note for note in done.err), done.err)
        self.assertFalse(KEYS & {found["key"] for found in document["findings"]})

    def test_broken_records_cost_themselves_alone(self):
        capture, pauses = self.stalled(400 * MS, 300 * MS)
        add_table(capture, [self.use("ioctl", *at) for at in pauses])
        table = next(capture.glob("msosrt_trace_*"))
        table.write_text(table.read_text(encoding="utf-8") + "1,2,ioctl,now,5\n", encoding="utf-8")
        document, done = self.diagnosed(capture)
        self.assertEqual(done.code, 5)
        self.assertEqual(document["findings"][0]["key"], "host.system_call")
        table.write_text("nothing\n", encoding="utf-8")
        document, done = self.diagnosed(capture)
        self.assertEqual(done.code, 5)
        self.assertTrue(any(table.name in line and "left out" in line for line in done.err), done.err)

    def test_free_time_names_the_call(self):
        capture, pauses = self.stalled(400 * MS, 300 * MS)
        add_table(capture, [self.use("ioctl", *at) for at in pauses])
        done = self.run_tool("-m", "free_analysis", "-d", capture, "-o", self.out)
        self.assertEqual(done.code, 0, done.err)
        self.assertIn("ioctl", done.out)
        self.assertIn("system calls", done.out)

    def test_the_timeline_shows_them(self):
        """On tracks of their threads, without those of other processes."""
        capture, (first, second) = self.stalled(400 * MS, 300 * MS)
        add_table(capture, [self.use("ioctl", *first), self.use("futex", first[0] + MS, first[0] + 2 * MS),
                            self.use("read", *second, process=4)])
        add_locks(capture, [self.use("take_gil", *second), self.use("drop_gil", second[1] + 5 * MS, second[1] + 5 * MS)])
        done = self.run_tool("export", "timeline", "-d", capture, "-o", self.scratch / "t.json")
        self.assertEqual(done.code, 0, done.err)
        events = json.loads((self.scratch / "t.json").read_text(encoding="utf-8"))["traceEvents"]
        tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        shown = [(tracks[e["tid"]], e["name"], round(e["dur"] * 1000)) for e in events
                 if e.get("cat") in ("system_call", "lock")]
        self.assertEqual(sorted(shown), sorted([
            (f"system calls, thread {self.thread}", "ioctl", 400 * MS),
            (f"system calls, thread {self.thread}", "futex", MS),
            (f"locks, thread {self.thread}", "wait: GIL", 300 * MS),
            (f"locks, thread {self.thread}", "hold: GIL", 5 * MS)]))


class SharedWaits(Planted):
    """Real captures: two forms, with and without calls of the runtime."""

    FORMS = {"text": (add_table, add_to_trace), "db": (add_table, add_to_database)}

    def captures(self):
        for form, adds in self.FORMS.items():
            for level in ("level0", "level1"):
                for add in adds:
                    yield SHARED / form / level / "rank0_ascend_pt", add

    def test_the_account_knows_the_call(self):
        """Whatever it costs: other ranks, which were not captured, come late to the collectives that follow."""
        for source, add in self.captures():
            with self.subTest(source=source, add=add.__name__):
                capture = self.load(source)
                moments = moments_in_steps(capture, lambda begin, end: nothing_recorded(capture, begin, end))
                pauses = pause(capture, [(moment, 40 * MS) for moment in moments])
                target = self.written(capture)
                add(target, [self.use("ioctl", *at) for at in pauses])
                document, done = self.diagnosed(target)
                self.assertEqual(done.code, 0, done.err)
                times = [row["leaves"].get("free.system_call", 0) for row in document["accounting"]]
                self.assertEqual(times, [end - start for start, end in pauses])
                self.assertFalse((KEYS - {"host.system_call"}) & {found["key"] for found in document["findings"]})

    def test_calls_within_synchronisations_are_told_once(self):
        """All calls of the runtime wait in ioctl, and the thread of the queue waits for work: nothing is new."""
        for source, add in self.captures():
            with self.subTest(source=source, add=add.__name__):
                target = self.scratch / "same_ascend_pt"
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(source, target)
                capture = self.load(target)
                before = list(self.findings(target))
                waits = [s for s in capture.of("call") if "Synchronize" in s.name or s.name.endswith("aclrtMemcpy")]
                uses = [self.use("ioctl", s.start + 100, s.end - 100) for s in waits if s.dur > 200]
                step = capture.steps()[0]
                uses.append(self.use("pthread_cond_wait", step.start, step.end, thread=HELPER))
                uses.append(self.use("write", step.start, step.start + 5000))  # of no length
                add(target, uses)
                self.assertEqual(list(self.findings(target)), before)


if __name__ == "__main__":
    if "sharedwaits" in sys.argv and not SHARED.is_dir():
        print("skipped: there is no folder shared/data/npu beside the project")
        sys.exit(77)
    sys.exit(main(__doc__, Waits, SharedWaits))
