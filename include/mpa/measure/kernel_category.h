// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mpa/measure/kernel_class.h"
#include "mpa/measure/kernel_masks.h"
#include "mpa/model/launches.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// Where a kernel's time goes in the overall comparison: its class with the cube and vector part,
/// and the direction, apart.
enum class Category : std::uint8_t {
  kFlashAttentionForwardCube,
  kFlashAttentionForwardVector,
  kFlashAttentionBackwardCube,
  kFlashAttentionBackwardVector,
  kConvForwardCube,
  kConvForwardVector,
  kConvBackwardCube,
  kConvBackwardVector,
  kMatmulCube,
  kMatmulVector,
  kPagedAttention,
  kVectorTrans,
  kVectorNoTrans,
  kOtherCube,
  kTensorMove,
  kMc2,   ///< fused with communication; accounted by kernel name
  kNone,  ///< no rule knows it; part of "Other"
};
inline constexpr std::size_t kCategories = static_cast<std::size_t>(Category::kNone) + 1;

/// Tells cube from vector kernels of NPUs: by counters where the kernel has any (its cube core or
/// matrix unit was busy), else by the core type that the profiler wrote.
Core CoreOf(const RankTrace& trace, std::size_t kernel);

/// Sorts the kernels of a rank. The first rule that fits decides:
/// 1. NPU: paged attention by operator type; tensor moves and MC2 kernels by kernel name;
/// 2. the convolution, matmul or attention operator that was running on the launching thread when
///    the kernel was launched (the outermost of nested ones);
/// 3. attention, convolution, matmul by operator type (Conv..., ...MatMul...; a Gemm is a cube
///    kernel of rule 4), on GPUs by the kernel's name;
/// 4. cube core, or vector core with layout changes (trans) apart.
/// A kernel whose core is unknown is not guessed in 2 and 4.
class KernelClassifier {
 public:
  explicit KernelClassifier(const RankTrace& trace, const KernelMasks& masks = BuiltInMasks());

  Category Classify(std::size_t kernel) const;
  /// The class that the category belongs to: what a convolution launched is convolution. The
  /// account and everything that adds up time by class take this one.
  KernelClass ClassOf(std::size_t kernel) const;
  /// The class by the kernel's own name, type and core, whoever launched it: a layout conversion
  /// within a convolution is a layout conversion. Causes that concern kernels take this one.
  KernelClass OwnClassOf(std::size_t kernel) const;

 private:
  struct CubeOp {
    TimeNs start, end;
    KernelClass launches;
    bool backward;
  };
  // The cube operators of one thread by start; latest_end[i] is the latest end of ops 0..i.
  struct Thread {
    std::vector<CubeOp> ops;
    std::vector<TimeNs> latest_end;
  };
  // What an operator's or kernel's name says, worked out once per distinct name.
  struct OpName {
    KernelClass launches = KernelClass::kOther;
    bool backward = false;
  };
  struct KernelName {
    bool tensor_move = false, mc2 = false, trans = false, cube = false, backward = false;
    KernelClass of_call{}, of_name{};
  };
  struct TypeName {
    bool paged_attention = false, backward = false;
    KernelClass of_type{};
    bool in_family = false;  ///< the comparison counts it there; others are cube kernels
  };

  static OpName ReadOpName(std::string_view name, const KernelMasks& masks);
  static KernelName ReadKernelName(std::string_view name, const KernelMasks& masks);
  static TypeName ReadTypeName(std::string_view name);
  void ReadOperators(const KernelMasks& masks);
  void ReadNames(const KernelMasks& masks);
  static void Finish(Thread& thread);
  const CubeOp* RunningAt(const Thread& thread, TimeNs time) const;
  const CubeOp* LaunchingOp(std::size_t kernel) const;
  Core CoreOfKernel(std::size_t kernel) const;
  Category WithoutOperator(std::size_t kernel, Core core) const;

  const RankTrace& trace_;
  LaunchIndex launches_;
  std::vector<KernelName> kernel_names_;              // by StringId
  std::vector<TypeName> type_names_;                  // by StringId
  std::unordered_map<std::int32_t, Thread> threads_;  // by track; every thread with operators
  Thread all_threads_;
};

}  // namespace mpa
