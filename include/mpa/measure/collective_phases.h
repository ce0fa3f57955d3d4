// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpa/measure/intervals.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// A wait or a transfer within an operation; other tasks of collectives say nothing of time.
struct CollectivePart {
  std::int32_t operation = -1;  ///< row of the communications
  TimeNs begin = 0, end = 0;
  bool waits = false;      ///< else it transfers
  std::int32_t peer = -1;  ///< the other rank, within the group; -1: not recorded, or none
};

/// The parts of all operations of a rank, in order of operation, begin and table. A task that ran
/// far from its operation is not a part of it. Captures whose
/// tasks of collectives have no names are read from the tasks of the device.
class CollectiveParts {
 public:
  explicit CollectiveParts(const RankTrace& trace);
  std::span<const CollectivePart> Of(std::size_t operation) const;
  bool Empty() const { return parts_.empty(); }

 private:
  void Add(const RankTrace& trace, const CollectivePart& part);
  void AddCommTasks(const RankTrace& trace);
  void AddDeviceTasks(const RankTrace& trace);

  std::vector<CollectivePart> parts_;
  std::vector<std::uint32_t> begin_;  // by operation, and one more
};

/// What a rank saw of another one in an operation: when that one came. All ranks meet before data
/// move, so the end of the first wait for a peer is the arrival of the peer, if it was a wait at
/// all (2 us); otherwise the peer came no later than the rank itself.
struct SeenPeer {
  static constexpr bool kInColumns = true;
  std::int32_t operation = -1;
  std::int32_t peer = -1;  ///< within the group
  TimeNs time = 0;         ///< of the arrival; the own one where `waited` is false
  bool waited = false;
  TimeNs begin = 0;  ///< of that first wait
};
std::vector<SeenPeer> FindSeenPeers(const RankTrace& trace, const CollectiveParts& parts);

/// When the last member of an operation came, on the clock of the rank's device.
struct LastArrival {
  static constexpr bool kInColumns = true;
  bool known = false;
  TimeNs time = 0;
  std::int32_t peer = -1;  ///< within the group; -1: the rank itself, or not recorded
};
/// By operation, as the rank alone can tell: from its waits.
std::vector<LastArrival> OwnLastArrivals(const RankTrace& trace, const CollectiveParts& parts);

/// Arrivals within 5 us of the last one count as simultaneous with it.
inline constexpr TimeNs kArrivalTolerance = 5000;

/// A stretch of an operation.
struct CollectivePhase {
  TimeNs begin = 0, end = 0;
  TimeCategory category{};
};

/// Divides an operation into waiting for the last member, transfers, waits and idle time within.
/// An arrival before `start + tolerance` is ignored: this rank came last. The last `slow` ns behind
/// the arrival are the cost of a slow link.
std::vector<CollectivePhase> PhasesOf(const Interval& operation, const LastArrival& arrival,
                                      std::span<const CollectivePart> parts, bool receives,
                                      TimeNs tolerance, TimeNs slow);

/// True for the operation of a rank that receives from another one.
bool IsReceive(const RankTrace& trace, std::size_t operation);

}  // namespace mpa
