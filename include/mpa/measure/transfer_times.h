// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// The transport whose links share the port of their card.
inline constexpr std::string_view kPortTransport = "RDMA";

/// Smaller transfers show the latency and not the bandwidth, in bytes.
inline constexpr std::int64_t kShowsBandwidth = 32'768;
/// A link is slow below this share of what is usual of its transport.
inline constexpr double kSlowLinkShare = 0.7;
/// What is usual of links of one transport with these bandwidths: the upper quartile, as half of
/// the links may end at a slow node. At least one.
double UsualBandwidth(std::vector<double> bandwidths);

/// True for a task of a collective that has to do with another rank.
bool HasPeer(const RankTrace& trace, std::size_t task);

/// How long each task of collectives takes itself, in ns. A port serves one transfer after the
/// other: what a task is recorded for while others of its operation end is their time, else the
/// last in a queue would look like a slow link. `operations`: OperationsOfTasks().
std::vector<TimeNs> OwnTransferTimes(const RankTrace& trace,
                                     std::span<const std::int64_t> operations);

}  // namespace mpa
