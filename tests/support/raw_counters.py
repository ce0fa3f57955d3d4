# SPDX-License-Identifier: Apache-2.0
"""Adds to raw captures what the chip tells of itself (QoS, SIO, Acc PMU, levels) and what the program uses of its machine,
and computes what they say: records by the layouts that docs/formats.md lists, values by fractions of whole numbers."""

import json
import struct
from fractions import Fraction
from pathlib import Path

MB, KB = 1 << 20, 1 << 10
MAGIC = 0x6BD3
EVENTS = ("OTHERS", "AIC", "DVPP")
SIO_NAMES = [f"{direction} {kind}" for direction in ("rx", "tx") for kind in ("request", "response", "snoop", "data")]
PROCESSORS, TICKS, MEMORY_KB, DISK_HZ = 16, 100, 1_000_000, 50
CARDS = {"eth0": 10_000, "eth1": 25_000}  # Mbit/s
SAMPLES = 20
STEP_NS = 300_000  # of the device


class DeviceClock:
    def __init__(self, truth):
        clock = truth["clocks"]["device"]
        self.hertz = Fraction(clock["mhz"]) * 10**6
        self.count, self.epoch = clock["device_count"], clock["monotonic"] + clock["offset_ns"]

    def tick(self, number):
        return self.count + int(number * STEP_NS * self.hertz / 10**9) + 7 * number * number

    def ns(self, tick):
        return self.epoch + (tick - self.count) * 10**9 * self.hertz.denominator // self.hertz.numerator


def qos(clock, add):
    records = b""
    for number in range(SAMPLES):
        tick = clock.tick(number)
        values = [100 + 37 * number + 1000 * place for place in range(10)]  # MB/s
        records += struct.pack("<IIQQ10I", 0, 0, 0, tick, *values)
        for event, value in zip(EVENTS, values):
            add("QoS", event, "bandwidth", "rate", clock.ns(tick), value * MB)
    return records


def soc(clock, add, newer):
    records, last = b"", {}
    for number in range(SAMPLES):
        tick = clock.tick(number)
        time = clock.ns(tick)
        for die in (0, 1):
            at = tick + die
            counts = [3000 * (place + 1) + 101 * number * (place + 2) + die for place in range(8)]  # bytes
            if newer:
                records += struct.pack("<BBHIQQ10I", 25, die << 2, MAGIC, 0, at, 0, 0, *counts[:4], 0, *counts[4:])
            else:
                records += struct.pack("<HHIQHH11I", 25, MAGIC, 0, at, 0, die, 0, 0, 0, *counts)
            if die in last:
                for name, count in zip(SIO_NAMES, counts):
                    add("SIO", "D-DIE0" if newer and die == 0 else f"die {die}", name, "rate", clock.ns(at),
                        count * 10**9 // (clock.ns(at) - last[die]))
            last[die] = clock.ns(at)
        for accelerator in (2, 9):
            values = {"write bandwidth": 5 + number, "read bandwidth": 50 + 3 * number,
                      "write outstanding": 7 * number + 1, "read outstanding": 900 + accelerator * number}
            records += struct.pack("<HHLQHH3L4Q", 26, MAGIC, 0, tick, 0, accelerator, 0, 0, 0, *values.values())
            for name, value in values.items():
                add("Acc PMU", str(accelerator), f"{name} level", "level", time, value)
        mata, buffer = 1 + number % 7, 10 + 5 * number
        records += struct.pack("<HHLQ4LHH7L", 28, MAGIC, 0, tick, 0, 0, 0, 0, buffer << 3 | mata, 0, *[0] * 7)
        add("Stars Soc Info", "", "mata bandwidth level", "level", time, mata)
        add("Stars Soc Info", "", "L2 buffer bandwidth level", "level", time, buffer)
        records += struct.pack("<HHLQ48x", 29, MAGIC, 0, tick)  # of a kind that nobody asks for
    return records


def stat(thread, name, user, system, processor):
    fields = [str(number) for number in range(52)]
    fields[0], fields[1], fields[2] = str(thread), f"({name})", "S"
    fields[13], fields[14], fields[38] = str(user), str(system), str(processor)
    return " ".join(fields) + "\n"


def processors(begin, times, add):
    """Threads count 10 ms ticks; 2.50 s pass between samples, so that 250 ticks are the whole of a processor."""
    text, before = "", None
    for number, time in enumerate(times):
        threads = {4400: (100 * number, 20 * number, 3), 4401: (7 * number * number, 0, 5), 4402: (11 * number, 3, 3)}
        text += f"time {time - begin}\n{1000 + 2.5 * number:.2f} 99.00\n"
        text += "".join(stat(thread, "acl (x) y" if thread == 4401 else "python3", *times)
                        for thread, times in threads.items())
        if before is not None:
            used = {}
            for thread, (user, system, processor) in threads.items():
                ran = user + system - sum(before[1][thread][:2])
                used[processor] = used.get(processor, 0) + min(ran, 250)
            for processor, ran in used.items():
                if ran <= 250:
                    add("CPU Usage", str(processor), "usage", "level", before[0], Fraction(100 * ran, 250))
            add("CPU Usage", "Avg", "usage", "level", before[0], Fraction(100 * sum(used.values()), 250 * PROCESSORS))
        before = time, threads
    return text


def memory(begin, times, add):
    text, before = "", None
    for number, time in enumerate(times):
        pages = 40_000 + 123 * number
        text += f"{time - begin} {9 * pages} {pages} 100 1 0 200 0\n"
        if before is not None:
            add("Memory Usage", "", "usage", "level", before, Fraction(100 * 4 * pages, MEMORY_KB))
        before = time
    return text


def disks(begin, times, add):
    text = f"start_time {times[0] - begin}\n"
    units = [("B/s", 1), ("K/s", KB), ("M/s", MB), ("G/s", 1 << 30)]
    for number in range(SAMPLES):
        time = times[0] + number * 10**9 // DISK_HZ
        (read_unit, read), (write_unit, write) = units[number % 4], units[(number + 1) % 4]
        text += "    TIME    TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN      IO    COMMAND\n"
        waited = f"{number}.25 %" if number % 5 else "?unavailable? ?unavailable?"
        text += f"08:00:{number:02} 4400 be/4 root {number}.50 {read_unit} 2.{number:02} {write_unit} 0.00 % {waited} python3\n"
        add("Disk Usage", "", "read", "level", time, Fraction(100 * number + 50, 100) * read)
        add("Disk Usage", "", "write", "level", time, Fraction(200 + number, 100) * write)
        add("Disk Usage", "", "usage", "level", time, Fraction(100 * number + 25, 100) if number % 5 else None)
    return text


def network(begin, times, add):
    text, before = "", None
    for number, time in enumerate(times):
        counts = {"eth0": (10**9 + 3_000_000 * number, 5 * 10**8 + 1_000_003 * number),
                  "eth1": (7 * 10**8 + 500_000 * number * number, 9 * 10**8), "lo": (10**6 * number, 10**6 * number)}
        text += f"time {time - begin}\nInter-|   Receive  | Transmit\n face |bytes packets errs|bytes packets errs\n"
        for card, (rx, tx) in counts.items():
            text += f"  {card}: {rx} 11 0 0 0 0 0 0 {tx} 12 0 0 0 0 0 0\n"
        if before is not None:
            moved = sum(sum(counts[card]) - sum(before[1][card]) for card in CARDS)
            rate = Fraction(moved * 10**9, time - before[0])
            add("Network Usage", "", "speed", "level", before[0], rate)
            add("Network Usage", "", "usage", "level", before[0], 100 * rate / (sum(CARDS.values()) * 125_000))
        before = time, counts
    return text


def change(file, **values):
    document = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**document, **values}), encoding="utf-8")


def add_to(capture, truth, newer=False):
    """{(group, part, counter): (kind, [(time, value)])} of what is added to a raw capture; None: not told, so that the value
    before ends there. `newer`: as the 950 writes it."""
    found = {}

    def add(group, part, counter, kind, time, value):
        found.setdefault((group, part, counter), (kind, []))[1].append((time, None if value is None else float(value)))
    (prof,) = Path(capture).glob("PROF_*")
    (device,) = prof.glob("device_*")
    number = device.name.removeprefix("device_")
    clock, offset = DeviceClock(truth), truth["clocks"]["host"]["offset_ns"]

    def write(folder, name, content):
        file = folder / "data" / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        (folder / "data" / f"{name}.done").write_text(f"filesize:{file.stat().st_size}\n")
    write(device, f"qos.data.{number}.slice_0", qos(clock, add))
    write(device, f"stars_soc_profile.data.{number}.slice_0", soc(clock, add, newer))
    change(device / "sample.json", qosEvents=",".join(EVENTS))
    begin = truth["clocks"]["host"]["collectionTimeBegin"] * 1000
    times = [begin + 100_000 + 400_003 * i for i in range(SAMPLES)]
    for name, make in (("host_cpu", processors), ("host_mem", memory), ("host_disk", disks), ("host_network", network)):
        write(prof / "host", f"{name}.data.slice_0", make(offset, times, add))
    change(prof / "host" / "info.json", cpuNums=PROCESSORS, sysClockFreq=TICKS, memoryTotal=MEMORY_KB,
           netCard=[{"netCardName": name, "speed": speed} for name, speed in CARDS.items()])
    change(prof / "host" / "sample.json", host_disk_freq=DISK_HZ)
    return found
