// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "mpa/diagnosis/findings/rules.h"
#include "mpa/diagnosis/job/operations.h"

namespace mpa {

inline void Add(const TaskSum& more, TaskSum& sum) {
  sum.count += more.count;
  sum.bytes += more.bytes;
  sum.time += more.time;
}
/// 0 without tasks.
double MeanSize(const TaskSum& sum);

/// Tasks of one transport that have something in common, against those that have it not.
struct ComparedTasks {
  TaskSum with, without;

  /// True when there are enough of either, and those that have it reach less than `ratio` of the
  /// bandwidth of the others. Small tasks mostly start, so both must be of about one size.
  bool AreSlower(double ratio, const Rules& rules) const;
};

/// Of all ranks, by the name of the transport.
std::map<std::string, ComparedTasks> CompareTasks(const std::vector<DiagnosedRank>& ranks,
                                                  TaskSum PeerTransfer::*part);

}  // namespace mpa
