// SPDX-License-Identifier: Apache-2.0
#include "job_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/io/json_document.h"
#include "page_facts.h"

namespace mpa {
namespace {

// Ranks of one job are captured within minutes; clocks of hosts differ by less.
constexpr TimeNs kHour = 3'600'000'000'000;

// Of a run, by name: not what is of the rank itself.
std::map<std::string, std::string> ArgumentsOf(const std::string& text) {
  std::map<std::string, std::string> arguments;
  const auto document = io::TryParseJson(text);
  if (!document.is_object()) return arguments;
  for (const auto& [name, value] : document.items()) {
    if (!name.ends_with("rank"))
      arguments[name] = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return arguments;
}

class JobFinder {
 public:
  JobFinder(const std::vector<RankId>& ranks, const std::vector<const JobMember*>& members)
      : ranks_(ranks), members_(members), state_(members.size(), State::kOfJob) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!ranks[i].IsNumber()) state_[i] = State::kUnknown;
    }
  }

  OtherJobs Find() && {
    if (members_.size() > 1) {
      CompareArguments();
      CompareTimes();
      CompareGroups();
    }
    OtherJobs others;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (state_[i] == State::kOther) others.positions.push_back(i);
    }
    if (others.positions.empty()) return others;
    const std::size_t count = others.positions.size();
    const std::string who = count > 1
                                ? Say("rank {} with {} more", RankName(ranks_[first_]), count - 1)
                                : Say("rank {}", RankName(ranks_[first_]));
    others.note =
        Say("{}: {} is left out, it belongs to another job than the other {}: {}; give each job a"
            " directory of its own",
            members_[first_]->path, who, Counted(members_.size() - count, "capture"), why_);
    return others;
  }

 private:
  enum class State : std::uint8_t { kOfJob, kOther, kUnknown };

  void Leave(std::size_t position, std::string why) {
    state_[position] = State::kOther;
    if (!why_.empty()) return;
    first_ = position;
    why_ = std::move(why);
  }

  // The key that most have; of equally frequent ones that of the first.
  template <typename Key>
  static std::optional<Key> MostFrequent(const std::vector<std::optional<Key>>& keys) {
    std::map<Key, std::size_t> count;
    for (const std::optional<Key>& key : keys) {
      if (key) ++count[*key];
    }
    if (count.size() < 2) return std::nullopt;
    std::optional<Key> most;
    for (const std::optional<Key>& key : keys) {
      if (key && (!most || count[*key] > count[*most])) most = key;
    }
    return most;
  }

  void CompareArguments() {
    using Arguments = std::map<std::string, std::string>;
    std::map<std::string, Arguments> parsed;  // most are equal texts
    std::vector<std::optional<Arguments>> of_members(members_.size());
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const std::string& text = members_[i]->arguments;
      if (text.empty() || state_[i] != State::kOfJob) continue;
      const auto [known, is_new] = parsed.try_emplace(text);
      if (is_new) known->second = ArgumentsOf(text);
      if (!known->second.empty()) of_members[i] = known->second;
    }
    const std::optional<Arguments> kept = MostFrequent(of_members);
    if (!kept) return;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!of_members[i] || *of_members[i] == *kept) continue;
      const auto [own, of_kept] = std::ranges::mismatch(*of_members[i], *kept);
      const bool is_own = own != of_members[i]->end();
      const std::string& name = is_own ? own->first : of_kept->first;
      const auto value = [&](const Arguments& arguments) {
        const auto found = arguments.find(name);
        return found == arguments.end() ? std::string("nothing") : CutEnd(found->second, 40);
      };
      Leave(i, Say("its distributed_args have {} {}, not {}", name, value(*of_members[i]),
                   value(*kept)));
    }
  }

  void CompareTimes() {
    std::vector<std::pair<TimeNs, std::size_t>> by_time;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (state_[i] == State::kOfJob && members_[i]->begin >= 0)
        by_time.push_back({members_[i]->begin, i});
    }
    std::ranges::sort(by_time);
    // Those without an hour between them; of equally many the last.
    std::size_t begin = 0, kept_begin = 0, kept_end = 0;
    for (std::size_t i = 1; i <= by_time.size(); ++i) {
      if (i < by_time.size() && by_time[i].first - by_time[i - 1].first <= kHour) continue;
      if (i - begin >= kept_end - kept_begin) std::tie(kept_begin, kept_end) = std::pair(begin, i);
      begin = i;
    }
    for (std::size_t i = 0; i < by_time.size(); ++i) {
      if (i >= kept_begin && i < kept_end) continue;
      const bool is_earlier = i < kept_begin;
      const TimeNs apart = is_earlier ? by_time[kept_begin].first - by_time[i].first
                                      : by_time[i].first - by_time[kept_end - 1].first;
      const double hours = static_cast<double>(apart) / static_cast<double>(kHour);
      Leave(by_time[i].second, is_earlier ? Say("it begins {:.1f} hours before them", hours)
                                          : Say("it begins {:.1f} hours after them", hours));
    }
  }

  std::size_t RootOf(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  // Ranks that know a group together are of one job, and so are those that each of them knows
  // others with. Who is a member of a group, and knows groups, but shares none with those that list
  // it, is not.
  void CompareGroups() {
    parent_.resize(members_.size());
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    std::unordered_map<std::string_view, std::size_t> first_of_group;
    std::map<RankId, std::size_t> of_rank;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (state_[i] != State::kOfJob) continue;
      if (!members_[i]->groups.empty()) of_rank.try_emplace(ranks_[i], i);
      for (const KnownGroup& group : members_[i]->groups) {
        const auto [first, is_new] = first_of_group.try_emplace(group.id, i);
        if (!is_new) parent_[RootOf(i)] = RootOf(first->second);
      }
    }
    std::vector<std::size_t> size(members_.size());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (state_[i] == State::kOfJob && !members_[i]->groups.empty()) ++size[RootOf(i)];
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (size[RootOf(i)] > size[kept]) kept = RootOf(i);
    }
    // Of the others those that are of another job: by who lists whom.
    std::unordered_map<std::size_t, std::string> others;  // by root
    std::set<std::string_view> seen;                      // equal lists of a group say the same
    for (const auto& [rank, i] : of_rank) {
      for (const KnownGroup& group : members_[i]->groups) {
        if (!seen.insert(group.id).second) continue;
        for (const RankId member : group.ranks) {
          const auto found = of_rank.find(member);
          if (found == of_rank.end()) continue;
          const std::size_t from = RootOf(i), to = RootOf(found->second);
          if (from == to || (from != kept && to != kept)) continue;
          others.try_emplace(
              from == kept ? to : from,
              Say("rank {0} lists rank {1} in the group {2}, which rank {1} does not know",
                  RankName(rank), RankName(member), CutEnd(Printable(group.id), 60)));
        }
      }
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (state_[i] != State::kOfJob || members_[i]->groups.empty()) continue;
      const auto found = others.find(RootOf(i));
      if (found != others.end()) Leave(i, found->second);
    }
  }

  const std::vector<RankId>& ranks_;
  const std::vector<const JobMember*>& members_;
  std::vector<State> state_;
  std::vector<std::size_t> parent_;
  std::size_t first_ = 0;
  std::string why_;
};

}  // namespace

JobMember MemberOf(const RankInput& input, const RankTrace& trace) {
  JobMember member{.path = input.path.string(),
                   .arguments = trace.job.distributed_args,
                   .begin = BeginOf(trace)};
  for (const JobGroup& group : trace.job.groups) member.groups.push_back({group.id, group.ranks});
  return member;
}

OtherJobs FindOtherJobs(const std::vector<RankId>& ranks,
                        const std::vector<const JobMember*>& members) {
  return JobFinder(ranks, members).Find();
}

}  // namespace mpa
