# SPDX-License-Identifier: Apache-2.0
"""The records of a raw capture as bytes: one function a kind, times in counter ticks."""
import struct

ACL, MODEL, NODE, COMMUNICATION, RUNTIME, TX = 20000, 15000, 10000, 5500, 5000, 20500
HOST_MAGIC, DEVICE_MAGIC = 0x5A5A, 0x6BD3
NONE = 0xFFFFFFFF  # no context, no rank, no kind

# Numbers of what the runtime hands to the device.
TASK_TYPES = {"KERNEL_AICORE": 0, "KERNEL_AICPU": 1, "EVENT_RECORD": 2, "EVENT_WAIT": 3,
              "MEMCPY_ASYNC": 5, "MODEL_EXECUTE": 13, "NOTIFY_WAIT": 14, "NOTIFY_RECORD": 15,
              "PROFILER_TRACE_EX": 26, "STARS_COMMON": 50, "FFTS_PLUS": 52, "PROFILING_ENABLE": 64,
              "PROFILING_DISABLE": 65, "KERNEL_AIVEC": 66, "REDUCE_ASYNC_V2": 92, "FLIP_TASK": 98,
              "KERNEL_MIX_AIC": 108, "KERNEL_MIX_AIV": 109}
CORES = {"AI_CORE": 0, "AI_CPU": 1, "AI_VECTOR_CORE": 2, "MIX_AIC": 4, "MIX_AIV": 5, "DSA_SQE": 7,
         "COMMUNICATION": 9}
# How the profiler registers the kinds of host records; their files are named after them.
RECORD_TYPES = {(NODE, 0): "node_basic_info", (NODE, 1): "tensor_info", (NODE, 4): "context_id_info",
                (NODE, 6): "task_memory_info", (NODE, 10): "hccl_op_info",
                (COMMUNICATION, 0): "hccl_info", (COMMUNICATION, 4): "context_id_info",
                (RUNTIME, 801): "memcpy_info", (RUNTIME, 802): "task_track", (TX, 0): "msproftx"}
# Queue entries of the device log, and what runs inside a group of contexts.
ENTRIES = {"AI_CORE": 0, "AI_CPU": 1, "AIV_SQE": 2, "PLACE_HOLDER_SQE": 3, "EVENT_RECORD_SQE": 4,
           "EVENT_WAIT_SQE": 5, "NOTIFY_RECORD_SQE": 6, "NOTIFY_WAIT_SQE": 7, "SDMA_SQE": 11,
           "DSA_SQE": 15, "PCIE_DMA_SQE": 17}
OLD_ENTRIES = {**ENTRIES, "SDMA_SQE": 9}  # of the HWTS chips
CONTEXTS = {"AIC": 0, "AIV": 1, "Notify Wait": 3, "Write Value": 5, "MIX_AIC": 6, "MIX_AIV": 7,
            "SDMA": 8}
FORMATS = {"NCHW": 0, "ND": 2, "FRACTAL_NZ": 29}
TENSOR_TYPES = {"FLOAT": 0, "FLOAT16": 1, "INT32": 3, "UINT8": 4, "INT64": 9, "BOOL": 12,
                "DT_BF16": 27}
DATA_TYPES = {"FP16": 3, "FP32": 4, "BFP16": 11}
LINKS = {"ON_CHIP": 0, "HCCS": 1, "RESERVED": 255}
TRANSPORTS = {"SDMA": 0, "RDMA": 1, "LOCAL": 2}


def padded(payload, size):
    assert len(payload) <= size, "the payload does not fit into its record"
    return payload + bytes(size - len(payload))


def hash_text(text):
    """A stable key of 64 bits for the dictionary (FNV-1a)."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


# -- host

def api_event(level, kind, thread, begin, end, item=0, request=0):
    return struct.pack("<HHIIIQQQ", HOST_MAGIC, level, kind, thread, request, begin, end, item)


def prefix(level, kind, thread, payload, time):
    return struct.pack("<HHIIIQ", HOST_MAGIC, level, kind, thread, len(payload), time)


def compact(level, kind, thread, time, payload):
    return prefix(level, kind, thread, payload, time) + padded(payload, 40)


def additional(level, kind, thread, time, payload):
    return prefix(level, kind, thread, payload, time) + padded(payload, 232)


def task_track(thread, time, device, stream, task, task_type, function=0, blocks=0, ratio=0):
    return compact(RUNTIME, 802, thread, time,
                   struct.pack("<HHIQQHHB11x", device, stream, task, task_type, function, blocks,
                               256, ratio))


def task_track_v2(thread, time, device, stream, task, task_type, function=0, blocks=None, ratio=0):
    """The later form of task_track; without `blocks` the record does not say them."""
    payload = struct.pack("<HHIIIQ", device, 0, stream, task, task_type, function)
    return compact(RUNTIME, 802, thread, time, payload + blocks_of(blocks, ratio))


def short_task_track(thread, time, device, stream, task, task_type, function=0):
    return compact(RUNTIME, 802, thread, time,
                   struct.pack("<HHIQQ", device, stream, task, task_type, function))


def blocks_of(blocks, ratio):
    return b"" if blocks is None else struct.pack("<HHB11x", blocks, 256, ratio)


def capture_stream_info(thread, time, ends, stream, original, model, device):
    return compact(RUNTIME, 803, thread, time,
                   struct.pack("<HHHHH", ends, stream, original, model, device))


def capture_stream_info_v2(thread, time, ends, stream, original, model, device):
    return compact(RUNTIME, 803, thread, time,
                   struct.pack("<HBBIII", device, ends, 0, stream, original, model))


def capture_op_info(thread, time, model, device, stream, task, core, blocks, ratio, name, op_type,
                    attributes, flag, tensors):
    """An operator of a captured graph; more than three tensors make a record of their length."""
    payload = struct.pack("<IIIIIIQQQQII", model, device, stream, task, CORES[core],
                          blocks | ratio << 16, name, op_type, attributes, 0, flag, len(tensors))
    payload += b"".join(tensor(*one) for one in tensors)
    if len(tensors) <= 3:
        return additional(RUNTIME, 805, thread, time, payload)
    return prefix(RUNTIME, 805, thread, payload, time) + payload


def mc2_comm_info(thread, time, group, ranks, rank, schedule_stream, streams):
    return additional(NODE, 12, thread, time, struct.pack(
        "<QIIIII8I", group, ranks, rank, rank, schedule_stream, len(streams),
        *streams, *[0] * (8 - len(streams))))


def node_basic_info(thread, time, name, core, op_type, blocks, ratio, flag):
    return compact(NODE, 0, thread, time,
                   struct.pack("<QIQII", name, core, op_type, blocks | ratio << 16, flag))


def hccl_op_info(thread, time, data_type, algorithm, count, group):
    return compact(NODE, 10, thread, time,
                   struct.pack("<BBQQQ", 0, data_type, algorithm, count, group))


def memcpy_info(thread, time, size, direction):
    return compact(RUNTIME, 801, thread, time, struct.pack("<QQH", size, 1 << 26, direction))


def tensor_info(thread, time, name, tensors):
    """The records of all tensors: (is output, format, type, shape); five fit into one."""
    records = []
    for first in range(0, len(tensors), 5):
        some = tensors[first:first + 5]
        payload = struct.pack("<QI", name, len(some))
        payload += b"".join(tensor(*one) for one in some)
        records.append(additional(NODE, 1, thread, time, payload))
    return b"".join(records)


def tensor(output, layout, kind, shape):
    return struct.pack("<III8I", output, FORMATS[layout], TENSOR_TYPES[kind], *shape,
                       *[0] * (8 - len(shape)))


def context_id_info(level, thread, time, name, ids):
    return additional(level, 4, thread, time,
                      struct.pack(f"<QI{len(ids)}I", name, len(ids), *ids))


def hccl_info(thread, time, part, tag, group, ranks):
    return additional(COMMUNICATION, 0, thread, time, struct.pack(
        "<QQQIIIIIIQIIdQQQIIIIII", hash_text(part["name"]), tag, group, part["local_rank"],
        part["remote_rank"], ranks, 0, part["plane"], part["context"], part["notify"], 0, 1,
        float(part["estimated"]), 0, 0, part["size"], 0, part["data_type"], LINKS[part["link"]],
        TRANSPORTS[part["transport"]], NONE, 0))


def task_memory_info(thread, time, address, size, name, allocated, reserved, device):
    return additional(NODE, 6, thread, time, struct.pack(
        "<QqQQQII", address, size, name, allocated, reserved, device, 20))


def msproftx(process, thread, begin, end, event_type, mark, domain, message):
    """The records of one mark; a long message takes several."""
    pieces = [message[at:at + 155] for at in range(0, len(message), 155)]
    return b"".join(
        additional(TX, 0, thread, begin, struct.pack(
            "<HHIHHIIIIiQQQQQi", 1, index, 0, HOST_MAGIC, 0, process, thread, 0, event_type, 0, 0,
            begin, end, mark, domain, 0) + piece)
        for index, piece in enumerate(pieces))


# -- device

def header(function, count, entry):
    return struct.pack("<HH", function | (count & 15) << 6 | entry << 10, DEVICE_MAGIC)


def stars_task(end, count, entry, stream, task, time):
    return header(int(end), count, entry) + padded(struct.pack("<HHQ", stream, task, time), 60)


def stars_context(end, count, stream, task, time, kind, context):
    return header(0b100010 | end, count, 0) + padded(
        struct.pack("<HHQHHHH", stream, task, time, kind, context, 4 << 13, 0), 60)


def hwts_task(end, count, entry, stream, task, time):
    return struct.pack("<BBHHHQI", int(end) | (count & 15) << 4, entry, DEVICE_MAGIC, 0, task,
                       time, stream) + bytes(44)


def stars_counters(count, stream, task, kind, context, group, cycles, values, begin, end):
    return header(0b101000, count, 0) + struct.pack(
        "<HHQHHHHQQQ8QQQ", stream, task, end, kind, context, group << 13, 0, 0, cycles, 0,
        *values, begin, end)


def hwts_counters(count, stream, task, cycles, values):
    return struct.pack("<BBHHHIIQQ8QI28x", (count & 15) << 4, 0, 0, 0, task, 0, 0, cycles, 0,
                       *values, stream)


def ai_cpu_kernel(stream, task, start, compute, copy, copied, end, submitted, done, dispatch):
    """start, end, submitted, done: ticks; compute, copy, copied: µs."""
    payload = struct.pack("<HHIQQQQQQQIIQQQQIIIHBB", stream, task, 0, 0, start, compute, copy,
                          copied, 0, end, 77, 0, submitted, submitted, start, done, 0, dispatch, 0,
                          0, 0, 0)
    return additional(6000, 0, 77, start, payload)


def input_queue(time, action, source, size):
    """time: monotonic ns."""
    return additional(6000, 1, 77, time, struct.pack("<16s64sQQQQ", action.encode(),
                                                     source.encode(), 1, size, 0, 0)[:112])


def input_queue_of_old(time, action, source, size):
    """The same in the files DATA_PREPROCESS.DP."""
    return struct.pack("<HHIQ16s64sQQQQ", HOST_MAGIC, 100, 0, time, action.encode(),
                       source.encode(), 1, size, 0, 0)


def ai_cpu_kernel_of_old(*values):
    """The same in the files DATA_PREPROCESS.AICPU."""
    payload = ai_cpu_kernel(*values)[24:]
    return struct.pack("<HH", HOST_MAGIC, 60) + payload[:4] + payload[8:128]


def track_step(time, index, model, stream, task, tag):
    return struct.pack("<BBHIQQQHHHH", 0, 10, 0, 0, time, index, model, stream, task, tag, 0)


def track_mark(time, mark, stream, task, tag):
    return track_step(time, mark, NONE, stream, task, tag)


def track_flip(time, stream, number, task):
    return struct.pack("<BBHIQHHHH16x", 0, 14, 0, 0, time, stream, number, 0, task)


def core_frequencies(changes):
    """One record; changes: (ticks, MHz)."""
    return padded(struct.pack("<II", len(changes), 0) +
                  b"".join(struct.pack("<QII", ticks, mhz, 0) for ticks, mhz in changes), 888)


def device_memory(microseconds, whole_device, hbm):
    return struct.pack("<IIQQQ", microseconds, int(whole_device), 0, 0, hbm)


def module_memory(module, time, reserved):
    return struct.pack("<IIQQ", module, 0, time, reserved)


# -- traffic of the device

def seconds(stamp):
    """Nanoseconds as text files have them."""
    return f"{stamp // 10**9}:{stamp % 10**9:09d}"


def hccs_line(stamp, tx, rx):
    return f"{seconds(stamp)} {tx} {rx}\n".encode()


def network_line(stamp, bandwidth, rx, tx, behind):
    columns = [seconds(stamp), bandwidth, *rx, *tx, *behind]
    return (" ".join(map(str, columns)) + "\n").encode()


def pcie_sample(stamp, device, spreads):
    return struct.pack("<QI21I", stamp, device, *(value for spread in spreads for value in spread))


def hbm_sample(microseconds, count, write, hbm):
    return struct.pack("<QQII", microseconds, count, write, hbm)


def ddr_sample(microseconds, count, write, ddr, master=NONE):
    return struct.pack("<IIIII", microseconds, count, write, ddr, master)


def llc_sample(microseconds, count, event, llc):
    return struct.pack("<QQII", microseconds, count, event, llc)


def l2_cache(task_type, stream, task, events):
    return struct.pack("<HHHH8Q", task_type, stream, task, 0, *events, *[0] * (8 - len(events)))


# -- framework

def tlv(kind, fixed, fields):
    value = fixed
    for number, text in fields:
        text = text.encode()
        value += struct.pack("<HI", number, len(text)) + text
    return struct.pack("<HI", kind, len(value)) + value


def op_range(begin, end, sequence, process, thread, forward, scope, fields):
    return tlv(1, struct.pack("<qqqQQQQBB", begin, end, sequence, process, thread, thread, forward,
                              scope, 0), fields)


def op_mark(time, category, correlation, thread, process, name):
    return tlv(2, struct.pack("<qQQQQ", time, category, correlation, thread, process), [(1, name)])


def memory_usage(address, time, size, allocated, reserved, active, stream, component, action,
                 thread, process):
    return tlv(3, struct.pack("<qqqqqqqbbBBBQQ", address, time, size, allocated, reserved, active,
                              stream, 20, 0, component, action, 0, thread, process), [])


def gc_record(process, begin, end):
    return struct.pack("<QQQ", process, begin, end)


def python_call(time, thread, process, key, tag):
    return struct.pack("<QQQQB", time, thread, process, key, tag)


def python_name(key, text):
    return tlv(4, struct.pack("<Q", key), [(1, text)])
