// SPDX-License-Identifier: Apache-2.0
// Captured graphs that compute for more requests than there are.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernel_finder.h"
#include "mpa/base/rank.h"
#include "mpa/mfu/shapes.h"
#include "small_operations.h"

namespace mpa {
namespace {

constexpr Threshold kPaddedShare{"share", 0.1, 0, 1,
                                 "at least this share of a graph's work is wasted"};

constexpr MetricInfo kPadding{"padding", "share", "{} of the graphs is padding"},
    kGraphSize{"graph_size", "count", "graphs of up to {}"};

// What kernels take to start does not depend on the batch.
constexpr TimeNs kStartOfKernel = 2'000;
// A kernel is held up by its multiplications if they take this share of it at the chip's peak, and
// it takes so many times what its tensors take.
constexpr double kMultiplies = 0.33, kMuchLonger = 1.25;

class PaddedGraphs : KernelFinder {
 public:
  explicit PaddedGraphs(FindingSearch& search) : KernelFinder(search) {
    std::vector<std::vector<KindUse>> uses;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) uses.push_back(UsesOf(rank));
    bandwidth_ = MemoryBandwidth(uses);
  }

  void Find() {
    Finding candidate = NewFinding(job_, kGraphPadding);
    double padded = 0, steps = 0;
    std::int64_t largest = 0;
    std::vector<double> of_step(job_.steps, 0);  // the padding, of the last rank that has any
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const std::vector<StepPart>& parts = job_.Part(rank).steps;
      std::vector<double> padding(job_.steps, 0);
      for (std::size_t i = 0; i < std::min(job_.steps, parts.size()); ++i) {
        const auto percent = parts[i].graphs > 0 ? parts[i].batch.Padding() : std::nullopt;
        if (!percent || *percent < 100 * thresholds_[kPaddedShare]) continue;
        padding[i] = of_step[i] = *percent / 100;
        if (i < job_.first_step) continue;
        padded += padding[i];
        ++steps;
        largest = std::max(largest, parts[i].batch.graph_size);
      }
      ShortenKernels(rank, padding, candidate.what_if.expect);
    }
    if (candidate.what_if.expect.durations.empty() || steps == 0) return;
    ShortenTransfers(of_step, candidate.what_if.expect);
    candidate.Measure(kPadding, padded / steps);
    candidate.Measure(kGraphSize, largest);
    // How kernels of smaller batches run is a guess.
    candidate.confidence = Certainty::kMedium;
    candidates_.push_back(std::move(candidate));
  }

 private:
  // Bytes of a kernel's tensors whose first dimension is that of the graph.
  struct Tensors {
    double of_batch = 0, all = 0;
  };

  static Tensors TensorsOf(const RankDiagnosis& part, const KernelKind& kind, std::int64_t size) {
    Tensors tensors;
    double batch_elements = 0, elements = 0;
    for (const Shape& shape : ParseShapes(part.names[kind.shapes])) {
      if (shape.empty()) continue;
      double count = 1;
      for (const std::int64_t dimension : shape) count *= static_cast<double>(dimension);
      elements += count;
      if (shape.front() == size) batch_elements += count;
    }
    if (batch_elements <= 0 || kind.bytes <= 0) return tensors;
    const auto read = static_cast<double>(kind.bytes - kind.written);
    tensors.all = static_cast<double>(kind.bytes);
    tensors.of_batch = read * batch_elements / elements + static_cast<double>(kind.written);
    return tensors;
  }

  // What a kernel would not take without the padding. Attention looks at requests that are there.
  // Others are held up by the memory, or by their multiplications until the memory holds them up.
  TimeNs Less(const RankDiagnosis& part, const GraphNode& node, std::int64_t size,
              double padding) const {
    if (node.category == TimeCategory::kAttention || node.dur <= kStartOfKernel) return 0;
    const KernelKind& kind = part.KindOf(node);
    const Tensors tensors = TensorsOf(part, kind, size);
    if (tensors.all <= 0) return 0;
    const auto dur = static_cast<double>(node.dur - kStartOfKernel);
    const double kept = tensors.all - padding * tensors.of_batch;
    const double of_memory = bandwidth_ > 0 ? tensors.all / bandwidth_ : 0;
    const bool multiplies = static_cast<double>(kind.least) >= kMultiplies * dur;
    if (!multiplies || dur < kMuchLonger * of_memory)
      return static_cast<TimeNs>(dur * (1 - kept / tensors.all));
    const double left = std::max(dur * (1 - padding), bandwidth_ > 0 ? kept / bandwidth_ : 0);
    return static_cast<TimeNs>(std::max(0.0, dur - left));
  }

  void ShortenKernels(RankIndex rank, const std::vector<double>& padding, Removal& removal) {
    const RankDiagnosis& part = job_.Part(rank);
    for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
      const GraphNode& node = part.graph.nodes[i];
      if (node.kind != NodeKind::kKernel || node.graph < 0 || !job_.Holds(node.step)) continue;
      const auto step = static_cast<std::size_t>(node.step);
      if (padding[step] <= 0) continue;
      const TimeNs less = Less(part, node, TokensOf(part.steps[step].batch), padding[step]);
      if (less > 0) removal.durations.push_back({job_.graph.first_node[rank] + i, less});
    }
  }

  // Tokens that the graph computes; see ServingBatch::SetGraph().
  static std::int64_t TokensOf(const ServingBatch& batch) {
    return batch.output_tokens > 0 && batch.requests > 0
               ? batch.graph_size * batch.output_tokens / batch.requests
               : batch.graph_size;
  }

  void ShortenTransfers(const std::vector<double>& padding, Removal& removal) const {
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const std::int32_t step = job_.operations.all[i].step;
      if (!job_.Holds(step) || padding[static_cast<std::size_t>(step)] <= 0) continue;
      const TimeNs moved = LeastOfMembers(job_, i, &OperationPart::moved);
      ShortenOperation(job_, i, ShareOf(moved, padding[static_cast<std::size_t>(step)]), removal);
    }
  }

  double bandwidth_ = 0;
};

}  // namespace

const FindingType kGraphPadding =
    Fault(Area::kDevices, "graph.padding", {"framework"},
          "captured graphs compute for requests that are not there",
          {.looked_at = "the size of the graph compared with the batch for which it ran",
           .refuted_by = "the batch fills the graph",
           .needs = {Record::kGraphShapes},
           .applies = [](const Coverage& job) { return job.decodes_by_graph; },
           .find = FindBy<PaddedGraphs>,
           .advice = {{{"capture graphs of sizes closer to the batches",
                        Change("sizes of captured graphs", "closer to the batches")}}},
           .thresholds = {&kPaddedShare}});

}  // namespace mpa
