#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes captures of reinforcement learning: rl_colocated/ and rl_apart/ in testdata/captures.

They are traces of GPUs as verl writes them with torch.profiler. README.md says what they take.
"""

import json
from pathlib import Path

from make_serving_captures import span

CAPTURES = Path(__file__).resolve().parent / "captures"
START, HOST, STREAM = 1_000_000, 4000, 7
PERIOD = 1000  # us, from one iteration of rl_apart to the next


class Trace:
    """The trace of a rank. Times are in us from the begin of the job."""

    def __init__(self, rank, ranks, shift=0):
        self.rank, self.ranks, self.begin, self.events = rank, ranks, START + shift, []

    def mark(self, name, begin, end):
        self.events.append(span("user_annotation", name, HOST, self.begin + begin, end - begin))

    def work(self, name, begin, end):
        """A kernel; the host launches it when it begins."""
        number = len(self.events)
        self.events += [
            span("cuda_runtime", "cudaLaunchKernel", HOST, self.begin + begin - 1, 1, correlation=number),
            span("kernel", name, STREAM, self.begin + begin, end - begin, pid=self.rank, device=self.rank,
                 stream=STREAM, correlation=number)]

    def document(self):
        return {"schemaVersion": 1, "deviceProperties": [{"id": self.rank, "name": "GPU"}],
                "distributedInfo": {"rank": self.rank, "world_size": self.ranks}, "traceEvents": self.events}


def rollout(trace, batches):
    """Steps of 100 us that decode: a kernel of 90 us, and 10 in which the device has nothing to do."""
    for step, requests in enumerate(batches):
        trace.mark(f"step[DECODE bs={requests}]", 100 * step, 100 * step + 60)
        trace.work("flash_fwd_splitkv_kernel", 100 * step + 2, 100 * step + 92)


def update(trace, begin):
    trace.work("sgemm_128x64", begin, begin + 200)
    trace.work("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", begin + 200, begin + 250)
    trace.work("adam_kernel", begin + 260, begin + 300)


def colocated():
    """Both roles run on both devices, one after the other; rank 0 generates for two steps more."""
    job = {}
    for rank, batches in enumerate(([8] * 4 + [2] * 2, [8] * 4)):
        generating, updating = Trace(rank, 2), Trace(rank, 2)
        rollout(generating, batches)
        update(updating, 652)
        job[f"rollout_generate/prof_rank-{rank}.json"] = generating.document()
        job[f"actor_update/prof_rank-{rank}.json"] = updating.document()
    return job


def apart(iterations=2):
    """Ranks 0 and 1 generate, ranks 2 and 3 train; weights go from these to those. One capture of each rank."""
    job = {}
    for rank in range(4):
        trace = Trace(rank, 4)
        for begin in (PERIOD * iteration for iteration in range(iterations)):
            if rank < 2:
                trace.mark("generate_sequences", begin, begin + 600)
                trace.work("flash_fwd_kernel", begin + 10, begin + (590 if rank == 0 else 490))
            else:
                trace.mark("compute_log_prob", begin + 620, begin + 700)
                trace.work("sgemm_128x64", begin + 630, begin + 690)
                trace.mark("update_actor", begin + 700, begin + 900)
                trace.work("sgemm_128x64", begin + 710, begin + 890)
            trace.mark("sync_rollout_weights", begin + 900, begin + 950)
            trace.work("ncclDevKernel_Broadcast_RING_LL", begin + 905, begin + 945)
        job[f"rank{rank}.json"] = trace.document()
    return job


def write(job, directory):
    for name, document in job.items():
        document = dict(document)
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(json.dumps(event) for event in document.pop("traceEvents"))
        path.write_text(f'{json.dumps(document)[:-1]}, "traceEvents": [\n{lines}\n]}}\n', encoding="utf-8")


def main():
    write(colocated(), CAPTURES / "rl_colocated")
    write(apart(), CAPTURES / "rl_apart")


if __name__ == "__main__":
    main()
