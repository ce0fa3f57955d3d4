# SPDX-License-Identifier: Apache-2.0
"""What tests run recipes on. recipes_of() asks the program which there are; here stands only what is special about some."""

import shutil
from pathlib import Path

from captures import build_database

USUAL = ("twin_text_base_ascend_pt", "twin_db_new_ascend_pt", "head_hard_ascend_pt")
MARKED = ("pipeline_first_ascend_pt", "pipeline_last_ascend_pt", "comm_marks_ascend_pt")
# The captures of three ranks for recipes that find nothing in the usual ones.
CAPTURES = {"serving_phases": ("serving_base.json",) * 3, "rl_roles": tuple(f"rl_apart/rank{rank}.json" for rank in range(3)),
            "serving_requests": ("server_requests",) * 3, "host_threads": ("scheduled_ascend_pt",) * 3,
            "graph_replays": ("head_steady_ascend_pt",) * 3,
            **{name: MARKED for name in ("mstx_sum", "mstx2commop", "ep_load_balance", "p2p_pairing", "pp_chart")}}
# Options without which they do not start; each gets a directory with captures and the trace of a GPU.
REQUIRED = {"calibrate_npu_gpu": lambda _, gpu: ["--baseline_profiling_path", gpu],
            "cluster_time_compare_summary": lambda job, _: ["--bp", job]}
GPU_TRACE = "gpu_base.json"


def required_options(recipe, captures, job):
    """What has to be given to the recipe; where it takes another run, that run is `job`."""
    return REQUIRED[recipe](job, Path(captures, GPU_TRACE)) if recipe in REQUIRED else []


def job_for(recipe, captures, parent):
    """The directory of a job of three ranks below `parent` in which the recipe finds something."""
    names = CAPTURES.get(recipe, USUAL)
    job = Path(parent, recipe if recipe in CAPTURES else "usual")
    if job.is_dir():
        return job
    job.mkdir()
    for rank, name in enumerate(names):
        if name.endswith(".json"):
            trace = Path(captures, name).read_text(encoding="utf-8")
            (job / f"rank{rank}.json").write_text(trace.replace('"rank": 0', f'"rank": {rank}'), encoding="utf-8")
            continue
        if recipe == "serving_requests":  # a folder is an instance
            shutil.copytree(Path(captures, name), job / f"rank{rank}")
            continue
        source, copy = Path(captures, name), job / f"{rank}_ascend_pt"
        shutil.copytree(source if source.is_dir() else build_database(captures, name, Path(parent, "built")), copy)
        for info in copy.glob("profiler_info*.json"):
            info.unlink()
        (copy / f"profiler_info_{rank}.json").write_text("{}", encoding="utf-8")
    return job
