#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every sentence of advisor on real captures against the files.

    test_sentences.py --tool BINARY [--shared DIR] [--verbose]

Each line of the screen and of `why` of each finding is matched by a pattern of sentences.py; one that none knows fails.
What a sentence claims is looked up in the events of the captures.

Exit status: 0 all are true, 1 otherwise, 2 usage, 77 skipped: there are no such captures.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))

import retime  # noqa: E402: found only now
from sentences import SCREEN, WHY, unfolded, wrong  # noqa: E402
from test_diagnosis import SKIPPED  # noqa: E402

CAPTURES = ("npu/text/level0", "npu/text/level1", "npu/db/level0", "npu/db/level1", "gpu/alexnet.json.gz",
            "gpu/control.json.gz", "gpu/ddp_nccl.json.gz", "traces/dlrm_8ranks", "traces/param/linear_kineto.json.gz",
            "traces/resnet50_2021/workers0.pt.trace.json.gz", "traces/resnet50_2021/workers4.pt.trace.json.gz",
            "traces/tracelens/h100_timesformer_1016002.json.gz", "traces/tracelens/mi210_gpu_only_trace.json.gz",
            "traces/tracelens/mi300_resnet_act_checkpoint.json.gz", "traces/serving/sglang_prefilldecode",
            "traces/serving/vllm_decode")
# Sentences that are known to be wrong: (capture, part of the complaint).
KNOWN = ()


class Known:
    """What the files say of a job, read without the tool, and the tool's document for what only it computes."""

    def __init__(self, path, document):
        self.paths = [path] if path.is_file() else sorted(path.glob("*_ascend_pt")) or sorted(path.glob("*.json.gz"))
        self.findings, self.step = document["findings"], document["step_ns"]
        self.captures = {}
        for path in self.paths:
            capture = retime.load(path)
            self.captures[self._rank_of(path, capture)] = capture

    def _rank_of(self, path, capture):
        if path.is_dir():
            return int(next(path.glob("profiler_info_*.json")).stem.rpartition("_")[2])
        document = capture.document if isinstance(capture.document, dict) else {}
        return document.get("distributedInfo", {}).get("rank", len(self.captures))

    @property
    def world(self):
        return None  # what it is follows from groups as well as from distributedInfo

    def step_times(self):
        result = defaultdict(list)
        for capture in self.captures.values():
            for step in capture.steps():
                result[int(step.name.rpartition("#")[2])].append(step.dur)
        return result

    @cached_property
    def _starts(self):
        result = defaultdict(set)
        for capture in self.captures.values():
            for span in capture.spans:
                result[span.start].add(span.dur)
                result[span.start // 1000].add(span.dur)  # traces with 0.25 us
        return result

    @cached_property
    def _longest(self):
        result = {}
        for rank, capture in self.captures.items():
            names = result[rank] = defaultdict(list)
            for span in capture.spans:
                names[re.sub(" at 0x[0-9a-f]+", "", span.name)].append(span.dur)
        return result

    def _named(self, rank, shown):
        """Durations of what is called so; names are shortened in their middle."""
        shown = re.sub("^(AscendCL|Node|HostToDevice)@", "", shown)  # levels of calls, which databases keep apart
        first, cut, last = shown.partition("...")
        for name, times in self._longest[rank].items():
            if name == shown or cut and name.startswith(first) and name.endswith(last) or name.endswith("@" + shown):
                yield times

    def has_name(self, rank, shown):
        return next(self._named(rank, shown), None) is not None

    def longest_of(self, rank, shown):
        return max((max(times) for times in self._named(rank, shown)), default=0)

    def most_calls(self, shown):
        return max((len(times) for rank in self.captures for times in self._named(rank, shown)), default=0)

    def events_at(self, start):
        return self._starts.get(start) or self._starts.get(start // 1000)

    def _events(self):
        for capture in self.captures.values():
            yield from getattr(capture, "events", ())

    @cached_property
    def has_shapes(self):
        return any(any(event.get("args", {}).get("Input Dims", ()) or ()) for event in self._events()
                   if isinstance(event.get("args"), dict) and isinstance(event["args"].get("Input Dims"), list))

    @cached_property
    def has_stacks(self):
        return any(capture.of("python") for capture in self.captures.values())

    @cached_property
    def has_garbage(self):
        return any(str(event.get("cat", "")).lower() == "gc" for event in self._events())


def run(tool, *arguments):
    done = subprocess.run([tool, "advisor", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 5):
        raise RuntimeError(f"{arguments}: {done.stderr[-300:]}")
    return done.stdout


def complaints(tool, path):
    """(how many sentences were looked at, [(sentence, what is wrong)])."""
    document = json.loads(run(tool, "all", "-d", path, "--json"))
    known = Known(path, document)
    found, count = [], 0
    for table, text in ((SCREEN, _screen(tool, path)), *((WHY, run(tool, "why", f["key"], "-d", path)) for f in document["findings"])):
        for sentence in unfolded(text.splitlines()) if table is SCREEN else filter(str.strip, text.splitlines()):
            count += 1
            if objection := wrong(table, sentence, known):
                found.append((sentence.strip(), objection))
    return count, found


def _screen(tool, path):
    with tempfile.TemporaryDirectory() as scratch:
        return run(tool, "all", "-d", path, "-o", scratch, "-l", "en")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--shared", default=Path(__file__).resolve().parents[3] / "shared", type=Path)
    args = parser.parse_args()
    captures = [name for name in CAPTURES if (args.shared / "data" / name).exists()]
    if not captures:
        print(f"SKIPPED: no captures in {args.shared / 'data'}")
        return SKIPPED
    status, total = 0, 0
    with ThreadPoolExecutor(2) as pool:
        for name, (count, found) in zip(captures, pool.map(lambda n: complaints(args.tool, args.shared / "data" / n), captures)):
            total += count
            for sentence, objection in found:
                is_known = any(name == capture and part in objection for capture, part in KNOWN)
                print(f"{name}: {sentence}\n    {objection}{' (known)' if is_known else ''}")
                status |= not is_known
            for capture, part in KNOWN:
                if capture == name and not any(part in objection for _, objection in found):
                    print(f"{name}: '{part}' is not said any more: remove it from KNOWN")
                    status = 1
    print(f"{total} sentences of {len(captures)} captures")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
