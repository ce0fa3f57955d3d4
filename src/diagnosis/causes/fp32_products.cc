// SPDX-License-Identifier: Apache-2.0
// Matrix products in FP32.
#include <vector>

#include "kernel_finder.h"
#include "mpa/base/rank.h"

namespace mpa {
namespace {

constexpr Threshold kFp32Share{"share", 0.05, 0, 1,
                               "products of FP32 take at least this share of the step"},
    kFp32Gain{"gain", 0.5, 0, 1, "a fix removes this share of the kernels' time"},
    kFp32Most{"most", 0.75, 0, 1, "no fix removes more than this share"};

class Fp32Products : KernelFinder {
 public:
  using KernelFinder::KernelFinder;

  void Find() {
    double time = 0, count = 0;
    Finding candidate = NewFinding(job_, kOpFp32);
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const auto& kinds = job_.Part(rank).kinds;
      const std::vector<KindUse> uses = UsesOf(rank);
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (!kinds[i].multiplies_fp32) continue;
        time += static_cast<double>(uses[i].time);
        count += static_cast<double>(uses[i].count);
      }
      const auto is_fp32 = [&](const GraphNode& node) {
        return kinds[static_cast<std::size_t>(node.row)].multiplies_fp32;
      };
      Remove(
          rank, [&](const GraphNode& node) { return is_fp32(node) ? thresholds_[kFp32Gain] : 0; },
          candidate.what_if.expect);
      Remove(
          rank, [&](const GraphNode& node) { return is_fp32(node) ? thresholds_[kFp32Most] : 0; },
          candidate.what_if.bound);
    }
    if (count == 0 || !IsShare(time, thresholds_[kFp32Share])) return;
    MeasureSums(count, time, candidate);
    candidates_.push_back(std::move(candidate));
  }
};

AdvicePart LowPrecision() {
  return {"autocast to bf16 or fp16", Change("matrix products", "bf16 or fp16")};
}

}  // namespace

const FindingType kOpFp32 = Opportunity(
    Area::kDevices, "op.fp32", {"model"}, "matrices are multiplied in FP32",
    {.looked_at = "products whose inputs are FP32",
     .refuted_by = "inputs in half precision or HF32",
     .categories = ComputeCategories(),
     .find = FindBy<Fp32Products>,
     .advice = {{LowPrecision(),
                 {"else allow HF32 (torch.npu.matmul.allow_hf32)",
                  SetOption("torch.npu.matmul.allow_hf32", true)}},
                {LowPrecision(),
                 {"else allow TF32", SetOption("torch.backends.cuda.matmul.allow_tf32", true)}}},
     .thresholds = {&kFp32Share, &kFp32Gain, &kFp32Most}});

}  // namespace mpa
