# SPDX-License-Identifier: Apache-2.0
"""Cases of the requests of a server, which the records of msServiceProfiler show."""

from statistics import median

import server_records as records

from .case import Case, Truth

COMMAND = "-m serving_requests -d ./server"


def share_of_hits(servers):
    requests = [request for server in servers for request in server.requests]
    return sum(one.prompt * one.hit_rate for one in requests) / sum(one.prompt for one in requests)


def served(cause, title, number):
    """The makers of a case; `number` is the text of a number that follows from what was simulated."""
    plan, twin = records.PLANS[cause]

    def plant(folder):
        return Truth(says=[title, number(plan, records.write(plan, folder / "server"))])
    return {"plant": plant, "healthy": lambda folder: records.write(twin, folder / "server")}


def tokens_of_hot_instance(_, servers):
    tokens = [sum(one.prompt + one.reply for one in server.requests) for server in servers]
    return f"{len(tokens) * max(tokens) / sum(tokens):.1f} times the tokens of the mean"


def executions(servers):
    return [row for server in servers for row in server.batches if row["name"] == "modelExec"]


def largest_batch(_, servers):
    return f"the largest {max(row['batch_size'] for row in executions(servers)):.0f}"


def steps_with_prompts(_, servers):
    decoding = [row for row in executions(servers) if row["decode_batch_size"]]
    return f"{sum(1 for row in decoding if row['prefill_batch_size'])} of {len(decoding)} have"


def usual_transfer(_, servers):
    lengths = [one.transfer[1] for server in servers for one in server.requests if one.transfer]
    return f"a transfer takes {median(lengths) / 1000:.1f} ms (median)"


def rounds(_, servers):
    """Both ranks run each forward pass together."""
    return f"of {sum(len(server.forwards) for server in servers) // 2} rounds"


CASES = [
    Case("requests-wait", command=COMMAND, lines=4,
         **served("requests_wait", "requests wait though batches are not full", largest_batch)),
    Case("prompts-ride-along", command=COMMAND, lines=4,
         **served("prefill_rides_along", "long prompts ride along with decoding", steps_with_prompts)),
    Case("kv-blocks-short", command=COMMAND, lines=4,
         **served("kv_blocks_short", "blocks of the KV cache run short", lambda plan, _: f"of {plan.blocks} blocks")),
    Case("prefix-cache-missed", command=COMMAND, lines=4,
         **served("prefix_cache_missed", "the prefix cache is missed",
                  lambda _, servers: f"{100 * share_of_hits(servers):.1f} % of the tokens of prompts came from")),
    Case("kv-transfer-slow", command=COMMAND, lines=4,
         **served("kv_transfer_slow", "transfers of the KV cache from prefill to decode are slow", usual_transfer)),
    Case("uneven-instances", command=COMMAND, lines=4,
         **served("instances_uneven", "work is divided unevenly between instances", tokens_of_hot_instance)),
    Case("forwards-out-of-step", command=COMMAND, lines=3,
         **served("forwards_out_of_step", "forward passes of data parallel ranks are out of step (dp 1)", rounds)),
]
