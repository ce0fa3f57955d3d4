# SPDX-License-Identifier: Apache-2.0
"""The device side of profiler databases."""

import json
from collections import defaultdict

from .device_records import (COPIES, COUNTERS, Collective, CollectiveTask, Device, Group, Kernel,
                             Work, name_groups, rank_in_group)
from .files import exact
from .sheets import round_half_away


def load(capture, host):
    device = Device()
    if capture.has_table("TASK"):
        device.tasks = tasks_of(capture, host)
        if capture.has_table("COMPUTE_TASK_INFO"):
            device.kernels = kernels_of(capture, host)
    if capture.has_table("COMMUNICATION_OP"):
        read_collectives(capture, host, device)
    if capture.has_table("MEMORY_RECORD"):
        device.reserved = [(time, capture.texts.get(component, ""), size) for time, component, size in capture.rows(
            "SELECT timestamp, component, totalReserved FROM MEMORY_RECORD WHERE totalReserved IS NOT NULL")]
    return device


def recorded(capture, number):
    text = capture.texts.get(number, "")
    return "" if text == "N/A" else text


def span_of(row, host):
    start, end = row["startNs"], row["endNs"]
    return {"start": start, "end": end, "duration": end - start,
            "connection": row["connectionId"], "launch": host.launches.get(row["connectionId"])}


def numbers(capture, column, table):
    return {row[0] for row in capture.rows(f"SELECT {column} FROM {table}")} - {0, None} \
        if capture.has_table(table) else set()


def tasks_of(capture, host):
    """A copy is known by what the runtime launched it with, unless it is part of a collective."""
    of_collectives = numbers(capture, "globalTaskId", "COMMUNICATION_TASK_INFO")
    by_collectives = numbers(capture, "connectionId", "COMMUNICATION_OP")
    tasks = []
    for row in capture.rows("SELECT * FROM TASK ORDER BY rowid"):
        kind = capture.texts.get(row["taskType"], "")
        task = Work(name="", type=kind, stream=row["streamId"], id=row["globalTaskId"],
                    **span_of(row, host))
        if (kind in COPIES and row["globalTaskId"] not in of_collectives
                and row["connectionId"] not in by_collectives):
            task.name = kind
            task.launch = task.launch or host.runtime_launches.get(row["connectionId"])
        tasks.append(task)
    return tasks


def kernels_of(capture, host):
    counters = counters_of_tasks(capture)
    return [Kernel(
        name=capture.texts.get(row["name"], ""), type=recorded(capture, row["opType"]),
        stream=row["streamId"], id=row["globalTaskId"],
        shapes=capture.texts.get(dict(row).get("inputShapes"), ""),
        core=recorded(capture, row["core"]) or recorded(capture, row["taskType"]),
        counters=counters[row["globalTaskId"]], **span_of(row, host))
        for row in capture.rows("SELECT TASK.*, info.*, info.taskType AS core FROM TASK "
                                "JOIN COMPUTE_TASK_INFO info USING (globalTaskId) "
                                "ORDER BY TASK.rowid")]


def counters_of_tasks(capture):
    counters = defaultdict(dict)
    if capture.has_table("TASK_PMU_INFO"):
        for row in capture.rows("SELECT globalTaskId, name, value FROM TASK_PMU_INFO"):
            counter = COUNTERS.get(capture.texts.get(row["name"]))
            if counter and row["value"] is not None:
                whole = round_half_away(exact(row["value"]), 0)
                counters[row["globalTaskId"]][counter] = int(whole)
    return counters


def read_collectives(capture, host, device):
    """Groups come in the order in which operations, then tasks, name them."""
    groups, operations = {}, {}
    group_of = lambda row: groups.setdefault(
        row["groupName"], Group(capture.texts.get(row["groupName"], "")))
    for row in capture.rows("SELECT * FROM COMMUNICATION_OP ORDER BY opId"):
        operations[row["opId"]] = Collective(
            name=capture.texts.get(row["opName"], ""), type=recorded(capture, row["opType"]),
            id=row["opId"], group=group_of(row), **span_of(row, host))
    device.collectives = list(operations.values())
    if capture.has_table("COMMUNICATION_TASK_INFO"):
        for row in capture.rows(
                "SELECT TASK.*, info.*, info.taskType AS kind "
                "FROM TASK JOIN COMMUNICATION_TASK_INFO info USING (globalTaskId) "
                "ORDER BY TASK.rowid"):
            task = CollectiveTask(
                name=recorded(capture, row["kind"]), group=group_of(row), plane=row["planeId"],
                operation=operations.get(row["opId"]), size=dict(row).get("size"),
                peer=rank_in_group(dict(row).get("dstRank")), **span_of(row, host))
            device.collective_tasks.append(task)
            if task.operation:
                task.operation.tasks.append(task)
    device.groups = list(groups.values())
    if capture.has_table("META_DATA"):
        for row in capture.rows("SELECT value FROM META_DATA WHERE name = 'parallel_group_info'"):
            name_groups(device.groups, json.loads(row["value"]))
