# SPDX-License-Identifier: Apache-2.0
"""Faults for real captures. Each changes a job and says what is true of it then; times are put in where host, device and
other ranks wait for them, so the step gets longer by just that."""

import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import retime  # noqa: E402: found only now
from retime.moments import in_span, moments_in_steps, nothing_recorded  # noqa: E402
from retime.pushing import push  # noqa: E402
from retime.waiting import come_late  # noqa: E402

MS = 1_000_000


@dataclass
class Truth:
    """What a diagnosis has to say."""

    cause: str  # a row of ACCEPTED in run_plants.py
    ms: float  # that a step with the fault gets longer by
    ranks: list = field(default_factory=list)  # culprits; empty: all captured ones
    places: list = field(default_factory=list)  # any of these texts is the place; empty: not looked at
    steps: list = field(default_factory=list)  # that have it; empty: all


class Job:
    """The captures of a job, by rank."""

    def __init__(self, root, *paths):
        self.captures = {rank: retime.load(path) for rank, path in enumerate(paths)}
        self.names = {rank: path.relative_to(root) if len(paths) > 1 else Path(path.name) for rank, path in
                      enumerate(paths)}

    def __getitem__(self, rank):
        return self.captures[rank]

    def write(self, target):
        for rank, capture in self.captures.items():
            capture.write(target / self.names[rank])


def gpu(path):
    return lambda data: Job(data, data / path)


def npu(path, ranks=(0, 1)):
    return lambda data: Job(data / path, *(data / path / f"rank{rank}_ascend_pt" for rank in ranks))


def dlrm(data):
    folder = data / "traces" / "dlrm_8ranks"
    return Job(folder, *sorted(folder.glob("*.json.gz")))


DDP, CONTROL = gpu("gpu/ddp_nccl.json.gz"), gpu("gpu/control.json.gz")
RESNET = gpu("traces/resnet50_2021/workers4.pt.trace.json.gz")
RESNET0 = gpu("traces/resnet50_2021/workers0.pt.trace.json.gz")  # loads its data itself
VIDEO = gpu("traces/tracelens/h100_timesformer_1016002.json.gz")
TEXT1, TEXT0, DB1, DB0 = npu("npu/text/level1"), npu("npu/text/level0"), npu("npu/db/level1"), npu("npu/db/level0")


# -- faults: each changes a job and returns what is true of it

def stall_in_operator(job, name, ms, steps=None):
    """The host stands still within an operator, once in each step."""
    capture = job[0]
    for moment in moments_in_steps(capture, lambda begin, end: in_span(capture, ("op",), name, begin, end), steps):
        capture.pause(moment, round(ms * MS))
    return Truth("operator", ms, places=[name], steps=steps or [])


def stall_in_python(job, name, ms):
    """A function of Python takes longer, outside of operators."""
    capture = job[0]
    moment = in_span(capture, ("python",), name, *_step(capture), outside=("op",))
    capture.pause(moment, round(ms * MS))
    return Truth("python", ms, places=[name])


def stall_unrecorded(job, ms):
    """The host stands still where nothing was recorded."""
    capture = job[0]
    for moment in moments_in_steps(capture, lambda begin, end: nothing_recorded(capture, begin, end)):
        capture.pause(moment, round(ms * MS))
    return Truth("unrecorded", ms)


def loader(job, ms):
    """The data loader takes longer in each step."""
    capture = job[0]
    name = "enumerate(DataLoader)"
    for moment in moments_in_steps(capture, lambda begin, end: in_span(capture, ("op",), name, begin, end)):
        capture.pause(moment, round(ms * MS))
    return Truth("loader", ms, places=["DataLoader"])


def late_rank(job, rank, name, ms, cause="late_host"):
    """A rank stands still in an operator before a collective to which it comes last anyway; the others wait there, and
    so do their hosts."""
    capture = job[rank]
    collective, begin, end = _waited_for(job, rank)
    moment = in_span(capture, ("op",), name, begin, end)
    capture.pause(moment, round(ms * MS))
    for other, waiting in job.captures.items():
        if other != rank:
            waiting.pause(_blocked(waiting, collective), round(ms * MS))
    return Truth(cause, ms, ranks=[rank], places=[name])


def late_npu(job, rank, kinds, name, ms, cause, outside=()):
    """One of the captured ranks comes last to all collectives, after others that were not captured."""
    capture = job[rank]
    moment = in_span(capture, kinds, name, capture.steps()[0].start, capture.of("collective")[0].start, outside)
    grown = come_late(job, rank, moment, round(ms * MS))
    return Truth(cause, grown / MS, ranks=[rank], places=[name])


def collected(job, rank, ms):
    """Python collects garbage on one rank, in an operator before the collectives, which is recorded."""
    capture = job[rank]
    moment = in_span(capture, ("op",), "aten::cross_entropy_loss", capture.steps()[0].start, capture.of("collective")[0].start)
    capture.garbage.append((moment, moment + round(ms * MS)))
    return Truth("garbage", come_late(job, rank, moment, round(ms * MS)) / MS, ranks=[rank])


def _grown(capture):
    """How much later the device is done, in ms of each step."""
    last = max(capture.work(), key=lambda span: span.end)
    return (capture.now(last)[1] - last.end) / MS / len(capture.steps())


def long_kernel(job, name, ms):
    """One kernel in each step takes longer than its equals."""
    capture, chosen = job[0], []
    for step in capture.steps():
        own = [k for k in capture.of("kernel", name=name) if step.start <= k.start < step.end]
        chosen.append(own[len(own) // 2])
    push(capture, {id(k): round(ms * MS) for k in chosen})
    return Truth("long_kernel", _grown(capture), places=[name])


def slow_type(job, name, factor):
    """Kernels of one name take longer; only a comparison can tell."""
    capture = job[0]
    kernels = capture.of("kernel", name=name)
    push(capture, {id(k): round(k.dur * (factor - 1)) for k in kernels})
    return Truth("slow_type", _grown(capture), places=[name])


def behind_kernels(job, name, kind, like, count, ms, cause, call=None, named=None):
    """In each step, work of the device is added behind kernels: `count` times `ms`, launched in the same calls."""
    capture = job[0]
    model = capture.of(kind, name=like)[0]
    chosen = []
    for step in capture.steps():
        own = [k for k in capture.of("kernel", name=name) if step.start <= k.start < step.end]
        chosen += own[:: max(1, len(own) // count)][:count]
    longer = round(ms * MS)
    push(capture, {id(k): longer for k in chosen})
    grown = _grown(capture)
    for kernel in chosen:
        start, end = capture.own[id(kernel)]
        capture.own[id(kernel)] = (start, end - longer)
        launch = capture.calls[kernel.link]
        at = capture.now(launch)[1]
        link = capture.new_link()
        capture.add(launch, call or launch.name, at, at + 500, link)
        capture.add(model, named or model.name, end - longer + 500, end, link)
    return Truth(cause, grown, places=[(named or model.name)[:30]])


def pageable_copy(job, ms):
    """In each step a blocking copy from pageable memory, while nothing else is to be done."""
    capture = job[0]
    copy = next(s for s in capture.of("copy") if s.link in capture.calls)
    call = capture.calls[copy.link]
    operator = next(s for s in capture.of("op", name="aten::copy_") if s.lane == call.lane and s.start < call.start < s.end)
    lane = next(s for s in capture.of("op", name="aten::cudnn_batch_norm")).lane
    for moment in moments_in_steps(capture, lambda begin, end: nothing_recorded(capture, begin, end)):
        start, link = capture.clocks["host"](moment - 1) + 1, capture.new_link()
        longer = round(ms * MS)
        capture.pause(moment, longer)
        for span, begin, end, number in ((operator, 2000, -2000, None), (call, 4000, -4000, link), (copy, 9000, -8000, link)):
            new = capture.add(span, span.name, start + begin, start + longer + end, number)
            if span is copy:
                new.name = "Memcpy HtoD (Pageable -> Device)"
            else:
                new.thread = lane
    return Truth("pageable", ms, places=["aten::copy_"])


def _waited_for(job, rank):
    """The number of the first collective for which all others wait in a call of the runtime, the end of the one before
    it and its start."""
    own = job[rank].of("collective")
    for number, collective in enumerate(own):
        others = [c for r, c in job.captures.items() if r != rank]
        if all(c.of("collective")[number].start < collective.start and _blocked(c, number) for c in others):
            before = own[number - 1].end if number else job[rank].steps()[0].start
            return number, before, collective.start
    raise ValueError(f"nobody waits for rank {rank}")


def _blocked(capture, number):
    """A moment at the end of a collective at which the host waits for the device."""
    end = capture.of("collective")[number].end - 2000
    calls = [s for s in capture.of("call") if s.covers(end) and ("Synchronize" in s.name or "Memcpy" in s.name)]
    return end if calls else None


def _step(capture):
    step = capture.steps()[0]
    return step.start, step.end


FAULTS = {
    "ddp_operator": (DDP, stall_in_operator, {"name": "aten::cudnn_batch_norm", "ms": 60}),
    "ddp_unrecorded": (DDP, stall_unrecorded, {"ms": 60}),
    "resnet_long_step": (RESNET, stall_in_operator, {"name": "aten::add_", "ms": 400, "steps": [8]}),
    "resnet_loader": (RESNET0, loader, {"ms": 80}),
    "video_python": (VIDEO, stall_in_python, {"name": "resize", "ms": 300}),
    "video_operator": (VIDEO, stall_in_operator, {"name": "aten::copy_", "ms": 300}),
    "dlrm_late_operator": (dlrm, late_rank, {"rank": 7, "name": "aten::bmm", "ms": 30}),
    "text1_late_operator": (TEXT1, late_npu, {"rank": 0, "kinds": ("op",), "name": "aten::cross_entropy_loss", "ms": 200,
                                              "cause": "late_host"}),
    "text1_late_python": (TEXT1, late_npu, {"rank": 1, "kinds": ("python",), "name": "accuracy", "ms": 200,
                                            "cause": "late_host", "outside": ("op",)}),
    "text1_late_loader": (TEXT1, late_npu, {"rank": 0, "kinds": ("op",), "name": "enumerate(DataLoader)", "ms": 200,
                                            "cause": "late_input"}),
    "db1_late_operator": (DB1, late_npu, {"rank": 1, "kinds": ("op",), "name": "aten::linear", "ms": 200,
                                          "cause": "late_host"}),
    "db1_late_loader": (DB1, late_npu, {"rank": 1, "kinds": ("op",), "name": "enumerate(DataLoader)", "ms": 200,
                                        "cause": "late_input"}),
    "db1_garbage": (DB1, collected, {"rank": 1, "ms": 200}),
    "resnet_long_kernel": (RESNET, long_kernel, {"name": "dgrad", "ms": 40}),
    "resnet_slow_type": (RESNET, slow_type, {"name": "bn_bw", "factor": 3}),
    "resnet_layouts": (RESNET, behind_kernels, {"name": "cudnn", "kind": "kernel", "like": "nchwToNhwc", "count": 20,
                                                "ms": 2, "cause": "layouts"}),
    "resnet_device_copies": (RESNET, behind_kernels, {"name": "cudnn", "kind": "copy", "like": "", "count": 10, "ms": 4,
                                                      "cause": "device_copies", "call": "cudaMemcpyAsync",
                                                      "named": "Memcpy DtoD (Device -> Device)"}),
    "resnet_operator": (RESNET0, stall_in_operator, {"name": "aten::conv2d", "ms": 60}),
    "ddp_pageable": (DDP, pageable_copy, {"ms": 60}),
    "control_operator": (CONTROL, stall_in_operator, {"name": "aten::mm", "ms": 50}),
}
