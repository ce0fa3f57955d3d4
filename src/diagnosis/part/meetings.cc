// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/part/meetings.h"

#include <map>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/diagnosis/part/run_matching.h"
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

void AddMember(const std::vector<RankMeetings>& ranks, std::size_t rank, std::size_t row,
               Meeting& meeting) {
  const RankRuns& part = ranks[rank].collectives;
  meeting.members.push_back({rank, row});
  meeting.is_barrier = IsBarrier(part.texts[part.rows[row].type], meeting.name);
}

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
  std::map<std::pair<std::string, std::string>, std::vector<RankRun>> runs;  // by group and name
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankRuns& part = ranks[rank].collectives;
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
      const RankRuns::Row& row = part.rows[i];
      runs[{part.texts[row.group], part.texts[row.name]}].push_back(
          {rank, i, row.step, {row.start, row.start + row.dur}});
    }
  }
  Meetings meetings;
  for (const auto& [name, of_name] : runs) {
    for (const JointRanks& joint : MatchMostly(of_name)) {
      Meeting& meeting = meetings.all.emplace_back();
      meeting.group = name.first;
      meeting.name = name.second;
      for (const RankRun& run : joint) AddMember(ranks, run.rank, run.row, meeting);
    }
  }
  return meetings;
}

}  // namespace mpa
