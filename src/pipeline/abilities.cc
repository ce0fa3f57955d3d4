// SPDX-License-Identifier: Apache-2.0
// What each analyzer can do with a capture. Lives here because only the pipeline knows both what
// captures hold and what analyzers need.
#include "mpa/pipeline/abilities.h"

#include <fmt/format.h>

namespace mpa {
namespace {

constexpr const char* kCopyAgain = "copy the capture again, or parse it again";

Verdict CannotRun(std::string reason, std::string setting) {
  return {Ability::kCannotRun, {{std::move(reason), std::move(setting)}}};
}

// Why nothing can be read at all, if so; the same for every analyzer.
Verdict JudgeReadable(const RankFacts& facts) {
  if (facts.problem.empty()) return {};
  return CannotRun(facts.problem, facts.kind == CaptureKind::kNpuDb ? kCopyAgain : "");
}

void AddLack(bool lacks, const char* reason, const char* setting, Verdict& verdict) {
  if (!lacks) return;
  verdict.ability = Ability::kRunsWithLess;
  verdict.lacks.push_back({reason, setting});
}

const char* DeviceSetting(const RankFacts& facts) {
  return facts.kind == CaptureKind::kGpu
             ? "activities with ProfilerActivity.CUDA"
             : "activities with ProfilerActivity.NPU, profiler_level=Level1";
}

// Only the events of text captures and GPU traces would tell, and they were too many to look at.
void AddUnknown(Recorded state, const char* what, Verdict& verdict) {
  if (verdict.ability == Ability::kCannotRun || state != Recorded::kUnknown) return;
  verdict.ability = Ability::kRunsWithLess;
  verdict.lacks.push_back(
      {fmt::format("the trace is too large to see in a moment whether it has {}", what), ""});
}

void JudgeKernels(const Contents& recorded, Verdict& verdict) {
  const bool no_cores = recorded.kernel_cores == Recorded::kNo;
  AddLack(no_cores, "kernels have no type and no core: the breakdown of computing time is N/A",
          "profiler_level=Level1, and kernel_details.csv kept beside the trace", verdict);
  AddLack(
      !no_cores && recorded.kernel_types == Recorded::kNo,
      "kernels have no operator type: those that no operator launched are told apart by core only",
      "profiler_level=Level1", verdict);
  AddLack(recorded.counters == Recorded::kNo,
          "no hardware counters: kernels that compute and communicate at once are not split",
          "aic_metrics=PipeUtilization with profiler_level=Level1", verdict);
  AddLack(recorded.host_ops == Recorded::kNo,
          "no host operators: kernels are attributed by their names only",
          "activities with ProfilerActivity.CPU", verdict);
}

void JudgeCommunication(const RankFacts& facts, Verdict& verdict) {
  const Contents& recorded = facts.recorded;
  if (recorded.communication == Recorded::kNo) return;  // nothing to tell
  AddLack(recorded.communication_tasks == Recorded::kNo,
          "no communication tasks: waiting inside communication is unknown",
          "profiler_level=Level1", verdict);
  const bool database = facts.kind == CaptureKind::kNpuDb;
  AddLack(recorded.bandwidths == Recorded::kNo,
          database ? "bandwidths are unknown: they are read from the communication.json of text "
                     "captures"
                   : "no communication.json: bandwidths are unknown",
          database ? "export_type=Text with profiler_level=Level1" : "profiler_level=Level1",
          verdict);
}

Verdict JudgeOverall(const RankFacts& facts) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.ability == Ability::kCannotRun) return verdict;
  if (facts.recorded.device_tasks == Recorded::kNo) {
    if (facts.complete == Recorded::kNo) {
      return CannotRun("the data breaks off before any device activity", kCopyAgain);
    }
    return CannotRun("no device activity was recorded", DeviceSetting(facts));
  }
  AddUnknown(facts.recorded.device_tasks, "device activity", verdict);
  if (facts.kind != CaptureKind::kGpu) {
    AddLack(facts.kind == CaptureKind::kNpuText && facts.single_file,
            "the trace alone: the breakdown, bandwidths and memory use are in the files beside it",
            "give the directory of the capture", verdict);
    JudgeKernels(facts.recorded, verdict);
    JudgeCommunication(facts, verdict);
  }
  AddLack(facts.recorded.memory == Recorded::kNo, "no memory record: memory use is unknown",
          "profile_memory=True", verdict);
  AddLack(facts.complete == Recorded::kNo, "the data breaks off: the end of the run is missing",
          kCopyAgain, verdict);
  return verdict;
}

// Host operators are what operators, modules, memory and API times are told of.
Verdict JudgeHost(const RankFacts& facts) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.ability == Ability::kCannotRun) return verdict;
  if (facts.recorded.host_ops == Recorded::kNo) {
    return facts.framework == "MindSpore"
               ? CannotRun("MindSpore captures have no host operators", "")
               : CannotRun("no host operators were recorded",
                           "activities with ProfilerActivity.CPU");
  }
  AddUnknown(facts.recorded.host_ops, "host operators", verdict);
  AddLack(facts.complete == Recorded::kNo, "the data breaks off: the end of the run is missing",
          kCopyAgain, verdict);
  return verdict;
}

Verdict JudgeOperators(const RankFacts& facts) {
  Verdict verdict = JudgeHost(facts);
  if (verdict.ability == Ability::kCannotRun) return verdict;
  AddLack(facts.recorded.device_tasks == Recorded::kNo,
          "no device activity was recorded: operators have no device times", DeviceSetting(facts),
          verdict);
  AddLack(facts.recorded.stacks == Recorded::kNo,
          "no modules and no call stacks: operators are compared one by one",
          "with_stack=True or with_modules=True", verdict);
  return verdict;
}

Verdict JudgeMemory(const RankFacts& facts) {
  Verdict verdict = JudgeHost(facts);
  if (verdict.ability == Ability::kCannotRun) return verdict;
  if (facts.kind == CaptureKind::kNpuText && facts.single_file) {
    return CannotRun("the trace alone: allocations are in operator_memory.csv beside it",
                     "give the directory of the capture");
  }
  if (facts.recorded.op_memory == Recorded::kNo) {
    return CannotRun("no memory of operators was recorded", "profile_memory=True");
  }
  AddUnknown(facts.recorded.op_memory, "memory of operators", verdict);
  return verdict;
}

Verdict JudgeCollectives(const RankFacts& facts) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.ability == Ability::kCannotRun) return verdict;
  if (facts.recorded.communication == Recorded::kNo) {
    return CannotRun("no communication was recorded; a run on one device has none",
                     facts.kind == CaptureKind::kGpu ? "" : "profiler_level=Level1");
  }
  AddUnknown(facts.recorded.communication, "communication", verdict);
  AddLack(facts.kind != CaptureKind::kGpu && facts.recorded.communication_tasks == Recorded::kNo,
          "no communication tasks: what the collectives are made of is unknown",
          "profiler_level=Level1", verdict);
  return verdict;
}

// Compute kernels are needed with these details, which the capture has beside the trace.
Verdict JudgeNpuKernels(const RankFacts& facts, const char* of_gpus, const char* details) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.ability == Ability::kCannotRun) return verdict;
  if (facts.kind == CaptureKind::kGpu) return CannotRun(of_gpus, "");
  if (facts.kind == CaptureKind::kNpuText && facts.single_file) {
    return CannotRun(
        fmt::format("the trace alone: kernels with their {} are in the files beside it", details),
        "give the directory of the capture");
  }
  if (facts.recorded.kernels == Recorded::kNo) {
    return CannotRun("no compute kernels", facts.kind == CaptureKind::kNpuText
                                               ? "kernel_details.csv kept beside the trace"
                                               : "activities with ProfilerActivity.NPU");
  }
  return verdict;
}

Verdict JudgeKernelTypes(const RankFacts& facts) {
  Verdict verdict = JudgeNpuKernels(facts, "kernels of NPUs only are compared", "types");
  if (verdict.ability == Ability::kCannotRun) return verdict;
  AddLack(facts.recorded.kernel_types == Recorded::kNo,
          "kernels have no types: they are summed as N/A", "profiler_level=Level1", verdict);
  return verdict;
}

Verdict JudgeModuleStatistic(const RankFacts& facts) {
  Verdict verdict = JudgeHost(facts);
  if (verdict.ability == Ability::kCannotRun) return verdict;
  if (facts.recorded.mstx == Recorded::kNo && facts.recorded.stacks == Recorded::kNo) {
    return CannotRun("the capture contains no modules",
                     "mstx=True with ranges of the domain Module in the model, or "
                     "with_modules=True");
  }
  return verdict;
}

Verdict JudgeOperatorMfu(const RankFacts& facts) {
  Verdict verdict =
      JudgeNpuKernels(facts, "the kernels of GPUs tell no shapes", "types and shapes");
  if (verdict.ability == Ability::kCannotRun) return verdict;
  if (facts.recorded.kernel_types == Recorded::kNo) {
    return CannotRun("kernels have no types and shapes", "profiler_level=Level1");
  }
  AddLack(facts.recorded.chip == Recorded::kNo,
          "no info.json of the device in PROF_*: operations and TFLOPS, but no share of the peak",
          "--ai_core_num and --aic_frequency, or --peak_tflops", verdict);
  AddLack(facts.recorded.host_ops == Recorded::kNo,
          "no host operators: kernels are not told by operator and module",
          "activities with ProfilerActivity.CPU", verdict);
  return verdict;
}

// Whether compiled graphs ran, only the events tell.
Verdict JudgeHeadOverhead(const RankFacts& facts) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.ability == Ability::kCannotRun) return verdict;
  if (facts.kind == CaptureKind::kGpu) return CannotRun("graphs of NPUs only are looked for", "");
  if (facts.recorded.host_ops == Recorded::kNo) {
    return CannotRun("no host operators were recorded: the calls of compiled graphs are among them",
                     "activities with ProfilerActivity.CPU");
  }
  AddLack(facts.recorded.device_tasks == Recorded::kNo,
          "no device activity was recorded: what the device waits for is unknown",
          "activities with ProfilerActivity.NPU", verdict);
  const bool level0 = facts.settings && facts.settings->level == "Level0";
  AddLack(facts.kind == CaptureKind::kNpuText && level0,
          "no CANN calls in text captures of Level0: GE is not split, first kernels are guessed",
          "profiler_level=Level1, or export_type=Db", verdict);
  AddLack(facts.steps && facts.steps->empty(), "no steps: the head is told for each call only",
          "step() of the profiler in the loop", verdict);
  AddLack(facts.complete == Recorded::kNo, "the data breaks off: the end of the run is missing",
          kCopyAgain, verdict);
  return verdict;
}

}  // namespace

const std::vector<AnalyzerCheck>& AllAnalyzerChecks() {
  static const std::vector<AnalyzerCheck> all = {
      {"compare: overall", JudgeOverall},
      {"compare: operators", JudgeOperators},
      {"compare: memory", JudgeMemory},
      {"compare: communication", JudgeCollectives},
      {"compare: api", JudgeHost},
      {"compare: kernels", JudgeKernelTypes},
      {"cluster: module_statistic", JudgeModuleStatistic},
      {"cluster: operator_mfu", JudgeOperatorMfu},
      {"cluster: head_overhead", JudgeHeadOverhead}};
  return all;
}

}  // namespace mpa
