# SPDX-License-Identifier: Apache-2.0
"""What is wrong with what the program says of a case."""

import json
import shlex
import subprocess

CODES = 0, 1, 5  # done, a gate that failed, something is missing in the capture


def run(tool, folder, command, *more):
    words = shlex.split(command)
    if words[0] != "check" and "--json" not in more:
        words += ["-o", "out"]
    done = subprocess.run([tool, *words, *more], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", check=False)
    if done.returncode not in CODES:
        raise ValueError(f"{command}: exit status {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def findings(tool, folder, case):
    return json.loads(run(tool, folder, case.command, "--json"))["findings"]


def is_named(case, finding):
    return case.finding in (finding["id"], finding["key"])


def first_lines(tool, folder, case):
    """As one, because sentences go on in the next line."""
    return " ".join(line.strip() for line in run(tool, folder, case.command).splitlines()[:case.lines])


def objections(tool, folder, case, truth):
    """To what is said of the capture with the cause."""
    if not case.finding:
        first = first_lines(tool, folder, case)
        yield from (f"{text!r} is not in {first!r}" for text in truth.says if text not in first)
        return
    found = findings(tool, folder, case)
    if not found or not is_named(case, found[0]):
        yield f"finds {[finding['key'] for finding in found[:3]]}, not {case.finding} first"
        return
    first = found[0]
    if truth.ranks and first["ranks"] != truth.ranks:
        yield f"names ranks {first['ranks']}, not {truth.ranks}"
    if truth.place not in json.dumps([first["evidence"][:1], first["text"]]):
        yield f"{truth.place!r} is not in {first['text']}"
    if truth.cost_ns is not None and abs(first["gain_ns"] - truth.cost_ns) > case.within * truth.cost_ns:
        yield f"saves {first['gain_ns']} ns, planted were {truth.cost_ns} ns"


def false_alarms(tool, folder, case, truth):
    """In what is said of the healthy twin."""
    if case.finding:
        yield from (finding["key"] for finding in findings(tool, folder, case) if is_named(case, finding))
        return
    first = first_lines(tool, folder, case)
    yield from (text for text in truth.says if text in first)

