# SPDX-License-Identifier: Apache-2.0
"""What the device counts of its traffic: links, network ports, memory, caches.

Samples are taken every `EVERY` ns from before the collection begins on the device to after the
last kernel. Counters that only grow get other steps each time, so that no two rates are alike; the
truth is computed from what the records hold, with whole numbers.
"""
import raw_layout as raw

FIRST, EVERY, SAMPLES = 4_000_000, 250_000, 24
NAMES = "Time bandwidth rxPacket/s rxByte/s rxPackets rxBytes rxErrors rxDropped txPacket/s " \
        "txByte/s txPackets txBytes txErrors txDropped funcId\n"
PORT_BANDWIDTH = 200_000
L2_EVENTS = {"1": ["0x59", "0x5b", "0x5c"], "5": ["0xfb", "0xfc", "0x90", "0x91", "0x9c"]}
HBMS, LLCS, DDRS = 4, 2, 2
LLC_READS = (0x00, 0x01, 0x02, 0x13, 0x20, 0x22, 0x34, 0x36)


def times():
    return [FIRST + EVERY * number for number in range(SAMPLES)]


def per_second(amount, duration):
    return amount * 10**9 // duration


class Traffic:
    def __init__(self, process):
        self.process, self.setup = process, process.setup
        self.clock = self.setup.monotonic
        self.begin = self.setup.begin * 1000 + self.setup.device_begin
        self.truth = {kind: [] for kind in ("hccs", "pcie", "nic", "roce", "hbm", "ddr", "llc",
                                            "l2_cache")}

    def plant(self, kind, time_ns, **values):
        """A row that a reader finds: samples from before the collection are left out."""
        if time_ns >= self.begin:
            self.truth[kind].append({"time_ns": time_ns, **values})

    def micros(self, time):
        """A stamp of memory samples, and the time it stands for."""
        micros = (time - self.setup.device_anchor) // 1000
        return micros, self.setup.device_anchor_epoch + 1000 * micros

    def hccs(self):
        self.process.record("hccs.data", b"time txAmount rxAmount\n")
        tx, rx, last = 5_000_000_000, 7_000_000_000, None
        for number, time in enumerate(times()):
            stamp = self.clock.ticks(time)
            grown = 3_000_000 + 1_048_577 * number, 1_000_000 + 524_287 * (number % 5)
            tx, rx = tx + grown[0], rx + grown[1]
            self.process.record("hccs.data", raw.hccs_line(stamp, tx, rx))
            if last is not None:
                self.plant("hccs", self.clock.epoch(stamp), tx=per_second(grown[0], stamp - last),
                           rx=per_second(grown[1], stamp - last))
            last = stamp

    def pcie(self):
        for number, time in enumerate(times()):
            stamp = self.clock.ticks(time)
            # Up to 20 GB/s, more than 32 bits of bytes per second hold. At first nothing passes.
            low = [100 * kind + 11 * number for kind in range(7)]
            spreads = [(least, 3 * least + 9000, 2 * least + 7) for least in low]
            if number < 8:
                spreads[0] = (0xFFFFF, 0, 0)
            self.process.record("pcie.data", raw.pcie_sample(stamp, self.setup.device, spreads))
            unit = [1 if kind == 3 else 10**6 for kind in range(7)]
            self.plant("pcie", self.clock.epoch(stamp), of=[
                [0 if least == 0xFFFFF else least * by, most * by, mean * by]
                for (least, most, mean), by in zip(spreads, unit)])

    def network(self, kind, ports, behind):
        """`behind`: what stands behind the 14 columns that all files have."""
        self.process.record(f"{kind}.data", NAMES.encode())
        counts = {port: [40 * (port + 1) + column for column in range(8)] for port in ports}
        for number, time in enumerate(times()):
            stamp = self.clock.ticks(time)
            for port in ports:
                packets = 4 * (number + 1) + port
                grown = [packets, 1500 * packets, number % 2, 2 * (number % 2),
                         2 * packets, 3000 * packets, 0, number % 3 // 2]
                now = counts[port] = [a + b for a, b in zip(counts[port], grown)]
                rates = [per_second(now, EVERY) for now in (grown[0], grown[1], grown[4], grown[5])]
                rx, tx = [*rates[:2], *now[:4]], [*rates[2:], *now[4:]]
                self.process.record(f"{kind}.data", raw.network_line(
                    stamp, PORT_BANDWIDTH, rx, tx, behind(port)))
                self.plant(kind, self.clock.epoch(stamp), bandwidth=PORT_BANDWIDTH, rx=rx, tx=tx,
                           port=port)

    def hbm(self):
        last = {}
        for number, time in enumerate(times()[9:]):  # stamps count from the anchor
            micros, epoch = self.micros(time + 20_000)
            for write in (0, 1):
                for hbm in range(HBMS):
                    count = 1000 * (number + 1) + 10 * hbm + write
                    self.process.record("hbm.data", raw.hbm_sample(micros, count, write, hbm))
                    if (write, hbm) in last:
                        self.plant("hbm", epoch, hbm=hbm, write=bool(write), rate=per_second(
                            32 * count, 1000 * (micros - last[write, hbm])))
                    last[write, hbm] = micros

    def ddr(self):
        last, width = 0, 32 if self.setup.chip == "1" else 16
        for number, time in enumerate(times()[9:]):
            micros, epoch = self.micros(time + 30_000)
            sums = [0, 0]
            for write in (0, 1):
                for ddr in range(DDRS):
                    count = 500 * (number + 2) + 7 * ddr + write
                    sums[write] += count
                    self.process.record("ddr.data", raw.ddr_sample(micros, count, write, ddr))
                    self.process.record("ddr.data", raw.ddr_sample(micros, 99, write, ddr, master=3))
            rates = [per_second(width * count, 1000 * (micros - last)) for count in sums]
            self.plant("ddr", epoch, read=rates[0], write=rates[1])
            last = micros

    def llc(self):
        last = {}
        for number, time in enumerate(times()[9:]):
            micros, epoch = self.micros(time + 40_000)
            for llc in range(LLCS):
                counts = [100 * (number + 1), 30 + number, 5, 6 + llc, 16 + number, 2, 16, 3]
                for event, count in zip(LLC_READS, counts):
                    self.process.record("llc.data", raw.llc_sample(micros, count, event, llc))
                rate = -1
                if llc in last:
                    rate = per_second(4096 * (counts[0] + counts[1]), 1000 * (micros - last[llc]))
                self.plant("llc", epoch, llc=llc, hits=16 + llc, all=32 + number, rate=rate)
                last[llc] = micros

    def l2_cache(self):
        """A record for each kernel but the first."""
        for number, kernel in enumerate(self.process.truth["kernels"]):
            if number == 0:
                continue
            if self.setup.chip == "1":
                events = [1000 + number, 700 + number, 11 * number]
            else:
                events = [600 + number, 400, 300 + number, 400, 11 * number]
            self.process.record("l2_cache.data", raw.l2_cache(
                0, kernel["stream"], kernel["task"], events))
            self.truth["l2_cache"].append({
                "stream": kernel["stream"], "task": kernel["task"], "name": kernel["name"],
                "requests": 1000 + number, "hits": 700 + number, "victims": 11 * number})


def record(process):
    """Call it when all kernels are known."""
    traffic = Traffic(process)
    traffic.hccs()
    traffic.pcie()
    newer = process.stars
    traffic.network("nic", (0, 1) if newer else (0,), lambda port: [port] if newer else [])
    traffic.network("roce", (0, 2), lambda port: [port, 1])
    traffic.hbm()
    traffic.ddr()
    traffic.llc()
    traffic.l2_cache()
    process.truth.update(traffic.truth)
