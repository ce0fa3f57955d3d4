// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mpa/collectives/pair_clocks.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/diagnosis/part/part.h"

namespace mpa {

// The group and the name of an operation. Of operations between two ranks the group, nothing, the
// sender and the receiver within it.
using OperationKey = std::tuple<std::string_view, std::string_view, std::int32_t, std::int32_t>;
struct JoinedOperation {
  const OperationKey* key = nullptr;
  JobOperation operation;
};
using JoinedOperations = std::vector<JoinedOperation>;

// Joins sends and receives whose peers are not recorded. One that was joined to another has no
// members left. Refers to its arguments.
class PairJoiner {
 public:
  PairJoiner(const std::vector<DiagnosedRank>& ranks, JoinedOperations& joined)
      : ranks_(ranks), joined_(joined) {}

  // What one of the two members of a group sends is what the other one receives, in the order of
  // time, where they are as many.
  void JoinInOrder() const;

  // When the two ranks of each operation left it.
  std::vector<PairEnd> Ends() const;

  // Sending and receiving that end in one moment are one operation. `clocks`: by rank, to that of
  // the job.
  void JoinByTime(const std::vector<ClockLine>& clocks) const;

 private:
  const OperationPart& Of(const JointOperation::Member& member) const {
    return ranks_[member.rank].part->operations[member.collective];
  }

  const std::vector<DiagnosedRank>& ranks_;
  JoinedOperations& joined_;
};

}  // namespace mpa
