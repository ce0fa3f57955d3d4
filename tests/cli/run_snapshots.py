#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots of PyTorch: what is in use, who holds it, what grows, what does not fit.

    run_snapshots.py --tool BINARY --testdata DIR GROUP [-v]

GROUP: snapshots (made here; see tests/support/snapshots.py), sharedsnapshots (real ones, of ../shared beside the
sources; skipped where there are none). What they hold is played forwards as well (tests/support/snapshot_replay.py).

Exit status: 0 passed, 1 failed, 2 usage.
"""

import gzip
import json
import pickle
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

from cli import DOCS, Cli, main
from snapshot_replay import replays  # noqa: E402
from snapshots import KB, KEPT, MB, OWN, Device, OutOfMemory, document, fragmented, frames, training, write  # noqa: E402

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "snapshots"


def from_one(position):
    return None if position is None else position + 1


class SnapshotRuns(Cli):
    def run_memory(self, path, *options):
        return self.run_tool("-m", "memory_timeline", "-d", path, "-o", self.out, *options)

    def sheets(self, path, code=0):
        result = self.run_memory(path, "--json")
        self.assertEqual(result.code, code, result.all_err)
        return {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}

    def screen(self, path, code=0):
        result = self.run_memory(path)
        self.assertEqual(result.code, code, result.all_err)
        lines = result.out.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80, result.out)
        return lines

    def assert_no_results(self, path):
        result = self.run_memory(path)
        self.assertEqual(result.code, 3, result.all_err)
        self.assertIn("the snapshot is empty", result.all_err)

    def assert_as_replayed(self, path):
        sheets = self.sheets(path)
        expected = replays(path)
        self.assertEqual([row["device"] for row in sheets["SnapshotDevices"]], list(expected))
        for row, (device, replay) in zip(sheets["SnapshotDevices"], expected.items()):
            self.assertEqual(row["held_before_bytes"], replay.before)
            self.assertEqual((row["peak_bytes"], row["peak_action"]), (replay.peak, from_one(replay.peak_action)))
            self.assertEqual(row["actions"], len(replay.trace))
            self.assertEqual(row["end_bytes"], replay.in_use[-1] if replay.in_use else replay.before)
            self.assertEqual(row["end_reserved_bytes"], replay.end_reserved)
            self.assertEqual(row["most_reserved_bytes"], max([replay.reserved_before, *replay.reserved]))
            self.assertEqual(row["contradictions"], 0)
            self.assertEqual((row["free_bytes"], row["free_pieces"], row["largest_free_bytes"]),
                             (sum(replay.free), len(replay.free), max(replay.free, default=0)))
            for name, by_site in (("SnapshotPeak", replay.at_peak), ("SnapshotHeld", replay.at_end)):
                listed = Counter()
                for one in sheets[name]:
                    if one["device"] == device:
                        listed[one["call_site"]] += one["bytes"]
                self.assertEqual(listed, by_site, name)
            for point in (one for one in sheets["SnapshotOverTime"] if one["device"] == device):
                at = point["action"]
                self.assertEqual((point["in_use_bytes"], point["reserved_bytes"]),
                                 (replay.before, replay.reserved_before) if at is None else (replay.in_use[at - 1], replay.reserved[at - 1]))
        return sheets


class Snapshots(SnapshotRuns):
    def test_as_replayed(self):
        """Histories that are whole or cut off, of all forms and protocols, of one and two devices."""
        for form, entries, protocol in (("new", None, 4), ("npu", 61, 2), ("npu", 1, 4), ("old", None, 4), ("old", 33, 2),
                                        ("list", None, 2), ("new", 40, 5)):
            with self.subTest(form=form, entries=entries):
                path = write(self.scratch / "s.pkl", [training(12)[0], fragmented(Device(1, capacity=180 * MB))], form, entries, protocol)
                self.assert_as_replayed(path)

    def test_holders(self):
        """At the peak of the second step: weight, state, both activations, gradient."""
        sheets = self.assert_as_replayed(write(self.scratch / "s.pkl", [training()[0]]))
        held = {(row["function"], row["within"], row["call_site"]): (row["allocations"], row["bytes"]) for row in sheets["SnapshotPeak"]}
        self.assertEqual(held, {("_init_group", "step", "train.py:40"): (1, 48 * MB), ("__init__", "build", "train.py:5"): (1, 24 * MB),
                                ("step", "", "train.py:40"): (1, 24 * MB), ("forward", "", "train.py:20"): (1, 12 * MB + 100),
                                ("forward", "", "train.py:21"): (1, 700 * KB)})
        self.assertEqual(sum(row["bytes"] for row in sheets["SnapshotPeak"]), sheets["SnapshotDevices"][0]["peak_bytes"])
        self.assertEqual({row["call_site"]: row["allocations"] for row in sheets["SnapshotHeld"]}, {"train.py:40": 1, "train.py:5": 1})

    def test_more_sites_than_are_listed(self):
        """The rest is a row of its own, so that the lists add up."""
        device = Device()
        for i in range(70):
            device.allocate((1 + i) * KB, frames(f"/me/model.py:{100 + i} layer"))
        sheets = self.sheets(write(self.scratch / "s.pkl", [device]))
        for name in ("SnapshotPeak", "SnapshotHeld"):
            self.assertEqual(len(sheets[name]), 51)
            self.assertEqual(sum(row["bytes"] for row in sheets[name]), 70 * 71 // 2 * KB)
            self.assertEqual((sheets[name][-1]["function"], sheets[name][-1]["bytes"]), ("(others)", 20 * 21 // 2 * KB))

    def test_growth(self):
        """What each step keeps grows; parameters, states and what a history of one step holds do not."""
        lines = self.screen(write(self.scratch / "s.pkl", [training(leak=8 * MB)[0]]))
        self.assertTrue(lines[0].startswith("memory grows: train.py:42 holds 67.11 MB in 8 allocations"), lines)
        sheets = self.sheets(self.scratch / "s.pkl")
        self.assertEqual({row["call_site"]: row["grows"] for row in sheets["SnapshotHeld"]},
                         {"train.py:42": "yes", "train.py:40": "no", "train.py:5": "no"})
        for healthy in (training(), training(1)):
            lines = self.screen(write(self.scratch / "s.pkl", [healthy[0]]))
            self.assertTrue(lines[0].startswith("peak of "), lines)
            self.assertEqual([row["grows"] for row in self.sheets(self.scratch / "s.pkl")["SnapshotHeld"]], ["no", "no"])
        # One forward pass of many layers, which all keep their outputs.
        device = Device()
        for _ in range(64):
            scratch = device.allocate(6 * MB, frames("/me/model.py:8 layer"))
            device.allocate(4 * MB, frames("/me/model.py:9 layer"))
            device.release(scratch)
        self.assertEqual([row["grows"] for row in self.sheets(write(self.scratch / "s.pkl", [device]))["SnapshotHeld"]], ["no"])

    def test_out_of_memory(self):
        """80 MB are free in pieces of 4 MB: the failure is in words and in a sheet."""
        device = fragmented()
        (failure,) = device.failures
        path = write(self.scratch / "s.pkl", [device])
        text = " ".join(line.strip() for line in self.screen(path)[:3])
        self.assertIn("out of memory although enough is free: 33.55 MB asked at train.py:77, 83.89 MB free in 20 pieces, the"
                      " largest 4.194 MB", text)
        (row,) = self.sheets(path)["SnapshotFailures"]
        self.assertEqual([row[name] for name in ("asked_bytes", "device_free_bytes", "in_use_bytes", "reserved_bytes", "free_bytes",
                                                 "free_pieces", "largest_free_bytes", "call_site")],
                         [failure["asked"], failure["device_free"], failure["in_use"], failure["reserved"], sum(failure["free"]),
                          len(failure["free"]), max(failure["free"]), "train.py:77"])

    def test_the_worst_failure(self):
        """One that a free piece would have served says more than one for which nothing was free, before or behind it."""
        device = fragmented()
        with self.assertRaises(OutOfMemory):
            device.allocate(300 * MB, frames(f"{OWN}:80 whole"))
        lines = self.screen(write(self.scratch / "s.pkl", [device]))
        self.assertTrue(lines[0].startswith("out of memory although enough is free: 33.55 MB asked at train.py:77"), lines)
        self.assertIn("2 allocations failed in all", lines)
        self.assertEqual([row["asked_bytes"] for row in self.sheets(self.scratch / "s.pkl")["SnapshotFailures"]], [32 * MB, 300 * MB])

    def test_fragments_without_a_failure(self):
        """As many bytes in one piece are no fragments."""
        device, healthy = Device(), Device()
        kept = [device.allocate(4 * MB, frames(f"{OWN}:10 cache")) for _ in range(40)]
        for address in kept[::2]:
            device.release(address)
        lines = self.screen(write(self.scratch / "s.pkl", [device]))
        self.assertEqual(lines[0], "fragmented: 83.89 MB of 167.8 MB reserved are free in 20 pieces, the largest")
        kept = [healthy.allocate(4 * MB, frames(f"{OWN}:10 cache")) for _ in range(5)]
        for address in kept[:3]:
            healthy.release(address)
        lines = self.screen(write(self.scratch / "s.pkl", [healthy]))
        self.assertTrue(lines[0].startswith("peak of 20.97 MB in use, 20.97 MB of it by train.py:10"), lines)
        self.assertIn("  free: 12.58 MB in 1 piece; more than 12.58 MB at once needs new memory", lines)

    def test_the_worst_device_is_first(self):
        """Whatever its number and its peak are."""
        devices = [training(device=Device(0), leak=8 * MB)[0], training(device=Device(1), leak=16 * MB)[0], fragmented(Device(2, capacity=180 * MB))]
        lines = self.screen(write(self.scratch / "s.pkl", devices))
        self.assertIn("device 2: out of memory although enough is free", " ".join(line.strip() for line in lines[:2]))
        shown = [re.search(r"device (\d)", line).group(1) for line in lines if re.match(r"  rank .*device \d", line)]
        self.assertEqual(shown, ["2", "1", "0"])

    def test_times(self):
        """Of the peak and of what is held, where they were recorded."""
        device, weight, state = training()
        end = device.trace[-1]["time_us"]
        made = {entry["addr"]: entry["time_us"] for entry in device.trace if entry["action"] == "alloc"}
        sheets = self.sheets(write(self.scratch / "s.pkl", [device]))
        (row,) = sheets["SnapshotDevices"]
        self.assertEqual(row["peak_ns"], device.trace[row["peak_action"] - 1]["time_us"] * 1000)
        self.assertEqual({row["call_site"]: row["oldest_age_ns"] for row in sheets["SnapshotHeld"]},
                         {"train.py:5": (end - made[weight]) * 1000, "train.py:40": (end - made[state]) * 1000})
        sheets = self.sheets(write(self.scratch / "s.pkl", [device], "npu"))
        self.assertEqual({row["oldest_age_ns"] for row in sheets["SnapshotHeld"]} | {sheets["SnapshotDevices"][0]["peak_ns"]}, {None})

    def test_kept_files(self):
        """testdata has what its generator makes, and docs/memory.md shows what the program prints of one."""
        for name, device in KEPT.items():
            self.assertEqual(pickle.loads((self.CAPTURES / "memory_snapshots" / name).read_bytes()), document([device()]), name)
        pages = (DOCS / "memory.md").read_text(encoding="utf-8").split("```")
        (shown,) = [block for block in pages if "snapshot.pkl\nout of memory" in block]
        path = self.scratch / "snapshot.pkl"
        shutil.copy(self.CAPTURES / "memory_snapshots" / "pieces.pkl", path)
        self.assertEqual(shown.splitlines()[2:], self.screen(path))
        new, old = (self.CAPTURES / "memory_snapshots" / name for name in ("leak.pkl", "steady.pkl"))
        (shown,) = [block for block in pages if block.startswith("\nin use at the end")]
        self.assertEqual(shown.strip("\n"), self.compare(new, old).strip("\n"))

    def test_other_commands_refuse(self):
        """They need records of the profiler."""
        path = write(self.scratch / "s.pkl", [training()[0]])
        for command in (["-m", "slow_rank", "-d", path], ["advisor", "all", "-d", path], ["export", "timeline", "-d", path],
                        ["compare", "-d", path, "-bp", path, "--fail_on", "step_time>+3%"]):
            with self.subTest(command[0]):
                result = self.run_tool(*command, "-o", self.out)
                self.assertEqual(result.code, 3, result.all_err)
                self.assertIn("a memory snapshot alone", result.all_err)

    def test_broken_files(self):
        """A pickle that runs code, one that is cut off, one of something else, a text: exit 3, one line, the byte."""
        whole = write(self.scratch / "s.pkl", [training()[0]]).read_bytes()
        path = self.scratch / "broken.pkl"
        for name, content, said in (("code", whole[:-1] + b"cos\nsystem\n.", f"GLOBAL, which runs code or imports and is never followed"),
                                    ("cut", whole[:-100], "the file ends within a value, at byte"),
                                    ("other", b"\x80\x04}(\x8c\x08segmentsK\x01u.", "not of a memory snapshot")):
            with self.subTest(name):
                path.write_bytes(content)
                result = self.run_memory(path)
                self.assertEqual(result.code, 3, result.all_err)
                self.assertIn(said, result.all_err)
        write(path, [Device()])
        self.assert_no_results(path)
        path.write_text("segments")
        self.assert_fails(3, self.run_memory(path), "not a memory snapshot of PyTorch")

    def test_packed_and_renamed(self):
        """The content decides, also below gzip."""
        path = write(self.scratch / "s.pkl", [training()[0]])
        expected = self.sheets(path)["SnapshotPeak"]
        (self.scratch / "dump.bin").write_bytes(path.read_bytes())
        (self.scratch / "s.pkl.gz").write_bytes(gzip.compress(path.read_bytes()))
        for name in ("dump.bin", "s.pkl.gz"):
            rows = self.sheets(self.scratch / name)["SnapshotPeak"]
            self.assertEqual([row | {"snapshot": "", "rank_id": 0} for row in rows],
                             [row | {"snapshot": "", "rank_id": 0} for row in expected])

    def test_directory_of_ranks(self):
        """Each file is a rank by the number in its name."""
        for rank in (0, 3):
            write(self.scratch / "job" / f"snapshot_rank{rank}.pickle", [training(8 + rank)[0]])
        (self.scratch / "job" / "weights.pkl").write_bytes(b"\x80\x04K\x01.")
        rows = self.sheets(self.scratch / "job")["SnapshotDevices"]
        self.assertEqual([(row["rank_id"], row["snapshot"]) for row in rows],
                         [(0, "snapshot_rank0.pickle"), (3, "snapshot_rank3.pickle")])

    def test_beside_a_capture(self):
        """memory_timeline has it in addition; everything else stays as it is."""
        capture = self.scratch / "text_base_ascend_pt"
        shutil.copytree(self.CAPTURES / "text_base_ascend_pt", capture)

        def outputs():
            return {name: self.run_tool(*command, "-d", capture, "-o", self.out).out for name, command in (
                ("slow_rank", ["-m", "slow_rank"]), ("advisor", ["advisor", "all"]), ("export", ["-m", "export_summary"]))}

        before, sheets = outputs(), self.sheets(capture)
        write(capture / "snapshot.pkl", [training()[0]])
        self.assertEqual(outputs(), before)
        self.assertTrue(any(line.startswith("rank 0, device 0 in snapshot.pkl: peak of ") for line in self.screen(capture)))
        with_snapshot = self.sheets(capture)
        self.assertEqual({name: with_snapshot[name] for name in sheets}, sheets)
        self.assertEqual(set(with_snapshot) - set(sheets), {"SnapshotDevices", "SnapshotPeak", "SnapshotHeld", "SnapshotOverTime",
                                                             "SnapshotFailures"})
        # A broken one costs itself.
        (capture / "snapshot.pkl").write_bytes((capture / "snapshot.pkl").read_bytes()[:-9])
        self.assertEqual(self.sheets(capture, code=5), sheets)
        self.assertEqual(outputs(), before)

    def test_check(self):
        path = write(self.scratch / "s.pkl", [training()[0]])
        result = self.run_tool("check", "-d", path, "--json")
        self.assertEqual(result.code, 0, result.all_err)
        (rank,) = json.loads(result.out)["ranks"]
        self.assertEqual((rank["kind"], rank["recorded"]["memory"], rank["recorded"]["kernels"]), ("memory_snapshot", True, False))
        able = {one["name"] for one in rank["analyzers"] if one["ability"] != "cannot_run"}
        self.assertEqual(able, {"cluster: memory_timeline", "compare: memory snapshots"})

    def compare(self, new, old, *options):
        result = self.run_tool("compare", "-d", new, "-bp", old, "-o", self.out, *options)
        self.assertEqual(result.code, 0, result.all_err)
        return result.out

    def compared(self, new, old):
        sheets = json.loads(self.compare(new, old, "--json"))["sheets"]
        return {sheet["name"]: sheet["rows"] for sheet in sheets}["SnapshotCompare"]

    def test_compare(self):
        """By call site: what is new, what grew; the largest difference first."""
        old = write(self.scratch / "old.pkl", [training()[0]])
        new = write(self.scratch / "new.pkl", [training(leak=8 * MB)[0]])
        rows = self.compared(new, old)
        replayed = {"base": replays(old)[0], "comparison": replays(new)[0]}
        self.assertEqual(rows[0]["call_site"], "train.py:42")
        for side, replay in replayed.items():
            for when, expected in (("end", replay.at_end), ("peak", replay.at_peak)):
                listed = Counter()
                for row in rows:
                    listed[row["call_site"]] += round(row[f"{side}_{when}_mb"] * 1e6)
                self.assertEqual(+listed, expected, (side, when))
        self.assertEqual((rows[0]["diff_end_mb"], rows[0]["comparison_end_allocations"]), (64 * MB / 1e6, 8))
        lines = self.compare(new, old).splitlines()
        self.assertEqual(lines[0], "in use at the end: 75.50 MB -> 142.6 MB; train.py:42 +67.11 MB")
        self.assertRegex("\n".join(lines), r"(?m)^train\.py:42 step +0\.00 +67\.11 +\+67\.11 +new$")

    def test_compare_of_lines_that_moved(self):
        """Code above changed: the same sites have other numbers, of which some were those of others."""
        moves = [(f"{OWN}:{line} step", size) for line, size in ((7, 40), (8, 50), (9, 60))]
        paths = []
        for name, down in (("old", 0), ("new", 1)):
            device = Device()
            for place, size in moves:
                file, _, rest = place.rpartition(":")
                line, function = rest.split()
                device.allocate((size + 5 * down * (line == "8")) * MB, frames(f"{file}:{int(line) + down} {function}"))
            device.allocate(30 * MB, frames(f"{OWN}:70 other"))
            paths.append(write(self.scratch / f"{name}.pkl", [device]))
        rows = {row["call_site"]: (row["base_end_mb"], row["comparison_end_mb"]) for row in self.compared(*reversed(paths))}
        self.assertEqual(rows, {f"train.py:{line}": (base * MB / 1e6, new * MB / 1e6) for line, base, new in (
            (8, 40, 40), (9, 50, 55), (10, 60, 60), (70, 30, 30))})
        # One more site: which is which is not known, so the numbers decide.
        device.allocate(20 * MB, frames(f"{OWN}:11 step"))
        write(paths[1], [device])
        rows = {row["call_site"]: (row["base_end_mb"], row["comparison_end_mb"]) for row in self.compared(*reversed(paths))}
        self.assertEqual(rows["train.py:8"], (50 * MB / 1e6, 40 * MB / 1e6))


class SharedSnapshots(SnapshotRuns):
    """Real ones, of torch_npu."""

    def setUp(self):
        super().setUp()
        if not any(SHARED.glob("*.pkl")):
            self.skipTest("there is no folder shared/data/snapshots beside the project")

    def test_as_replayed(self):
        for path in sorted(SHARED.glob("*.pkl")):
            with self.subTest(path.name):
                self.assert_as_replayed(path)

    def test_leak(self):
        """The program keeps 40 MiB in each of three steps."""
        for path in sorted(SHARED.glob("*.pkl")):
            with self.subTest(path.name):
                grows = [row for row in self.sheets(path)["SnapshotHeld"] if row["grows"] == "yes"]
                self.assertEqual([(row["function"], row["allocations"], row["bytes"]) for row in grows],
                                 [("train_one_step", 3, 3 * 40 * MB)])


if __name__ == "__main__":
    sys.exit(main(__doc__, Snapshots, SharedSnapshots))
