#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command lines of README.md, CONTRIBUTING.md and docs/*.md work, and so do their links.

    run_doc_commands.py --tool BINARY --testdata DIR --raw DIR GROUP [-v]

GROUP is one of the classes below: commands, pages. The lines of a page run one after the other in a directory that has what
they name (doc_places.py). They end with 0, or as EXIT_CODES says.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import doc_places
from cli import Cli, DOCS, TIMEOUT_SECONDS
from doc_commands import Page, TOOL, without_comment
from groups import parse_arguments, run_group
from same_tables import recipes_of

ROOT = DOCS.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
# Page and part of a line -> the exit code that the page explains.
EXIT_CODES = {
    ("docs/cases.md", "decode:time_per_token"): 1,  # a regression, too
    ("README.md", "--fail_on 'step_time>+3%'"): 1,  # the regression whose screen is shown
    ("docs/from-python.md", "--fail_on"): 1,
    ("docs/serving.md", "decode:time_per_token"): 1,
    ("docs/serving.md", "ttft_p99"): 4,  # the capture has too few requests to tell
}
INSTALLS, BUILDS, ELSEWHERE = "installs packages", "builds or measures for minutes", "needs another machine"
PACKAGED = "needs the packages; packaging/check_all.sh does the same"
# Lines of blocks that do not run in a test -> why.
NOT_RUN = {
    "tar -xzf msprof-analyze-0.1.0-linux-x86_64.tar.gz && msprof-analyze-0.1.0-linux-x86_64/bin/msprof-analyze --version": PACKAGED,
    "sudo dpkg -i msprof-analyze_0.1.0_amd64.deb": INSTALLS,
    "sudo rpm -i msprof-analyze-0.1.0-1.x86_64.rpm": INSTALLS,
    "pip install ./msprof_analyze_native-0.1.0-py3-none-manylinux2014_x86_64.whl": PACKAGED,
    "scp -r ./msprof-analyze-dist server:/opt/msprof-analyze": ELSEWHERE,
    "./scripts/setup.sh": INSTALLS,
    "./scripts/demo.sh": BUILDS,
    "./scripts/package.sh x86_64": BUILDS,
    "PATH=$PWD/build/release/bin:$PATH": "is for the lines behind it",
    "./scripts/fuzz.sh 1800": BUILDS,
    "./scripts/tidy.sh": BUILDS,
    "./scripts/check_package.sh": BUILDS,
    "./scripts/alone.py": BUILDS,
    **dict.fromkeys((f"./scripts/test.sh{more}" for more in ("", " release -R cli.gate", " asan")), BUILDS),
    **dict.fromkeys((f"cmake --preset release && cmake --build --preset release{more}"
                     for more in ("", " --target msprof-analyze", " --target mpa_bench")), BUILDS),
    "sudo apt-get install libopenmpi-dev openmpi-bin": INSTALLS,
    "cmake --preset release -DMPA_MPI=ON && cmake --build --preset release --target msprof-analyze": BUILDS,
    "build/release/bin/msprof-analyze --version | grep MPI": BUILDS,
    "mpirun -n 4 --map-by ppr:1:node msprof-analyze --mpi -m cluster_time_summary -d ./result -o ./out":
        "needs a program with MPI; run_launchers.py runs it",
    "trace-cmd record -C mono_raw -e sched -e irq -o trace.dat sleep 10": ELSEWHERE,
    "trace-cmd report -t trace.dat > ./result/trace.txt": ELSEWHERE,
    "trace-cmd report -t trace.dat >> ./result/trace.txt": ELSEWHERE,
    "export ENABLE_FUNCTION_MONITOR=True ENABLE_LIBKPERF=True FUNCTION_MONITOR_LOG_PATH=./result": ELSEWHERE,
    "LC_ALL=C lscpu | sed -n 's/^NUMA node\\([0-9]*\\) CPU(s): */# node\\1 cpu list : /p' > ./result/trace.txt": ELSEWHERE,
    "cmake --install build/release --prefix ./msprof-analyze-dist": BUILDS,
    "build/release/bin/mpa_unit_tests --gtest_filter='Intervals.*'": BUILDS,
    "build/release/bin/mpa_bench --benchmark_filter='Trace|Csv' --benchmark_repetitions=5": BUILDS,
    **dict.fromkeys((f"{before}./scripts/bench.sh{more}" for before, more in (
        ("", ""), ("REFERENCE_DIR=./msprof-analyze-python ", ""), ("", " --rows text,jobs --runs 11"), ("", " --huge"),
        ("", " --binary ./old-msprof-analyze --data /data/bench"))), BUILDS),
}
# Words in running text that stand for others.
STAND_FOR = {"COMMAND": "compare", "RECIPE": "module_statistic", "MODE": "all", "DIR": "./result",
             "BASE": "./old_ascend_pt", "COMPARISON": "./new_ascend_pt"}
# Programs that start the tool four times, and the variables that say which one it is.
LAUNCHERS = {"srun": ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID"),
             "mpirun": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"),
             "torchrun": ("RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID")}


def launcher(number, count, run):
    return (f'until [ "$1" = {TOOL} ] || [ "$1" = sh ]; do shift; done\n'
            f'for i in 0 1 2 3; do env {number}=$i {count}=4 {run}=1 "$@" || exit; done')


# Programs that read what the tool writes. These only look whether they can.
STAND_INS = {"flamegraph.pl": 'exec grep -Eq ";.* [0-9]+$" "${@: -1}"', "man": "exec grep -q ^.SH",
             **{name: launcher(*variables) for name, variables in LAUNCHERS.items()},
             "jq": "exec python3 -c 'import json, sys; json.load(sys.stdin)'"}
# What a line that runs has in it.
RUNS = rf"(?<![\w./-]){TOOL}(?![\w-])|^cat > |^({'|'.join(STAND_INS)}) "
# What running text shows of a recipe that readers write.
EXAMPLES = ("-m idle_time", f"{TOOL} -m idle_time")
RAW = None  # set by run()


def pages():
    return [Page(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in PAGES]


class Commands(Cli):
    def setUp(self):
        super().setUp()
        self.pages = pages()
        self.programs = self.scratch / "programs"
        self.programs.mkdir()
        (self.programs / TOOL).symlink_to(self.TOOL)
        for name, script in STAND_INS.items():
            (self.programs / name).write_text(f"#!/bin/bash\n{script}\n", encoding="utf-8")
            (self.programs / name).chmod(0o755)

    def lines(self, page):
        """What runs of a page."""
        inline = [" ".join(STAND_FOR.get(word, word) for word in code.split()) for code in page.inline]
        return [*(line for line in page.commands if without_comment(line) not in NOT_RUN), *filter(self.is_whole, inline)]

    def is_whole(self, code):
        """A command with what it reads, or of help."""
        return re.search(r" \./| -d |\||--(?:help|version)$", code) and not code.startswith(EXAMPLES)

    def run_page(self, page):
        """Each line with its exit code and what it said."""
        lines, place, done = self.lines(page), self.scratch / page.name.replace("/", "_"), []
        doc_places.make(place, page.name, "\n".join(lines), self.CAPTURES, RAW.resolve())
        settings = {"PATH": f"{self.programs}:{os.environ['PATH']}", "COLUMNS": "80", "LANG": "C.UTF-8"}
        for line in lines:
            run = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=place, check=False, encoding="utf-8",
                                 stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS,
                                 env={**os.environ, **settings})
            done.append((line, run.returncode, run.stdout + run.stderr))
        return page, done

    def test_they_run(self):
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(self.run_page, self.pages))
        for page, done in results:
            for line, code, said in done:
                wanted = next((code for (name, part), code in EXIT_CODES.items() if name == page.name and part in line), 0)
                with self.subTest(page=page.name, line=line):
                    self.assertEqual(code, wanted, said)
        self.assertGreater(sum(len(done) for _, done in results), 60)

    def test_the_gate_of_the_readme(self):
        """It prints the verdict that the page shows, and writes what its lines name."""
        readme = self.pages[0]
        _, done = self.run_page(readme)
        (said,) = [said for line, _, said in done if "--fail_on" in line]
        (shown,) = [block for block in readme.text.split("```") if block.startswith("\nREGRESSION")]
        self.assertIn(shown.lstrip("\n"), said)
        for file in ("main.json", "gate.junit.xml", "gate.md"):
            self.assertTrue((self.scratch / "README.md" / file).exists(), file)

    def test_lists_are_up_to_date(self):
        """What does not run is on a page, and its scripts and presets exist; so is what ends with another code."""
        there = {without_comment(line) for page in self.pages for line in page.commands}
        self.assertEqual(set(NOT_RUN) - there, set())
        presets = {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        for line in NOT_RUN:
            for script in re.findall(r"\./(scripts/\S+)", line):
                self.assertTrue(os.access(ROOT / script, os.X_OK), script)
            self.assertLessEqual(set(re.findall(r"--preset (\S+)", line)), presets)
        for name, part in EXIT_CODES:
            (page,) = [page for page in self.pages if page.name == name]
            self.assertTrue(any(part in line for line in self.lines(page)), part)

    def test_every_line_is_known(self):
        for page in self.pages:
            self.assertEqual(page.strangers, [], f"{page.name}: a block of commands begins with ```sh")
            for line in self.lines(page):
                self.assertRegex(line, RUNS, f"{page.name}: it is not in NOT_RUN either")

    def options(self, command):
        """Those that the help of a command lists."""
        return set(re.findall(r"(?<![\w-])--?[A-Za-z]\w*", self.run_tool(*command, "--help", "all").out))

    def test_parts_of_commands_name_options_that_exist(self):
        known = {}
        for page in self.pages:
            parts = [code.removeprefix(f"{TOOL} ") for code in page.inline if not self.is_whole(code)]
            for text in [*page.fragments, *parts]:
                words = [STAND_FOR.get(word, word) for word in text.split()]
                if text.startswith(EXAMPLES):
                    continue
                command = tuple(words[:2] if words[0] in ("-m", "export") else words[:1])
                if command not in known:
                    known[command] = self.options(command)
                options = {word.split("=")[0] for word in words if re.match(r"--?[A-Za-z]", word)}
                with self.subTest(page=page.name, text=text):
                    self.assertEqual(options - known[command] - {"--help"}, set())


class Pages(Cli):
    """What holds for the text of every page."""

    def anchors(self, path):
        """What links to headings of a page are called."""
        return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
                for heading in re.findall(r"(?m)^#+ (.*)$", path.read_text(encoding="utf-8"))}

    def test_links_lead_somewhere(self):
        count = 0
        for page in pages():
            here = ROOT / page.name
            for target in re.findall(r"\]\(((?!https?:)[^)]+)\)", page.prose):
                name, _, anchor = target.partition("#")
                path = here.parent / name if name else here
                with self.subTest(page=page.name, target=target):
                    self.assertTrue(path.exists())
                    if anchor:
                        self.assertIn(anchor, self.anchors(path))
                count += 1
        self.assertGreater(count, 100)

    def test_lines_have_a_length(self):
        for page in pages():
            for line in page.prose.splitlines():
                if not line.startswith("|"):
                    self.assertLessEqual(len(line), 120, f"{page.name}: {line}")

    def test_the_readme(self):
        """It is short, leads to the list of recipes, and has each command."""
        readme = pages()[0]
        self.assertLessEqual(len(readme.text.splitlines()), 160)
        self.assertIn("](docs/recipes.md#all-recipes)", readme.text)
        commands = set(re.findall(r"`(?:export )?([\w-]+)`", readme.prose)) | {"export", "cluster"}
        listed = self.run_tool("--help").out.split("Commands:\n")[1].split("\n\n")[0]
        self.assertEqual(set(re.findall(r"(?m)^  ([\w-]+)", listed)) - commands, set())

    def test_each_recipe_is_described(self):
        """The list in recipes.md is that of the program, and leads to the section of each."""
        path, begin, end = DOCS / "recipes.md", "<!-- recipes: begin -->\n", "<!-- recipes: end -->\n"
        text = path.read_text(encoding="utf-8")
        before, rest = text.split(begin)
        _, behind = rest.split(end)
        rows = []
        for name, summary in recipes_of(self.TOOL).items():
            sections = [section for section in re.split(r"(?m)^## ", behind)[1:] if re.search(rf"\b{name}\b", section)]
            self.assertTrue(sections, f"{name} has no section in {path}")
            heading = min(sections, key=lambda section: name not in section.split("\n")[0].split(", ")).split("\n")[0]
            anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            rows.append(f"| [`{name}`](#{anchor}) | {summary} |\n")
        wanted = before + begin + "| Recipe | Shows |\n|---|---|\n" + "".join(rows) + end + behind
        if os.environ.get("MPA_UPDATE_DOCS"):
            path.write_text(wanted, encoding="utf-8")
            return
        self.assertEqual(text, wanted, "MPA_UPDATE_DOCS=1 writes docs/recipes.md anew")

    def test_each_finding_is_listed(self):
        """And nothing else, in advisor.md."""
        known = self.run_tool(env={"_MSPROF_ANALYZE_COMPLETE": "words", "_MSPROF_ANALYZE_CURRENT": "",
                                   "_MSPROF_ANALYZE_BEFORE": "msprof-analyze\nadvisor\nwhy"}).out.split()
        self.assertIn("rank.late", known)
        table = (DOCS / "advisor.md").read_text(encoding="utf-8").split("| Finding | Says | Needs |")[1].split("\n\n")[0]
        cells = [line.split(" | ")[0] for line in table.splitlines()[1:]]
        self.assertEqual({*re.findall(r"`([\w.]+)`", " ".join(cells))}, {*known} - {"words"})


def run():
    global RAW
    arguments = parse_arguments(__doc__, (Commands, Pages))
    Cli.TOOL, Cli.CAPTURES, RAW = arguments.tool, arguments.captures, arguments.raw
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(run())
