# SPDX-License-Identifier: Apache-2.0
"""What `-m module_statistic` and `-m operator_mfu` have to write: expected() for a directory."""

import argparse
from pathlib import Path

from . import operator_mfu
from .files import Capture
from .mfu_chip import Chip
from .mfu_kernels import kernel_uses
from .recipe_rank import Rank

STATISTIC_COLUMNS = ["parentModule", "module", "opName", "kernelList", "totalKernelDuration(ns)",
                     "avgKernelDuration(ns)", "opCount", "rankID", "avgMFU"]
STATISTIC_HEADERS = ["Parent Module", "Module", "Op Name", "Kernel List",
                     "Total Kernel Duration(ns)", "Avg Kernel Duration(ns)", "Op Count", "Avg MFU"]
KERNEL_HEADERS = ["Rank ID", "Op Name", "Kernel Name", "Kernel Start(ns)", "Kernel End(ns)",
                  "Kernel Duration(ns)", "MFU", *operator_mfu.KERNEL_COLUMNS[7:]]
MODULE_HEADERS = ["Rank ID", *STATISTIC_HEADERS]
CHIP_OPTIONS = ("ai_core_num", "aic_frequency", "peak_tflops")


def parse(args):
    """The options of a recipe's command line."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("-m", dest="recipe")
    parser.add_argument("-d", dest="directory")
    parser.add_argument("-o", dest="output")
    parser.add_argument("--export_type", default="db")
    parser.add_argument("--with_backward", action="store_true")
    for option in CHIP_OPTIONS:
        parser.add_argument(f"--{option}")
    return {name: value for name, value in vars(parser.parse_args(args)).items()
            if value is not None}


def ranks_below(directory):
    """The ranks of the captures there, by number."""
    outputs = sorted(Path(directory).rglob("ASCEND_PROFILER_OUTPUT"))
    return sorted((Rank(Capture(output.parent)) for output in outputs),
                  key=lambda rank: rank.number)


def expected(directory, args):
    """{table: [header row, rows...]} of the database, or {workbook/sheet: the same}."""
    options = parse(args)
    make = {"module_statistic": _module_statistic, "operator_mfu": _operator_mfu}[options["recipe"]]
    return make(ranks_below(directory), options, options["export_type"] == "text")


def _without_empty_mfu(header, rows):
    """The last column stands only where a kernel has a utilisation."""
    if not any(row[-1] for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    return [header, *rows]


def _for_people(table):
    """A workbook has no empty texts."""
    return [[None if cell == "" else cell for cell in row] for row in table]


def _sixteen_digits(time):
    """As much of a time as a number of a workbook holds."""
    return int(float(f"{time:.16g}"))


def _module_statistic(ranks, options, for_people):
    of_rank = {}
    for rank in ranks:
        uses = kernel_uses(rank, Chip(rank.capture, options))
        of_rank[rank.number] = list(operator_mfu.modules(rank, uses, backward=True))
    if for_people:
        return {f"module_statistic_{number}/Sheet1":
                _for_people(_without_empty_mfu(STATISTIC_HEADERS, rows))
                for number, rows in of_rank.items() if rows}
    rows = [[*row[:-1], number, row[-1]] for number, rows in of_rank.items() for row in rows]
    return {"ModuleStatistic": _without_empty_mfu(STATISTIC_COLUMNS, rows)}


def _operator_mfu(ranks, options, for_people):
    of_rank = {}
    for rank in ranks:
        uses = kernel_uses(rank, Chip(rank.capture, options))
        tables = (operator_mfu.kernels(uses),
                  operator_mfu.modules(rank, uses, options["with_backward"]),
                  operator_mfu.summary(uses), operator_mfu.waste(uses))
        of_rank[rank.number] = [[[rank.number, *row] for row in rows] for rows in tables]
    if for_people:
        sheets = {}
        for number, tables in of_rank.items():
            sheets |= _workbooks(number, *tables)
        return sheets
    kernels, modules, shares, wastes = (sum(tables, []) for tables in zip(*of_rank.values()))
    return {"OperatorMFU": [operator_mfu.KERNEL_COLUMNS, *kernels],
            "ModuleMFU": _without_empty_mfu(operator_mfu.MODULE_COLUMNS, modules),
            "MFUSummary": [operator_mfu.SUMMARY_COLUMNS, *shares],
            "MFUWaste": [operator_mfu.WASTE_COLUMNS, *wastes]}


def _workbooks(number, kernels, modules, shares, wastes):
    sheets = {}
    if kernels:
        sheets[f"operator_mfu_kernel_{number}/Sheet1"] = _for_people([
            KERNEL_HEADERS, *([*row[:3], *map(_sixteen_digits, row[3:5]), *row[5:]]
                              for row in kernels)])
    if modules:
        sheets[f"operator_mfu_module_{number}/Sheet1"] = _for_people(
            _without_empty_mfu(MODULE_HEADERS, modules))
    if shares:
        summary = f"operator_mfu_summary_{number}"
        sheets[f"{summary}/Summary"] = _for_people([operator_mfu.SUMMARY_COLUMNS, *shares])
        sheets[f"{summary}/Waste"] = _for_people([operator_mfu.WASTE_COLUMNS, *wastes])
    return sheets
