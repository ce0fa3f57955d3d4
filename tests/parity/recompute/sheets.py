# SPDX-License-Identifier: Apache-2.0
"""What the sheets of `compare` look like: columns, banners, and how a workbook rounds."""

import re
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction


class Marker(Enum):
    """Cells that hold no number. JSON and CSV have nothing there."""
    INF = "INF"  # a ratio to nothing
    NOT_COUNTED = "/"  # no number applies
    UNKNOWN = "N/A"


INF, NOT_COUNTED, UNKNOWN = Marker.INF, Marker.NOT_COUNTED, Marker.UNKNOWN


@dataclass(frozen=True)
class Column:
    header: str
    side: str = ""  # "base" or "comparison"
    digits: int | None = None  # decimals in the workbook; None: all of them

    @property
    def key(self):
        """The name in JSON and CSV."""
        own = self.header.lower().startswith(("base", "comparison"))
        words = self.header if own else f"{self.side} {self.header}"
        return re.sub("[^a-z0-9]+", "_", words.lower()).strip("_")


def plain(*headers):
    return [Column(header) for header in headers]


def both(*headers, digits=None):
    """Columns of both sides. `digits` rounds those of times."""
    return [Column(header, side, digits if header.endswith("s)") else None)
            for side in ("base", "comparison") for header in headers]


def difference(header):
    return Column(header, digits=2)


def ratio(header):
    return Column(header, digits=4)


def sided(*headers):
    """Columns whose headers name their sides."""
    return [Column(header, header.split()[0].lower()) for header in headers]


SHEETS = {
    "OverallMetrics": [
        *plain("Index"), *both("Duration(ms)", "Duration Ratio", "Number"),
        difference("Diff Duration(ms)"), ratio("Diff Ratio")],
    "CommunicationCompare": [
        *plain("Order Id"),
        *both("Communication OP Name", "Task Name", "Calls", "Total Duration(us)",
              "Avg Duration(us)", "Max Duration(us)", "Min Duration(us)"),
        difference("Diff Duration(us)"), ratio("Diff Ratio")],
    "ModuleCompareStatistic": [
        *plain("Order Id", "Module Class", "Module Level", "Module Name", "Operator Name"),
        *both("Kernel Details", "Device Self Time(ms)", "Number", "Device Total Time(ms)"),
        difference("Device Total Time Diff(ms)"), difference("Device Self Time Diff(ms)"),
        ratio("Diff Total Ratio"), *plain("Base Call Stack", "Comparison Call Stack")],
    "ModuleCompare": [
        *plain("Order Id", "Module Class", "Module Level", "Module Name"),
        *both("Operator Name", "Kernel Details", "Device Self Time(us)", "Device Total Time(us)"),
        difference("Device Total Time Diff(us)"), difference("Device Self Time Diff(us)"),
        ratio("Diff Total Ratio"), *plain("Base Call Stack", "Comparison Call Stack")],
    "OperatorCompareStatistic": [
        *plain("Top", "Operator Name"),
        *sided("Base Device Duration(ms)", "Base Operator Number",
               "Comparison Device Duration(ms)", "Comparison Operator Number"),
        difference("Diff Duration(ms)"), ratio("Diff Ratio")],
    "OperatorCompare": [
        *plain("Order Id"),
        *both("Operator Name", "Input Shape", "Input Type", "Kernel Details",
              "Device Duration(us)"),
        difference("Diff Duration(us)"), ratio("Diff Ratio")],
    "MemoryCompareStatistic": [
        *plain("Top", "Operator Name"),
        *sided("Base Allocated Duration(ms)", "Base Allocated Memory(MB)", "Base Operator Number",
               "Comparison Allocated Duration(ms)", "Comparison Allocated Memory(MB)",
               "Comparison Operator Number"),
        difference("Diff Memory(MB)"), ratio("Diff Ratio")],
    "MemoryCompare": [
        *plain("Order Id"),
        *both("Operator Name", "Input Shape", "Input Type", "Allocated Details", "Size(KB)"),
        difference("Diff Size(KB)"), ratio("Diff Ratio")],
    "ApiCompare": [
        *plain("Order Id", "api name"),
        *both("Total Duration(ms)", "Self Time(ms)", "Avg Duration(ms)", "Calls", digits=2),
        *map(ratio, ("Diff Total Ratio", "Diff Self Ratio", "Diff Avg Ratio",
                     "Diff Calls Ratio"))],
    "KernelCompare": [
        *plain("Order Id", "Kernel", "Input Shape"),
        *both("Total Duration(us)", "Avg Duration(us)", "Max Duration(us)", "Min Duration(us)",
              "Calls", digits=2),
        ratio("Diff Total Ratio"), ratio("Diff Avg Ratio")],
    "KernelTypeCompare": [
        *plain("Order Id", "Kernel Type", "Core Type"),
        *both("Total Duration(us)", "Avg Duration(us)", "Max Duration(us)", "Min Duration(us)",
              "Calls"),
        ratio("Diff Total Ratio"), ratio("Diff Avg Ratio")],
}


def header_rows(sheet, base_path, comparison_path):
    """The three rows above the data of a sheet in the workbook."""
    columns = SHEETS[sheet]
    banners = [None] * len(columns)
    for side, path in (("base", base_path), ("comparison", comparison_path)):
        first = next(place for place, column in enumerate(columns) if column.side == side)
        banners[first] = f"{side.capitalize()} Profiling: {path}"
    return [banners, [], [column.header for column in columns]]


def round_half_away(value, digits):
    """An exact number with so many decimals, halves away from zero."""
    unit = 10 ** digits
    whole = (abs(value) * unit * 2 + 1) // 2
    return Fraction(whole if value >= 0 else -whole, unit)


def share(part, whole):
    """The ratio of a row: 1 where both are 0, INF where only the whole is."""
    if whole:
        return Fraction(part) / whole
    return INF if part else Fraction(1)
