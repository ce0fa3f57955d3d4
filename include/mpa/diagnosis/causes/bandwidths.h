// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mpa/base/amounts.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/job/operations.h"

namespace mpa {

/// 0 without tasks.
double MeanSize(const Traffic& sum);

/// Tasks of one transport that have something in common, against those that have it not.
struct ComparedTasks {
  Traffic with, without;

  /// True when there are enough of either, and those that have it reach less than `ratio` of the
  /// bandwidth of the others. Small tasks mostly start, so both must be of about one size.
  bool AreSlower(double ratio, const Thresholds& thresholds) const;
};

/// Of all ranks, by the name of the transport.
std::map<std::string, ComparedTasks> CompareTasks(const std::vector<DiagnosedRank>& ranks,
                                                  Traffic PeerTransfer::*part);

/// A connection between two ranks.
struct Link {
  RankId low{}, high{};  ///< ranks
  std::string transport;
  auto operator<=>(const Link&) const = default;
};

/// The recorded transfers of a job by link, and the usual bandwidth of each transport.
class LinkSpeeds {
 public:
  explicit LinkSpeeds(const Job& job);

  const std::map<Link, Traffic>& Links() const { return links_; }
  Link LinkOf(RankIndex rank, const PeerTransfer& transfer) const;
  /// In GB/s; the link is one of Links().
  double UsualOf(const Link& link) const { return usual_.at(link.transport); }
  bool IsSlow(const Link& link) const;
  /// True where all links are slow, so that the usual bandwidth is what such links move elsewhere.
  bool IsSlowEverywhere(const Link& link) const {
    return slow_everywhere_.contains(link.transport);
  }

  /// What the data of an operation alone takes, and its largest transfer.
  struct Data {
    TimeNs time = 0;
    std::int64_t bytes = 0;
  };
  Data DataOf(std::size_t operation) const;

 private:
  const Job& job_;
  std::map<Link, Traffic> links_;
  std::map<std::string, double> usual_;    // bandwidth by transport
  std::set<std::string> slow_everywhere_;  // transports
};

}  // namespace mpa
