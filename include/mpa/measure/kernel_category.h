// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "mpa/measure/kernel_masks.h"
#include "mpa/model/launches.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// Where a kernel's time goes in the overall comparison.
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

/// The unit a kernel kept busy.
enum class Core : std::uint8_t { kUnknown, kCube, kVector };

/// Tells cube from vector kernels: by counters where the kernel has any (its cube core or matrix
/// unit was busy), else by the core type that the profiler wrote. On GPUs by the kernel's name.
Core CoreOf(const RankTrace& trace, std::size_t kernel);

/// Sorts kernels into categories. The first rule that fits decides:
/// 1. NPU: paged attention by operator type; tensor moves and MC2 kernels by kernel name;
/// 2. the convolution, matmul or attention operator that was running on the launching thread when
///    the kernel was launched (the outermost of nested ones);
/// 3. NPU: attention, convolution, matmul by operator type;
/// 4. cube core, or vector core with layout changes (trans) apart.
/// A kernel whose core is unknown is not guessed in 2 and 4.
class KernelClassifier {
 public:
  explicit KernelClassifier(const RankTrace& trace, const KernelMasks& masks = {});

  Category Classify(std::size_t kernel) const;

 private:
  enum class OpFamily : std::uint8_t { kNone, kFlashAttention, kConv, kMatmul };
  struct CubeOp {
    TimeNs start, end;
    OpFamily family;
    bool backward;
  };
  // The cube operators of one thread by start; latest_end[i] is the latest end of ops 0..i.
  struct Thread {
    std::vector<CubeOp> ops;
    std::vector<TimeNs> latest_end;
  };
  // What an operator's or kernel's name says, worked out once per distinct name.
  struct OpName {
    OpFamily family = OpFamily::kNone;
    bool backward = false;
  };
  struct KernelName {
    bool tensor_move = false, mc2 = false, trans = false, cube = false;
  };
  struct TypeName {
    bool paged_attention = false, backward = false;
    OpFamily family = OpFamily::kNone;
  };

  static OpName ReadOpName(std::string_view name, const KernelMasks& masks);
  static KernelName ReadKernelName(std::string_view name, const KernelMasks& masks);
  static TypeName ReadTypeName(std::string_view name);
  static void Finish(Thread& thread);
  const CubeOp* RunningAt(const Thread& thread, TimeNs time) const;
  const CubeOp* LaunchingOp(std::size_t kernel) const;

  const RankTrace& trace_;
  LaunchIndex launches_;
  std::vector<KernelName> kernel_names_;              // by StringId
  std::vector<TypeName> type_names_;                  // by StringId
  std::unordered_map<std::int32_t, Thread> threads_;  // by track; every thread with operators
  Thread all_threads_;
};

}  // namespace mpa
