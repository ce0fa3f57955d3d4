#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Settings that differ: of two captures that have the same events, in every output.

    run_settings.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: settings, sharedsettings (of copies of real captures beside the
project; skipped without them).
Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import json
import shutil
import sqlite3
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from cli import DOCS, main
from captures import DATABASE, build_database
from formats import check_document
from gate_runs import GateRuns
from groups import SKIPPED

NPU = Path(__file__).resolve().parents[3] / "shared/data/npu"
BLOCKING = ("ASCEND_LAUNCH_BLOCKING 0 -> 1 (costs time: the host waits for the device at every "
            "launch)")


def told(text):
    """The line, from a screen where it may be wrapped; empty without one."""
    lines, found = text.splitlines(), []
    for line in lines:
        if line.startswith("settings that differ: "):
            found = [line]
        elif found and line.startswith("    "):
            found.append(line.strip())
        elif found:
            break
    return " ".join(found)


class Twins(GateRuns):
    """A capture and its twin: the same events, other settings."""

    BEFORE = {"ENV_VARIABLES": {"ASCEND_LAUNCH_BLOCKING": "0", "HCCL_ALGO": "", "ACLNN_CACHE_LIMIT": ""},
              "layers": 2, "save_dir": "/data/run_1", "begun": "2026-11-28T10:00:00"}
    AFTER = {"ENV_VARIABLES": {"ASCEND_LAUNCH_BLOCKING": "1", "HCCL_ALGO": "ring", "ACLNN_CACHE_LIMIT": ""},
             "layers": 4, "save_dir": "/data/run_2", "begun": "2026-11-28T11:00:00"}
    LINE = f"settings that differ: {BLOCKING}, HCCL_ALGO not set -> ring, layers 2 -> 4"

    def setUp(self):
        super().setUp()
        self.describe(self.base, self.BEFORE)
        self.twin = self.capture("twin")
        self.describe(self.twin, self.AFTER)

    @staticmethod
    def describe(capture, metadata, change=None):
        """Writes profiler_metadata.json, and changes the document with the profiler's settings."""
        (capture / "profiler_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
        if change:
            (file,) = capture.glob("profiler_info_*.json")
            info = json.loads(file.read_text(encoding="utf-8"))
            change(info)
            file.write_text(json.dumps(info), encoding="utf-8")

    def settings_of(self, comparison, base):
        result = self.run_tool("compare", "-d", comparison, "-bp", base, "--json")
        self.assertEqual(result.code, 0, result.err)
        document = json.loads(result.out)
        check_document(document, "report", DOCS)
        return document["settings"]


class Settings(Twins):
    def test_compare(self):
        result = self.compare(comparison=self.twin, base=self.base)
        self.assert_compared(result)
        self.assertEqual(told(result.out), self.LINE)
        self.compare("--export_type", "md,html", comparison=self.twin, base=self.base)
        for ending in ("md", "html"):
            (page,) = self.out.glob(f"*.{ending}")
            self.assertIn("settings that differ: ", page.read_text(encoding="utf-8"), ending)
        settings = self.settings_of(self.twin, self.base)
        self.assertEqual(settings["line"], self.LINE)
        self.assertEqual([(row["name"], row["kind"], row["base"], row["comparison"], row["comparison_costs_time"])
                          for row in settings["differing"]],
                         [("ASCEND_LAUNCH_BLOCKING", "environment", "0", "1", True),
                          ("HCCL_ALGO", "environment", "", "ring", False),
                          ("layers", "metadata", "2", "4", False)])
        same = self.compare(comparison=self.base, base=self.base)
        self.assertNotIn("settings that differ", same.out)
        self.assertNotIn("settings that differ", self.compare("--compat", comparison=self.twin, base=self.base).out)

    def test_gate(self):
        result = self.gate(self.twin, "--fail_on", "step_time>+3%", "--export_type", "md,junit,json")
        self.assert_verdict(result, 0, "OK step_time")
        self.assertEqual(told(result.out), self.LINE)
        self.assertIn("settings that differ: ", (self.out / "gate.md").read_text(encoding="utf-8"))
        self.assertIn("layers 2 -", (self.out / "gate.md").read_text(encoding="utf-8"))
        junit = ElementTree.parse(self.out / "gate.junit.xml")
        found = junit.findall(".//property[@name='settings that differ']")
        self.assertEqual([f"settings that differ: {row.get('value')}" for row in found], [self.LINE])
        document = json.loads((self.out / "gate.json").read_text(encoding="utf-8"))
        check_document(document, "gate", DOCS)
        self.assertEqual(document["settings"]["line"], self.LINE)
        annotations = self.gate(self.twin, "--export_type", "github", env={"GITHUB_STEP_SUMMARY": ""}).out
        self.assertIn(f"::notice title=msprof-analyze gate::{self.LINE}", annotations)

    def test_gate_that_fails_says_so_in_the_failure(self):
        slow = self.capture("slow", **self.SLOW)
        self.describe(slow, self.AFTER)
        result = self.gate(slow, "--fail_on", "step_time>+3%", "--export_type", "junit")
        self.assert_verdict(result, 1, "REGRESSION step_time")
        failure = ElementTree.parse(self.out / "gate.junit.xml").find(".//failure")
        self.assertIn(self.LINE, failure.text)

    def test_baseline(self):
        file = self.scratch / "main.json"
        self.assertEqual(self.run_tool("compare", "-d", self.base, "--save_baseline", file).code, 0)
        document = json.loads(file.read_text(encoding="utf-8"))
        check_document(document, "baseline", DOCS)
        self.assertNotIn("save_dir", document["runs"][0]["settings"]["metadata"])
        self.assertEqual(self.document(self.gate(self.twin, "--json", base=file))["settings"]["line"], self.LINE)
        # One of a version before knows what both sides have to agree in, and nothing else.
        del document["runs"][0]["settings"]
        file.write_text(json.dumps(document), encoding="utf-8")
        settings = self.document(self.gate(self.twin, "--json", base=file))["settings"]
        self.assertEqual((settings["differing"], settings["only_in_comparison"]), ([], ["environment", "metadata"]))
        other = self.capture("other", level="Level2")
        gate = self.document(self.gate(other, "--json", base=file))
        self.assertEqual(gate["verdict"], "not_comparable")
        self.assertEqual(gate["settings"]["line"], "settings that differ: profiler_level Level1 -> Level2 (costs time: "
                                                   "more is recorded of every launch)")

    def test_advisor(self):
        baseline = self.scratch / "baseline.json"
        before = self.run_tool("advisor", "all", "-d", self.base, "--json").out
        baseline.write_text(before, encoding="utf-8")
        now = json.loads(self.run_tool("advisor", "all", "-d", self.twin, "--json", "--baseline", baseline).out)
        check_document(now, "diagnosis", DOCS)
        self.assertEqual(now["setting_changes"]["line"], self.LINE)
        self.assertEqual(now["capture"]["recorded_settings"]["metadata"]["layers"], "4")
        screen = self.run_tool("advisor", "all", "-d", self.twin, "-o", self.out, "--baseline", baseline,
                               env={"COLUMNS": "1000"})
        self.assertEqual(told(screen.out), self.LINE)
        benchmark = self.run_tool("advisor", "all", "-d", self.twin, "-o", self.out, "--benchmark_profiling_path",
                                  self.base, env={"COLUMNS": "1000"})
        self.assertEqual(told(benchmark.out), self.LINE)
        chinese = self.run_tool("advisor", "all", "-d", self.twin, "-o", self.out, "--baseline", baseline, "-l", "cn")
        self.assertIn("取值不同的设置：ASCEND_LAUNCH_BLOCKING 0 -> 1（影响性能：", "".join(chinese.out.split("\n  ")))
        # A document of a version before has the variables that bear on the performance, if they are set.
        old = json.loads(before)
        del old["capture"]["recorded_settings"]
        baseline.write_text(json.dumps(old), encoding="utf-8")
        now = json.loads(self.run_tool("advisor", "all", "-d", self.twin, "--json", "--baseline", baseline).out)
        self.assertEqual(now["setting_changes"]["line"],
                         f"settings that differ: {BLOCKING}, HCCL_ALGO not recorded -> ring")

    def test_check(self):
        screen = self.run_tool("check", self.twin).out
        words = " ".join(screen.split())
        self.assertIn("environment ASCEND_LAUNCH_BLOCKING=1 (costs time: the host waits for the device at every "
                      "launch), HCCL_ALGO=ring; 1 recorded variable not set", words)
        self.assertIn("metadata begun=2026-11-28T11:00:00; layers=4; save_dir=/data/run_2", words)
        self.assertIn("switched on record_shapes", words)
        self.assertLessEqual(max(map(len, screen.splitlines())), 80)
        document = json.loads(self.run_tool("check", self.twin, "--json").out)
        check_document(document, "check", DOCS)
        settings = document["ranks"][0]["recorded_settings"]
        self.assertEqual(settings["environment"], self.AFTER["ENV_VARIABLES"])
        self.assertEqual(settings["profiler"]["record_shapes"], "on")
        self.assertIsNone(settings["version"])

    def test_much_metadata_is_bounded_on_the_screen(self):
        self.describe(self.twin, {f"name_{i:03}": "x" * 500 for i in range(700)})
        shown = self.run_tool("check", self.twin).out
        self.assertIn("; 492 more (-v)", " ".join(shown.split()))  # 8 of the 500 that are kept
        self.assertIn("more than 499 settings of kind metadata", " ".join(shown.split()))
        lines = len(self.run_tool("check", self.base).out.splitlines())
        self.assertLess(len(shown.splitlines()), lines + 20)  # with the warning
        line = told(self.compare(comparison=self.twin, base=self.base).out)
        self.assertLess(len(line), 420)
        self.assertRegex(line, r"; \d+ more: see check$")

    def test_secrets(self):
        self.describe(self.base, {"wandb_api_key": "of-the-base"})
        self.describe(self.twin, {"wandb_api_key": "of-the-twin", "note": "https://me:of-the-twin@host/"})
        file = self.scratch / "main.json"
        self.run_tool("compare", "-d", self.twin, "--save_baseline", file)
        everything = [file.read_text(encoding="utf-8")]
        for words in (["check", self.twin], ["check", self.twin, "--json"], ["advisor", self.twin, "--json"],
                      ["compare", "-d", self.twin, "-bp", self.base, "--json"]):
            everything.append(self.run_tool(*words).out)
        self.assertNotIn("of-the-", "".join(everything))
        self.assertIn("(hidden)", everything[1])

    def test_versions_and_switches(self):
        def change(info):
            info["torch_npu_version"], info["cann_version"] = "2.7.1", "8.3.RC1"
            info["config"]["common_config"] |= {"with_stack": True, "schedule": {"active": 3}}
        self.describe(self.base, {}, lambda info: info.update(torch_npu_version="2.6.0", cann_version="8.3.RC1"))
        self.describe(self.twin, {}, change)
        line = self.settings_of(self.twin, self.base)["line"]
        # The base records neither with_stack nor a schedule.
        self.assertEqual(line, "settings that differ: torch_npu_version 2.6.0 -> 2.7.1")
        self.describe(self.base, {}, lambda info: info["config"]["common_config"].update(with_stack=False))
        self.assertIn("with_stack off -> on (costs time: host times are inflated",
                      self.settings_of(self.twin, self.base)["line"])

    def test_databases(self):
        captures = []
        for name, value in (("before", self.BEFORE), ("after", self.AFTER)):
            capture = build_database(self.CAPTURES, "db_base_ascend_pt", self.scratch / name)
            database = sqlite3.connect(capture / DATABASE)
            database.executemany("INSERT INTO META_DATA VALUES (?, ?)",
                                 [(key, json.dumps(text)) for key, text in value.items()])
            database.commit()
            database.close()
            captures.append(capture)
        base, twin = captures
        self.assertEqual(self.settings_of(twin, base)["line"], self.LINE)
        # A text capture says the same, in its own form.
        self.assertEqual([row for row in self.settings_of(self.twin, twin)["differing"]
                          if row["kind"] != "profiler"], [])
        metadata = json.loads(self.run_tool("check", twin, "--json").out)["ranks"][0]["recorded_settings"]["metadata"]
        self.assertEqual(metadata["layers"], "4")

    def test_gpu_traces_record_no_environment(self):
        base, twin = self.CAPTURES / "gpu_base.json", self.scratch / "gpu_twin.json"
        document = json.loads(base.read_text(encoding="utf-8"))
        members = {key: value for key, value in document.items() if key != "traceEvents"}
        extra = {"with_stack": 1, "cuda_runtime_version": 12040, "run": {"layers": 4}}
        twin.write_text(json.dumps({**members, **extra, "traceEvents": document["traceEvents"]}), encoding="utf-8")
        settings = self.settings_of(twin, base)
        self.assertEqual(settings["line"], "settings that differ: run.layers not set -> 4")
        self.assertEqual(settings["only_in_comparison"], ["profiler", "version"])
        mixed = self.settings_of(self.twin, base)
        self.assertIn("environment", mixed["only_in_comparison"])
        self.assertFalse(any(row["kind"] == "environment" for row in mixed["differing"]))

    def test_allow_mismatch(self):
        for words in ("zzz", "profiler_level,zzz", "Profiler_level", "all"):
            bad = words.rsplit(",", maxsplit=1)[-1]
            self.assert_fails(2, self.gate(self.twin, "--allow_mismatch", words),
                              f"--allow_mismatch: '{bad}' is unknown; available: device, chip, soc,", "shapes")
        fields = ("device,chip,soc,framework,profiler_level,activities,aic_metrics,record_shapes,profile_memory,"
                  "with_stack,with_modules,world_size,torch_npu_version,cann_version,warmup,rank_stat,shapes")
        self.assert_verdict(self.gate(self.twin, "--allow_mismatch", fields), 0, "OK step_time")
        page = (DOCS / "gate.md").read_text(encoding="utf-8")
        for field in fields.split(","):
            self.assertIn(f"`{field}`", page)


class SharedSettings(Twins):
    """Twins of real captures."""

    def setUp(self):
        super(GateRuns, self).setUp()

    def twins_of(self, name):
        twins = []
        for side in ("base", "twin"):
            copy = self.scratch / side / "rank0_ascend_pt"
            shutil.copytree(NPU / name, copy, copy_function=shutil.copyfile)
            for folder in [copy, *copy.rglob("*")]:
                folder.chmod(0o755)
            twins.append(copy)
        return twins

    def test_text(self):
        base, twin = self.twins_of("text/level0/rank0_ascend_pt")
        self.assertEqual(self.settings_of(twin, base)["differing"], [])
        file = twin / "profiler_metadata.json"
        metadata = json.loads(file.read_text(encoding="utf-8"))
        metadata["ENV_VARIABLES"] |= {"ASCEND_LAUNCH_BLOCKING": "1", "TASK_QUEUE_ENABLE": "0"}
        metadata |= {"model": "{\"layers\": 48}", "launched_at": 1764246878131995320}
        file.write_text(json.dumps(metadata), encoding="utf-8")
        line = self.settings_of(twin, base)["line"]
        self.assertEqual(line, "settings that differ: ASCEND_LAUNCH_BLOCKING not set -> 1 (costs time: the host waits "
                               "for the device at every launch), TASK_QUEUE_ENABLE not recorded -> 0, model.layers "
                               "not set -> 48")
        gate = json.loads(self.run_tool("compare", "-d", twin, "-bp", base, "--fail_on", "e2e>+3%", "--json").out)
        self.assertEqual(gate["settings"]["line"], line)

    def test_database(self):
        base, twin = self.twins_of("db/level0/rank0_ascend_pt")
        self.assertEqual(self.settings_of(twin, base)["differing"], [])
        database = sqlite3.connect(twin / DATABASE)
        (text,) = database.execute("SELECT value FROM META_DATA WHERE name = 'ENV_VARIABLES'").fetchone()
        variables = json.loads(text) | {"ASCEND_GLOBAL_LOG_LEVEL": "1"}
        database.execute("UPDATE META_DATA SET value = ? WHERE name = 'ENV_VARIABLES'", (json.dumps(variables),))
        database.execute("INSERT INTO META_DATA VALUES ('tag', '\"new\"')")
        database.commit()
        database.close()
        self.assertEqual(self.settings_of(twin, base)["line"],
                         "settings that differ: ASCEND_GLOBAL_LOG_LEVEL not set -> 1 (costs time: the host writes a "
                         "log of what it does), tag not set -> new")


if __name__ == "__main__":
    if "sharedsettings" in sys.argv and not NPU.is_dir():
        print(f"skipped: {NPU} is not there")
        sys.exit(SKIPPED)
    sys.exit(main(__doc__, Settings, SharedSettings))
