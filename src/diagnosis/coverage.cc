// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "diagnose.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/catalogue.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/causes/micro_batches.h"
#include "mpa/diagnosis/causes/variables.h"

namespace mpa {
namespace {

constexpr Wording kChip{"what the chip and its links move at most", "芯片及其链路的最大带宽"},
    kChipHint{"info.json of the device, or numbers with --rules",
              "保留设备的 info.json，或用 --rules 给出数值"},
    kMoreRanks{"captures of more ranks", "采集更多的卡"};

class CauseCoverage {
 public:
  CauseCoverage(const Job& job, Diagnosis& diagnosis)
      : job_(job), diagnosis_(diagnosis), facts_(FactsOf(job.ranks, job.thresholds)) {}

  void FindMissing() {
    FindMissingCalls();
    FindMissingTransfers();
    FindMissingKernels();
    if (!ShapeOfPipeline(job_).complete)
      Miss(Record::kStages, {"a rank of every pipeline stage", "每个流水级至少一张卡"}, kMoreRanks);
    FindMissingRanks();
    FindMissingFusions();
  }

  void FindOthers() {
    const Coverage coverage = CoverageOf();
    for (const FindingInfo* finding : Catalogue()) {
      const auto is_of = [&](const auto& row) { return row.finding == finding; };
      const bool is_told = std::ranges::any_of(diagnosis_.findings, is_of) ||
                           std::ranges::any_of(diagnosis_.hidden, is_of) ||
                           std::ranges::any_of(diagnosis_.not_judged, is_of);
      if (!is_told && Applies(*finding, coverage)) diagnosis_.fine.push_back(finding);
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
  Wording LevelHint() const {
    if (!facts_.has_level1) return {"profiler_level=Level1"};
    return {"all files of the capture", "采集目录中的全部文件"};
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

  bool IsFound(const FindingInfo& finding) const {
    return std::ranges::any_of(diagnosis_.findings,
                               [&](const FoundCause& found) { return found.Is(finding); });
  }

  // Of all findings that need the record.
  void Miss(Record record, const Wording& needs, const Wording& hint) {
    for (const FindingInfo* finding : Catalogue()) {
      const auto& records = finding->needs;
      const bool is_needed = std::ranges::find(records, record) != records.end();
      if (is_needed && !(finding->npu_alone && IsGpu()))
        diagnosis_.not_judged.push_back({finding, needs, hint});
    }
  }

  void FindMissingCalls() {
    if (!HasCalls() && IsGpu())
      Miss(Record::kCalls, {"calls of the CUDA runtime", "CUDA 运行时调用"},
           {"ProfilerActivity.CPU"});
    if (!HasCalls() && !IsGpu())
      Miss(Record::kCalls, {"calls of the runtime (CANN)", "CANN 接口调用"}, LevelHint());
    if (!Any([](const RankDiagnosis& part) { return part.knows_garbage; })) {
      Miss(Record::kGarbage, {"records of garbage collections", "垃圾回收记录"},
           IsGpu() ? kNotOnGpus : Wording{"gc_detect_threshold=1"});
    }
    if (!Any([](const RankDiagnosis& part) { return part.has_stacks; }))
      Miss(Record::kStacks,
           {"stacks of Python, for source lines", "Python 调用栈（用于定位源码行）"},
           {"with_stack=True"});
  }

  void FindMissingTransfers() {
    const bool knows_links = job_.thresholds[kCardGbs] > 0 && job_.thresholds[kPortGbs] > 0;
    if (HasTransfers() && !knows_links && !IsFound(kLinkSlow))
      Miss(Record::kLinkLimits, kChip, kChipHint);
    if (!HasOperations() || HasTransfers()) return;
    static constexpr Wording kSizes{"sizes and peers of transfers", "传输的大小和对端"};
    Miss(Record::kTransfers, kSizes, IsGpu() ? kNotOnGpus : LevelHint());
    // How many operations a group makes is known without their sizes.
    if (!IsGpu()) Miss(Record::kSizes, kSizes, LevelHint());
  }

  void FindMissingKernels() {
    const bool has_shapes = Any([](const RankDiagnosis& part) {
      return std::ranges::any_of(part.kinds, [&](const KernelKind& kind) {
        return !IsOneOf(part.names[kind.shapes], {"", "N/A"});
      });
    });
    if (!has_shapes) {
      for (const Record record : {Record::kShapes, Record::kShapesOfRanks})
        Miss(record, {"shapes of kernels", "算子的 shape"},
             IsGpu() ? Wording{"record_shapes=True"} : LevelHint());
    } else if (IsGpu()) {
      Miss(Record::kTensors, {"tensors of kernels", "算子读写的张量"}, kNotOnGpus);
    } else if (job_.thresholds[kMemoryGbs] <= 0 && !IsFound(kOpSlow)) {
      Miss(Record::kMemoryLimits, kChip, kChipHint);
    }
    const bool has_clock = Any([](const RankDiagnosis& part) {
      return std::ranges::any_of(part.steps, [](const StepPart& step) { return step.mhz > 0; });
    });
    if (!has_clock) {
      Miss(Record::kClock, {"the clock of the cores", "AI Core 频率"},
           IsGpu() ? kNotOnGpus : LevelHint());
    } else if (!Any([](const RankDiagnosis& part) { return part.rated_mhz > 0; })) {
      Miss(Record::kRatedClock, {"the rated clock of the cores", "AI Core 额定频率"},
           {"info.json of the device, in its PROF folder", "保留 PROF 目录下设备的 info.json"});
    }
  }

  // Types of kernels tell fusions without shapes, too, and on GPUs operators do.
  void FindMissingFusions() {
    const bool by_operators = IsGpu() && diagnosis_.known_fusions > 0;
    if (IsFound(kOpUnfused) || IsGpu()) {
      std::erase_if(diagnosis_.not_judged,
                    [](const NotJudged& row) { return row.finding == &kOpUnfused; });
    }
    if (IsGpu() && !by_operators) {
      diagnosis_.not_judged.push_back({&kOpUnfused,
                                       {"operators that asked for kernels", "下发 kernel 的算子"},
                                       {"ProfilerActivity.CPU"}});
    }
  }

  void FindMissingRanks() {
    const auto& operations = job_.operations.all;
    const bool compares = ComparesRanks();
    if (compares && std::ranges::none_of(operations, &JobOperation::is_apart)) return;
    if (compares) {
      Miss(Record::kPeers,
           {"the same operations of a group on all of its ranks",
            "通信组的所有卡上有相同的通信算子"},
           {"captures of the same steps", "采集相同的 step"});
    } else {
      Miss(Record::kPeers,
           {"three ranks of the same role, or two and more steps",
            "同一角色的三张卡，或两张卡和更多的 step"},
           {"captures of more ranks or steps", "采集更多的卡或 step"});
    }
    // Some work of the host is compared across roles, too.
    std::erase_if(diagnosis_.not_judged, [&](const NotJudged& row) {
      return row.finding->area == Area::kRanks && IsFound(*row.finding);
    });
  }

  Coverage CoverageOf() const {
    return {.thresholds = job_.thresholds,
            .on_gpu = IsGpu(),
            .operations = HasOperations(),
            .transfers = HasTransfers(),
            .calls = HasCalls(),
            .compares = ComparesRanks(),
            .steps = static_cast<double>(job_.CountedSteps()),
            .ranks = job_.ranks.size(),
            .stages = ShapeOfPipeline(job_).stages,
            .serves = job_.Serves(),
            .decodes_by_graph = AnyStep([](const StepPart& step) {
              return step.batch.phase == ServingPhase::kDecode && step.graphs > 0;
            }),
            .runs_graphs = Any([](const RankDiagnosis& part) {
              return std::ranges::any_of(part.graph.nodes,
                                         [](const GraphNode& node) { return node.graph >= 0; });
            })};
  }

  template <typename Is>
  bool AnyStep(Is is) const {
    return Any([&](const RankDiagnosis& part) { return std::ranges::any_of(part.steps, is); });
  }

  // False for what this job cannot have, and what is not looked for here.
  static bool Applies(const FindingInfo& finding, const Coverage& job) {
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
  CauseCoverage(job, diagnosis).FindMissing();
}

void FindFine(const Job& job, Diagnosis& diagnosis) { CauseCoverage(job, diagnosis).FindOthers(); }

}  // namespace mpa
