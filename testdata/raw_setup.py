# SPDX-License-Identifier: Apache-2.0
"""Where and how a raw capture is taken: chip, numbers and clocks, and the small files that tell."""
import json
from fractions import Fraction

from raw_process import Clock
from raw_traffic import L2_EVENTS

BEGIN = 1735689600000000          # µs since the epoch
MONOTONIC = 86400_123_456_780     # ns, of the host when the collection begins
HOST_COUNT, DEVICE_COUNT = 8_640_012_345_678, 430_000_100_200
HOST_ANCHOR, DEVICE_BEGIN, DEVICE_ANCHOR = 2_345_680, 5_000_000, 6_000_000  # ns after it
DEVICE_MONOTONIC = 912_345_678    # ns, of the device at its anchor
DEVICE_SHIFT = 40                 # ns by which the anchors of device_N differ from those of host
STREAMS = {2: 101, 3: 11, 5: 201, 6: 31, 9: 3}
# The numbers of stream 2 wrap in the second step.
WRAPPING = {**STREAMS, 2: 65536 - 40}
EVENTS = "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55"
CUBE_EVENTS = "0x416,0x417,0x9,0x302,0xc,0x303,0x54,0x55"


class Setup:
    def __init__(self, chip, seed, rank=0, ranks=2, streams=None, device_mhz=None,
                 begin=BEGIN, queue=True, details=True, framework=True, later=0):
        self.chip, self.seed, self.rank, self.ranks = chip, seed, rank, ranks
        self.begin, self.queue = begin + later // 1000, queue
        self.later = later  # ns from the first collection of the process to this one
        self.monotonic_count = MONOTONIC + later
        # The counters run apart from the clocks: what one anchor says is wrong at the other.
        self.host_count = HOST_COUNT + later // 10 + later // 1000
        self.device_count = DEVICE_COUNT + later // 20 - later // 1000
        self.details = details  # counters, memory, stacks
        self.framework = framework  # operators are recorded
        self.device, self.process = rank, 4400 + 100 * rank
        self.streams = streams or STREAMS
        self.stars = chip == "5"
        self.device_mhz = device_mhz or ("50.000000" if self.stars else "100.000000")
        # The HWTS machine has no host counter: its host times are monotonic nanoseconds.
        host_mhz, host_count = (100, self.host_count) if self.stars else (1000, self.monotonic_count)
        epoch = self.begin * 1000
        host = Clock(host_mhz, 0, host_count, epoch)
        device = Clock(Fraction(self.device_mhz), DEVICE_ANCHOR, self.device_count,
                       epoch + DEVICE_ANCHOR - DEVICE_SHIFT)
        module = Clock(host_mhz, 0, host_count, epoch - DEVICE_SHIFT)
        self.clocks = host, device, module
        self.host_mhz = "100.000000" if self.stars else ""
        self.monotonic = Clock(1000, DEVICE_ANCHOR, DEVICE_MONOTONIC,
                               epoch + DEVICE_ANCHOR - DEVICE_SHIFT)
        self.device_anchor, self.device_begin = DEVICE_ANCHOR, DEVICE_BEGIN
        self.device_anchor_epoch = epoch + DEVICE_ANCHOR - DEVICE_SHIFT
        self.capture = f"node-1_{self.process}_20250101000000000_ascend_pt"
        self.prof = f"PROF_{rank + 1 + bool(later):06d}_20250101000000000_ABCDEFGHIJKLMNOP"

    def ticks(self, time):
        return self.host_count + time // 10

    def truth(self):
        def side(anchor, shift, begin):
            return {"collectionTimeBegin": self.begin + begin // 1000,
                    "clockMonotonicRaw": self.monotonic_count + begin + shift,
                    "monotonic": self.monotonic_count + anchor, "count": self.ticks(anchor),
                    "mhz": self.host_mhz, "offset_ns": self.begin * 1000 - self.monotonic_count - shift}
        return {"capture": self.capture, "prof": self.prof, "rank": self.rank,
                "device": self.device, "pid": self.process,
                "clocks": {"host": side(HOST_ANCHOR, 0, 0),
                           "device": {**side(DEVICE_ANCHOR, DEVICE_SHIFT, DEVICE_BEGIN),
                                      "device_count": self.device_count, "mhz": self.device_mhz}}}

    def files(self, end, groups):
        """The control files, by path; `end`: of the collection, ns after its begin."""
        host, device = f"{self.prof}/host/", f"{self.prof}/device_{self.device}/"
        files = {}
        for directory, number, devices in ((host, "", "64"),
                                           (device, f".{self.device}", str(self.device))):
            begin, anchor, shift = ((DEVICE_BEGIN, DEVICE_ANCHOR, DEVICE_SHIFT) if number else
                                    (0, HOST_ANCHOR, 0))
            title = f"Device{self.device}" if number else "Host"
            files[directory + "info.json" + number] = json.dumps(self.info(devices, bool(number)))
            files[directory + "sample.json"] = json.dumps(self.sample(devices))
            files[directory + "start_info" + number] = json.dumps({
                "clockMonotonicRaw": str(self.monotonic_count + begin + shift),
                "collectionDateBegin": "2025-01-01 00:00:00.000000",
                "collectionTimeBegin": str(self.begin + begin // 1000)})
            files[directory + "end_info" + number] = json.dumps({
                "clockMonotonicRaw": str(self.monotonic_count + end + shift),
                "collectionDateEnd": "2025-01-01 00:00:01.000000",
                "collectionTimeEnd": str(self.begin + end // 1000)})
            files[directory + "host_start.log" + number] = (
                f"[{title}]\nclock_realtime: {self.begin * 1000 + anchor}\n"
                f"clock_monotonic_raw: {self.monotonic_count + anchor}\ncntvct: {self.ticks(anchor)}\n"
                "cntvct_diff: 0\n")
        files[device + f"dev_start.log.{self.device}"] = (
            f"clock_realtime: {self.begin * 1000}\n"
            f"clock_monotonic_raw: {DEVICE_MONOTONIC}\ncntvct: {self.device_count}\n")
        rank = self.rank
        files[f"profiler_info_{rank}.json"] = json.dumps(self.profiler_info(end))
        files["profiler_metadata.json"] = json.dumps({"parallel_group_info": {
            group: {"group_name": group.split("_")[0], "group_rank": rank,
                    "global_ranks": list(range(self.ranks))} for group in groups}})
        return files

    def info(self, devices, on_device):
        cores = {"ai_core_num": 24, "aiv_num": 48} if self.stars else {"ai_core_num": 32,
                                                                       "aiv_num": 0}
        mhz = "1800" if self.stars else "1000"
        return {"version": "1.0", "cannVersion": "8.0.0", "hostUid": "1234567890123456789",
                "hostname": "node-1", "memoryTotal": 1048576000, "netCard": [],
                "pid": str(self.process), "pid_name": "python3", "drvVersion": 467733,
                "platform_version": self.chip, "rank_id": self.rank, "devices": devices,
                "CPU": [{"Id": 0, "Name": "HiSilicon", "Type": "ARMv8",
                         "Frequency": self.host_mhz, "Logical_CPU_Count": 64}],
                "DeviceInfo": [{"id": self.device, **cores, "ai_cpu": "2,3", "ai_cpu_core_num": 2,
                                "ctrl_cpu": "0", "ctrl_cpu_core_num": 1,
                                "ctrl_cpu_id": "ARMv8_Cortex_A55", "ctrl_cpu_endian_little": 1,
                                "hwts_frequency": self.device_mhz, "aic_frequency": mhz,
                                "aiv_frequency": mhz}] if on_device else []}

    def sample(self, devices):
        return {"devices": devices, "profLevel": "l1", "ai_core_profiling_mode": "task-based",
                "ai_core_profiling": "on" if self.details else "off",
                "ai_core_metrics": "PipeUtilizationExct" if self.stars else "PipeUtilization",
                "ai_core_profiling_events": CUBE_EVENTS if self.stars else EVENTS,
                "aiv_metrics": "PipeUtilization", "aiv_profiling_events": EVENTS,
                "llc_profiling": "read",
                "l2CacheTaskProfilingEvents": ",".join(L2_EVENTS[self.chip]),
                "dynamic": "off", "msprofBinPid": -1, "job_id": "0", "storageLimit": ""}

    def profiler_info(self, end):
        activities = ["CPU", "NPU"] if self.framework else ["NPU"]
        return {"config": {"common_config": {"activities": [f"ProfilerActivity.{activity}"
                                                            for activity in activities],
                                             "record_shapes": self.details,
                                             "profile_memory": self.details,
                                             "with_stack": self.details, "with_flops": False,
                                             "with_modules": self.details},
                           "experimental_config": {"_profiler_level": "Level1",
                                                   "_aic_metrics": "PipeUtilization",
                                                   "_l2_cache": False, "_msprof_tx": True,
                                                   "_data_simplification": True,
                                                   "_export_type": ["text", "db"]}},
                "start_info": {"syscnt_enable": self.stars, "freq": 100,
                               "start_cnt": self.ticks(HOST_ANCHOR),
                               "start_monotonic": self.monotonic_count + HOST_ANCHOR},
                "end_info": {"collectionTimeEnd": self.begin * 1000 + end,
                             "MonotonicTimeEnd": self.monotonic_count + end},
                "torch_npu_version": "2.1.0", "cann_version": "8.0.0", "rank_id": self.rank}
