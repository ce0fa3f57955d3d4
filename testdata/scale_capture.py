#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes captures of a given size: the same training run of many steps on one or more ranks.

    scale_capture.py DIRECTORY --kind text --size 230M [--ranks 2] [--seed 1]
    scale_capture.py DIRECTORY --kind db --size 150M [--mstx] [--links]

Makes DIRECTORY/rank<N>_ascend_pt. Steps and ranks differ in their durations, seeds in a few
operators as well. The same arguments give the same bytes. Memory does not depend on the size.
"""
import argparse
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from make_captures import metadata, write  # noqa: E402
from scale_db import write_db  # noqa: E402
from scale_links import write_links  # noqa: E402
from scale_raw_capture import bytes_of  # noqa: E402
from scale_text import write_text  # noqa: E402
from synthetic_run import EPOCH  # noqa: E402
from training_step import TrainingStep  # noqa: E402

VARIANTS = 4  # steps before one looks like an earlier one
CHIP = {"platform_version": "5", "devices": "0", "DeviceInfo": [
    {"id": 0, "ai_core_num": 24, "aiv_num": 48, "hwts_frequency": "50.0", "aic_frequency": "1800",
     "aiv_frequency": "1800"}]}


def settings(kind, rank):
    common = {"activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"], "record_shapes": True,
              "profile_memory": True, "with_stack": True, "with_modules": True}
    more = {"_profiler_level": "Level1", "_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION",
            "_export_type": kind}
    return {"config": {"common_config": common, "experimental_config": more},
            "start_info": {"syscnt_enable": True, "freq": 100},
            "end_info": {"collectionTimeEnd": EPOCH + 3600 * 10**9}, "rank_id": rank}


def make_rank(capture, rank, options):
    kind, size = options.kind, options.size
    runs = [TrainingStep(options.seed, rank, variant) for variant in range(VARIANTS)]
    write(capture / f"profiler_info_{rank}.json", json.dumps(settings(kind, rank), indent=4))
    write(capture / "profiler_metadata.json", json.dumps(metadata(rank), indent=4))
    write(capture / "PROF_000001_20231114221320000_SCALED/device_0/info.json.0", json.dumps(CHIP))
    output = capture / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True, exist_ok=True)
    if kind == "text":
        return write_text(output, runs, size)
    database = output / f"ascend_pytorch_profiler_{rank}.db"
    steps = write_db(database, runs, size, rank, options.mstx)
    if options.links:
        write_links(output / "analysis.db", database, rank, options.ranks)
    return steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--kind", choices=("text", "db"), required=True)
    parser.add_argument("--size", type=bytes_of, default="100M",
                        help="of a rank's trace or database, about, as 500M or 6G")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mstx", action="store_true", help="databases: ranges around the modules")
    parser.add_argument("--links", action="store_true",
                        help="databases: analysis.db, with the times and links of communication")
    options = parser.parse_args()
    for rank in range(options.ranks):
        capture = options.directory / f"rank{rank}_ascend_pt"
        steps = make_rank(capture, rank, options)
        print(f"{capture}: {steps} steps")


if __name__ == "__main__":
    main()
