# SPDX-License-Identifier: Apache-2.0
"""Runs the tool on a case: what it put out and what it should have, as tables by form."""

import json
import subprocess

from recompute import forms, recipe_outputs, recipes, report

BROKEN_IN_PART = 5


def run(tool, case, output):
    """{form: tables}. Raises RuntimeError when the tool fails."""
    command = [str(tool), *case.words, "-o", str(output), "-q"]
    if not case.is_recipe:
        command += ["--export_type", "xlsx,json", "--screen", "wide"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode not in (0, BROKEN_IN_PART):
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()}")
    if case.is_recipe:
        return {"tables": recipe_outputs.read(output)}
    workbook, document = (next(output.glob(f"*.{suffix}")) for suffix in ("xlsx", "json"))
    # ChangeParts is the account of both sides, which is recomputed elsewhere (agreement.answers); tests/cli/run_workbook.py
    # adds it up.
    tables = {"workbook": forms.read_workbook(workbook, ("Summary", "Notes", "ChangeParts")),
              "document": forms.read_document(json.loads(document.read_text(encoding="utf-8")))}
    tables["document"].pop("ChangeParts", None)
    screen = forms.read_screen(done.stdout)
    return {**tables, "screen": {"table": screen}} if screen else tables


def expected(case):
    """The same, recomputed."""
    if case.is_recipe:
        return {"tables": recipes.expected(case.words[case.words.index("-d") + 1], case.words)}
    made = report.expected(case.words[1:])
    tables = {"workbook": forms.expected_workbook(made),
              "document": forms.expected_document(made)}
    return {**tables, "screen": {"table": made.screen}} if made.screen else tables
