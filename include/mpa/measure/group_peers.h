// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// The number by which the profiler names a communication group in communication.json and
/// analysis.db: two rolling hashes over the characters of its id, with 29 and 131. Operators carry
/// its last three digits ("hcom_allReduce__210_0_1").
constexpr std::uint64_t GroupHash(std::string_view id) {
  std::uint32_t high = 0, low = 0;
  for (const char c : id) {
    const auto code = static_cast<std::uint32_t>(static_cast<unsigned char>(c));
    high = high * 29 + code;
    low = low * 131 + code;
  }
  return std::uint64_t{high} << 32 | low;
}

/// What the job says of its communication groups, which captures name by their ids or by the hashes
/// of them. The lists have to outlive it.
class JobGroups {
 public:
  JobGroups() = default;
  explicit JobGroups(const std::vector<JobGroup>& groups) { Add(groups); }
  /// Of a group that is known already, the first one stays.
  void Add(const std::vector<JobGroup>& groups);
  /// By the id or the hash. Null: the job says nothing of it.
  const JobGroup* Find(std::string_view name) const;
  /// By the hash alone, as communication.json has it.
  const JobGroup* OfHash(std::string_view hash) const;

 private:
  using OfName = std::map<std::string, const JobGroup*, std::less<>>;
  OfName of_id_, of_hash_;
};

/// The members of the groups of a rank as ranks of the job, as far as the rank itself can tell.
class GroupPeers {
 public:
  explicit GroupPeers(const RankTrace& trace);
  /// As the capture lists the members. Where it does not, and the rank has one number in the group
  /// and in the job, its peers are taken to have it, too. -1: the capture does not tell.
  std::int64_t RankOf(std::int32_t group, std::int32_t group_rank) const;

 private:
  struct Group {
    const JobGroup* listed = nullptr;
    std::int32_t own = -1;
  };
  std::int64_t rank_;
  std::vector<Group> groups_;
};

}  // namespace mpa
