#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes serving_phases of real traces of servers.

    test_serving.py --tool BINARY [--shared DIR]

Truth is the events of the traces below DIR/data/traces/serving, with whole nanoseconds: the step lasts from its name,
or from where the device has done earlier work, to the end of all that it launched, and one kind of work at a time
counts. A cell that is altered has to be noticed.

Exit status: 0 equal, 1 otherwise, 2 usage, 77 skipped: there are no such traces.
"""

import argparse
import gzip
import json
import re
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77
# What the kernels of these models are, by their names; the first that fits counts. Kernels that put the parts of a
# product or of attention together (_finalize_matmul_..., reduce_segments) are other ones.
CLASSES = (("attention", r"unified_attention|paged_attention|Fmha"), ("matrix", r"^Cijk_|^_matmul"), ("sampling", r"ArgMax"))


def ns(micros):
    return int(Decimal(str(micros)) * 1000)


def tokens(name):
    """Phase, requests, tokens that are read and generated."""
    numbers = re.fullmatch(r"execute_\d+_context_(\d+)\(sq(\d+)\w*\)_generation_(\d+)\(sq(\d+)\w*\)", name)
    if not numbers:
        return None
    prompts, read, answers, generated = map(int, numbers.groups())
    return ("mixed" if prompts and answers else "prefill" if prompts else "decode", prompts + answers, read, generated)


def opens(work, launches):
    """When the stream that computes most begins its first work, if the host had handed that over a long time before,
    and launched more since, and nothing that was recorded ran meanwhile: it was busy with what is not in the trace."""
    busy = {}
    for event, at, stop in work:
        stream = event["args"]["stream"]
        busy[stream] = busy.get(stream, 0) + (stop - at if event["cat"] == "kernel" else 0)
    stream = max(busy, key=busy.get)
    first, at, _ = min((span for span in work if span[0]["args"]["stream"] == stream), key=lambda span: span[1])
    call, launched = launches[first["args"]["correlation"]]
    next_launch = min(time for other, time in launches.values() if other["tid"] == call["tid"] and time > launched)
    done = max([next_launch, *(stop for _, start, stop in work if start < at)])
    return at if at - done >= 1_000_000 else 0


def recomputed(path):
    events = json.loads(gzip.open(path).read(), parse_float=str)["traceEvents"]
    spans = [(event, ns(event["ts"]), ns(event["ts"]) + ns(event.get("dur", 0)))
             for event in events if event.get("ph") == "X"]
    ((mark, begin, end),) = [span for span in spans if span[0].get("cat") == "user_annotation" and tokens(span[0]["name"])]
    work = [span for span in spans if span[0].get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    # Nothing follows the step: it ends with the last launch or the last work.
    launches = {event["args"]["correlation"]: (event, at) for event, at, _ in spans
                if event.get("cat") == "cuda_runtime" and "correlation" in event.get("args", {})}
    of_work = {event["args"].get("correlation") for event, _, _ in work}
    end = max(end, *(at for number, (_, at) in launches.items() if number in of_work),
              *(stop for _, _, stop in work))
    begin = max(begin, opens(work, launches))
    samplers = [(event["tid"], start, stop) for event, start, stop in spans
                if event.get("cat") == "python_function" and re.search("sampl", event["name"], re.I)]

    def is_sampled(event):
        call, at = launches.get(event["args"].get("correlation"), ({}, 0))
        return any(call.get("tid") == thread and start <= at <= stop for thread, start, stop in samplers)

    row = {"duration": end - begin, "attention": 0, "matrix": 0, "sampling": 0, "other_kernel": 0, "copy": 0}
    reached = begin
    for event, start, stop in sorted(work, key=lambda span: span[1]):
        start, stop = max(start, reached, begin), min(stop, end)
        if stop <= start:
            continue
        kind = "copy"
        if event["cat"] == "kernel":
            kind = "sampling" if is_sampled(event) else next((name for name, words in CLASSES if re.search(words, event["name"])),
                                                             "other_kernel")
        row[kind] += stop - start
        reached = stop
    row["host"] = row["duration"] - sum(row[kind] for kind in row if kind != "duration")
    return mark["name"], row


def shown(tool, trace):
    with tempfile.TemporaryDirectory() as scratch:
        job = Path(scratch, "job")
        job.mkdir()
        (job / trace.name).write_bytes(trace.read_bytes())
        done = subprocess.run([tool, "-m", "serving_phases", "-d", job, "--json", "-o", Path(scratch, "out")],
                              check=True, capture_output=True, encoding="utf-8")
    return {sheet["name"]: sheet["rows"] for sheet in json.loads(done.stdout)["sheets"]}


def objections(step, phase, name, row):
    kind, requests, read, generated = tokens(name)
    wanted = {"phase": kind, "requests": requests, "prompt_tokens": read, "output_tokens": generated,
              **{f"{part}_ns": time for part, time in row.items()}}
    if kind == "decode":
        wanted["time_to_next_token_ns"] = int(Decimal(row["duration"] * requests) / generated + Decimal("0.5"))
    elif kind == "prefill":
        wanted["time_per_prompt_token_ns"] = int(Decimal(row["duration"]) / read + Decimal("0.5"))
    for column, value in wanted.items():
        if step[column] != value:
            yield f"{column} of {name}: {step[column]}, recomputed {value}"
    rate = (read + generated) / row["duration"] * 1e9
    if abs(phase["tokens_per_second"] - rate) > 1e-6 * rate:
        yield f"tokens_per_second: {phase['tokens_per_second']}, recomputed {rate}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--shared", type=Path, default=HERE.parents[2] / "shared")
    options = parser.parse_args()
    traces = sorted((options.shared / "data/traces/serving").glob("*/*.json.gz"))
    if not traces:
        print(f"skipped: no traces of servers below {options.shared}")
        return SKIPPED
    failed = 0
    for trace in traces:
        sheets = shown(options.tool, trace)
        (step,), (phase,) = sheets["ServingSteps"], sheets["ServingPhases"]
        name, row = recomputed(trace)
        found = [*objections(step, phase, name, row)]
        print(f"{trace.name}: {len(found)} cells differ")
        for line in found:
            print(f"  {line}")
        failed += bool(found)
        for column in ("attention_ns", "host_ns", "duration_ns"):
            if not [*objections({**step, column: step[column] + 1}, phase, name, row)]:
                print(f"  {column} was altered, and nothing was noticed")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
