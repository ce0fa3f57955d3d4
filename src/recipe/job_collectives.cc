// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/job_collectives.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"

namespace mpa {

CollectiveInstances KnownInstances(std::string_view recipe, const CollectiveInstances& instances,
                                   bool on_gpu, Report& report) {
  CollectiveInstances known;
  std::set<std::pair<std::string, std::string>> uneven;  // by group and name
  for (const CollectiveInstance& instance : instances) {
    if (instance.is_uneven)
      uneven.emplace(instance.group, instance.name);
    else
      known.push_back(instance);
  }
  if (!uneven.empty()) {
    report.notes.push_back(
        uneven.size() == 1
            ? Say("1 collective is left out: the ranks ran it a different number of times, so it is"
                  " not known which runs belong together; choose a step with --step_id")
            : Say("{} collectives are left out: the ranks ran them a different number of times, so"
                  " it is not known which runs belong together; choose a step with --step_id",
                  uneven.size()));
  } else if (known.empty()) {
    Fail(ErrorKind::kInput, "{}: the captures hold no collectives; no files written; {}", recipe,
         Translated(on_gpu ? "no kernel of NCCL ran" : "collect with profiler_level=Level1"));
  }
  return known;
}

Verdict JudgeCollectives(const RankFacts& facts) {
  return JudgeCommunication(facts).Refuse(
      facts.kind == CaptureKind::kGpu && facts.recorded.groups == Recorded::kNo,
      "the trace does not name communication groups", "collect with PyTorch 2.3 or later");
}

Verdict JudgeCommunication(const RankFacts& facts) {
  return JudgeReadable(facts).Refuse(facts.recorded.communication == Recorded::kNo,
                                     NoCommunication(facts), "profiler_level=Level1");
}

}  // namespace mpa
