// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/first_seen.h"
#include "mpa/base/rank.h"
#include "mpa/measure/durations.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// What an operation does, in the word that HCCL and NCCL share: "allreduce" for
/// hcom_allReduce__271_0_1, hcom_allReduce_, ncclDevKernel_AllReduce_Sum_f32_RING_LL(...) and
/// cross_device_reduce_1stage.
/// Other names up to their first '_', in lower case.
std::string CollectiveKind(std::string_view name);

/// The same of a row of the communications; "N/A" where the capture names neither type nor
/// operation.
std::string CollectiveKindOf(const RankTrace& trace, std::size_t row);

/// The operator's type as databases record it, "hcom_allReduce_" for hcom_allReduce__271_0_1; of
/// GPUs the kind. Empty for names of another form.
std::string OperatorTypeOf(const RankTrace& trace, std::size_t row);

/// True for operators between two ranks, or several such at once (batchSendRecv): they are no
/// collectives of their group.
bool IsPointToPoint(const RankTrace& trace, std::size_t row);

/// The same of the name of an operator of HCCL: "hcom_send__586_0_1".
bool IsPointToPointName(std::string_view name);

/// "host%eth_0" for "Group host%eth_0 Communication", as traces name the group.
std::string_view BareGroupName(std::string_view name);

/// The operations of one kind, and the tasks that they were made of by the name of the task.
struct Collective {
  Durations calls;
  FirstSeen<std::string_view, Durations> tasks;
};

/// The communication of a rank by kind, in order of start.
FirstSeen<std::string, Collective> SumCollectives(const RankTrace& trace);

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
  /// and in the job, its peers are taken to have it, too. Unknown where
  /// the capture does not tell.
  RankId RankOf(std::int32_t group, std::int32_t group_rank) const;

 private:
  struct Group {
    const JobGroup* listed = nullptr;
    std::int32_t own = -1;
  };
  RankId rank_{};
  std::vector<Group> groups_;
};

}  // namespace mpa
