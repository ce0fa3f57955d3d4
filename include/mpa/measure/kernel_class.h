// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "mpa/measure/kernel_masks.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/device_tables.h"

/// The vocabulary of device work: what a kernel does, by its name and type. Every command that
/// sorts kernels asks these functions, or KernelClassifier, which also knows who launched them.
namespace mpa {

/// What a kernel does, in the order of the categories of the account.
enum class KernelClass : std::uint8_t {
  kAttention,
  kConvolution,
  kMatmul,
  kGroupedMatmul,  ///< one product per group (expert)
  kMc2,            ///< fused with communication
  kVector,
  kFormat,  ///< layout and type conversions
  kMove,    ///< copies by kernels
  kAiCpu,
  kOther,  ///< neither name nor core tells
  kCommunication,
};

/// The category of the account that holds the class.
constexpr TimeCategory CategoryOf(KernelClass kernel_class) {
  return kernel_class == KernelClass::kCommunication ? TimeCategory::kUnsplit
                                                     : static_cast<TimeCategory>(kernel_class);
}
static_assert(CategoryOf(KernelClass::kOther) == TimeCategory::kOtherKernel);

/// True for the classes that keep the cube cores (NPU) or the tensor cores (GPU) busy.
constexpr bool IsMatrixWork(KernelClass kernel_class) { return kernel_class <= KernelClass::kMc2; }

/// The unit a kernel kept busy.
enum class Core : std::uint8_t { kUnknown, kCube, kVector };

/// By the type of core that the profiler wrote: AI_CORE, KERNEL_AIVEC, MIX_AIC, ...
Core CoreNamed(std::string_view core);

/// By the operator type of an NPU kernel; kOther where it tells nothing.
KernelClass ClassOfType(std::string_view type);
/// What the call computes that a kernel's name begins with, as in
/// "aclnnMatmulAllReduce_MatmulAllReduce_...": kAttention, kGroupedMatmul or kMc2; else kOther.
KernelClass ClassOfKernelCall(std::string_view name);
/// By the name of a kernel, of a GPU or of an NPU capture that records no types. Unknown names are
/// kVector.
KernelClass ClassOfName(std::string_view name);

/// What kernels do that the account does not tell apart; each takes an operator type or, of a GPU,
/// the kernel's name. A product of many pairs of matrices at once:
bool IsBatchedProduct(std::string_view type);
/// The softmax of attention or of a loss:
bool IsSoftmax(std::string_view type);
/// An optimizer that updates its tensors in one kernel:
bool IsFusedUpdate(std::string_view type);
/// Attention over a cache of keys and values, or what fills the cache: only models that answer run
/// it, not models that learn.
bool IsInference(std::string_view type);

/// True for a kernel of a GPU that communicates.
bool IsCommunicationKernel(std::string_view name, const KernelMasks& masks = BuiltInMasks());
/// True for a collective, or a piece of one, that a capture of an NPU lists among the kernels; the
/// capture has the complete collectives elsewhere. At Level0 the core is not recorded, but the name
/// is.
bool IsHcclKernel(std::string_view core, std::string_view name);

/// True for a name that exporters give to copies and memsets, whatever their category: "Memcpy HtoD
/// (Pageable -> Device)", "CopyHostToDevice", "Memset (Device)".
bool IsCopyName(std::string_view name);
/// Between which memories such a copy goes; M is the memory of the host. Memsets stay within the
/// device.
CopyDirection DirectionOfCopyName(std::string_view name);

}  // namespace mpa
