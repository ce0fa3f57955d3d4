# SPDX-License-Identifier: Apache-2.0
"""Adds counters of memories, links, ports and the host to captures, as the profiler's databases and traces write them."""

import contextlib
import json
import sqlite3
from pathlib import Path

MB, KB = 1 << 20, 1 << 10
OUTPUT = "ASCEND_PROFILER_OUTPUT"
TABLES = {
    "HBM": "deviceId INTEGER, timestampNs INTEGER, bandwidth NUMERIC, hbmId INTEGER, type INTEGER",
    "DDR": "deviceId INTEGER, timestampNs INTEGER, read NUMERIC, write NUMERIC",
    "LLC": "deviceId INTEGER, llcId INTEGER, timestampNs INTEGER, hitRate REAL, throughput INTEGER, mode INTEGER",
    "NPU_MEM": "type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, deviceId INTEGER",
    "NPU_MODULE_MEM": "moduleId INTEGER, timestampNs INTEGER, totalReserved NUMERIC, deviceId INTEGER",
    "ENUM_MODULE": "id INTEGER PRIMARY KEY, name TEXT",
    "HCCS": "deviceId INTEGER, timestampNs INTEGER, txThroughput NUMERIC, rxThroughput NUMERIC",
    "ROCE": "deviceId INTEGER, timestampNs INTEGER, bandwidth INTEGER, rxPacketRate NUMERIC, rxByteRate NUMERIC,"
            " rxPackets INTEGER, rxBytes INTEGER, rxErrors INTEGER, rxDropped INTEGER, txPacketRate NUMERIC,"
            " txByteRate NUMERIC, txPackets INTEGER, txBytes INTEGER, txErrors INTEGER, txDropped INTEGER, funcId INTEGER",
    "CPU_USAGE": "timestampNs NUMERIC, cpuId NUMERIC, usage NUMERIC",
}
MODULES = {3: "HCCL", 4: "FMK"}
PORT_MBITS = 200_000


def samples(begin, end, count=40, high=0.75, port=0.5):
    """{table: rows as dicts}, from `begin` to `end`. The memory is used most in the third quarter of the time; `high`: how
    much of 1.6 TB/s then; `port`: how much of its bandwidth a port uses at times. Values have no pattern that a mean would hide."""
    step = (end - begin) // count
    tables = {name: [] for name in TABLES if name != "ENUM_MODULE"}
    for i in range(count + 1):
        time = begin + i * step
        busy = high if 2 * count < 4 * i <= 3 * count else high / 10
        for hbm in range(2):
            for kind in ("read", "write"):
                rate = int(1.6e12 * busy / 4 * (1 - (i % 3) / 50 - hbm / 10)) if i else 0
                tables["HBM"].append({"time": time, "hbm": hbm, "kind": kind, "rate": rate})
        tables["DDR"].append({"time": time, "read": 1000003 * i, "write": 7 * MB})
        for llc in range(2):
            tables["LLC"].append({"time": time, "llc": llc, "kind": "read", "rate": 123456789 * (i + llc), "hits": 700 + i})
        tables["NPU_MEM"].append({"time": time, "whose": "app", "ddr": 0, "hbm": (2_000_000 + 4 * i) * KB})
        tables["NPU_MEM"].append({"time": time + 3, "whose": "device", "ddr": 0, "hbm": (2_400_000 + 4 * i) * KB})
        tables["HCCS"].append({"time": time, "rx": 1_000_000_007 * (i % 5), "tx": 3 * MB})
        if i % 4 == 0:
            tables["NPU_MODULE_MEM"] += [{"time": time + 5, "module": 3, "reserved": 404 * MB + 64 * KB},
                                         {"time": time + 5, "module": 4, "reserved": 0}]
        share = port if i % 7 == 3 else 0.2
        tables["ROCE"].append({"time": time, "port": 0, "rx_bytes": PORT_MBITS * MB / 8 * share, "rx_packets": 1000.5 + i,
                               "packets": 100_000 + 1000 * i, "errors": i // 10, "dropped": 2 * (i // 20)})
        for cpu in range(3):
            tables["CPU_USAGE"].append({"time": time, "cpu": cpu, "usage": (17 * i + 31 * cpu) % 100})
    return tables


def add_to_database(file, tables, device=0):
    with contextlib.closing(sqlite3.connect(file)) as database:
        texts = {text: number for number, text in database.execute("SELECT id, value FROM STRING_IDS")}
        free = max(texts.values(), default=0) + 1
        for text in ("read", "write", "app", "device"):
            if text not in texts:
                texts[text], free = free, free + 1
                database.execute("INSERT INTO STRING_IDS VALUES (?, ?)", (texts[text], text))
        rows = {
            "HBM": [(device, row["time"], row["rate"], row["hbm"], texts[row["kind"]]) for row in tables["HBM"]],
            "DDR": [(device, row["time"], row["read"], row["write"]) for row in tables["DDR"]],
            "LLC": [(device, row["llc"], row["time"], row["hits"] / 10, row["rate"], texts[row["kind"]]) for row in tables["LLC"]],
            "NPU_MEM": [(texts[row["whose"]], row["ddr"], row["hbm"], row["time"], device) for row in tables["NPU_MEM"]],
            "NPU_MODULE_MEM": [(row["module"], row["time"], row["reserved"], device) for row in tables["NPU_MODULE_MEM"]],
            "ENUM_MODULE": list(MODULES.items()),
            "HCCS": [(device, row["time"], row["tx"], row["rx"]) for row in tables["HCCS"]],
            "ROCE": [(device, row["time"], PORT_MBITS * MB, row["rx_packets"], row["rx_bytes"], row["packets"], 0, row["errors"],
                      row["dropped"], 0, 0, 0, 0, 0, 0, row["port"]) for row in tables["ROCE"]],
            "CPU_USAGE": [(row["time"], row["cpu"], row["usage"]) for row in tables["CPU_USAGE"]],
        }
        for name, columns in TABLES.items():
            database.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")
            marks = ", ".join("?" * len(columns.split(",")))
            database.executemany(f"INSERT INTO {name} VALUES ({marks})", rows[name])
        database.commit()


def us(time):
    return f"{time // 1000}.{time % 1000:03}"


def events_of(tables, first_process):
    """The events of a trace, in the units and with the decimals that the profiler writes."""
    processes = {name: first_process + 32 * i for i, name in enumerate(
        ("HBM", "DDR", "LLC", "NPU MEM", "HCCS", "RoCE", "CPU Usage"))}
    events = [{"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": {"name": name}} for name, pid in processes.items()]

    def add(process, name, time, **series):
        events.append({"name": name, "ts": us(time), "pid": processes[process], "tid": 0, "ph": "C",
                       "args": {key.replace("__", " "): value for key, value in series.items()}})
    for row in tables["HBM"]:
        kind = row["kind"].title()
        add("HBM", f"HBM {row['hbm']}/{kind}", row["time"], **{f"{kind}(MB/s)": row["rate"] / MB})
    for row in tables["DDR"]:
        for kind in ("read", "write"):
            add("DDR", f"DDR/{kind.title()}", row["time"], **{f"{kind.title()}(MB/s)": round(row[kind] / MB, 3)})
    for row in tables["LLC"]:
        name = f"LLC {row['llc']} {row['kind'].title()}"
        add("LLC", f"{name}/Hit Rate", row["time"], **{"Hit Rate(%)": row["hits"] / 1000})
        add("LLC", f"{name}/Throughput", row["time"], **{"Throughput(MB/s)": round(row["rate"] / MB, 3)})
    for row in tables["NPU_MEM"]:
        whose = "APP" if row["whose"] == "app" else "Device"
        for kind in ("ddr", "hbm"):
            add("NPU MEM", f"{whose}/{kind.upper()}", row["time"], KB=row[kind] / KB)
        add("NPU MEM", f"{whose}/Memory", row["time"], KB=(row["ddr"] + row["hbm"]) / KB)
    for row in tables["HCCS"]:
        for kind in ("Rx", "Tx"):
            add("HCCS", kind, row["time"], **{f"{kind}(MB/s)": round(row[kind.lower()] / MB, 3)})
    for row in tables["ROCE"]:
        share = row["rx_bytes"] * 8 / (PORT_MBITS * MB)
        add("RoCE", f"Port {row['port']}/Rx", row["time"], Rx__Dropped__Rate=row["dropped"] / row["packets"],
            Rx__Error__Rate=row["errors"] / row["packets"], Rx__Packets=row["rx_packets"],
            Rx__Bandwidth__Efficiency=round(share, 6))
        add("RoCE", f"Port {row['port']}/Tx", row["time"], Tx__Dropped__Rate=0, Tx__Error__Rate=0, Tx__Packets=0,
            Tx__Bandwidth__Efficiency=0)
    for row in tables["CPU_USAGE"]:
        add("CPU Usage", f"CPU {row['cpu']}", row["time"], **{"Usage(%)": row["usage"]})
    return events


def add_to_text(capture, tables, first_process=5024):
    output = Path(capture, OUTPUT)
    trace = output / "trace_view.json"
    events = json.loads(trace.read_text(encoding="utf-8"))
    trace.write_text(json.dumps(events + events_of(tables, first_process)), encoding="utf-8")
    lines = ["Component,Timestamp(us),Total Reserved(MB),Device"]
    lines += [f"{MODULES[row['module']]},{us(row['time'])}\t,{row['reserved'] / MB},NPU:0" for row in tables["NPU_MODULE_MEM"]]
    (output / "npu_module_mem.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
