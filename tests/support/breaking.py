# SPDX-License-Identifier: Apache-2.0
"""Breaks captures, each in one way: what killed jobs, full disks, other versions and other people
leave behind.

TEXT, GPU and DATABASES name the ways. Each is a function of the path of a capture, which is a copy.
"""

import gzip
import json
import os
import socket
import sqlite3

from captures import DATABASE

OUTPUT = "ASCEND_PROFILER_OUTPUT"
TRACE, KERNELS, TRANSFERS = "trace_view.json", "kernel_details.csv", "communication.json"
SIDE_FILES = (KERNELS, TRANSFERS, "memory_record.csv", "operator_memory.csv", "op_statistic.csv")
HUGE = "9" * 30
ODD_NAMES = ("=1+1", "@SUM(A1)", "\x1b[31mred\x1b[0m", "two\nlines", "tab\there", "\u202egpj.exe",
             "\u009b5m", "'; DROP TABLE TASK; --", '"quoted"', "<b>&amp;</b>", "a|b`c`",
             "../../escaped", "/etc/passwd", "%s%n{0}", "_x0041_", "", " ", "\U0001f600", "\x00nul")


# ---- ways to change a file


def cut(path, share):
    os.truncate(path, int(path.stat().st_size * share))


def replace(path, old, new, count=-1):
    content = path.read_bytes()
    if old not in content:
        raise ValueError(f"{path} has no {old}")
    path.write_bytes(content.replace(old, new, count))


def file_in(capture, name):
    """A file of the profiler's output; a capture of a GPU is its trace."""
    return capture / OUTPUT / name if capture.is_dir() else capture


def edit_events(edit, every=7):
    """Changes every n-th event with a time; `edit` returns the event's new text, or changes it."""
    def breaks(capture):
        trace = file_in(capture, TRACE)
        document = json.loads(trace.read_text(encoding="utf-8"))
        events = document if isinstance(document, list) else document["traceEvents"]
        timed = [event for event in events if "ts" in event and event["ph"] != "M"]
        texts = {id(event): edit(event) for event in timed[3::every]}
        text = "[" + ",\n".join(texts.get(id(event)) or json.dumps(event) for event in events) + "]"
        if document is not events:
            text = json.dumps({**document, "traceEvents": "EVENTS"}).replace('"EVENTS"', text)
        trace.write_text(text, encoding="utf-8")
    return breaks


def with_number(key, number):
    """Events in which a number is this text."""
    def edit(event):
        event[key] = "NUMBER"
        return json.dumps(event).replace('"NUMBER"', number)
    return edit_events(edit)


def with_value(key, value):
    return edit_events(lambda event: event.update({key: value}))


def trace_of(content):
    """A trace made of the events of the capture, or of something else."""
    def breaks(capture):
        trace = file_in(capture, TRACE)
        trace.write_bytes(content(trace.read_bytes()))
    return breaks


def cells(name, column, value, rows=(1, 4)):
    """Another value in some rows of a table."""
    def breaks(capture):
        path = capture / OUTPUT / name
        lines = path.read_text(encoding="utf-8").splitlines()
        at = lines[0].split(",").index(column)
        for row in rows:
            line = lines[row].split(",")  # the columns in question are left of those with commas
            line[at] = value
            lines[row] = ",".join(line)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return breaks


def in_place_of(name, make):
    """Something that is no file in its place."""
    def breaks(capture):
        path = file_in(capture, name)
        path.unlink()
        make(path)
    return breaks


def listen(path):
    """A socket; its name may be too long for one, but not within its directory."""
    before = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(path.name)
    finally:
        os.chdir(before)


def link_out(*parts):
    """The file lies elsewhere, where the capture's link leads to."""
    def breaks(capture):
        path = capture.joinpath(*parts)
        elsewhere = capture.parent / "elsewhere" / path.name
        elsewhere.parent.mkdir(exist_ok=True)
        path.rename(elsewhere)
        path.symlink_to(elsewhere)
    return breaks


def link_within(capture):
    (capture / "store").mkdir()
    for path in list((capture / OUTPUT).iterdir()):
        path.rename(capture / "store" / path.name)
        path.symlink_to(os.path.join("..", "store", path.name))


def loops(capture):
    (capture / OUTPUT / "loop").symlink_to("..")
    (capture / "self").symlink_to("self")


def without(*names):
    def breaks(capture):
        for name in names:
            (capture / OUTPUT / name).unlink()
    return breaks


def no_output(capture):
    for path in (capture / OUTPUT).iterdir():
        path.unlink()
    (capture / OUTPUT).rmdir()


def empty(*names):
    return lambda capture: [(capture / OUTPUT / name).write_bytes(b"") for name in names]


def deep_modules(trace):
    """Paths of modules grow with each level."""
    events = json.loads(trace)
    known = next(event for event in events if event.get("cat") == "python_function")
    levels, begin = 1000, float(known["ts"])  # among the other events
    for level in range(levels):
        events.append({**known, "name": f"nn.Module: Level_{level}", "dur": 2 * (levels - level),
                       "ts": str(begin + level)})
    return json.dumps(events).encode()


def deep(event):
    event["args"] = "DEEP"
    return json.dumps(event).replace('"DEEP"', "[" * 500 + "]" * 500)


def bomb(capture):
    """Two hundred kilobytes that unpack to two hundred megabytes."""
    path = capture / OUTPUT / TRACE
    path.unlink()
    path.with_suffix(".json.gz").write_bytes(gzip.compress(b"[" + b" " * 20_000_000) * 10)


def odd_event_names(capture):
    names = iter(ODD_NAMES * 4)
    edit_events(lambda event: event.update(name=next(names)), every=5)(capture)


def odd_kernel_names(capture):
    for row, name in enumerate(ODD_NAMES[:8], 1):
        quoted = name.replace('"', '""').replace("\n", " ")
        cells(KERNELS, "Type", f'"{quoted}"', rows=(row,))(capture)


EVENTS = {  # of any trace
    "nan": with_number("dur", "NaN"),
    "infinity": with_number("dur", "1e999"),
    "beyond int64": with_number("ts", HUGE),
    "negative durations": with_value("dur", -5.5),
    "times that are texts": with_value("ts", "soon"),
    "times that are lists": with_value("ts", [1, {"a": None}]),
    "names that are numbers": with_value("name", 7),
    "arguments that are texts": with_value("args", "none"),
    "long names": edit_events(lambda event: event.update(name="x" * 100_000), every=40),
    "odd names": odd_event_names,
}

TEXT = {
    **EVENTS,
    "truncated trace": lambda capture: cut(capture / OUTPUT / TRACE, 0.5),
    "truncated json": lambda capture: cut(capture / OUTPUT / TRANSFERS, 0.5),
    "truncated table": lambda capture: cut(capture / OUTPUT / KERNELS, 0.5),
    "empty trace": empty(TRACE),
    "empty tables": empty(*SIDE_FILES),
    "no trace": without(TRACE),
    "no side files": without(*SIDE_FILES),
    "no output": no_output,
    "directory as trace": in_place_of(TRACE, lambda path: path.mkdir()),
    "directory as table": in_place_of(KERNELS, lambda path: path.mkdir()),
    "pipe as trace": in_place_of(TRACE, os.mkfifo),
    "pipe as table": in_place_of(KERNELS, os.mkfifo),
    "socket as trace": in_place_of(TRACE, listen),
    "device as table": in_place_of(KERNELS, lambda path: path.symlink_to("/dev/zero")),
    "trace that links to itself": in_place_of(TRACE, lambda path: path.symlink_to(path.name)),
    "table that links to itself": in_place_of(KERNELS, lambda path: path.symlink_to(path.name)),
    "trace outside": link_out(OUTPUT, TRACE),
    "table outside": link_out(OUTPUT, KERNELS),
    "settings outside": link_out("profiler_info_0.json"),
    "metadata outside": link_out("profiler_metadata.json"),
    "links within": link_within,
    "loops of directories": loops,
    "short rows": lambda capture: replace(capture / OUTPUT / KERNELS, b",AI_CORE,", b"\n", 1),
    "missing column": lambda capture: replace(capture / OUTPUT / KERNELS, b"Duration(us)", b"Time"),
    "unbalanced quotes": lambda capture: replace(capture / OUTPUT / KERNELS, b",Name,", b',"Name,'),
    "zero bytes": lambda capture: replace(capture / OUTPUT / KERNELS, b",AI_CORE,", b",\0,", 1),
    "byte order marks": lambda capture: [path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
                                         for path in (capture / OUTPUT).iterdir()],
    "other line ends": lambda capture: replace(capture / OUTPUT / KERNELS, b"\n", b"\r\n"),
    "bad utf-8": lambda capture: replace(capture / OUTPUT / TRACE, b'"name": "aten', b'"name": "\xff'),
    "negative kernels": cells(KERNELS, "Duration(us)", "-5"),
    "kernels of nan": cells(KERNELS, "Duration(us)", "nan"),
    "kernels beyond int64": cells(KERNELS, "Duration(us)", HUGE),
    "statistics that are texts": cells("op_statistic.csv", "Total Time(us)", "soon"),
    "counts beyond int64": cells("op_statistic.csv", "Count", HUGE),
    "memory beyond int64": cells("operator_memory.csv", "Size(KB)", HUGE),
    "object without events": trace_of(lambda events: b'{"events": []}'),
    "list in a list": trace_of(lambda events: b"[" + events + b"]"),
    "events on lines": trace_of(lambda events: events.strip()[1:-1].replace(b"},\n", b"}\n")),
    "null": trace_of(lambda events: b"null"),
    "no events": trace_of(lambda events: b"[]"),
    "something behind the trace": trace_of(lambda events: events + b"]]} and more"),
    "nested document": lambda capture: (capture / OUTPUT / TRANSFERS).write_text("[" * 200_000),
    "packed blanks": bomb,
    "nesting": edit_events(deep, every=1000),
    "modules in modules": trace_of(deep_modules),
    "odd kernels": odd_kernel_names,
}


GPU = {
    **EVENTS,
    "truncated": lambda capture: cut(capture, 0.5),
    "empty": lambda capture: cut(capture, 0),
    "directory": in_place_of(TRACE, lambda path: path.mkdir()),
    "pipe": in_place_of(TRACE, os.mkfifo),
    "link to itself": in_place_of(TRACE, lambda path: path.symlink_to(path.name)),
    "no json": trace_of(lambda trace: b"only text\n" * 900),
    "null": trace_of(lambda trace: b"null"),
    "no schema": lambda capture: replace(capture, b'"schemaVersion": 1, ', b""),
    "no events": trace_of(lambda trace: b'{"schemaVersion": 1, "traceEvents": []}'),
    "events in an object": trace_of(lambda trace: b'{"schemaVersion": 1, "traceEvents": {}}'),
    "events on lines": lambda capture: replace(capture, b"},\n", b"}\n"),
    "something behind the trace": trace_of(lambda trace: trace + b"]]} and more"),
    "byte order mark": trace_of(lambda trace: b"\xef\xbb\xbf" + trace),
    "other line ends": trace_of(lambda trace: trace.replace(b"\n", b"\r\n")),
    "bad utf-8": lambda capture: replace(capture, b'"name": "aten', b'"name": "\xff'),
    "memory beyond int64": lambda capture: replace(capture, b'"Bytes": 4194304',
                                                   b'"Bytes": ' + HUGE.encode(), 1),
    "nesting": edit_events(deep, every=50),
}


def sql(*statements):
    def breaks(capture):
        database = sqlite3.connect(capture / DATABASE)
        for statement in statements:
            database.execute(statement)
        database.commit()
        database.close()
    return breaks


def all_null(capture):
    """NULL in every cell that may hold it."""
    database = sqlite3.connect(capture / DATABASE)
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for _, column, _, _, _, key in database.execute(f"PRAGMA table_info({table})").fetchall():
            if not key:
                database.execute(f"UPDATE {table} SET {column} = NULL WHERE rowid % 3 = 1")
    database.commit()
    database.close()


def overwrite(start, content, every=None):
    """Other bytes in the file of the database, in every page or once."""
    def breaks(capture):
        path = capture / DATABASE
        data = bytearray(path.read_bytes())
        for at in range(start, len(data), every or len(data)):
            data[at:at + len(content)] = content
        path.write_bytes(data)
    return breaks


def odd_strings(capture):
    database = sqlite3.connect(capture / DATABASE)
    names = [row[0] for row in database.execute(
        "SELECT DISTINCT name FROM PYTORCH_API UNION SELECT opType FROM COMPUTE_TASK_INFO")]
    for name, value in zip(names, ODD_NAMES):
        database.execute("UPDATE STRING_IDS SET value = ? WHERE id = ?", (value, name))
    database.commit()
    database.close()


DATABASES = {
    "empty file": lambda capture: (capture / DATABASE).write_bytes(b""),
    "no database": lambda capture: (capture / DATABASE).write_bytes(b"only text\n" * 900),
    "truncated": lambda capture: cut(capture / DATABASE, 0.5),
    "corrupt pages": overwrite(4096, b"\xff" * 200, every=4096),
    "corrupt header": overwrite(16, b"\0\0\7\7"),
    "unknown format": overwrite(44, b"\0\0\0\x63"),
    "directory": in_place_of(DATABASE.name, lambda path: path.mkdir()),
    "pipe": in_place_of(DATABASE.name, os.mkfifo),
    "outside": link_out(DATABASE),
    "links within": link_within,
    "other tables": sql("DROP TABLE TASK", "DROP TABLE PYTORCH_API", "DROP TABLE COMMUNICATION_OP"),
    "missing table": sql("DROP TABLE COMPUTE_TASK_INFO"),
    "no texts": sql("DROP TABLE STRING_IDS"),
    "missing column": sql("ALTER TABLE CONNECTION_IDS RENAME COLUMN connectionId TO other"),
    "no times of tasks": sql("ALTER TABLE TASK RENAME COLUMN startNs TO other"),
    "empty tables": sql("DELETE FROM TASK", "DELETE FROM STRING_IDS"),
    "nothing but null": all_null,
    "wrong types": sql("UPDATE TASK SET startNs = 'soon' WHERE rowid % 4 = 1",
                       "UPDATE OP_MEMORY SET size = x'ff00' WHERE rowid = 1"),
    "beyond int64": sql("UPDATE TASK SET endNs = 1e300 WHERE rowid % 4 = 1"),
    "negative durations": sql("UPDATE TASK SET endNs = startNs - 5 WHERE rowid % 4 = 1"),
    "latest times": sql("UPDATE PYTORCH_API SET endNs = 9223372036854775807 WHERE rowid = 2"),
    "bad utf-8": sql("UPDATE STRING_IDS SET value = CAST(x'61ff80' AS TEXT) WHERE id % 5 = 0"),
    "null texts": sql("UPDATE STRING_IDS SET value = NULL WHERE id % 5 = 0"),
    "unknown texts": sql("DELETE FROM STRING_IDS WHERE id % 5 = 0"),
    "repeated ids": sql("INSERT INTO CONNECTION_IDS SELECT * FROM CONNECTION_IDS",
                        "INSERT INTO PYTORCH_API SELECT * FROM PYTORCH_API WHERE rowid % 3 = 0"),
    "long names": sql("UPDATE STRING_IDS SET value = value || hex(zeroblob(50000)) WHERE id % 9 = 0"),
    "odd names": odd_strings,
}
