// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "diagnose.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/catalogue.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/causes/micro_batches.h"
#include "mpa/diagnosis/causes/variables.h"

namespace mpa {
namespace {

constexpr std::string_view kChipHint = "info.json of the device, or numbers with --rules",
                           kMoreRanks = "captures of more ranks";

}  // namespace

std::string_view WordsOf(Record record, bool on_gpu) {
  switch (record) {
    case Record::kCalls:
      return on_gpu ? "calls of the CUDA runtime" : "calls of the runtime (CANN)";
    case Record::kGarbage:
      return "records of garbage collections";
    case Record::kStacks:
      return "stacks of Python, for source lines";
    case Record::kLinkLimits:
    case Record::kMemoryLimits:
      return "peak rates of the chip and its links";
    case Record::kTransfers:
    case Record::kSizes:
      return "sizes and peers of transfers";
    case Record::kShapes:
    case Record::kShapesOfRanks:
      return "shapes of kernels";
    case Record::kGraphShapes:
      return "shapes of kernels of captured graphs";
    case Record::kTensors:
      return "tensors of kernels";
    case Record::kClock:
      return "the clock of the cores";
    case Record::kRatedClock:
      return "the rated clock of the cores";
    case Record::kStages:
      return "a rank of every pipeline stage";
    case Record::kPeers:
      return "three ranks of the same role, or two and more steps";
  }
  return {};
}

namespace {

class FindingCoverage {
 public:
  FindingCoverage(const Job& job, Diagnosis& diagnosis)
      : job_(job), diagnosis_(diagnosis), facts_(FactsOf(job.ranks, job.thresholds)) {}

  void FindMissing() {
    FindMissingCalls();
    FindMissingTransfers();
    FindMissingKernels();
    if (!ShapeOfPipeline(job_).complete) Miss(Record::kStages, kMoreRanks);
    FindMissingRanks();
    FindMissingFusions();
  }

  void FindOthers() {
    const Coverage coverage = CoverageOf();
    for (const FindingType* finding : Catalogue()) {
      const auto is_of = [&](const auto& row) { return row.type == finding; };
      const bool is_told = std::ranges::any_of(diagnosis_.findings, is_of) ||
                           std::ranges::any_of(diagnosis_.hidden, is_of) ||
                           std::ranges::any_of(diagnosis_.not_judged, is_of);
      if (!is_told && Applies(*finding, coverage)) diagnosis_.passed_checks.push_back(finding);
    }
  }

 private:
  template <typename Holds>
  bool Any(Holds holds) const {
    return std::ranges::any_of(job_.ranks,
                               [&](const DiagnosedRank& rank) { return holds(*rank.part); });
  }
  bool IsGpu() const { return facts_.on_gpu; }
  // A capture of the level that lacks what it records has lost it since.
  std::string_view LevelHint() const {
    if (!facts_.has_level1) return {"profiler_level=Level1"};
    return "all files of the capture";
  }
  bool HasOperations() const { return !job_.operations.all.empty(); }
  bool HasTransfers() const {
    return Any([](const RankDiagnosis& part) { return !part.transfers.empty(); });
  }
  bool HasCalls() const {
    return Any([](const RankDiagnosis& part) { return part.has_calls; });
  }
  bool ComparesRanks() const {
    return std::ranges::any_of(
        job_.ranks_of_role, [&](const auto& role) { return CanCompare(job_, role.second.size()); });
  }

  bool IsFound(const FindingType& finding) const {
    return std::ranges::any_of(diagnosis_.findings,
                               [&](const Finding& found) { return found.Is(finding); });
  }

  // Of all findings that need the record, and that this job can have.
  void Miss(Record record, std::string_view hint) {
    Miss(record, WordsOf(record, IsGpu()), hint, {});
  }
  void Miss(Record record, std::string_view needs, std::string_view hint,
            const std::vector<RankId>& ranks) {
    for (const FindingType* finding : Catalogue()) {
      const auto needs_record = [&](Record which) {
        return std::ranges::find(finding->needs, which) != finding->needs.end();
      };
      // What traces of GPUs never hold, no other record replaces.
      if (record == Record::kShapes && IsGpu() && needs_record(Record::kTensors)) continue;
      // What was found was judged.
      if (needs_record(record) && CanHave(*finding) && !(ranks.empty() && IsFound(*finding)))
        diagnosis_.not_judged.push_back({finding, needs, hint, ranks});
    }
  }

  // The same of ranks that lack it, where others have it.
  template <typename Holds>
  void MissOnRanks(Record record, std::string_view hint, Holds holds) {
    std::vector<RankId> ranks;
    for (const DiagnosedRank& rank : job_.ranks) {
      if (!holds(*rank.part)) ranks.push_back(rank.rank);
    }
    if (ranks.empty()) return;
    if (ranks.size() == job_.ranks.size()) ranks.clear();  // all
    Miss(record, WordsOf(record, IsGpu()), hint, ranks);
  }

  // Whether the job can have it, whatever is recorded of it.
  bool CanHave(const FindingType& finding) const {
    Coverage could = CoverageOf();
    could.transfers = could.calls = true;
    could.compares = could.operations || job_.ranks.size() > 1 || diagnosis_.world > 1;
    return Applies(finding, could);
  }

  void FindMissingCalls() {
    MissOnRanks(Record::kCalls, IsGpu() ? "ProfilerActivity.CPU" : LevelHint(),
                [](const RankDiagnosis& part) { return part.has_calls; });
    MissOnRanks(Record::kGarbage, IsGpu() ? kNotOnGpus : "gc_detect_threshold=1",
                [](const RankDiagnosis& part) { return part.knows_garbage; });
    MissOnRanks(Record::kStacks, {"with_stack=True"},
                [](const RankDiagnosis& part) { return part.has_stacks; });
  }

  void FindMissingTransfers() {
    const bool knows_links = job_.thresholds[kCardGbs] > 0 && job_.thresholds[kPortGbs] > 0;
    if (HasTransfers() && !knows_links && !IsFound(kLinkSlow)) Miss(Record::kLinkLimits, kChipHint);
    const auto has_transfers = [](const RankDiagnosis& part) {
      return part.operations.empty() || !part.transfers.empty();
    };
    if (!HasOperations()) return;
    MissOnRanks(Record::kTransfers, TransferHint(), has_transfers);
    // How many operations a group makes is known without their sizes.
    if (!IsGpu()) MissOnRanks(Record::kSizes, TransferHint(), has_transfers);
  }

  // Collectives that run on vector cores are kernels, not tasks.
  std::string_view TransferHint() const {
    if (IsGpu()) return kNotOnGpus;
    const bool on_vector_cores = Any([](const RankDiagnosis& part) {
      const auto mode = part.settings.find("HCCL_OP_EXPANSION_MODE");
      return mode != part.settings.end() && mode->second.starts_with("AIV");
    });
    if (!on_vector_cores) return LevelHint();
    return "HCCL_OP_EXPANSION_MODE other than AIV";
  }

  static bool HasShapes(const RankDiagnosis& part, const KernelKind& kind) {
    return !IsOneOf(part.names[kind.shapes], {"", "N/A"});
  }

  void FindMissingKernels() {
    const auto has_shapes = [](const RankDiagnosis& part) {
      return part.has_shapes || std::ranges::any_of(part.kinds, [&](const KernelKind& kind) {
               return HasShapes(part, kind);
             });
    };
    const auto has_graph_shapes = [](const RankDiagnosis& part) {
      return std::ranges::any_of(part.graph.nodes, [&](const GraphNode& node) {
        return node.kind == NodeKind::kKernel && node.graph >= 0 &&
               HasShapes(part, part.KindOf(node));
      });
    };
    const std::string_view hint = IsGpu() ? "record_shapes=True" : LevelHint();
    MissOnRanks(Record::kShapes, hint, has_shapes);
    MissOnRanks(Record::kShapesOfRanks, hint, has_shapes);
    MissOnRanks(Record::kGraphShapes, IsGpu() ? kNotOnGpus : LevelHint(), has_graph_shapes);
    if (IsGpu()) {
      Miss(Record::kTensors, kNotOnGpus);
    } else if (job_.thresholds[kMemoryGbs] <= 0 && !IsFound(kOpSlow) && Any(has_shapes)) {
      Miss(Record::kMemoryLimits, kChipHint);
    }
    const auto has_clock = [](const RankDiagnosis& part) {
      return std::ranges::any_of(part.steps, [](const StepPart& step) { return step.mhz > 0; });
    };
    MissOnRanks(Record::kClock, IsGpu() ? kNotOnGpus : LevelHint(), has_clock);
    if (Any(has_clock) && !Any([](const RankDiagnosis& part) { return part.rated_mhz > 0; })) {
      Miss(Record::kRatedClock, "info.json of the device, in its PROF folder");
    }
  }

  // Types of kernels tell fusions without shapes, too, and on GPUs operators do.
  void FindMissingFusions() {
    const bool by_operators = IsGpu() && diagnosis_.known_fusions > 0;
    if (IsFound(kOpUnfused) || IsGpu()) {
      std::erase_if(diagnosis_.not_judged,
                    [](const NotJudged& row) { return row.type == &kOpUnfused; });
    }
    if (IsGpu() && !by_operators) {
      diagnosis_.not_judged.push_back(
          {&kOpUnfused, "operators that launched kernels", {"ProfilerActivity.CPU"}, {}});
    }
  }

  void FindMissingRanks() {
    const auto& operations = job_.operations.all;
    const bool compares = ComparesRanks();
    if (compares && std::ranges::none_of(operations, &JobOperation::is_apart)) return;
    if (compares) {
      Miss(Record::kPeers, "the same operations of a group on all of its ranks",
           "captures of the same steps", {});
    } else {
      Miss(Record::kPeers, "captures of more ranks or steps");
    }
    // Some work of the host is compared across roles, too.
    std::erase_if(diagnosis_.not_judged, [&](const NotJudged& row) {
      return row.type->area == Area::kRanks && IsFound(*row.type);
    });
  }

  Coverage CoverageOf() const {
    return {.thresholds = job_.thresholds,
            .on_gpu = IsGpu(),
            .operations = HasOperations(),
            .transfers = HasTransfers(),
            .calls = HasCalls(),
            .threads = Any([](const RankDiagnosis& part) { return part.scheduler.recorded; }),
            .nodes = Any([](const RankDiagnosis& part) { return part.scheduler.far_moves >= 0; }),
            .compares = ComparesRanks(),
            .steps = static_cast<double>(job_.CountedSteps()),
            .ranks = job_.ranks.size(),
            .stages = ShapeOfPipeline(job_).stages,
            .serves = job_.Serves(),
            .decodes_by_graph = AnyStep([](const StepPart& step) {
              return step.batch.phase == ServingPhase::kDecode && step.graphs > 0;
            }),
            .counts_packets =
                Any([](const RankDiagnosis& part) { return part.analyzers.lost_packets >= 0; }),
            .counts_links = Any([](const RankDiagnosis& part) { return part.counts_links; }),
            .tells_process = EachStepOfAny([](const StepMemory& memory) {
              return memory.process >= 0 && memory.reserved >= 0;
            }),
            .runs_graphs = Any([](const RankDiagnosis& part) {
              return std::ranges::any_of(part.graph.nodes,
                                         [](const GraphNode& node) { return node.graph >= 0; });
            }),
            .system_calls = Any([](const RankDiagnosis& part) { return part.knows_system_calls; }),
            .locks = Any([](const RankDiagnosis& part) { return part.knows_locks; }),
            .cache_misses = Any([](const RankDiagnosis& part) { return part.functions.recorded; }),
            .memory = EachStepOfAny([](const StepMemory& memory) { return memory.Known(); })};
  }

  // True when it holds of the memory of each step that counts, on any rank.
  template <typename Is>
  bool EachStepOfAny(Is is) const {
    return Any([&](const RankDiagnosis& part) {
      const std::size_t end = std::min(job_.steps, part.steps.size());
      for (std::size_t step = job_.first_step; step < end; ++step) {
        if (!is(part.steps[step].memory)) return false;
      }
      return job_.first_step < end;
    });
  }

  template <typename Is>
  bool AnyStep(Is is) const {
    return Any([&](const RankDiagnosis& part) { return std::ranges::any_of(part.steps, is); });
  }

  // False for what this job cannot have, and what is not looked for here.
  static bool Applies(const FindingType& finding, const Coverage& job) {
    if (finding.npu_alone && job.on_gpu) return false;
    if (finding.applies != nullptr) return finding.applies(job);
    switch (finding.area) {
      case Area::kRanks:
      case Area::kBalance:
        return job.compares;
      case Area::kCommunication:
        return job.operations;
      case Area::kCapture:
        return false;
      default:
        return true;
    }
  }

  const Job& job_;
  Diagnosis& diagnosis_;
  const AdviceFacts facts_;
};

}  // namespace

void FindNotJudged(const Job& job, Diagnosis& diagnosis) {
  FindingCoverage(job, diagnosis).FindMissing();
}

void FindPassedChecks(const Job& job, Diagnosis& diagnosis) {
  FindingCoverage(job, diagnosis).FindOthers();
}

}  // namespace mpa
