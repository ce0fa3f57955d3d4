# SPDX-License-Identifier: Apache-2.0
"""Cuts the device side to one step: what the step launched, and of work without a known launch what
starts in the step's time on the device."""

from collections import Counter
from dataclasses import replace

from .device_records import Kernel


def cut(device, host, number):
    begin, end = device_times(device, host)[number]

    def belongs(work):
        launched = host.step_at(work.launch.time) if work.launch else None
        return begin <= work.start < end if launched is None else launched == number

    def with_operation(task):
        return belongs(task.operation or replace(task, launch=None))

    return replace(
        device,
        opens=begin,
        kernels=[kernel for kernel in device.kernels if belongs(kernel)],
        tasks=[task for task in device.tasks if belongs(task)],
        collectives=[collective for collective in device.collectives if belongs(collective)],
        collective_tasks=[task for task in device.collective_tasks if with_operation(task)],
        overlaps=list(cut_overlaps(device.overlaps, begin, end)),
        reserved=[sample for sample in device.reserved if host.step_at(sample[0]) == number],
        traffic=[entry for entry in device.traffic if entry[0].removeprefix("step") == str(number)])


def device_times(device, host):
    """{step: (begin, end) on the device}. A step begins where the device is done with the work before, but not before
    it begins on the host, and at the latest with the first kernel that it launched on the stream that computes most. It
    ends where the next begins, the last one behind all that it launched."""
    launched, first = {number: [] for number in host.steps}, min(start for start, _ in host.steps.values())
    done, last, begins = device.opens, 0, {}
    main = busiest_stream(device.kernels)
    copies = device.tasks if device.is_gpu else []
    for work in device.kernels + device.collectives + copies:
        number = host.step_at(work.launch.time) if work.launch else None
        if number is not None:
            launched[number].append(work)
        elif work.launch and work.launch.time < first:
            done = max(done, work.end)
    for number, (start, _) in sorted(host.steps.items(), key=lambda step: step[1]):
        own = [work.start for work in launched[number] if isinstance(work, Kernel) and work.stream == main]
        begin = min([max(start, done), *own])
        last = begins[number] = max(last, begin)
        done = max([done, start, *(work.end for work in launched[number])])
    order = list(begins)
    behind = max([host.steps[order[-1]][1], *(work.end for work in launched[order[-1]])]) + 1
    ends = [begins[number] for number in order[1:]] + [behind]
    return {number: (begins[number], end) for number, end in zip(order, ends)}


def busiest_stream(kernels):
    """The one whose kernels with a launch take most time; of several the least."""
    time = Counter()
    for kernel in kernels:
        if kernel.launch:
            time[kernel.stream] += kernel.length
    return min(time, key=lambda stream: (-time[stream], -1 if stream is None else stream), default=None)


def cut_overlaps(overlaps, begin, end):
    """A step lasts from its first work to its last: free time around it is not its own."""
    for overlap in overlaps:
        start, stop = max(overlap.start, begin), min(overlap.end, end)
        if start < stop and overlap.name != "Free":
            yield replace(overlap, start=start, end=stop, duration=stop - start)
