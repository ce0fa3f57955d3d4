// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "groups.h"

namespace mpa::communication {

inline constexpr const char* kTotal = "Total Op Info";

/// An operator of a rank in a step, or the sum of all of a group.
struct RankOp {
  std::string step;
  std::int64_t rank = -1;
  CommunicationOp op;
  /// The sizes of packets over each kind of link in the order of the operators: the largest of each
  /// first.
  std::map<LinkKind, std::vector<double>> sizes{};
  bool p2p = false;
};

/// All operators of all ranks in order of rank, each as its capture has it; behind them the sums by
/// step, rank and group. What the captures themselves sum up is left out.
struct OpSums {
  std::vector<RankOp> ops, totals;
};
OpSums SumOps(const Ranks& ranks);

/// The sums of the operators by step, rank and group; in the groups of `apart` p2p operators have a
/// sum of their own.
std::vector<RankOp> TotalsOf(const std::vector<RankOp>& ops, const std::set<std::string>& apart);

/// What moved over a link in a step, in ranks of the job.
struct RankLink {
  std::string step, name, group;
  bool p2p = false;
  std::int64_t source = -1, destination = -1;
  std::string transport, op;
  double megabytes = 0, milliseconds = 0;

  /// GB/s; 0 without a time.
  double Bandwidth() const { return milliseconds > 0 ? megabytes / milliseconds : 0; }
};

struct LinkSums {
  std::vector<RankLink> links, totals;
  std::vector<std::string> notes;  ///< links that were left out
};
LinkSums SumLinks(const Ranks& ranks, const std::vector<Group>& groups);

/// Four decimals, as the profiler writes ratios and bandwidths; 0 for a divisor of nothing.
double RatioOf(double part, double whole);

}  // namespace mpa::communication
