#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What shells and man know about the program: completion, pages of the manual, --version.

    run_shells.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: bash, zsh, fish, manual, version.
A shell reads the script that the program writes for it, and completes a line as after a press of Tab.
Exit status: 0 passed, 1 failed, 2 usage, 77 skipped: the shell is not installed.
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time

from cli import Cli, main

SKIPPED = 77
COMMANDS = ["compare", "cluster", "check", "parse", "advisor", "export", "query", "schema", "mcp", "skill", "history",
            "auto-completion", "man", "merge"]
REQUEST = "_MSPROF_ANALYZE_COMPLETE"


class Terminal:
    """A shell that thinks somebody types."""

    def __init__(self, command, env, cwd):
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.chdir(cwd)
            os.execvpe(command[0], command, env)
        self.seen = ""

    def type(self, text):
        os.write(self.file, text.encode())

    def wait_for(self, pattern, seconds=30):
        """The match, in what came since the last one."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(pattern, self.seen, flags=re.DOTALL)
            if found:
                self.seen = self.seen[found.end():]
                return found
            if select.select([self.file], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.file, 65536).decode(errors="replace")
                except OSError:
                    break
        raise AssertionError(f"{pattern} did not come; there is: {self.seen}")

    def close(self):
        os.close(self.file)
        os.waitpid(self.process, 0)


class Completion(Cli):
    """The same of every shell; a subclass says how its shell completes."""

    SHELL = None

    def setUp(self):
        super().setUp()
        os.symlink(self.TOOL, self.scratch / "msprof-analyze")
        for name in ("capture_a", "capture_b"):
            (self.scratch / name).mkdir()
        self.write("trace.json", "")

    def environment(self):
        return {**os.environ, "PATH": f"{self.scratch}:{os.environ['PATH']}", "HOME": str(self.scratch),
                "TERM": "dumb", "LC_ALL": "C.UTF-8"}

    def script(self):
        return subprocess.run([self.TOOL], env={**os.environ, REQUEST: f"{self.SHELL}_source"}, check=True,
                              capture_output=True, encoding="utf-8").stdout

    def completed(self, line):
        """The words that may stand at the end of the line."""
        raise NotImplementedError

    def assert_completed(self, line, *words):
        self.assertEqual(sorted(self.completed(line)), sorted(words), line)

    def assert_among(self, line, has, lacks):
        found = self.completed(line)
        self.assertEqual((set(has) - set(found), set(lacks) & set(found)), (set(), set()), (line, found))

    def test_commands(self):
        self.assert_completed("msprof-analyze ", *COMMANDS)
        self.assert_completed("msprof-analyze c", "compare", "cluster", "check")
        self.assert_completed("msprof-analyze -v co", "compare")

    def test_options(self):
        self.assert_completed("msprof-analyze compare --sc", "--screen")
        self.assert_completed("msprof-analyze compare --disable_", "--disable_details", "--disable_module")
        self.assert_among("msprof-analyze parse --", ["--export_type", "--force", "--jobs"],
                          ["--fail_on", "--mode", "--screen"])
        self.assert_among("msprof-analyze --", ["--version", "--mode"], ["--fail_on"])

    def test_options_of_recipes(self):
        self.assert_completed("msprof-analyze -m head_overhead --po", "--policy")
        self.assert_among("msprof-analyze cluster -m operator_mfu --", ["--peak_tflops", "--rank_list"], ["--policy"])
        self.assert_among("msprof-analyze -m operator_mfu,head_overhead --", ["--peak_tflops", "--policy"], [])
        self.assert_among("msprof-analyze -m hccl_sum --", ["--rank_list"], ["--policy", "--peak_tflops"])

    def test_choices(self):
        self.assert_completed("msprof-analyze compare --screen ", "fit", "wide")
        self.assert_completed("msprof-analyze advisor --fail_on h", "high")
        self.assert_completed("msprof-analyze parse --export_type t", "text")
        self.assert_completed("msprof-analyze -m head_overhead --phase ", "steady", "compile")
        self.assert_completed("msprof-analyze auto-completion z", "zsh")
        self.assert_completed("msprof-analyze man au", "auto-completion")

    def test_recipes(self):
        self.assert_completed("msprof-analyze -m hccl", "hccl_sum")
        self.assert_completed("msprof-analyze cluster --mode slow_", "slow_rank", "slow_link")

    def test_values_behind_equals(self):
        self.assertEqual(self.completed("msprof-analyze compare --screen=f"), ["--screen=fit"])
        self.assertEqual(self.completed("msprof-analyze --mode=hccl"), ["--mode=hccl_sum"])

    def test_lists(self):
        self.assertEqual(self.completed("msprof-analyze -m hccl_sum,slow_r"), ["hccl_sum,slow_rank"])
        self.assertEqual(self.completed("msprof-analyze compare --export_type xlsx,js"), ["xlsx,json"])

    def test_hyphens(self):
        self.assertEqual(self.completed("msprof-analyze compare --disable-d"), ["--disable-details"])

    def test_findings(self):
        self.assert_completed("msprof-analyze advisor why rank.late_h", "rank.late_host")
        self.assert_completed("msprof-analyze advisor timeline pp.", "pp.bubble", "pp.stage_imbalance")
        self.assert_completed("msprof-analyze advisor s", "schedule")
        self.assert_completed("msprof-analyze export timeline -d . --around pp.", "pp.bubble", "pp.stage_imbalance")
        self.assert_completed("msprof-analyze export t", "timeline")

    def test_paths_where_paths_belong(self):
        for start in ("compare -d ", "compare -bp ", "check ", "-m hccl_sum -d "):
            self.assert_among(f"msprof-analyze {start}", ["capture_a", "capture_b", "trace.json"], [])
        self.assert_among("msprof-analyze compare -o ", ["capture_a", "capture_b"], ["trace.json"])
        for start in ("compare --max_kernel_num ", "--", "compare --screen ", "advisor --top "):
            self.assert_among(f"msprof-analyze {start}", [], ["capture_a", "trace.json"])


class TypedCompletion(Completion):
    """A subclass starts its shell so that Control-X a puts all words into the line that Tab would show,
    and Control-X t prints the line."""

    def setUp(self):
        super().setUp()
        self.write("completion", self.script())
        self.shell = self.start()
        self.addCleanup(self.shell.close)
        self.shell.wait_for("ready> ")

    def start(self):
        raise NotImplementedError

    def completed(self, line):
        control_u, control_x = "\x15", "\x18"
        self.shell.type(f"{line}{control_x}a{control_x}t{control_u}")
        text = self.shell.wait_for(r"LINE<(.*?)>\r?\n").group(1)
        start = line[:line.rindex(" ") + 1]
        self.assertTrue(text.startswith(start), text)
        added = [word.rstrip("/,") for word in text[len(start):].split()]
        return [] if added == [line[len(start):]] and added[0] in ("--", "") else added


class Bash(TypedCompletion):
    SHELL = "bash"

    def start(self):
        self.write("bashrc", """. ~/completion
PS1='ready> '
bind '"\\C-xa": insert-completions'
bind -x '"\\C-xt": printf "LINE<%s>\\n" "$READLINE_LINE"'
""")
        return Terminal(["bash", "--noprofile", "--rcfile", "bashrc", "-i"], self.environment(), self.scratch)

    def test_the_line_that_activates_it(self):
        for shell in ("Bash", "bash", "Zsh", "fish"):
            result = self.run_tool("auto-completion", shell)
            self.assertEqual((result.code, result.err), (0, []))
            line = result.out.splitlines()[2]
            self.assertIn(f"{REQUEST}={shell.lower()}_source msprof-analyze", line)
        self.assertEqual(self.run_tool("auto-completion").out, self.run_tool("auto-completion", "Bash").out)
        line = self.run_tool("auto-completion").out.splitlines()[2]
        done = subprocess.run(["bash", "--norc", "-c", f"{line}; complete -p msprof-analyze"],
                              env=self.environment(), check=True, capture_output=True, encoding="utf-8")
        self.assertEqual(done.stdout, "complete -F _msprof_analyze msprof-analyze\n")
        self.assert_fails(2, self.run_tool("auto-completion", "csh"), "csh")


class Zsh(TypedCompletion):
    SHELL = "zsh"

    def start(self):
        self.write(".zshrc", """autoload -U compinit; compinit -u -D
. ~/completion
PS1='ready> '
zle -C all-matches complete-word _generic
bindkey '^Xa' all-matches
zstyle ':completion:all-matches::::' completer _all_matches _complete
zstyle ':completion:all-matches:*' insert true
tell() { print -r -- "LINE<$BUFFER>" }
zle -N tell
bindkey '^Xt' tell
unsetopt zle_bracketed_paste prompt_cr
""")
        return Terminal(["zsh", "-i"], self.environment(), self.scratch)


class Fish(Completion):
    SHELL = "fish"

    def completed(self, line):
        self.write("completion", self.script())
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source completion; complete -C {repr(line)}"], cwd=self.scratch,
            env=self.environment(), check=True, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
        return [word.split("\t")[0].rstrip("/") for word in done.stdout.splitlines()]

    def test_the_script_in_one_line(self):
        """As the line of the Python tool reads it."""
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"eval (env {REQUEST}=fish_source msprof-analyze); "
             "complete -C 'msprof-analyze compare --sc'"], cwd=self.scratch, env=self.environment(), check=True,
            capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
        self.assertTrue(done.stdout.startswith("--screen\t"), done)


class Manual(Cli):
    PAGES = [[], *([name] for name in COMMANDS)]

    def page(self, *command):
        result = self.run_tool("man", *command)
        self.assertEqual((result.code, result.err), (0, []))
        return result.out

    def test_man_accepts_every_page(self):
        for command in self.PAGES:
            file = self.write("page.1", self.page(*command))
            if shutil.which("man"):
                done = subprocess.run(["man", "--warnings=w", "-E", "UTF-8", "-l", "-Tutf8", "-Z", file], check=False,
                                      capture_output=True, encoding="utf-8")
                self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            if shutil.which("mandoc"):
                done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", file], check=False,
                                      capture_output=True, encoding="utf-8")
                self.assertEqual(done.stdout, "", command)

    def test_pages_have_what_help_has(self):
        for command in self.PAGES:
            plain = self.page(*command).replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
            for option in re.findall(r"--\w+", self.run_tool(*command, "--help", "all").out):
                self.assertIn(option, plain, command)
            for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"):
                self.assertIn(f"\n.SH {heading}\n", plain)

    def test_options_of_recipes_are_explained_for_each(self):
        page = self.page("cluster")
        for recipe in ("head_overhead", "operator_mfu", "pp_chart"):
            self.assertIn(f"\n.SS {recipe}\n", page)

    def test_unknown_command(self):
        self.assert_fails(2, self.run_tool("man", "nothing"), "nothing")


class Version(Cli):
    def test_what_it_says(self):
        for option in ("--version", "-V", "-v"):
            result = self.run_tool(option)
            self.assertEqual((result.code, result.err), (0, []))
            lines = result.out.splitlines()
            self.assertRegex(lines[0], r"\Amsprof-analyze \d+\.\d+\.\d+\Z")
            said = " ".join(lines)
            for words in (r"commit +([0-9a-f]{12}( with changes)?|unknown) ", r"architecture +\w+, (static|dynamic) ",
                          r"compiler +(GCC|Clang) \d", r"libraries +glibc \d.* SQLite \d.* zlib \d.* fmt \d.* simdjson "
                          r"\d.* libxlsxwriter \d.* nlohmann_json \d.* CLI11 \d", r"MPI +(none|Open MPI)", r"JSON kernel +\w+ \("):
                self.assertRegex(said, words)
            self.assertLessEqual(max(map(len, lines)), 80)

    def test_the_kernel_is_the_one_that_runs(self):
        result = self.run_tool("--version", env={"SIMDJSON_FORCE_IMPLEMENTATION": "fallback"})
        self.assertIn("JSON kernel   fallback (", result.out)


if __name__ == "__main__":
    for group in (Bash, Zsh, Fish):
        if group.__name__.lower() in sys.argv and not shutil.which(group.SHELL):
            print(f"skipped: {group.SHELL} is not installed")
            sys.exit(SKIPPED)
    sys.exit(main(__doc__, Bash, Zsh, Fish, Manual, Version))
