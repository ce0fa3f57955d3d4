#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a raw capture of a given size: a training run of many steps.

    scale_raw_capture.py DIRECTORY --size 2G [--layers 12]

The steps are alike, so the bytes of a block of steps, read as one large number, are an arithmetic
progression: the next block is this one plus a constant. Only the numbers of tasks need care, which
wrap at 65536, and the digits in the names of steps. Memory does not depend on the size.
"""
import argparse
import copy
import json
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import raw_layout as raw  # noqa: E402
import raw_workload  # noqa: E402
from make_raw_captures import dictionaries, groups, place, write  # noqa: E402
from raw_process import Process  # noqa: E402
from raw_setup import Setup  # noqa: E402

# After 16 steps the running counters of the device log, four bits, are back where they were.
STEPS_IN_BLOCK = 16
FIRST_STEP = 100000  # six digits to the last step
NAME = b"ProfilerStep#"
SLICE = 32 << 20  # bytes after which the next block starts the next slice


def number(data):
    return int.from_bytes(data, "little")


class Block:
    """The steps of one block, and how they differ from those of the next."""

    def __init__(self, process, layers):
        self.begin = process.main.now
        first_tasks = {key: stream.next_task for key, stream in process.streams.items()}
        clear(process)
        files = self.steps(process, layers)
        self.counts = {key: len(rows) for key, rows in process.truth.items()}
        clear(process)
        held = copy.deepcopy(process)
        for key, stream in held.streams.items():
            stream.next_task = first_tasks[key]
        self.length = process.main.now - self.begin
        moved, same_tasks = self.steps(process, layers), self.steps(held, layers)
        self.sizes = {name: len(data) for name, data in files.items()}
        assert self.sizes == {name: len(data) for name, data in moved.items()}
        self.base = {name: number(data) for name, data in files.items()}
        self.shift = {name: number(same_tasks[name]) - self.base[name] for name in files}
        self.task_shift = {name: number(moved[name]) - number(same_tasks[name]) for name in files}
        self.names = places(files["torch.op_range"])
        used = {key: held.streams[key].next_task - first for key, first in first_tasks.items()}
        self.streams = [key for key in used if used[key]]
        # Blocks until the numbers of the busiest stream are used up.
        self.wrap = min((65536 - first_tasks[key]) // used[key] for key in self.streams)

    @staticmethod
    def steps(process, layers):
        for _ in range(STEPS_IN_BLOCK):
            raw_workload.step(process, FIRST_STEP, layers)
        return process.drain()

    def copies(self, count):
        """Yields the files of one block after the other."""
        value = dict(self.base)
        for index in range(count):
            files = {}
            for name, size in self.sizes.items():
                moved = value[name] + index % self.wrap * self.task_shift[name]
                files[name] = bytearray(moved.to_bytes(size, "little"))
                value[name] += self.shift[name]
            for step, at in enumerate(self.names):
                digits = str(FIRST_STEP + 1 + index * STEPS_IN_BLOCK + step).encode()
                files["torch.op_range"][at:at + len(digits)] = digits
            yield files


def clear(process):
    for rows in process.truth.values():
        rows.clear()


def places(data):
    """Where the digits of the names of steps are."""
    found, at = [], data.find(NAME)
    while at >= 0:
        found.append(at + len(NAME))
        at = data.find(NAME, at + 1)
    return found


def flips(process, streams, time, batch):
    """What host and device tell before a block for which the numbers of tasks begin again."""
    at = process.host.ticks(time - 1000)
    tracks = b"".join(raw.task_track(process.queue.number, at, process.device, stream,
                                     batch << 16, raw.TASK_TYPES["FLIP_TASK"])
                      for stream in streams)
    at = process.device_clock.ticks(time - 500)
    return {"compact.task_track": tracks,
            "ts_track.data": b"".join(raw.track_flip(at, stream, batch, 0) for stream in streams)}


class Slices:
    """The slices of the files of a capture."""

    def __init__(self, capture, setup):
        self.capture, self.setup, self.open = capture, setup, {}

    def add(self, files):
        for name, data in files.items():
            slice_number, file = self.open.get(name, (-1, None))
            whole = not name.startswith("torch.")
            if file is None or (whole and file.tell() >= SLICE):
                self.close(file)
                path = self.capture / (place(self.setup, name) +
                                       (str(slice_number + 1) if whole else ""))
                path.parent.mkdir(parents=True, exist_ok=True)
                file = path.open("wb")
                self.open[name] = slice_number + 1, file
            file.write(data)

    def close(self, file):
        if file:
            size = file.tell()
            file.close()
            if not Path(file.name).name.startswith("torch."):
                write(Path(file.name + ".done"), f"filesize:{size}\n")

    def close_all(self):
        for _, file in self.open.values():
            self.close(file)


def make(directory, size, layers):
    """Returns what is in it."""
    shutil.rmtree(directory, ignore_errors=True)
    setup = Setup("5", seed=None)
    process = Process(setup)
    capture = directory / setup.capture
    slices = Slices(capture, setup)
    raw_workload.start(process)
    raw_workload.step(process, FIRST_STEP, layers)
    process.core_frequencies([(2_000_000, 1800), (8_100_000, 1650), (8_400_000, 1800)])
    named = groups(process)
    counts = {key: len(rows) for key, rows in process.truth.items()}
    slices.add(process.drain())
    block = Block(process, layers)
    count = max(1, -(-size // sum(block.sizes.values())))
    for index, files in enumerate(block.copies(count)):
        if index and index % block.wrap == 0:
            slices.add(flips(process, block.streams, block.begin + index * block.length,
                             index // block.wrap))
        slices.add(files)
    slices.close_all()
    end = block.begin + count * block.length + 1_000_000
    for path, text in {**setup.files(end, sorted(named.values())),
                       **dictionaries(process)}.items():
        write(capture / path, text)
    counts = {key: counts[key] + count * block.counts[key] for key in counts}
    write(directory / "counts.json", json.dumps(counts) + "\n")
    return counts


def bytes_of(text):
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(float(text.rstrip("KMG")) * units.get(text[-1], 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--size", type=bytes_of, default="100M", help="about, as 500M or 2G")
    parser.add_argument("--layers", type=int, default=12, help="of the model that is trained")
    arguments = parser.parse_args()
    print(json.dumps(make(arguments.directory, arguments.size, arguments.layers)))


if __name__ == "__main__":
    main()
