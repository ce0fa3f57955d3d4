// SPDX-License-Identifier: Apache-2.0
// How data come to the device: who loads them, and in which precision.
#include "inputs.h"

#include <algorithm>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/mfu/shapes.h"

namespace mpa {
namespace {

constexpr MetricInfo kCastsPerStep{"cast_inputs_per_step", "count",
                                   "{} FP32 inputs a step are cast to half"};

// The kernels of a rank and its copies to the device, in order of start.
class CastFinder {
 public:
  CastFinder(const Job& job, RankIndex rank) : part_(job.Part(rank)) {
    for (const GraphNode& node : part_.graph.nodes) {
      const bool copies_in = node.kind == NodeKind::kCopy && node.category == TimeCategory::kCopyIn;
      if ((copies_in || node.kind == NodeKind::kKernel) && job.Counts(node.step))
        work_.push_back(&node);
    }
    StableSort(work_, {}, &GraphNode::start);
    for (const KernelKind& kind : part_.kinds)
      kinds_.push_back({ParseShapes(part_.names[kind.shapes]),
                        ParseTensorNames(part_.names[kind.types]),
                        part_.names[kind.type] == "Cast"});
  }

  std::int64_t Count() const {
    std::int64_t casts = 0, copied = 0;
    for (std::size_t i = 0; i < work_.size(); ++i) {
      if (work_[i]->kind == NodeKind::kCopy) {
        ++copied;
      } else if (!KindOf(i).casts) {
        copied = 0;
      } else if (copied > 0 && MakesHalf(i)) {
        --copied;
        ++casts;
      }
    }
    return casts;
  }

 private:
  struct Kind {
    Shapes shapes;
    std::vector<std::string> types;
    bool casts = false;
  };
  const Kind& KindOf(std::size_t i) const {
    return kinds_[static_cast<std::size_t>(work_[i]->row)];
  }

  // What a cast makes is not recorded with it, but with the kernel that reads it.
  bool MakesHalf(std::size_t cast) const {
    constexpr std::size_t kReach = 32;
    const Kind& from = KindOf(cast);
    if (from.shapes.empty() || from.types.empty() || from.types[0] != "FLOAT") return false;
    for (std::size_t i = cast + 1; i < std::min(work_.size(), cast + kReach); ++i) {
      if (work_[i]->kind != NodeKind::kKernel) continue;
      const Kind& reader = KindOf(i);
      for (std::size_t k = 0; k < std::min(reader.shapes.size(), reader.types.size()); ++k) {
        const bool is_half = IsOneOf(reader.types[k], {"FLOAT16", "BF16"});
        if (is_half && reader.shapes[k] == from.shapes[0]) return true;
      }
    }
    return false;
  }

  const RankDiagnosis& part_;
  std::vector<const GraphNode*> work_;
  std::vector<Kind> kinds_;
};

bool LoadsItself(const AdviceFacts& facts) { return facts.loading > facts.waiting_for_workers; }
bool UsesWorkers(const AdviceFacts& facts) { return !LoadsItself(facts); }
bool MostlyCopiesOut(const AdviceFacts& facts) { return facts.copying_out > facts.copying_in; }
bool MostlyCopiesIn(const AdviceFacts& facts) { return !MostlyCopiesOut(facts); }
bool MostlyPinned(const AdviceFacts& facts) {
  return 2 * facts.copying_pinned > facts.copying_in + facts.copying_out;
}
bool CopiesInUnpinned(const AdviceFacts& facts) {
  return MostlyCopiesIn(facts) && !MostlyPinned(facts);
}
bool CopiesTwiceAsMuch(const AdviceFacts& facts) {
  return MostlyCopiesIn(facts) && facts.casts_inputs;
}
bool CopiesAsNeeded(const AdviceFacts& facts) {
  return MostlyCopiesIn(facts) && !facts.casts_inputs;
}

}  // namespace

void NoteLoaders(const Job& job, AdviceFacts& facts) {
  for (const DiagnosedRank& rank : job.ranks) {
    HostPlaces::Reader places(rank.part->places);
    for (std::uint32_t share = 0; share < rank.part->shares.size(); ++share) {
      if (rank.part->shares[share].category != TimeCategory::kDataLoader) continue;
      places.ForEachOf(share, [&](const HostPlace& place) {
        const std::string& name = rank.part->names[place.name];
        if (name.find("_SingleProcessDataLoaderIter") != std::string::npos)
          facts.loading += place.time;
        if (name.find("_MultiProcessingDataLoaderIter") != std::string::npos)
          facts.waiting_for_workers += place.time;
      });
    }
  }
}

void NoteCasts(const Job& job, Finding& found) {
  std::int64_t casts = 0;
  for (RankIndex rank; rank < job.ranks.size(); ++rank) casts += CastFinder(job, rank).Count();
  const auto steps = static_cast<std::int64_t>(job.ranks.size() * job.CountedSteps());
  if (steps == 0 || casts < steps) return;
  found.facts.casts_inputs = true;
  found.Measure(kCastsPerStep, Share(casts, steps));
}

Advice LoaderAdvice() {
  return {
      {If(LoadsItself,
          {"load in other processes (num_workers=4 or more)", MoreOf("DataLoader.num_workers")}),
       If(LoadsItself,
          {{"persistent_workers=True"}, SetOption("DataLoader.persistent_workers", true)}),
       If(UsesWorkers, {"use more workers (num_workers)", MoreOf("DataLoader.num_workers")}),
       If(UsesWorkers, {"set prefetch_factor=4 or more", MoreOf("DataLoader.prefetch_factor")})}};
}

Advice CopyAdvice() {
  return {{If(CopiesInUnpinned, {{"pin_memory=True"}, SetOption("DataLoader.pin_memory", true)}),
           If(CopiesAsNeeded,
              {".to(device, non_blocking=True)", SetOption("Tensor.to.non_blocking", true)}),
           If(CopiesTwiceAsMuch,
              {"load in half precision, then .to(device, non_blocking=True)",
               Change("inputs", "half precision before the copy, non_blocking=True")}),
           If(MostlyCopiesOut,
              {"copy to the host every n steps", Change("copies to the host", "every n steps")}),
           If(MostlyCopiesOut,
              {"copy without blocking into pinned tensors, and wait before they are read",
               Change("copies to the host", "non_blocking=True into pinned tensors")})}};
}

}  // namespace mpa
