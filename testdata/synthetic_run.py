"""The synthetic run of the test captures: host operators, device kernels, copies and collectives.

Every number is planted, README.md works the results out by hand. The tables are in milliseconds
after EPOCH; records hold nanoseconds.
"""
EPOCH = 1700000000000000000
PID, MAIN, BACKWARD, DEQUEUE = 1000, 1001, 1002, 1003


def ns(ms):
    return round(ms * 1000000)


class Record(dict):
    __getattr__ = dict.get


class Run:
    """The synthetic run; slow=True is the "new" one."""
    step_length = 1000  # ms
    enqueue_length = 2  # ms
    core_types = False  # whether the trace tells vector cores apart by the type of a task
    runtime_calls = ()

    def __init__(self, slow):
        self.slow, self.kernels, self.tasks, self.comm_ops, self.comm_tasks = slow, [], [], [], []
        self._host()
        self._device()
        self._communication()
        linked = [x for x in self.kernels + self.tasks + self.comm_ops if x.op]
        linked.sort(key=lambda x: (x.op.start, x.start))
        rest = [x for x in self.kernels + self.tasks + self.comm_ops if not x.op]
        for number, item in enumerate(linked + sorted(rest, key=lambda x: x.start), 101):
            item["connection"] = number
        self.launches = linked
        for number, item in enumerate(sorted(self.kernels + self.tasks, key=lambda x: x.start), 1):
            item["task"] = number

    def _host(self):
        rows = [  # key, name, thread, start, duration, shapes, types, how the trace writes ts
            ("step1", "ProfilerStep#1", MAIN, 0, 990, "", "", ""),
            ("copy", "aten::to", MAIN, 50, 20, "8,3,32,32", "float", ""),
            ("conv0", "aten::conv2d", MAIN, 100, 40, "8,3,32,32;\r\n16,3,3,3", "float;\r\nfloat",
             ""),
            ("conv", "aten::convolution", MAIN, 105, 30, "8,3,32,32;\r\n16,3,3,3",
             "float;\r\nfloat", ""),
            ("mm", "aten::mm", MAIN, 150, 20, "8,64;\r\n64,64", "float;\r\nfloat", ""),
            ("fa", "npu::npu_fusion_attention", MAIN, 180, 40, "1,64,128", "c10::BFloat16", ""),
            ("add", "aten::add", MAIN, 225, 10, "8,64;\r\n8,64", "float;\r\nfloat", "tab"),
            ("cast", "aten::to", MAIN, 240, 10, "8,64", "float", "integer"),
            ("scale", "自定义::scale", MAIN, 255, 10, "8,64", "float", "float"),
            ("fab0", "autograd::engine::evaluate_function: NpuFusionAttentionBackward0", BACKWARD,
             400, 40, "", "", ""),
            ("fab", "npu::npu_fusion_attention_grad", BACKWARD, 405, 30, "1,64,128",
             "c10::BFloat16", ""),
            ("convb0", "autograd::engine::evaluate_function: ConvolutionBackward0", BACKWARD, 450,
             30, "", "", ""),
            ("convb", "aten::convolution_backward", BACKWARD, 455, 20, "8,16,30,30", "float", ""),
            ("again", "aten::conv2d", BACKWARD, 490, 20, "8,3,32,32;\r\n16,3,3,3",
             "float;\r\nfloat", ""),
            ("mmb0", "autograd::engine::evaluate_function: MmBackward0", BACKWARD, 515, 25, "", "",
             ""),
            ("mmb", "aten::mm", BACKWARD, 520, 10, "64,8;\r\n8,64", "float;\r\nfloat", ""),
            ("dp1", "c10d::allreduce_", BACKWARD, 550, 10, "64,64", "float", ""),
            ("tp1", "c10d::allgather_", BACKWARD, 565, 5, "64,64", "float", ""),
            ("add1", "aten::add_", MAIN, 580, 10, "64,64", "float", ""),
            ("step2", "ProfilerStep#2", MAIN, 1000, 990, "", "", ""),
            ("mm2", "aten::mm", MAIN, 1100, 20, "8,64;\r\n64,64", "float;\r\nfloat", ""),
            ("dp2", "c10d::allreduce_", BACKWARD, 1200, 10, "64,64", "float", ""),
            ("add2", "aten::add_", MAIN, 1220, 10, "64,64", "float", ""),
            ("sgd", "aten::_foreach_add_", MAIN, 1240, 20, "64,64", "float", "")]
        if self.slow:
            rows.insert(21, ("addmm", "aten::addmm", MAIN, 1130, 20, "64;\r\n8,64;\r\n64,64",
                             "float;\r\nfloat;\r\nfloat", ""))
        keys = ("key", "name", "thread", "start", "dur", "shapes", "types", "style")
        self.ops = [Record(zip(keys, row)) for row in rows]
        for op in self.ops:
            op["start"], op["dur"] = ns(op.start), ns(op.dur)
        self.op = {op.key: op for op in self.ops}
        self.fwdbwd = [(901, "conv0", "convb0"), (902, "mm", "mmb0"), (903, "fa", "fab0")]
        self.queue = [(1, "conv", "Conv2D", 125, 130, 20), (2, "mm", "MatMulV2", 160, 170, 10)]
        self.python = [Record(name=name, start=ns(start), dur=ns(dur), id=i, parent=i - 1)
                       for i, (name, start, dur) in
                       enumerate([("train.py(10): step", 80, 200), ("nn.Module: Net_0", 90, 180),
                                  ("nn.Module: Conv2d_0", 95, 50)], 1)]
        conv_kb = 6144 if self.slow else 4096
        self.memory = [  # name, KB, allocation, release (None = not released)
            ("aten::conv2d", conv_kb, 106, 900), ("cann::Conv2D", 512, 140, 600),
            ("aten::mm", 1024, 155, None), ("npu::npu_fusion_attention", 2048, 185, "N/A"),
            ("aten::convolution_backward", 8192, 456, 800)]
        reserved = 2560 if self.slow else 2048
        self.records = [("PTA", 106, 1024), ("PTA", 456, reserved - 512), ("PTA", 1250, 1280),
                        ("APP", 500, reserved)]

    def kernel(self, op, name, kind, core, dur, shapes="8,64", stream=2, start=None, counters=None):
        if start is not None:
            self._cursor = ns(start)
        half = dur / 2
        cube = dict(aic=dur, mac=half, mte2=half, aiv=0, vec=0)
        vector = dict(aic=0, mac=0, mte2=0, aiv=dur, vec=half)
        if counters is None and core != "AI_CPU":
            counters = cube if core in ("AI_CORE", "MIX_AIC") else vector
        self.kernels.append(Record(op=self.op.get(op), name=name, type=kind, core=core,
                                   start=self._cursor, dur=ns(dur),
                                   shapes=shapes, stream=stream, counters=counters,
                                   style=self.op.get(op, {}).get("style")))
        self._cursor += ns(dur)

    def hardware(self, name, task_type, start, dur, stream, db_type=None, op=None, **extra):
        self.tasks.append(Record(name=name, type=task_type, db_type=db_type or task_type,
                                 start=ns(start),
                                 dur=ns(dur), stream=stream, op=self.op.get(op), **extra))

    def _device(self):
        k, cube, vector = self.kernel, "AI_CORE", "AI_VECTOR_CORE"
        k("conv", "trans_TransData_0", "TransData", vector, 5, "8,3,32,32", start=200)
        k("conv", "Conv2D1", "Conv2D", cube, 60 if self.slow else 40, "8,1,32,32,8;9,2,16,8")
        k("mm", "aclnnMm_MatMulV2_MatMulV2", "MatMulV2", cube, 30, "8,64;64,64")
        k("mm", "aclnnMm_CastAiCore_Cast", "Cast", vector, 4)
        k("fa", "aclnnFlashAttentionScore_FlashAttentionScore_FlashAttentionScore",
          "FlashAttentionScore", "MIX_AIC", 20, "1,64,128;1,64,128")
        k("fa", "aclnnFlashAttentionScore_ZerosLike_ZerosLike", "ZerosLike", "MIX_AIV", 3)
        k("add", "aclnnAdd_AddAiCore_Add", "Add", vector, 6, "8,64;8,64")
        k("cast", "aclnnCast_CastAiCore_Cast", "Cast", vector, 2)
        k("scale", "aclnnMuls_MulAiCore_Mul", "Mul", vector, 4, "8,64;")
        k("fab", "aclnnFlashAttentionScoreGrad_FlashAttentionScoreGrad_FlashAttentionScoreGrad",
          "FlashAttentionScoreGrad", "MIX_AIC", 25, "1,64,128;1,64,128", start=500)
        k("fab", "aclnnFlashAttentionScoreGrad_ZerosLike_ZerosLike", "ZerosLike", "MIX_AIV", 2)
        k("convb", "Conv2DBackpropInput1", "Conv2DBackpropInput", cube, 50, "4;8,2,30,30,8")
        k("convb", "trans_TransData_1", "TransData", vector, 5, "8,16,30,30")
        k("again", "Conv2D2", "Conv2D", cube, 10, "8,1,32,32,8;9,2,16,8")
        k("again", "trans_TransData_2", "TransData", vector, 1, "8,3,32,32")
        k("mmb", "aclnnMm_MatMulV2_MatMulV2", "MatMulV2", cube, 16, "64,8;8,64")
        k("add1", "aclnnInplaceAdd_AddAiCore_Add", "Add", vector, 10, "64,64;64,64", start=750)
        k("mm2", "aclnnMm_MatMulV2_MatMulV2", "MatMulV2", cube, 30, "8,64;64,64", start=1200)
        if self.slow:
            k("addmm", "aclnnAddmm_MatMulV2_MatMulV2", "MatMulV2", cube, 20, "8,64;64,64;64")
        k(None, "PagedAttentionMaskNdKernel", "PagedAttentionMaskNdKernel", "MIX_AIC", 12,
          "1,64,128")
        k(None, "aclnnInplaceCopy_TensorMove_TensorMove", "TensorMove", vector, 8)
        mc2 = self._cursor / 1000000
        k(None, "AllGatherMatmul", "AllGatherMatmul", "MIX_AIC", 8, "8,64;64,64",
          counters=dict(aic=5, mac=2, mte2=3, aiv=1, vec=0.5))
        k(None, "FlashAttentionScore_2", "FlashAttentionScore", "MIX_AIC", 7, "1,64,128;1,64,128")
        k(None, "FlashAttentionScoreGrad_2", "FlashAttentionScoreGrad", "MIX_AIC", 9,
          "1,64,128;1,64,128")
        k(None, "FusedInferAttentionScore_1", "FusedInferAttentionScore", "MIX_AIC", 11, "1,64,128")
        k(None, "Conv2D3", "Conv2D", cube, 13, "8,1,32,32,8;9,2,16,8")
        k(None, "Conv2DBackpropFilter1", "Conv2DBackpropFilter", cube, 15, "8,1,32,32,8;4")
        k(None, "BatchMatMul1", "BatchMatMulV2", cube, 14, "2,8,8;2,8,8")
        k(None, "Gemm1", "Gemm", cube, 17, "8,8;8,8")
        k(None, "Transpose_1", "Transpose", vector, 3)
        k(None, "Mul_1", "Mul", vector, 4, "8,64;")
        k(None, "aclnnUnique_UniqueAiCpu_Unique", "Unique", "AI_CPU", 18, "64", stream=3)
        k("add2", "aclnnInplaceAdd_AddAiCore_Add", "Add", vector, 20, "64,64;64,64", start=1490)
        k("sgd", "aclnnForeachAddList_ForeachAddList_ForeachAddList", "ForeachAddList", vector, 40,
          "64,64;64,64", start=1580 if self.slow else 1560)
        h = self.hardware
        h("PROFILING_ENABLE", "PLACE_HOLDER_SQE", 140, 0.02, 0, "PROFILING_ENABLE")
        h("MEMCPY_ASYNC", "PCIE_DMA_SQE", 150, 10, 2, "MEMCPY_ASYNC", op="copy")
        h("EVENT_WAIT", "EVENT_WAIT_SQE", 1198, 0.02, 2, "EVENT_WAIT")
        h("EVENT_RECORD", "EVENT_RECORD_SQE", 1198, 0.02, 3, "EVENT_RECORD")
        h("C_CORE_SQE", "C_CORE_SQE", mc2 + 0.5, 0.5, 6)
        h("C_CORE_SQE", "C_CORE_SQE", mc2 + 3.5, 0.5, 6)
        h("kernel_aivec", "AI_VECTOR_CORE", 1400, 20, 5, "KERNEL_AIVEC", lccl=True)
        h("MEMCPY_ASYNC", "SDMA_SQE", 1430, 5, 2)
        h("MEMCPY_ASYNC", "SDMA_SQE", 1436, 4, 3)
        h("MEMCPY_ASYNC", "SDMA_SQE", 1442, 3, 7)

    def _communication(self):
        more = 20 if self.slow else 0
        rows = [  # op, name, type, group, start, duration, tasks: plane, name, start, duration
            ("dp1", "hcom_allReduce__001_0_1", "hcom_allReduce_", "group_0", 700, 40, [
                (0, "Notify_Wait", 700, 10), (0, "RDMASend", 710, 1), (0, "RDMASend", 711, 1),
                (0, "Notify_Wait", 712, 1),
                (0, "RDMASend", 713, 1), (0, "Notify_Wait", 714, 2), (0, "Memcpy", 716, 20),
                (0, "Reduce_Inline", 736, 4),
                (1, "Notify_Wait", 700, 20), (1, "RDMASend", 720, 1), (1, "RDMASend", 721, 1),
                (1, "Notify_Wait", 722, 5),
                (1, "Notify_Record", 727, 0.02)]),
            ("tp1", "hcom_allGather__002_0_1", "hcom_allGather_", "group_1", 720, 40, [
                (0, "Notify_Wait", 720, 6), (0, "Memcpy", 726, 10), (0, "RDMASend", 736, 1),
                (0, "RDMASend", 737, 1),
                (0, "Notify_Wait", 738, 3), (1, "Memcpy", 720, 20), (1, "Reduce_Inline", 740, 5)]),
            ("dp2", "hcom_allReduce__001_1_1", "hcom_allReduce_", "group_0", 1500, 30 + more, [
                (0, "Notify_Wait", 1500, 14 + more), (0, "Memcpy", 1514 + more, 16),
                (1, "Notify_Wait", 1500, 18 + more)])]
        self.add_collectives(rows)

    def add_collectives(self, rows):
        for number, (op, name, kind, group, start, dur, tasks) in enumerate(rows, 1):
            self.comm_ops.append(Record(op=self.op[op], name=name, type=kind, group=group,
                                        start=ns(start), dur=ns(dur), id=number))
            for plane, task, begin, length in tasks:
                self.comm_tasks.append(Record(name=task, group=group, plane=plane, start=ns(begin),
                                              dur=ns(length), op_id=number))

    def overlap(self, whole=True):
        """(name, thread, start, end) of the Overlap Analysis tracks. `whole`: free time lasts from
        the first to the last device task, as current exporters have it, not only from the first to
        the last kernel or collective."""
        compute = union((k.start, k.start + k.dur) for k in self.kernels)
        comm = union((c.start, c.start + c.dur) for c in self.comm_ops)
        busy = union(compute + comm)
        bounds = [(x.start, x.start + x.dur) for x in self.tasks if whole
                  and x.db_type not in ("PROFILING_ENABLE", "KERNEL_AIVEC")]
        free = subtract(span_of(busy + bounds), busy)
        tracks = [("Computing", compute), ("Communication", comm),
                  ("Communication(Not Overlapped)", subtract(comm, compute)), ("Free", free)]
        return [(name, thread, *span)
                for thread, (name, spans) in enumerate(tracks) for span in spans]


def span_of(spans):
    return [(min(start for start, _ in spans), max(end for _, end in spans))]


def union(spans):
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def subtract(spans, holes):
    left = []
    for start, end in spans:
        for a, b in holes:
            if a < end and b > start:
                if a > start:
                    left.append((start, a))
                start = b
        if start < end:
            left.append((start, end))
    return left
