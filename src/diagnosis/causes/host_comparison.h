// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "rank_excess.h"

namespace mpa {

/// What may make the host of a rank late, with the name of the leaf that stands for it.
struct HostFamily {
  std::string_view id, place;
  Leaf named{};
  std::vector<Leaf> leaves, blocks;
  /// Whose ranks define what is normal where there are too few of the role: nobody's; those of all
  /// that do such work at all; of all, because it is not part of a role.
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
  Leaf LeafOf(const HostFamily& family, const Excess& excess) const;
  /// The ranks of the job of a rank, itself among them.
  const std::vector<std::size_t>& AllWith(std::size_t rank);

 private:
  // What is normal among ranks of any role.
  struct UsualElsewhere {
    std::vector<std::size_t> ranks;
    std::vector<HostAmount> amounts;
  };

  UsualElsewhere FindElsewhere(std::size_t rank, const HostFamily& family);
  Excess ExcessOf(std::size_t rank, const HostFamily& family,
                  const std::vector<HostAmount>& usual) const;

  const Job& job_;
  std::map<std::size_t, std::vector<std::size_t>> islands_;  // ranks, by island
  // By family and island; excesses refer to the ranks.
  std::map<std::pair<const HostFamily*, std::size_t>, UsualElsewhere> elsewhere_;
};

}  // namespace mpa
