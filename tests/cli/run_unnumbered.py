#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which rank a capture is of, and captures that do not tell: they are never one rank, and nobody is rank -1.

    run_unnumbered.py --tool BINARY --testdata DIR unnumbered|ranksources [-v]

Exit status: 0 passed, 1 failed, 2 usage.
"""

import gzip
import json
import re
import shutil
import sqlite3
import sys

from cli import Cli, main
from captures import build_database

OUTPUT = "ASCEND_PROFILER_OUTPUT"
# What stands for a label within the program (16777216 is a usual number of bytes, too), and the rank of nobody.
INTERNAL = re.compile(r"\b1677721[789]\b")
NOBODY = re.compile(r"(?i)\brank\w*[\"' :=]+-1\b|rank unknown")


class Captures(Cli):
    """Jobs of captures that differ, in folders whose names are no ranks."""

    def job(self, *folders, name="job", numbered=()):
        """Copies of two text captures in turn; those at `numbered` keep their profiler_info."""
        job = self.scratch / name
        for i, folder in enumerate(folders):
            capture = job / folder
            shutil.copytree(self.CAPTURES / ("text_base_ascend_pt", "text_new_ascend_pt")[i % 2], capture)
            (info,) = capture.glob("profiler_info_*.json")
            if i in numbered:
                info.rename(capture / f"profiler_info_{i}.json")
            else:
                info.unlink()
            (capture / "profiler_metadata.json").unlink(missing_ok=True)
        return job

    def database(self, folder, *statements, file="ascend_pytorch_profiler.db"):
        built = build_database(self.CAPTURES, "db_base_ascend_pt", self.scratch / "built")
        capture = self.scratch / "job" / folder
        shutil.copytree(built, capture)
        (database,) = capture.rglob("*.db")
        database = database.rename(database.with_name(file))
        with sqlite3.connect(database) as connection:
            for statement in ("DROP TABLE IF EXISTS RANK_DEVICE_MAP", "DROP TABLE IF EXISTS META_DATA", *statements):
                connection.execute(statement)
        connection.close()
        for file in capture.glob("profiler_*.json"):
            file.unlink()
        return capture

    def checked(self, path):
        return json.loads(self.run_tool("check", "-d", path, "--json").out)

    def names(self, path):
        """What check calls the ranks."""
        return [rank["label"] if rank["rank"] is None else rank["rank"] for rank in self.checked(path)["ranks"]]

    def summary(self, path, *more):
        result = self.run_tool("-m", "cluster_time_summary", "-d", path, "--json", "-o", self.out, *more)
        self.assertIn(result.code, (0, 5), result.err)
        return json.loads(result.out)["sheets"][0]["rows"], result

    def diagnosis(self, path, *more):
        result = self.run_tool("advisor", "all", "-d", path, "--json", "-o", self.out, *more)
        self.assertIn(result.code, (0, 5), result.err)
        return json.loads(result.out), result

    def assert_clean(self, text):
        self.assertEqual(INTERNAL.findall(text), [], text)
        self.assertEqual(NOBODY.findall(text), [], text)


class Unnumbered(Captures):
    def test_captures_are_not_merged(self):
        both = self.job("alpha_ascend_pt", "beta_ascend_pt")
        rows, result = self.summary(both)
        self.assertEqual(result.code, 0, result.err)
        by_rank = {}
        for row in rows:
            by_rank.setdefault(row.pop("rank"), []).append(row)
        self.assertEqual(list(by_rank), ["alpha", "beta"])
        for folder in ("alpha", "beta"):
            alone, _ = self.summary(both / f"{folder}_ascend_pt")
            self.assertEqual({row.pop("rank") for row in alone}, {folder})
            times = ("step", "stepTime", "computation", "step_time", "step_time_us", "computation_us")
            of_times = lambda rows: [{key: row[key] for key in times if key in row} for row in rows]
            self.assertEqual(of_times(by_rank[folder]), of_times(alone))

    def test_all_recipes(self):
        job = self.job("alpha_ascend_pt", "beta_ascend_pt")
        recipes = "all,cluster_time_summary,slow_rank,module_statistic,free_analysis,hccl_sum,compute_op_sum,operator_mfu"
        for form in ("db", "text", "html", "xlsx"):
            result = self.run_tool("-m", recipes, "-d", job, "-o", self.scratch / form, "--export_type", form)
            self.assertIn(result.code, (0, 5), result.err)
            self.assert_clean(result.out + result.all_err)
        for file in (self.scratch / "text").rglob("*"):
            if file.suffix in (".csv", ".json", ".txt"):
                self.assert_clean(file.read_text())
        for file in (self.scratch / "html").rglob("*.html"):
            self.assertEqual(INTERNAL.findall(file.read_text()), [], file)
        (database,) = (self.scratch / "db").rglob("cluster_analysis.db")
        ranks = 0
        with sqlite3.connect(database) as connection:
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for column in connection.execute(f'PRAGMA table_info("{table}")').fetchall():
                    if column[1].lower() not in ("rank", "rankid", "rank_id"):
                        continue
                    values = {value for (value,) in connection.execute(f'SELECT DISTINCT "{column[1]}" FROM "{table}"')}
                    self.assertLessEqual(values - {None}, {"alpha", "beta"}, (table, column[1]))
                    ranks += len(values) > 1
        connection.close()
        self.assertGreater(ranks, 3)

    def test_numbers_come_first(self):
        job = self.job("zeta_ascend_pt", "alpha_ascend_pt", "beta_ascend_pt", numbered=(0,))
        rows, _ = self.summary(job)
        self.assertEqual(list(dict.fromkeys(row["rank"] for row in rows)), [0, "alpha", "beta"])
        self.assertEqual(self.names(job), [0, "alpha", "beta"])

    def test_labels_are_short_and_unique(self):
        for folders, labels in (
                (("node_7_20260102030405678_ascend_pt", "node_8_20260102030405679_ascend_pt"), ["node_7", "node_8"]),
                (("node_20260102030405678_ascend_pt", "node_20260102030405679_ascend_pt"),
                 ["node_20260102030405678", "node_20260102030405679"]),
                (("a/run_ascend_pt", "b/run_ascend_pt"), ["a/run", "b/run"]),
                (("12_ascend_pt", "x_ascend_pt"), ["folder_12", "x"])):
            with self.subTest(folders=folders):
                job = self.job(*folders, name=f"job{len(list(self.scratch.iterdir()))}")
                self.assertEqual(self.names(job), labels)
                self.assertEqual(self.diagnosis(job)[0]["capture"]["ranks"], labels)

    def test_ranks_can_be_chosen_by_label(self):
        job = self.job("alpha_ascend_pt", "beta_ascend_pt")
        rows, _ = self.summary(job, "--rank_list", "beta")
        self.assertEqual({row["rank"] for row in rows}, {"beta"})

    def test_advisor(self):
        job = self.job("alpha_ascend_pt", "beta_ascend_pt")
        document, result = self.diagnosis(job)
        self.assertEqual(document["capture"]["ranks"], ["alpha", "beta"])
        self.assertEqual({row["rank"] for row in document["accounting"]}, {"alpha", "beta"})
        self.assert_clean(result.out + result.all_err)
        for more in ((), ("--language", "cn")):
            screen = self.run_tool("advisor", "all", "-d", job, "-o", self.out, *more)
            self.assertIn(screen.code, (0, 5), screen.err)
            self.assert_clean(screen.out + screen.all_err)
        for file in self.out.rglob("*.html"):
            self.assertEqual(INTERNAL.findall(file.read_text()), [], file)

    def test_compare_pairs_by_label(self):
        base = self.job("alpha_ascend_pt", "beta_ascend_pt", name="old")
        new = self.job("beta_ascend_pt", "alpha_ascend_pt", name="new")
        result = self.compare("--all_ranks", "--export_type", "csv", comparison=new, base=base)
        self.assertIn(result.code, (0, 5), result.err)
        self.assertEqual(re.findall(r"rank (\w+)", result.out)[:2], ["alpha", "beta"])
        self.assert_clean(result.out + result.all_err)
        names = [file.name for file in self.out.rglob("performance_comparison_result_*")]
        self.assertTrue(any("_rankalpha_" in name for name in names), names)
        other = self.job("gamma_ascend_pt", "delta_ascend_pt", name="other")
        self.assert_fails(3, self.compare(comparison=other, base=base), "holds ranks alpha, beta",
                          "holds ranks delta, gamma")

    def test_parts_are_the_same(self):
        job = self.job("alpha_ascend_pt", "beta_ascend_pt", "gamma_ascend_pt")
        recipes = "cluster_time_summary,slow_rank,module_statistic"
        direct = self.run_tool("-m", recipes, "-d", job, "-o", self.scratch / "direct", "--export_type", "text")
        parts = self.scratch / "parts"
        for shard in ("0/2", "1/2"):
            done = self.run_tool("-m", recipes, "-d", job, "--shard", shard, "-o", parts)
            self.assertEqual(done.code, 0, done.err)
        merged = self.run_tool("merge", parts, "-o", self.scratch / "merged", "--export_type", "text")
        self.assertEqual((merged.code, merged.out), (direct.code, direct.out), merged.err)
        files = {file.relative_to(self.scratch / "direct"): file.read_bytes()
                 for file in (self.scratch / "direct").rglob("*.csv")}
        self.assertTrue(files)
        for name, content in files.items():
            self.assertEqual((self.scratch / "merged" / name).read_bytes(), content, name)

    def test_timeline(self):
        job = self.job("alpha_ascend_pt", "beta_ascend_pt")
        file = self.scratch / "timeline.json"
        result = self.run_tool("export", "timeline", "-d", job, "-o", file)
        self.assertIn(result.code, (0, 5), result.err)
        written = [path for path in self.scratch.rglob("*.json*") if path.is_file() and "timeline" in path.name]
        self.assertTrue(written, result.err)
        data = written[0].read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
        names = re.findall(r'"process_name"[^}]*"name":"([^"]*)"', text)
        self.assertEqual(names, ["rank alpha", "rank beta"])

    def test_check_says_so(self):
        job = self.job("alpha_ascend_pt", "beta_ascend_pt")
        document = self.checked(job)
        self.assertEqual([(rank["rank"], rank["label"]) for rank in document["ranks"]],
                         [(None, "alpha"), (None, "beta")])
        self.assertIn("rank_unknown", [warning["id"] for warning in document["warnings"]])
        screen = self.run_tool("check", "-d", job).out
        self.assertIn("alpha", screen)
        self.assert_clean(screen)

    def test_two_captures_of_one_number(self):
        """Their folders tell them apart: each is analysed by itself, and a note names both."""
        job = self.job("alpha_ascend_pt", "beta_ascend_pt", numbered=(0, 1))
        (job / "beta_ascend_pt" / "profiler_info_1.json").rename(job / "beta_ascend_pt" / "profiler_info_0.json")
        rows, result = self.summary(job)
        self.assertEqual({row["rank"] for row in rows}, {0})
        self.assertEqual(len({row["group"] for row in rows}), 2)
        said = "\n".join(result.warnings)
        self.assertIn("alpha_ascend_pt", said)
        self.assertIn("beta_ascend_pt", said)


class Ranksources(Captures):
    def everywhere(self, path, ranks):
        """All commands call the ranks the same."""
        self.assertEqual(self.names(path), ranks)
        self.assertEqual(sorted({row["rank"] for row in self.summary(path)[0]}, key=str), sorted(ranks, key=str))
        self.assertEqual(self.diagnosis(path)[0]["capture"]["ranks"], ranks)

    def test_map_of_devices(self):
        self.database("one", "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER)",
                      "INSERT INTO RANK_DEVICE_MAP VALUES (5, 0)")
        self.everywhere(self.scratch / "job", [5])

    def test_name_of_the_database(self):
        self.database("one", file="ascend_pytorch_profiler_4.db")
        self.everywhere(self.scratch / "job", [4])

    def test_process_groups(self):
        groups = {"a": {"group_name": "dp", "group_rank": 1, "global_ranks": [2, 6]},
                  "b": {"group_name": "tp", "group_rank": 0, "global_ranks": [6, 7]}}
        self.database("one", "CREATE TABLE META_DATA (name TEXT, value TEXT)",
                      f"INSERT INTO META_DATA VALUES ('parallel_group_info', '{json.dumps(groups)}')")
        self.everywhere(self.scratch / "job", [6])

    def test_groups_that_contradict_each_other_tell_nothing(self):
        groups = {"a": {"group_name": "dp", "group_rank": 1, "global_ranks": [2, 6]},
                  "b": {"group_name": "tp", "group_rank": 0, "global_ranks": [3, 7]}}
        self.database("one", "CREATE TABLE META_DATA (name TEXT, value TEXT)",
                      f"INSERT INTO META_DATA VALUES ('parallel_group_info', '{json.dumps(groups)}')")
        self.everywhere(self.scratch / "job", ["one"])

    def test_names_of_folders(self):
        for folder, rank in (("rank-3_20260102030405678_ascend_ms", 3), ("rank3_ascend_pt", 3),
                             ("rank_3_ascend_pt", 3), ("dp0_pp1_tp2_rank3_ascend_pt", 3), ("rank3/host_7_ascend_pt", 3),
                             ("tp_rank3_ascend_pt", "tp_rank3"), ("rank1_to_rank3_ascend_pt", "rank1_to_rank3"),
                             ("franks3_ascend_pt", "franks3"), ("local_rank3_ascend_pt", "local_rank3")):
            with self.subTest(folder=folder):
                job = self.job(folder, name=f"job{len(list(self.scratch.iterdir()))}")
                self.everywhere(job, [rank])

    def test_communication_groups(self):
        """Without members of groups: the number in the one that all share."""
        job = self.job("alpha_ascend_pt", "beta_ascend_pt")
        for folder, own in (("alpha_ascend_pt", 1), ("beta_ascend_pt", 0)):
            links = {f"{own}-{peer}": {"Transport Type": "HCCS", "Transit Time(ms)": 1, "Transit Size(MB)": 1,
                                       "Bandwidth(GB/s)": 1, "Op Name": "x"} for peer in (0, 1, 2)}
            (job / folder / OUTPUT / "communication_matrix.json").write_text(
                json.dumps({"step1": {"collective": {"allreduce-top1@77": links}, "p2p": {}}}))
        self.assertEqual(self.names(job), [0, 1])
        rows, result = self.summary(job)
        self.assertEqual({row["rank"] for row in rows}, {0, 1})
        self.assertIn("its number in the communication group 77", "\n".join(result.warnings))
        self.assertEqual(self.names(job / "alpha_ascend_pt"), ["alpha"], "alone, no group is known to be the job")

    def test_conflicts_are_named(self):
        job = self.job("rank7_ascend_pt", "beta_ascend_pt", numbered=(0, 1))
        rows, result = self.summary(job)
        self.assertEqual({row["rank"] for row in rows}, {0, 1})
        (said,) = [line for line in result.warnings if "rank7_ascend_pt" in line]
        self.assertIn("profiler_info_0.json says rank 0, the name rank7_ascend_pt rank 7; 0 is taken", said)
        (warning,) = [warning for rank in self.checked(job)["ranks"] for warning in rank["warnings"]
                      if warning["id"] == "rank_sources_differ"]
        self.assertIn("rank 7", warning["text"])


if __name__ == "__main__":
    sys.exit(main(__doc__, Unnumbered, Ranksources))
