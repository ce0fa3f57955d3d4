// SPDX-License-Identifier: Apache-2.0
// Kernel categories of the overall comparison. The words for types and the order of the rules are
// those of the tool we follow; texts are compared in lower case.
#include "mpa/measure/kernel_category.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "mpa/base/text.h"

namespace mpa {
namespace {

bool IsBackwardName(std::string_view lower) {
  return ContainsAny(lower, {"bwd", "backward", "back", "grad"});
}

// MIOpen calls the gradient of weights wrw.
bool IsBackwardKernel(std::string_view lower) {
  return IsBackwardName(lower) || ContainsAny(lower, {"_wrw_", "bprop"});
}

// Cube or vector half of a family, which follow each other in Category.
Category Half(Category cube_half, Core core) {
  if (core == Core::kUnknown) return Category::kNone;
  return static_cast<Category>(static_cast<int>(cube_half) + (core == Core::kVector ? 1 : 0));
}

// Of conv, matmul and attention kernels.
Category FamilyCategory(KernelClass family, bool backward, Core core) {
  switch (family) {
    case KernelClass::kAttention:
      return Half(
          backward ? Category::kFlashAttentionBackwardCube : Category::kFlashAttentionForwardCube,
          core);
    case KernelClass::kConvolution:
      return Half(backward ? Category::kConvBackwardCube : Category::kConvForwardCube, core);
    default:
      return Half(Category::kMatmulCube, core);
  }
}

// On GPUs by the mask; products of rocBLAS, Triton and others are called otherwise.
bool UsesTensorCores(std::string_view lower, KernelClass of_name, const KernelMasks& masks) {
  return FitsMask(lower, masks.cube) || of_name == KernelClass::kMatmul ||
         of_name == KernelClass::kGroupedMatmul;
}

}  // namespace

Core CoreOf(const RankTrace& trace, std::size_t kernel) {
  const Kernels& kernels = trace.kernels;
  const TimeNs cube_busy = std::max(kernels.aic_total[kernel], kernels.aic_mac[kernel]);
  const TimeNs vector_busy = std::max(kernels.aiv_total[kernel], kernels.aiv_vec[kernel]);
  if (cube_busy >= 0 || vector_busy >= 0) return cube_busy > 0 ? Core::kCube : Core::kVector;
  return CoreNamed(trace.strings.View(kernels.core[kernel]));
}

KernelClassifier::OpName KernelClassifier::ReadOpName(std::string_view name,
                                                      const KernelMasks& masks) {
  const std::string lower = ToLower(name);
  OpName read;
  if (FitsMask(lower, masks.flash_attention)) {
    read.launches = KernelClass::kAttention;
  } else if (FitsMask(lower, masks.convolution)) {
    read.launches = KernelClass::kConvolution;
  } else if (FitsMask(lower, masks.matmul)) {
    read.launches = KernelClass::kMatmul;
  }
  read.backward = IsBackwardName(lower);
  return read;
}

KernelClassifier::KernelName KernelClassifier::ReadKernelName(std::string_view name,
                                                              const KernelMasks& masks) {
  const std::string lower = ToLower(name);
  const KernelClass of_name = ClassOfName(name);
  return {
      .tensor_move = lower.starts_with("aclnninplacecopy") && ContainsAny(lower, {"tensormove"}),
      .mc2 = std::ranges::find(masks.mc2, lower) != masks.mc2.end(),
      .trans = FitsMask(lower, masks.trans),
      .cube = UsesTensorCores(lower, of_name, masks),
      .backward = IsBackwardKernel(lower),
      .of_call = ClassOfKernelCall(name),
      .of_name = of_name};
}

KernelClassifier::TypeName KernelClassifier::ReadTypeName(std::string_view name) {
  const std::string lower = ToLower(name);
  TypeName read;
  read.paged_attention = ContainsAny(lower, {"pagedattention"});
  read.of_type = ClassOfType(name);
  read.in_family = read.of_type == KernelClass::kAttention || lower.starts_with("conv") ||
                   ContainsAny(lower, {"matmul"});
  read.backward = read.of_type == KernelClass::kAttention ? ContainsAny(lower, {"bwd", "grad"})
                                                          : IsBackwardName(lower);
  return read;
}

KernelClassifier::KernelClassifier(const RankTrace& trace, const KernelMasks& masks)
    : trace_(trace), launches_(trace) {
  ReadOperators(masks);
  ReadNames(masks);
}

void KernelClassifier::ReadOperators(const KernelMasks& masks) {
  std::vector<std::optional<OpName>> op_names(trace_.strings.Size());
  const HostOps& ops = trace_.host_ops;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    std::optional<OpName>& name = op_names[Index(ops.name[i])];
    if (!name) name = ReadOpName(trace_.strings.View(ops.name[i]), masks);
    Thread& thread = threads_[ops.track[i]];
    if (name->launches == KernelClass::kOther) continue;
    const bool backward =
        name->backward ||
        (name->launches == KernelClass::kConvolution &&
         trace_.tracks.tid[static_cast<std::size_t>(ops.track[i])] == trace_.backward_tid);
    const CubeOp op{ops.start[i], ops.start[i] + ops.dur[i], name->launches, backward};
    thread.ops.push_back(op);
    all_threads_.ops.push_back(op);
  }
  for (auto& [track, thread] : threads_) Finish(thread);
  Finish(all_threads_);
}

void KernelClassifier::ReadNames(const KernelMasks& masks) {
  const Kernels& kernels = trace_.kernels;
  const std::size_t texts = trace_.strings.Size();
  kernel_names_.resize(texts);
  type_names_.resize(texts);
  std::vector<bool> seen_name(texts), seen_type(texts);
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const std::size_t name = Index(kernels.name[i]);
    const std::size_t type = Index(kernels.op_type[i]);
    if (!seen_name[name]) {
      kernel_names_[name] = ReadKernelName(trace_.strings.View(kernels.name[i]), masks);
      seen_name[name] = true;
    }
    if (!seen_type[type]) {
      type_names_[type] = ReadTypeName(trace_.strings.View(kernels.op_type[i]));
      seen_type[type] = true;
    }
  }
}

void KernelClassifier::Finish(Thread& thread) {
  std::ranges::stable_sort(thread.ops, {}, &CubeOp::start);
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

Core KernelClassifier::CoreOfKernel(std::size_t kernel) const {
  if (trace_.device == DeviceKind::kNpu) return CoreOf(trace_, kernel);
  return kernel_names_[Index(trace_.kernels.name[kernel])].cube ? Core::kCube : Core::kVector;
}

Category KernelClassifier::Classify(std::size_t kernel) const {
  if (trace_.device == DeviceKind::kNpu) {
    const KernelName& name = kernel_names_[Index(trace_.kernels.name[kernel])];
    if (type_names_[Index(trace_.kernels.op_type[kernel])].paged_attention) {
      return Category::kPagedAttention;
    }
    if (name.tensor_move) return Category::kTensorMove;
    if (name.mc2) return Category::kMc2;
  }
  const Core core = CoreOfKernel(kernel);
  if (const CubeOp* op = LaunchingOp(kernel)) {
    return FamilyCategory(op->launches, op->backward, core);
  }
  return WithoutOperator(kernel, core);
}

// Then the type, or the name of a GPU kernel, stands for a cube kernel.
Category KernelClassifier::WithoutOperator(std::size_t kernel, Core core) const {
  const bool npu = trace_.device == DeviceKind::kNpu;
  const KernelName& name = kernel_names_[Index(trace_.kernels.name[kernel])];
  const TypeName& type = type_names_[Index(trace_.kernels.op_type[kernel])];
  const KernelClass family = npu ? type.of_type : name.of_name;
  if (npu ? type.in_family : IsMatrixWork(family)) {
    return FamilyCategory(family, npu ? type.backward : name.backward, Core::kCube);
  }
  if (core == Core::kCube) return Category::kOtherCube;
  if (core == Core::kUnknown) return Category::kNone;
  return npu && name.trans ? Category::kVectorTrans : Category::kVectorNoTrans;
}

KernelClass KernelClassifier::ClassOf(std::size_t kernel) const {
  const KernelClass own = OwnClassOf(kernel);
  const auto own_of = [own](std::initializer_list<KernelClass> kinds, KernelClass family) {
    return std::ranges::find(kinds, own) != kinds.end() ? own : family;
  };
  using enum Category;
  const Category category = Classify(kernel);
  if (category <= kFlashAttentionBackwardVector || category == kPagedAttention) {
    return KernelClass::kAttention;
  }
  if (category <= kConvBackwardVector) return KernelClass::kConvolution;
  if (category <= kMatmulVector) {
    return own_of({KernelClass::kGroupedMatmul, KernelClass::kMc2}, KernelClass::kMatmul);
  }
  if (category <= kVectorNoTrans) {
    return own_of({KernelClass::kFormat, KernelClass::kMove}, KernelClass::kVector);
  }
  if (category == kTensorMove) return KernelClass::kMove;
  if (category == kMc2) return KernelClass::kMc2;
  return category == kOtherCube ? KernelClass::kOther : own;
}

KernelClass KernelClassifier::OwnClassOf(std::size_t kernel) const {
  const Kernels& kernels = trace_.kernels;
  const KernelName& name = kernel_names_[Index(kernels.name[kernel])];
  const std::string_view core = trace_.strings.View(kernels.core[kernel]);
  const bool is_only_named = kernels.op_type[kernel] == StringId::kEmpty && core.empty();
  if (is_only_named || trace_.device == DeviceKind::kGpu) return name.of_name;
  const KernelClass of_type = type_names_[Index(kernels.op_type[kernel])].of_type;
  const KernelClass family = name.of_call != KernelClass::kOther ? name.of_call : of_type;
  if (IsMatrixWork(family)) return family;
  if (ContainsAny(core, {"AI_CPU", "AICPU"})) return KernelClass::kAiCpu;
  if (family != KernelClass::kOther) return family;
  return CoreOf(trace_, kernel) == Core::kVector ? KernelClass::kVector : KernelClass::kOther;
}

}  // namespace mpa
