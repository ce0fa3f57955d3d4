# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots of runs that are made up: an allocator that splits blocks as that of PyTorch does, and what it would
dump. What it holds is known at any time."""

import pickle
from dataclasses import dataclass, field

KB, MB = 1 << 10, 1 << 20
SMALL, SMALL_SEGMENT, LARGE_SEGMENT = MB, 2 * MB, 20 * MB


def frames(*calls):
    """The innermost first: "train.py:12 step"."""
    return [{"filename": place.rpartition(":")[0], "line": int(place.rpartition(":")[2]), "name": name}
            for place, name in (call.split(" ") for call in calls)]


@dataclass
class Block:
    address: int
    size: int
    asked: int = 0
    state: str = "inactive"
    frames: list = field(default_factory=list)


@dataclass
class Segment:
    address: int
    size: int
    is_large: bool
    stream: int
    blocks: list


class OutOfMemory(Exception):
    pass


class Device:
    """The allocator of one device; time goes by 10 us with each action."""

    def __init__(self, number=0, capacity=1 << 40, first_time=1_700_000_000_000_000):
        self.number, self.capacity, self.time = number, capacity, first_time
        self.next_address = (0x7000 + number) << 32
        self.segments, self.trace, self.failures = [], [], []

    def record(self, action, address, size, stack, stream=0):
        self.time += 10
        self.trace.append({"action": action, "device_free" if action == "oom" else "addr": address, "size": size,
                           "stream": stream, "time_us": self.time, "frames": stack})

    @property
    def reserved(self):
        return sum(segment.size for segment in self.segments)

    def free_pieces(self, is_large):
        return [block.size for segment in self.segments if segment.is_large == is_large for block in segment.blocks
                if block.state == "inactive"]

    def allocate(self, asked, stack=(), stream=0):
        stack = list(stack)
        size = max(512, -(-asked // 512) * 512)
        is_large = size > SMALL
        free = [(block.size, block.address, segment, block) for segment in self.segments
                if segment.is_large == is_large and segment.stream == stream
                for block in segment.blocks if block.state == "inactive" and block.size >= size]
        if free:
            _, _, segment, block = min(free, key=lambda found: found[:2])
        else:
            segment = self.take_segment(size, is_large, asked, stack, stream)
            block = segment.blocks[0]
        rest = block.size - size
        if rest > SMALL if is_large else rest >= 512:
            place = segment.blocks.index(block)
            segment.blocks.insert(place + 1, Block(block.address + size, rest))
            block.size = size
        block.asked, block.state, block.frames = asked, "active_allocated", stack
        self.record("alloc", block.address, asked, stack, stream)
        return block.address

    def take_segment(self, size, is_large, asked, stack, stream):
        bytes_of = SMALL_SEGMENT if not is_large else LARGE_SEGMENT if size < 10 * MB else -(-size // (2 * MB)) * 2 * MB
        if self.reserved + bytes_of > self.capacity:
            self.failures.append({"asked": asked, "device_free": self.capacity - self.reserved, "reserved": self.reserved,
                                  "free": self.free_pieces(True), "in_use": self.in_use()})
            self.record("oom", self.capacity - self.reserved, asked, stack, stream)
            raise OutOfMemory
        segment = Segment(self.next_address, bytes_of, is_large, stream, [Block(self.next_address, bytes_of)])
        self.next_address += bytes_of + 64 * MB
        self.segments.append(segment)
        self.record("segment_alloc", segment.address, bytes_of, stack, stream)
        return segment

    def in_use(self):
        return sum(block.asked for segment in self.segments for block in segment.blocks if block.state != "inactive")

    def find(self, address):
        return next((segment, block) for segment in self.segments for block in segment.blocks
                    if block.address == address and block.state != "inactive")

    def release(self, address, stack=(), completed=True):
        segment, block = self.find(address)
        self.record("free_requested", address, block.asked, list(stack), segment.stream)
        block.state = "active_pending_free"
        if completed:
            self.complete(address, stack)

    def complete(self, address, stack=()):
        segment, block = self.find(address)
        self.record("free_completed", address, block.asked, list(stack), segment.stream)
        block.state, block.asked, block.frames = "inactive", 0, []
        joined = []
        for one in segment.blocks:
            if joined and joined[-1].state == one.state == "inactive":
                joined[-1].size += one.size
            else:
                joined.append(one)
        segment.blocks = joined

    def empty_cache(self, stack=()):
        for segment in list(self.segments):
            if all(block.state == "inactive" for block in segment.blocks):
                self.segments.remove(segment)
                self.record("segment_free", segment.address, segment.size, list(stack), segment.stream)


def document(devices, form="new", entries=None):
    """What is dumped. Forms: "new" (torch since 2.1), "npu" (no times, no settings), "old" (torch 2.0: histories of
    blocks, which have no address), "list" (only the segments of the old form). `entries`: the length of the ring."""
    segments = []
    for device in devices:
        for segment in sorted(device.segments, key=lambda one: one.address):
            blocks = []
            for block in segment.blocks:
                of_block = {"size": block.size, "state": block.state}
                if form in ("old", "list"):
                    if block.state != "inactive":
                        of_block["history"] = [{"addr": block.address, "real_size": block.asked, "frames": block.frames}]
                else:
                    of_block = {"address": block.address, "size": block.size, "requested_size": block.asked,
                                "state": block.state, "frames": block.frames}
                blocks.append(of_block)
            in_use = [block for block in segment.blocks if block.state != "inactive"]
            of_segment = {"device": device.number, "address": segment.address, "total_size": segment.size,
                          "allocated_size": sum(one.size for one in in_use if one.state == "active_allocated"),
                          "active_size": sum(one.size for one in in_use), "stream": segment.stream,
                          "segment_type": "large" if segment.is_large else "small", "blocks": blocks}
            if form in ("new", "npu"):
                of_segment |= {"requested_size": sum(one.asked for one in in_use), "segment_pool_id": (0, 0),
                               "is_expandable": False, "frames": []}
            segments.append(of_segment)
    if form == "list":
        return segments
    traces = []
    for number in range(max(device.number for device in devices) + 1):
        trace = next((device.trace for device in devices if device.number == number), [])
        kept = trace[-entries:] if entries else trace
        traces.append([{key: value for key, value in action.items() if form == "new" or key != "time_us"} for action in kept])
    whole = {"segments": segments, "device_traces": traces}
    if form == "new":
        whole |= {"allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:512", "max_split_size": (1 << 64) - 1,
                                         "garbage_collection_threshold": 0.0, "expandable_segments": False,
                                         "roundup_power2_divisions": {"1": 0}}, "external_annotations": []}
    return whole


def write(path, devices, form="new", entries=None, protocol=4):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(document(devices, form, entries), protocol=protocol))
    return path


OWN = "/home/me/train.py"
TORCH = "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py"


def training(steps=8, leak=0, device=None):
    """Steps that hold two activations and a gradient; the loss of each step is kept if `leak` bytes are given."""
    device = device or Device()
    weight = device.allocate(24 * MB, frames(f"{TORCH}:96 __init__", f"{OWN}:5 build", f"{OWN}:50 main"))
    state = None
    for _ in range(steps):
        outside = f"{OWN}:40 step"
        first = device.allocate(12 * MB + 100, frames(f"{TORCH}:117 forward", f"{OWN}:20 forward", outside))
        second = device.allocate(700 * KB, frames(f"{OWN}:21 forward", outside))
        if leak:
            device.allocate(leak, frames(f"{OWN}:42 step"))
        gradient = device.allocate(24 * MB, frames(outside))
        device.release(second)
        device.release(first)
        if state is None:
            state = device.allocate(48 * MB, frames("/usr/lib/python3/dist-packages/torch/optim/adam.py:90 _init_group", outside))
        device.release(gradient)
    return device, weight, state


def fragmented(device=None):
    """Every second of 40 blocks of 4 MB is released; then 32 MB do not fit, though 80 MB are free."""
    device = device or Device(capacity=180 * MB)
    kept = [device.allocate(4 * MB, frames(f"{OWN}:{10 + i % 2} cache")) for i in range(40)]
    for address in kept[::2]:
        device.release(address)
    try:
        device.allocate(32 * MB, frames(f"{OWN}:77 attention"))
    except OutOfMemory:
        return device
    raise AssertionError("it fitted")


# What testdata/captures/memory_snapshots has.
KEPT = {
    "steady.pkl": lambda: training()[0],
    "leak.pkl": lambda: training(leak=8 * MB)[0],  # of each step 8 MB stay
    "pieces.pkl": fragmented,  # 80 MB are free when 32 MB are asked for, in pieces of 4 MB
}
