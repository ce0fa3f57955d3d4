// SPDX-License-Identifier: Apache-2.0
// Where no links are recorded, groups of one kind are compared: all do the same operations, and the
// one with a slow link takes longer after its last arrival.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "finders.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

class SlowGroups {
 public:
  SlowGroups(const Job& job, std::vector<Cause>& causes) : job_(job), causes_(causes) {}

  void Find() {
    for (const DiagnosedRank& rank : job_.ranks) {
      if (!rank.part->transfers.empty()) return;
    }
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) AddOperation(i);
    for (const auto& [kind, groups] : kinds_) Compare(groups);
  }

 private:
  // Stages of a pipeline exchange other amounts, and other hosts have other links.
  using Kind =
      std::tuple<std::string, std::string, std::size_t, std::int32_t, std::size_t, std::int64_t>;
  using Operations = std::vector<std::size_t>;

  void AddOperation(std::size_t number) {
    const JobOperation& operation = job_.operations.all[number];
    const auto& members = operation.joint.members;
    const bool is_barrier =
        IsBarrierKind(operation.kind) && !operation.kind.starts_with("alltoall");
    // Who was not captured may be the one that is waited for.
    if (!is_barrier || members.size() < 2 || members.size() != operation.members.size()) return;
    std::set<std::string> hosts;
    for (const auto& member : members) {
      if (job_.stage[member.rank] != job_.stage[members[0].rank]) return;
      hosts.insert(job_.Part(member.rank).host);
    }
    const std::int64_t bytes = job_.Part(members[0].rank).operations[members[0].collective].bytes;
    const Kind kind{operation.kind, operation.group,
                    members.size(), job_.stage[members[0].rank],
                    hosts.size(),   bytes};
    kinds_[kind][operation.joint.lane].push_back(number);
  }

  TimeNs UsualOf(const Operations& operations) const {
    std::vector<TimeNs> times;
    for (const std::size_t i : operations) times.push_back(PostOf(job_, i));
    return Median(std::move(times));
  }

  void Compare(const std::map<std::size_t, Operations>& groups) {
    std::vector<TimeNs> usual_times;
    std::set<std::size_t> counts;
    for (const auto& [lane, operations] : groups) {
      usual_times.push_back(UsualOf(operations));
      counts.insert(operations.size());
    }
    // Groups that do not do the same cannot be compared.
    if (groups.size() < 2 || counts.size() > 1 ||
        !IsAtLeast(*counts.begin(), job_.rules.least_operations))
      return;
    const TimeNs usual = Normal(std::move(usual_times));
    if (usual <= 0) return;
    for (const auto& [lane, operations] : groups) AddSlow(operations, usual);
  }

  void AddSlow(const Operations& operations, TimeNs usual) {
    const auto is_slow = [&](std::size_t i) {
      return static_cast<double>(usual) <
             job_.rules.link_bandwidth_ratio * static_cast<double>(PostOf(job_, i));
    };
    const auto slow = std::count_if(operations.begin(), operations.end(), is_slow);
    if (static_cast<double>(slow) <
        job_.rules.link_slow_share * static_cast<double>(operations.size()))
      return;
    const std::vector<std::int64_t>& ranks = job_.operations.all[operations[0]].members;
    Cause cause = NewCause(job_, "link.slow", fmt::format("r{}", fmt::join(ranks, "+")));
    cause.finding.ranks = ranks;
    std::sort(cause.finding.ranks.begin(), cause.finding.ranks.end());
    cause.finding.metrics.push_back(
        {"slower_than_peers", static_cast<double>(UsualOf(operations)) / static_cast<double>(usual),
         "ratio"});
    for (const std::size_t i : operations) {
      const TimeNs more = PostOf(job_, i) - usual;
      if (more > 0) ShortenOperation(job_, i, more, cause.what_if.expect);
    }
    causes_.push_back(std::move(cause));
  }

  const Job& job_;
  std::vector<Cause>& causes_;
  std::map<Kind, std::map<std::size_t, Operations>> kinds_;  // by kind and group
};

}  // namespace

void FindSlowGroups(const Job& job, std::vector<Cause>& causes) { SlowGroups(job, causes).Find(); }

}  // namespace mpa
