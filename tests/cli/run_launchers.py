#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs whose ranks are shared by processes of real launchers: Open MPI and Slurm.

    run_launchers.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: mpirun, srun (four nodes, all of them this machine), mpi (the program that sends parts
by MPI; MPA_MPI_TOOL names it). The lines of docs/cluster.md run as they stand.
Exit status: 0 passed, 1 failed, 2 usage, 77 not installed.
"""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

from cli import DOCS, main
from run_shards import OTHER_VERSION, RANKS, RECIPES, TIMEOUT_SECONDS, Shared
from workbook import Workbook

SKIPPED = 77
SLURM = Path(__file__).resolve().parents[1] / "support/slurm_on_loopback.sh"
# Tests run as root, and with fewer cores than processes.
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MPIRUN = ["mpirun", "--oversubscribe", "-n", "4"]
BYTES_OF_A_PIECE = 1 << 20  # kPieceBytes in mpi_job.cc


def blocks(section):
    """Those of a section of docs/cluster.md that are for a shell."""
    text = (DOCS / "cluster.md").read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"(?ms)^```sh\n(.*?)^```$", text)


class Real(Shared):
    """Four processes of a real launcher give the bytes of one run."""

    def setUp(self):
        super().setUp()
        self.place = self.scratch / "place"  # where the commands of the page run
        (self.place / "programs").mkdir(parents=True)
        (self.place / "programs" / "msprof-analyze").symlink_to(self.TOOL)
        (self.place / "result").symlink_to(self.job)

    def launch(self, *command, cwd=None):
        path = f"{self.place / 'programs'}:{os.environ['PATH']}"
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, cwd=cwd,
                              env={**os.environ, **ROOT, "PATH": path})
        if done.returncode == SKIPPED:
            self.skipTest(done.stdout.strip().removeprefix("SKIPPED: "))
        return done

    def in_slurm(self, *command):
        return self.launch(SLURM, self.scratch / "slurm", *command, cwd=self.place)

    def started(self, launch, *options):
        """stdout, and what was written beside the parts."""
        out = self.scratch / "launched"
        shutil.rmtree(out, ignore_errors=True)
        done = self.launch(*launch, self.TOOL, *options, "-d", self.job, "-o", out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("shares are done"), 3, done.stderr)
        return done.stdout, self.results(out)

    def results(self, directory):
        return {name: text for name, text in self.files(directory).items() if not name.startswith("parts/")}

    def judge(self, launch):
        self.assertEqual(self.started(launch, "-m", RECIPES), self.direct())
        advised = self.run_tool("advisor", "all", "-d", self.job, "--json")
        self.assertEqual(self.started(launch, "advisor", "all", "--json")[0], advised.out)

    def run_alone(self, words):
        """In a place like self.place."""
        one = self.scratch / "one"
        (one / "programs").mkdir(parents=True)
        (one / "result").symlink_to(self.job)
        direct = self.run_tool(*words, cwd=one)
        self.assertEqual(direct.code, 0, direct.err)
        return one, direct

    def judge_page(self, words, said, out=None):
        """What the page runs, in self.place, is what one process makes with the same words; `said` is its output, and `out`
        has what it wrote."""
        one, direct = self.run_alone(words)
        for number in range(4):
            self.assertIn(f"share {number} of 4", said)
        lines = [line for line in said.splitlines() if not re.match("msprof-analyze: note: |salloc: ", line)]
        self.assertEqual(lines, [*direct.out.splitlines(), *(line for line in direct.err if ": note: " not in line)])
        ours, theirs = self.pages(out or self.place / "out"), self.pages(one / "out")
        self.assertEqual(ours, theirs)
        self.assertTrue(ours)

    def pages(self, directory):
        """What was written, without the times in names and in workbooks."""
        found = {}
        for name, content in self.results(directory).items():
            if name.endswith(".xlsx"):
                content = [(sheet.name, sheet.rows()) for sheet in Workbook(directory / name).sheets]
            found[re.sub(r"_\d{14}", "", name)] = content
        return found


class Mpirun(Real):
    def test_four_processes(self):
        if shutil.which("mpirun") is None:
            self.skipTest("no mpirun (Debian: openmpi-bin)")
        self.judge(MPIRUN)


class Srun(Real):
    def test_four_nodes(self):
        self.judge([SLURM, self.scratch / "slurm", "srun", "-N4", "-n4"])

    def test_the_batch_script_of_the_page(self):
        (script,) = blocks("Slurm")
        (self.place / "batch.sh").write_text(script, encoding="utf-8")
        done = self.in_slurm("sbatch", "--wait", "batch.sh")
        (log,) = self.place.glob("slurm-*.out")
        said = log.read_text(encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr + said)
        self.judge_page(script.split("msprof-analyze ")[1].split(), said)

    def test_the_batch_script_of_the_page_for_many_ranks(self):
        (script,) = blocks("Many ranks")
        (self.place / "batch.sh").write_text(script, encoding="utf-8")
        done = self.in_slurm("sbatch", "--wait", "batch.sh")
        (log,) = self.place.glob("slurm-*.out")
        self.assertEqual(done.returncode, 0, done.stderr + log.read_text(encoding="utf-8"))
        self.assertEqual(len(list((self.place / "packed").iterdir())), 4)
        one, _ = self.run_alone(["advisor", "all", "-d", "./result", "-o", "./out"])
        self.assertEqual(self.pages(self.place / "out"), self.pages(one / "out"))

    def test_the_line_of_the_page_for_mpirun(self):
        """In an allocation of four nodes: mpirun starts a process on each of them by Slurm."""
        if shutil.which("mpirun") is None:
            self.skipTest("no mpirun (Debian: openmpi-bin)")
        line = blocks("Open MPI")[0]
        done = self.in_slurm("salloc", "-N4", "--ntasks-per-node=1", "sh", "-c", line)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.judge_page(line.split("msprof-analyze ")[1].split(), done.stdout + done.stderr)

    def test_several_processes_on_a_node(self):
        if shutil.which("mpirun") is None:
            self.skipTest("no mpirun (Debian: openmpi-bin)")
        done = self.in_slurm("salloc", "-N4", "--ntasks-per-node=2", "mpirun", "-n", "8", "--map-by", "ppr:2:node",
                             self.TOOL, "-m", RECIPES, "-d", self.job, "-o", self.scratch / "eight")
        self.assertEqual(sorted(re.findall(r"mpirun: share (\d of \d)", done.stderr)), [f"{i} of 8" for i in range(8)])
        self.assertEqual((done.stdout, self.results(self.scratch / "eight")), self.direct())


class Mpi(Real):
    """Processes without a common directory: each has its own -o, and process 0 makes the report in its own."""

    def setUp(self):
        self.mpi = os.environ.get("MPA_MPI_TOOL")
        if not self.mpi or shutil.which("mpirun") is None:
            self.skipTest("no program with MPI, or no mpirun (Debian: libopenmpi-dev openmpi-bin)")
        super().setUp()

    def start(self, *options, own=""):
        """`own`: of a shell, for one process; $rank is its number, and $tool the program."""
        script = self.write("one_of_them.sh", f'tool=$1; shift; rank=$OMPI_COMM_WORLD_RANK\n'
                                              f'set -- "$@" -o "{self.scratch}/of_$rank"\n{own}\nexec "$tool" "$@"\n')
        command = [*MPIRUN, "sh", script, self.mpi, *options, "--mpi"]
        return subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                              env={**os.environ, **ROOT, "COLUMNS": "80"})

    def run_recipes(self, **how):
        done = self.start("-m", RECIPES, "-d", self.job, **how)
        results = self.scratch / "of_0"
        return done, self.results(results) if results.exists() else {}

    def remove_results(self):
        """A database that is replaced table by table counts the changes."""
        for name in ("direct", "of_0/cluster_analysis_output"):
            shutil.rmtree(self.scratch / name, ignore_errors=True)

    def judge_recipes(self):
        self.remove_results()
        out, files = self.direct()
        done, merged = self.run_recipes()
        self.assertEqual((done.returncode, done.stdout), (0, out), done.stderr)
        self.assertEqual(merged, files)
        return done

    def judge_missing(self, done, rank, *ranks):
        """Process `rank` is named, and so are the ranks of its share."""
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr, rf"warning: process {rank} of 4 \(\S+\): .*; ranks of its share are missing")
        self.assertIn("the parts of 2 of 8 ranks are missing: " + ", ".join(f"rank {number}" for number in ranks), done.stderr)

    def parts_of(self, process):
        return {int(re.search(r"rank(\d+)", path.name)[1]) for path in (self.scratch / f"of_{process}/parts").glob("*.part")}

    def test_the_bytes_of_one_run(self):
        done = self.judge_recipes()
        self.assertEqual([len(self.parts_of(process)) for process in range(4)], [RANKS, 2, 2, 2], "process 0 has all")
        self.assertEqual(sorted(path.name for path in (self.scratch / "of_1").iterdir()), ["parts"])
        again = self.judge_recipes()
        self.assertEqual(again.stderr.count("2 were up to date"), 4, again.stderr)
        self.assertNotIn("up to date", done.stderr)

    def test_advisor(self):
        direct = self.run_tool("advisor", "all", "-d", self.job, "--json")
        done = self.start("advisor", "all", "-d", self.job, "--json")
        self.assertEqual((done.returncode, done.stdout), (0, direct.out), done.stderr)
        direct = self.run_tool("advisor", "all", "-d", self.job, "-o", self.scratch / "one", env={"COLUMNS": "80"})
        done = self.start("advisor", "all", "-d", self.job)
        self.assertEqual((done.returncode, done.stdout), (0, direct.out), done.stderr)
        self.assertEqual(self.pages(self.scratch / "of_0"), self.pages(self.scratch / "one"))

    def test_a_common_directory(self):
        out, files = self.direct()
        own = f'exec "$tool" -m {RECIPES} -d "{self.job}" --mpi -o "{self.scratch}/common"'
        done = self.start(own=own)
        self.assertEqual((done.returncode, done.stdout), (0, out), done.stderr)
        self.assertEqual(self.results(self.scratch / "common"), files)

    def test_machines_that_see_their_own_ranks(self):
        """As in a job whose captures were never copied."""
        out, files = self.direct()
        for rank in range(RANKS):
            (path,) = self.job.glob(f"rank{rank}_*")
            here = self.scratch / f"disk_{rank % 4}" / self.job.name
            here.mkdir(parents=True, exist_ok=True)
            path.rename(here / path.name)
        own = f'cd "{self.scratch}/disk_$rank"; exec "$tool" "$@" -d {self.job.name} --local'
        done = self.start("-m", RECIPES, own=own)
        self.assertEqual((done.returncode, done.stdout), (0, out.replace(str(self.job), self.job.name)), done.stderr)
        self.assertEqual(self.results(self.scratch / "of_0"), files)

    def test_parts_of_several_pieces(self):
        """The name of an operator fills them; one part ends with a whole piece."""
        (database,) = self.job.rglob("*profiler_6.db")

        def lengthen(more):
            with sqlite3.connect(database) as capture:
                capture.execute("UPDATE STRING_IDS SET value = value || replace(hex(zeroblob(?)), '00', 'x') WHERE id = "
                                "(SELECT name FROM COMPUTE_TASK_INFO ORDER BY name LIMIT 1)", (more,))
            self.start("-m", "compute_op_sum", "-d", self.job)
            (part,) = (self.scratch / "of_0/parts").glob("compute_op_sum.rank6-*.part")
            return part.stat().st_size

        # A longer text may take another byte for its length.
        size = lengthen(2 * BYTES_OF_A_PIECE)
        while size % BYTES_OF_A_PIECE != 0:
            size = lengthen(-size % BYTES_OF_A_PIECE)
        for more in (0, 5):
            self.assertEqual(lengthen(more), size + more)
            self.assertEqual((size + more) % BYTES_OF_A_PIECE, more)
            self.remove_results()
            direct = self.run_tool("-m", "compute_op_sum", "-d", self.job, "-o", self.scratch / "direct")
            done = self.start("-m", "compute_op_sum", "-d", self.job)
            self.assertEqual((done.returncode, done.stdout), (0, direct.out), done.stderr)
            self.assertEqual(self.results(self.scratch / "of_0"), self.files(self.scratch / "direct"))

    def test_a_machine_without_the_captures(self):
        own = f'test $rank = 2 && exec "$tool" -m {RECIPES} -d "{self.scratch}/none" --mpi -o "{self.scratch}/of_2"'
        done, merged = self.run_recipes(own=own)
        self.judge_missing(done, 2, 2, 6)
        self.assertTrue(merged)

    def test_parts_of_an_earlier_run_do_not_replace_what_is_lost(self):
        self.judge_recipes()
        self.assertIn(2, self.parts_of(0))
        done, _ = self.run_recipes(own='test $rank = 2 && exec prlimit --fsize=1000 "$tool" "$@" --fresh')
        self.judge_missing(done, 2, 2, 6)
        self.assertEqual(self.parts_of(0), set(range(RANKS)) - {2, 6})
        self.judge_recipes()

    def test_a_full_disk(self):
        """No file of a process may have more than 1,000 bytes: its parts have."""
        done, merged = self.run_recipes(own='test $rank = 3 && exec prlimit --fsize=1000 "$tool" "$@"')
        self.judge_missing(done, 3, 3, 7)
        self.assertTrue(merged)
        done, _ = self.run_recipes(own='test $rank = 0 && exec prlimit --fsize=1000 "$tool" "$@" --fresh')
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("process 0 cannot write its parts", done.stderr)
        for process in (1, 2, 3):
            self.assertEqual(self.parts_of(process), {process, process + 4}, "they wait for the next run")
        self.judge_recipes()

    def test_damaged_captures(self):
        (database,) = self.job.rglob("*profiler_5.db")
        database.write_bytes(database.read_bytes()[:5000])
        direct = self.run_tool("-m", "hccl_sum", "-d", self.job, "-o", self.scratch / "direct")
        done = self.start("-m", "hccl_sum", "-d", self.job)
        self.assertEqual((done.returncode, direct.code), (5, 5), done.stderr)
        self.assertEqual(done.stdout, direct.out)
        for warning in direct.warnings:
            self.assertIn(warning, done.stderr)
        self.assertRegex(done.stderr, r"warning: .*rank ?5")

    def test_a_killed_process(self):
        """While process 0 is stopped, process 2 is killed, which waits for it. mpirun ends all, and what is done is kept.
        Not earlier than MPI has started: mpirun 4.1.4 may wait for ever, with no process left, for one that was killed
        while it connected."""
        own = (f'log="{self.scratch}/log_$rank"\n'
               'await() { until grep -qs "share $rank of 4" "$log"; do sleep 0.01; done; }\n'
               'case $rank in\n'
               '0) "$tool" "$@" 2> "$log" & await; kill -STOP $!; wait;;\n'
               '2) "$tool" "$@" 2> "$log" & await; sleep 0.3; kill -9 $!; kill -9 $$;;\n'
               'esac')
        done, _ = self.run_recipes(own=own)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Killed", done.stderr)
        left = subprocess.run(["pgrep", "-f", self.scratch], check=False, capture_output=True, text=True)
        self.assertEqual(left.stdout, "")
        self.assertEqual(self.parts_of(2), {2, 6})
        self.judge_recipes()
        self.assertEqual(list(self.scratch.glob("of_*/parts/.*")), [])

    def test_another_version(self):
        other = self.of_another_version(self.mpi)
        done, _ = self.run_recipes(own=f'test $rank = 1 && tool="{other}"')
        self.judge_missing(done, 1, 1, 5)
        self.assertIn(f"it runs version {OTHER_VERSION}", done.stderr)

    def test_nothing_at_all(self):
        done = self.start("-m", "hccl_sum", "-d", self.scratch / "none")
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn(f"error: {self.scratch}/none: ", done.stderr)

    def test_a_process_alone(self):
        out, files = self.direct()
        run = [self.mpi, "-m", RECIPES, "-d", self.job, "-o", self.scratch / "alone", "--mpi"]
        done = subprocess.run(run, check=False, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
        self.assertEqual((done.returncode, done.stdout, self.results(self.scratch / "alone")), (0, out, files))
        # MPI knows of no others, but there are some, and each would read all ranks.
        done = subprocess.run(run, check=False, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                              env={**os.environ, "PMI_RANK": "1", "PMI_SIZE": "4"})
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("started 4 processes, but MPI knows of only one", done.stderr)

    def test_the_line_of_the_page(self):
        """In an allocation of four nodes, each of which has a disk of its own in place of ./out."""
        if self.launch("unshare", "--mount", "true").returncode != 0:
            self.skipTest("unshare needs the rights of root")
        line = blocks("Open MPI")[-1]
        program = self.place / "programs" / "msprof-analyze"
        program.unlink()
        program.write_text('#!/bin/sh\nexec unshare --mount sh -c \'disk=$1; shift; mount --bind "$disk" out && exec "$@"\' sh '
                           f'"{self.place}/disk_$OMPI_COMM_WORLD_RANK" "{self.mpi}" "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        for name in ("out", *(f"disk_{number}" for number in range(4))):
            (self.place / name).mkdir()
        done = self.in_slurm("salloc", "-N4", "--ntasks-per-node=1", "sh", "-c", line)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        words = [word for word in line.split("msprof-analyze ")[1].split() if word != "--mpi"]
        self.judge_page(words, done.stdout + done.stderr, self.place / "disk_0")
        self.assertEqual(list((self.place / "out").iterdir()), [])
        self.assertEqual([len(list((self.place / f"disk_{number}/parts").glob("*.part"))) for number in range(4)], [RANKS, 2, 2, 2])
        self.assertEqual(self.results(self.place / "disk_1"), {})


if __name__ == "__main__":
    sys.exit(main(__doc__, Mpirun, Srun, Mpi))
