// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/time.h"

/// The chain of evidence of a finding: how what was measured becomes the time that it costs.
namespace mpa {

/// Work of one class of a late rank, and what is usual for it. Means over the steps of the finding.
struct LeafExcess {
  std::string leaf;
  TimeNs own = 0, usual = 0;
  TimeNs Excess() const { return own - usual; }
};

struct TimeOfRank {
  std::int64_t rank = -1;
  TimeNs time = 0;
};

/// Where a late rank first falls behind a peer that does the same work.
struct Divergence {
  std::int64_t rank = -1, peer = -1;
  std::int32_t step = -1;
  std::string kernel, shapes;
  std::string op, line;  ///< the operator of the host that launched it, and its line of the
                         ///< program; empty: not recorded
  TimeNs behind = 0;     ///< the peer, counted from what both left together last
  std::string until;     ///< the operation to which the rank comes late
  TimeNs late = 0;       ///< there
};

/// How much of a late rank's lateness its work explains.
enum class Explained : std::uint8_t { kNothing, kMixed, kMainly, kNearlyAll };

/// Of a rank that holds up others, of several that do the worst.
struct LateRank {
  std::int64_t rank = -1;
  std::size_t compared = 0;        ///< ranks that say what is usual, with the rank itself
  std::vector<LeafExcess> leaves;  ///< largest excess first
  TimeNs lateness = 0;  ///< behind all others of a group, per step, where it was the last
  double share = 0;     ///< of the lateness, that the largest excess explains; at most 1
  Explained explained{};
  std::vector<TimeOfRank> waiting;  ///< per step; the longest first
  std::optional<Divergence> divergence;
};

/// When a rank that was not captured came to an operation, as others saw it.
struct SeenArrival {
  std::string operation;
  std::int32_t step = -1;
  TimeNs behind = 0;                  ///< the last of the others
  std::vector<TimeOfRank> observers;  ///< how long each waited; the longest first
  /// Since the first of the listed operations: when the rank came, and when the first observer's
  /// host asked for it; -1: not known.
  TimeNs came = 0, asked = -1;
};

/// A step in which one rank, another one each time, held up the others.
struct StepStall {
  std::int32_t step = -1;
  std::int64_t rank = -1;
  TimeNs late = 0;  ///< what it takes more than usual
  TimeNs next = 0;  ///< the same of the rank that comes second
};

/// Work on the critical path that a fix takes out, of all pieces of one name on one rank. Per step.
struct PathPiece {
  std::int64_t rank = -1;  ///< -1: a rank that was not captured
  std::string name;        ///< a leaf of the accounting, a type of kernels or an operation
  TimeNs less = 0;
};

struct FindingChain {
  std::optional<LateRank> late;
  std::vector<SeenArrival>
      arrivals;  ///< in the order of time; the latest ones where there are many
  std::size_t more_arrivals = 0;
  std::vector<StepStall> stalls;  ///< of rank.jitter, in the order of time
  std::vector<PathPiece> path;    ///< the longest first
  std::size_t more_path = 0;
};

}  // namespace mpa
