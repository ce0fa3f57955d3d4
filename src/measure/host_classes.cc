// SPDX-License-Identifier: Apache-2.0
// Which names on the host mean what.
#include "host_classes.h"

#include <string>

#include "mpa/base/text.h"
#include "mpa/measure/launch_calls.h"
#include "mpa/measure/op_tree.h"

namespace mpa {
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
