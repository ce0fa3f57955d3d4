# SPDX-License-Identifier: Apache-2.0
"""analysis.db beside the database of a capture of many steps: the times and links of every
communication operator that the database has, as the profiler derives them from its tasks.
"""
import sqlite3

# The parts of an operator's time, in thousandths: what is left is idle.
TRANSIT, WAIT, SYNCHRONIZATION = 700, 200, 50
# Transport, share of the bytes in thousandths, packets of an operator.
LINKS = (("HCCS", 875, 16), ("RDMA", 100, 4), ("PCIE", 0, 0), ("SDMA", 25, 8))
SCHEMA = """
CREATE TABLE CommAnalyzerTime (hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC,
  elapse_time NUMERIC, transit_time NUMERIC, wait_time NUMERIC, synchronization_time NUMERIC,
  idle_time NUMERIC, step TEXT, type TEXT);
CREATE TABLE CommAnalyzerBandwidth (hccl_op_name TEXT, group_name TEXT, transport_type TEXT,
  transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC, large_packet_ratio NUMERIC,
  package_size NUMERIC, count NUMERIC, total_duration NUMERIC, step TEXT, type TEXT);
CREATE TABLE CommAnalyzerMatrix (hccl_op_name TEXT, group_name TEXT, src_rank TEXT,
  dst_rank TEXT, transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC,
  bandwidth NUMERIC, step TEXT, type TEXT, op_name TEXT);
"""
OPERATORS = """
SELECT name.value, grp.value, op.startNs, op.endNs, step.id, type.value, count
  FROM main.COMMUNICATION_OP AS op JOIN STRING_IDS AS name ON name.id = op.opName
  JOIN STRING_IDS AS grp ON grp.id = op.groupName JOIN STRING_IDS AS type ON type.id = op.opType
  LEFT JOIN STEP_TIME AS step ON op.startNs BETWEEN step.startNs AND step.endNs ORDER BY op.startNs"""


def write_links(path, database, rank, ranks):
    """Writes the file `path` from the capture's `database`, of one of `ranks` ranks."""
    path.unlink(missing_ok=True)
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")
    db.execute("ATTACH ? AS links", (str(path),))
    db.executescript("""
PRAGMA links.synchronous = OFF; PRAGMA links.journal_mode = OFF;
""" + SCHEMA.replace("TABLE ", "TABLE links.") + "BEGIN")
    for name, group, start, end, step, kind, count in db.execute(OPERATORS).fetchall():
        elapsed, megabytes, step = (end - start) / 1e6, count / 1e6, f"step{step}"
        transit, wait, synchronization = (elapsed * part / 1000
                                          for part in (TRANSIT, WAIT, SYNCHRONIZATION))
        db.execute("INSERT INTO links.CommAnalyzerTime VALUES (?,?,?,?,?,?,?,?,?,'collective')",
                   (name, group, start / 1000, elapsed, transit, wait, synchronization,
                    elapsed - transit - wait - synchronization, step))
        for transport, share, packets in LINKS:
            size, time = megabytes * share / 1000, transit * share / 1000
            speed, packet = size / time if time else 0, size / packets if packets else 0
            db.execute("INSERT INTO links.CommAnalyzerBandwidth "
                       "VALUES (?,?,?,?,?,?,0,?,?,?,?,'collective')",
                       (name, group, transport, size, time, speed, packet, packets, time, step))
        size, time = megabytes / 2, transit / 2
        for peer in (rank, (rank + 1) % ranks):  # a ring
            db.execute("INSERT INTO links.CommAnalyzerMatrix VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                       (kind, group, str(rank), str(peer), "LOCAL" if peer == rank else "HCCS", size,
                        time, size / time, step, "collective", name))
    db.execute("COMMIT")
    db.close()
