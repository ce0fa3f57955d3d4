// SPDX-License-Identifier: Apache-2.0
// Collectives by kind: which names mean the same.
#include "mpa/measure/collectives.h"

#include <algorithm>
#include <array>

#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/model/collective_tasks.h"

namespace mpa {
namespace {

// The longer of two words with one begin comes first.
constexpr std::array<std::string_view, 7> kCollectives = {
    "allgather", "allreduce", "alltoall", "broadcast", "reducescatter", "reduce", "sendrecv"};

// Kernels of other libraries than HCCL and NCCL have the word within: "void
// c10d::symmetric_memory::multimem_all_reduce_kernel<c10::BFloat16>". Empty: the kernel does not
// communicate, or its kind is unknown.
std::string_view CollectiveWithin(const std::string& lower) {
  if (!IsCommunicationKernel(lower)) return {};
  if (ContainsAny(lower, {"cross_device_reduce", "quickreduce"})) return "allreduce";
  std::string joined = lower;
  std::erase(joined, '_');
  for (const std::string_view collective : kCollectives) {
    if (joined.find(collective) != std::string::npos) return collective;
  }
  if (ContainsAny(lower, {"deep_ep::"})) {  // the exchanges of tokens with experts
    for (const std::string_view exchange : {"dispatch", "combine"}) {
      if (ContainsAny(lower, {exchange})) return exchange;
    }
  }
  return {};
}

// `lower` without "nccl". Empty when no collective is named there.
std::string_view NcclCollective(std::string_view lower) {
  if (lower.starts_with("kernel") || lower.starts_with("devkernel")) {
    const std::size_t begin = lower.find('_');
    if (begin == std::string_view::npos) return {};
    const std::string_view word = lower.substr(begin + 1);
    return word.substr(0, word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789"));
  }
  // NCCL before 2.8: ncclAllReduceRingLLKernel_sum_f32.
  for (const std::string_view collective : kCollectives) {
    if (lower.starts_with(collective)) return collective;
  }
  return {};
}

}  // namespace

std::string CollectiveKind(std::string_view name) {
  const std::string lower = ToLower(name);
  const std::string_view text = lower;
  if (text.starts_with("nccl")) {
    const std::string_view collective = NcclCollective(text.substr(4));
    if (!collective.empty()) return std::string(collective);
  }
  const std::string_view first = text.substr(0, text.find('_'));
  if (first != "hcom" || first == text) {
    const std::string_view within = CollectiveWithin(lower);
    return std::string(!within.empty() ? within : first.empty() ? text : first);
  }
  const std::string_view rest = text.substr(first.size() + 1);
  const std::string_view second = rest.substr(0, rest.find('_'));
  return std::string(second.empty() ? text : second);
}

std::string CollectiveKindOf(const RankTrace& trace, std::size_t row) {
  // Databases name the type beside the operation, but not at Level0.
  for (const StringId text : {trace.communications.op_type[row], trace.communications.name[row]}) {
    const std::string_view name = trace.strings.View(text);
    if (!name.empty() && name != "N/A") return CollectiveKind(name);
  }
  return "N/A";
}

std::string OperatorTypeOf(const RankTrace& trace, std::size_t row) {
  const Communications& ops = trace.communications;
  const std::string_view type = trace.strings.View(ops.op_type[row]);
  if (!type.empty() && ops.op_type[row] != ops.name[row]) return std::string(type);
  if (trace.device == DeviceKind::kGpu) return CollectiveKindOf(trace, row);
  const std::string_view name = trace.strings.View(ops.name[row]);
  return std::string(name.substr(0, std::min(name.find("__") + 1, name.size())));
}

bool IsPointToPoint(const RankTrace& trace, std::size_t row) {
  const std::string kind = CollectiveKindOf(trace, row);
  return kind.find("send") != std::string::npos || kind.find("recv") != std::string::npos ||
         kind == "receive";
}

bool IsPointToPointName(std::string_view name) {
  return StartsWithIgnoringCase(name, "hcom_send") ||
         StartsWithIgnoringCase(name, "hcom_receive") ||
         StartsWithIgnoringCase(name, "hcom_batchsendrecv");
}

std::string_view BareGroupName(std::string_view name) {
  constexpr std::string_view kBefore = "Group ", kBehind = " Communication";
  if (name.starts_with(kBefore) && name.ends_with(kBehind) &&
      name.size() > kBefore.size() + kBehind.size()) {
    name.remove_prefix(kBefore.size());
    name.remove_suffix(kBehind.size());
  }
  return name;
}

FirstSeen<std::string, Collective> SumCollectives(const RankTrace& trace) {
  const CommTasks& tasks = trace.comm_tasks;
  const std::vector<std::size_t> operations = trace.communications.RowsByStart();
  const std::vector<std::int64_t> operation_of = OperationsOfTasks(trace);
  std::vector<std::vector<std::size_t>> tasks_of(trace.communications.Size());
  for (const std::size_t task : tasks.RowsByStart()) {
    if (tasks.name[task] == StringId::kEmpty) continue;  // Level0 databases know no more of them
    if (operation_of[task] < 0) continue;
    tasks_of[static_cast<std::size_t>(operation_of[task])].push_back(task);
  }
  FirstSeen<std::string, Collective> collectives;
  for (const std::size_t operation : operations) {
    Collective& collective = collectives[CollectiveKindOf(trace, operation)];
    collective.calls.AddOne(
        {trace.communications.dur[operation], trace.communications.dur_rest[operation]});
    for (const std::size_t task : tasks_of[operation]) {
      collective.tasks[trace.strings.View(tasks.name[task])].AddOne(
          {tasks.dur[task], tasks.dur_rest[task]});
    }
  }
  return collectives;
}

void JobGroups::Add(const std::vector<JobGroup>& groups) {
  for (const JobGroup& group : groups) {
    of_id_.try_emplace(group.id, &group);
    of_hash_.try_emplace(std::to_string(GroupHash(group.id)), &group);
  }
}

const JobGroup* JobGroups::Find(std::string_view name) const {
  const auto found = of_id_.find(name);
  return found == of_id_.end() ? OfHash(name) : found->second;
}

const JobGroup* JobGroups::OfHash(std::string_view hash) const {
  const auto found = of_hash_.find(hash);
  return found == of_hash_.end() ? nullptr : found->second;
}

GroupPeers::GroupPeers(const RankTrace& trace)
    : rank_(trace.rank), groups_(trace.comm_groups.Size()) {
  const JobGroups of_job(trace.job.groups);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const std::string_view name = trace.strings.View(trace.comm_groups.name[group]);
    groups_[group].listed = of_job.Find(BareGroupName(name));
  }
  for (std::size_t i = 0; i < trace.comm_tasks.Size(); ++i) {
    const std::int32_t group = trace.comm_tasks.group[i];
    const std::int32_t own = trace.comm_tasks.own_rank[i];
    if (group >= 0 && own >= 0) groups_[static_cast<std::size_t>(group)].own = own;
  }
}

RankId GroupPeers::RankOf(std::int32_t group, std::int32_t group_rank) const {
  if (group < 0 || group_rank < 0) return -1;
  const Group& of = groups_[static_cast<std::size_t>(group)];
  if (of.listed != nullptr && !of.listed->ranks.empty()) {
    const auto at = static_cast<std::size_t>(group_rank);
    return at < of.listed->ranks.size() ? of.listed->ranks[at] : RankId();
  }
  return of.own >= 0 && of.own == rank_ ? RankId(group_rank) : RankId();
}

}  // namespace mpa
