// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "diagnose.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/causes/micro_batches.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/job/variables.h"

namespace mpa {
namespace {

constexpr std::string_view kChip = "what the chip and its links move at most";
constexpr std::string_view kChipHint = "info.json of the device, or numbers with --rules";

class JudgedCauses {
 public:
  JudgedCauses(const Job& job, Diagnosis& diagnosis)
      : job_(job), diagnosis_(diagnosis), facts_(FactsOf(job.ranks, job.rules)) {}

  void FindMissing() {
    FindMissingCalls();
    FindMissingTransfers();
    FindMissingKernels();
    if (!ShapeOfPipeline(job_).complete)
      Miss({"pp.stage_imbalance"}, "a rank of every pipeline stage", "captures of more ranks");
    FindMissingRanks();
  }

  void FindOthers() {
    for (const CatalogueEntry& entry : Catalogue()) {
      const std::string_view id = entry.id;
      const auto is_of = [id](const auto& row) { return row.id == id; };
      const bool is_told =
          std::any_of(diagnosis_.findings.begin(), diagnosis_.findings.end(), is_of) ||
          std::any_of(diagnosis_.hidden.begin(), diagnosis_.hidden.end(), is_of) ||
          std::any_of(diagnosis_.not_judged.begin(), diagnosis_.not_judged.end(), is_of);
      if (!is_told && !id.starts_with("capture.") && Applies(id)) diagnosis_.fine.emplace_back(id);
    }
  }

 private:
  template <typename Holds>
  bool Any(Holds holds) const {
    return std::any_of(job_.ranks.begin(), job_.ranks.end(),
                       [&](const DiagnosedRank& rank) { return holds(*rank.part); });
  }
  bool IsGpu() const { return facts_.on_gpu; }
  // A capture of the level that lacks what it records has lost it since.
  std::string_view LevelHint() const {
    return facts_.has_level1 ? "all files of the capture" : "profiler_level=Level1";
  }
  bool HasOperations() const { return !job_.operations.all.empty(); }
  bool HasTransfers() const {
    return Any([](const RankDiagnosis& part) { return !part.transfers.empty(); });
  }
  bool HasCalls() const {
    return Any([](const RankDiagnosis& part) { return part.has_calls; });
  }
  bool ComparesRanks() const {
    return std::any_of(job_.ranks_of_role.begin(), job_.ranks_of_role.end(),
                       [&](const auto& role) { return CanCompare(job_, role.second.size()); });
  }

  bool IsFound(std::string_view id) const {
    return std::any_of(diagnosis_.findings.begin(), diagnosis_.findings.end(),
                       [&](const FoundCause& finding) { return finding.id == id; });
  }

  void Miss(std::initializer_list<std::string_view> ids, std::string_view needs,
            std::string_view hint) {
    for (const std::string_view id : ids)
      diagnosis_.not_judged.push_back({std::string(id), std::string(needs), std::string(hint)});
  }

  void FindMissingCalls() {
    if (!HasCalls() && IsGpu())
      Miss({"host.compile", "host.memory", "mem.pressure"}, "calls of the CUDA runtime",
           "ProfilerActivity.CPU");
    if (!HasCalls() && !IsGpu())
      Miss({"host.compile", "host.aclop", "host.memory", "mem.pressure"},
           "calls of the runtime (CANN)", LevelHint());
    if (!Any([](const RankDiagnosis& part) { return part.knows_garbage; })) {
      Miss({"host.gc"}, "records of garbage collections",
           IsGpu() ? kNotOnGpus : "gc_detect_threshold=1");
    }
    if (!Any([](const RankDiagnosis& part) { return part.has_stacks; }))
      Miss({"host.python"}, "stacks of Python, for source lines", "with_stack=True");
  }

  void FindMissingTransfers() {
    const bool knows_links = job_.rules.card_gbs > 0 && job_.rules.port_gbs > 0;
    if (HasTransfers() && !knows_links && !IsFound("link.slow"))
      Miss({"link.slow"}, kChip, kChipHint);
    if (!HasOperations() || HasTransfers()) return;
    // How many operations a group makes is known without their sizes.
    if (IsGpu()) {
      Miss({"link.slow"}, "sizes and peers of transfers", kNotOnGpus);
    } else {
      Miss({"link.slow", "comm.small"}, "sizes and peers of transfers", LevelHint());
    }
  }

  void FindMissingKernels() {
    const bool has_shapes = Any([](const RankDiagnosis& part) {
      return std::any_of(part.kinds.begin(), part.kinds.end(), [&](const KernelKind& kind) {
        return !IsOneOf(part.names[kind.shapes], {"", "N/A"});
      });
    });
    if (!has_shapes) {
      Miss({"op.slow", "op.variance", "op.unfused", "data.imbalance", "ep.imbalance"},
           "shapes of kernels", IsGpu() ? "record_shapes=True" : LevelHint());
    } else if (IsGpu()) {
      Miss({"op.slow", "op.unfused"}, "tensors of kernels", kNotOnGpus);
    } else if (job_.rules.memory_gbs <= 0 && !IsFound("op.slow")) {
      Miss({"op.slow"}, kChip, kChipHint);
    }
    const bool has_clock = Any([](const RankDiagnosis& part) {
      return std::any_of(part.steps.begin(), part.steps.end(),
                         [](const StepPart& step) { return step.mhz > 0; });
    });
    if (!has_clock) {
      Miss({"dev.clock"}, "the clock of the cores", IsGpu() ? kNotOnGpus : LevelHint());
    } else if (!Any([](const RankDiagnosis& part) { return part.rated_mhz > 0; })) {
      Miss({"dev.clock"}, "the rated clock of the cores",
           "info.json of the device, in its PROF folder");
    }
  }

  void FindMissingRanks() {
    const auto& operations = job_.operations.all;
    const bool compares = ComparesRanks();
    if (compares && std::none_of(operations.begin(), operations.end(),
                                 [](const JobOperation& row) { return row.is_apart; }))
      return;
    for (const std::string_view id : {"rank.late_compute", "rank.late_host", "rank.late_input"}) {
      // Some work of the host is compared across roles, too.
      if (IsFound(id)) continue;
      if (compares) {
        Miss({id}, "the same operations of a group on all of its ranks",
             "captures of the same steps");
      } else {
        Miss({id}, "three ranks of the same role, or two and more steps",
             "captures of more ranks or steps");
      }
    }
  }

  // False for what this job cannot have, and what is not looked for here.
  bool Applies(std::string_view id) const {
    if (id.starts_with("pp.")) return ShapeOfPipeline(job_).stages > 1;
    if (id.starts_with("comm.") || id == "link.slow" || id == "rank.late") {
      if (IsOneOf(id, {"comm.unaligned", "comm.contention", "comm.retransmit", "comm.inner",
                       "comm.buffer"}) &&
          !HasTransfers())
        return false;
      if (id == "comm.exposed" && job_.ranks.size() > 1) return false;
      return HasOperations();
    }
    if (id == "step.long") return static_cast<double>(job_.CountedSteps()) >= job_.rules.few_steps;
    if (id == "rank.jitter")
      return ComparesRanks() && static_cast<double>(job_.CountedSteps()) >= job_.rules.jitter_steps;
    if (id.starts_with("rank.") || IsOneOf(id, {"data.imbalance", "ep.imbalance"}))
      return ComparesRanks();
    if (id == "host.cpu_contention")
      return HasCalls() && !IsGpu() &&
             static_cast<double>(job_.CountedSteps()) >= job_.rules.cpu_steps;
    return !IsGpu() || !IsOneOf(id, {"host.aclop", "host.launch_blocking", "op.aicpu",
                                     "mem.pressure", "env.check"});
  }

  const Job& job_;
  Diagnosis& diagnosis_;
  const AdviceFacts facts_;
};

}  // namespace

void FindNotJudged(const Job& job, Diagnosis& diagnosis) {
  JudgedCauses(job, diagnosis).FindMissing();
}

void FindFine(const Job& job, Diagnosis& diagnosis) { JudgedCauses(job, diagnosis).FindOthers(); }

}  // namespace mpa
