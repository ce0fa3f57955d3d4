#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the tool's output against an independent recomputation from the captures' own files.

    run_parity.py --tool BINARY (--captures | [--shared DIR]) [--list]

Every sheet of `compare` as workbook, as JSON document and on the screen, and every table of
`module_statistic` and `operator_mfu`, cell by cell: see recompute/.

--captures takes pairs of the captures in testdata. Without it the runs are those whose output the
Python tool is recorded of (DIR/golden over DIR/data). Their cells are also counted: as the Python
tool has them, or different on purpose (docs/differences.md), which the recomputation confirms.
--list prints every objection, not the first few.

Exit status: 0 nothing to object to, 1 otherwise, 2 usage, 77 skipped.
"""

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
sys.dont_write_bytecode = True

import cases  # noqa: E402: found only now
import outputs  # noqa: E402
import reference  # noqa: E402
from recompute import judge  # noqa: E402

SKIPPED = 77
FIRST_FEW = 6
HEADERS = 3  # rows of a sheet of compare; tables of recipes have one


def check(tool, case, list_all):
    """Prints what is wrong with a case. Returns whether nothing is, and its cells by how they
    relate to the reference."""
    with tempfile.TemporaryDirectory() as output:
        try:
            found = outputs.run(tool, case, Path(output))
        except RuntimeError as error:
            print(f"FAILED   {case.name}: {error}")
            return False, Counter()
    expected = outputs.expected(case)
    objections = [f"{form}: {objection}" for form in {**expected, **found}
                  for objection in judge.objections(expected.get(form, {}), found.get(form, {}))]
    cells = sum(len(row) for tables in expected.values() for rows in tables.values()
                for row in rows)
    print(f"{'DIFFERS ' if objections else 'ok      '} {case.name}: {cells} cells, "
          f"{len(objections)} objections")
    print(*(f"           {text}\n" for text in objections[:None if list_all else FIRST_FEW]),
          sep="", end="")
    return not objections, against_reference(case, expected, found)


def against_reference(case, expected, found):
    """Counter of the cells below the headers, of the workbook but not of the document, which says
    the same."""
    cells = Counter()
    if case.golden is None:
        return cells
    golden = {Path(file).stem: tables for file, tables in
              json.loads(case.golden.read_text(encoding="utf-8")).items()}
    for form, tables in expected.items():
        if form == "document":
            continue
        for name in tables:
            file, _, table = name.rpartition("/")
            file = {"workbook": "performance_comparison_result", "screen": "screen"}.get(
                form, file or "cluster_analysis")
            sides = (golden.get(file, {}).get(table, []), tables[name],
                     found.get(form, {}).get(name, []))
            if form == "screen":
                titles, sides = [], [list(zip(*rows[1:])) for rows in sides]
            else:
                headers = HEADERS if form == "workbook" else 1
                titles, sides = tables[name][headers - 1], [rows[headers:] for rows in sides]
            cells += reference.count(table, *sides, titles)
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path, help="the msprof-analyze to test")
    parser.add_argument("--captures", action="store_true", help="the captures in testdata")
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared",
                        help="folder with golden/ and data/ (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="print every objection")
    args = parser.parse_args()
    tool = args.tool.resolve()
    if not os.access(tool, os.X_OK):
        parser.error(f"cannot run {tool}")
    if not args.captures and not (args.shared / "golden" / "cases.json").is_file():
        print(f"SKIPPED: {args.shared} has no golden/cases.json; recorded outputs are kept apart "
              "from the sources: name the folder that has golden/ and data/ with --shared")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        chosen = (cases.own_cases(scratch) if args.captures
                  else cases.golden_cases(args.shared.resolve()))
        results = [check(tool, case, args.list) for case in chosen]
    total = sum((cells for _, cells in results), Counter())
    if total:
        print("cells:", ", ".join(f"{number} {kind}" for kind, number in total.items()))
    right = sum(is_right for is_right, _ in results)
    print(f"{right} of {len(results)} runs have nothing to object to")
    return 0 if right == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
