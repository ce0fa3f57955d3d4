// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/job/choice.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

// A rank, and by how much per step it exceeds what is usual.
struct Excess {
  TimeNs time = 0;
  RankIndex rank;
};

// The ranks that stand out, by kind of work: the largest excess first.
class ExcessFinder {
 public:
  ExcessFinder(const std::vector<DiagnosedRank>& ranks, const JobOperations& operations,
               std::vector<std::vector<std::size_t>> roles, double share)
      : ranks_(ranks), operations_(operations), roles_(std::move(roles)), share_(share) {}

  std::vector<std::vector<Excess>> Find() && {
    SumWork();
    SumTransfers();
    SumLateness();
    for (const auto& [kind, amounts] : amounts_) Compare(amounts);
    CompareSettings();
    StableSort(found_, std::ranges::greater(), [](const auto& list) { return list.front().time; });
    return std::move(found_);
  }

 private:
  // By step, of one rank.
  using Amounts = std::vector<TimeNs>;
  using Kind = std::pair<std::string, std::string>;  // where, what

  const RankDiagnosis& Part(RankIndex rank) const { return *ranks_[rank].part; }
  TimeNs& At(Kind kind, RankIndex rank, std::size_t step) {
    auto& amounts = amounts_[std::move(kind)];
    amounts.resize(ranks_.size());
    amounts[rank].resize(Part(rank).steps.size());
    return amounts[rank][step];
  }

  void SumWork() {
    for (RankIndex rank; rank < ranks_.size(); ++rank) {
      const RankDiagnosis& part = Part(rank);
      for (std::size_t step = 0; step < part.steps.size(); ++step) {
        for (const WorkSum& work : part.steps[step].work)
          At({work.on_host ? "host" : "device", part.names[work.name]}, rank, step) += work.time;
      }
    }
  }

  // From the last arrival on, as long as the operation took.
  void SumTransfers() {
    for (const JobOperation& operation : operations_.all) {
      const auto& members = operation.joint.members;
      if (operation.is_apart || members.size() < 2 || !operation.joint.is_barrier) continue;
      TimeNs last = std::numeric_limits<TimeNs>::min();
      for (const auto& member : members) last = std::max(last, OnJob(member, Of(member).start));
      for (const auto& member : members) {
        const OperationPart& own = Of(member);
        if (own.step < 0 || static_cast<std::size_t>(own.step) >= Part(member.rank).steps.size())
          continue;
        At({"transfer", operation.kind}, member.rank, static_cast<std::size_t>(own.step)) +=
            std::max<TimeNs>(0, OnJob(member, own.start + own.dur) - last);
      }
    }
  }

  void SumLateness() {
    std::map<RankId, std::size_t> position;
    for (RankIndex rank; rank < ranks_.size(); ++rank) position[ranks_[rank].rank] = rank;
    std::vector<Excess> late;
    for (const LateRanks& ranks : operations_.lateness.ranks) {
      for (const RankId rank : ranks.ranks) {
        const auto found = position.find(rank);
        if (ranks.captured && found != position.end())
          late.push_back({ranks.sum / StepsOf(found->second), found->second});
      }
    }
    Keep(std::move(late));
  }

  // A value that hardly any rank has is a reason to look at them.
  void CompareSettings() {
    constexpr std::size_t kSeldom = 10;  // one of so many ranks
    using WithValue = std::map<std::string_view, std::vector<std::size_t>>;
    std::map<std::string_view, WithValue> settings;
    for (RankIndex rank; rank < ranks_.size(); ++rank) {
      for (const auto& [name, value] : Part(rank).settings) {
        // Of what FlatSettings() adds, much differs on all ranks.
        if (name.find(':') == std::string::npos) settings[name][value].push_back(rank);
      }
    }
    for (auto& [name, with] : settings) {
      AddThoseWithout(std::string(name), with);
      for (const auto& [value, ranks] : with) {
        if (kSeldom * ranks.size() > ranks_.size()) continue;
        std::vector<Excess> odd;
        for (const RankIndex rank : ranks) odd.push_back({Least(rank), rank});
        Keep(std::move(odd));
      }
    }
  }

  // As if it were empty.
  void AddThoseWithout(const std::string& name,
                       std::map<std::string_view, std::vector<std::size_t>>& with) const {
    std::size_t count = 0;
    for (const auto& [value, ranks] : with) count += ranks.size();
    if (count == ranks_.size()) return;
    std::vector<std::size_t>& without = with[""];
    for (RankIndex rank; rank < ranks_.size(); ++rank) {
      if (!Part(rank).settings.contains(name)) without.push_back(rank);
    }
    std::ranges::sort(without);
  }

  // With what is usual in the same step among the ranks of the role.
  void Compare(const std::vector<Amounts>& amounts) {
    std::vector<Excess> list;
    for (const std::vector<std::size_t>& role : roles_) {
      std::vector<TimeNs> excess(role.size(), 0);
      for (std::size_t step = 0; step < Part(role.front()).steps.size(); ++step) {
        std::vector<TimeNs> values;
        for (const RankIndex rank : role)
          values.push_back(step < amounts[rank].size() ? amounts[rank][step] : 0);
        const TimeNs usual = LowerQuartile(values);
        for (std::size_t i = 0; i < role.size(); ++i)
          excess[i] += std::max<TimeNs>(0, values[i] - usual);
      }
      for (std::size_t i = 0; i < role.size(); ++i)
        list.push_back({excess[i] / StepsOf(role[i]), role[i]});
    }
    Keep(std::move(list));
  }

  TimeNs StepsOf(RankIndex rank) const {
    return std::max<TimeNs>(1, static_cast<TimeNs>(Part(rank).steps.size()));
  }
  TimeNs Least(RankIndex rank) const {
    const auto& steps = Part(rank).steps;
    const TimeNs all = steps.empty() ? 0 : steps.back().end - steps.front().begin;
    return std::max<TimeNs>(1, ShareOf(all / StepsOf(rank), share_));
  }
  void Keep(std::vector<Excess> list) {
    std::erase_if(list, [&](const Excess& excess) { return excess.time < Least(excess.rank); });
    StableSort(list, std::ranges::greater(), &Excess::time);
    if (!list.empty()) found_.push_back(std::move(list));
  }

  const OperationPart& Of(const JointOperation::Member& member) const {
    return Part(member.rank).operations[member.collective];
  }
  TimeNs OnJob(const JointOperation::Member& member, TimeNs time) const {
    return operations_.clock[member.rank].Convert(time);
  }

  const std::vector<DiagnosedRank>& ranks_;
  const JobOperations& operations_;
  const std::vector<std::vector<std::size_t>> roles_;
  const double share_;
  std::map<Kind, std::vector<Amounts>> amounts_;
  std::vector<std::vector<Excess>> found_;
};

// What a rank takes that is known by its outline, with its share of what the ranks did together.
std::int64_t MemoryOfOutline(const RankDiagnosis& part) {
  constexpr std::int64_t kOfOperation = 500, kOfRank = 60'000;
  return kOfRank + kOfOperation * static_cast<std::int64_t>(part.operations.size());
}

std::int64_t MemoryOfOutlines(const std::vector<DiagnosedRank>& ranks) {
  std::int64_t bytes = 0;
  for (const DiagnosedRank& rank : ranks) bytes += MemoryOfOutline(*rank.part);
  return bytes;
}

// Ranks of one pipeline, which wait for each other: without one of them nothing shows what another
// would win.
struct Chain {
  std::size_t connected_component = 0;
  RankId block;  // the first rank of those that share the layers, too
  std::vector<std::size_t> ranks;
  std::int64_t bytes = 0;  // of memory, replayed
  bool is_whole = false;
};

// The first rank of the groups with these names that the rank is in; itself without such groups.
RankId FirstOf(const std::vector<std::string_view>& names, const DiagnosedRank& rank) {
  RankId first = rank.rank;
  for (const JobGroup& group : rank.part->collectives.groups) {
    if (std::ranges::find(names, group.name) != names.end() && !group.ranks.empty())
      first = std::min(first, *std::ranges::min_element(group.ranks));
  }
  return first;
}

std::vector<Chain> ChainsOf(const std::vector<DiagnosedRank>& ranks,
                            const JobOperations& operations) {
  std::map<std::pair<std::size_t, RankId>, Chain> chains;  // by connected_component and first rank
  for (RankIndex rank; rank < ranks.size(); ++rank) {
    const RankId first = FirstOf({"pp"}, ranks[rank]);
    Chain& chain = chains[{operations.connected_component[rank], first}];
    chain.connected_component = operations.connected_component[rank];
    if (chain.ranks.empty()) chain.block = first;
    chain.ranks.push_back(rank);
    chain.bytes += ranks[rank].part->whole_bytes;
    // Of the stages the first one tells which ranks its tensors are shared by.
    if (ranks[rank].rank == first) chain.block = FirstOf({"tp", "cp"}, ranks[rank]);
  }
  std::vector<Chain> list;
  for (auto& [key, chain] : chains) list.push_back(std::move(chain));
  return list;
}

// Fills a room with chains.
class WholeChains {
 public:
  WholeChains(std::vector<Chain> chains, std::size_t ranks)
      : chains_(std::move(chains)), by_rank_(ranks) {
    for (Chain& chain : chains_) {
      for (const RankIndex rank : chain.ranks) by_rank_[rank] = &chain;
      blocks_[{chain.connected_component, chain.block}].push_back(&chain);
    }
  }

  /// Of each list who stands out most, then second most, while there is room: the block, because
  /// who shares layers with a late rank comes as late to everything else, or else the chain.
  void TakeThoseThatStandOut(const std::vector<std::vector<Excess>>& lists, std::int64_t room) {
    TakeInTurn(lists, [&](const Excess& excess) {
      Chain& chain = *by_rank_[excess.rank];
      const Block& block = blocks_.at({chain.connected_component, chain.block});
      std::int64_t missing = 0;
      for (const Chain* part : block) missing += part->is_whole ? 0 : part->bytes;
      return bytes_ + missing <= room ? TakeBlock(block, room) : Take(chain, room);
    });
  }

  /// Of each connected_component in turn the blocks in which fewest stand out first. One chain at
  /// least.
  void TakeOthers(const std::vector<bool>& stands_out, std::int64_t room) {
    std::map<std::size_t, std::vector<const Block*>> connected_components;
    for (const auto& [key, block] : blocks_) connected_components[key.first].push_back(&block);
    const auto count = [&](const Block* block) {
      std::size_t ranks = 0;
      for (const Chain* chain : *block) {
        for (const RankIndex rank : chain->ranks) ranks += stands_out[rank] ? 1 : 0;
      }
      return ranks;
    };
    std::vector<std::vector<const Block*>> lists;
    for (auto& [connected_component, list] : connected_components) {
      StableSort(list, {}, count);
      lists.push_back(std::move(list));
    }
    if (bytes_ == 0)
      Take(*lists.front().front()->front(), std::numeric_limits<std::int64_t>::max());
    TakeInTurn(lists, [&](const Block* block) { return TakeBlock(*block, room); });
  }

  std::vector<std::size_t> Ranks() const {
    std::vector<std::size_t> ranks;
    for (RankIndex rank; rank < by_rank_.size(); ++rank) {
      if (by_rank_[rank]->is_whole) ranks.push_back(rank);
    }
    return ranks;
  }

 private:
  // Chains that share layers.
  using Block = std::vector<Chain*>;

  // Takes the next item of every list in turn, until `take` refuses one.
  template <typename Item>
  void TakeInTurn(const std::vector<std::vector<Item>>& lists, const auto& take) {
    bool any = true;
    for (std::size_t i = 0; any; ++i) {
      any = false;
      for (const std::vector<Item>& list : lists) {
        if (i >= list.size()) continue;
        if (!take(list[i])) return;
        any = true;
      }
    }
  }

  bool Take(Chain& chain, std::int64_t room) {
    if (chain.is_whole) return true;
    if (chain.bytes > room - bytes_) return false;
    chain.is_whole = true;
    bytes_ += chain.bytes;
    return true;
  }

  bool TakeBlock(const Block& block, std::int64_t room) {
    return std::ranges::all_of(block, [&](Chain* chain) { return Take(*chain, room); });
  }

  std::vector<Chain> chains_;
  std::map<std::pair<std::size_t, RankId>, Block> blocks_;  // by connected_component and first rank
  std::vector<Chain*> by_rank_;
  std::int64_t bytes_ = 0;
};

std::vector<std::vector<std::size_t>> RanksOfRoles(const std::vector<DiagnosedRank>& ranks,
                                                   const JobOperations& operations) {
  std::map<std::int32_t, std::vector<std::size_t>> of_role;
  const std::vector<std::int32_t> roles = RolesOf(ranks, operations);
  for (RankIndex rank; rank < ranks.size(); ++rank) of_role[roles[rank]].push_back(rank);
  std::vector<std::vector<std::size_t>> lists;
  for (auto& [role, members] : of_role) lists.push_back(std::move(members));
  return lists;
}

std::vector<std::vector<Excess>> FindExcesses(const std::vector<DiagnosedRank>& ranks,
                                              const JobOperations& operations,
                                              const Thresholds& thresholds) {
  return ExcessFinder(ranks, operations, RanksOfRoles(ranks, operations),
                      thresholds[kStandsOutShare])
      .Find();
}

std::vector<bool> StandOut(const std::vector<std::vector<Excess>>& excesses, std::size_t ranks) {
  std::vector<bool> stands_out(ranks, false);
  for (const auto& list : excesses) {
    for (const Excess& excess : list) stands_out[excess.rank] = true;
  }
  return stands_out;
}

}  // namespace

std::int64_t MemoryOfReplay(const RankDiagnosis& part) {
  return MemoryOfOutline(part) + part.whole_bytes;
}

bool HaveRoom(const std::vector<DiagnosedRank>& ranks, std::int64_t bytes) {
  std::int64_t all = 0;
  for (const DiagnosedRank& rank : ranks) all += MemoryOfReplay(*rank.part);
  return bytes == 0 || all <= bytes;
}

std::vector<std::size_t> ChooseRanks(const std::vector<DiagnosedRank>& ranks,
                                     const JobOperations& operations, const Thresholds& thresholds,
                                     std::int64_t bytes) {
  if (HaveRoom(ranks, bytes)) {
    std::vector<std::size_t> all(ranks.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  const auto excesses = FindExcesses(ranks, operations, thresholds);
  const std::int64_t room = bytes - std::min(bytes, MemoryOfOutlines(ranks));
  WholeChains whole(ChainsOf(ranks, operations), ranks.size());
  whole.TakeThoseThatStandOut(excesses, room / 2);
  whole.TakeOthers(StandOut(excesses, ranks.size()), room);
  return whole.Ranks();
}

RankChoice ChosenRanks(const std::vector<DiagnosedRank>& ranks, const JobOperations& operations,
                       const Thresholds& thresholds) {
  RankChoice choice;
  for (RankIndex rank; rank < ranks.size(); ++rank) {
    if (!ranks[rank].part->is_outline) choice.whole.push_back(rank);
  }
  if (choice.whole.size() == ranks.size()) return choice;
  const std::vector<bool> stands_out =
      StandOut(FindExcesses(ranks, operations, thresholds), ranks.size());
  choice.stand_out = static_cast<std::size_t>(std::ranges::count(stands_out, true));
  choice.left_out = choice.stand_out;
  for (const RankIndex rank : choice.whole) choice.left_out -= stands_out[rank] ? 1 : 0;
  return choice;
}

}  // namespace mpa
