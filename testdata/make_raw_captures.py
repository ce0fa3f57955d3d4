#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes raw captures (*_ascend_pt before any parsing) and truth.json: what is in them.

    make_raw_captures.py DIRECTORY [CASE...]

Below DIRECTORY each case gets a directory; the same bytes every time. The tests make them in the
build directory. What the truth holds: see README.md.
"""
import argparse
import json
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import raw_captured_graphs  # noqa: E402
import raw_graph_run  # noqa: E402
import raw_layout  # noqa: E402
import raw_traffic  # noqa: E402
import raw_workload  # noqa: E402
from raw_process import Process  # noqa: E402
from raw_setup import WRAPPING, Setup  # noqa: E402

FIRST_STEP, STEPS = 3, 2
SLICE = 4000  # bytes; device files are cut inside records, host files are not
HOST_RECORDS = {"api_event.data": 40, "compact": 64, "additional": 256, "variable": SLICE}


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def write_slice(path, data):
    """A slice of records, and the note that the profiler leaves when it closes it."""
    write(path, data)
    write(path.with_name(f"{path.name}.done"), f"filesize:{path.stat().st_size}\n")


def host_record(name):
    """The size of the records of a host file; of other files none."""
    name = name.removeprefix("unaging.")
    return HOST_RECORDS.get(name) or HOST_RECORDS.get(name.split(".")[0])


def slice_bytes(name):
    """At what size a file is continued in the next slice."""
    record = 64 if name == "stars_soc.data" else host_record(name)
    return SLICE // record * record if record else SLICE


def place(setup, name):
    """Where the slices of a file are, without number."""
    if name.startswith("torch."):
        return f"FRAMEWORK/{name}"
    if host_record(name):
        prefix = "" if name.startswith("unaging.") else "aging."
        return f"{setup.prof}/host/data/{prefix}{name}.slice_"
    return f"{setup.prof}/device_{setup.device}/data/{name}.{setup.device}.slice_"


def write_files(directory, setup, files):
    for name, data in sorted(files.items()):
        where = place(setup, name)
        if name.startswith("torch."):
            write(directory / where, data)
            continue
        size = slice_bytes(name)
        for number in range(-(-len(data) // size)):
            piece = data[number * size:(number + 1) * size]
            write_slice(directory / f"{where}{number}", piece)


def dictionaries(process):
    """The texts behind keys and type numbers, as files."""
    texts = "".join(f"{key}:{text}\n" for key, text in sorted(process.strings.items()))
    types = "".join(f"{level}_{number}:{name}\n"
                    for (level, number), name in sorted({**raw_layout.RECORD_TYPES,
                                                            **process.types}.items()))
    at = f"{process.setup.prof}/host/data/unaging.additional."
    return {at + "hash_dic.slice_0": texts, at + "type_info_dic.slice_0": types}


def groups(process):
    return {item["group_hash"]: item["group"] for item in process.truth["collectives"]}


def train(process):
    """A small training run; returns when the collection ends."""
    raw_workload.start(process)
    first = FIRST_STEP
    if process.setup.later:
        first += STEPS
        process.sequence, process.correlation = process.sequence + 1000, process.correlation + 1000
    for number in range(first, first + STEPS):
        raw_workload.step(process, number, layers=2)
    if process.stars:
        process.core_frequencies([(2_000_000, 1800), (8_100_000, 1650), (8_400_000, 1800)])
    raw_traffic.record(process)
    return raw_workload.finish(process)


def run_graphs(name):
    def run(process):
        raw_graph_run.GraphCapture(process, raw_graph_run.RUNS[name]()).record()
        return 200_000_000
    return run


def serve(later_forms):
    def run(process):
        raw_captured_graphs.Serving(process, later_forms).record()
        return 200_000_000
    return run


def make(directory, setup, run):
    shutil.rmtree(directory, ignore_errors=True)
    process = Process(setup)
    end = run(process)
    capture = directory / setup.capture
    write_files(capture, setup, process.drain())
    for path, text in setup.files(end, sorted(groups(process).values())).items():
        write(capture / path, text)
    for path, text in dictionaries(process).items():
        write_slice(capture / path, text)
    truth = {**setup.truth(), "groups": groups(process), "tensor_sets": process.tensor_sets,
             **process.truth}
    lines = ",\n".join(f"{json.dumps(key)}: " + ("[\n" + ",\n".join(map(json.dumps, value)) + "\n]"
                       if isinstance(value, list) and value else json.dumps(value))
                       for key, value in truth.items())
    write(directory / "truth.json", f"{{\n{lines}\n}}\n")


CASES = {
    "stars": (Setup("5", seed=1, streams=WRAPPING), train),
    "stars_odd_clock": (Setup("5", seed=2, rank=1, device_mhz="49.999001"), train),
    "stars_again": (Setup("5", seed=5, later=10_000_000_000), train),
    "hwts": (Setup("1", seed=3), train),
    "no_queue": (Setup("5", seed=4, queue=False), train),
    "captured_graphs": (Setup("5", seed=None, details=False, framework=False),
                        serve(later_forms=False)),
    "captured_graphs_v2": (Setup("5", seed=None, details=False, framework=False),
                           serve(later_forms=True)),
    **{name: (raw_graph_run.setup(), run_graphs(name)) for name in raw_graph_run.RUNS},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}")
    arguments = parser.parse_args()
    for name in arguments.cases or CASES:
        make(arguments.directory / name, *CASES[name])


if __name__ == "__main__":
    main()
