// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/job/steps.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "mpa/base/rank.h"
#include "mpa/measure/collective_phases.h"

namespace mpa {
namespace {

using Ids = std::vector<std::int32_t>;

Ids IdsOf(const RankDiagnosis& part) {
  Ids ids;
  for (const StepPart& step : part.steps) ids.push_back(step.id);
  return ids;
}

// How many ranks have a step.
std::map<std::int32_t, std::size_t> RanksById(const std::vector<DiagnosedRank>& ranks) {
  std::map<std::int32_t, std::size_t> count;
  for (const DiagnosedRank& rank : ranks) {
    const Ids ids = IdsOf(*rank.part);
    for (const std::int32_t id : std::set<std::int32_t>(ids.begin(), ids.end())) ++count[id];
  }
  return count;
}

// Those that at least half of the ranks have, ascending.
Ids UsualIds(const std::vector<DiagnosedRank>& ranks) {
  Ids usual;
  for (const auto& [id, of_ranks] : RanksById(ranks)) {
    if (2 * of_ranks >= ranks.size()) usual.push_back(id);
  }
  return usual;
}

// How many of `wanted` the rank has.
std::size_t CountOf(const Ids& wanted, const DiagnosedRank& rank) {
  const Ids own = IdsOf(*rank.part);
  const std::unordered_set<std::int32_t> ids(own.begin(), own.end());
  return static_cast<std::size_t>(
      std::ranges::count_if(wanted, [&](std::int32_t id) { return ids.contains(id); }));
}

// The longest row of `usual` that all ranks have, the first of equal ones. What lies between two
// rows would be time of no step.
Ids LongestRow(const Ids& usual, const std::vector<DiagnosedRank>& ranks) {
  std::map<std::int32_t, std::size_t> count = RanksById(ranks);
  std::size_t begin = 0, end = 0, row = 0;  // row: where the current one begins
  for (std::size_t i = 0; i < usual.size(); ++i) {
    if (count[usual[i]] < ranks.size()) row = i + 1;
    if (i + 1 - row > end - begin) begin = row, end = i + 1;
  }
  return {usual.begin() + static_cast<std::ptrdiff_t>(begin),
          usual.begin() + static_cast<std::ptrdiff_t>(end)};
}

RankDiagnosis WithSteps(const RankDiagnosis& part, const Ids& ids) {
  RankDiagnosis cut = part;
  std::vector<std::int32_t> position(part.steps.size(), -1);  // by the one it had
  cut.steps.clear();
  cut.graph.last.assign(ids.size(), {});
  std::unordered_map<std::int32_t, std::size_t> by_id;  // the first of equal ones
  for (std::size_t i = 0; i < part.steps.size(); ++i) by_id.emplace(part.steps[i].id, i);
  for (const std::int32_t id : ids) {
    const std::size_t before = by_id.at(id);
    position[before] = static_cast<std::int32_t>(cut.steps.size());
    if (before < part.graph.last.size()) cut.graph.last[cut.steps.size()] = part.graph.last[before];
    cut.steps.push_back(part.steps[before]);
  }
  const auto move = [&](std::int32_t& step) {
    if (step >= 0)
      step = static_cast<std::size_t>(step) < position.size()
                 ? position[static_cast<std::size_t>(step)]
                 : -1;
  };
  for (GraphNode& node : cut.graph.nodes) move(node.step);
  for (OperationPart& operation : cut.operations) move(operation.step);
  for (BlockedPart& blocked : cut.blocked) move(blocked.step);
  return cut;
}

}  // namespace

CommonSteps FindCommonSteps(const std::vector<DiagnosedRank>& all) {
  CommonSteps common;
  const auto breaks_off = [](const DiagnosedRank& rank) { return rank.part->breaks_off; };
  std::vector<DiagnosedRank> ranks = all;
  if (!std::ranges::all_of(all, breaks_off)) std::erase_if(ranks, breaks_off);
  const Ids usual = UsualIds(ranks);
  Ids row = usual;
  const auto same = [&](const DiagnosedRank& rank) {
    return IdsOf(*rank.part) == IdsOf(*ranks[0].part);
  };
  const bool all_same = std::ranges::all_of(ranks, same);
  const auto count = [&](const DiagnosedRank& rank) { return CountOf(usual, rank); };
  for (const DiagnosedRank& rank : ranks) {
    if (all_same || 2 * count(rank) >= usual.size()) common.ranks.push_back(rank);
  }
  if (!all_same) row = LongestRow(usual, common.ranks);
  if (!all_same &&
      row.empty()) {  // all lack some, but not the same ones: the rank with the most has its way
    const auto most = std::ranges::max_element(ranks, {}, count);
    row = LongestRow(usual, {*most});
    common.ranks = ranks;
    std::erase_if(common.ranks,
                  [&](const DiagnosedRank& rank) { return CountOf(row, rank) < row.size(); });
  }
  std::set<RankId> kept;
  for (const DiagnosedRank& rank : common.ranks) kept.insert(rank.rank);
  for (const DiagnosedRank& rank : all) {
    if (!kept.contains(rank.rank)) common.left_out.push_back(rank.rank);
  }
  std::set_difference(usual.begin(), usual.end(), row.begin(), row.end(),
                      std::back_inserter(common.not_on_all));  // both are in ascending order
  for (DiagnosedRank& rank : common.ranks) {
    if (all_same || IdsOf(*rank.part) == row) continue;
    common.cut.push_back(WithSteps(*rank.part, row));
    rank.part = &common.cut.back();
  }
  return common;
}

namespace {

// When the last member began, on the clock of the job; empty: it may not have been captured, or
// members do not wait for each other.
std::optional<TimeNs> LastBegin(const std::vector<DiagnosedRank>& ranks,
                                const JobOperations& operations, const JobOperation& operation) {
  const auto& members = operation.joint.members;
  if (operation.is_apart || !IsBarrierKind(operation.kind) || members.size() < 2)
    return std::nullopt;
  if (members.size() < operation.members.size() || !operation.joint.late.empty())
    return std::nullopt;
  std::optional<TimeNs> last;
  for (const JointOperation::Member& member : members) {
    const TimeNs begin = operations.clock[member.rank].Convert(
        ranks[member.rank].part->operations[member.collective].start);
    last = std::max(last.value_or(begin), begin);
  }
  return last;
}

}  // namespace

CategoryDivider::CategoryDivider(const std::vector<DiagnosedRank>& ranks,
                                 const JobOperations& operations)
    : ranks_(ranks), operations_(operations) {
  for (const JobOperation& operation : operations.all)
    last_begin_.push_back(LastBegin(ranks, operations, operation));
}

std::vector<TimeNs> CategoryDivider::Categories(RankIndex rank, const StepPart& step) const {
  std::vector<TimeNs> categories = step.categories;
  const auto at = [&](TimeCategory category) -> TimeNs& {
    return categories[static_cast<std::size_t>(category)];
  };
  for (const UnsplitPiece& piece : step.unsplit) {
    const std::optional<TimeNs> of_job = last_begin_[operations_.of_rank[rank][piece.collective]];
    if (!of_job) continue;
    const TimeNs last = operations_.clock[rank].Inverse().Convert(*of_job);
    const bool waited =
        last > ranks_[rank].part->operations[piece.collective].start + kArrivalTolerance;
    const TimeNs time = piece.end - piece.begin;
    const TimeNs wait = waited ? std::clamp<TimeNs>(last - piece.begin, 0, time) : 0;
    at(TimeCategory::kUnsplit) -= time;
    at(TimeCategory::kWaitPeer) += wait;
    at(TimeCategory::kTransfer) += time - wait;
  }
  return categories;
}

}  // namespace mpa
