// SPDX-License-Identifier: Apache-2.0
#include "waits.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace mpa::time_summary {
namespace {

// How many ranks have to have a run: those of the group, or where no capture tells them those that
// used it at all.
class GroupSizes {
 public:
  explicit GroupSizes(const std::vector<const RankRuns*>& parts) {
    for (const RankRuns* part : parts) {
      std::vector<bool> is_used(part->texts.size());
      for (const RankRuns::Row& row : part->rows) is_used[row.group] = true;
      for (std::size_t i = 0; i < is_used.size(); ++i) {
        if (is_used[i]) ++users_[part->texts[i]];
      }
    }
  }

  std::size_t Of(const JointRun& run) const {
    const std::int32_t recorded = run.members.front().row->group_ranks;
    return recorded > 0 ? static_cast<std::size_t>(recorded) : users_.at(run.group);
  }

 private:
  std::unordered_map<std::string, std::size_t> users_;
};

}  // namespace

std::vector<WaitsOfRank> FindWaits(const Ranks& ranks) {
  std::vector<const RankRuns*> parts;
  std::vector<WaitsOfRank> waits(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    parts.push_back(&ranks[rank].part.runs);
    for (const RankRuns::Row& row : parts.back()->rows) ++waits[rank][row.step].left_out;
  }
  const JointRuns joint = JoinRuns(parts, Within::kStep);
  const GroupSizes sizes(parts);
  for (const JointRun& run : joint.all) {
    if (!run.members.front().row->p2p && run.members.size() < sizes.Of(run)) continue;
    TimeNs shortest = run.members.front().row->dur;
    for (const RunMember& member : run.members) shortest = std::min(shortest, member.row->dur);
    for (const RunMember& member : run.members) {
      Waits& of_rank = waits[member.rank][member.row->step];
      --of_rank.left_out;
      ++of_rank.counted;
      of_rank.wait += member.row->dur - shortest;
      of_rank.transmit += shortest;
    }
  }
  return waits;
}

}  // namespace mpa::time_summary
