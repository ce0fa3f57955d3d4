# SPDX-License-Identifier: Apache-2.0
"""What the device did for the host: kernels, copies and collectives whose launch is known."""

from dataclasses import dataclass
from fractions import Fraction

from .device_records import COPIES
from .host_records import Place


@dataclass(eq=False)
class LaunchedWork:
    place: Place
    name: str
    start: int
    duration: Fraction  # ns
    label: str = ""  # of NPU work its number, its type and the shapes of its inputs

    @property
    def description(self):
        return f"{self.name}{self.label} [duration: {float(us(self.duration))}]\n"


def launched_work(device):
    """In order of start. What a capture lists twice counts once: text captures have kernels in a
    table of their own as well, and LCCL kernels are tasks and collectives."""
    if device.is_gpu:
        found = [LaunchedWork(work.launch, work.name, work.start, work.duration)
                 for work in device.tasks + device.kernels + device.collectives if work.launch]
    else:
        found = work_of_npu(device)
    return sorted(found, key=lambda work: (work.start, work.place.time))


def work_of_npu(device):
    kernels = {}
    for kernel in device.kernels:
        kernels.setdefault(kernel.start, []).append(kernel)
    found = []

    def add(work, number, kind, shapes):
        label = f", {none_if_empty(number)}, {none_if_empty(kind)}"
        label += f", [input shapes: {shapes}]" if shapes else ""
        found.append(LaunchedWork(work.launch, work.name, work.start, work.duration, label))

    for task in device.tasks:
        if task.launch and is_work(task):
            known = [kernel for kernel in kernels.get(task.start, [])
                     if kernel.launch in (task.launch, None)]
            add(task, task.id, task.type, known[-1].shapes if known else "")
    listed = {(work.place, work.start) for work in found}
    for kernel in device.kernels:
        if kernel.launch and (kernel.launch, kernel.start) not in listed:
            add(kernel, kernel.id, kernel.core, kernel.shapes)
    of_lccl = {(work.place, work.start) for work in found if work.name.lower() == "kernel_aivec"}
    for collective in device.collectives:
        if collective.launch and (collective.launch, collective.start) not in of_lccl:
            add(collective, None, None, "")
    return found


def is_work(task):
    """A task that waits, records or marks has no name but its type."""
    name, kind = (text.removesuffix("_SQE") for text in (task.name, task.type))
    return bool(name) and (name != kind or task.name in COPIES or task.type in COPIES)


def none_if_empty(value):
    return "None" if value in (None, "") else value


def total(works):
    """Nanoseconds."""
    return sum((work.duration for work in works), Fraction(0))


def describe(works):
    return "".join(work.description for work in works)


def us(time):
    return Fraction(time) / 10 ** 3


def ms(time):
    return Fraction(time) / 10 ** 6
