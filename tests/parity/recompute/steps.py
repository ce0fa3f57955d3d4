# SPDX-License-Identifier: Apache-2.0
"""Cuts the device side to one step: what the step launched, and of work without a known launch what
starts in the step's time on the device."""

from dataclasses import replace


def cut(device, host, number):
    begin, end = device_times(device, host)[number]

    def belongs(work):
        launched = host.step_at(work.launch.time) if work.launch else None
        return begin <= work.start < end if launched is None else launched == number

    def with_operation(task):
        return belongs(task.operation or replace(task, launch=None))

    return replace(
        device,
        kernels=[kernel for kernel in device.kernels if belongs(kernel)],
        tasks=[task for task in device.tasks if belongs(task)],
        collectives=[collective for collective in device.collectives if belongs(collective)],
        collective_tasks=[task for task in device.collective_tasks if with_operation(task)],
        overlaps=list(cut_overlaps(device.overlaps, begin, end)),
        reserved=[sample for sample in device.reserved if host.step_at(sample[0]) == number],
        traffic=[entry for entry in device.traffic if entry[0].removeprefix("step") == str(number)])


def device_times(device, host):
    """{step: (begin, end) on the device}. A step begins where the device is done with the steps
    before, but not before it begins on the host, and at the latest with the first work that it
    launched. It ends where the next begins, the last one behind all that it launched."""
    launched = {number: [] for number in host.steps}
    for work in device.kernels + device.collectives:
        number = host.step_at(work.launch.time) if work.launch else None
        if number is not None:
            launched[number].append(work)
    begins, done, last = {}, 0, 0
    for number, (start, _) in sorted(host.steps.items(), key=lambda step: step[1]):
        begin = min([max(start, done), *(work.start for work in launched[number])])
        last = begins[number] = max(last, begin)
        done = max([done, start, *(work.end for work in launched[number])])
    order = list(begins)
    behind = max([host.steps[order[-1]][1], *(work.end for work in launched[order[-1]])]) + 1
    ends = [begins[number] for number in order[1:]] + [behind]
    return {number: (begins[number], end) for number, end in zip(order, ends)}


def cut_overlaps(overlaps, begin, end):
    """A step lasts from its first work to its last: free time around it is not its own."""
    for overlap in overlaps:
        start, stop = max(overlap.start, begin), min(overlap.end, end)
        if start < stop and overlap.name != "Free":
            yield replace(overlap, start=start, end=stop, duration=stop - start)
