# SPDX-License-Identifier: Apache-2.0
"""Turns the text fixtures of testdata/captures into the forms that are not kept as text."""

import gzip
import json
import shutil
import sqlite3
import tarfile
from pathlib import Path

DATABASE = Path("ASCEND_PROFILER_OUTPUT", "ascend_pytorch_profiler_0.db")


def build_database(captures, name, parent):
    """Builds PARENT/NAME with the database that captures/NAME.sql describes."""
    capture = Path(parent, name)
    if not capture.is_dir():
        file = capture / DATABASE
        file.parent.mkdir(parents=True)
        database = sqlite3.connect(file)
        database.executescript(Path(captures, f"{name}.sql").read_text(encoding="utf-8"))
        database.commit()
        database.close()
    return capture


def gzip_copy(captures, name, parent):
    """Writes PARENT/NAME.gz."""
    copy = Path(parent, f"{Path(name).name}.gz")
    copy.write_bytes(gzip.compress(Path(captures, name).read_bytes(), mtime=0))
    return copy


def archive(captures, name, parent):
    """Writes PARENT/NAME.tar."""
    file = Path(parent, f"{name}.tar")
    with tarfile.open(file, "w") as tar:
        tar.add(Path(captures, name), arcname=name)
    return file


def job_of(captures, names, parent):
    """Builds PARENT/job with copies of the captures, of which there may be none."""
    job = Path(parent, "job")
    job.mkdir()
    for name in filter(None, names.split(",")):
        shutil.copytree(Path(captures, name), job / name)
    return job


def set_rank(connection, rank):
    """What a database says of its rank, beside its name."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "RANK_DEVICE_MAP" in tables:
        connection.execute("UPDATE RANK_DEVICE_MAP SET rankId = ?", (rank,))
    if "META_DATA" not in tables:
        return
    for (value,) in connection.execute("SELECT value FROM META_DATA WHERE name = 'parallel_group_info'").fetchall():
        groups = json.loads(value)
        for group in groups.values():
            group.pop("group_rank", None)
            if rank in group.get("global_ranks", ()):
                group["group_rank"] = group["global_ranks"].index(rank)
        connection.execute("UPDATE META_DATA SET value = ? WHERE name = 'parallel_group_info'", (json.dumps(groups),))


def build_job(captures, what, parent):
    """Builds PARENT/job, a job of "COUNT:NAME,NAME...[:slow=RANK][:late=RANK]": its ranks take turns with the captures.
    The device tasks of the slow one take twice as long. For the late one the others wait: it runs collectives in a
    quarter of the time, and the others differ by 1 us for each rank."""
    count, names, *causes = what.split(":")
    names = names.split(",")
    culprit = {name: int(rank) for name, rank in (cause.split("=") for cause in causes)}
    for rank in range(int(count)):
        built = build_database(captures, names[rank % len(names)], Path(parent, "job", f"of_rank{rank}"))
        capture = built.rename(Path(parent, "job", f"rank{rank}_ascend_pt"))
        built.parent.rmdir()
        database = (capture / DATABASE).rename((capture / DATABASE).with_name(f"ascend_pytorch_profiler_{rank}.db"))
        connection = sqlite3.connect(database)
        set_rank(connection, rank)
        if culprit.get("slow") == rank:
            connection.execute("UPDATE TASK SET endNs = 2 * endNs - startNs")
        if "late" in culprit:
            length = "(endNs - startNs) / 4" if culprit["late"] == rank else f"endNs - startNs + {1000 * rank}"
            connection.execute(f"UPDATE COMMUNICATION_OP SET endNs = startNs + {length}")
        connection.commit()
        connection.close()
    return Path(parent, "job")
