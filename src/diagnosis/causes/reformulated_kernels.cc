// SPDX-License-Identifier: Apache-2.0
// Operators that vector cores are slow at, and what computes the same without them.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_finder.h"
#include "mpa/base/rank.h"

namespace mpa {
namespace {

constexpr Threshold kReformulateShare{"share", 0.01, 0, 1,
                                      "kernels of a type take at least this share of the step"},
    kReformulateGain{"gain", 0.5, 0, 1, "another formulation removes this share of their time"};

AdvicePart Instead(std::string_view text, std::string_view subject, std::string_view to) {
  return {text, Change(subject, to)};
}

// What reads or writes single elements at places that data tell is slow on cores that work on many
// at once.
struct Formulation {
  std::string_view type;
  FindingVariant variant;
};

const std::vector<Formulation>& Formulations() {
  static const Advice mask{
      {Instead("multiply by the mask, or add what the mask selects, instead of assigning by it",
               "assignment by index or mask", "products and sums with the mask")}};
  static const Advice positions{
      {Instead("keep the mask and multiply by it instead of listing its positions",
               "positions of a mask", "products with the mask")}};
  static const Advice rows{{Instead("select whole rows (index_select) instead of single elements",
                                    "gather", "index_select")}};
  static const Advice blend{{Instead("blend with the mask (torch.lerp) instead of torch.where",
                                     "torch.where", "torch.lerp")}};
  static const Advice repeat{{Instead("repeat along the first dimension: move it there and back",
                                      "repeat_interleave", "along the first dimension")}};
  static const std::vector<Formulation> all = {
      {"IndexPut", {{}, mask}},          {"IndexPutV2", {{}, mask}},
      {"NonZero", {{}, positions}},      {"GatherElements", {{}, rows}},
      {"GatherElementsV2", {{}, rows}},  {"SelectV2", {{}, blend}},
      {"RepeatInterleave", {{}, repeat}}};
  return all;
}

class ReformulatedKernels : KernelFinder {
 public:
  using KernelFinder::KernelFinder;

  void Find() {
    for (const Formulation& formulation : Formulations()) Add(formulation);
  }

 private:
  void Add(const Formulation& formulation) {
    Finding candidate = NewFinding(job_, kOpReformulate, formulation.type);
    candidate.variant = &formulation.variant;
    double time = 0, count = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      const auto is_one = [&](const GraphNode& node) {
        const KernelKind& kind = part.KindOf(node);
        return kind.on_vector_cores && node.category != TimeCategory::kAiCpu &&
               part.names[kind.type] == formulation.type;
      };
      for (const GraphNode& node : part.graph.nodes) {
        if (!Counts(node) || !is_one(node)) continue;
        time += static_cast<double>(node.dur);
        ++count;
      }
      Remove(
          rank,
          [&](const GraphNode& node) { return is_one(node) ? thresholds_[kReformulateGain] : 0.0; },
          candidate.what_if.expect);
    }
    if (count == 0 || !IsShare(time, thresholds_[kReformulateShare])) return;
    // Whether the other formulation fits is for the program to say.
    candidate.confidence = Certainty::kLow;
    MeasureSums(count, time, candidate);
    candidates_.push_back(std::move(candidate));
  }
};

}  // namespace

const FindingType kOpReformulate = Opportunity(
    Area::kDevices, "op.reformulate", {"model"},
    "vector cores are slow at an operator that has a faster formulation",
    {.looked_at = "the type and the core of kernels: those that read or write single elements on"
                  " vector cores alone",
     .refuted_by = "they take a small share of the step, or run on other cores",
     .categories = ComputeCategories(),
     .npu_alone = true,
     .find = FindBy<ReformulatedKernels>,
     .advice = {{{"compute with a mask instead of positions",
                  Change("operators that index", "products and sums with a mask")}}},
     .thresholds = {&kReformulateShare, &kReformulateGain}});

}  // namespace mpa
