# SPDX-License-Identifier: Apache-2.0
"""Cases of the requests of a server, which the records of msServiceProfiler show."""

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


CASES = [
    Case("requests-wait", command=COMMAND, lines=4,
         **served("requests_wait", "requests wait though batches are not full", lambda plan, _: "requests, the largest")),
    Case("prompts-ride-along", command=COMMAND, lines=4,
         **served("prefill_rides_along", "long prompts ride along with decoding", lambda plan, _: "")),
    Case("kv-blocks-short", command=COMMAND, lines=4,
         **served("kv_blocks_short", "blocks of the KV cache run short", lambda plan, _: f"of {plan.blocks} blocks")),
    Case("prefix-cache-missed", command=COMMAND, lines=4,
         **served("prefix_cache_missed", "the prefix cache is missed",
                  lambda _, servers: f"{100 * share_of_hits(servers):.1f} % of the tokens of prompts came from")),
    Case("kv-transfer-slow", command=COMMAND, lines=4,
         **served("kv_transfer_slow", "transfers of the KV cache from prefill to decode are slow",
                  lambda plan, _: f"{plan.transfer[1]:.1f} us for a token")),
    Case("uneven-instances", command=COMMAND, lines=4,
         **served("instances_uneven", "work is divided unevenly between instances", tokens_of_hot_instance)),
]
