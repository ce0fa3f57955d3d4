// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/replay/replay.h"

namespace mpa {

/// Of two ranks either may be the odd one.
inline constexpr std::size_t kPairOfRanks = 2;

/// How much work of a kind a rank has more than is normal for its role, and what to take out.
struct Excess {
  RankIndex rank{};
  const std::vector<std::size_t>* compared =
      nullptr;        ///< ranks that say what is normal, with the rank itself
  TimeNs time = 0;    ///< per step
  TimeNs normal = 0;  ///< per step
  TimeNs unmatched_shape_ns = 0;
  TimeNs grouped_matmul_ns = 0;  ///< of `unmatched_shape_ns`, of the products of experts
  std::vector<TimeNs> by_step, normal_by_step;
  std::vector<double> tokens_share;  ///< by step: of the products of experts, what is more
  std::vector<bool> blocked_more;    ///< by step: it waits for its device oftener
  Removal removal;
};

/// Where an excess lies: what is taken from each of these times, `over` in all. Those that stand
/// out from the others by far lose theirs first, if that is most of it: a rank that stood still
/// once was not slow everywhere. Else all lose the same share.
std::vector<TimeNs> SpreadExcess(const std::vector<TimeNs>& times, TimeNs over, double stands_out);

/// Less is noise, as a share of the step, and of what the peers take.
bool Matters(const Job& job, const Excess& excess);
/// The positions of the steps in which the rank is late.
std::vector<std::size_t> LateSteps(const Job& job, const Excess& excess);
/// True if the rank is the odd one: among several, or slower than the other one in most steps.
bool IsOdd(const Job& job, const Excess& excess);
/// True if the rank is the odd one, or the one of two that came last to collectives, by a time that
/// its excess explains.
bool IsSure(const Job& job, const Excess& excess);
/// Of the latter: medium where the excess is as large as the lateness at its worst.
Certainty CertaintyOfLast(const Job& job, const Excess& excess);

/// What may make the host of a rank late, with the name of the category that stands for it.
struct HostFamily {
  const FindingType& finding;
  std::string_view place;
  TimeCategory named{};
  std::vector<TimeCategory> categories, blocks;
  /// Which ranks define what is normal where the role has too few: none (kOfRole); all that do such
  /// work (kWhoDoIt); all, because the work does not depend on the role (kAll).
  enum class Peers : std::uint8_t { kOfRole, kWhoDoIt, kAll } peers = Peers::kOfRole;
  bool copies = false;  ///< copies to the device belong to it
};

const std::vector<HostFamily>& HostFamilies();

/// The work of hosts against what is normal for their role, or for all ranks.
class HostComparison {
 public:
  explicit HostComparison(const Job& job) : job_(job) {}

  /// Of every rank that can be compared.
  std::vector<Excess> ExcessesOf(const HostFamily& family);
  /// What of a family a rank has most more of than is normal.
  TimeCategory CategoryOf(const HostFamily& family, const Excess& excess) const;
  /// The ranks of the job of a rank, itself among them.
  const std::vector<std::size_t>& AllWith(RankIndex rank);

 private:
  // What is normal among ranks of any role.
  struct UsualElsewhere {
    std::vector<std::size_t> ranks;
    std::vector<HostAmount> amounts;
  };

  UsualElsewhere FindElsewhere(RankIndex rank, const HostFamily& family);
  Excess ExcessOf(RankIndex rank, const HostFamily& family,
                  const std::vector<HostAmount>& usual) const;

  const Job& job_;
  std::map<std::size_t, std::vector<std::size_t>>
      connected_components_;  // ranks, by connected_component
  // By family and connected_component; excesses refer to the ranks.
  std::map<std::pair<const HostFamily*, std::size_t>, UsualElsewhere> elsewhere_;
};

}  // namespace mpa
