# SPDX-License-Identifier: Apache-2.0
"""The database of a capture of many steps: a database of one step in memory, of which SQLite
itself makes the rows of all others.
"""
import json
import re
import sqlite3

import make_captures as one
from training_step import IDS, TrainingStep

MEMORY = "file:{}?mode=memory&cache=shared"
STEP_NS = TrainingStep.step_length * 1000000
# Ids of strings with the number of a step in them begin here; every step has as many.
NUMBERED, NUMBERED_EACH = 1 << 29, 16
MORE_SCHEMA = """
CREATE TABLE ACC_PMU (accId INTEGER,readBwLevel INTEGER,writeBwLevel INTEGER,
  readOstLevel INTEGER,writeOstLevel INTEGER,timestampNs NUMERIC,deviceId INTEGER);
CREATE TABLE NPU_MODULE_MEM (moduleId INTEGER,timestampNs INTEGER,totalReserved NUMERIC,
  deviceId INTEGER);
CREATE TABLE MSTX_EVENTS (startNs INTEGER,endNs INTEGER,eventType INTEGER,rangeId INTEGER,
  category INTEGER,message INTEGER,globalTid INTEGER,endGlobalTid INTEGER,domainId INTEGER,
  connectionId INTEGER);"""
INDEXES = """
CREATE INDEX TaskIndex ON TASK (startNs,globalTaskId);
CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId);"""
# A real capture has a call chain for every operator, even where two are the same.
OWN_CHAINS = """
CREATE TEMP TABLE chains AS SELECT api.rowid AS id, stack, stackDepth
  FROM PYTORCH_API AS api JOIN PYTORCH_CALLCHAINS AS chain ON api.callchainId = chain.id;
DELETE FROM PYTORCH_CALLCHAINS;
INSERT INTO PYTORCH_CALLCHAINS SELECT * FROM chains;
UPDATE PYTORCH_API SET callchainId = rowid WHERE callchainId IS NOT NULL;
DROP TABLE chains;"""
MSTX_CONNECTIONS = 4000000000
LEVELS = {"AscendCL": 20000, "Node": 10000}
METRICS = [f"{core}_{unit}_{what}" for core in ("aic", "aiv") for what in ("time", "ratio")
           for unit in ("scalar", "mte1", "mte3", "fixpipe", "icache")]
# What a later step adds to a column.
SHIFTS = {":time": {"startNs", "endNs", "timestamp", "timestampNs", "allocationTime", "releaseTime",
                    "activeReleaseTime"},
          ":id": {"connectionId", "callchainId", "globalTaskId", "opId", "rangeId"}}
OWN_ID = {"PYTORCH_CALLCHAINS": ":id", "CONNECTION_IDS": ":id", "STEP_TIME": ":step"}
TEXT_OF_STEP = f"""replace(replace(value, '{IDS}', {IDS} + :step),
                           'ProfilerStep#1', 'ProfilerStep#' || (1 + :step))"""


def template(run, name, rank, mstx):
    """A database in memory with one step, which other connections find by its name."""
    db = sqlite3.connect(MEMORY.format(name), isolation_level=None, uri=True)
    db.executescript(one.db_sql(run) + MORE_SCHEMA + INDEXES)
    db.execute("UPDATE RANK_DEVICE_MAP SET rankId = ?", (rank,))
    db.execute("UPDATE META_DATA SET value = ? WHERE name = 'parallel_group_info'",
               (json.dumps(one.metadata(rank)["parallel_group_info"]),))
    db.executescript(OWN_CHAINS)
    add_calls(db, run)
    add_counters(db)
    if mstx:
        add_modules(db, run)
    number_strings(db)
    return db


def bytes_in(db):
    """Without the pages of tables that do not grow and the room on the last pages of the others."""
    pages, tables = (db.execute(sql).fetchone()[0] for sql in
                     ("PRAGMA page_count", "SELECT count(*) FROM sqlite_master"))
    return (pages - tables) * 4096


def text_id(db, value):
    row = db.execute("SELECT id FROM STRING_IDS WHERE value = ?", (value,)).fetchone()
    if row:
        return row[0]
    return db.execute("INSERT INTO STRING_IDS (value) VALUES (?)", (value,)).lastrowid


def add_calls(db, run):
    (table, columns), = (line.split(" ", 1) for line in one.SCHEMA if line.startswith("CANN_API"))
    db.execute(f"CREATE TABLE {table} ({columns})")
    db.execute(f"INSERT OR IGNORE INTO ENUM_API_TYPE VALUES ({LEVELS['Node']}, 'node')")
    db.executemany("INSERT INTO CANN_API VALUES (?,?,?,?,?,?)",
                   [(one.EPOCH + start, one.EPOCH + start + dur, LEVELS[level],
                     one.PID << 32 | one.DEQUEUE, connection, text_id(db, name))
                    for connection, level, name, start, dur, _ in run.cann_calls()])


def add_counters(db):
    for name in METRICS:
        db.execute("INSERT INTO TASK_PMU_INFO SELECT globalTaskId, ?, globalTaskId * 37 % 1000 "
                   "FROM COMPUTE_TASK_INFO", (text_id(db, name),))
    times = [one.EPOCH + STEP_NS * i // 1000 for i in range(1000)]
    db.executemany("INSERT INTO ACC_PMU VALUES (0, 0, 0, 0, 0, ?, 0)", [(time,) for time in times])
    db.executemany("INSERT INTO NPU_MODULE_MEM VALUES (?, ?, 0, 0)",
                   [(number % 78, time) for number, time in enumerate(times)])


def add_modules(db, run):
    domain, thread = text_id(db, "Module"), one.PID << 32 | one.MAIN
    for item in run.python:
        kind = re.fullmatch(r"nn\.Module: (\w+)_\d+|.*functional\.py\(\d+\): (\w+)", item.name)
        if kind:
            db.execute("INSERT INTO MSTX_EVENTS VALUES (?,?,2,?,?,?,?,?,?,?)",
                       (one.EPOCH + item.start, one.EPOCH + item.start + item.dur, item.id,
                        one.NO_MODEL, text_id(db, kind[1] or kind[2]), thread, thread, domain,
                        item.id + MSTX_CONNECTIONS))


def number_strings(db):
    """Moves the strings that are others in every step behind all strings that are not."""
    rows = db.execute(f"SELECT id FROM STRING_IDS WHERE value LIKE '%{IDS}%' "
                      "OR value = 'ProfilerStep#1' ORDER BY id").fetchall()
    assert len(rows) <= NUMBERED_EACH
    for number, (ident,) in enumerate(rows, NUMBERED):
        db.execute("UPDATE STRING_IDS SET id = ? WHERE id = ?", (number, ident))
        for table, column in (("PYTORCH_API", "name"), ("COMMUNICATION_OP", "opName"),
                              ("COMMUNICATION_TASK_INFO", "name")):
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (number, ident))


def copy_statement(table, columns, source):
    """Adds the rows of a later step to `table`; None for a table of things that do not repeat."""
    if table == "STRING_IDS":
        return (f"INSERT INTO STRING_IDS SELECT id + {NUMBERED_EACH} * :step, {TEXT_OF_STEP} "
                f"FROM {source}.STRING_IDS WHERE id >= {NUMBERED}")
    shifts = {column: shift for shift, names in SHIFTS.items() for column in names}
    if table in OWN_ID:
        shifts["id"] = OWN_ID[table]
    if not shifts.keys() & set(columns):
        return None
    for column in ("name", "opName"):
        shifts[column] = f"({column} >= {NUMBERED}) * {NUMBERED_EACH} * :step"
    values = [f"{column} + {shifts[column]}" if column in shifts else column for column in columns]
    return f"INSERT INTO {table} SELECT {', '.join(values)} FROM {source}.{table}"


def write_db(path, runs, size, rank, mstx):
    """Writes the database of about `size` bytes; `runs` take turns."""
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path, isolation_level=None, uri=True)
    db.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
    templates = [template(run, f"step{number}", rank, mstx) for number, run in enumerate(runs)]
    for number in range(len(templates)):
        db.execute(f"ATTACH '{MEMORY.format(f'step{number}')}' AS step{number}")
    db.execute("BEGIN")
    steps = max(1, size // bytes_in(templates[0]))
    schema = db.execute("SELECT name, sql FROM step0.sqlite_master WHERE type = 'table' "
                        "ORDER BY rowid").fetchall()
    for table, sql in schema:
        db.execute(sql)
        db.execute(f"INSERT INTO main.{table} SELECT * FROM step0.{table}")
        columns = [row[1] for row in db.execute(f"PRAGMA step0.table_info({table})")]
        copies = [copy_statement(table, columns, f"step{number}") for number in range(len(runs))]
        for step in range(1, steps if copies[0] else 1):
            db.execute(copies[step % len(runs)],
                       {"step": step, "time": step * STEP_NS, "id": step * 100000})
    db.execute("UPDATE SESSION_TIME_INFO SET endTimeNs = startTimeNs + ?", ((steps + 1) * STEP_NS,))
    db.execute("COMMIT")
    db.executescript(INDEXES)
    for connection in (db, *templates):  # the databases in memory go with their last connection
        connection.close()
    return steps
