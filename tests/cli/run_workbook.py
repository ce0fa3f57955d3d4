#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workbooks for people: the summary, what makes sheets easy to read and to print, and what is red.

    run_workbook.py --tool BINARY --testdata DIR workbooks|bookopened [-v]

Exit status: 0 passed, 1 failed, 2 usage.
"""

import itertools
import json
import re
import shutil
import subprocess
import sys
import time
import unittest
from decimal import Decimal

from cli import BASE, NEW, Cli, main
from printed import letter_sizes, page_sizes
from sheet_layout import corners, printed_width, target_of, with_layouts
from workbook import Workbook

RED = "BE4038"  # docs/report.md
A4_ACROSS = 297 / 25.4 * 72  # points
LEAST_POINTS = 9
# Captures with modules and with operators; each pair makes other sheets.
PAIRS = [((BASE, NEW), ()), (("twin_text_base_ascend_pt", "twin_text_new_ascend_pt"), ()),
         (("twin_text_base_ascend_pt", "twin_text_new_ascend_pt"), ("--disable_module", "--use_kernel_type"))]
RECIPES = [(name, BASE) for name in (
    "compute_op_sum", "hccl_sum", "free_analysis", "slow_rank", "communication_bottleneck",
    "cluster_time_summary", "memory_timeline", "computational_op_masking", "export_stacks", "top_operators")] + [
        ("rl_roles", "rl_colocated"), ("graph_replays", "graph_replay")]
SHEETS_OF_CALLS = {"ModuleCompare", "OperatorCompare"}  # a row is of one step


def header_row(sheet):
    """From 1; the captures stand above the headers."""
    rows = sheet.rows()
    compares = any(str(cell).startswith("Base Profiling: ") for cell in rows[0])
    return 3 if compares else 1


def factors(header, unit):
    """By what a cell below the header may be multiplied to be in the unit."""
    sizes = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
    if unit not in sizes:
        return (1, 100)  # a count, a share
    named = re.search(r"\((ns|us|ms|s|B|kB|MB|GB)\)$|(Ns|_ns|Bytes)$", header)
    if named:
        own = named[1] or ("B" if named[2] == "Bytes" else "ns")
        return (sizes[own] / sizes[unit],)
    return tuple(own / sizes[unit] for own in (1, 1e3, 1e6))


def steps_of(capture):
    """The lengths of the steps in ms, from the trace."""
    trace = json.loads((capture / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").read_text(encoding="utf-8"))
    return [float(Decimal(str(event["dur"]))) / 1e3 for event in trace
            if event.get("ph") == "X" and event["name"].startswith("ProfilerStep#")]


def unit_in_ms(header):
    return {"(ms)": 1, "(us)": 1e-3}[re.search(r"\((ms|us)\)", header)[0]]


def change_in_ms(headers, row):
    """The change of a row as the sheet shows it, from the differences or the totals. None: it shows none."""
    for header, cell in zip(headers, row):
        if re.match(r"Diff Duration|Device (Total|Self) Time Diff", header) and isinstance(cell, float):
            return cell * unit_in_ms(header)
    totals = [(row[i], unit_in_ms(header)) for i, header in enumerate(headers) if header.startswith("Total Duration")]
    if len(totals) == 2 and all(isinstance(cell, float) for cell, _ in totals):
        return (totals[1][0] - totals[0][0]) * totals[0][1]
    return None


class Workbooks(Cli):
    def workbook_of(self, pair, *options):
        shutil.rmtree(self.out, ignore_errors=True)
        base, comparison = pair
        self.result = self.compare(*options, base=base, comparison=comparison)
        self.assertEqual(self.result.code, 0, self.result.err)
        path, = self.workbooks()
        return path

    def advisor(self, *options):
        result = self.run_tool("advisor", "all", "-d", BASE, "-o", self.out, "-l", "en", *options)
        self.assertEqual(result.code, 0, result.err)
        path, = (self.out / "log").glob("*.xlsx")
        return result, path

    def assert_readable(self, path):
        """Headers stay in sight, filters reach over all rows, pages are as wide as the sheet, rows can be sorted."""
        (summary, _), *sheets = with_layouts(path) if Workbook(path).sheets[0].name == "Summary" else [
            (None, None), *with_layouts(path)]
        for sheet, layout in sheets:
            with self.subTest(sheet=sheet.name):
                header, rows = header_row(sheet), sheet.rows()
                self.assertEqual(layout.frozen, header)
                self.assertEqual(corners(layout.filter), ((header, 1), (len(rows), len(rows[header - 1]))))
                self.assertEqual(layout.titles, f"$1:${header}")
                self.assertEqual(corners(layout.area), ((1, 1), (len(rows), len(rows[header - 1]))))
                self.assertTrue(all(rows[header - 1]), "a column without a header")
                for merged in sheet.merged:
                    self.assertLess(corners(merged)[1][0], header, "cells of rows are merged")
                self.assertTrue(all(7 < width < 110 for width in sheet.widths.values()), sheet.widths)
                self.assertEqual(len(sheet.widths), len(rows[header - 1]))
        self.assert_prints(path)
        return summary

    def assert_prints(self, path):
        """On A4 in landscape, in letters of 9 points or more, each column whole; wide sheets say what a row is on all pages."""
        book, wide = Workbook(path), 0
        for sheet, layout in with_layouts(path):
            with self.subTest(printed=sheet.name):
                self.assertEqual((layout.paper, layout.landscape, layout.pages), (9, True, None))
                self.assertEqual(layout.footer, "&L&A&R&P / &N")
                self.assertRegex(layout.titles, r"^\$1:\$\d+$")
                scale = layout.scale / 100
                self.assertLessEqual(scale, 1)
                letters = min(book.look(cell.style)["size"] for cell in sheet.cells.values())
                self.assertGreaterEqual(letters * scale, LEAST_POINTS)
                room = A4_ACROSS - 72 * (layout.margins["left"] + layout.margins["right"])
                widths = [scale * printed_width(sheet.widths[column]) for column in sorted(sheet.widths)]
                if sum(widths) <= room:
                    continue
                wide += 1
                self.assertRegex(layout.keys, r"^\$A:\$[A-Z]+$", "nothing says what a row is")
                (_, keys), = (corners(layout.keys.split(":")[1] + "1")[:1])
                self.assertLessEqual(sum(widths[:keys]) + max(widths[keys:]), room, "a column is cut")
        return wide

    # --- compare ---

    def test_the_summary_says_what_the_screen_says(self):
        for pair, options in PAIRS:
            sheet, layout = with_layouts(self.workbook_of(pair, *options))[0]
            self.assertEqual(sheet.name, "Summary")
            first = [row[0] for row in sheet.rows()]
            (story,) = [block.splitlines() for block in self.result.out.split("\n\n")
                        if block.startswith("end to end: ")]  # above the lists
            self.assertEqual(first[1], story[0])
            self.assertEqual(first[3:3 + len(story) - 1], story[1:])
            facts = {row[0]: row[1] for row in sheet.rows() if row[0] and row[1]}
            self.assertEqual([facts["base: captures"], facts["comparison: captures"]],
                             [str(self.CAPTURES / name) for name in pair])
            self.assertEqual((layout.frozen, layout.titles), (2, "$1:$2"))
            self.assertEqual(layout.breaks, [len(sheet.widths)], "charts begin a page")
            self.assertEqual(layout.charts, 2)

    def test_the_largest_changes_lead_to_their_rows(self):
        for pair, options in PAIRS:
            path = self.workbook_of(pair, *options)
            sheet, layout = with_layouts(path)[0]
            sheets = {other.name: other.rows() for other in Workbook(path).sheets}
            (header, _), (last, width) = corners(layout.filter)
            rows = sheet.rows()[header - 1:last]
            self.assertEqual(rows[0][:6], ["What changed", "Base (ms)", "Comparison (ms)", "Diff (ms)", "Diff %",
                                           "Of the step"])
            changes = rows[1:]
            self.assertTrue(1 < len(changes) <= 10, changes)
            sizes = [abs(row[3]) for row in changes]
            self.assertEqual(sizes, sorted(sizes, reverse=True))
            for number, (name, base, comparison, diff, *_) in enumerate(changes, header + 1):
                with self.subTest(change=name):
                    self.assertAlmostEqual(comparison - base, diff, places=6)
                    place, row = target_of(layout.links[(number, width)])
                    self.assertEqual(place, "ChangeParts")
                    linked, before, _, after, _, change = sheets[place][row - 1][:6]
                    self.assertEqual(linked.strip(), name)
                    self.assertEqual([before, after, change], [base, comparison, diff], "another number")
            kernels = [row for row in changes if row[0] in ("MatMulV2", "Conv2D")]
            self.assertEqual(bool(kernels), pair[0] == BASE)
            for row in kernels:  # 10 ms were added to one call of each
                self.assertAlmostEqual(row[3], 10, places=6)

    def test_the_parts_add_up_to_the_step(self):
        sheet, _ = with_layouts(self.workbook_of((BASE, NEW)))[0]
        rows = sheet.rows()
        begin = next(i for i, row in enumerate(rows) if row[0] == "Part") + 1
        end = next(i for i, row in enumerate(rows) if row[0] == "all")
        for column in (1, 2, 3):
            self.assertAlmostEqual(sum(row[column] for row in rows[begin:end]), rows[end][column], places=6)

    def test_what_a_part_of_the_change_is_made_of_adds_up_to_it(self):
        for pair, options in PAIRS:
            sheets = {sheet.name: sheet.rows() for sheet in Workbook(self.workbook_of(pair, *options)).sheets}
            document = json.loads(self.compare("--json", *options, base=pair[0], comparison=pair[1]).out)
            parts = next(sheet["rows"] for sheet in document["sheets"] if sheet["name"] == "ChangeParts")
            whole = {"level": -1, **{key: sum(part[key] for part in parts if part["level"] == 0) for key in self.TIMES}}
            summed = next(row for row in sheets["Summary"] if row[0] == "all")
            for key, shown in zip(self.TIMES, summed[1:4], strict=True):
                self.assertAlmostEqual(whole[key], shown, places=6)
            above = 0
            for number, part in enumerate(parts):
                below = []
                for other in parts[number + 1:]:
                    if other["level"] <= part["level"]:
                        break
                    below += [other] if other["level"] == part["level"] + 1 else []
                above += bool(below)
                for key in self.TIMES if below else ():
                    self.assertAlmostEqual(sum(other[key] for other in below), part[key], places=6)
            self.assertGreater(above, 1)

    TIMES = ("base_duration_ms", "comparison_duration_ms", "diff_duration_ms")

    def test_sheets_are_easy_to_read(self):
        for pair, options in PAIRS:
            path = self.workbook_of(pair, *options)
            summary = self.assert_readable(path)
            self.assertIsNotNone(summary)

    def test_differences_have_signed_bars(self):
        seen = 0
        for pair, options in PAIRS:
            for sheet, layout in with_layouts(self.workbook_of(pair, *options))[1:]:
                header, rows = header_row(sheet), sheet.rows()
                expected = [column for column, text in enumerate(rows[header - 1], 1)
                            if "Diff" in text and "Ratio" not in text]
                with self.subTest(sheet=sheet.name):
                    self.assertEqual(sorted(corners(bar) for bar in layout.bars),
                                     [((header + 1, column), (len(rows), column)) for column in expected])
                    seen += len(expected)
        self.assertGreater(seen, 8)

    def test_red_is_what_costs_a_hundredth_of_the_step(self):
        """Recomputed from the steps of the trace; changes that rounding could put on either side do not count."""
        red = pale = 0
        for pair, options in PAIRS:
            path = self.workbook_of(pair, *options)
            book = Workbook(path)
            steps = steps_of(self.CAPTURES / pair[0])
            for sheet in book.sheets[1:]:
                if sheet.name.startswith(("Memory", "Notes")):
                    continue  # not of time
                header, rows = header_row(sheet), sheet.rows()
                headers = [text or "" for text in rows[header - 1]]
                least = sum(steps) / 100 / (len(steps) if sheet.name in SHEETS_OF_CALLS else 1)
                for number, row in enumerate(rows[header:], header + 1):
                    change = change_in_ms(headers, row)
                    if change is not None and abs(change - least) < 0.01:
                        continue
                    for column, text in enumerate(headers, 1):
                        cell = sheet.cells.get((number, column))
                        if cell is None:
                            continue
                        ratio = cell.value
                        grew = ratio == "INF" or (isinstance(ratio, float) and ratio > 1)
                        matters = "Ratio" in text and grew and change is not None and change > least and "Diff" in text
                        is_red = book.look(cell.style)["fill"] == RED
                        self.assertEqual(is_red, matters, f"{sheet.name}, row {number}, {text}: {row}")
                        red += is_red
                        pale += grew and not is_red and "Diff" in text
        self.assertGreater(red, 10)
        self.assertGreater(pale, 10)

    def test_compat_has_none_of_it(self):
        for pair, options in PAIRS:
            found = with_layouts(self.workbook_of(pair, "--compat", *options))
            self.assertNotIn("Summary", [sheet.name for sheet, _ in found])
            for sheet, layout in found:
                self.assertEqual((layout.frozen, layout.filter, layout.titles, layout.area, layout.pages, layout.bars,
                                  layout.links, layout.charts), (0, "", "", "", None, [], {}, 0), sheet.name)

    def test_without_a_verdict_the_rows_that_differ_most_are_listed(self):
        path = self.workbook_of(("twin_text_base_ascend_pt", "twin_text_new_ascend_pt"), "--enable_operator_compare",
                                "--disable_module")
        sheet, layout = with_layouts(path)[0]
        rows = {other.name: other.rows() for other in Workbook(path).sheets}
        self.assertIn("no verdict", sheet.rows()[1][0])
        (header, _), (last, width) = corners(layout.filter)
        self.assertGreater(last, header)
        for number in range(header + 1, last + 1):
            name, diff = (sheet.cells[(number, column)].value for column in (1, 2))
            place, row = target_of(layout.links[(number, width)])
            self.assertEqual(place, "OperatorCompareStatistic")
            self.assertEqual(rows[place][row - 1][1], name)
            self.assertAlmostEqual(rows[place][row - 1][-2], diff, delta=0.006)

    # --- recipes, advisor, gate ---

    def test_workbooks_of_recipes_are_easy_to_read(self):
        result = self.run_tool("-m", "compute_op_sum", "-d", BASE, "-o", self.out, "--export_type", "xlsx")
        self.assertEqual(result.code, 0, result.err)
        path, = self.out.rglob("*.xlsx")
        self.assert_readable(path)

    def test_wide_sheets_continue_on_pages_beside(self):
        self.assertGreater(self.assert_prints(self.workbook_of((BASE, NEW))), 0)

    def recipe(self, name, capture, *options):
        """What the screen says, and the workbook."""
        shutil.rmtree(self.out, ignore_errors=True)
        result = self.run_tool("-m", name, "-d", capture, "-o", self.out, "--export_type", "xlsx", *options)
        self.assertEqual(result.code, 0, result.err)
        path, = self.out.rglob("*.xlsx")
        return result.out, path

    def test_recipes_begin_with_a_summary(self):
        for name, capture in RECIPES:
            with self.subTest(recipe=name):
                screen, path = self.recipe(name, capture)
                sheets = {sheet.name: sheet for sheet in Workbook(path).sheets}
                self.assertEqual(next(iter(sheets)), "Summary")
                rows = sheets["Summary"].rows()
                self.assertEqual(rows[0][0], name.replace("_", " "))
                verdict = rows[1][0]
                self.assertTrue(" ".join(screen.split()).startswith(" ".join(verdict.split())), verdict)
                self.assertGreater(len(verdict), 20)
                begin = next(i for i, row in enumerate(rows) if row[1:3] == ["Rows", "Sheet"]) + 1
                listed = {row[2]: row[1::-1] for row in itertools.takewhile(lambda row: row[0], rows[begin:])}
                self.assertEqual(set(listed), set(sheets) - {"Summary", "Notes"})
                for sheet, (count, purpose) in listed.items():
                    self.assertEqual(count, len(sheets[sheet].rows()) - 1, sheet)
                    self.assertTrue(purpose, f"{sheet}: nothing says what it is for")
                for (note,) in sheets["Notes"].rows()[1:9] if "Notes" in sheets else ():
                    self.assertIn([note], [row[:1] for row in rows])
                self.assert_prints(path)

    def test_links_of_recipes_lead_to_the_same_numbers(self):
        followed = 0
        for name, capture in RECIPES:
            screen, path = self.recipe(name, capture)
            sheets = {sheet.name: sheet for sheet in Workbook(path).sheets}
            summary, layout = with_layouts(path)[0]
            for (number, _), location in layout.links.items():
                text, shown, unit = (summary.cells[(number, column)].value for column in (1, 2, 3))
                with self.subTest(recipe=name, text=text):
                    decimals = next(digits for digits in range(5) if round(shown, digits) == shown and re.search(
                        rf"(?<![\d.]){re.escape(f'{abs(shown):.{digits}f}')}(?![\d])(?!\.\d)", screen))
                    place, cell = location.rpartition("!")[::2]
                    sheet = sheets[place.strip("'")]
                    row, column = corners(cell)[0]
                    value, header = sheet.cells[(row, column)].value, sheet.rows()[0][column - 1]
                    self.assertIn(round(shown, decimals), [round(value * factor, decimals) for factor in factors(header, unit)],
                                  f"{location}: {header} {value} is not {shown} {unit}")
                    followed += 1
        self.assertGreater(followed, 30)

    @staticmethod
    def times_in(headers, cells):
        """All times that a row of a summary states, in ms."""
        sizes = {"us": 1e-3, "ms": 1, "s": 1e3}
        for header, cell in zip(headers, cells):
            if isinstance(cell, float) and "(ms)" in header:
                yield cell
            if isinstance(cell, str):
                yield from (float(number) * sizes[unit] for number, unit in re.findall(r"([\d.]+) (us|ms|s)\b", cell))

    def test_links_of_other_summaries_lead_to_the_same_numbers(self):
        """The cell to which a link leads has a number of its row."""
        gate = ("--min_steps", "1", "--fail_on", "computing>+3%", "--export_type", "xlsx")
        self.assertEqual(self.compare(*gate).code, 1)
        (judged,) = self.out.rglob("*.xlsx")
        operators = ("--enable_operator_compare", "--disable_module")
        for make in (lambda: judged, lambda: self.advisor()[1], lambda: self.workbook_of((BASE, NEW)),
                     lambda: self.workbook_of(("twin_text_base_ascend_pt", "twin_text_new_ascend_pt"), *operators)):
            path = make()
            sheets = {sheet.name: sheet for sheet in Workbook(path).sheets}
            summary, layout = with_layouts(path)[0]
            followed = 0
            for (number, column), location in layout.links.items():
                headers = next(cells for cells in reversed(summary.rows()[:number - 1]) if cells[column - 1] == "Where")
                times = [*self.times_in(headers, summary.rows()[number - 1])]
                if not times:
                    continue  # a finding of which nothing was measured
                followed += 1
                place, cell = location.rpartition("!")[::2]
                target = sheets[place.strip("'")].cells[corners(cell)[0]].value
                self.assertIsInstance(target, float, f"{path.name}: {location}")
                self.assertTrue(any(abs(target * factor - time) < 0.051 for time in times for factor in (1, 1e-3, 1e-6)),
                                f"{path.name}: {location} has {target}, not one of {times} ms")
            self.assertGreater(followed, 0, path)

    def test_workbooks_of_single_ranks_are_as_the_python_tool_has_them(self):
        result = self.run_tool("-m", "module_statistic", "-d", BASE, "-o", self.out, "--export_type", "text")
        self.assertEqual(result.code, 0, result.err)
        for path in self.out.rglob("*.xlsx"):
            self.assertNotIn("Summary", [sheet.name for sheet in Workbook(path).sheets])

    def test_the_advisor_counts_problems_as_its_screen_does(self):
        result, path = self.advisor()
        summary = self.assert_readable(path)
        lines = [line for line in (row[0] for row in summary.rows()) if line]
        self.assertEqual(lines[1], result.out.splitlines()[0])
        document = json.loads(self.run_tool("advisor", "all", "-d", BASE, "-l", "en", "--json").out)
        findings = [f"{number} {finding['text']['title']}" for number, finding in enumerate(document["findings"], 1)]
        found = [line for line in lines if re.match(r"\d+ ", line) and line not in (lines[1],)]
        self.assertEqual(found, findings)
        faults = [finding for finding in document["findings"] if finding["kind"] == "fault"]
        rows = {sheet.name: sheet.rows() for sheet in Workbook(path).sheets}
        self.assertEqual(len(rows["problems"]) - 1, len(faults))
        self.assertEqual(len(rows["other findings"]) - 1, len(findings) - len(faults))
        _, layout = with_layouts(path)[0]
        self.assertGreater(layout.charts, 0)
        self.assertEqual(len(layout.links), len(findings))
        keys = {name: finding["key"] for name, finding in zip(findings, document["findings"])}
        for (number, _), location in layout.links.items():
            place, row = target_of(location)
            self.assertEqual(rows[place][row - 1][-1], keys[summary.cells[(number, 1)].value])

    def test_gates_have_a_verdict_that_wraps(self):
        result = self.compare("--min_steps", "1", "--fail_on", "computing>+3%", "--export_type", "md,html,xlsx")
        self.assertEqual(result.code, 1, result.err)
        text = (self.out / "gate.md").read_text(encoding="utf-8")
        self.assertNotIn("&#62;", text)
        heading, _, verdict, *_ = text.splitlines()
        self.assertTrue(heading.startswith("## REGRESSION computing 231.0 -> 251.0 ms"), heading)
        self.assertEqual(verdict, "+10.0 ms Conv2D, +10.0 ms MatMulV2")
        tables = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
        self.assertGreater(len(tables), 1)
        for table in tables:
            headers, _, *rows = [[cell.strip() for cell in line.strip("|\n").split("|")]
                                 for line in table.splitlines()]
            self.assertTrue(all(headers), headers)
            for column in zip(*rows):
                self.assertTrue(any(column), f"an empty column: {headers}")
        page = (self.out / "gate.html").read_text(encoding="utf-8")
        self.assertIn('<p class="answer">REGRESSION computing', page)
        summary = self.assert_readable(self.out / "gate.xlsx")
        self.assertTrue(summary.rows()[1][0].startswith("REGRESSION computing 231.0 -> 251.0 ms"))


class BookOpened(Cli):
    @unittest.skipUnless(shutil.which("soffice"), "LibreOffice (soffice) is not installed")
    def test_libreoffice_prints_letters_of_nine_points_on_a4(self):
        self.assertEqual(self.compare().code, 0)
        path, = self.workbooks()
        begin = time.monotonic()
        done = subprocess.run(["soffice", f"-env:UserInstallation=file://{self.scratch}/profile", "--headless",
                               "--convert-to", "pdf", "--outdir", str(self.scratch), str(path)],
                              capture_output=True, text=True, timeout=120, check=False)
        pdf = (self.scratch / f"{path.stem}.pdf").read_bytes()
        pages, sheets = page_sizes(pdf), len(Workbook(path).sheets)
        self.assertTrue(sheets <= len(pages) <= 4 * sheets, f"{len(pages)} pages, {done.stderr}")
        self.assertEqual({(round(width), round(height)) for width, height in pages}, {(842, 595)})
        letters = letter_sizes(pdf)
        self.assertTrue(letters)
        self.assertGreaterEqual(min(letters), LEAST_POINTS)
        self.assertLess(time.monotonic() - begin, 100)


if __name__ == "__main__":
    sys.exit(main(__doc__, Workbooks, BookOpened))
