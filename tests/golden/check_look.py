#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what OverallMetrics looks like: merged ranges, widths, fonts, fills, formats, indents, red.

    check_look.py --tool BINARY --testdata DIR

Users' scripts read the workbook and people look at it next to those of the Python tool, so with
--compat the look is that of the tool we follow. Exit status: 0 right, 1 wrong, 2 usage.
"""

import argparse
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from workbook import Workbook  # noqa: E402

GREEN, YELLOW, RED, DEEP_BLUE, LIGHT_BLUE = "00FF00", "FFFF00", "FF0000", "00BFFF", "87CEFA"
WHOLE, DECIMALS, PERCENT = "#,##0", "#,##0.00", "0.00%"
COLUMNS = [("Index", 40, WHOLE, GREEN),  # header, width, format, fill of the header
           ("Duration(ms)", 20, DECIMALS, GREEN),
           ("Duration Ratio", 20, PERCENT, GREEN),
           ("Number", 10, WHOLE, GREEN),
           ("Duration(ms)", 20, DECIMALS, YELLOW),
           ("Duration Ratio", 20, PERCENT, YELLOW),
           ("Number", 10, WHOLE, YELLOW),
           ("Diff Duration(ms)", 20, DECIMALS, GREEN),
           ("Diff Ratio", 10, PERCENT, GREEN)]
WIDTH_SURPLUS = 0.7109375  # spreadsheet programs store it with every width
EVERY_CELL = {"font": "Arial", "size": 11.0, "border": {"thin"}, "horizontal": "left",
              "vertical": "center"}
RATIO = len(COLUMNS)
WITHOUT_FILL = ("\tSDMA", "\tFree")  # although on the first level

# What to compare with what, and the labels of the rows whose ratio is red: those that grew.
CASES = [
    ("text_new_ascend_pt", "text_base_ascend_pt", {
        "Computing Time": 1.0866, "\tConv (Forward)": 1.3448, "\t\tConv (Forward) (Cube)": 1.3774,
        "\tMatmul": 1.2128, "\t\tMatmul (Cube)": 1.2222, "Uncovered Communication Time": 1.2857,
        "\tdp: Communication": 1.3333, "\t\tWait": 2.4286, "E2E Time": 1.0138}),
    ("text_base_ascend_pt", "text_base_ascend_pt", {}),
    # The base tells no categories and no waits: --compat has 0 there.
    ("text_base_ascend_pt", "text_level0_ascend_pt", {
        **dict.fromkeys((
            "\tAllGatherMatmul", "\t\tComputing", "\t\tCommunication",
            *(f"\t{level}{kernels} ({part}){core}" for level, core in
              (("", ""), ("\t", " (Cube)"), ("\t", " (Vector)")) for kernels, part in
              (("Flash Attention", "Forward"), ("Flash Attention", "Backward"), ("Conv", "Forward"),
               ("Conv", "Backward"))),
            "\tMatmul", "\t\tMatmul (Cube)", "\t\tMatmul (Vector)", "\tPage Attention", "\tVector",
            "\t\tVector (Trans)", "\t\tVector (No Trans)", "\tCube", "\tSDMA (Tensor Move)",
            "\t\tWait"), "INF"),
        "Free Time": 1.059, "\tSDMA": 3, "\tFree": 1.0474, "E2E Time": 1.0357}),
    ("text_base_ascend_pt", "gpu_base.json", {
        **dict.fromkeys((
            "\tAllGatherMatmul", "\t\tComputing", "\t\tCommunication", "\tPage Attention", "\tCube",
            "\tOther", "\t\tFlash Attention (Forward) (Vector)", "\t\tVector (Trans)",
            "\tSDMA (Tensor Move)", "\tdp: Group group_0 Communication",
            "\ttp: Group group_1 Communication", "\t\tWait", "\t\tTransmit",
            "\tUncovered Communication Overlapped", "\t\tdp & tp"), "INF"),
        "Computing Time": 1.8406, "\tFlash Attention (Forward)": 2.05,
        "\t\tFlash Attention (Forward) (Cube)": 1.9, "\tFlash Attention (Backward)": 1.3333,
        "\t\tFlash Attention (Backward) (Cube)": 1.36, "\tConv (Forward)": 1.2889,
        "\t\tConv (Forward) (Cube)": 1.325, "\tConv (Backward)": 1.2857,
        "\t\tConv (Backward) (Cube)": 1.25, "\t\tConv (Backward) (Vector)": 2,
        "\tMatmul": 1.0805, "\t\tMatmul (Cube)": 1.0843, "\tVector": 9.8883,
        "\t\tVector (No Trans)": 9.3328, "Uncovered Communication Time": 1.2281,
        "Free Time": 2.7802, "\tFree": 2.9046, "E2E Time": 2.2979}),
]


class Look:
    def __init__(self, path):
        self.book = Workbook(path)
        self.sheet = self.book.sheets[0]
        self.wrong = []
        with zipfile.ZipFile(path) as archive:
            self.xml = archive.read("xl/worksheets/sheet1.xml").decode()

    def expect(self, place, what, expected, actual):
        if expected != actual:
            self.wrong.append(f"{place}: {what}: expected {expected!r}, got {actual!r}")

    def cell(self, row, column, value, **look):
        place = f"{chr(ord('A') + column - 1)}{row}"
        cell = self.sheet.cells.get((row, column))
        if cell is None:
            self.wrong.append(f"{place}: no cell")
            return
        if value is not ...:
            self.expect(place, "value", value, cell.value)
        actual = self.book.look(cell.style)
        for what, expected in {**EVERY_CELL, "indent": 0, "bold": False, **look}.items():
            self.expect(place, what, expected, actual[what])

    def check_top(self, base, comparison):
        self.expect("sheet", "name", "OverallMetrics", self.sheet.name)
        self.expect("sheet", "merged", ["B1:D1", "E1:G1"], self.sheet.merged)
        self.cell(1, 2, f"Base Profiling: {base}", bold=True, fill=GREEN)
        self.cell(1, 5, f"Comparison Profiling: {comparison}", bold=True, fill=YELLOW)
        self.expect("row 2", "cells", [], [key for key in self.sheet.cells if key[0] == 2])
        for column, (name, width, _, fill) in enumerate(COLUMNS, 1):
            self.cell(3, column, name, bold=True, fill=fill)
            self.expect(f"column {column}", "width", width + WIDTH_SURPLUS,
                        self.sheet.widths.get(column))
        self.expect("sheet", "columns", len(COLUMNS), max(key[1] for key in self.sheet.cells))
        for what in ("<pane", "<autoFilter", "customHeight", "<conditionalFormatting"):
            self.expect("sheet", what, False, what in self.xml)

    def check_rows(self, red):
        found = {}
        for number, row in enumerate(self.sheet.rows()[3:], 4):
            label = row[0]
            level = len(label) - len(label.lstrip("\t"))
            fill = [DEEP_BLUE, LIGHT_BLUE, None][level] if label not in WITHOUT_FILL else None
            for column, (_, _, number_format, _) in enumerate(COLUMNS[:-1], 1):
                self.cell(number, column, ..., fill=fill, format=number_format,
                          indent=level if column == 1 else 0)
            ratio = row[RATIO - 1]
            grew = ratio == "INF" or (isinstance(ratio, float) and ratio > 1)
            self.cell(number, RATIO, ..., fill=RED if grew else fill, format=PERCENT)
            if grew:
                found.setdefault(label, ratio)
        self.expect("sheet", "red ratios", red, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--testdata", required=True, type=Path)
    args = parser.parse_args()
    captures = args.testdata.resolve() / "captures"
    failed = False
    for comparison, base, red in CASES:
        with tempfile.TemporaryDirectory() as out:
            subprocess.run([args.tool.resolve(), "compare", "-q", "--compat", "-d", comparison, "-bp", base,
                            "-o", out], cwd=captures, check=True, stdout=subprocess.DEVNULL,
                           timeout=60)
            (path,) = Path(out).iterdir()
            look = Look(path)
        look.check_top(captures / base, captures / comparison)
        look.check_rows(red)
        for line in look.wrong:
            print(f"{comparison} against {base}: {line}")
        failed = failed or bool(look.wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
