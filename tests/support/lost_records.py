# SPDX-License-Identifier: Apache-2.0
"""Damages parsed captures and traces at random, as disks, copies, profilers and people do: halved tables, zeroed blocks, renamed
columns, doubled and deleted rows, files of another rank or run, records of the device that the profiler lost.

Each way takes what is to be damaged (a Rank or a Job below) and a random.Random, and returns what it did, or None where there is
nothing of its kind. The same numbers do the same to the same capture. Files are replaced, never changed in place: a copy of a
capture may share them with it.
"""

import csv
import gzip
import io
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

PAGE = 4096
TRACE, KERNELS = "trace_view.json", "kernel_details.csv"
# Of a trace: what a renamed key is of, in place of a column.
EVENT_KEYS = ("dur", "ts", "args", "cat", "name", "id", "tid")
ARGUMENT_KEYS = ("correlation", "External id", "stream", "device", "Task Id", "Stream Id", "Physic Stream Id", "Input Dims", "Call stack",
                 "connection_id", "Collective name", "Group size", "grid", "block")
# What the commands read most: damaged three times of four, for much of what else is there changes no number.
MOSTLY = {KERNELS, "communication.json", "TASK", "COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_TASK_INFO", "CANN_API",
          "PYTORCH_API", "CONNECTION_IDS", "STEP_TIME", "STRING_IDS", "TASK_PMU_INFO", "CommAnalyzerTime", "ascend_pytorch_profiler.db"}
# Databases of the profiler: what refers to a task of the device.
TASK_DETAILS = ("COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "TASK_PMU_INFO")


class Rank:
    """The files of one rank of a copy; `stale`: where the same files of another run are, None where there are none."""

    def __init__(self, path, form, stale=None):
        self.path, self.form, self.stale = Path(path), form, stale

    def files(self, *suffixes):
        """Those that carry records, in one order; a trace of a GPU is its only file."""
        if self.path.is_file():
            return [self.path] if not suffixes or self.path.suffix in suffixes else []
        found = sorted((self.path / "ASCEND_PROFILER_OUTPUT").iterdir())
        return [path for path in found if path.suffix in (suffixes or (".csv", ".json", ".db")) and path.stat().st_size > 0]

    def trace(self):
        return self.path if self.path.is_file() else self.path / "ASCEND_PROFILER_OUTPUT" / TRACE


def role(path):
    """A name that the same file of another rank shares: "ascend_pytorch_profiler.db"."""
    return re.sub(r"_?\d+(?=\.db$)", "", path.name)


def pick(chance, names, key=lambda name: name):
    chosen = [name for name in names if key(name) in MOSTLY]
    return chance.choice(chosen if chosen and chance.random() < 0.75 else names)


def put(path, content):
    path.unlink()
    path.write_bytes(content)


# ---- any file

def block_zeroed(rank, chance):
    path = pick(chance, rank.files(), role)
    data = path.read_bytes()
    size = min(len(data), chance.choice((64, 512, PAGE)))
    begin = chance.randrange(len(data) - size + 1)
    put(path, data[:begin] + bytes(size) + data[begin + size:])
    return f"{path.name}: bytes {begin} to {begin + size} of {len(data)} zeroed"


def cut_at_page(rank, chance):
    """Behind the first page: what is shorter loses half its lines."""
    path = pick(chance, rank.files(), role)
    data = path.read_bytes()
    pages = (len(data) - 1) // PAGE
    size = PAGE * chance.randint(1, pages) if pages else len(data) // 2
    put(path, data[:size])
    return f"{path.name}: cut to {size} of {len(data)} bytes"


def file_of_other_run(rank, chance):
    """A file that a copy left of an earlier run, beside others of this one: a file that stands alone contradicts nothing."""
    if rank.stale is None or len(rank.files()) < 2:
        return None
    there = {role(path): path for path in Rank(rank.stale, rank.form).files()}
    mine = [path for path in rank.files() if role(path) in there and path.read_bytes() != there[role(path)].read_bytes()]
    if not mine:
        return None
    path = chance.choice(mine)
    put(path, there[role(path)].read_bytes())
    return f"{path.name}: that of another run"


def swapped_between_ranks(job, chance):
    """Two ranks have each other's file; the names stay."""
    if len(job) < 2:
        return None
    one, other = chance.sample(job, 2)
    of_other = {role(path): path for path in other.files()}
    shared = [path for path in one.files() if one.path.is_file() or role(path) in of_other]
    if not shared:
        return None
    first = chance.choice(shared)
    second = other.path if one.path.is_file() else of_other[role(first)]
    a, b = first.read_bytes(), second.read_bytes()
    put(first, b)
    put(second, a)
    return f"{first.name} and {second.name} of two ranks swapped"


# ---- tables as text

def read_table(path):
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def write_table(path, rows):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    put(path, text.getvalue().encode())


def some(chance, count):
    """Rows from the middle: where they begin and end."""
    size = chance.randint(1, max(1, count // 3))
    begin = chance.randrange(max(1, count - size))
    return begin, min(count, begin + size)


def on_rows(change):
    """In a table of text; change(rows without the header, chance) returns rows and words, or None."""
    def damage(rank, chance):
        tables = [path for path in rank.files(".csv") if len(read_table(path)) > 2]
        if not tables:
            return None
        path = pick(chance, tables, role)
        header, *rows = read_table(path)
        rows, words = change(rows, chance)
        write_table(path, [header, *rows])
        return f"{path.name}: {words}"
    return damage


def halve(rows, _):
    return rows[:len(rows) // 2], f"{len(rows) // 2} of {len(rows)} rows kept"


def delete(rows, chance):
    begin, end = some(chance, len(rows))
    return rows[:begin] + rows[end:], f"rows {begin} to {end} of {len(rows)} deleted"


def double(rows, chance):
    begin, end = some(chance, len(rows))
    return rows[:end] + rows[begin:], f"rows {begin} to {end} of {len(rows)} doubled"


def drop_all(rows, _):
    return [], f"{len(rows)} rows deleted, the header is left"


def text_column_renamed(rank, chance):
    path = pick(chance, rank.files(".csv"), role)
    header, *rows = read_table(path)
    at = chance.randrange(len(header))
    was, header[at] = header[at], header[at] + "_x"
    write_table(path, [header, *rows])
    return f'{path.name}: column "{was}" renamed'


# ---- events of traces

def read_events(path):
    document = json.loads(path.read_bytes())
    return document, document if isinstance(document, list) else document["traceEvents"]


def write_events(path, document, events):
    put(path, json.dumps(events if isinstance(document, list) else {**document, "traceEvents": events}).encode())


def on_events(change):
    """In a trace; what says of processes and threads stays."""
    def damage(rank, chance):
        path = rank.trace()
        document, events = read_events(path)
        told = [event for event in events if event.get("ph") == "M"]
        rest, words = change([event for event in events if event.get("ph") != "M"], chance)
        write_events(path, document, told + rest)
        return f"{path.name}: {words.replace('rows', 'events')}"
    return damage


def key_renamed(rank, chance):
    """In every event of one category that has it."""
    path = rank.trace()
    document, events = read_events(path)
    places = sorted({(str(event.get("cat", "")), where, key) for event in events if event.get("ph") == "X"
                     for where, keys in (("", EVENT_KEYS), ("args", ARGUMENT_KEYS))
                     for key in keys if key in (event.get("args") or {} if where else event)})
    if not places:
        return None
    category, where, key = chance.choice(places)
    for event in events:
        holder = event.get("args") or {} if where else event
        if event.get("ph") == "X" and str(event.get("cat", "")) == category and key in holder:
            holder[key + "_x"] = holder.pop(key)
    write_events(path, document, events)
    return f'{path.name}: key "{key}" of "{category or "no category"}" renamed'


# ---- records of the device that the profiler lost: their launches stay

def lost(chance, times):
    """A test for times: those of a window, or one record in some."""
    first, last = min(times), max(times)
    if chance.random() < 0.5:
        length = (last - first) * chance.uniform(0.1, 0.6)
        begin = first + (last - first - length) * chance.choice((0.0, 1.0, chance.random()))
        return (lambda time: begin <= time <= begin + length), "of a window"
    every, at = chance.randint(2, 6), chance.random()
    order = {time: place for place, time in enumerate(sorted(set(times)))}
    return (lambda time: (order[time] + int(at * every)) % every == 0), f"one in {every}"


def time_of(event):
    return float(event["ts"])


def gpu_records_lost(rank, chance):
    path = rank.trace()
    document, events = read_events(path)
    work = [event for event in events if event.get("ph") == "X" and event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    if len(work) < 3:
        return None
    is_lost, words = lost(chance, [time_of(event) for event in work])
    gone = [event for event in work if is_lost(time_of(event))]
    ends = {(event["ts"], event["pid"], event["tid"]) for event in gone}
    drop = {id(event) for event in gone}
    kept = [event for event in events if id(event) not in drop
            and not (event.get("ph") == "f" and (event["ts"], event["pid"], event["tid"]) in ends)]
    write_events(path, document, kept)
    return f"{path.name}: {len(gone)} of {len(work)} records of the device lost, {words}"


def text_records_lost(rank, chance):
    """From the trace with the ends of their arrows, and from the table of kernels."""
    path = rank.trace()
    document, events = read_events(path)
    hardware = {event["pid"] for event in events if event.get("ph") == "M" and event.get("name") == "process_name"
                and event["args"].get("name") == "Ascend Hardware"}
    work = [event for event in events if event.get("ph") == "X" and event.get("pid") in hardware]
    if len(work) < 3:
        return None
    is_lost, words = lost(chance, [time_of(event) for event in work])
    gone = {time_of(event) for event in work if is_lost(time_of(event))}
    kept = [event for event in events if not (event.get("pid") in hardware and event.get("ph") in "Xf" and time_of(event) in gone)]
    write_events(path, document, kept)
    table = path.with_name(KERNELS)
    if table.is_file():
        header, *rows = read_table(table)
        start = header.index("Start Time(us)")
        write_table(table, [header, *(row for row in rows if float(row[start]) not in gone)])
    return f"{path.name}, {KERNELS}: {len(gone)} of {len(work)} records of the device lost, {words}"


# ---- tables of databases

def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def on_database(change):
    """change(connection, chance) returns words, or None. The file is the database itself: nothing of it lies beside."""
    def damage(rank, chance):
        path = pick(chance, rank.files(".db"), role)
        put(path, path.read_bytes())
        for beside in ("-wal", "-shm"):
            path.with_name(path.name + beside).unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            words = change(connection, chance)
            connection.commit()
        return words and f"{path.name}: {words}"
    return damage


def filled_tables(connection, least=2):
    names = [name for name, in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    counts = {name: connection.execute(f"SELECT COUNT(*) FROM {quoted(name)}").fetchone()[0]
              for name in names if not name.startswith("sqlite_")}
    return {name: count for name, count in counts.items() if count >= least}


def rows_of(connection, table):
    return [row for row, in connection.execute(f"SELECT rowid FROM {quoted(table)} ORDER BY rowid")]


def without_rows(cut):
    """cut(row ids, chance) returns those to delete and words."""
    def change(connection, chance):
        tables = filled_tables(connection)
        if not tables:
            return None
        table = pick(chance, sorted(tables))
        gone, words = cut(rows_of(connection, table), chance)
        connection.executemany(f"DELETE FROM {quoted(table)} WHERE rowid = ?", [(row,) for row in gone])
        return f"{table}: {words}"
    return on_database(change)


def second_half(rows, _):
    return rows[len(rows) // 2:], f"{len(rows) // 2} of {len(rows)} rows kept"


def middle(rows, chance):
    begin, end = some(chance, len(rows))
    return rows[begin:end], f"rows {begin} to {end} of {len(rows)} deleted"


def double_rows(connection, chance):
    """In tables without a key: a key is not given twice."""
    tables = [name for name in sorted(filled_tables(connection))
              if not any(column[5] for column in connection.execute(f"PRAGMA table_info({quoted(name)})"))]
    if not tables:
        return None
    table = pick(chance, tables)
    rows = rows_of(connection, table)
    begin, end = some(chance, len(rows))
    connection.execute(f"INSERT INTO {quoted(table)} SELECT * FROM {quoted(table)} WHERE rowid BETWEEN ? AND ?", (rows[begin], rows[end - 1]))
    return f"{table}: rows {begin} to {end} of {len(rows)} doubled"


def rename_column(connection, chance):
    tables = filled_tables(connection, 1)
    if not tables:
        return None
    table = pick(chance, sorted(tables))
    column = chance.choice([row[1] for row in connection.execute(f"PRAGMA table_info({quoted(table)})")])
    connection.execute(f"ALTER TABLE {quoted(table)} RENAME COLUMN {quoted(column)} TO {quoted(column + '_x')}")
    return f'{table}: column "{column}" renamed'


def lose_tasks(connection, chance):
    """The exporter never saw them: the numbers of the other rows have no gap."""
    tables = filled_tables(connection)
    if "TASK" not in tables:
        return None
    tasks = connection.execute("SELECT startNs, globalTaskId FROM TASK").fetchall()
    is_lost, words = lost(chance, [start for start, _ in tasks])
    gone = {task for start, task in tasks if is_lost(start)}
    for table in ("TASK", *TASK_DETAILS):
        if table not in tables:
            continue
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({quoted(table)})")]
        if "globalTaskId" not in names:
            continue
        at = names.index("globalTaskId")
        rows = connection.execute(f"SELECT * FROM {quoted(table)} ORDER BY rowid").fetchall()
        connection.execute(f"DELETE FROM {quoted(table)}")
        connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({','.join('?' * len(names))})",
                               [row for row in rows if row[at] not in gone])
    return f"TASK and its details: {len(gone)} of {len(tasks)} records of the device lost, {words}"


# Form -> kind -> way; those of JOB take the ranks of a job.
ANY = {"block zeroed": block_zeroed, "cut at a page": cut_at_page, "swapped between ranks": swapped_between_ranks}
JOB = {"swapped between ranks"}
WAYS = {
    "text": {**ANY, "file of another run": file_of_other_run, "table halved": on_rows(halve), "rows deleted": on_rows(delete), "rows doubled": on_rows(double),
             "header only": on_rows(drop_all), "column renamed": text_column_renamed, "trace halved": on_events(halve),
             "events deleted": on_events(delete), "events doubled": on_events(double), "key renamed": key_renamed,
             "device records lost": text_records_lost},
    "database": {**ANY, "file of another run": file_of_other_run, "table halved": without_rows(second_half), "rows deleted": without_rows(middle),
                 "rows doubled": on_database(double_rows),
                 "header only": without_rows(lambda rows, _: (rows, f"{len(rows)} rows deleted, the columns are left")),
                 "column renamed": on_database(rename_column), "device records lost": on_database(lose_tasks)},
    "gpu": {**ANY, "trace halved": on_events(halve), "events deleted": on_events(delete), "events doubled": on_events(double),
            "header only": on_events(drop_all), "key renamed": key_renamed, "device records lost": gpu_records_lost},
}
