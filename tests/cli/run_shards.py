#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs whose ranks several processes share: --shard, merge, launchers.

    run_shards.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: shards (parts and what may be wrong with them), packed (the same of nodes), launched (processes that find their
share by themselves; the variables are set as srun and mpirun do; run_launchers.py has the real ones).
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from random import Random

from cli import Cli, main
from captures import build_job

TIMEOUT_SECONDS = 120
RANKS = 8
RECIPES = "hccl_sum,slow_rank,cluster_time_summary"
OF_LAUNCHERS = ("SLURM_", "OMPI_", "PMI", "PRTE_")
SECONDS_OF_A_DAY = 86_400
OTHER_VERSION = "0.9.0"


def damage(random, content, at):
    """Turns a bit there, cuts the rest off, or inserts bytes. False: nothing, which leaves a fourth way to the caller."""
    how = random.randrange(4)
    if how == 0:
        content[at] ^= 1 << random.randrange(8)
    elif how == 1:
        del content[at:]
    elif how == 2:
        content[at:at] = random.randbytes(random.randrange(1, 9))
    return how < 3


class Shared(Cli):
    def setUp(self):
        super().setUp()
        self.job = build_job(self.CAPTURES, f"{RANKS}:db_base_ascend_pt:late=5", self.scratch)
        self.parts = self.scratch / "parts"

    def make(self, *options, shards=2):
        for i in range(shards):
            done = self.run_tool(*options, "-d", self.job, "--shard", f"{i}/{shards}", "-o", self.parts)
            self.assertEqual(done.code, 0, done.err)
        return done

    def files(self, directory):
        return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}

    def workbook(self, directory):
        """The parts of the only workbook, without the time at which it was written."""
        (path,) = directory.rglob("*.xlsx")
        with zipfile.ZipFile(path) as book:
            return {name: book.read(name) for name in book.namelist() if name.startswith("xl/")}

    def direct(self):
        done = self.run_tool("-m", RECIPES, "-d", self.job, "-o", self.scratch / "direct")
        self.assertEqual(done.code, 0, done.err)
        return done.out, self.files(self.scratch / "direct")

    def merge(self, *directories):
        out = self.scratch / "merged"
        shutil.rmtree(out, ignore_errors=True)
        done = self.run_tool("merge", *(directories or [self.parts]), "-o", out)
        return done, self.files(out) if out.exists() else {}

    def copy_to_machine(self, machine, ranks):
        """The captures of the job that this machine sees."""
        here = self.scratch / f"machine{machine}" / self.job.name
        here.mkdir(parents=True)
        for rank in ranks:
            (path,) = [path for path in self.job.iterdir() if path.name.startswith(f"rank{rank}_") or path.name == f"rank{rank}"]
            shutil.copytree(path, here / path.name)
        return here

    def of_another_version(self, tool):
        """A copy of the program that says another version, everywhere."""
        version = self.run_tool("--version").out.split()[1]
        copy = self.scratch / f"{Path(tool).name}-{OTHER_VERSION}"
        # Up to the last point: compilers put short texts into instructions of four bytes.
        old, new = (text.rpartition(".")[0].encode() + b"." for text in (version, OTHER_VERSION))
        copy.write_bytes(Path(tool).read_bytes().replace(old, new))
        copy.chmod(0o755)
        said = subprocess.run([copy, "--version"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(said.split()[1], OTHER_VERSION)
        return copy


class Shards(Shared):
    def test_any_number_of_shards_gives_the_same_bytes(self):
        out, files = self.direct()
        for shards in (1, 3, 11):  # of eleven three have no rank
            shutil.rmtree(self.parts, ignore_errors=True)
            self.make("-m", RECIPES, shards=shards)
            done, merged = self.merge()
            self.assertEqual((done.code, done.out, merged), (0, out, files))

    def test_advisor(self):
        direct = self.run_tool("advisor", "all", "-d", self.job, "--json")
        self.make("advisor", "all", shards=3)
        merged = self.run_tool("merge", self.parts, "--json")
        self.assertEqual(merged.out, direct.out)
        self.assertGreater(len(json.loads(merged.out)["accounting"]), RANKS)

    def test_advisor_that_replays_some_ranks(self):
        """Without room for all graphs, one run and merge choose the same ranks."""
        written = self.run_tool("advisor", "all", "-d", self.job, "--memory", "1K", "-o", self.scratch / "direct")
        direct = self.run_tool("advisor", "all", "-d", self.job, "--memory", "1K", "--json")
        self.assertIn(f"1 of {RANKS} ranks were replayed", "\n".join(json.loads(direct.out)["notes"]))
        self.make("advisor", "all", shards=3)
        merged = self.run_tool("merge", self.parts, "--memory", "1K", "--json")
        self.assertEqual((merged.code, merged.out), (0, direct.out))
        # The workbook and the list of operators to tune are of the ranks that were replayed.
        done, _ = self.merge("--memory", "1K", self.parts)
        self.assertEqual((done.code, written.code), (0, 0))
        self.assertEqual(self.workbook(self.scratch / "merged"), self.workbook(self.scratch / "direct"))
        # Rank 5 is late, so that it is not the one that is replayed: of its part the outline is read.
        (part,) = self.parts.glob("advisor.rank5-*")
        content = bytearray(part.read_bytes())
        content[-100] ^= 1
        part.write_bytes(content)
        self.assertEqual(self.run_tool("merge", self.parts, "--memory", "1K", "--json").out, direct.out)
        content[len(content) // 100] ^= 1
        part.write_bytes(content)
        done = self.run_tool("merge", self.parts, "--memory", "1K", "--json")
        self.assertEqual(done.code, 5)
        self.assertIn("its checksum is wrong", "\n".join(done.err))

    def test_advisor_in_any_memory(self):
        """One run reads again what it needs and had no room for, and says what merge says."""
        self.make("advisor", "all", shards=2)
        replayed = set()
        for memory in ("300K", "560K", "600K", "640K", "680K", "1G"):
            direct = self.run_tool("advisor", "all", "-d", self.job, "--memory", memory, "--json")
            merged = self.run_tool("merge", self.parts, "--memory", memory, "--json")
            self.assertEqual((direct.code, merged.code), (0, 0), direct.err)
            self.assertEqual(merged.out, direct.out)
            replayed.add(json.loads(direct.out)["capture"].get("replayed", RANKS))
        self.assertIn(RANKS, replayed)
        self.assertGreater(len(replayed), 2)
        usual = self.run_tool("advisor", "all", "-d", self.job, "--json")
        self.assertEqual(usual.out, direct.out)
        done = self.run_tool("advisor", "all", "-d", self.job, "--shard", "0/2", "--memory", "1G", "-o", self.parts)
        self.assertEqual(done.code, 2)
        self.assertIn("leave --memory out", "\n".join(done.err))

    def test_parts_of_several_directories(self):
        out, files = self.direct()
        self.make("-m", RECIPES)
        other = self.scratch / "other"
        other.mkdir()
        for rank in (1, 4, 5):
            for part in self.parts.glob(f"*.rank{rank}-*"):
                part.rename(other / part.name)
        done, merged = self.merge(self.parts, other)
        self.assertEqual((done.code, done.out, merged), (0, out, files))

    def test_ranks_of_several_machines(self):
        """Each machine sees its own ranks and reads all of them."""
        out, files = self.direct()
        for machine, ranks in enumerate((range(3), range(3, RANKS))):
            here = self.copy_to_machine(machine, ranks)
            done = self.run_tool("-m", RECIPES, "-d", here, "--local", "-o", self.parts)
            self.assertEqual(done.code, 0, done.err)
        done, merged = self.merge()
        # The next command is for one of the machines.
        self.assertEqual((done.code, re.sub(r"machine\d/", "", done.out)), (0, out))
        self.assertEqual(merged, files)

    def test_what_has_not_changed_is_kept(self):
        self.make("-m", "hccl_sum", shards=1)
        before = {path: path.stat().st_ino for path in self.parts.glob("*.part")}
        (database,) = [path for path in self.job.rglob("*profiler_5.db")] or [None]
        os.utime(database)
        done = self.make("-m", "hccl_sum", shards=1)
        self.assertIn(f"{RANKS - 1} were up to date", "\n".join(done.err))
        changed = [path.name for path, inode in before.items() if path.stat().st_ino != inode]
        self.assertEqual([name.split("-")[0] for name in changed], ["hccl_sum.rank5"])
        fresh = self.run_tool("-m", "hccl_sum", "-d", self.job, "--shard", "0/1", "--fresh", "-o", self.parts)
        self.assertNotIn("up to date", "\n".join(fresh.err))

    def test_no_clock_is_read(self):
        """The file server is a day ahead of this machine or behind it. Whether a capture has changed is a question of
        another time, not of a later one."""
        out, files = self.direct()
        captures = [path for path in self.job.rglob("*") if path.is_file()]
        day = SECONDS_OF_A_DAY
        for of_captures, of_parts in ((day, -day), (-day, day)):
            now = time.time()
            for path in captures:
                os.utime(path, (now + of_captures,) * 2)
            done = self.make("-m", RECIPES, shards=1)
            self.assertNotIn("up to date", "\n".join(done.err), "their times are others than before")
            made = list(self.parts.iterdir())
            for path in made:
                os.utime(path, (now + of_parts,) * 2)
            done = self.make("-m", RECIPES, shards=1)
            self.assertIn(f"{RANKS} were up to date", "\n".join(done.err))
            done, merged = self.merge()
            self.assertEqual((done.code, done.out, merged), (0, out, files))

    def test_missing_ranks_are_named(self):
        self.make("-m", "hccl_sum")
        for rank in (2, 6):
            next(self.parts.glob(f"*.rank{rank}-*")).unlink()
        done, merged = self.merge()
        self.assertEqual(done.code, 5)
        self.assertIn("the parts of 2 of 8 ranks are missing: rank 2, rank 6", "\n".join(done.warnings))
        self.assertTrue(merged)

    def test_a_shard_that_did_not_run(self):
        self.assertEqual(self.run_tool("-m", "hccl_sum", "-d", self.job, "--shard", "1/4", "-o", self.parts).code, 0)
        done, _ = self.merge()
        self.assertEqual(done.code, 5)
        self.assertIn("the parts of 6 of 8 ranks are missing", "\n".join(done.warnings))

    def test_a_rank_without_a_part_was_captured(self):
        self.make("-m", "slow_rank")
        self.make("advisor", "all")
        for part in self.parts.glob("*.rank5-*"):
            part.unlink()
        done, _ = self.merge()
        self.assertEqual(done.code, 5)
        self.assertIn("slow_rank: rank 5: its part is missing; run its shard, then merge again",
                      "\n".join(done.warnings))
        self.assertIn("7 of 8 ranks read (1 part missing)", done.out)
        self.assertNotIn("not captured", done.out)
        self.assertNotIn("ranks captured", done.out)

    def part_of(self, rank, recipe="hccl_sum"):
        return next(self.parts.glob(f"{recipe}.rank{rank}-*"))

    def test_parts_say_what_they_are_of(self):
        """Files that were renamed: each is named, with what it is, and its rank left out."""
        self.make("-m", RECIPES + ",compute_op_sum")
        whole = {path: path.read_bytes() for path in self.parts.iterdir()}
        for recipe, target, source, what in (
                ("compute_op_sum", self.part_of(3, "compute_op_sum"), self.part_of(3), "it is of hccl_sum"),
                ("hccl_sum", self.part_of(3), self.part_of(4), "it is of rank 4"),
                ("slow_rank", self.part_of(3, "slow_rank"), self.part_of(3, "cluster_time_summary"),
                 "it is of cluster_time_summary")):
            target.write_bytes(whole[source])
            done = self.run_tool("merge", self.parts, "-m", recipe, "-o", self.scratch / "merged")
            self.assertEqual(done.code, 5, (what, done.err))
            (warning,) = [line for line in done.warnings if target.name in line]
            self.assertIn(f"not what its name says: {what}; rank 3 is left out, run its shard again", warning)
            target.write_bytes(whole[target])
        head, rest = (whole[self.part_of(rank)] for rank in (3, 4))
        cut = head.index(b"msprof-analyze whole part") - 1, rest.index(b"msprof-analyze whole part") - 1
        self.part_of(3).write_bytes(head[:cut[0]] + rest[cut[1]:])
        done, _ = self.merge()
        self.assertEqual(done.code, 5)
        self.assertIn("its halves are of different parts", "\n".join(done.warnings))
        # A shard that runs again does not keep them.
        self.make("-m", RECIPES + ",compute_op_sum")
        self.assertEqual(self.merge()[0].code, 0)

    def test_parts_of_an_earlier_run(self):
        """The captures are replaced by those of the next run, with the old times, as copies have them; one shard runs."""
        self.make("-m", "hccl_sum")
        for path in [path for path in self.job.rglob("*") if path.is_file()]:
            status = path.stat()
            path.write_bytes(path.read_bytes())
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        done = self.run_tool("-m", "hccl_sum", "-d", self.job, "--shard", "0/2", "-o", self.parts)
        self.assertNotIn("up to date", "\n".join(done.err))
        done, _ = self.merge()
        self.assertEqual(done.code, 5)
        (old,) = [line for line in done.warnings if "of an earlier run or another job" in line]
        self.assertIn("4 times, first ", old)

    def test_parts_of_another_build(self):
        out, _ = self.direct()
        commit = self.run_tool("--version").out.split("commit")[1].split()[0]
        if commit == "unknown":
            self.skipTest("the sources were no checkout of git")
        self.make("-m", RECIPES)
        part = self.part_of(3)
        whole = part.read_bytes()
        other = commit[:-1] + ("0" if commit[-1] != "0" else "1")
        part.write_bytes(whole.replace(commit.encode(), other.encode()))
        done, _ = self.merge()
        self.assertEqual(done.code, 5)
        self.assertIn(f"made by a build of commit {other}", "\n".join(done.warnings))
        self.make("-m", RECIPES)
        done, _ = self.merge()
        self.assertEqual((done.code, done.out), (0, out))

    def test_parts_of_two_jobs(self):
        """Both lists are of the same recipe and options, and no rank is in both."""
        self.make("-m", "hccl_sum")
        other = self.scratch / "other"
        (capture,) = [path for path in self.job.iterdir() if path.name.startswith("rank7_")]
        shutil.copytree(capture, other / "rank8_ascend_pt")
        (database,) = other.rglob("*_7.db")
        database = database.rename(database.with_name("ascend_pytorch_profiler_8.db"))
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE RANK_DEVICE_MAP SET rankId = 8")
            for table in ("TASK", "COMMUNICATION_OP", "PYTORCH_API", "STEP_TIME", "SESSION_TIME_INFO"):
                begin, end = ("startTimeNs", "endTimeNs") if table == "SESSION_TIME_INFO" else ("startNs", "endNs")
                day = SECONDS_OF_A_DAY * 10**9
                connection.execute(f"UPDATE {table} SET {begin} = {begin} + {day}, {end} = {end} + {day}")
        done = self.run_tool("-m", "hccl_sum", "-d", other, "--shard", "0/1", "-o", self.parts)
        self.assertEqual(done.code, 0, done.err)
        done, _ = self.merge()
        self.assertEqual(done.code, 5, done.err)
        (warning,) = [line for line in done.warnings if "another job" in line]
        self.assertIn("rank 8 is left out, it belongs to another job than the other 8 captures: it begins 24.0 hours after",
                      warning)

    def test_forged_parts(self):
        """Bytes that change, are lost or are added anywhere: the numbers are those of the whole parts, or the exit code
        says that they are not."""
        out, _ = self.direct()
        self.make("-m", RECIPES)
        random = Random(12)
        whole = {path: path.read_bytes() for path in sorted(self.parts.iterdir())}
        for number in range(60):
            changed = random.sample(sorted(whole), 3)
            for path in changed:
                content = bytearray(whole[path])
                at = random.randrange(len(content))
                if not damage(random, content, at):
                    content = bytearray(whole[random.choice(sorted(whole))])
                path.write_bytes(content)
            done, _ = self.merge()
            is_whole = all(path.read_bytes() == whole[path] for path in changed)
            self.assertIn(done.code, (0, 3, 5), (number, changed, done.err))
            self.assertEqual(done.code == 0, is_whole, (number, changed, done.err))
            if is_whole:
                self.assertEqual(done.out, out)
            for path in changed:
                path.write_bytes(whole[path])

    def test_damaged_parts_are_named(self):
        self.make("-m", "hccl_sum")
        part = next(self.parts.glob("*.rank3-*"))
        whole = part.read_bytes()
        for at in (0, 30, len(whole) // 2, len(whole) - 1):
            part.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            done, _ = self.merge()
            self.assertEqual(done.code, 5, at)
            self.assertIn(part.name, "\n".join(done.warnings))
        part.write_bytes(b"")
        self.assertEqual(self.merge()[0].code, 5)
        self.make("-m", "hccl_sum")
        self.assertEqual((self.merge()[0].code, part.read_bytes()), (0, whole))

    def test_parts_of_other_versions_are_named(self):
        out, _ = self.direct()
        self.make("-m", RECIPES)
        part = next(self.parts.glob("hccl_sum.rank3-*"))
        version = part.name.split(".", 2)[2].rsplit(".", 2)[0]
        other = part.with_name(part.name.replace(f".{version}.", ".99.0.0."))
        shutil.copy(part, other)
        done, _ = self.merge()
        self.assertEqual((done.code, done.out), (0, out))
        self.assertIn(other.name, "\n".join(done.warnings))

    def test_a_list_that_is_missing(self):
        """Parts are there; of which ranks the job consists is not."""
        self.make("-m", RECIPES)
        lists = {path.name.split(".")[0]: path for path in self.parts.glob("*.job")}
        self.assertEqual(sorted(lists), sorted(RECIPES.split(",")))
        lists.pop("slow_rank").unlink()
        error = f"{self.parts}: the list of ranks slow_rank.*.job is missing, without which {RANKS} parts cannot be merged"
        done, merged = self.merge()
        self.assertEqual((done.code, merged), (3, {}))
        self.assertIn(error, " ".join(done.err))
        self.assertEqual(self.run_tool("merge", self.parts, "-m", "hccl_sum", "-o", self.out).code, 0)
        for path in lists.values():
            path.unlink()
        done, _ = self.merge()
        self.assert_fails(3, done, "cluster_time_summary.*.job is missing", "run a shard again")
        self.make("-m", RECIPES)
        self.assertEqual(self.merge()[0].code, 0)

    def test_some_lists_that_are_missing(self):
        """Each machine makes a list of its own ranks; without one of them nothing tells whether its ranks are of the job."""
        lists = []
        for machine, ranks in enumerate((range(3), range(3, RANKS))):
            here = self.copy_to_machine(machine, ranks)
            self.assertEqual(self.run_tool("-m", "hccl_sum", "-d", here, "--local", "-o", self.parts).code, 0)
            lists += set(self.parts.glob("*.job")) - set(lists)
        text = lists[0].read_bytes()
        lists[0].unlink()
        done, merged = self.merge()
        self.assertEqual((done.code, merged), (3, {}))
        self.assertIn("the list of ranks hccl_sum.*.job is missing, without which 3 parts cannot be merged: hccl_sum.rank0-",
                      " ".join(done.err))
        # A list that is there, but damaged, is named with its ranks; the others are merged.
        lists[0].write_bytes(text[:-1])
        done, _ = self.merge()
        self.assertEqual(done.code, 5)
        self.assertIn(f"{lists[0].name}: the part ends early; the list is left out", "\n".join(done.warnings))
        self.assertIn("3 parts belong to ranks that the job does not have", "\n".join(done.warnings))
        lists[0].write_bytes(text)
        self.assertEqual(self.merge()[0].code, 0)

    def test_ranks_that_are_gone(self):
        """The list of the job is that of the last run."""
        self.make("-m", "hccl_sum")
        (capture,) = [path for path in self.job.iterdir() if path.name.startswith("rank7_") or path.name == "rank7"]
        shutil.rmtree(capture)
        done = self.make("-m", "hccl_sum")
        self.assertIn("were up to date", "\n".join(done.err))
        done, _ = self.merge()
        self.assertEqual(done.code, 0, done.err)
        self.assertIn("hccl_sum.rank7", "\n".join(done.warnings))
        self.make("-m", "hccl_sum", shards=3)  # lists that are written again still know of it
        self.assertEqual(self.merge()[0].code, 0)

    def test_two_parts_of_a_rank(self):
        self.make("-m", "hccl_sum")
        copy = self.scratch / "copy"
        (capture,) = [path for path in self.job.iterdir() if path.name.startswith("rank2_") or path.name == "rank2"]
        shutil.copytree(capture, copy / f"again_{capture.name}")
        self.assertEqual(self.run_tool("-m", "hccl_sum", "-d", copy, "--shard", "0/1", "-o", self.parts).code, 0)
        done, merged = self.merge()
        self.assertEqual((done.code, merged), (3, {}))
        self.assertIn("two parts of rank 2", done.err[-1])

    def test_different_options(self):
        self.make("-m", "hccl_sum")
        self.make("-m", "hccl_sum", "--top_num", "3")
        done, merged = self.merge()
        self.assertEqual((done.code, merged), (3, {}))
        self.assertIn("different options", done.err[-1])

    def test_a_killed_shard_leaves_nothing_broken(self):
        out, files = self.direct()
        for delay in (0.002, 0.01, 0.03, 0.1):
            process = subprocess.Popen([self.TOOL, "-m", RECIPES, "-d", self.job, "--shard", "0/1", "-o", self.parts],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.make("-m", RECIPES)
        done, merged = self.merge()
        self.assertEqual((done.code, done.out, merged), (0, out, files))
        self.assertEqual([path.name for path in self.parts.iterdir() if path.suffix not in (".part", ".job")], [])

    def test_a_full_disk(self):
        """No file may have more than 1,000 bytes: some parts have."""
        out, files = self.direct()
        done = subprocess.run(["prlimit", "--fsize=1000", self.TOOL, "-m", RECIPES, "-d", self.job, "--shard", "0/1",
                               "-o", self.parts], check=False, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertTrue(all(path.stat().st_size < 1000 for path in self.parts.iterdir()))
        self.make("-m", RECIPES)
        done, merged = self.merge()
        self.assertEqual((done.code, done.out, merged), (0, out, files))

    def test_two_merges_at_once(self):
        out, files = self.direct()
        self.make("-m", RECIPES)
        merging = [subprocess.Popen([self.TOOL, "merge", self.parts, "-o", self.scratch / "merged"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        outputs = [(process.communicate()[0], process.returncode) for process in merging]
        self.assertEqual(outputs, [(out, 0)] * 4)
        merged = self.files(self.scratch / "merged")
        self.assertEqual(merged.keys(), files.keys())
        self.assertEqual(*(self.tables(self.scratch / name) for name in ("merged", "direct")))

    @staticmethod
    def tables(directory):
        (path,) = directory.rglob("*.db")
        with sqlite3.connect(path) as database:
            return [*database.iterdump()]

    def test_usage(self):
        run = ("-m", "hccl_sum", "-d", self.job)
        for wrong in (["--mpi", "--shard", "0/2"], ["--shard", "3/3"], ["--shard", "x"], ["--shard", "1/0"], ["--shard", "-1/2"], ["--shard", "auto"],
                      ["--fresh"], ["--shard", "off", "--local"]):
            done = self.run_tool(*run, *wrong, "-o", self.parts)
            self.assertEqual(done.code, 2, (wrong, done.err))
        self.assertEqual(self.run_tool(*run, "--shard", "0/2").code, 2)
        if "MPI           none" in self.run_tool("--version").out:
            done = self.run_tool(*run, "--mpi", "-o", self.parts)
            self.assert_fails(2, done, "built without MPI", "--shard I/N", "a directory -o that all machines see")
        self.assertEqual(self.run_tool("advisor", "why", "1", "-d", self.job, "--mpi").code, 2)
        self.assertEqual(self.run_tool("merge", self.scratch / "none").code, 3)
        self.assertEqual(self.run_tool("merge").code, 2)
        self.assertEqual(self.run_tool("merge", self.job).code, 3)


class Packed(Shared):
    """Parts that nodes pack before they are merged: what holds for parts holds for packed ones."""

    NODES = 3

    def setUp(self):
        super().setUp()
        self.packed = self.scratch / "packed"

    def make_on_nodes(self, *options):
        nodes = [self.scratch / f"node{i}" for i in range(self.NODES)]
        for i, node in enumerate(nodes):
            done = self.run_tool(*options, "-d", self.job, "--shard", f"{i}/{self.NODES}", "-o", node)
            self.assertEqual(done.code, 0, done.err)
        return nodes

    def pack(self, *directories, out=None, code=0):
        before = self.packs(out)
        done = self.run_tool("merge", "--partial", *directories, "-o", out or self.packed)
        self.assertEqual(done.code, code, done.err)
        new = self.packs(out) - before
        return new.pop() if len(new) == 1 else None

    def packs(self, out=None):
        return set((out or self.packed).glob("*.pack"))

    def test_packed_and_loose_parts_give_the_same_bytes(self):
        out, files = self.direct()
        nodes = self.make_on_nodes("-m", RECIPES)
        for node in nodes:
            self.pack(node)
        self.assertEqual(len(self.files(self.packed)), self.NODES)
        again = self.scratch / "again"
        self.pack(self.packed, out=again)
        mixed = self.scratch / "mixed"
        self.pack(nodes[0], out=mixed)
        for path in nodes[1].iterdir():
            shutil.copy(path, mixed)
        warnings = self.merge(*nodes)[0].warnings
        for directories in ([self.packed], [again], [mixed, nodes[2]], [nodes[1], self.packed, again]):
            done, merged = self.merge(*directories)
            self.assertEqual((done.code, done.warnings, done.out, merged), (0, warnings, out, files), directories)
        self.assertEqual(self.run_tool("merge", again, "-m", "slow_rank", "--json", "-o", self.out).out,
                         self.run_tool("merge", *nodes, "-m", "slow_rank", "--json", "-o", self.out).out)

    def test_some_recipes_alone(self):
        nodes = self.make_on_nodes("-m", RECIPES)
        done = self.run_tool("merge", "--partial", *nodes, "-m", "hccl_sum", "-o", self.packed)
        self.assertIn(f"{RANKS} parts are in {next(iter(self.packs()))}", "\n".join(done.err))
        self.assert_fails(3, self.run_tool("merge", self.packed, "-m", "slow_rank", "-o", self.out), "no parts")

    def test_advisor_reads_the_beginning_and_what_it_replays(self):
        nodes = self.make_on_nodes("advisor", "all")
        direct = self.run_tool("advisor", "all", "-d", self.job, "--memory", "1K", "--json").out
        pack = self.pack(*nodes)
        self.assertEqual(self.run_tool("merge", self.packed, "--json").out,
                         self.run_tool("advisor", "all", "-d", self.job, "--json").out)
        whole = pack.read_bytes()
        marks = [found.start() for found in re.finditer(b"msprof-analyze whole part", whole)]
        heads = [found.start() for found in re.finditer(rb"msprof-analyze part\n?", whole)]
        self.assertEqual((len(marks), len(heads)), (RANKS, RANKS))
        self.assertLess(max(heads), min(marks))
        damaged = []
        for begin, end in zip(marks, [*marks[1:], len(whole)]):
            content = bytearray(whole)
            content[(begin + end) // 2] ^= 1
            pack.write_bytes(content)
            done = self.run_tool("merge", self.packed, "--memory", "1K", "--json")
            if done.out != direct:
                damaged.append(done)
        (of_replayed,) = damaged  # of the others nobody looks at it
        self.assert_fails(3, of_replayed, "no part can be read completely")

    def test_a_damaged_rank_loses_no_other(self):
        out, files = self.direct()
        nodes = self.make_on_nodes("-m", RECIPES)
        pack = self.pack(*nodes)
        whole = pack.read_bytes()
        (part,) = [path for node in nodes for path in node.glob("slow_rank.rank5-*")]
        content = part.read_bytes()
        cut = content.index(b"msprof-analyze whole part") - 1
        for piece in (content[:cut], content[cut + 1:]):
            at = whole.index(piece) + len(piece) // 2
            pack.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            done, _ = self.merge(self.packed)
            self.assertEqual(done.code, 5, done.err)
            (warning,) = [line for line in done.warnings if "rank 5 is left out" in line]
            self.assertIn(f"{pack}: {part.name}: damaged: its checksum is wrong; rank 5 is left out, run its shard again",
                          warning)
            self.assertFalse([line for line in done.warnings if "left out" in line and "rank 5" not in line])
            # As it says: the shard of the rank has run again, and its part is beside the packed ones.
            done, merged = self.merge(self.packed, *nodes)
            self.assertEqual((done.code, done.out, merged), (0, out, files))

    def test_a_file_that_is_cut(self):
        nodes = self.make_on_nodes("-m", "hccl_sum")
        pack = self.pack(*nodes)
        whole = pack.read_bytes()
        lost = []
        for size in range(0, len(whole), max(1, len(whole) // 40)):
            pack.write_bytes(whole[:size])
            done, _ = self.merge(self.packed)
            self.assertIn(done.code, (3, 5), size)
            self.assertIn(str(pack), "\n".join([*done.warnings, *done.err]))
            lost.append(RANKS if done.code == 3 else len({rank for line in done.warnings for rank in re.findall(r"rank (\d) is left out", line)}))
        self.assertEqual(lost[0], RANKS)

    def test_bytes_that_change_anywhere(self):
        out, _ = self.direct()
        for node in self.make_on_nodes("-m", RECIPES):
            self.pack(node)
        random = Random(65)
        whole = {path: path.read_bytes() for path in sorted(self.packs())}
        for number in range(60):
            path = random.choice(sorted(whole))
            content = bytearray(whole[path])
            at = random.randrange(len(content)) if number % 2 else random.randrange(len(content) // 8)
            if not damage(random, content, at):
                content[at:at + 64] = whole[random.choice(sorted(whole))][at:at + 64][::-1]
            path.write_bytes(content)
            done, _ = self.merge(self.packed)
            if bytes(content) == whole[path]:
                self.assertEqual((done.code, done.out), (0, out), number)
            else:
                self.assertIn(done.code, (3, 5), (number, path, at, done.err))
                self.assertIn(str(path), "\n".join([*done.warnings, *done.err]), (number, at))
            path.write_bytes(whole[path])

    def test_of_another_build_or_version(self):
        nodes = self.make_on_nodes("-m", "hccl_sum")
        pack = self.pack(*nodes)
        whole = pack.read_bytes()
        other = self.of_another_version(self.TOOL)
        done = subprocess.run([other, "merge", self.packed, "-o", self.out], check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(f"{pack}: made by version", done.stderr.replace("\n", " "))
        done = subprocess.run([other, "merge", "--partial", *nodes, "-o", self.scratch / "other"], check=False,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        commit = self.run_tool("--version").out.split("commit")[1].split()[0]
        if commit == "unknown":
            return
        changed = commit[:-1] + ("0" if commit[-1] != "0" else "1")
        pack.write_bytes(whole.replace(commit.encode(), changed.encode(), 1))
        self.assert_fails(3, self.merge(self.packed)[0], f"made by a build of commit {changed}")
        # A node with another build: its part of rank 3 is not packed, and the rank is named then and later.
        (part,) = [path for node in nodes for path in node.glob("*.rank3-*")]
        part.write_bytes(part.read_bytes().replace(commit.encode(), changed.encode()))
        pack.unlink()
        self.pack(*nodes, code=5)
        done, _ = self.merge(self.packed)
        self.assertEqual(done.code, 5)
        self.assertIn("hccl_sum: rank 3: its part is missing", "\n".join(done.warnings))

    def test_of_an_earlier_run(self):
        """Captured again: what a node packs replaces what it packed before; beside that it is told."""
        nodes = self.make_on_nodes("-m", "hccl_sum")
        self.pack(*nodes)
        old = self.scratch / "old"
        shutil.copytree(self.packed, old)
        (part,) = [path for node in nodes for path in node.glob("*.rank5-*")]
        content = part.read_bytes()
        (capture,) = self.job.rglob("*profiler_5.db")
        os.utime(capture)
        self.make_on_nodes("-m", "hccl_sum")
        self.pack(*nodes)
        self.assertEqual(len(self.packs()), 1)
        self.assertEqual(self.merge(self.packed)[0].code, 0)
        done, merged = self.merge(old, self.packed)
        self.assertEqual((done.code, merged), (3, {}))
        self.assert_fails(3, done, f"{next(iter(self.packs(old)))}: hccl_sum.", "list the ranks of different runs; remove the older one")
        part.write_bytes(content)
        self.pack(*nodes)
        done, _ = self.merge(self.packed)
        self.assertEqual(done.code, 5)
        self.assertIn(f"{part.name}: of an earlier run or another job: the files of its capture have changed; rank 5 is left out",
                      "\n".join(done.warnings))

    def test_two_packed_parts_of_a_rank(self):
        nodes = self.make_on_nodes("-m", "hccl_sum")
        copy = self.scratch / "copy"
        (capture,) = [path for path in self.job.iterdir() if path.name.startswith("rank2_") or path.name == "rank2"]
        shutil.copytree(capture, copy / f"again_{capture.name}")
        other = self.scratch / "other"
        self.assertEqual(self.run_tool("-m", "hccl_sum", "-d", copy, "--shard", "0/1", "-o", other).code, 0)
        self.pack(*nodes)
        self.pack(other)
        done, merged = self.merge(self.packed)
        self.assertEqual((done.code, merged), (3, {}))
        self.assertIn("two parts of rank 2", done.err[-1])

    def test_lists_that_are_missing(self):
        nodes = self.make_on_nodes("-m", "hccl_sum")
        for path in [path for node in nodes for path in node.glob("*.job")]:
            path.unlink()
        done = self.run_tool("merge", "--partial", nodes[0], "-o", self.packed)
        self.assert_fails(3, done, f"{nodes[0]}: the list of ranks hccl_sum.*.job is missing", "run a shard again")
        self.assertEqual(self.packs(), set())
        missing = self.make_on_nodes("-m", "hccl_sum")[:2]
        self.pack(*missing)
        done, _ = self.merge(self.packed)
        self.assertEqual(done.code, 5)
        self.assertRegex("\n".join(done.warnings), r"the parts of \d of 8 ranks are missing: rank .*; run their shards, then merge")

    def test_killed_and_without_room(self):
        out, files = self.direct()
        nodes = self.make_on_nodes("-m", RECIPES)
        self.packed.mkdir()
        for delay in (0.002, 0.005, 0.01, 0.02):
            process = subprocess.Popen([self.TOOL, "merge", "--partial", *nodes, "-o", self.packed],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
            if self.packs():
                self.assertEqual(self.merge(self.packed)[0].code, 0)
        for path in self.packs():
            path.unlink()
        done = subprocess.run(["prlimit", "--fsize=20000", self.TOOL, "merge", "--partial", *nodes, "-o", self.packed],
                              check=False, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual(list(self.packed.iterdir()), [])
        self.pack(*nodes)
        done, merged = self.merge(self.packed)
        self.assertEqual((done.code, done.out, merged), (0, out, files))

    def test_two_at_once(self):
        out, files = self.direct()
        nodes = self.make_on_nodes("-m", RECIPES)
        packing = [subprocess.Popen([self.TOOL, "merge", "--partial", *nodes, "-o", self.packed],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(4)]
        self.assertEqual([process.wait() for process in packing], [0] * 4)
        self.assertEqual(len(self.files(self.packed)), 1)
        done, merged = self.merge(self.packed)
        self.assertEqual((done.code, done.out, merged), (0, out, files))

    def test_usage(self):
        nodes = self.make_on_nodes("-m", "hccl_sum")
        self.assert_fails(2, self.run_tool("merge", "--partial", nodes[0]), "--partial needs -o")
        self.assert_fails(2, self.run_tool("merge", "--partial", nodes[0], "--json", "-o", self.packed), "leave --json out")
        self.assertEqual(self.run_tool("merge", "--partial", "-o", self.packed).code, 2)
        self.assert_fails(3, self.run_tool("merge", "--partial", self.job, "-o", self.packed), "no parts; --shard makes them")


class Launched(Shared):
    """Four processes of a launcher, at once or one after the other."""

    COUNT = 4
    SRUN = {"SLURM_STEP_NUM_TASKS": COUNT, "SLURM_NTASKS": COUNT, "SLURM_JOB_ID": 7, "SLURM_STEP_ID": 0}
    OPEN_MPI = {"OMPI_COMM_WORLD_SIZE": COUNT, "PMIX_NAMESPACE": "prterun-node-12@1"}

    def start(self, number, variables, *options):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(OF_LAUNCHERS)}
        own = {"SLURM_PROCID": number} if "SLURM_JOB_ID" in variables else {"OMPI_COMM_WORLD_RANK": number}
        return subprocess.Popen([self.TOOL, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**clean, **{name: str(value) for name, value in {**variables, **own}.items()}})

    def launch(self, variables, *options):
        processes = [self.start(i, variables, *options) for i in range(self.COUNT)]
        ends = [(*process.communicate(), process.returncode) for process in processes]
        self.assertEqual([code for _, _, code in ends], [0] * self.COUNT, ends)
        return [out for out, _, _ in ends if out]

    def test_the_last_one_merges(self):
        out, files = self.direct()
        for variables in (self.SRUN, self.OPEN_MPI):
            shutil.rmtree(self.scratch / "launched", ignore_errors=True)
            printed = self.launch(variables, "-m", RECIPES, "-d", self.job, "-o", self.scratch / "launched")
            self.assertEqual(printed, [out])
            found = self.files(self.scratch / "launched")
            left = {name for name in found if name.startswith("parts/") and not name.endswith((".part", ".job"))}
            self.assertEqual(len(left), 1, "the file of the one that merged")
            self.assertEqual({name: text for name, text in found.items() if not name.startswith("parts/")}, files)

    def test_advisor(self):
        direct = self.run_tool("advisor", "all", "-d", self.job, "--json")
        printed = self.launch(self.SRUN, "advisor", "all", "-d", self.job, "--json", "-o", self.scratch / "launched")
        self.assertEqual(printed, [direct.out])

    def test_one_that_never_ends(self):
        options = ("-m", RECIPES, "-d", self.job, "-o", self.scratch / "launched")
        for i in (0, 1, 3):
            out, err = self.start(i, self.SRUN, *options).communicate()
            self.assertEqual(out, "")
            self.assertIn("of 4 shares are done", err)
        done, _ = self.merge(self.scratch / "launched/parts")
        self.assertEqual(done.code, 5)
        self.assertIn("the parts of 2 of 8 ranks are missing", "\n".join(done.warnings))
        # A restart, with another number of the step.
        printed = self.launch({**self.SRUN, "SLURM_STEP_ID": 1}, *options)
        self.assertEqual(printed, [self.direct()[0]])

    def test_a_machine_with_another_version(self):
        """It ends before the last one, which merges."""
        options = ("-m", RECIPES, "-d", self.job, "-o", self.scratch / "launched")
        own, self.TOOL = self.TOOL, self.of_another_version(self.TOOL)
        self.assertEqual(self.start(2, self.SRUN, *options).communicate()[0], "")
        self.TOOL = own
        for i in (0, 1):
            self.start(i, self.SRUN, *options).communicate()
        last = self.start(3, self.SRUN, *options)
        out, err = last.communicate()
        self.assertEqual(last.returncode, 5, err)
        self.assertIn("the parts of 2 of 8 ranks are missing: rank 2, rank 6", err)
        self.assertRegex(err, rf"left out: .*rank2-\w+\.{OTHER_VERSION}\.")
        self.assertTrue(out)

    def test_a_daemon_of_mpirun_that_srun_started(self):
        """All processes of a machine inherit the number of its daemon; their own is that of mpirun."""
        daemon = {"SLURM_PROCID": 0, "SLURM_STEP_NUM_TASKS": 2, "SLURM_JOB_ID": 7, "SLURM_STEP_ID": 0}
        options = ("-m", RECIPES, "-d", self.job, "-o", self.scratch / "launched")
        said = [self.start(1, {**daemon, **self.OPEN_MPI, "OMPI_COMM_WORLD_RANK": rank}, *options).communicate()
                for rank in range(self.COUNT)]
        self.assertEqual([out for out, _ in said], ["", "", "", self.direct()[0]])
        for rank, (_, err) in enumerate(said):
            self.assertIn(f"share {rank} of {self.COUNT}", err)

    def test_what_is_not_shared(self):
        """A batch script has SLURM_NTASKS; off; a process alone; a variable of training."""
        out, _ = self.direct()
        batch = {"SLURM_NTASKS": 4, "SLURM_JOB_ID": 7}
        alone = {**self.SRUN, "SLURM_STEP_NUM_TASKS": 1}
        one_of_mpirun = {"OMPI_COMM_WORLD_SIZE": 1, "SLURM_STEP_NUM_TASKS": 4, "SLURM_PROCID": 2}
        for variables, options in ((batch, []), (alone, []), (one_of_mpirun, []), (self.SRUN, ["--shard", "off"]),
                                   ({"RANK": 0, "WORLD_SIZE": 4, "OMPI": ""}, [])):
            done = self.start(0, variables, "-m", RECIPES, "-d", self.job, "-o", self.scratch / "whole", *options)
            self.assertEqual(done.communicate()[0], out)

    def test_torchrun(self):
        options = ("-m", RECIPES, "-d", self.job, "--shard", "auto", "-o", self.scratch / "launched")
        variables = {"WORLD_SIZE": 2, "TORCHELASTIC_RUN_ID": "run-5"}
        ends = [self.start(0, {**variables, "RANK": rank}, *options).communicate()[0] for rank in (1, 0)]
        self.assertEqual(ends, ["", self.direct()[0]])


if __name__ == "__main__":
    sys.exit(main(__doc__, Shards, Packed, Launched))
