// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/job/unsplit.h"

#include <algorithm>
#include <optional>

#include "mpa/measure/collective_phases.h"

namespace mpa {
namespace {

// When the last member began, on the clock of the rank; empty: it may not have been captured, or
// members do not wait for each other.
std::optional<TimeNs> LastBegin(const Job& job, std::size_t rank, const JobOperation& operation) {
  const auto& members = operation.joint.members;
  if (operation.is_apart || !IsBarrierKind(operation.kind) || members.size() < 2)
    return std::nullopt;
  if (members.size() < operation.members.size() || !operation.joint.late.empty())
    return std::nullopt;
  std::optional<TimeNs> last;
  for (const JointOperation::Member& member : members) {
    const TimeNs begin = job.operations.clock[member.rank].Convert(job.PartOf(member).start);
    last = std::max(last.value_or(begin), begin);
  }
  return job.operations.clock[rank].Inverse().Convert(*last);
}

}  // namespace

std::vector<TimeNs> DividedLeaves(const Job& job, std::size_t rank, const StepPart& step) {
  std::vector<TimeNs> leaves = step.leaves;
  const auto at = [&](Leaf leaf) -> TimeNs& { return leaves[static_cast<std::size_t>(leaf)]; };
  for (const UnsplitPiece& piece : step.unsplit) {
    const JobOperation& operation =
        job.operations.all[job.operations.of_rank[rank][piece.collective]];
    const std::optional<TimeNs> last = LastBegin(job, rank, operation);
    if (!last) continue;
    const bool waited =
        *last > job.Part(rank).operations[piece.collective].start + kArrivalTolerance;
    const TimeNs time = piece.end - piece.begin;
    const TimeNs wait = waited ? std::clamp<TimeNs>(*last - piece.begin, 0, time) : 0;
    at(Leaf::kUnsplit) -= time;
    at(Leaf::kWaitPeer) += wait;
    at(Leaf::kTransfer) += time - wait;
  }
  return leaves;
}

}  // namespace mpa
