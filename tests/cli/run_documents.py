#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents that the program prints and writes, against docs/schemas and docs/output.md.

    run_documents.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: examples, code, schemas, columns. With MPA_UPDATE_DOCS=1, columns writes docs/output.md.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import os
import re
import subprocess
import sys

from cli import Cli, DOCS, main
import snapshots  # noqa: E402
from formats import check_document
from recipe_runs import job_for, required_options
from page_charts import DECLARED, keys_in
from same_tables import recipes_of
from steps import write_capture

# Options with which compare makes every sheet that it can.
# How many columns charts of these kinds draw; others draw as many as they like.
COLUMNS_OF = {"boxes": 5, "heat": 1}
EVERY_SHEET = [[], ["--disable_module"], ["--enable_kernel_compare", "--use_kernel_type"]]
TWINS = {"base": "twin_text_base_ascend_pt", "comparison": "twin_text_new_ascend_pt"}
SERVERS = {"base": "serving_base.json", "comparison": "serving_new.json"}
REQUESTS = {"base": "server_requests", "comparison": "server_requests"}
# More of what a recipe can tell, by options.
MORE_OF = {name: ["--peak_tflops", "100"] for name in ("module_statistic", "operator_mfu")}
# No capture of testdata has what these show; the captures that golden.recipes reads beside the project have.
WITHOUT_SHEETS = {"communication_matrix_sum", "freq_analysis"}
# No link of testdata stands out.
WITHOUT_ROWS = {"slow_link"}


class Documents(Cli):
    def recipe(self, name, *options):
        job = job_for(name, self.CAPTURES, self.scratch)
        return self.run_tool("-m", name, "-d", job, "-o", self.out, *required_options(name, self.CAPTURES, job),
                             *MORE_OF.get(name, []), *options)

    def gate(self, *options, new="text_new_ascend_pt"):
        return self.compare("--fail_on", "computing>+3%", "--min_steps", "1", *options, comparison=new)


class Examples(Documents):
    def blocks(self, page):
        return [block for block in page.read_text().split("```") if "\nend to end:" in block]

    def test_of_compare(self):
        """The examples of README.md and docs/compare.md are what the program prints."""
        shown = self.blocks(DOCS.parent / "README.md") + self.blocks(DOCS / "compare.md")
        base = "text_base_ascend_pt"
        for block, base in zip(shown, (base, base, f"twin_{base}"), strict=True):
            squeezed = lambda text: [" ".join(line.split()) for line in text.splitlines()]
            printed = squeezed(self.compare(base=base).out)
            for line in squeezed(block):
                if line not in ("", "...") and not line.startswith(("$ ", "Base: ", "Comparison: ")):
                    self.assertIn(line, printed)

    def test_sections_add_up(self):
        """As readers do it: the rows at the left above "End to end" are all there."""
        for page in (DOCS.parent / "README.md", DOCS / "compare.md"):
            rows = re.findall(r"^(\S.*?)  +(-?[\d.]+) +(-?[\d.]+) +([-+]?[\d.]+) +[-+]?[\d.]+$", self.blocks(page)[0],
                              flags=re.MULTILINE)
            names = [row[0] for row in rows]
            end = names.index("End to end")
            for column in (1, 2, 3):
                values = [float(row[column]) for row in rows]
                self.assertAlmostEqual(sum(values[:end]), values[end], msg=f"{page}: {names}")
                self.assertAlmostEqual(sum(values[end:end + 2]), values[end + 2], msg=f"{page}: {names}")


class Code(Documents):
    def test_compiles(self):
        """The examples of docs/adding-an-analysis.md are code that compiles where they say that they stand."""
        root = DOCS.parent
        blocks = [block for block in (DOCS / "adding-an-analysis.md").read_text().split("```")
                  if block.startswith("cpp\n// src/")]
        self.assertEqual(len(blocks), 3)
        for block in blocks:
            path = root / block.split("\n")[1].removeprefix("// ")
            source = self.scratch / path.name
            # What the catalogue declares of a finding.
            declared = [f"extern const FindingType {name};"
                        for name in re.findall(r"^const FindingType (\w+)", block, re.MULTILINE)]
            head = ['#include "mpa/diagnosis/findings/finding_type.h"', "namespace mpa {", *declared, "}"] if declared else []
            source.write_text("\n".join([*head, block.removeprefix("cpp\n")]))
            done = subprocess.run([os.environ["MPA_CXX"], "-std=c++20", "-fsyntax-only", "-DFMT_SHARED",
                                   f"-I{root / 'include'}", f"-I{path.parent}", source],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


class Schemas(Documents):
    """Every document is as its schema in docs/schemas says, without a key that it does not know."""

    def check(self, result, name, codes=(0,)):
        self.assertIn(result.code, codes, result.err)
        document = json.loads(result.out)
        check_document(document, name, DOCS)
        return document

    def test_compare(self):
        for options in EVERY_SHEET:
            for sides in (TWINS, {"base": "text_base_ascend_pt", "comparison": "gpu_base.json"},
                          {"base": "text_base_ascend_pt", "comparison": "text_level0_ascend_pt"}):
                with self.subTest(options=options, sides=sides):
                    document = self.check(self.compare("--json", *options, **sides), "report")
                    self.assertTrue(document["sheets"])

    def test_recipes(self):
        findings = 0
        for name in sorted({*recipes_of(self.TOOL)} - WITHOUT_SHEETS):
            with self.subTest(recipe=name):
                document = self.check(self.recipe(name, "--json"), "report", [0, 5])
                self.assertEqual(not any(sheet["rows"] for sheet in document["sheets"]), name in WITHOUT_ROWS)
                self.assertFalse(self.out.exists(), "--json writes no files")
                findings += len(document.get("findings", []))
        self.assertGreater(findings, 0)

    def test_gate(self):
        for new, code in (("text_new_ascend_pt", 1), ("text_base_ascend_pt", 0), ("text_level0_ascend_pt", 4)):
            with self.subTest(new=new):
                document = self.check(self.gate("--json", new=new), "gate", [code])
                self.assertEqual(document["exit_code"], code)

    def test_check(self):
        for path in (".", "text_base_ascend_pt", "gpu_base.json", "broken"):
            with self.subTest(path=path):
                self.check(self.run_tool("check", "-d", path, "--json"), "check", [0, 3])

    def test_baseline_and_noise(self):
        baseline, noise = self.scratch / "baseline.json", self.scratch / "noise.json"
        result = self.run_tool("compare", "-d", "text_base_ascend_pt", "--save_baseline", baseline)
        self.assertEqual(result.code, 0, result.err)
        check_document(json.loads(baseline.read_text(encoding="utf-8")), "baseline", DOCS)
        runs = [word for name in ("base", "new", "base") for word in ("-d", f"text_{name}_ascend_pt")]
        result = self.run_tool("compare", "--learn_noise", noise, *runs)
        self.assertEqual(result.code, 0, result.err)
        check_document(json.loads(noise.read_text(encoding="utf-8")), "noise", DOCS)

    def test_a_baseline_has_a_line_for_each_name(self):
        """So that a change is seen as such, and that files in a repository stay small. Names stay as they are."""
        name = "Odd[ 1, 2 ]\\"
        capture = write_capture(self.scratch / "odd_ascend_pt", [100_000] * 3, kernels=((name, 40_000), ("Relu", 2_000)))
        baseline = self.scratch / "baseline.json"
        self.assertEqual(self.run_tool("compare", "-d", capture, "--save_baseline", baseline).code, 0)
        text = baseline.read_text(encoding="utf-8")
        document = json.loads(text)
        self.assertEqual(document["runs"][0]["medians"]["op_types"], {name: [40_000_000, 1], "Relu": [2_000_000, 1]})
        self.assertIn('"Relu": [2000000, 1]', text)
        self.assertEqual([line for line in text.splitlines() if re.fullmatch(r"\s*-?[\d.]+,?", line)], [])

    def test_a_fault_is_found(self):
        document = self.check(self.compare("--json", **TWINS), "report")
        faults = {"unknown key": lambda: document.update(other=1),
                  "text among numbers": lambda: document["sheets"][0]["rows"][0].update(diff_ratio="N/A"),
                  "missing key": lambda: document.pop("notes")}
        for name, spoil in faults.items():
            with self.subTest(fault=name):
                kept = json.dumps(document)
                spoil()
                self.assertRaises(ValueError, check_document, document, "report", DOCS)
                document = json.loads(kept)

    def test_csv_has_the_keys_and_numbers_of_json(self):
        result = self.compare("--export_type", "json,csv", **TWINS)
        self.assertEqual(result.code, 0, result.err)
        (file,) = self.out.glob("*.json")
        document = json.loads(file.read_text(encoding="utf-8"))
        for sheet in document["sheets"]:
            (table,) = self.out.glob(f"*_csv/{sheet['name']}.csv")
            header, first = table.read_text(encoding="utf-8").split("\n")[:2]
            self.assertEqual(header.split(","), sheet["columns"])
            self.assertNotRegex(first, r"(^|,)(/|N/A)(,|$)")


class Columns(Documents):
    """docs/output.md lists every column, as the program describes it."""

    BEGIN, END = "<!-- columns: begin -->\n", "<!-- columns: end -->\n"
    # A meaning is read by itself, not below the one of the column before it.
    LEANS = re.compile(r"(Its|Their|They|It|Those|These|That|Of|By which|To how many|From there|As in|The same|The rest"
                       r"|The (first|last) of them|When,?( in ns)?\.?$)\b|.*\blikewise\b")

    def described(self, run):
        """What one run says of its sheets, a text each."""
        self.out = self.scratch / f"out{len([*self.scratch.glob('out*')])}"
        run("--export_type", "columns")
        texts = [path.read_text(encoding="utf-8") for path in self.out.rglob("*_columns.md")]
        return [section for text in texts for section in re.split(r"(?m)^(?=### )", text)[1:]]

    # What the meaning of a column says of its unit, where the column of units is empty.
    UNIT = re.compile(r"\bin (ns|us|ms|bytes|percent|GB/s|MHz)\b")
    # Columns whose meaning does not say it.
    COUNTED = {"slow_affect_count": "collectives", "input_shapes_summary": "tokens", "tokens_diff": "tokens",
               "prompt_tokens": "tokens", "reply_tokens": "tokens", "waiting": "requests", "running": "requests"}
    SHARES = {"ratio_of_unmasked_communication"}

    def charts_of(self, section):
        """The charts of a sheet, each checked against what its columns say of themselves."""
        rows = dict(re.match(r"\| `([^`]+)` \| (.*)", line).groups() for line in section.split("\n") if line.startswith("| `"))

        def unit(key):
            _, stated, meaning = rows[key].removesuffix(" |").split(" | ", 2)
            found = self.UNIT.search(meaning) or (["", "bytes"] if meaning.startswith("Bytes ") else None)
            return stated.strip() or (found[1] if found else "share" if key in self.SHARES else self.COUNTED.get(key))

        charts = [DECLARED.fullmatch(line) for line in section.split("\n") if line.startswith("Chart, ")]
        for chart in charts:
            self.assertIsNotNone(chart, section)
            kind, title, labels, values, measured, same, order = chart.groups()
            for key in keys_in(values):
                self.assertEqual(unit(key), measured, f"{title}: {key} is of another unit, or says none")
                meaning = rows[key].rsplit(" | ", 1)[-1]
                self.assertNotRegex(meaning, r"^(Start|End|When|The (rank|step)\b|Number given|Id\b)", f"{title}: {key} is no amount")
                self.assertNotRegex(key, r"(^|_)(id|rank|index|timestamp)$", f"{title}: {key} is no amount")
            self.assertIn("`", labels, title)
            if kind in COLUMNS_OF:
                self.assertEqual(len(keys_in(values)), COLUMNS_OF[kind], title)
        return charts

    def sections(self):
        """Name -> the text of each sheet, in order. One stands for those that ranks have, each their own."""
        sections = [*(section for more in EVERY_SHEET
                      for section in self.described(lambda *options, more=more: self.compare(*more, *options, **TWINS))),
                    *self.described(lambda *options: self.compare(*options, **SERVERS)),
                    *self.described(lambda *options: self.compare(*options, **REQUESTS)), *self.described(self.gate)]
        for name in recipes_of(self.TOOL):
            of_recipe = self.described(lambda *options, name=name: self.recipe(name, *options))
            self.assertEqual(not of_recipe, name in WITHOUT_SHEETS, f"{name}: tests/support/recipe_runs.py says what it runs on")
            sections += of_recipe
        snapshot = snapshots.write(self.scratch / "snapshot.pkl", [snapshots.training(leak=snapshots.MB)[0]])
        sections += self.described(lambda *options: self.run_tool("-m", "memory_timeline", "-d", snapshot, "-o", self.out, *options))
        sections += self.described(lambda *options: self.compare(*options, base=snapshot, comparison=snapshot))
        found = {}
        for section in sections:
            found.setdefault(re.sub(r"Rank\d+$", "", section.split("\n", 1)[0].removeprefix("### ")), section)
        return found

    @staticmethod
    def condensed(sections):
        """The same in fewer lines: a row for both sides of a comparison, and a link to columns that an earlier sheet has."""
        texts, tables = [], {}
        for name, section in sections.items():
            *head, rows = section.rstrip("\n").split("\n", 4)
            rows = dict(row.removeprefix("| ").split(" | ", 1) for row in rows.split("\n"))
            for key in [key for key in rows if key.startswith("`base_")]:
                other = key.replace("base_", "comparison_", 1)
                if rows.get(other) == rows[key]:
                    del rows[other]
                    rows = {f"{key}, {other}" if one == key else one: says for one, says in rows.items()}
            earlier = max((one for one, columns in tables.items() if len(columns) > 3 and columns.items() <= rows.items()),
                          key=lambda one: len(tables[one]), default=None)
            more = {key: says for key, says in rows.items() if key not in tables.get(earlier, {})}
            if earlier:
                head[1] = f"\nThe columns of [{earlier}](#{earlier.lower()}){', and' if more else '.'}\n"
            texts.append("\n".join([*head[:4 if more else 2], *(f"| {key} | {says}" for key, says in more.items())]).rstrip("\n"))
            tables[name] = rows
        return "\n\n".join(texts) + "\n\n"

    def test_all_columns_are_documented(self):
        sections = self.sections()
        self.assertLessEqual({"OverallMetrics", "KernelCompare", "KernelTypeCompare", "OperatorCompare", "ModuleCompare",
                              "ApiCompare", "MemoryCompare", "CommunicationCompare", "Metrics", "ModuleStatistic",
                              "MFUSummary", "HEAD_ADVICE"}, {*sections})
        self.assertGreaterEqual(sum(len(self.charts_of(section)) for section in sections.values()), 25)
        sections = {name: section.split("\nChart, ", 1)[0] for name, section in sections.items()}
        for section in sections.values():
            for line in section.rstrip("\n").split("\n")[4:]:
                self.assertFalse(line.endswith("|  |"), f"no meaning: {line}")
                meaning = line.rsplit(" | ", 1)[-1]
                self.assertIsNone(self.LEANS.match(meaning), f"cannot be read by itself: {line}")
        text = (DOCS / "output.md").read_text(encoding="utf-8")
        before, rest = text.split(self.BEGIN)
        _, behind = rest.split(self.END)
        wanted = before + self.BEGIN + "\n" + self.condensed(sections) + self.END + behind
        if os.environ.get("MPA_UPDATE_DOCS"):
            (DOCS / "output.md").write_text(wanted, encoding="utf-8")
            return
        self.assertEqual(text, wanted, "MPA_UPDATE_DOCS=1 writes docs/output.md anew")


if __name__ == "__main__":
    sys.exit(main(__doc__, Examples, Code, Schemas, Columns))
