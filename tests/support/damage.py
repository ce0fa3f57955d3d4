# SPDX-License-Identifier: Apache-2.0
"""Damages the files of a raw capture, as broken disks and copies do."""
import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Damage:
    """What was done. `names`: a message must hold one of them. `seen_by_names`: sizes and small
    files show it, no record has to be read."""
    text: str
    names: list = field(default_factory=list)
    undetectable: str = ""
    seen_by_names: bool = True


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
    """By what a message calls the file: "task_track", "stars_soc.data", "host_start.log"."""
    name = path.name.split(".slice_")[0].removeprefix("aging.").removeprefix("unaging.")
    for start in ("compact.", "additional."):
        name = name.removeprefix(start)
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


def one_file(files, kinds):
    def damage(capture, chance):
        path = chance.choice(files(capture))
        kind = chance.choice(kinds)
        in_place = kind in (zero_block, flip)
        name = str(path.relative_to(capture))
        return Damage(f"{name} {kind(path, chance)}", [stem(path)],
                      seen_by_names=not in_place or files is control_files)
    return damage


def several_slices(capture, chance):
    paths = chance.sample(data_files(capture), chance.randint(2, 4))
    texts = [f"{path.relative_to(capture)} {cut(path, chance)}" for path in paths]
    return Damage(", ".join(texts), [stem(path) for path in paths])


def whole_kind(capture, chance):
    """All slices of a kind are gone, with the notes of their writer."""
    chosen = stem(chance.choice(data_files(capture)))
    for path in data_files(capture):
        if stem(path) == chosen:
            path.unlink()
            path.with_name(path.name + ".done").unlink(missing_ok=True)
    return Damage(f"all of {chosen} deleted", [chosen])


def swap(capture, chance):
    one, other = chance.sample(data_files(capture), 2)
    first, second = one.read_bytes(), other.read_bytes()
    write(one, second)
    write(other, first)
    return Damage(f"{one.relative_to(capture)} and {other.relative_to(capture)} swapped",
                  [stem(one), stem(other)], seen_by_names=False)


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
