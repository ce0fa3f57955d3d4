// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/meetings.h"

#include <utility>

#include "mpa/base/text.h"
#include "mpa/measure/collectives.h"

namespace mpa {
namespace {

// Some levels record no types; the name begins with it.
bool IsBarrier(const std::string& type, const std::string& name) {
  const std::string kind = CollectiveKind(type.empty() || type == "N/A" ? name : type);
  return IsOneOf(kind, {"allreduce", "allgather", "reducescatter", "alltoall", "alltoallv",
                        "alltoallvc", "barrier"});
}

}  // namespace

RankMeetings MeetingsOfRank(const RankTrace& trace) {
  RankMeetings meetings{.rank = trace.rank,
                        .collectives = CollectiveRuns(trace),
                        .seen = {},
                        .last = {},
                        .own_rank_of_group = {},
                        .groups = trace.job.groups};
  const CollectiveParts parts(trace);
  const std::vector<LastArrival> last = OwnLastArrivals(trace, parts);
  const std::vector<RankRuns::Row>& rows = meetings.collectives.rows;
  std::vector<std::int64_t> row_of_operation(trace.communications.Size(), -1);
  meetings.own_rank_of_group.assign(meetings.collectives.texts.size(), -1);
  std::vector<std::int32_t> own_rank(trace.comm_groups.Size(), -1);
  for (std::size_t i = 0; i < trace.comm_tasks.Size(); ++i) {
    const std::int32_t group = trace.comm_tasks.group[i];
    if (group < 0 || trace.comm_tasks.own_rank[i] < 0) continue;
    own_rank[static_cast<std::size_t>(group)] = trace.comm_tasks.own_rank[i];
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto operation = static_cast<std::size_t>(rows[row].operation);
    row_of_operation[operation] = static_cast<std::int64_t>(row);
    meetings.last.push_back(last[operation]);
    meetings.own_rank_of_group[rows[row].group] =
        own_rank[static_cast<std::size_t>(trace.communications.group[operation])];
  }
  meetings.seen.resize(rows.size());
  for (const SeenPeer& seen : FindSeenPeers(trace, parts)) {
    const std::int64_t row = row_of_operation[static_cast<std::size_t>(seen.operation)];
    if (row >= 0) meetings.seen[static_cast<std::size_t>(row)].push_back(seen);
  }
  return meetings;
}

Meetings JoinMeetings(const std::vector<RankMeetings>& ranks) {
  std::vector<const RankRuns*> parts;
  for (const RankMeetings& rank : ranks) parts.push_back(&rank.collectives);
  JointRuns joint = JoinRuns(parts);
  Meetings meetings;
  meetings.uneven = joint.uneven;
  for (JointRun& collective : joint.all) {
    Meeting meeting{
        .group = std::move(collective.group), .name = std::move(collective.name), .members = {}};
    for (const RunMember& member : collective.members) {
      const RankRuns& part = ranks[member.rank].collectives;
      meeting.members.push_back(
          {member.rank, static_cast<std::size_t>(member.row - part.rows.data())});
      meeting.is_barrier = IsBarrier(part.texts[member.row->type], meeting.name);
    }
    meetings.all.push_back(std::move(meeting));
  }
  return meetings;
}

}  // namespace mpa
