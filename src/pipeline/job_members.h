// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_sequence.h"
#include "mpa/capture/capture.h"
#include "mpa/model/rank_trace.h"

/// Whether captures that lie together are of one job, by what each says of its job.
namespace mpa {

/// A communication group that a rank knows.
struct KnownGroup {
  std::string id{};  ///< see JobGroup
  RankSequence ranks{};
};

/// What a capture says of the job that its rank is a member of. Members are empty where it does not
/// say.
struct JobMember {
  std::string path{};       ///< of the capture
  std::string arguments{};  ///< JobInfo::distributed_args
  std::vector<KnownGroup> groups{};
  TimeNs begin = -1;  ///< of its first record since 1970; -1: unknown
};

JobMember MemberOf(const RankInput& input, const RankTrace& trace);

/// The captures of other jobs than that of most, of equally many that of the last in time, else of
/// the first.
struct OtherJobs {
  std::vector<std::size_t> positions;  ///< ascending
  std::string
      note;  ///< one line for all of them, with the first one and why; empty: there are none
};

/// Members of a communication group that do not know the group, although both list theirs; other
/// arguments of the distributed run; and captures that begin more than an hour apart are of other
/// jobs. What a capture does not say tells nothing, and one without the number of a rank does not
/// claim to be of a job. `ranks`: of each member.
OtherJobs FindOtherJobs(const std::vector<RankId>& ranks,
                        const std::vector<const JobMember*>& members);

}  // namespace mpa
