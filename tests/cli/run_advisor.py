#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command advisor: its options, exit codes, documents and files.

    run_advisor.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: advisor, advisorfiles.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import csv
import json
import os
import re
import sys
import unicodedata

from cli import Cli, DOCS, main
from formats import check_document
from workbook import Workbook

CAPTURE = "text_base_ascend_pt"
OTHER = "text_new_ascend_pt"


def columns_of(line):
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


class Advising(Cli):
    def advise(self, *more, words=("all",), capture=CAPTURE, **settings):
        return self.run_tool("advisor", *words, "-d", capture, "-o", self.out, *more, **settings)

    def document(self, *more, codes=(0,), **settings):
        result = self.advise("--json", *more, **settings)
        self.assertIn(result.code, codes, result.err)
        document = json.loads(result.out)
        check_document(document, "diagnosis", DOCS)
        return document

    def keys(self):
        return [finding["key"] for finding in self.document()["findings"]]


class Advisor(Advising):
    def check_usage(self, result, *words):
        self.assertEqual(result.code, 2, result.err)
        self.assertEqual(len(result.errors), 1, result.err)
        for word in words:
            self.assertIn(word, result.errors[0])

    def test_usage_errors(self):
        self.check_usage(self.run_tool("advisor"), "-d,--profiling_path is required")
        self.check_usage(self.run_tool("advisor", "all"), "-d,--profiling_path is required")
        self.check_usage(self.run_tool("advisor", "why"), "needs the number of a finding")
        self.check_usage(self.run_tool("advisor", "timeline"), "needs the number of a finding")
        self.check_usage(self.advise("rest", words=("all", "more")), "unexpected argument 'more'")
        self.check_usage(self.advise("--max_chars", "599"), "--max_chars 599: give 600 or more")
        self.check_usage(self.advise("--max_chars", "many"), "--max_chars many")
        self.check_usage(self.advise("--top", "0"), "--top 0: give a whole number above 0")
        self.check_usage(self.advise("--evidence", "-1"), "--evidence -1")
        self.check_usage(self.advise("--fail_on", "awful"), "--fail_on")
        self.check_usage(self.advise("--language", "fr"), "--language")

    def test_no_captures(self):
        empty = self.scratch / "empty"
        empty.mkdir()
        self.assertEqual(self.advise(capture=empty).code, 3)
        self.assertEqual(self.advise(capture=self.scratch / "nowhere").code, 3)

    def test_words_and_bare_path(self):
        first = self.advise()
        self.assertEqual(first.code, 0, first.err)
        bare = self.run_tool("advisor", CAPTURE, "-o", self.out)
        self.assertEqual(bare.out, first.out)
        for word in ("schedule", "computation"):
            self.assertEqual(self.advise(words=(word,)).code, 0)

    def test_screen_fits(self):
        for language in ("en", "cn"):
            result = self.advise("--language", language)
            lines = result.out.splitlines()
            self.assertLessEqual(len(lines), 25)
            for line in lines:
                self.assertLessEqual(columns_of(line), 80, line)

    def test_language(self):
        def is_chinese(result):
            return re.search("[\u4e00-\u9fff]", result.out) is not None
        self.assertTrue(is_chinese(self.advise("-l", "cn", env={"LANG": "C"})))
        self.assertFalse(is_chinese(self.advise("-l", "en", env={"LANG": "zh_CN.UTF-8"})))
        self.assertTrue(is_chinese(self.advise(env={"LANG": "zh_CN.UTF-8"})))
        self.assertFalse(is_chinese(self.advise(env={"LANG": "C"})))
        for form in ("--json", "--agent"):  # what programs read does not depend on who runs them
            self.assertFalse(is_chinese(self.advise(form, env={"LANG": "zh_CN.UTF-8"})))
            self.assertTrue(is_chinese(self.advise(form, "-l", "cn")))

    def test_dimensions(self):
        found = {}
        for word in ("all", "schedule", "computation"):
            document = self.document(words=(word,))
            found[word] = {finding["id"] for finding in document["findings"]}
            gains = sum(finding["gain_ns"] for finding in document["findings"] + document.get("needed", []))
            self.assertEqual(document["floor_ns"] + gains, document["step_ns"])
        self.assertTrue(found["all"] >= found["schedule"] | found["computation"])
        self.assertTrue(all(name.startswith(("host.", "rank.")) for name in found["schedule"]))
        self.assertTrue(all(name.startswith(("op.", "rank.", "ep.", "pp.")) for name in found["computation"]))

    def test_document(self):
        document = self.document()
        self.assertTrue(document["findings"])
        for account in document["accounting"]:
            self.assertEqual(sum(account["leaves"].values()), account["window_ns"])
        self.assertFalse(self.out.exists(), "--json writes no files")

    def test_findings_say_what_to_do(self):
        document = self.document()
        keys = [finding["key"] for finding in document["findings"]]
        for finding in document["findings"]:
            self.assertTrue(finding["actions"], finding["key"])
            self.assertIn(f"advisor why {finding['key']} -d DIR --json", finding["next"])
            for other in document["findings"]:
                self.assertEqual(other["key"] in finding["after"], finding["key"] in other["hides"])
            self.assertLessEqual(set(finding["after"]), set(keys[:keys.index(finding["key"])]))

    def test_published_schema(self):
        self.assertEqual((DOCS / "diagnosis.schema.json").read_text(encoding="utf-8"),
                         (DOCS / "schemas" / "diagnosis.schema.json").read_text(encoding="utf-8"))

    def test_top_and_evidence(self):
        whole = self.document("--evidence", "50")
        top = self.document("--top", "1", "--evidence", "1")
        self.assertEqual(len(top["findings"]), 1)
        self.assertEqual(top["omitted"]["findings"], len(whole["findings"]) - 1)
        self.assertLessEqual(len(top["findings"][0]["evidence"]), 1)
        self.assertEqual(top["findings"][0]["key"], whole["findings"][0]["key"])

    def test_max_chars(self):
        whole = self.document()
        for most in (600, 1000, 2000, 4000):
            result = self.advise("--json", "--max_chars", most)
            self.assertLessEqual(len(result.out.rstrip("\n")), most)
            document = json.loads(result.out)
            check_document(document, "diagnosis", DOCS)
            kept = len(document["findings"])
            self.assertEqual(kept + document["omitted"]["findings"], len(whole["findings"]))
            for finding, same in zip(document["findings"], whole["findings"]):
                for key in ("id", "key", "gain_ns", "alone_ns", "severity"):
                    self.assertEqual(finding[key], same[key])

    def test_evidence_is_in_the_files(self):
        # What is not recorded has no place.
        rules = self.rules('{"schema": "mpa.rules/1", "host.unrecorded": {"share": 1}}')
        document = self.document("--rules", rules, "--evidence", "50")
        places = [place for finding in document["findings"] for place in finding["evidence"]]
        self.assertTrue(places)
        events = {}
        for place in places:
            root = self.CAPTURES / CAPTURE
            self.assertEqual(os.path.realpath(place["capture"]), os.path.realpath(root))
            path = next(root.rglob(place["source"]))
            if path.suffix == ".csv":
                with open(path, newline="", encoding="utf-8") as rows:
                    starts = {row["Start Time(us)"].strip().replace(".", "") for row in csv.DictReader(rows)}
                self.assertIn(place["start_ns"], {int(start) for start in starts})
                continue
            if path not in events:
                events[path] = {(event["name"], round(float(event["ts"]) * 1000) // 1000)
                                for event in json.loads(path.read_text(encoding="utf-8")) if "ts" in event}
            if place["table"] != "host_ops":
                self.assertIn((place["name"], place["start_ns"] // 1000), events[path])
            self.assertIn(place["name"], {name for name, _ in events[path]})

    def test_places_have_their_own_times(self):
        for finding in self.document("--evidence", "50")["findings"]:
            times = [place["time_per_step_ns"] for place in finding["evidence"]]
            self.assertEqual(times, sorted(times, reverse=True), finding["key"])
            for place in finding["evidence"]:
                of_rank = [other for other in finding["evidence"] if other["rank"] == place["rank"]]
                self.assertEqual({other["of_ns"] for other in of_rank}, {place["of_ns"]})
                # Fifty places at most are listed.
                self.assertLessEqual(sum(other["time_per_step_ns"] for other in of_rank), place["of_ns"])

    def capture_with_a_fault(self):
        # What the main thread does most becomes a data loader.
        capture = self.capture_copy(CAPTURE)
        trace = next(capture.rglob("trace_view.json"))
        text = trace.read_text(encoding="utf-8")
        loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        trace.write_text(text.replace("train.py(10): step", loader), encoding="utf-8")
        return capture

    def test_fail_on(self):
        self.assertEqual(self.advise("--fail_on", "info").code, 0, "an opportunity is no fault")
        self.check_fail_on(self.capture_with_a_fault())

    def check_fail_on(self, capture):
        faults = [finding for finding in self.document(capture=capture)["findings"] if finding["kind"] == "fault"]
        self.assertTrue(faults, "the capture has a fault")
        order = ["info", "low", "medium", "high", "critical"]
        worst = max(order.index(finding["severity"]) for finding in faults)
        self.assertEqual(self.advise("--fail_on", order[worst], capture=capture).code, 1)
        if worst + 1 < len(order):
            self.assertEqual(self.advise("--fail_on", order[worst + 1], capture=capture).code, 0)
        # What the document leaves out counts as well.
        cut = self.advise("--fail_on", order[worst], "--json", "--max_chars", "600", capture=capture)
        self.assertEqual(cut.code, 1)

    def rules(self, text):
        path = self.scratch / "rules.json"
        path.write_text(text, encoding="utf-8")
        return path

    def test_rules(self):
        printed = self.run_tool("advisor", "--print_rules")
        self.assertEqual(printed.code, 0, printed.err)
        rules = json.loads(printed.out)
        self.assertEqual(rules["schema"], "mpa.rules/1")
        self.assertEqual(self.document("--rules", self.rules(printed.out)), self.document())
        guide = (DOCS / "advisor.md").read_text(encoding="utf-8")
        for finding, of_finding in rules.items():
            if finding == "schema":
                continue
            for name, value in of_finding.items():
                listed = f"\n| `{finding}` | `{name}` | {value} | " in guide
                self.assertTrue(listed, f"the guide lists the rule {name} of {finding} with {value}")
        # Nothing wins more than the step.
        rules["all"]["least_share"] = 1
        found = self.document("--rules", self.rules(json.dumps(rules)))["findings"]
        self.assertEqual([finding["id"] for finding in found if finding["gain_ns"]], [])

    def test_rules_decide_what_fails(self):
        low = self.rules('{"schema": "mpa.rules/1", "all": {"critical_share": 0}}')
        self.assertEqual({finding["severity"] for finding in self.document("--rules", low)["findings"]}, {"critical"})

    def test_broken_rules(self):
        for text, code, word in (("", 2, "not a rule file"), ("{", 3, "rules.json"),
                                 ('{"schema": "mpa.rules/1", "all": {"least": 1}}', 2, "unknown rule 'least'"),
                                 ('{"schema": "mpa.rules/1", "gc": {}}', 2, "no rules for 'gc'"),
                                 ('{"schema": "mpa.rules/1", "all": {"low_share": 2}}', 2, "from 0 to 1")):
            with self.subTest(text=text):
                result = self.advise("--rules", self.rules(text))
                self.assertEqual(result.code, code, result.err)
                self.assertEqual(len(result.errors), 1)
                self.assertIn("--rules", result.errors[0])
                self.assertIn(word, result.errors[0])
        self.assertEqual(self.advise("--rules", self.scratch / "nowhere.json").code, 3)

    def test_baseline(self):
        baseline = self.scratch / "baseline.json"
        document = self.document()
        first = document["findings"][0]
        baseline.write_text(json.dumps(document), encoding="utf-8")
        self.assertIn("no finding is new, gone or has grown", self.advise("--baseline", baseline).out)
        gone = dict(first, key="rank.late/r77")
        grown = dict(first, gain_ns=first["gain_ns"] // 2)
        baseline.write_text(json.dumps(dict(document, findings=[gone, grown])), encoding="utf-8")
        out = self.advise("--baseline", baseline).out
        self.assertIn("gone   rank.late/r77: ", out)
        self.assertIn(f"grown  {first['key']}: ", out)
        changes = self.document("--baseline", baseline)["changes"]
        self.assertIn({"what": "grown", "key": first["key"], "before_ns": first["gain_ns"] // 2,
                       "gain_ns": first["gain_ns"]}, changes)
        baseline.write_text(json.dumps(dict(document, findings=[])), encoding="utf-8")
        self.assertIn(f"new    {first['key']}: ", self.advise("--baseline", baseline).out)
        # What was cut is not gone: all findings are compared, whatever is printed.
        baseline.write_text(json.dumps(document), encoding="utf-8")
        self.assertEqual(self.document("--baseline", baseline, "--top", "1")["changes"], [])

    def test_baseline_in_chinese(self):
        baseline = self.scratch / "baseline.json"
        document = self.document()
        first = document["findings"][0]
        baseline.write_text(json.dumps(document), encoding="utf-8")
        self.assertIn("没有新增、消失或变大的问题", self.advise("-l", "cn", "--baseline", baseline).out)
        baseline.write_text(json.dumps(dict(document, findings=[])), encoding="utf-8")
        self.assertIn(f"新增   {first['key']}：", self.advise("-l", "cn", "--baseline", baseline).out)

    def test_baseline_that_was_cut(self):
        """What it may have lost is not called new."""
        baseline = self.scratch / "baseline.json"
        whole = self.document()
        baseline.write_text(json.dumps(self.document("--top", "1")), encoding="utf-8")
        lost = len(whole["findings"]) - 1
        out = self.advise("--baseline", baseline).out
        self.assertIn(f"may be new: {lost}; the baseline was cut", out)
        self.assertNotIn("new    ", out)
        document = self.document("--baseline", baseline)
        self.assertEqual((document["changes"], document["untold_changes"]), ([], lost))
        # The last one that it has is of the capture, so it has all before those.
        of_capture = next(finding for finding in whole["findings"] if finding["id"].startswith("capture."))
        cut = dict(whole, findings=[of_capture], omitted={"findings": 9, "evidence": 0})
        baseline.write_text(json.dumps(cut), encoding="utf-8")
        changes = self.document("--baseline", baseline)["changes"]
        others = [finding["key"] for finding in whole["findings"] if not finding["id"].startswith("capture.")]
        self.assertEqual(sorted(change["key"] for change in changes), sorted(others))
        self.assertEqual({change["what"] for change in changes}, {"new"})

    def test_broken_baseline(self):
        for text in ("", "{", "[]", '{"schema": "mpa.gate/1"}', '{"schema": "mpa.diagnosis/1", "findings": 3}'):
            with self.subTest(text=text):
                baseline = self.scratch / "broken.json"
                baseline.write_text(text, encoding="utf-8")
                result = self.advise("--baseline", baseline)
                self.assertEqual(result.code, 3, result.err)
                self.assertEqual(result.out, "", "it is read before the work begins")

    def test_other_captures(self):
        same = self.advise("-bp", CAPTURE)
        self.assertIn("no finding is new, gone or has grown", same.out)
        self.assertEqual(self.advise("-bp", OTHER).code, 0)

    def test_sheets_of_a_benchmark(self):
        """The rows of compare, the largest loss against the benchmark first."""
        self.assertEqual(self.advise("-bp", OTHER, "-l", "en").code, 0)
        compared = self.scratch / "compared"
        self.assertEqual(self.run_tool("compare", "-d", OTHER, "-bp", CAPTURE, "-o", compared, "--use_kernel_type").code, 0)
        tables, = (self.out / "log").glob("*.xlsx")
        workbook, = compared.glob("*.xlsx")
        sheets = {sheet.name: sheet.rows() for path in (tables, workbook) for sheet in Workbook(path).sheets}
        for name, other in (("Kernel compare of Target and Be", "KernelTypeCompare"),
                            ("Api compare of Target and Bench", "ApiCompare")):
            with self.subTest(sheet=name):
                headers, *rows = sheets[name]
                self.assertEqual([row[0] for row in rows], list(range(1, len(rows) + 1)))
                totals = [i for i, header in enumerate(headers) if "Total Duration" in header]
                self.assertEqual([headers[i].startswith("Benchmark  ") for i in totals], [False, True])
                losses = [(row[totals[0]] or 0) - (row[totals[1]] or 0) for row in rows]
                self.assertEqual(losses, sorted(losses, reverse=True))
                expected = [row[1:] for row in sheets[other] if isinstance(row[0], float)]
                self.assertTrue(expected)
                self.assertEqual(sorted(map(str, expected)), sorted(str(row[1:]) for row in rows))

    def test_agent(self):
        result = self.advise("--agent")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(result.out.count("\n"), 1)
        envelope = json.loads(result.out)
        self.assertEqual(list(envelope), ["status", "code", "message", "suggestion", "log_path"])
        self.assertEqual((envelope["status"], envelope["code"]), ("success", 0))
        message = envelope["message"]
        self.assertLessEqual(len(json.dumps(message, separators=(",", ":"))), 2000)
        whole = json.loads(self.advise("--json").out)
        (table,) = message["data"]
        rows = [dict(zip(table["columns"], row)) for row in table["rows"]]
        self.assertTrue(rows)
        self.assertEqual(len(rows) + table["left"], len(whole["findings"]))
        for row, finding in zip(rows, whole["findings"]):
            self.assertEqual((row["key"], row["gain_ns"], row["title"]), (finding["key"], finding["gain_ns"], finding["text"]["title"]))
        self.assertEqual(message["scope"]["step_ns"], whole["step_ns"])
        self.assertIn(rows[0]["key"], envelope["suggestion"])
        self.assertFalse(self.out.exists())

    def test_agent_says_how_it_ends(self):
        result = self.advise("--agent", "--fail_on", "info", capture=self.capture_with_a_fault())
        self.assertEqual(result.code, 1, result.err)
        envelope = json.loads(result.out)
        self.assertEqual((envelope["status"], envelope["code"]), ("warning", 1))
        self.assertTrue(envelope["message"]["data"][0]["rows"])

    def test_agent_on_failure(self):
        result = self.advise("--agent", capture=self.scratch / "nowhere")
        self.assertEqual(result.code, 3)
        envelope = json.loads(result.out)
        self.assertEqual((envelope["status"], envelope["code"]), ("error", 3))
        self.assertIn("nowhere", envelope["message"]["err"])


class AdvisorFiles(Advising):
    def test_files(self):
        result = self.advise("-l", "en")
        self.assertEqual(result.code, 0, result.err)
        page, = self.out.glob("mstt_advisor_*.html")
        tables, = (self.out / "log").glob("mstt_advisor_*.xlsx")
        self.assertEqual(page.stem, tables.stem)
        self.assertRegex(page.stem, r"^mstt_advisor_\d{14}$")
        text = page.read_text(encoding="utf-8")
        self.assertNotRegex(text.split("<script", maxsplit=1)[0], r"(src|href)=\"(?!data:)")
        self.assertNotRegex(text, r"(src|href)=\"https?:")
        document = self.document()
        workbook = Workbook(tables)
        for finding in document["findings"]:
            self.assertIn(f"advisor why {finding['key']}", text)
            self.assertIn(finding["text"]["advice"].split(";")[0].replace("&", "&amp;"), text)
        names = [sheet.name for sheet in workbook.sheets]
        self.assertEqual(names[:2], ["Summary", "problems"])
        self.assertLess(names.index("Overall Summary"), names.index("Step Accounting"))

    def test_list_for_tuning_tools(self):
        self.assertEqual(self.advise("-l", "en").code, 0)
        page, = self.out.glob("mstt_advisor_*.html")
        path, = self.out.glob("*.cfg")
        self.assertEqual(path.name, page.name.replace("mstt_advisor", "operator_tuning_file").replace(".html", ".cfg"))
        tables, = (self.out / "log").glob("*.xlsx")
        listed = {sheet.name: [row[0] for row in sheet.rows()[1:]] for sheet in Workbook(tables).sheets}
        expected = []
        for name in ("Block Dim Issues", "Operator No Bound Issues"):
            expected += list(dict.fromkeys(listed.get(name, [])))[:10]
        names = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(names, {"tune_ops_name": list(dict.fromkeys(expected))})
        self.assertTrue(expected)

    def test_chinese_sheets(self):
        self.assertEqual(self.advise("-l", "cn").code, 0)
        tables, = (self.out / "log").glob("mstt_advisor_*.xlsx")
        names = [sheet.name for sheet in Workbook(tables).sheets]
        self.assertEqual(names[:2], ["概要", "问题综述"])
        self.assertLess(names.index("整网耗时分析"), names.index("step耗时明细"))

    def test_options_of_the_python_tool(self):
        result = self.advise("-cv", "8.0.0", "-tv", "2.1.0", "-pt", "pytorch", "-l", "en", "--force", "--debug")
        self.assertEqual(result.code, 0, result.err)

    def test_output_not_writable(self):
        self.out.write_text("a file", encoding="utf-8")
        self.assertIn(self.advise().code, (2, 6))
        result = self.advise(words=("timeline", self.keys()[0]))
        self.assertIn(result.code, (2, 6))
        self.assertEqual(result.out, "")

    def test_why(self):
        for key in self.keys():
            result = self.advise(words=("why", key))
            self.assertEqual(result.code, 0, result.err)
            for word in ("gain", "ranks", "steps", "->"):
                self.assertIn(word, result.out)
            chinese = self.advise("-l", "cn", words=("why", key))
            self.assertIn("收益", chinese.out)
            document = self.document(words=("why", key))
            self.assertEqual([finding["key"] for finding in document["findings"]], [key])
        self.assertFalse(self.out.exists(), "it writes nothing")

    def test_why_of_an_unknown_key(self):
        result = self.advise(words=("why", "rank.late/r77"))
        self.assertEqual(result.code, 2)
        self.assertIn("no finding 'rank.late/r77'; available: " + ", ".join(self.keys()), result.errors[0])

    def test_why_of_a_job_without_findings(self):
        rules = self.scratch / "rules.json"
        rules.write_text('{"schema": "mpa.rules/1", "all": {"least_share": 1}}', encoding="utf-8")
        keys = [finding["key"] for finding in self.document("--rules", rules)["findings"]]
        result = self.advise("--rules", rules, words=("why", "host.python"))
        self.assertEqual(result.code, 2)
        self.assertIn("no finding 'host.python'; available: " + ", ".join(keys), result.errors[0])

    def test_why_compares_nothing(self):
        for word in ("why", "timeline"):
            for option in ("--baseline", "--benchmark_profiling_path"):
                result = self.advise(option, CAPTURE, words=(word, self.keys()[0]))
                self.assertEqual(result.code, 2, result.err)
                self.assertIn(f"advisor {word} explains one finding of one run", result.errors[0])
                self.assertEqual(result.out, "")

    def test_why_of_a_misspelt_key(self):
        first = self.keys()[0]
        for wrong in (first[:-1], first.upper(), first + "/r0", first.split("/")[0][:-1] + "/r9"):
            result = self.advise(words=("why", wrong))
            self.assertEqual(result.code, 2)
            if wrong != first.upper():
                self.assertIn(f"no finding '{wrong}'; did you mean '{first}'? available: ", result.errors[0])

    def test_timeline(self):
        for key in self.keys():
            result = self.advise(words=("timeline", key))
            self.assertEqual(result.code, 0, result.err)
            path = self.out / ("timeline_" + key.replace("/", "_") + ".json")
            trace = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual(trace["otherData"]["finding"], key)
            (window,) = {(event["ts"], event["dur"]) for event in trace["traceEvents"] if event.get("cat") == "step"}
            ends = [event["ts"] + event["dur"] for event in trace["traceEvents"] if event["ph"] == "X"]
            self.assertEqual((window[0], window[1]), (0, max(ends)), "the trace is that of one step")


if __name__ == "__main__":
    sys.exit(main(__doc__, Advisor, AdvisorFiles))
