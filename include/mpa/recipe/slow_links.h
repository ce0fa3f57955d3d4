// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpa/base/amounts.h"
#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/collectives/instances.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"

/// Links between two ranks that move data slower than others of their kind.
namespace mpa {

/// What a rank moved to and from another one of a group over one kind of link, in transfers that
/// are large enough to show the bandwidth. Times in ns.
struct LinkSum {
  std::string group, transport;
  std::string kind;        ///< "HCCS"; empty: not recorded
  std::int32_t peer = -1;  ///< within the group
  Traffic all{};
  /// By which this link was slower than the median of the others of its operations, while nothing
  /// was computed.
  TimeNs lead = 0;
  /// Of operations without other links.
  Traffic alone{};
  TimeNs alone_exposed = 0;
};

/// `exposed`: when nothing but communication ran.
std::vector<LinkSum> LinkSumsOf(const RankTrace& trace, const Intervals& exposed);

struct SlowLink {
  RankId low{}, high{};         ///< ranks of the job
  std::string kind;             ///< "HCCS", or how it transports: "SDMA"
  double speed = 0, usual = 0;  ///< GB/s, `usual` of the others
  TimeNs cost = 0;              ///< a step, about
};

/// What a rank knows of its links; all outlive the call.
struct RankLinks {
  RankId rank{};
  const std::vector<LinkSum>& links;
  const std::vector<JobGroup>& groups;
  std::size_t steps = 0;
};

struct LinkSpeedsOfJob {
  std::vector<SlowLink> slow;  ///< what costs most first
  std::size_t links = 0;       ///< of which the bandwidth is known
};

/// A link is slow below 70 % of what is usual of its transport: the upper quartile, as half of the
/// links may end at a slow node.
LinkSpeedsOfJob FindSlowLinks(const std::vector<RankLinks>& ranks);

/// "rank 1 to 3 (HCCS) 7.6 GB/s, the others 11.8; costs 0.012 ms a step"
std::string SlowLinkText(const SlowLink& link);

}  // namespace mpa
