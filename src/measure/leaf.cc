// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/leaf.h"

#include <iterator>

#include "mpa/base/text.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/op_tree.h"

namespace mpa {
namespace {

struct LeafTexts {
  std::string_view name, title;
};

// In the order of the enumeration.
constexpr LeafTexts kTexts[] = {
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
    {"comm.slow", "slow link"},
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
    {"free.dispatch.comm", "launching collectives"},
    {"free.dispatch.cann", "CANN calls"},
    {"free.dispatch.op", "operator calls"},
    {"free.python", "Python"},
    {"free.queue", "task queue"},
    {"free.launch_latency", "launch latency"},
    {"free.stream_wait", "waits of streams"},
    {"free.device_queue", "device queue"},
    {"free.host_idle", "idle host"},
    {"free.unrecorded", "not recorded"},
    {"free.unknown", "unknown"},
};
static_assert(std::size(kTexts) == kLeaves);

}  // namespace

std::string_view NameOf(Leaf leaf) { return kTexts[static_cast<std::size_t>(leaf)].name; }

std::string_view TitleOf(Leaf leaf) { return kTexts[static_cast<std::size_t>(leaf)].title; }

std::optional<Leaf> LeafNamed(std::string_view name) {
  for (std::size_t leaf = 0; leaf < kLeaves; ++leaf) {
    if (kTexts[leaf].name == name) return static_cast<Leaf>(leaf);
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

Leaf ClassOfOp(std::string_view name) {
  if (IsRuntimeCall(name)) {  // what it does for an operator is part of the operator
    const Leaf leaf = ClassOfCall(name);
    return leaf == Leaf::kDispatchCann ? Leaf::kDispatchOp : leaf;
  }
  if (SavesCheckpoint(name)) return Leaf::kCheckpoint;
  if (LoadsData(name)) return Leaf::kDataLoader;
  if (IsOneOf(name, {"aten::item", "aten::_local_scalar_dense", "aten::is_nonzero", "aten::nonzero",
                     "aten::masked_select", "aten::equal"}) ||
      name.starts_with("aten::unique") || name.starts_with("aten::_unique")) {
    return Leaf::kScalarSync;
  }
  if (IsOneOf(name, {"aten::to", "aten::_to_copy", "aten::copy_", "aten::cpu"})) {
    return Leaf::kHostCopy;
  }
  if (ContainsAny(name, {"ProfilerStep#"})) return Leaf::kPython;
  if (IsCommunicationCall(name)) return Leaf::kDispatchComm;
  return Leaf::kDispatchOp;
}

Leaf ClassOfPython(std::string_view frame) {
  if (Profiles(frame)) return Leaf::kProfiler;
  if (SavesCheckpoint(frame)) return Leaf::kCheckpoint;
  if (LoadsData(frame)) return Leaf::kDataLoader;
  if (ContainsAny(frame, {"torch/_inductor", "torch/_dynamo/convert_frame", "torchair"}) &&
      ContainsAny(frame, {"compile"})) {
    return Leaf::kCompile;
  }
  if (ContainsAny(frame, {"empty_cache"})) return Leaf::kMemory;
  return Leaf::kPython;
}

Leaf ClassOfCall(std::string_view full) {
  const std::string_view name = WithoutLevel(full);
  if (ContainsAny(name, {"SynchronizeDevice", "SynchronizeStream", "SynchronizeEvent",
                         "DeviceSynchronize", "StreamSynchronize", "EventSynchronize"})) {
    return Leaf::kExplicitSync;
  }
  if (IsOneOf(name, {"aclrtMemcpy", "aclrtMemcpy2d", "cudaMemcpy", "cudaMemcpy2D", "hipMemcpy",
                     "hipMemcpyWithStream"})) {
    return Leaf::kHostCopy;
  }
  if (ContainsAny(name, {"aclprof", "cudaProfiler", "cupti"})) return Leaf::kProfiler;
  if (!IsOpCompileAndExecute(name) &&
      ContainsAny(name, {"opCompile", "aclopCompile", "cuModuleLoad", "hipModuleLoad",
                         "aclgrphBuild", "GEInitialize", "CompileGraph", "BuildGraph"})) {
    return Leaf::kCompile;
  }
  if (ContainsAny(name, {"aclrtMalloc", "aclMallocMemInner", "aclrtFree", "Physical", "MapMem",
                         "UnmapMem", "cudaMalloc", "cudaFree", "hipMalloc", "hipFree"}) ||
      name.starts_with("cuMem")) {
    return Leaf::kMemory;
  }
  if (IsCommunicationCall(name) || full.starts_with("Hccl@") ||
      full.starts_with("Communication@")) {
    return Leaf::kDispatchComm;
  }
  return Leaf::kDispatchCann;
}

Leaf ClassOfMark(std::string_view message) {
  if (SavesCheckpoint(message)) return Leaf::kCheckpoint;
  return EqualsIgnoringCase(message, "dataloader") ? Leaf::kDataLoader : Leaf::kPython;
}

}  // namespace mpa
