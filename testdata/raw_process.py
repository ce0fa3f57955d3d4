# SPDX-License-Identifier: Apache-2.0
"""A process under the profiler: it works on host threads, drives a device, and records both.

Its times are whole nanoseconds since the start of the collection, multiples of 20, so that the
usual counters hold them exactly. A record holds ticks; the truth is computed from the ticks.
"""
import random
from contextlib import contextmanager
from fractions import Fraction

import raw_layout as raw

NO_CONTEXT = raw.NONE
COUNTER_PLACES = {"AI_CORE": (0, 0), "AI_VECTOR_CORE": (1, 1), "MIX_AIC": (6, 4)}  # kind, group
HOST_TYPES = {"AI_CORE": "KERNEL_AICORE", "AI_VECTOR_CORE": "KERNEL_AIVEC",
              "AI_CPU": "KERNEL_AICPU", "DSA_SQE": "STARS_COMMON", "MIX_AIC": "FFTS_PLUS"}
QUEUE_ENTRIES = {"AI_CORE": "AI_CORE", "AI_VECTOR_CORE": "AIV_SQE", "AI_CPU": "AI_CPU",
                 "DSA_SQE": "DSA_SQE", "MIX_AIC": "AI_CORE"}
# Of a piece of a collective: type of its task, queue entry, kind inside a group of contexts.
PARTS = {"Memcpy": ("MEMCPY_ASYNC", "SDMA_SQE", "SDMA"),
         "Reduce_Inline": ("REDUCE_ASYNC_V2", "SDMA_SQE", "SDMA"),
         "Notify_Record": ("NOTIFY_RECORD", "NOTIFY_RECORD_SQE", "Write Value"),
         "Notify_Wait": ("NOTIFY_WAIT", "NOTIFY_WAIT_SQE", "Notify Wait")}


class Clock:
    """A counter: `count` ticks at the time `when`, `mhz` ticks a microsecond; `epoch` is what the
    anchors in the capture make of the tick `count`."""

    def __init__(self, mhz, when, count, epoch):
        self.tick = Fraction(1000) / Fraction(mhz)
        self.when, self.count, self.start = when, count, epoch

    def ticks(self, time):
        return self.count + (time - self.when) // self.tick

    def epoch(self, ticks):
        """Nanoseconds since the epoch, rounded down."""
        return self.start + (ticks - self.count) * self.tick // 1

    def length(self, ticks):
        """Exact to 1/1000 ns."""
        return round(float(ticks * self.tick), 3)


class Thread:
    def __init__(self, number):
        self.number, self.now = number, 0

    def spend(self, time):
        self.now += time
        return self.now

    def wait(self, time):
        self.now = max(self.now, time)


class Stream:
    """Runs its tasks one after the other. Their numbers have 16 bits and wrap."""

    def __init__(self, number, next_task):
        self.number, self.next_task, self.batch, self.free = number, next_task, 0, 0
        self.flips = False  # the number wrapped and the device did not tell so far


class Process:
    """`setup` has the clocks, the chip, the numbers of process, rank and device; see raw_setup."""

    def __init__(self, setup):
        self.setup = setup
        self.stars, self.process, self.device = setup.stars, setup.process, setup.device
        self.host, self.device_clock, self.module_clock = setup.clocks
        self.random = random.Random(setup.seed) if setup.seed is not None else None
        self.main, self.backward, self.queue = (Thread(self.process + n) for n in (0, 771, 402))
        self.streams = {number: Stream(number, first) for number, first in setup.streams.items()}
        self.files, self.log, self.counts = {}, [], {}
        self.strings, self.types, self.python_keys, self.tensor_sets = {}, {}, {}, []
        self.open_ops, self.correlation, self.sequence, self.mark = [], 8000, 1200, 0
        self.allocated, self.op_allocated, self.work = 0, 0, None
        self.truth = {key: [] for key in (
            "kernels", "tasks", "host_ops", "queue", "cann_apis", "steps", "fwd_bwd", "collectives",
            "memory", "op_memory", "device_memory", "module_memory", "frequency", "mstx", "gc",
            "python", "flows")}
        for name, number in raw.TASK_TYPES.items():
            self.types[raw.RUNTIME, number] = name

    # -- bits of use everywhere

    def record(self, file, data):
        self.files.setdefault(file, []).append(data)

    def count(self, kind):
        self.counts[kind] = self.counts.get(kind, -1) + 1
        return self.counts[kind]

    def about(self, time):
        """`time`, up to a tenth longer where the process is not regular."""
        return time + 20 * self.random.randrange(time // 200 + 1) if self.random else time

    def text(self, text):
        key = raw.hash_text(text)
        self.strings[key] = text
        return key

    def ticks(self, thread):
        return self.host.ticks(thread.now)

    # -- framework

    @contextmanager
    def op(self, thread, name, shapes=None, types=None, sequence=-1, forward_thread=0, scope=0,
           stack=None):
        begin = self.host.ticks(thread.spend(self.about(800)))
        index = len(self.truth["host_ops"])
        planted = {"name": name, "tid": thread.number,
                   "parent": self.open_ops[-1] if self.open_ops else None, "sequence": sequence,
                   "forward_thread": forward_thread, "scope": scope}
        fields = [(2, name)]
        if shapes is not None:
            planted["shapes"], planted["types"] = shapes, types
            fields += [(3, types), (4, shapes)]
        if stack is not None:
            planted["stack"] = stack
            fields.append((8, stack))
        self.truth["host_ops"].append(planted)
        self.open_ops.append(index)
        yield index
        self.open_ops.pop()
        end = self.host.ticks(thread.spend(self.about(600)))
        planted["start_ns"], planted["end_ns"] = self.host.epoch(begin), self.host.epoch(end)
        self.record("torch.op_range", raw.op_range(begin, end, sequence, self.process,
                                                   thread.number, forward_thread, scope, fields))

    def directly(self, work):
        """Does `work` on the thread of the operator at hand, without the task queue."""
        self.work = (self.open_ops[-1], None)
        work()
        self.work = None

    def enqueue(self, thread, name, work):
        """Hands `work(queue thread)` over to the task queue."""
        self.correlation += 1
        op = self.open_ops[-1]
        times = [self.ticks_after(thread, 300), self.ticks_after(thread, 260)]
        self.queue.wait(thread.now)
        times.append(self.ticks_after(self.queue, 200))
        self.work = (op, self.correlation)
        work(self.queue)
        self.work = None
        times.append(self.ticks_after(self.queue, 240))
        for category, (time, owner) in enumerate(zip(times, (thread, thread, self.queue, self.queue))):
            self.record("torch.op_mark", raw.op_mark(
                time, category, self.correlation if category else 0, owner.number, self.process,
                name))
        self.truth["queue"].append({
            "correlation": self.correlation, "name": name, "op": op,
            "enqueue_tid": thread.number, "dequeue_tid": self.queue.number,
            **{key: self.host.epoch(time) for key, time in zip(
                ("enqueue_start_ns", "enqueue_end_ns", "dequeue_start_ns", "dequeue_end_ns"),
                times)}})

    def ticks_after(self, thread, time):
        return self.host.ticks(thread.spend(self.about(time)))

    @contextmanager
    def python(self, thread, name, c_function=False):
        """A call around the code of the with block; a module is named `class######number`."""
        key = self.python_keys.get(name)
        if key is None:
            key = self.python_keys[name] = len(self.python_keys) + 1
            self.record("torch.python_tracer_hash", raw.python_name(key, name))
        times = []
        for tag in (0, 1):
            if tag:
                yield
            times.append(self.ticks_after(thread, 160))
            self.record("torch.python_tracer_func", raw.python_call(
                times[-1], thread.number, self.process, key, tag + 2 * c_function))
        kind = "nn.Module: " if "######" in name else ""
        self.truth["python"].append({"name": kind + name, "tid": thread.number,
                                     "start_ns": self.host.epoch(times[0]),
                                     "end_ns": self.host.epoch(times[1])})

    def collect_garbage(self, thread, time):
        begin, end = self.ticks(thread), self.ticks_after(thread, time)
        self.record("torch.gc_record", raw.gc_record(self.process, begin, end))
        self.truth["gc"].append({"start_ns": self.host.epoch(begin), "end_ns": self.host.epoch(end)})

    def allocator(self, thread, kind, address, size, workspace=False):
        """`kind`: malloc, free or block_free."""
        time = self.ticks_after(thread, 80)
        if kind != "block_free":
            self.allocated += size if kind == "malloc" else -size
        size = size if kind == "malloc" else -size
        active = self.allocated - (size if kind == "free" else 0)
        planted = {"address": address, "size": size, "allocated": self.allocated,
                   "reserved": 64 << 20, "active": active, "workspace": workspace,
                   "stream_ptr": 187650000000 + workspace, "kind": kind}
        self.record("torch.memory_usage", raw.memory_usage(
            address, time, size, self.allocated, 64 << 20, active, planted["stream_ptr"], workspace,
            ("malloc", "free", "block_free").index(kind), thread.number, self.process))
        self.truth["memory"].append({**planted, "time_ns": self.host.epoch(time),
                                     "tid": thread.number,
                                     "op": self.open_ops[-1] if self.open_ops else None})

    # -- CANN

    @contextmanager
    def call(self, thread, level, name, base, item=None):
        """A call of the API `name`; numbers from `base` on are dealt out in order of first use."""
        key = next((k for k, known in self.types.items() if known == name and k[0] == level), None)
        if key is None:
            key = level, base + sum(k[0] == level and k[1] >= base and k[1] < base + 4096
                                    for k in self.types)
            self.types[key] = name
        times = [self.ticks_after(thread, 100)]
        yield self.host.epoch(times[0])
        times.append(self.ticks_after(thread, 100))
        self.record("api_event.data", raw.api_event(
            level, key[1], thread.number, *times, self.text(item) if item else 0))
        self.truth["cann_apis"].append({"level": level, "name": name, "tid": thread.number,
                                        "start_ns": self.host.epoch(times[0]),
                                        "end_ns": self.host.epoch(times[1])})

    def issue(self, thread, stream, task_type, function=None, blocks=0, ratio=0):
        """Hands a task to the runtime; returns what the host knows of it."""
        def track(name, number, batch=0):
            time = self.ticks_after(thread, 120)
            self.record("compact.task_track", raw.task_track(
                thread.number, time, self.device, stream.number, number | batch << 16,
                raw.TASK_TYPES[name], 0 if batch or not function else self.text(function),
                0 if batch else blocks, ratio))
            return time

        if stream.next_task == 65536:
            stream.batch, stream.next_task, stream.flips = stream.batch + 1, 1, True
            track("FLIP_TASK", 0, stream.batch)
        number, stream.next_task = stream.next_task, stream.next_task + 1
        time = track(task_type, number)
        return {"host_task_type": task_type, "stream": stream.number, "task": number,
                "batch": stream.batch, "context": NO_CONTEXT, "issued_ns": self.host.epoch(time)}

    @contextmanager
    def on_device(self, stream, task, entry, issued, after=0):
        """The time of a task on the device: yields its start, takes its end from the list."""
        start = max(stream.free + 60, issued + 2400, after)
        if stream.flips:
            stream.flips = False
            self.log.append((self.device_clock.ticks(start - 20), "ts_track.data",
                             lambda _, tick, number=stream.number, batch=stream.batch:
                             raw.track_flip(tick, number, batch, 0)))
        span = [start]
        yield span
        stream.free = span[-1]
        ticks = [self.device_clock.ticks(time) for time in (span[0], span[-1])]
        for end, tick in enumerate(ticks):
            self.log_task(end, tick, entry, stream.number, task["task"])
        self.tell_times(task, ticks)

    def tell_times(self, task, ticks):
        task.update(start_tick=ticks[0], end_tick=ticks[1],
                    start_ns=self.device_clock.epoch(ticks[0]),
                    end_ns=self.device_clock.epoch(ticks[1]),
                    dur_ns=self.device_clock.length(ticks[1] - ticks[0]))

    def log_task(self, end, tick, entry, stream, task):
        if self.stars:
            pack = lambda count, at: raw.stars_task(end, count, raw.ENTRIES[entry], stream, task, at)
        else:
            pack = lambda count, at: raw.hwts_task(end, count, raw.OLD_ENTRIES[entry], stream, task,
                                                   at)
        self.log.append((tick, "stars_soc.data" if self.stars else "hwts.data", pack))

    def simple_task(self, thread, stream, task_type, entry, time, launch, after=0):
        """A task that is no kernel and no piece of a collective."""
        task = self.issue(thread, stream, task_type)
        with self.on_device(stream, task, entry, thread.now, after) as span:
            span.append(span[0] + self.about(time))
        op, correlation = self.work or (None, None)
        task.update(op=op, correlation=correlation, launch_ns=self.launch(launch, task))
        self.link("task", len(self.truth["tasks"]), task)
        self.truth["tasks"].append(task)
        return task

    def launch(self, begin, task):
        """Where the arrow to the task begins: with the call around it, or with its record."""
        return begin if self.stars or begin is None else task["issued_ns"]

    def link(self, target, index, item):
        """An arrow from the operator of the work at hand."""
        if self.work:
            self.truth["flows"].append({"op": self.work[0], "target": target, "index": index,
                                        "correlation": self.work[1], "start_ns": item["start_ns"]})

    def copy(self, thread, stream, size, direction, name="aclrtMemcpyAsync", after=0):
        with self.call(thread, raw.ACL, name, 3 << 16) as launch:
            with self.call(thread, raw.RUNTIME, "MemcpyAsync", 1000):
                task = self.simple_task(thread, stream, "MEMCPY_ASYNC", "SDMA_SQE", 2300, launch,
                                        after)
                task["size"], task["direction"] = size, direction
                self.record("compact.memcpy_info", raw.memcpy_info(
                    thread.number, self.ticks_after(thread, 60), size, direction))

    def event(self, thread, stream, wait, after=0):
        """Records an event or waits for it; returns when the device did."""
        name = "aclrtStreamWaitEvent" if wait else "aclrtRecordEvent"
        kind = "EVENT_WAIT" if wait else "EVENT_RECORD"
        with self.call(thread, raw.ACL, name, 3 << 16) as launch:
            with self.call(thread, raw.RUNTIME, "StreamWaitEvent" if wait else "EventRecord", 1000):
                self.simple_task(thread, stream, kind, kind + "_SQE", 40, launch, after)
        return stream.free

    def kernel(self, thread, stream, acl, op_type, core, time, blocks, tensors, ratio=0, flag=0,
               scratch=0, before_start=False):
        if not self.stars and core not in ("AI_CORE", "AI_CPU"):
            core, ratio = "AI_CORE", 0
        name = f"{acl}_{op_type}_{op_type}"
        function = f"te_{op_type.lower()}_{raw.hash_text(op_type):016x}_1__kernel0"
        with self.call(thread, raw.ACL, acl, 5 << 16):
            with self.call(thread, raw.NODE, "launch", 5, name) as launch:
                with self.call(thread, raw.RUNTIME, "AicpuKernelLaunch" if core == "AI_CPU"
                               else "KernelLaunchWithHandle", 1000):
                    task = self.issue(thread, stream, HOST_TYPES[core], function, blocks, ratio)
                issued = thread.now
                at = self.ticks_after(thread, 100)
                key = self.text(name)
                if core == "MIX_AIC":
                    self.record("additional.context_id_info",
                                raw.context_id_info(raw.NODE, thread.number, at, key, [0]))
                self.record("additional.tensor_info",
                            raw.tensor_info(thread.number, at, key, tensors))
                self.record("compact.node_basic_info", raw.node_basic_info(
                    thread.number, at, key, raw.CORES[core], self.text(op_type), blocks, ratio,
                    flag))
                if scratch:
                    self.operator_memory(thread, name, scratch)
                    self.operator_memory(thread, name, -scratch)
        if tensors not in self.tensor_sets:
            self.tensor_sets.append(tensors)
        task.update(name=name, type=op_type, core=core, blocks=blocks, mix_blocks=blocks * ratio,
                    hf32=flag, tensors=self.tensor_sets.index(tensors))
        with self.on_device(stream, task, QUEUE_ENTRIES[core], issued) as span:
            span.append(span[0] + self.about(time))
            if core == "MIX_AIC":
                span.append(span[1] + 180)
        if core == "MIX_AIC":
            self.context_of(task, span)
        if core in COUNTER_PLACES:
            self.counters(task, core, blocks)
        op, correlation = self.work or (None, None)
        step = self.truth["steps"][-1]["id"] if self.truth["steps"] else None
        task.update(op=op, correlation=correlation, step=step,
                    launch_ns=self.launch(launch, task),
                    **({"before_start": True} if before_start else {}))
        self.link("kernel", len(self.truth["kernels"]), task)
        self.truth["kernels"].append(task)

    def context_of(self, task, span):
        """The kernel is the only context of a group; the task around it is a bit longer."""
        task.update(context=0, outer_start_ns=task["start_ns"], outer_end_ns=task["end_ns"])
        ticks = [self.device_clock.ticks(span[0] + 260), self.device_clock.ticks(span[1])]
        for end, tick in enumerate(ticks):
            self.log_context(end, tick, task, raw.CONTEXTS["MIX_AIC"], 0)
        self.tell_times(task, ticks)

    def log_context(self, end, tick, task, kind, context):
        self.log.append((tick, "stars_soc.data", lambda count, at: raw.stars_context(
            end, count, task["stream"], task["task"], at, kind, context)))

    def counters(self, task, core, blocks):
        begin, end = task["start_tick"] + 2, task["end_tick"] - 2
        cycles = (end - begin) * 36 * max(1, min(blocks, 24))
        values = [cycles * part // 100 for part in (31, 42, 17, 23, 38, 11, 4, 1)]
        task["counters"] = {"cycles": cycles, "values": values, "start_tick": begin,
                            "end_tick": end}
        kind, group = COUNTER_PLACES[core]
        if self.stars:
            self.log.append((end, "ffts_profile.data", lambda count, _: raw.stars_counters(
                count, task["stream"], task["task"], kind, 0, group, cycles, values, begin, end)))
        else:
            self.log.append((end, "aicore.data", lambda count, _: raw.hwts_counters(
                count, task["stream"], task["task"], cycles, values)))

    def operator_memory(self, thread, name, size):
        self.op_allocated += size
        time = self.ticks_after(thread, 80)
        self.record("additional.task_memory_info", raw.task_memory_info(
            thread.number, time, 0x12C180000000, size, self.text(name), self.op_allocated,
            128 << 20, self.device))
        self.truth["op_memory"].append({"name": name, "address": 0x12C180000000, "size": size,
                                        "time_ns": self.host.epoch(time),
                                        "allocated": self.op_allocated, "reserved": 128 << 20})

    # -- collectives

    def collective(self, thread, streams, op_type, group, count, data_type, parts, grouped=False,
                   after=0):
        """`parts`: (name, plane, peer, size, link, transport, time); plane n runs on streams[n].
        Grouped: all of them are contexts of one task."""
        planted = {"type": op_type, "group": group, "group_hash": str(raw.hash_text(group)),
                   "count": count, "data_type": data_type, "algorithm": "MESH-RING",
                   "mode": "ffts" if grouped else "stars", "tasks": []}
        with self.call(thread, raw.ACL, op_type, 7 << 16):
            with self.call(thread, raw.NODE, "launch", 5, op_type) as launch:
                time, key = self.ticks_after(thread, 80), self.text(op_type)
                self.record("compact.node_basic_info", raw.node_basic_info(
                    thread.number, time, key, raw.CORES["COMMUNICATION"], key, 0, 0, 0))
                self.record("compact.hccl_op_info", raw.hccl_op_info(
                    thread.number, self.ticks_after(thread, 40), raw.DATA_TYPES[data_type],
                    self.text("MESH-RING"), count, self.text(group)))
                run = self.grouped_parts if grouped else self.plain_parts
                run(thread, streams, planted, parts, after, launch)
        op, correlation = self.work
        masters = [part for part in planted["tasks"] if part["master"]]
        planted.update(op=op, correlation=correlation,
                       start_ns=min(part["start_ns"] for part in masters),
                       end_ns=max(part["end_ns"] for part in masters))
        self.link("collective", len(self.truth["collectives"]), planted)
        self.truth["collectives"].append(planted)

    def describe(self, thread, planted, part, context):
        """Writes the description of a piece; returns what it says."""
        name, plane, peer, size, link, transport, _ = part
        item = {"name": name, "plane": plane, "local_rank": self.setup.rank, "remote_rank": peer,
                "size": size, "link": link, "transport": transport, "rdma": "INVALID_TYPE",
                "notify": 70 + plane if name.startswith("Notify") else raw.NONE}
        self.text(name)
        self.record("additional.hccl_info", raw.hccl_info(
            thread.number, self.ticks_after(thread, 60),
            {**item, "context": context, "estimated": size / 20000 if size else 0,
             "data_type": raw.DATA_TYPES[planted["data_type"]] if size else 255},
            self.text("hccl_world_group"), raw.hash_text(planted["group"]), self.setup.ranks))
        return item

    def plain_parts(self, thread, streams, planted, parts, after, launch):
        for part in parts:
            master, stream = part[1] == 0, streams[part[1]]
            with self.call(thread, raw.COMMUNICATION, "master" if master else "slave", 0x10001,
                           part[0]):
                item = self.describe(thread, planted, part, NO_CONTEXT)
                task_type, entry, _ = PARTS[part[0]]
                task = self.issue(thread, stream, task_type)
                with self.on_device(stream, task, entry, thread.now, after) as span:
                    span.append(span[0] + self.about(part[-1]))
            item.update(task, master=master)
            planted["tasks"].append(item)

    def grouped_parts(self, thread, streams, planted, parts, after, launch):
        with self.call(thread, raw.COMMUNICATION, "master", 0x10001,
                       "Launch_Ffts"):
            self.record("additional.context_id_info", raw.context_id_info(
                raw.COMMUNICATION, thread.number, self.ticks_after(thread, 60),
                self.text(planted["type"]), [0, len(parts) - 1]))
            items = [self.describe(thread, planted, part, context)
                     for context, part in enumerate(parts)]
            task = self.issue(thread, streams[0], "FFTS_PLUS")
            with self.on_device(streams[0], task, "AI_CORE", thread.now, after) as span:
                free = {}
                for context, (part, item) in enumerate(zip(parts, items)):
                    begin = free.get(part[1], span[0] + 100 + 40 * part[1])
                    free[part[1]] = begin + self.about(part[-1]) + 60
                    item.update(task, context=context, master=True)
                    ticks = [self.device_clock.ticks(begin),
                             self.device_clock.ticks(free[part[1]] - 60)]
                    for end, tick in enumerate(ticks):
                        self.log_context(end, tick, task, raw.CONTEXTS[PARTS[part[0]][2]], context)
                    self.tell_times(item, ticks)
                    planted["tasks"].append(item)
                span.append(max(free.values()) + 100)
        op, correlation = self.work
        task.update(op=op, correlation=correlation, launch_ns=launch)
        self.link("task", len(self.truth["tasks"]), task)
        self.truth["tasks"].append(task)

    # -- marks and samples

    def range_mark(self, thread, domain, message, begin, device=None):
        """A range from `begin` (ticks) to the present; device: its marks (ticks, stream, task)."""
        self.mark += 1
        end = self.ticks_after(thread, 60)
        self.write_mark(thread, 2, domain, message, (begin, end), device)

    def point_mark(self, thread, domain, message):
        self.mark += 1
        time = self.ticks_after(thread, 60)
        self.write_mark(thread, 0, domain, message, (time, time), None)

    def write_mark(self, thread, event_type, domain, message, times, device):
        self.record("additional.msproftx", raw.msproftx(
            self.process, thread.number, *times, event_type, self.mark, self.text(domain),
            message.encode()))
        for tick, stream, task in device or ():
            self.log.append((tick, "ts_track.data", lambda _, at, mark=self.mark, stream=stream,
                             task=task: raw.track_mark(at, mark, stream, task, 12)))
        self.types[raw.TX, 0] = "msproftx"
        self.truth["mstx"].append({
            "mark": self.mark, "event_type": event_type, "domain": domain, "message": message,
            "tid": thread.number, "start_ns": self.host.epoch(times[0]),
            "end_ns": self.host.epoch(times[1]),
            "device": device and {
                "stream": device[0][1], "tasks": [task for _, _, task in device],
                "start_ns": self.device_clock.epoch(device[0][0]),
                "end_ns": self.device_clock.epoch(device[1][0])}})

    def trace_task(self, thread, stream):
        """The task by which the device notes the time of a mark: (ticks, stream, task)."""
        task = self.issue(thread, stream, "PROFILER_TRACE_EX")
        stream.free = max(stream.free + 60, thread.now + 2400)
        return self.device_clock.ticks(stream.free), stream.number, task["task"]

    def sample_memory(self, time, hbm):
        anchor = self.setup.device_anchor
        for whole_device in (False, True):
            microseconds = (time - anchor) // 1000 + 220 * whole_device
            self.record("npu_mem.data", raw.device_memory(microseconds, whole_device,
                                                          hbm << whole_device))
            self.truth["device_memory"].append({
                "time_us": microseconds, "device": whole_device, "hbm": hbm << whole_device,
                "time_ns": self.setup.device_anchor_epoch + 1000 * microseconds})
        for module, name, size in ((3, "HCCL", 3 << 20), (7, "RUNTIME", 7 << 20)):
            tick = self.module_clock.ticks(time + 100 * module)
            self.record("npu_module_mem.data", raw.module_memory(module, tick, size))
            self.truth["module_memory"].append({"module": module, "name": name, "reserved": size,
                                                "time_ns": self.module_clock.epoch(tick)})

    def core_frequencies(self, changes):
        ticks = [(self.device_clock.ticks(time), mhz) for time, mhz in changes]
        self.record("lpmFreqConv.data", raw.core_frequencies(ticks))
        self.truth["frequency"] += [{"tick": tick, "mhz": mhz,
                                     "time_ns": self.device_clock.epoch(tick)}
                                    for tick, mhz in ticks]

    # -- what was recorded

    def drain(self):
        """The bytes recorded since the last call, by file; the device log in order of time."""
        order = sorted(range(len(self.log)), key=lambda i: (self.log[i][0], i))
        for i in order:
            tick, file, pack = self.log[i]
            self.record(file, pack(self.count(file), tick))
        files = {name: b"".join(pieces) for name, pieces in self.files.items()}
        self.log, self.files = [], {}
        return files
