// SPDX-License-Identifier: Apache-2.0
// Kernel categories of the overall comparison. The words for types and the order of the rules are
// those of the tool we follow; texts are compared in lower case.
#include "mpa/measure/kernel_category.h"

#include <algorithm>
#include <array>

#include "mpa/base/text.h"

namespace mpa {
namespace {

bool ContainsOne(std::string_view text, const std::vector<std::string>& masks) {
  return std::any_of(masks.begin(), masks.end(), [&](const std::string& mask) {
    return text.find(mask) != std::string_view::npos;
  });
}

bool IsBackwardName(std::string_view lower) {
  return ContainsAny(lower, {"bwd", "backward", "back", "grad"});
}

// Cube or vector half of a family, which follow each other in Category.
Category Half(Category cube_half, Core core) {
  if (core == Core::kUnknown) return Category::kNone;
  return static_cast<Category>(static_cast<int>(cube_half) + (core == Core::kVector ? 1 : 0));
}

}  // namespace

Core CoreOf(const RankTrace& trace, std::size_t kernel) {
  const Kernels& kernels = trace.kernels;
  const TimeNs cube_busy = std::max(kernels.aic_total[kernel], kernels.aic_mac[kernel]);
  const TimeNs vector_busy = std::max(kernels.aiv_total[kernel], kernels.aiv_vec[kernel]);
  if (cube_busy >= 0 || vector_busy >= 0) return cube_busy > 0 ? Core::kCube : Core::kVector;
  const std::string_view core = trace.strings.View(kernels.core[kernel]);
  if (IsOneOf(core, {"AI_CORE", "MIX_AIC", "KERNEL_AICORE", "KERNEL_MIX_AIC"})) return Core::kCube;
  if (IsOneOf(core, {"AI_VECTOR_CORE", "MIX_AIV", "KERNEL_AIVEC", "KERNEL_MIX_AIV"})) {
    return Core::kVector;
  }
  return Core::kUnknown;
}

KernelClassifier::OpName KernelClassifier::ReadOpName(std::string_view name,
                                                      const KernelMasks& masks) {
  const std::string lower = ToLower(name);
  OpName read;
  if (ContainsOne(lower, masks.flash_attention)) {
    read.family = OpFamily::kFlashAttention;
  } else if (ContainsOne(lower, masks.convolution)) {
    read.family = OpFamily::kConv;
  } else if (ContainsOne(lower, masks.matmul)) {
    read.family = OpFamily::kMatmul;
  }
  read.backward = IsBackwardName(lower);
  return read;
}

KernelClassifier::KernelName KernelClassifier::ReadKernelName(std::string_view name,
                                                              const KernelMasks& masks) {
  const std::string lower = ToLower(name);
  return {
      .tensor_move = lower.starts_with("aclnninplacecopy") && ContainsAny(lower, {"tensormove"}),
      .mc2 = std::find(masks.mc2.begin(), masks.mc2.end(), lower) != masks.mc2.end(),
      .trans = ContainsOne(lower, masks.trans),
      .cube = ContainsOne(lower, masks.cube)};
}

KernelClassifier::TypeName KernelClassifier::ReadTypeName(std::string_view name) {
  const std::string lower = ToLower(name);
  TypeName read;
  read.paged_attention = ContainsAny(lower, {"pagedattention"});
  if (ContainsAny(lower, {"flashattention", "fusedinferattention"})) {
    read.family = OpFamily::kFlashAttention;
    read.backward = ContainsAny(lower, {"bwd", "grad"});
  } else if (lower.starts_with("conv")) {
    read.family = OpFamily::kConv;
    read.backward = IsBackwardName(lower);
  } else if (ContainsAny(lower, {"matmul"})) {
    read.family = OpFamily::kMatmul;
  }
  return read;
}

KernelClassifier::KernelClassifier(const RankTrace& trace, const KernelMasks& masks)
    : trace_(trace), launches_(trace) {
  const std::size_t texts = trace.strings.Size();
  std::vector<std::optional<OpName>> op_names(texts);
  const HostOps& ops = trace.host_ops;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    std::optional<OpName>& name = op_names[Index(ops.name[i])];
    if (!name) name = ReadOpName(trace.strings.View(ops.name[i]), masks);
    Thread& thread = threads_[ops.track[i]];
    if (name->family == OpFamily::kNone) continue;
    const bool backward =
        name->backward ||
        (name->family == OpFamily::kConv &&
         trace.tracks.tid[static_cast<std::size_t>(ops.track[i])] == trace.backward_tid);
    const CubeOp op{ops.start[i], ops.start[i] + ops.dur[i], name->family, backward};
    thread.ops.push_back(op);
    all_threads_.ops.push_back(op);
  }
  for (auto& [track, thread] : threads_) Finish(thread);
  Finish(all_threads_);

  kernel_names_.resize(texts);
  type_names_.resize(texts);
  std::vector<bool> seen_name(texts), seen_type(texts);
  for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
    const std::size_t name = Index(trace.kernels.name[i]);
    const std::size_t type = Index(trace.kernels.op_type[i]);
    if (!seen_name[name]) {
      kernel_names_[name] = ReadKernelName(trace.strings.View(trace.kernels.name[i]), masks);
      seen_name[name] = true;
    }
    if (!seen_type[type]) {
      type_names_[type] = ReadTypeName(trace.strings.View(trace.kernels.op_type[i]));
      seen_type[type] = true;
    }
  }
}

void KernelClassifier::Finish(Thread& thread) {
  std::stable_sort(thread.ops.begin(), thread.ops.end(),
                   [](const CubeOp& a, const CubeOp& b) { return a.start < b.start; });
  TimeNs latest = 0;
  for (const CubeOp& op : thread.ops) {
    latest = std::max(latest, op.end);
    thread.latest_end.push_back(latest);
  }
}

// The first operator by start that runs at `time`: the outermost one where they nest. One that ends
// in that instant counts where no other runs.
const KernelClassifier::CubeOp* KernelClassifier::RunningAt(const Thread& thread,
                                                            TimeNs time) const {
  for (const TimeNs end : {time + 1, time}) {
    const auto at = std::lower_bound(thread.latest_end.begin(), thread.latest_end.end(), end);
    if (at == thread.latest_end.end()) continue;
    const CubeOp& op = thread.ops[static_cast<std::size_t>(at - thread.latest_end.begin())];
    if (op.start <= time) return &op;
  }
  return nullptr;
}

const KernelClassifier::CubeOp* KernelClassifier::LaunchingOp(std::size_t kernel) const {
  const auto launch = launches_.Find(trace_.kernels.link[kernel]);
  if (!launch) return nullptr;
  // Old GPU traces number the threads of launches and of operators differently: a launching thread
  // without any operator is looked up in all threads.
  const auto thread = threads_.find(trace_.launches.host_track[*launch]);
  return RunningAt(thread != threads_.end() ? thread->second : all_threads_,
                   trace_.launches.host_time[*launch]);
}

Category KernelClassifier::Classify(std::size_t kernel) const {
  const bool npu = trace_.device == DeviceKind::kNpu;
  const KernelName& name = kernel_names_[Index(trace_.kernels.name[kernel])];
  const TypeName& type = type_names_[Index(trace_.kernels.op_type[kernel])];
  if (npu) {
    if (type.paged_attention) return Category::kPagedAttention;
    if (name.tensor_move) return Category::kTensorMove;
    if (name.mc2) return Category::kMc2;
  }
  const Core core = npu ? CoreOf(trace_, kernel) : (name.cube ? Core::kCube : Core::kVector);
  const CubeOp* op = LaunchingOp(kernel);
  const OpFamily family = op != nullptr ? op->family : npu ? type.family : OpFamily::kNone;
  const bool backward = op != nullptr ? op->backward : type.backward;
  // Without an operator to go by, the type stands for a cube kernel.
  const Core half = op != nullptr ? core : Core::kCube;
  switch (family) {
    case OpFamily::kFlashAttention:
      return Half(
          backward ? Category::kFlashAttentionBackwardCube : Category::kFlashAttentionForwardCube,
          half);
    case OpFamily::kConv:
      return Half(backward ? Category::kConvBackwardCube : Category::kConvForwardCube, half);
    case OpFamily::kMatmul:
      return Half(Category::kMatmulCube, half);
    case OpFamily::kNone:
      break;
  }
  if (core == Core::kCube) return Category::kOtherCube;
  if (core == Core::kUnknown) return Category::kNone;
  return npu && name.trans ? Category::kVectorTrans : Category::kVectorNoTrans;
}

}  // namespace mpa
