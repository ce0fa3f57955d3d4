// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/time_category.h"

#include <iterator>

#include "mpa/base/text.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/op_tree.h"

namespace mpa {
namespace {

struct CategoryTexts {
  std::string_view name, title;
};

// In the order of the enumeration.
constexpr CategoryTexts kTexts[] = {
    {"comp.attention", "attention"},
    {"comp.conv", "convolution"},
    {"comp.matmul", "matmul"},
    {"comp.gmm", "grouped matmul"},
    {"comp.mc2", "fused with communication"},
    {"comp.vector", "vector"},
    {"comp.format", "format conversion"},
    {"comp.move", "copy kernels"},
    {"comp.aicpu", "AI CPU"},
    {"comp.other", "other kernels"},
    {"comm.transfer", "transfer"},
    {"comm.slow", "slow links"},
    {"comm.inner_wait", "waiting within"},
    {"comm.inner_idle", "idle within"},
    {"comm.unsplit", "communication"},
    {"comm.bubble", "bubble"},
    {"comm.wait_peer", "waiting for ranks"},
    {"copy.h2d", "copy to device"},
    {"copy.d2h", "copy to host"},
    {"copy.d2d", "copy on device"},
    {"free.gc", "garbage collection"},
    {"free.profiler", "profiler"},
    {"free.checkpoint", "checkpoint"},
    {"free.dataloader", "data loader"},
    {"free.sync.scalar", "scalar reads"},
    {"free.copy", "blocking copies"},
    {"free.sync.explicit", "synchronising"},
    {"free.compile", "compiling"},
    {"free.aclop", "legacy operators"},
    {"free.memory", "allocation"},
    {"free.gil", "interpreter lock"},
    {"free.lock", "locks"},
    {"free.system_call", "system calls"},
    {"free.dispatch.comm", "launching collectives"},
    {"free.dispatch.cann", "CANN calls"},
    {"free.dispatch.op", "operator calls"},
    {"free.python", "Python"},
    {"free.queue", "task queue"},
    {"free.launch_latency", "launch latency"},
    {"free.stream_wait", "waits of streams"},
    {"free.device_queue", "device queue"},
    {"free.host_idle", "host not recorded"},
    {"free.unrecorded", "not recorded"},
    {"free.unknown", "unknown"},
};
static_assert(std::size(kTexts) == kTimeCategories);

}  // namespace

std::string_view NameOf(TimeCategory category) {
  return kTexts[static_cast<std::size_t>(category)].name;
}

std::string_view TitleOf(TimeCategory category) {
  return kTexts[static_cast<std::size_t>(category)].title;
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
