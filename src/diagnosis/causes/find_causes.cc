// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <functional>
#include <iterator>
#include <vector>

#include "finders.h"
#include "link_speeds.h"
#include "mpa/base/parallel.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/job/issuing.h"

namespace mpa {

std::vector<Cause> FindCauses(const Job& job) {
  using Causes = std::vector<Cause>;
  IssuingOfRanks issuing(job.ranks);
  // Those of a group run in turn: one may look at what those before it found.
  const std::array<std::function<void(Causes&)>, 4> groups = {
      [&](Causes& found) {
        FindRankCauses(job, found);
        FindUncapturedCauses(job, found);
      },
      [&](Causes& found) {
        const LinkSpeeds speeds(job);
        FindSlowLinks(job, speeds, found);
        FindCommunicationCauses(job, speeds, issuing, found);
        FindDataParallelCauses(job, issuing, found);
        FindSlowPorts(job, found);
        FindSlowGroups(job, found);
        FindPipelineCauses(job, found);
      },
      [&](Causes& found) {
        FindHostCauses(job, found);
        FindLaunchCauses(job, found);
        FindHostHabits(job, found);
      },
      [&](Causes& found) {
        FindTransferCauses(job, found);
        FindDeviceCauses(job, issuing, found);
        FindFusionCauses(job, issuing, found);
        FindOperatorCauses(job, found);
      }};
  std::array<Causes, groups.size()> of_group;
  ParallelFor(groups.size(), [&](std::size_t group) { groups[group](of_group[group]); });
  Causes causes;
  for (Causes& found : of_group) {
    causes.insert(causes.end(), std::make_move_iterator(found.begin()),
                  std::make_move_iterator(found.end()));
  }
  return causes;
}

}  // namespace mpa
