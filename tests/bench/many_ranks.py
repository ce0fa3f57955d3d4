#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the parts of a job of many ranks from the databases of a small one.

    many_ranks.py PROGRAM SMALL_JOB RANKS PARTS [--recipes hccl_sum,...]

SMALL_JOB has the captures of a job with tp, dp and pp (rank = tp + TP * (dp + DP * pp)). The large
job is as many copies of it side by side as RANKS takes: ranks and hosts have other numbers, groups
of tp and pp belong to one copy, and those of dp reach over all copies. One copy at a time is on the
disk, so that 10,000 ranks need no room but for their parts.
"""
import argparse
import json
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile


def sizes_of(job):
    database = next(job.glob("*/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_*.db"))
    with sqlite3.connect(database) as connection:
        text, = connection.execute(
            "SELECT value FROM META_DATA WHERE name = 'distributed_args'").fetchone()
    args = json.loads(text)
    return (args["tensor_model_parallel_size"], args["data_parallel_size"],
            args["pipeline_model_parallel_size"])


class Copy:
    """Number `copy` of `copies`."""

    def __init__(self, sizes, copy, copies):
        self.tp, self.dp, self.pp = sizes
        self.copy, self.copies = copy, copies

    def rank(self, rank):
        return self.in_copy(rank, self.copy)

    def in_copy(self, rank, copy):
        tp, rest = rank % self.tp, rank // self.tp
        dp, pp = rest % self.dp, rest // self.dp
        return tp + self.tp * (dp + self.dp * copy + self.dp * self.copies * pp)

    def members(self, name, ranks):
        copies = range(self.copies) if name == "dp" else [self.copy]
        return [self.in_copy(rank, copy) for copy in copies for rank in ranks]

    def group_id(self, name, text):
        return text if name == "dp" else f"{text}_{self.copy}"

    def renumber(self, path, rank):
        with sqlite3.connect(path) as connection:
            meta = dict(connection.execute("SELECT name, value FROM META_DATA"))
            groups, ids = {}, []
            for text, group in json.loads(meta["parallel_group_info"]).items():
                name = group["group_name"]
                group["global_ranks"] = self.members(name, group["global_ranks"])
                group["group_rank"] = group["global_ranks"].index(rank)
                groups[self.group_id(name, text)] = group
                ids.append((self.group_id(name, text), text))
            args = json.loads(meta["distributed_args"])
            args.update(rank=rank, world_size=args["world_size"] * self.copies,
                        data_parallel_size=self.dp * self.copies)
            for name, value in (("parallel_group_info", groups), ("distributed_args", args)):
                connection.execute("UPDATE META_DATA SET value = ? WHERE name = ?",
                                   (json.dumps(value), name))
            connection.executemany("UPDATE STRING_IDS SET value = ? WHERE value = ?", ids)
            connection.execute("UPDATE RANK_DEVICE_MAP SET rankId = ?", (rank,))
            connection.execute("UPDATE HOST_INFO SET hostUid = hostUid || ?, "
                               "hostName = hostName || ?", (f"{self.copy}", f"-{self.copy}"))

    def make(self, job, target):
        for capture in sorted(job.iterdir()):
            database = next(capture.glob("ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_*.db"))
            old = int(database.stem.rsplit("_", 1)[1])
            rank = self.rank(old)
            output = target / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
            output.mkdir(parents=True)
            copied = output / f"ascend_pytorch_profiler_{rank}.db"
            shutil.copyfile(database, copied)
            info = json.loads((capture / f"profiler_info_{old}.json").read_text())
            info["rank_id"] = rank
            (output.parent / f"profiler_info_{rank}.json").write_text(json.dumps(info))
            self.renumber(copied, rank)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("job", type=pathlib.Path)
    parser.add_argument("ranks", type=int)
    parser.add_argument("parts", type=pathlib.Path)
    parser.add_argument("--recipes", default="")
    options = parser.parse_args()
    sizes = sizes_of(options.job)
    small = sizes[0] * sizes[1] * sizes[2]
    if options.ranks % small != 0:
        parser.error(f"RANKS has to be a multiple of {small}")
    copies = options.ranks // small
    for number in range(copies):
        with tempfile.TemporaryDirectory() as directory:
            target = pathlib.Path(directory)
            Copy(sizes, number, copies).make(options.job, target)
            runs = [["-m", options.recipes]] if options.recipes else []
            for run in runs + [["advisor", "all"]]:
                subprocess.run([options.program, *run, "-d", target, "--shard", "0/1",
                                "-o", options.parts], check=True, stderr=subprocess.DEVNULL)
        print(f"{(number + 1) * small} of {options.ranks} ranks", flush=True)


if __name__ == "__main__":
    main()
