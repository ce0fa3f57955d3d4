// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/part_bytes.h"

namespace mpa {

constexpr LinkKind LastOf(LinkKind) { return LinkKind::kSio; }

namespace communication {

/// What the recipes on communication keep of a rank.
struct Part {
  std::vector<CommunicationStep> steps;
  std::vector<StepTimes::Row> step_times;
  JobInfo job;
  std::string capture;  ///< directory of the capture, as it was found
  /// Hashes of the groups that collectives of a trace of torch.profiler name; it has no sums.
  std::vector<std::string> groups;
  bool of_torch = false;
};

}  // namespace communication

template <class Archive>
void serialize(Archive& archive, CommunicationOp& op) {
  archive(op.name, op.group, op.time);
  std::vector<std::pair<std::uint8_t, LinkUse>> links;
  for (const auto& [kind, use] : op.links) links.emplace_back(static_cast<std::uint8_t>(kind), use);
  archive(links);
  for (const auto& [kind, use] : links) {
    if (kind > static_cast<std::uint8_t>(LastOf(LinkKind{}))) {
      Fail(ErrorKind::kCorrupt, "the part holds an unknown kind of link");
    }
    op.links[static_cast<LinkKind>(kind)] = use;
  }
}

}  // namespace mpa

namespace mpa::communication {

using Ranks = std::vector<OfRank<Part>>;

/// A communication group of the job, in collectives or in point-to-point operations.
struct Group {
  bool p2p = false;
  std::string name;               ///< the hash of its id, decimal
  std::string id, process_group;  ///< empty where no rank's metadata tells
  std::set<std::int64_t> seen;    ///< ranks in whose captures it occurs
  std::set<std::int64_t> ranks;   ///< of the job; `seen` where the metadata does not tell

  const char* Type() const { return p2p ? "p2p" : "collective"; }
};

/// The groups of all ranks: collective ones before p2p ones, each in order of their names.
std::vector<Group> FindGroups(const Ranks& ranks);

/// "(0,1)"
std::string RankSetText(const std::set<std::int64_t>& ranks);
/// "(0, 1)", of one rank "(0,)": as Python prints a tuple.
std::string RankTupleText(const std::set<std::int64_t>& ranks);

/// The number in the job of each rank of a group by its number in the group. Self links tell some:
/// only the rank itself has one. The metadata tells the rest: a group's ranks are numbered in the
/// order of the job.
class GlobalRanks {
 public:
  GlobalRanks(const Ranks& ranks, const std::vector<Group>& groups);

  /// -1: unknown.
  std::int64_t Of(const std::string& group, std::int64_t local) const;
  /// Group and number in it that two ranks have a self link for.
  const std::set<std::string>& Contradictions() const { return contradictions_; }

 private:
  std::map<std::string, std::map<std::int64_t, std::int64_t>> ranks_;
  std::set<std::string> contradictions_;
};

}  // namespace mpa::communication
