// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/joint_runs.h"

#include <fmt/format.h>

#include "mpa/base/error.h"

namespace mpa {

void NoteRuns(std::string_view recipe, const JointRuns& collectives, Report& report) {
  if (collectives.uneven > 0) {
    report.notes.push_back(fmt::format(
        "{} {} left out: the ranks ran {} a different number of times, so it is not known which "
        "runs belong "
        "together; choose a step with --step_id",
        collectives.uneven, collectives.uneven == 1 ? "collective is" : "collectives are",
        collectives.uneven == 1 ? "it" : "them"));
  } else if (collectives.all.empty()) {
    Fail(ErrorKind::kInput,
         "{}: the captures hold no collectives; no files written; collect with "
         "profiler_level=Level1",
         recipe);
  }
}

Verdict JudgeCollectives(const RankFacts& facts) {
  if (facts.kind != CaptureKind::kGpu || JudgeReadable(facts).CannotRun())
    return JudgeCommunication(facts);
  return CannotRun("captures of GPUs do not name the groups of collectives", "");
}

Verdict JudgeCommunication(const RankFacts& facts) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.CannotRun()) return verdict;
  if (facts.recorded.communication == Recorded::kNo) {
    return CannotRun(NoCommunication(facts), "profiler_level=Level1");
  }
  verdict.AddUnknown(facts.recorded.communication, "communication");
  return verdict;
}

}  // namespace mpa
