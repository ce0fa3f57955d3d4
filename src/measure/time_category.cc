// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/time_category.h"

#include <iterator>

#include "mpa/base/text.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/op_tree.h"

namespace mpa {
namespace {

struct CategoryTexts {
  std::string_view name, title, chinese;
};

// In the order of the enumeration.
constexpr CategoryTexts kTexts[] = {
    {"comp.attention", "attention", "注意力"},
    {"comp.conv", "convolution", "卷积"},
    {"comp.matmul", "matmul", "矩阵乘"},
    {"comp.gmm", "grouped matmul", "分组矩阵乘"},
    {"comp.mc2", "fused with communication", "通算融合"},
    {"comp.vector", "vector", "向量"},
    {"comp.format", "format conversion", "格式转换"},
    {"comp.move", "copy kernels", "搬运算子"},
    {"comp.aicpu", "AI CPU", "AI CPU"},
    {"comp.other", "other kernels", "其他算子"},
    {"comm.transfer", "transfer", "传输"},
    {"comm.slow", "slow link", "慢链路"},
    {"comm.inner_wait", "waiting within", "内部等待"},
    {"comm.inner_idle", "idle within", "内部空闲"},
    {"comm.unsplit", "communication", "通信"},
    {"comm.bubble", "bubble", "气泡"},
    {"comm.wait_peer", "waiting for ranks", "等待其他卡"},
    {"copy.h2d", "copy to device", "拷入"},
    {"copy.d2h", "copy to host", "拷出"},
    {"copy.d2d", "copy on device", "设备内拷贝"},
    {"free.gc", "garbage collection", "垃圾回收"},
    {"free.profiler", "profiler", "profiler 自身"},
    {"free.checkpoint", "checkpoint", "保存 checkpoint"},
    {"free.dataloader", "data loader", "数据加载"},
    {"free.sync.scalar", "scalar reads", "标量读取"},
    {"free.copy", "blocking copies", "阻塞拷贝"},
    {"free.sync.explicit", "synchronising", "同步"},
    {"free.compile", "compiling", "编译"},
    {"free.aclop", "legacy operators", "旧算子路径"},
    {"free.memory", "allocation", "内存分配"},
    {"free.dispatch.comm", "launching collectives", "集合通信下发"},
    {"free.dispatch.cann", "CANN calls", "CANN 接口"},
    {"free.dispatch.op", "operator calls", "算子下发"},
    {"free.python", "Python", "Python"},
    {"free.queue", "task queue", "任务队列"},
    {"free.launch_latency", "launch latency", "启动延迟"},
    {"free.stream_wait", "waits of streams", "流等待"},
    {"free.device_queue", "device queue", "设备队列"},
    {"free.host_idle", "host not recorded", "host 未记录"},
    {"free.unrecorded", "not recorded", "未采集"},
    {"free.unknown", "unknown", "未知"},
};
static_assert(std::size(kTexts) == kTimeCategories);

}  // namespace

std::string_view NameOf(TimeCategory category) {
  return kTexts[static_cast<std::size_t>(category)].name;
}

std::string_view TitleOf(TimeCategory category) {
  return kTexts[static_cast<std::size_t>(category)].title;
}

std::string_view ChineseTitleOf(TimeCategory category) {
  return kTexts[static_cast<std::size_t>(category)].chinese;
}

std::optional<TimeCategory> CategoryNamed(std::string_view name) {
  for (std::size_t category = 0; category < kTimeCategories; ++category) {
    if (kTexts[category].name == name) return static_cast<TimeCategory>(category);
  }
  return std::nullopt;
}

// Which names on the host mean what.

namespace {

bool SavesCheckpoint(std::string_view text) {
  // Recomputing activations is called checkpointing, too.
  if (ContainsAny(text, {"utils/checkpoint.py", "CheckpointFunction", "activation_checkpoint",
                         "checkpoint_wrapper"})) {
    return false;
  }
  return ContainsAny(text, {"torch.save", "torch/serialization.py", "checkpoint"});
}

// What the profiler does for itself. The body of a profiled program runs outside of its frames.
bool Profiles(std::string_view frame) {
  return ContainsAny(frame, {"torch_npu/profiler/", "torch/profiler/"});
}

bool LoadsData(std::string_view text) {
  return text.starts_with("enumerate(DataLoader)#") ||
         ContainsAny(text, {"_BaseDataLoaderIter.__next__", "_next_data"}) ||
         (ContainsAny(text, {"dataloader.py"}) && ContainsAny(text, {"__next__"}));
}

bool IsCommunicationCall(std::string_view name) {
  return name.starts_with("hcom_") || name.starts_with("Hccl") || name.starts_with("nccl") ||
         name.starts_with("c10d::");
}

}  // namespace

TimeCategory ClassOfOp(std::string_view name) {
  if (IsRuntimeCall(name)) {  // what it does for an operator is part of the operator
    const TimeCategory category = ClassOfCall(name);
    return category == TimeCategory::kDispatchCann ? TimeCategory::kDispatchOp : category;
  }
  if (SavesCheckpoint(name)) return TimeCategory::kCheckpoint;
  if (LoadsData(name)) return TimeCategory::kDataLoader;
  if (IsOneOf(name, {"aten::item", "aten::_local_scalar_dense", "aten::is_nonzero", "aten::nonzero",
                     "aten::masked_select", "aten::equal"}) ||
      name.starts_with("aten::unique") || name.starts_with("aten::_unique")) {
    return TimeCategory::kScalarSync;
  }
  if (IsOneOf(name, {"aten::to", "aten::_to_copy", "aten::copy_", "aten::cpu"})) {
    return TimeCategory::kHostCopy;
  }
  // The mark of a step tells nothing of what its thread does.
  if (ContainsAny(name, {"ProfilerStep#"})) return TimeCategory::kHostIdle;
  if (IsCommunicationCall(name)) return TimeCategory::kDispatchComm;
  return TimeCategory::kDispatchOp;
}

TimeCategory ClassOfPython(std::string_view frame) {
  if (Profiles(frame)) return TimeCategory::kProfiler;
  if (SavesCheckpoint(frame)) return TimeCategory::kCheckpoint;
  if (LoadsData(frame)) return TimeCategory::kDataLoader;
  if (ContainsAny(frame, {"torch/_inductor", "torch/_dynamo/convert_frame", "torchair"}) &&
      ContainsAny(frame, {"compile"})) {
    return TimeCategory::kCompile;
  }
  if (ContainsAny(frame, {"empty_cache"})) return TimeCategory::kMemory;
  return TimeCategory::kPython;
}

TimeCategory ClassOfCall(std::string_view full) {
  const std::string_view name = WithoutLevel(full);
  if (ContainsAny(name, {"SynchronizeDevice", "SynchronizeStream", "SynchronizeEvent",
                         "DeviceSynchronize", "StreamSynchronize", "EventSynchronize"})) {
    return TimeCategory::kExplicitSync;
  }
  if (IsOneOf(name, {"aclrtMemcpy", "aclrtMemcpy2d", "cudaMemcpy", "cudaMemcpy2D", "hipMemcpy",
                     "hipMemcpyWithStream"})) {
    return TimeCategory::kHostCopy;
  }
  if (ContainsAny(name, {"aclprof", "cudaProfiler", "cupti"})) return TimeCategory::kProfiler;
  if (!IsOpCompileAndExecute(name) &&
      ContainsAny(name, {"opCompile", "aclopCompile", "cuModuleLoad", "hipModuleLoad",
                         "aclgrphBuild", "GEInitialize", "CompileGraph", "BuildGraph"})) {
    return TimeCategory::kCompile;
  }
  if (ContainsAny(name, {"aclrtMalloc", "aclMallocMemInner", "aclrtFree", "Physical", "MapMem",
                         "UnmapMem", "cudaMalloc", "cudaFree", "hipMalloc", "hipFree"}) ||
      name.starts_with("cuMem")) {
    return TimeCategory::kMemory;
  }
  if (IsCommunicationCall(name) || full.starts_with("Hccl@") ||
      full.starts_with("Communication@")) {
    return TimeCategory::kDispatchComm;
  }
  return TimeCategory::kDispatchCann;
}

TimeCategory ClassOfMark(std::string_view message) {
  if (SavesCheckpoint(message)) return TimeCategory::kCheckpoint;
  return EqualsIgnoringCase(message, "dataloader") ? TimeCategory::kDataLoader
                                                   : TimeCategory::kPython;
}

}  // namespace mpa
