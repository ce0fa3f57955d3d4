// SPDX-License-Identifier: Apache-2.0
// Operators that the model computes in several kernels although one could do it at once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "finder.h"
#include "fusible_runs.h"
#include "fusion_chains.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr Threshold kUnfusedChain{
    "chain", 3, 2, kMaxCalls,
    "at least this many vector kernels in a row on equal tensors could be one"};

constexpr std::string_view kElementwise = "elementwise";

// Vector kernels of a rank in a row on equal tensors.
class ElementwiseChains {
 public:
  // `taken`: by node; those belong to known fusions.
  ElementwiseChains(const RankDiagnosis& part, RankIndex rank, const Thresholds& thresholds,
                    const std::vector<bool>& taken)
      : part_(part), nodes_(part.graph.nodes), rank_(rank), thresholds_(thresholds), taken_(taken) {
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].kind == NodeKind::kKernel && nodes_[i].step >= 0) kernels_.push_back(i);
    }
  }

  // They compute something else each: the same again and again is done to several tensors. What
  // needs the result of a collective can't be one kernel with what comes before.
  void Add(std::vector<FusibleRun>& runs) const {
    const std::vector<std::int32_t> tensors = Tensors();
    const std::vector<bool> needs_collective = NeedCollective(part_);
    std::vector<std::uint32_t> chain;
    std::int32_t of_chain = -1, step = -1;
    const auto type_of = [&](std::uint32_t i) { return part_.KindOf(nodes_[i]).type; };
    const auto end_chain = [&] {
      const bool is_one = IsAtLeast(chain.size(), thresholds_[kUnfusedChain]) &&
                          std::ranges::any_of(chain, [&](std::uint32_t i) {
                            return type_of(i) != type_of(chain[0]);
                          });
      if (is_one) runs.push_back(RunOf(chain));
      chain.clear();
    };
    for (const std::uint32_t i : kernels_) {
      const GraphNode& node = nodes_[i];
      const bool is_piece =
          node.category == TimeCategory::kVector && !node.in_optimizer && !taken_[i];
      const std::int32_t own = is_piece ? tensors[static_cast<std::size_t>(node.row)] : -1;
      if (own < 0 || own != of_chain || node.step != step || needs_collective[i]) end_chain();
      of_chain = own;
      step = node.step;
      if (own >= 0) chain.push_back(i);
    }
    end_chain();
  }

 private:
  FusibleRun RunOf(const std::vector<std::uint32_t>& chain) const {
    FusibleRun run{.rank = rank_, .kernels = chain};
    const std::uint32_t longest =
        *std::ranges::max_element(chain, {}, [&](std::uint32_t a) { return nodes_[a].dur; });
    std::ranges::copy_if(chain, std::back_inserter(run.gone),
                         [&](std::uint32_t kernel) { return kernel != longest; });
    run.joined.assign(chain.begin() + 1, chain.end());
    return run;
  }

  // By kind: a number for the first tensor that it reads; -1: not recorded.
  std::vector<std::int32_t> Tensors() const {
    std::map<std::string_view, std::int32_t> numbers;
    std::vector<std::int32_t> tensors;
    for (const KernelKind& kind : part_.kinds) {
      const std::string_view shapes = part_.names[kind.shapes];
      const std::string_view first = shapes.substr(0, shapes.find(';'));
      const bool is_known = kind.bytes > 0 && !first.empty();
      tensors.push_back(
          is_known
              ? numbers.try_emplace(first, static_cast<std::int32_t>(numbers.size())).first->second
              : -1);
    }
    return tensors;
  }

  const RankDiagnosis& part_;
  const std::vector<GraphNode>& nodes_;
  const std::size_t rank_;
  const Thresholds& thresholds_;
  const std::vector<bool>& taken_;
  std::vector<std::uint32_t> kernels_;
};

AdvicePart FusedOperators() {
  return {"use npu_rms_norm, npu_swiglu or the like (check the precision)",
          Change("operators in pieces", "fused operators of torch_npu")};
}

Advice OnGpu(AdvicePart breaker, bool has_breaker) {
  Advice advice;
  if (has_breaker) advice.of_gpu.push_back(std::move(breaker));
  advice.of_gpu.push_back(
      If(IsNotCompiled, {"use torch.compile or fused operators (check the precision)",
                         Change("operators in pieces", "torch.compile or fused operators")}));
  advice.of_gpu.push_back(If(IsCompiled, {"use fused operators (check the precision)",
                                          Change("operators in pieces", "fused operators")}));
  return advice;
}

// What is said of the known fusions, with each that may stand between their pieces.
class FusionVariants {
 public:
  FusionVariants() {
    for (const FusionPattern& pattern : FusionPatterns()) {
      if (pattern.chains.empty()) continue;
      Add(pattern, nullptr);
      for (const FusionBreaker& breaker : FusionBreakers()) Add(pattern, &breaker);
    }
  }

  const FindingVariant& Of(const OpenFusion& fusion) const {
    return variants_.at({fusion.pattern, fusion.breaker});
  }

 private:
  std::string_view Keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  void Add(const FusionPattern& pattern, const FusionBreaker* breaker) {
    FindingVariant& variant = variants_[{&pattern, breaker}];
    const std::string_view pieces = Translated(pattern.pieces);
    variant.title = Keep(breaker == nullptr ? Say("{} run unfused", pieces)
                                            : Say("{} breaks {}", breaker->name, pieces));
    AdvicePart remove;
    if (breaker != nullptr) remove = {breaker->remedy, Change(breaker->name, breaker->remedy)};
    variant.advice = OnGpu(remove, breaker != nullptr);
    if (!pattern.gpu_remedy.empty())
      variant.advice.of_gpu = {{pattern.gpu_remedy, Change(pattern.pieces, pattern.gpu_remedy)}};
    auto& parts = variant.advice.parts;
    if (breaker != nullptr) parts.push_back(remove);
    if (!pattern.remedy.empty()) {
      parts.push_back({pattern.remedy, Change(pattern.pieces, pattern.remedy)});
    } else if (!pattern.api.empty()) {
      parts.push_back({Keep(Say("use {} (check the precision)", pattern.api)),
                       Change(pattern.pieces, pattern.api)});
    }
  }

  std::deque<std::string> texts_;  // those that titles and advice refer to
  std::map<std::pair<const FusionPattern*, const FusionBreaker*>, FindingVariant> variants_;
};

// As long as the process, as the findings refer to them.
const FusionVariants& VariantsInLanguage() {
  static const FusionVariants first;
  static const Language language = CurrentLanguage();
  if (language == CurrentLanguage()) return first;
  static const FusionVariants other;
  return other;
}

class FusionCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    const FusionVariants& variants = VariantsInLanguage();
    const OpenFusions& fusions = search_.Fusions();
    for (const OpenFusion& fusion : fusions.open) {
      if (!fusion.matters) continue;
      Finding candidate = NewFinding(job_, kOpUnfused, fusion.place);
      candidate.variant = &variants.Of(fusion);
      candidate.Measure(kCallsPerStep, fusion.calls);
      candidate.Measure(kTimePerStep, fusion.time);
      candidate.what_if = fusion.what_if;
      // Whether they can be one without what stands between them is for who wrote them to say.
      if (fusion.breaker != nullptr) candidate.confidence = Certainty::kMedium;
      candidates_.push_back(std::move(candidate));
    }
    AddElementwise(fusions);
  }

 private:
  void AddElementwise(const OpenFusions& fusions) {
    std::vector<FusibleRun> runs;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank)
      ElementwiseChains(job_.Part(rank), rank, thresholds_, fusions.taken[rank]).Add(runs);
    const FusibleTime time = TimeOf(job_, runs);
    if (!Matters(job_, time)) return;
    Finding candidate = NewFinding(job_, kOpUnfused, kElementwise);
    candidate.Measure(kCallsPerStep, time.calls);
    candidate.Measure(kTimePerStep, time.time);
    // One kernel starts once, and its host asks for one; at best it reads and writes once, too.
    std::vector<TimeNs> starts;  // by rank
    for (RankIndex rank; rank < job_.ranks.size(); ++rank)
      starts.push_back(StartOfKernel(job_.Part(rank)));
    for (const FusibleRun& run : runs) {
      TakeRun(job_, issuing_, run, candidate.what_if.expect, starts[run.rank]);
      TakeRun(job_, issuing_, run, candidate.what_if.bound);
    }
    candidates_.push_back(std::move(candidate));
  }

  // What a kernel takes before it computes: less than that none does.
  static TimeNs StartOfKernel(const RankDiagnosis& part) {
    std::vector<TimeNs> durations;
    for (const GraphNode& node : part.graph.nodes) {
      if (node.kind == NodeKind::kKernel && node.category == TimeCategory::kVector)
        durations.push_back(node.dur);
    }
    return durations.empty() ? 0 : ValueAtPosition(durations, PercentileIndex(durations.size(), 1));
  }
};

}  // namespace

const FindingType kOpUnfused = Opportunity(
    Area::kDevices, "op.unfused", {"model"}, "operators run unfused",
    {.looked_at = "chains of kernels along a stream, by type, name, operator and sizes",
     .refuted_by =
         "sizes differ, another stream or a collective comes between, or the kernel is fused",
     .problem = kFusibleProblem,
     .categories = ComputeCategories(),
     .needs = {Record::kShapes, Record::kTensors},
     .find = FindBy<FusionCauses>,
     .advice = {{FusedOperators(),
                 If(IsNotCompiled,
                    {"else torch.compile", Change("other operators in pieces", "torch.compile")})},
                {OnGpu({}, false).of_gpu}},
     .thresholds = {&kUnfusedShare, &kUnfusedChain}});

}  // namespace mpa
