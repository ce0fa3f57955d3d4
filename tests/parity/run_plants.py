#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges what is said of faults that were planted into real captures, and of changes that do no harm.

    run_plants.py --tool BINARY [--shared DIR] [--only PATTERN] [--keep DIR]

Of each fault the finding named first has to be an accepted one, on the right ranks, at the right place, with a gain
within 20 % of what was put in, and the gate against the capture without it has to name it. A miss is allowed only if
planted_misses.py lists it; one that is right by now has to be taken off the list.

Exit status: 0 as expected, 1 otherwise, 2 usage, 77 skipped: there are no such captures.
"""

import argparse
import fnmatch
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent))

from plant import plant  # noqa: E402: found only now
from planted_faults import FAULTS  # noqa: E402
from planted_harmless import HARMLESS, JITTERED  # noqa: E402
from planted_misses import MISSES  # noqa: E402
from test_diagnosis import SKIPPED  # noqa: E402

TOLERANCE = 0.2
# What may be named first for a cause, and what the gate may say of it (any of the words).
ACCEPTED = {
    "operator": ({"host.launch_bound/stalls", "host.stall", "host.operator", "step.long"}, ("operator calls",)),
    "unrecorded": ({"host.launch_bound/stalls", "host.stall", "host.unrecorded", "host.gap", "host.unknown"}, ("not recorded", "no record")),
    "python": ({"host.python"}, ("Python",)),
    "loader": ({"host.dataloader"}, ("data loader", "DataLoader")),
    "late_host": ({"rank.late_host"}, ()),
    "garbage": ({"rank.late_host", "host.gc"}, ()),
    "long_kernel": ({"op.long", "op.outlier", "op.variance", "op.slow"}, ("kernel",)),
    "slow_type": (None, ("kernel",)),  # nothing in the capture alone tells
    "layouts": ({"op.format"}, ("kernel",)),
    "device_copies": ({"op.copies", "op.copy", "host.device_copies"}, ("cop",)),
    "pageable": ({"host.h2d"}, ("cop",)),
    "late_input": ({"rank.late_input"}, ()),
}


def run(tool, *arguments):
    return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=False)


def diagnosed(tool, job):
    done = run(tool, "advisor", "all", "-d", job, "--json")
    if done.returncode not in (0, 5):
        raise ValueError(f"exit status {done.returncode}: {done.stderr[-300:]}")
    return json.loads(done.stdout)


def findings(report):
    """Those that may be named first, in the order of the screen."""
    return [f for f in report["findings"] if f["gain_ns"] > 0 and not f["id"].startswith(("capture.", "env."))]


def of_job(folder):
    """What the tool is given: the directory of a job, or its only file."""
    files = list(folder.iterdir())
    return files[0] if len(files) == 1 else folder


def objections(tool, folder, truth):
    """{what is wrong: why}, of name, rank, place, gain, gate."""
    old, new = (diagnosed(tool, of_job(folder / side)) for side in ("old", "new"))
    ids, words = ACCEPTED[truth.cause]
    found = findings(new)
    if not found:
        return {"name": "nothing was found"}
    first = found[0]
    wrong = {}
    if ids is None:
        return gate_objections(tool, folder, truth, words)
    if first["id"] not in ids and first["key"] not in ids:
        wrong["name"] = f"{first['key']} ({first['text']['title']}, {first['gain_ns'] / 1e6:.1f} ms)"
    if truth.ranks and first["ranks"] != truth.ranks:
        wrong["rank"] = f"ranks {first['ranks']}, not {truth.ranks}"
    named = json.dumps([first["evidence"][:1], first["text"]])
    if truth.places and not any(place in named for place in truth.places):
        wrong["place"] = first["evidence"][0]["name"] if first["evidence"] else "none"
    before = next((f["gain_ns"] for f in old["findings"] if f["key"] == first["key"]), 0) / 1e6
    gain = first["gain_ns"] / 1e6
    counted = new["capture"]["steps"]
    share = len(set(truth.steps) & set(counted)) / len(counted) if truth.steps else 1
    if not (1 - TOLERANCE) * truth.ms * share <= gain <= (1 + TOLERANCE) * (truth.ms * share + before):
        wrong["gain"] = f"{gain:.2f} ms, not {truth.ms * share:.2f}"
    return wrong | gate_objections(tool, folder, truth, words)


def gate_objections(tool, folder, truth, words):
    said = gate(tool, of_job(folder / "new"), of_job(folder / "old"))
    expected = [f"rank {rank}" for rank in truth.ranks] or [*words, *truth.places]
    expected = [f"step {step}" for step in truth.steps] or expected
    if any(word in said for word in expected):
        return {}
    return {"gate": said.splitlines()[0] if said else "nothing"}


def unlike(tool, name, data, folder):
    """What is said otherwise of a capture that was changed without harm."""
    load, change = HARMLESS[name]
    load(data).write(folder / "old")
    job = load(data)
    change(job)
    job.write(folder / "new")
    old, new = (diagnosed(tool, of_job(folder / side)) for side in ("old", "new"))
    room = 0.01 * new["step_ns"] if name in JITTERED else 1000 + 1e-4 * new["step_ns"]
    gains = [{f["key"]: f["gain_ns"] for f in side["findings"]} for side in (old, new)]
    found = [f"{key}: {gains[1].get(key, 'gone')}, before {gains[0].get(key, 'nothing')}"
             for key in gains[0].keys() | gains[1].keys()
             if key not in gains[1] or key not in gains[0] or abs(gains[1][key] - gains[0][key]) > room]
    if abs(old["step_ns"] - new["step_ns"]) > room:
        found.append(f"step {new['step_ns']}, before {old['step_ns']}")
    return found


def gate(tool, new, old):
    return run(tool, "compare", "-d", new, "-bp", old, "--fail_on", "step_time>+3%", "--min_steps", "1").stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--shared", default=Path(__file__).resolve().parents[3] / "shared", type=Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--keep", type=Path, help="directory for the captures")
    args = parser.parse_args()
    if not (args.shared / "data" / "traces").is_dir():
        print(f"SKIPPED: no captures in {args.shared / 'data'}")
        return SKIPPED
    names = fnmatch.filter(FAULTS, args.only)
    status = 0
    with tempfile.TemporaryDirectory() as scratch:
        def judge(name):
            folder = Path(args.keep or scratch, name)
            truth = plant(name, args.shared / "data", folder)
            return truth, objections(Path(args.tool).resolve(), folder, truth)

        with ThreadPoolExecutor(2) as pool:
            for name, (truth, wrong) in zip(names, pool.map(judge, names)):
                known = MISSES.get(name, {})
                print(f"{'miss' if wrong else 'hit '} {name}: {truth.cause} {truth.ms:.1f} ms")
                for what, why in wrong.items():
                    print(f"     {what}: {why}{f' (known: {known[what]})' if what in known else ''}")
                    status |= what not in known
                for what in known.keys() - wrong.keys():
                    print(f"     {what}: is right by now: remove it from planted_misses.py")
                    status = 1
        def tried(name):
            return unlike(Path(args.tool).resolve(), name, args.shared / "data", Path(args.keep or scratch, f"same_{name}"))

        harmless = fnmatch.filter(HARMLESS, args.only)
        with ThreadPoolExecutor(2) as pool:
            for name, found in zip(harmless, pool.map(tried, harmless)):
                known = MISSES.get(name)
                print(f"{'miss' if found else 'hit '} without harm: {name}", *found, sep="\n     ")
                status |= bool(found) != (known is not None)
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
