"""The run of the twin captures: one training run for every sheet of the comparison.

README.md works the results out by hand. As in synthetic_run.py the tables are in milliseconds.
"""
from synthetic_run import BACKWARD, MAIN, Record, Run, ns

STEP_STACK = "train.py(20): step;\r\ntrain.py(5): main"
MODEL_STACK = "linear.py(12): forward;\r\nmodel.py(30): forward;\r\n" + STEP_STACK
TWO = "float;\r\nfloat"


class Twin(Run):
    """slow=True is the "new" run."""
    step_length, core_types = 500, True

    def _host(self):
        more = 4 if self.slow else 0
        evaluate = "autograd::engine::evaluate_function: "
        rows = [  # key, name, thread, start, duration, shapes, types, call stack
            ("step1", "ProfilerStep#1", MAIN, 10, 480, "", "", ""),
            ("linear1", "aten::linear", MAIN, 45, 40, "8,64;\r\n64,64", TWO, MODEL_STACK),
            ("addmm1", "aten::addmm", MAIN, 50, 30, "64;\r\n8,64;\r\n64,64", f"{TWO};\r\nfloat",
             MODEL_STACK),
            ("linear2", "aten::linear", MAIN, 105, 40, "8,64;\r\n64,64", TWO, MODEL_STACK),
            ("addmm2", "aten::addmm", MAIN, 110, 30, "64;\r\n8,64;\r\n64,64", f"{TWO};\r\nfloat",
             MODEL_STACK),
            ("to", "aten::to", MAIN, 165, 12, "64", "float", ""),
            ("upload", "aten::copy_", MAIN, 167, 6, "64;\r\n64", TWO, ""),
            ("norm", "aten::native_layer_norm", MAIN, 180, 15, "", "", ""),
            ("relu", "aten::relu", MAIN, 205, 7, "8,64", "float", STEP_STACK),
            ("normb0", evaluate + "NativeLayerNormBackward0", BACKWARD, 240, 40, "", "", ""),
            ("normb", "aten::native_layer_norm_backward", BACKWARD, 245, 25, "8,64", "float", ""),
            ("sum", "aten::sum", MAIN, 250, 80 + more, "8,64", "float", STEP_STACK),
            ("copy", "aten::copy_", MAIN, 260, 40, "8,64;\r\n8,64", TWO, STEP_STACK),
            ("addmmb2", evaluate + "AddmmBackward0", BACKWARD, 290, 45, "", "", ""),
            ("mm1", "aten::mm", BACKWARD, 295, 15, "8,64;\r\n64,64", TWO, ""),
            ("mm2", "aten::mm", BACKWARD, 315, 15, "64,8;\r\n8,64", TWO, ""),
            ("tp1", "c10d::allgather_", MAIN, 336, 10, "64,64", "float", ""),
            ("addmmb1", evaluate + "AddmmBackward0", BACKWARD, 345, 35, "", "", ""),
            ("mm3", "aten::mm", BACKWARD, 350, 15, "8,64;\r\n64,64", TWO, ""),
            ("dp1", "c10d::allreduce_", BACKWARD, 385, 15, "64,64", "float", ""),
            # two that start together, the inner one first
            ("divide", "aten::true_divide", MAIN, 410, 10, "8,64", "float", ""),
            ("div", "aten::div", MAIN, 410, 15, "8,64", "float", ""),
            ("sgd", "Optimizer.step#SGD.step", MAIN, 440, 40, "", "", STEP_STACK),
            ("foreach", "aten::_foreach_add_", MAIN, 450, 20, "64,64", "float", STEP_STACK),
            ("step2", "ProfilerStep#2", MAIN, 500, 490, "", "", ""),
            ("linear3", "aten::linear", MAIN, 545, 40, "8,64;\r\n64,64", TWO, MODEL_STACK),
            ("addmm3", "aten::addmm", MAIN, 550, 30, "64;\r\n8,64;\r\n64,64", f"{TWO};\r\nfloat",
             MODEL_STACK),
            ("dp2", "c10d::allreduce_", MAIN, 620, 10, "64,64", "float", "")]
        if self.slow:
            rows.insert(-1, ("gelu", "aten::gelu", MAIN, 592, 6, "8,64", "float", STEP_STACK))
        keys = ("key", "name", "thread", "start", "dur", "shapes", "types", "stack")
        self.ops = [Record(zip(keys, row)) for row in rows]
        for op in self.ops:
            op["start"], op["dur"] = ns(op.start), ns(op.dur)
        self.op = {op.key: op for op in self.ops}
        self.fwdbwd = [(901, "norm", "normb0"), (902, "addmm2", "addmmb2"),
                       (903, "addmm1", "addmmb1")]
        self.queue = [(1, "addmm1", "MatMulV2", 60, 64, 10),
                      (2, "upload", "aclrtMemcpyAsync", 168, 172, 8),
                      (3, "foreach", "ForeachAddList", 455, 492, 20)]
        # device work that databases know by these calls of the runtime, not by an operator
        self.runtime_calls = [("MEMCPY_ASYNC", "aclrtMemcpyAsync", 174, 2)]
        calls = [  # name, start, duration; two modules of a model, one of them called twice
            ("train.py(5): main", 0, 1000),
            ("train.py(20): step", 20, 210), ("nn.Module: Net_0", 30, 190),
            ("model.py(30): forward", 35, 180), ("nn.Module: Linear_0", 40, 50),
            ("linear.py(12): forward", 42, 46), ("nn.Module: Linear_0", 100, 50),
            ("linear.py(12): forward", 102, 46), ("nn.Module: Norm_0", 160, 40),
            ("train.py(20): step", 510, 190), ("nn.Module: Net_0", 530, 70),
            ("model.py(30): forward", 532, 67), ("nn.Module: Linear_0", 540, 50)]
        self.python = [Record(name=name, start=ns(start), dur=ns(dur), id=i, parent=i - 1)
                       for i, (name, start, dur) in enumerate(calls, 1)]
        self.memory = [  # name, KB, allocation, release (None = not released); in order of release
            ("cann::MatMulV2", 1024, 66, 130),
            ("aten::addmm", 6144 if self.slow else 4096, 52, 300),
            ("aten::native_layer_norm_backward", 2048, 262, 360),
            ("cann::ForeachAddList", 256, 505, 530),
            ("aten::addmm", 4096, 552, 700), ("aten::copy_", 512, 265, None)]
        self.records = [("PTA", 52, 1024), ("PTA", 262, 2048 if self.slow else 1536),
                        ("PTA", 552, 1280)]

    def _device(self):
        k, cube, vector = self.kernel, "AI_CORE", "AI_VECTOR_CORE"
        matmul = "aclnnMm_MatMulV2_MatMulV2"
        # 30.00065 ms, so that the next one starts at .650 us
        k("addmm1", "aclnnAddmm_MatMulV2_MatMulV2", "MatMulV2", cube, 30.00065, "8,64;64,64;64",
          start=100)
        k("addmm1", "aclnnAddmm_CastAiCore_Cast", "Cast", vector, 3.99935)
        self.kernels[-1]["style"] = "short"
        k("addmm1", "aclnnAddmm_AddAiCore_Add", "Add", vector, 6, "8,64;64")
        k("addmm2", "aclnnAddmm_MatMulV2_MatMulV2", "MatMulV2", cube, 20, "8,64;64,64;64",
          start=150)
        k("norm", "aclnnLayerNorm_LayerNormV3_LayerNormV3", "LayerNormV3", vector, 10, start=195)
        k("relu", "aclnnRelu_ReluAiCore_Relu", "Relu", vector, 9 if self.slow else 3, start=215)
        k("normb", "aclnnLayerNormBackward_LayerNormGrad_LayerNormGrad", "LayerNormGrad", vector,
          11, "8,64;8,64", start=280)
        for _ in range(4):
            k("normb", "aclnnLayerNormBackward_MulAiCore_Mul", "Mul", vector, 1, "8,64;64")
        k("sum", "aclnnReduceSum_ReduceSumOp_ReduceSum", "ReduceSum", vector, 2, start=300)
        k("copy", "aclnnInplaceCopy_CastAiCore_Cast", "Cast", vector, 1)
        k("mm1", matmul, "MatMulV2", cube, 16, "8,64;64,64", start=320)
        k("mm2", matmul, "MatMulV2", cube, 14, "64,8;8,64")
        k("mm3", matmul, "MatMulV2", cube, 12, "8,64;64,64", start=370)
        k("divide", "aclnnDiv_RealDivAiCore_RealDiv", "RealDiv", vector, 6, "8,64;", start=430)
        # launched in step 1, runs while the host is in step 2
        k("foreach", "aclnnForeachAddList_ForeachAddList_ForeachAddList", "ForeachAddList", vector,
          20, "64,64;64,64", start=505)
        k("addmm3", "aclnnAddmm_MatMulV2_MatMulV2", "MatMulV2", cube, 18, "8,64;64,64;64",
          start=600)
        if self.slow:
            k("gelu", "aclnnGelu_GeluAiCore_Gelu", "Gelu", vector, 10, start=625)
        k(None, "Transpose_1", "Transpose", vector, 4, start=670)
        h = self.hardware
        h("EVENT_WAIT", "EVENT_WAIT_SQE", 183, 0.02, 2, "EVENT_WAIT")
        h("MEMCPY_ASYNC", "MEMCPY_ASYNC", 185, 8, 2, op="upload")

    def _communication(self):
        more = 10 if self.slow else 0
        self.add_collectives([  # as in Run
            ("tp1", "hcom_allGather__002_0_1", "hcom_allGather_", "group_1", 390, 30, [
                (0, "Notify_Wait", 390, 6), (0, "Memcpy", 396, 24), (1, "Memcpy", 391, 24)]),
            ("dp1", "hcom_allReduce__001_0_1", "hcom_allReduce_", "group_0", 400, 40, [
                (0, "Notify_Wait", 400, 10), (0, "Memcpy", 410, 20), (0, "Reduce_Inline", 430, 10),
                (1, "Notify_Wait", 400, 12), (1, "Memcpy", 412, 18)]),
            ("dp2", "hcom_allReduce__001_1_1", "hcom_allReduce_", "group_0", 640, 20 + more, [
                (0, "Notify_Wait", 640, 5 + more), (0, "Memcpy", 645 + more, 15),
                (1, "Notify_Wait", 640, 6 + more)])])
