# SPDX-License-Identifier: Apache-2.0
"""Damages the files of a raw capture, as broken disks and copies do."""
import os
from pathlib import Path

# All slices of these kinds, gone with the notes of their sizes, leave no trace: not every capture
# has such records, and no other record needs them.
OPTIONAL = {"DATA_PREPROCESS.AICPU", "DATA_PREPROCESS.DP", "aicpu.data", "ddr.data", "hbm.data",
            "hccl_info", "hccl_op_info", "hccs.data", "l2_cache.data", "llc.data",
            "lpmFreqConv.data", "memcpy_info", "msproftx", "nic.data", "npu_mem.data",
            "npu_module_mem.data", "pcie.data", "roce.data", "task_memory_info", "tensor_info",
            "torch.gc_record", "ts_track.data"}


class Damage:
    """What was done; `names`: by which messages call the files."""

    def __init__(self, text, paths, undetectable=False):
        self.text, self.undetectable = text, undetectable
        self.names = [stem(path) for path in paths]


def link_tree(source, target):
    """A copy whose files share their bytes with the source: write() replaces them."""
    for above, _, files in os.walk(source):
        there = target / Path(above).relative_to(source)
        there.mkdir(parents=True)
        for name in files:
            os.link(os.path.join(above, name), there / name)


def write(path, data):
    path.unlink()
    path.write_bytes(data)


def stem(path):
    """By what messages call the file: "task_track", "stars_soc.data", "host_start.log"."""
    name = path.name.split(".slice_")[0].removeprefix("aging.").removeprefix("unaging.")
    for start in ("compact.", "additional."):
        name = name.removeprefix(start)
    if name.startswith("profiler_info"):
        return "profiler_info"
    name = name.removesuffix("_v2")  # messages call both forms of a kind alike
    return name.rsplit(".", 1)[0] if name[-1].isdigit() else name


def zeroed(data, begin, end):
    return data[:begin] + bytes(end - begin) + data[end:]


def delete(path, _):
    path.unlink()
    return "deleted"


def empty(path, _):
    write(path, b"")
    return "emptied"


def cut(path, chance):
    data = path.read_bytes()
    size = chance.randrange(len(data)) if data else 0
    write(path, data[:size])
    return f"cut to {size} of {len(data)} bytes"


def zero_block(path, chance):
    data = path.read_bytes()
    begin = chance.randrange(len(data)) if data else 0
    end = min(len(data), begin + chance.choice((16, 64, 512, 4096)))
    write(path, zeroed(data, begin, end))
    return f"bytes {begin} to {end} zeroed"


def zero_file(path, _):
    write(path, bytes(path.stat().st_size))
    return "zeroed"


def flip(path, chance):
    data = bytearray(path.read_bytes())
    at = sorted(chance.randrange(len(data)) for _ in range(chance.randint(1, 4)))
    for place in at:
        data[place] ^= 1 << chance.randrange(8)
    write(path, bytes(data))
    return f"bits flipped in bytes {at}"


def data_files(capture):
    return sorted(path for path in capture.rglob("*")
                  if ".slice_" in path.name and path.suffix != ".done"
                  or path.parent.name == "FRAMEWORK")


def control_files(capture):
    records = set(data_files(capture))
    return sorted(path for path in capture.rglob("*")
                  if path.is_file() and path.suffix != ".done" and path not in records)


def inside_record(path, begin, end):
    """Zeros within one record of the host, behind its head: what it says changes, not that it is
    there."""
    kind = path.name.removeprefix("unaging.").removeprefix("aging.").split(".")[0]
    size = {"compact": 64, "additional": 256}.get(kind)
    head = 24
    return (size is not None and not stem(path).endswith("_dic") and
            begin // size == (end - 1) // size and begin % size >= head)


def is_optional(path):
    """profiler_metadata.json is not written by every version."""
    return path.name in ("torch.gc_record", "profiler_metadata.json")


def one_file(files, kinds):
    def damage(capture, chance):
        path = chance.choice(files(capture))
        kind = chance.choice(kinds)
        before = path.read_bytes()
        text = f"{path.relative_to(capture)} {kind(path, chance)}"
        if kind is zero_block:
            after = path.read_bytes()
            changed = [at for at, byte in enumerate(before) if byte != after[at]]
            unseen = bool(changed) and inside_record(path, changed[0], changed[-1] + 1)
        else:
            unseen = kind is delete and is_optional(path)
        return Damage(text, [path], unseen)
    return damage


def several_slices(capture, chance):
    paths = chance.sample(data_files(capture), chance.randint(2, 4))
    texts = [f"{path.relative_to(capture)} {cut(path, chance)}" for path in paths]
    return Damage(", ".join(texts), paths)


def whole_kind(capture, chance):
    """All slices of a kind are gone, with the notes of their writer."""
    chosen = chance.choice(data_files(capture))
    for path in data_files(capture):
        if stem(path) == stem(chosen):
            path.unlink()
            path.with_name(path.name + ".done").unlink(missing_ok=True)
    return Damage(f"all of {stem(chosen)} deleted", [chosen], stem(chosen) in OPTIONAL)


def swap(capture, chance):
    one, other = chance.sample(data_files(capture), 2)
    first, second = one.read_bytes(), other.read_bytes()
    write(one, second)
    write(other, first)
    return Damage(f"{one.relative_to(capture)} and {other.relative_to(capture)} swapped",
                  [one, other])


SHAPES = (delete, empty, cut, zero_block, zero_file)
DAMAGES = (
    (8, one_file(control_files, SHAPES)),
    (4, one_file(control_files, (flip,))),
    (8, one_file(data_files, SHAPES)),
    (2, several_slices),
    (2, whole_kind),
    (1, swap),
)


def random_damage(capture, chance):
    weights, kinds = zip(*DAMAGES)
    kind, = chance.choices(kinds, weights)
    return kind(capture, chance)
