#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what msServiceProfiler writes of the requests of a server, from a server that is simulated.

    server_records.py DIRECTORY [--cause NAME] [--form csv|db|slices|marks|trace] [--seed N]

The server batches continuously: requests come, are tokenised, wait until there is room in the batch and blocks in
the KV cache, have their prompts read in pieces, and decode. PLANS has a healthy server and one for each cause that
the recipe serving_requests names; a plan differs from the healthy one in what its cause needs. Column names, units
and their quirks are those of the public sources of msServiceProfiler: "start_time(ms)" of requests and batches
holds microseconds, that of forward passes milliseconds, and other tables have local dates.

The same truth can be had before any parsing (ms_service_*.db of each process: "slices" as it is collected today,
"marks" as in 2025) and as chrome_tracing.json ("trace").
"""

import argparse
import csv
import datetime
import json
import random
import sqlite3
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path

MS = 1000  # all times here are in microseconds since the epoch
BEGIN = 1_755_158_760_000_000
ZONE = datetime.timezone(datetime.timedelta(hours=8))


@dataclass(frozen=True)
class Plan:
    """What a server is like, and what its requests are."""
    requests: int = 240
    per_second: float = 8.0  # of all ranks of an instance
    prompt: tuple = (300, 900)
    reply: tuple = (24, 72)
    hit_rate: tuple = (0.5, 0.7)
    some_hit: float = 0.0  # part of the requests that hit 0.9 whatever hit_rate says
    weights: tuple = (1, 1)  # of the data parallel ranks
    instances: tuple = (1,)  # weights of the instances
    most_requests: int = 32  # in a batch
    most_tokens: int = 512  # of prompts in a batch
    blocks: int = 2000
    block_size: int = 16
    admit_every: int = 0  # requests are let in only so often
    step: int = 18 * MS
    per_prompt_token: float = 14.0
    per_request: float = 60.0
    schedule: int = 400
    is_async: bool = True  # batches are put together while others run
    sample: int = 1 * MS
    gap: int = 300  # between batches
    before: tuple = (2 * MS, 0.5)  # tokenising: for a request, for a token of its prompt
    behind: int = 1 * MS
    transfer: tuple = ()  # from prefill to decode, before the second token: for a request, for a token
    together: bool = False  # data parallel ranks run each batch at the same time: collectives tie them
    late: tuple = ()  # the rank that begins so much later, in that part of its batches
    late_end: tuple = ()  # the same of one that ends later


HEALTHY = Plan()
TRANSFERS = replace(HEALTHY, transfer=(1 * MS, 2.0))
TWO_INSTANCES = replace(HEALTHY, instances=(1, 1), requests=400, per_second=14)
TOGETHER = replace(HEALTHY, together=True)
# Name of the finding: the plan with the cause, and the healthy one that is its twin.
PLANS = {
    "kv_blocks_short": (replace(HEALTHY, blocks=150, per_second=14), HEALTHY),
    "prefix_cache_missed": (replace(HEALTHY, hit_rate=(0.0, 0.05), some_hit=0.08), HEALTHY),
    "kv_transfer_slow": (replace(TRANSFERS, transfer=(40 * MS, 700.0)), TRANSFERS),
    "dp_ranks_uneven": (replace(HEALTHY, weights=(6, 1), per_second=30, most_requests=20, blocks=4000), HEALTHY),
    "instances_uneven": (replace(TWO_INSTANCES, instances=(9, 1), per_second=40, most_requests=14, blocks=4000),
                         TWO_INSTANCES),
    "prefill_rides_along": (replace(HEALTHY, prompt=(3000, 7000), most_tokens=8192, per_second=11, hit_rate=(0.2, 0.3),
                                    blocks=8000), HEALTHY),
    "forwards_out_of_step": (replace(TOGETHER, late=(1, 9 * MS, 0.8)), TOGETHER),
    "scheduler_slow": (replace(HEALTHY, schedule=12 * MS, is_async=False), HEALTHY),
    "sampler_slow": (replace(HEALTHY, sample=11 * MS), HEALTHY),
    "pre_post_processing_slow": (replace(HEALTHY, before=(20 * MS, 150.0), behind=30 * MS), HEALTHY),
    "requests_wait": (replace(HEALTHY, admit_every=400 * MS), HEALTHY),
    "scheduling_takes_turns": (replace(HEALTHY, schedule=int(2.5 * MS), is_async=False), HEALTHY),
    "gaps_between_steps": (replace(HEALTHY, gap=14 * MS), HEALTHY),
}


@dataclass
class Request:
    rid: str
    arrival: float
    prompt: int
    reply: int
    hit_rate: float
    dp_rank: int
    enqueued: float = 0
    waits: list = field(default_factory=list)  # in the queue: begin, end
    since: float = 0  # in the queue
    computed: int = 0
    produced: int = 0
    held: int = 0  # blocks
    iteration: int = -1
    first: float = 0
    end: float = 0
    ready: float = 0  # to decode
    transfer: tuple = ()  # start, length

    @property
    def suffix(self):
        """What the engine adds to the id."""
        return f"-{zlib.crc32(self.rid.encode()):08x}"


@dataclass
class Instance:
    """What one instance recorded."""
    name: str
    requests: list = field(default_factory=list)
    batches: list = field(default_factory=list)  # rows of batch.csv
    cache: list = field(default_factory=list)
    forwards: list = field(default_factory=list)
    status: list = field(default_factory=list)
    samples: list = field(default_factory=list)


def date(time, digits=6):
    moment = datetime.datetime.fromtimestamp(int(time) // 1_000_000, ZONE)
    return f"{moment:%Y-%m-%d %H:%M:%S}:" + f"{int(time) % 1_000_000:06d}"[:digits]


class Lane:
    """A data parallel rank: one batch after the other."""

    def __init__(self, plan, dp_rank, requests, record):
        self.plan, self.dp_rank, self.record = plan, dp_rank, record
        self.waiting, self.running, self.free = [], [], plan.blocks
        self.coming = sorted(requests, key=lambda one: one.enqueued)
        self.iterations = 0

    def blocks_for(self, request, tokens):
        return max(0, -(-tokens // self.plan.block_size) - request.held)

    def take(self, request, tokens):
        need = self.blocks_for(request, tokens)
        if need > self.free:
            return False
        self.free -= need
        request.held += need
        return True

    def drop(self, request):
        self.free += request.held
        request.held = 0

    def come(self, now):
        while self.coming and self.coming[0].enqueued <= now:
            request = self.coming.pop(0)
            request.since = request.enqueued
            self.waiting.append(request)

    def run(self):
        now = done = self.coming[0].enqueued if self.coming else 0
        admitted = None
        while self.coming or self.waiting or self.running:
            self.come(now)
            if not self.waiting and not self.running:
                now = done = max(now, self.coming[0].enqueued)
                continue
            admits = admitted is None or now - admitted >= self.plan.admit_every
            if admits:
                admitted = now
            batch, before = self.choose(now, admits)
            if not batch:
                later = [one.ready for one in self.running if one.ready > now]
                if self.waiting and self.plan.admit_every:
                    later.append(admitted + self.plan.admit_every)
                if self.coming:
                    later.append(self.coming[0].enqueued)
                now = done = min(later)
                continue
            now = done = self.execute(batch, before, now, done)

    def choose(self, now, admits):
        """The batch: (request, tokens, is_prefill), and the free blocks before it."""
        before, batch, budget = self.free, [], self.plan.most_tokens
        preempted = set()
        for request in list(self.running):
            if id(request) in preempted:
                continue
            if request.ready > now:
                continue
            if request.computed >= request.prompt:
                length = request.prompt + request.produced + 1
                while not self.take(request, length):
                    victim = self.running[-1]
                    preempted.add(id(victim))
                    self.running.remove(victim)
                    self.drop(victim)
                    victim.computed, victim.since = 0, now
                    self.waiting.insert(0, victim)
                    batch = [one for one in batch if one[0] is not victim]
                    if victim is request:
                        break
                if id(request) not in preempted:
                    batch.append((request, 1, False))
            elif budget > 0:
                tokens = min(budget, request.prompt - request.computed)
                budget -= tokens
                batch.append((request, tokens, True))
        while admits and not preempted and self.waiting and len(self.running) < self.plan.most_requests and budget > 0:
            request = self.waiting[0]
            if not self.take(request, request.prompt + request.produced + 1):
                break
            self.waiting.pop(0)
            request.waits.append((request.since, now))
            hit = int(request.prompt * request.hit_rate)
            request.computed = hit
            tokens = max(1, min(budget, request.prompt - hit))
            budget -= tokens
            self.running.append(request)
            batch.append((request, tokens, True))
        return batch, before

    def execute(self, batch, before, now, done):
        plan = self.plan
        start = now - plan.schedule if plan.is_async else now
        begin = max(start + plan.schedule, done) + (plan.gap if done else 0)
        return self.write(batch, before, start, begin, begin + self.forward_time(batch))

    def forward_time(self, batch):
        plan = self.plan
        prompts = sum(tokens for _, tokens, is_prefill in batch if is_prefill)
        decoding = sum(1 for _, _, is_prefill in batch if not is_prefill)
        return plan.step + plan.per_prompt_token * prompts + plan.per_request * decoding

    def write(self, batch, before, start, begin, forwarded):
        """A batch that is put together at `start` and runs from `begin`; when it has run."""
        plan, record = self.plan, self.record
        scheduled = start + plan.schedule
        prompts = sum(tokens for _, tokens, is_prefill in batch if is_prefill)
        decoding = sum(1 for _, _, is_prefill in batch if not is_prefill)
        end = forwarded + plan.sample
        listed = []
        for request, tokens, is_prefill in batch:
            request.iteration += 1
            listed.append({"rid": request.rid, "iter": request.iteration, "type": 0 if is_prefill else 1,
                           "num_scheduled_tokens": tokens})
        kind = ",".join(name for name, there in (("Prefill", prompts), ("Decode", decoding)) if there)
        used = plan.blocks - self.free
        common = {"res_list": listed, "batch_type": kind, "batch_size": float(len(batch)), "dp_rank": self.dp_rank,
                  "prefill_batch_size": len(batch) - decoding, "decode_batch_size": decoding,
                  "prefill_scheduled_tokens": prompts, "decode_scheduled_tokens": decoding,
                  "total_scheduled_tokens": prompts + decoding}
        blocks = {"total_blocks": plan.blocks, "used_blocks": used, "free_blocks": self.free,
                  "blocks_allocated": max(0, before - self.free), "blocks_freed": max(0, self.free - before),
                  "kvcache_usage_rate": used / plan.blocks}
        nothing = dict.fromkeys(blocks, 0)
        record.batches.append({"name": "batchFrameworkProcessing", "start": start, "end": scheduled,
                               "prof_id": 2 * self.dp_rank, **common, **blocks})
        record.batches.append({"name": "modelExec", "start": begin, "end": end, "prof_id": 2 * self.dp_rank + 1,
                               **common, **nothing})
        record.cache.append({"name": "KVCacheStatus", "start": scheduled, "dp_rank": self.dp_rank, **blocks})
        self.iterations += 1
        record.forwards.append({"name": "forward", "start": begin, "end": forwarded, "batch_size": len(batch),
                                "batch_type": kind, "forward_iter": self.iterations, "dp_rank": self.dp_rank,
                                "prof_id": 2 * self.dp_rank + 1, "rids": [one["rid"] for one in listed]})
        record.samples.append((forwarded, end, 100 + self.dp_rank))
        for state, count in (("waiting", len(self.waiting)), ("running", len(self.running)), ("swapped", 0)):
            record.status.append((start, 100 + self.dp_rank, state, count))
        for request, tokens, is_prefill in batch:
            if is_prefill:
                request.computed += tokens
                if request.computed < request.prompt:
                    continue
            request.produced += 1
            if request.produced == 1:
                request.first = end + plan.behind
                if plan.transfer:
                    request.transfer = (end, round(plan.transfer[0] + plan.transfer[1] * request.prompt))
                    request.ready = sum(request.transfer)
            if request.produced >= request.reply:
                request.end = end + plan.behind
                self.running.remove(request)
                self.drop(request)
        return end


def run_together(plan, lanes, chance):
    """Batches of all ranks begin when the last one is ready, in their collectives, and end together."""
    now = min(lane.coming[0].enqueued for lane in lanes)
    while any(lane.coming or lane.waiting or lane.running for lane in lanes):
        for lane in lanes:
            lane.come(now)
        chosen = [lane.choose(now, True) for lane in lanes]
        if not any(batch for batch, _ in chosen):
            now = min(lane.coming[0].enqueued for lane in lanes if lane.coming)
            continue

        def lag(number, planned):
            is_late = planned and planned[0] == number and chance.random() < planned[2]
            return (planned[1] if is_late else 0) + chance.randint(0, 200)

        begins = [now + plan.schedule + plan.gap + lag(number, plan.late) for number in range(len(lanes))]
        end = max(begins) + max(lane.forward_time(batch) for lane, (batch, _) in zip(lanes, chosen))
        ends = [end + lag(number, plan.late_end) for number in range(len(lanes))]
        for lane, (batch, before), begin, end in zip(lanes, chosen, begins, ends):
            if batch:
                lane.write(batch, before, now, begin, end)
            else:  # it only takes part in the collectives
                lane.iterations += 1
                lane.record.forwards.append(
                    {"name": "forward", "start": begin, "end": end, "batch_size": 0, "batch_type": "Dummy", "rids": [],
                     "forward_iter": lane.iterations, "dp_rank": lane.dp_rank, "prof_id": 2 * lane.dp_rank + 1})
        now = max(ends) + plan.sample


def instance_of(plan, name, share, seed):
    """An instance with its share of the requests."""
    chance = random.Random(seed)
    record = Instance(name)
    time = float(BEGIN)
    for number in range(round(plan.requests * share)):
        time += chance.expovariate(plan.per_second * share) * 1_000_000
        prompt = chance.randint(*plan.prompt)
        hit = 0.9 if chance.random() < plan.some_hit else chance.uniform(*plan.hit_rate)
        dp_rank = chance.choices(range(len(plan.weights)), plan.weights)[0]
        request = Request(f"{name}-{number}", round(time), prompt, chance.randint(*plan.reply), round(hit, 4), dp_rank)
        request.enqueued = request.arrival + round(plan.before[0] + plan.before[1] * prompt)
        record.requests.append(request)
    lanes = []
    for dp_rank in range(len(plan.weights)):
        of_rank = [one for one in record.requests if one.dp_rank == dp_rank]
        if of_rank:
            lanes.append(Lane(plan, dp_rank, of_rank, record))
    if plan.together:
        run_together(plan, lanes, chance)
    else:
        for lane in lanes:
            lane.run()
    for rows in (record.batches, record.cache, record.forwards):
        rows.sort(key=lambda row: row["start"])
    record.status.sort()
    return record


def tables_of(record):
    """Name: (columns, rows), with the units in the names of columns as text has them."""
    tables = {}
    columns = ["http_rid", "start_datetime", "recv_token_size", "reply_token_size", "execution_time(ms)",
               "queue_wait_time(ms)", "first_token_latency(ms)", "cache_hit_rate", "start_time(ms)"]
    tables["request"] = columns, [
        [one.rid, date(one.arrival), one.prompt, one.reply, (one.end - one.arrival) / MS, sum(end - begin for begin, end in one.waits) / MS,
         (one.first - one.arrival) / MS, one.hit_rate, float(one.arrival)]
        for one in sorted(record.requests, key=lambda one: one.arrival)]
    inner = ["batch_type", "prof_id", "batch_size", "total_blocks", "used_blocks", "free_blocks", "blocks_allocated",
             "blocks_freed", "kvcache_usage_rate", "prefill_batch_size", "decode_batch_size",
             "prefill_scheduled_tokens", "decode_scheduled_tokens", "total_scheduled_tokens", "dp_rank"]
    tables["batch"] = (
        ["name", "res_list", "start_datetime", "end_datetime", "during_time(ms)", *inner, "start_time(ms)",
         "end_time(ms)"],
        [[row["name"], str(row["res_list"]), date(row["start"]), date(row["end"]), (row["end"] - row["start"]) / MS,
          *(row[name] for name in inner), float(row["start"]), float(row["end"])] for row in record.batches])
    blocks = inner[3:9]
    tables["kvcache"] = (["name", "start_time", *blocks],
                         [[row["name"], date(row["start"]), *(row[name] for name in blocks)] for row in record.cache])
    first = min((row["start"] for row in record.forwards), default=0)
    following = {}
    for row in reversed(record.forwards):
        after = following.get(row["prof_id"])
        row["bubble"] = None if after is None else round((after - row["end"]) / MS, 2)
        following[row["prof_id"]] = row["start"]
    tables["forward"] = (
        ["name", "relative_start_time(ms)", "start_datetime", "end_datetime", "during_time(ms)", "bubble_time(ms)",
         "batch_size", "batch_type", "forward_iter", "dp_rank", "prof_id", "hostname", "start_time(ms)",
         "end_time(ms)"],
        [[row["name"], round((row["start"] - first) / MS, 2), date(row["start"]), date(row["end"]),
          (row["end"] - row["start"]) / MS, row["bubble"], row["batch_size"], row["batch_type"], row["forward_iter"],
          row["dp_rank"], row["prof_id"], "host", row["start"] / MS, row["end"] / MS] for row in record.forwards])
    origin = min((time for time, *_ in record.status), default=0)
    tables["request_status"] = (
        ["hostuid", "pid", "start_datetime", "relative_timestamp(ms)", "waiting", "running", "swapped",
         "timestamp(ms)"],
        [["host", pid, date(time), round((time - origin) / MS, 2),
          *(count if state == name else None for name in ("waiting", "running", "swapped")), round(time / MS, 2)]
         for time, pid, state, count in record.status])
    moved = [one for one in record.requests if one.transfer]
    if moved:
        tables["pd_split_kvcache"] = (
            ["domain", "rank", "rid", "block_tables", "batch_seq_len", "during_time(ms)", "start_time", "end_time"],
            [["PullKVCache", number % 4, one.rid, "[[1, 2]]", one.prompt, one.transfer[1] / MS,
              date(one.transfer[0], 3), date(sum(one.transfer), 3)] for number, one in enumerate(moved)])
        tables["pd_split_communication"] = (
            ["rid", "http_req_time(ms)", "send_request_time(ms)", "send_request_succ_time(ms)", "prefill_res_time(ms)",
             "request_end_time(ms)"],
            [[one.rid, *(date(time, 3) for time in (one.arrival, one.arrival + 100, one.arrival + 400,
                                                    one.transfer[0], one.end))] for one in moved])
    return tables


def write_csv(record, directory):
    directory.mkdir(parents=True, exist_ok=True)
    tables = tables_of(record)
    for name, (columns, rows) in tables.items():
        with open(directory / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)


def write_spans(record, directory):
    """What --span sample adds."""
    folder = directory / "span_info"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "sample.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["span_name", "start_datetime", "end_datetime", "during_time(ms)", "hostname", "pid"])
        for begin, end, pid in record.samples:
            writer.writerow(["sample", date(begin), date(end), (end - begin) / MS, "host", pid])


def write_database(record, directory):
    """profiler.db: the names of columns without units, lists as text, states of requests in a row each."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "profiler.db"
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    for name, (columns, rows) in tables_of(record).items():
        names = [column.split("(")[0] for column in columns]
        if name in ("kvcache", "pd_split_kvcache"):
            names = [{"start_time": "start_datetime", "end_time": "end_datetime"}.get(one, one) for one in names]
        if name == "request":  # the only unit that stays
            names[-1] = columns[-1]
        if name == "batch":
            names[-2:] = columns[-2:]
        if name == "request_status":
            names = ["timestamp", "QueueSize=", "status"]
            rows = [[row[2], count, state] for row in rows
                    for state, count in zip(("WAITING", "RUNNING", "SWAPPED"), row[4:7]) if count is not None]
        listed = ", ".join(f'"{one}"' for one in names)
        database.execute(f'CREATE TABLE "{name}" ({listed})')
        database.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(names))})', rows)
    database.commit()
    database.close()


API, ENGINE, WORKER = 50, 100, 200  # processes; of an engine and a worker for each data parallel rank


def events_of(record):
    """What the server records, before any parsing: (process, domain, name, start, end, attributes)."""
    events = []

    def mark(process, domain, name, start, end=None, **attributes):
        events.append((process, domain, name, start, start if end is None else end, attributes))

    for one in record.requests:
        engine = ENGINE + one.dp_rank
        mark(API, "Engine", "httpReq", one.arrival, rid=one.rid)
        mark(engine, "Schedule.KVCache", "CacheHitRate", one.enqueued, rid=one.rid, hitCache=one.hit_rate)
        for begin, end in one.waits:
            for name, at in (("Enqueue", begin), ("Dequeue", end)):
                mark(engine, "Schedule", name, at, rid=[one.rid + one.suffix], **{"scope#QueueName": "WAITING"})
        mark(API, "Engine", "detokenize", one.first, rid=[one.rid])
        mark(API, "Engine", "httpRes", one.end, rid=one.rid,
             **{"recvTokenSize=": one.prompt, "replyTokenSize=": one.reply})
    suffixes = {one.rid: one.suffix for one in record.requests}
    for row in record.batches:
        process = (ENGINE if row["name"] == "batchFrameworkProcessing" else WORKER) + row["dp_rank"]
        listed = [{**one, "rid": one["rid"] + suffixes[one["rid"]]} for one in row["res_list"]]
        mark(process, "Execute" if process >= WORKER else "Schedule", row["name"], row["start"], row["end"],
             rid=listed, batch_type=row["batch_type"])
    for row in record.cache:
        mark(ENGINE + row["dp_rank"], "Schedule.KVCache", row["name"], row["start"],
             rid=[], **{"TotalBlocks=": row["total_blocks"], "FreeBlocks=": row["free_blocks"],
                        "UsagePercent=": row["kvcache_usage_rate"]})
    for row in record.forwards:
        mark(WORKER + row["dp_rank"], "Execute", "forward", row["start"], row["end"],
             rid=row["rids"], batch_type=row["batch_type"])
    for begin, end, process in record.samples:
        mark(WORKER + process - 100, "Execute", "sample", begin, end)
    for time, process, state, count in record.status:
        mark(process, "Schedule", "Queue", time, **{"QueueSize=": count, "scope#QueueName": state.upper()})
    for number, one in enumerate(one for one in record.requests if one.transfer):
        mark(WORKER, "PullKVCache", "PullKVCache", one.transfer[0], sum(one.transfer), rid=one.rid, rank=number % 4,
             block_tables="[[1, 2]]", seq_len=one.prompt)
        for name, time in (("receiveReq", one.arrival), ("sendReqToD", one.arrival + 100),
                           ("sendReqToDSucc", one.arrival + 400), ("prefillRes", one.transfer[0]),
                           ("decodeRes", one.end)):
            mark(API, "Communication", name, time, rid=one.rid)
    return sorted(events, key=lambda event: event[3])


def write_unparsed(record, directory, form):
    """ms_service_*.db, one of each process."""
    directory.mkdir(parents=True, exist_ok=True)
    by_process = {}
    for event in events_of(record):
        by_process.setdefault(event[0], []).append(event)
    for process, events in by_process.items():
        path = directory / f"ms_service_host-{process}.db"
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE Meta (name TEXT, value TEXT, slice TEXT)")
        meta = [("hostname", "host"), ("ppid", "1")]
        if process >= ENGINE:
            meta.append(("dpRankId", str(process % 100)))
        database.executemany("INSERT INTO Meta VALUES (?, ?, '')", meta)
        if form == "slices":
            database.execute("CREATE TABLE slice (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp INTEGER, "
                             "duration INTEGER, name TEXT, depth INTEGER, track_id INTEGER, cat TEXT, args TEXT, "
                             "cname TEXT, end_time INTEGER, flag_id TEXT, pid INTEGER, tid INTEGER)")
            database.executemany(
                "INSERT INTO slice (timestamp, duration, name, depth, track_id, cat, args, cname, end_time, flag_id, "
                "pid, tid) VALUES (?, ?, ?, 0, 0, ?, ?, '', ?, '', ?, ?)",
                [(round(begin) * 1000, (round(end) - round(begin)) * 1000, name, domain,
                  json.dumps({**attributes, "type": 2 if end > begin else 0}), round(end) * 1000, process, process)
                 for process, domain, name, begin, end, attributes in events])
        else:
            database.execute("CREATE TABLE Mstx (message TEXT, flag INTEGER, markId INTEGER, timestamp INTEGER, "
                             "endTimestamp INTEGER, pid INTEGER, tid INTEGER)")
            database.executemany(
                "INSERT INTO Mstx VALUES (?, 2, ?, ?, ?, ?, ?)",
                [(json.dumps({"domain": domain, "name": name, **attributes})[1:-1].replace('"', "^") + ",", number,
                  round(begin) * 1000, round(end) * 1000, process, process)
                 for number, (process, domain, name, begin, end, attributes) in enumerate(events)])
        database.commit()
        database.close()


def write_trace(record, directory):
    """chrome_tracing.json. It has the blocks of the cache as a counter without their sum, and no hits of it."""
    directory.mkdir(parents=True, exist_ok=True)
    trace, ranks = [], {}
    for process, domain, name, begin, end, attributes in events_of(record):
        attributes = dict(attributes)
        rid = attributes.pop("rid", None)
        if process >= ENGINE:
            ranks[process] = process % 100
        common = {"name": name, "ts": begin, "pid": process}
        dates = {"start_datetime": date(begin), "end_datetime": date(end)}
        if domain == "Schedule.KVCache":
            trace.append({**common, "ph": "C", "tid": domain, "args": {"Device Block": attributes.get("FreeBlocks=", 0)}})
        elif domain == "PullKVCache":
            trace.append({**common, "ph": "X", "pid": domain, "tid": f"Decode Device rank_{attributes['rank']}",
                          "dur": end - begin, "args": {**attributes, "rid": rid, **dates}})
        else:
            args = {**attributes, **dates, "tid": process}
            if isinstance(rid, list):
                args.update(batch_size=str(len(rid)), res_list=rid)
            elif rid is not None:
                args["res_list"] = rid
            trace.append({**common, "ph": "X" if end > begin else "I", "dur": end - begin, "tid": f"{domain}({process})",
                          "args": args})
            for one in rid if isinstance(rid, list) else [rid] if rid else []:
                one = one["rid"] if isinstance(one, dict) else one
                trace.append({"name": f"flow_{one}", "ph": "t", "ts": begin, "id": one, "cat": one, "pid": process,
                              "tid": f"{domain}({process})"})
    for process, rank in ranks.items():
        trace.append({"name": "process_labels", "ph": "M", "pid": process, "args": {"labels": f"host,dp{rank}"}})
    (directory / "chrome_tracing.json").write_text(json.dumps(trace))


def records_of(plan, seed=1):
    total = sum(plan.instances)
    return [instance_of(plan, f"instance{number}", share / total, seed + number)
            for number, share in enumerate(plan.instances)]


def write(plan, directory, form="csv", seed=1, spans=True):
    """Writes the records, of several instances each into a folder of its own, and returns them."""
    records = records_of(plan, seed)
    for record in records:
        folder = Path(directory) / record.name if len(records) > 1 else Path(directory)
        if form == "db":
            write_database(record, folder)
        elif form == "trace":
            write_trace(record, folder)
        elif form in ("slices", "marks"):
            write_unparsed(record, folder, form)
        else:
            write_csv(record, folder)
        if spans and form in ("csv", "db"):
            write_spans(record, folder)
    return records


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--cause", choices=sorted(PLANS))
    parser.add_argument("--form", choices=("csv", "db", "slices", "marks", "trace"), default="csv")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    plan = PLANS[options.cause][0] if options.cause else HEALTHY
    write(plan, options.directory, options.form, options.seed)


if __name__ == "__main__":
    main()
