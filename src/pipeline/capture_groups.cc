// SPDX-License-Identifier: Apache-2.0
// Which captures are of one job, where several have the same rank.
#include "capture_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/io/numbers.h"
#include "mpa/pipeline/analyzer_checks.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

using Keys = std::vector<std::string>;  // of the group of each capture

// The capture's own directory or file.
fs::path CaptureOf(const RankInput& input) {
  const fs::path& path = input.path;
  return path.filename() == "ASCEND_PROFILER_OUTPUT" ? path.parent_path() : path;
}

std::size_t CountRanks(const std::vector<FoundRank>& found) {
  std::set<RankId> ranks;
  for (const FoundRank& one : found) ranks.insert(one.rank);
  ranks.erase(-1);
  return ranks.size();
}

// True when no rank occurs twice in a group, and the groups are not made of single ranks of a job
// that has several.
bool Separates(const std::vector<FoundRank>& found, const Keys& keys) {
  std::map<std::string, std::set<RankId>> groups;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::set<RankId>& ranks = groups[keys[i]];
    if (found[i].rank >= 0 && !ranks.insert(found[i].rank).second) return false;
    largest = std::max(largest, ranks.size());
  }
  return groups.size() > 1 && (largest > 1 || CountRanks(found) == 1);
}

// The first `levels` directories on the way to each capture.
Keys DirectoryKeys(const fs::path& top, const std::vector<FoundRank>& found, int levels) {
  Keys keys;
  for (const FoundRank& one : found) {
    fs::path key;
    int level = 0;
    for (const fs::path& part : WayTo(top, one.input)) {
      if (level++ < levels) key /= part;
    }
    keys.push_back(key.empty() ? std::string(kHere) : key.string());
  }
  return keys;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "prefill_rank#" for prefill_rank0.
std::string WithoutNumbers(std::string_view name) {
  std::string pattern;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!IsDigit(name[i])) pattern += name[i];
    if (IsDigit(name[i]) && (i == 0 || !IsDigit(name[i - 1]))) pattern += '#';
  }
  return pattern;
}

// "dp1" of dp1_pp0_tp3_rank3, as serving engines name their replicas; empty: not named like this.
std::string ReplicaIn(std::string_view name) {
  constexpr std::string_view kReplica = "dp";
  for (std::size_t at = name.find(kReplica); at != std::string_view::npos;
       at = name.find(kReplica, at + 1)) {
    std::size_t end = at + kReplica.size();
    while (end < name.size() && IsDigit(name[end])) ++end;
    const bool begins = at == 0 || std::isalnum(static_cast<unsigned char>(name[at - 1])) == 0;
    if (begins && end > at + kReplica.size()) return std::string(name.substr(at, end - at));
  }
  return {};
}

template <typename KeyOfName>
Keys NameKeys(const std::vector<FoundRank>& found, KeyOfName key_of) {
  Keys keys;
  for (const FoundRank& one : found)
    keys.push_back(key_of(CaptureOf(one.input).filename().string()));
  return keys;
}

// Milliseconds since the epoch; empty: the digits are not a valid time.
std::optional<std::int64_t> MillisecondsOf(std::string_view digits) {
  constexpr std::size_t kMilliseconds = 13, kCalendar = 17, kNanoseconds = 19;
  const auto number = io::ParseInt(digits);
  if (!number) return std::nullopt;
  if (digits.size() == kMilliseconds) return *number;
  if (digits.size() == kNanoseconds) return *number / 1'000'000;
  if (digits.size() != kCalendar) return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t size) {
    return io::ParseInt(digits.substr(at, size)).value_or(0);
  };
  const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(part(0, 4))),
                                        std::chrono::month(static_cast<unsigned>(part(4, 2))),
                                        std::chrono::day(static_cast<unsigned>(part(6, 2)))};
  if (!day.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days(day).time_since_epoch().count();
  return (((std::int64_t{days} * 24 + part(8, 2)) * 60 + part(10, 2)) * 60 + part(12, 2)) * 1000 +
         part(14, 3);
}

// The time of the capture: "20250109153804000" of "<worker>_20250109153804000_ascend_pt",
// "1694128201545", milliseconds since the epoch, of "<worker>.1694128201545.pt.trace.json".
std::optional<std::int64_t> TimeOf(const FoundRank& found) {
  const std::string name = CaptureOf(found.input).filename().string();
  std::optional<std::int64_t> time;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find_first_of("_.", at), name.size());
    if (const auto milliseconds = MillisecondsOf(std::string_view(name).substr(at, end - at)))
      time = milliseconds;
    at = end + 1;
  }
  return time;
}

// A session ends where a rank comes again. Sessions are known to be such when the time between
// them is longer than that within each.
std::optional<Keys> SessionKeys(const std::vector<FoundRank>& found) {
  std::vector<std::pair<std::int64_t, std::size_t>> by_time;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto time = TimeOf(found[i]);
    if (!time) return std::nullopt;
    by_time.push_back({*time, i});
  }
  std::ranges::sort(by_time);
  Keys keys(found.size());
  std::set<RankId> ranks;
  std::int64_t begin = by_time.front().first, end = begin, longest = 0, least = INT64_MAX;
  int session = 0;
  for (const auto& [time, i] : by_time) {
    if (found[i].rank >= 0 && !ranks.insert(found[i].rank).second) {
      ++session;
      least = std::min(least, time - end);
      ranks = {found[i].rank};
      begin = time;
    }
    end = time;
    longest = std::max(longest, end - begin);
    keys[i] = fmt::format("{:06}", session);
  }
  return longest < least ? std::optional(keys) : std::nullopt;
}

CaptureGroups Made(ToldApart how, std::vector<FoundRank> found, const Keys& keys) {
  std::map<std::string, std::vector<FoundRank>> groups;
  for (std::size_t i = 0; i < found.size(); ++i) groups[keys[i]].push_back(std::move(found[i]));
  CaptureGroups made{how, {}};
  for (auto& [name, ranks] : groups) {
    StableSort(ranks, {}, &FoundRank::rank);
    made.groups.push_back({name, std::move(ranks)});
  }
  return made;
}

// The latest capture of each rank, and all others.
CaptureGroups Latest(std::vector<FoundRank> found) {
  StableSort(found, [](const FoundRank& a, const FoundRank& b) {
    return std::pair{a.rank, TimeOf(a)} < std::pair{b.rank, TimeOf(b)};
  });
  Keys keys;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool is_last = i + 1 == found.size() || found[i + 1].rank != found[i].rank;
    keys.push_back(is_last || found[i].rank < 0 ? "1" : "0");
  }
  return Made(ToldApart::kNot, std::move(found), keys);
}

}  // namespace

fs::path WayTo(const fs::path& directory, const RankInput& input) {
  return CaptureOf(input).lexically_relative(directory).parent_path();
}

CaptureGroups SeparateCaptures(const fs::path& directory, std::vector<FoundRank> found) {
  const auto unknown =
      std::ranges::count_if(found, [](const FoundRank& one) { return one.rank < 0; });
  if (CountRanks(found) + static_cast<std::size_t>(unknown) == found.size()) {
    const Keys one(found.size());
    return Made(ToldApart::kNeedNot, std::move(found), one);
  }
  std::error_code ignored;
  const fs::path top = fs::canonical(directory, ignored);
  constexpr int kLevels = 3;  // of directories that are searched for captures
  for (int level = 1; level <= kLevels; ++level) {
    const Keys keys = DirectoryKeys(top, found, level);
    if (Separates(found, keys)) return Made(ToldApart::kByDirectory, std::move(found), keys);
  }
  for (const Keys& keys : {NameKeys(found, WithoutNumbers), NameKeys(found, ReplicaIn)}) {
    if (Separates(found, keys)) return Made(ToldApart::kByName, std::move(found), keys);
  }
  if (const auto keys = SessionKeys(found); keys && Separates(found, *keys))
    return Made(ToldApart::kByTime, std::move(found), *keys);
  return Latest(std::move(found));
}

std::vector<CheckedGroup> GroupCaptures(const Survey& survey) {
  std::vector<FoundRank> found(survey.ranks.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].rank = survey.ranks[i].id;
    found[i].input.path = survey.ranks[i].path;
    found[i].input.kind = survey.ranks[i].kind;
    if (survey.ranks[i].kind == CaptureKind::kGpu)
      found[i].input.gpu.emplace().world_size = survey.ranks[i].world_size;
  }
  CaptureGroups separate = SeparateCaptures(survey.path, std::move(found));
  std::vector<CheckedGroup> groups;
  for (CaptureGroup& group : separate.groups) {
    std::string name = group.name.empty() ? "job" : group.name;
    if (separate.told_apart == ToldApart::kByTime)
      name = fmt::format("session {}", groups.size() + 1);
    const std::vector<FoundRank> others = TakeOtherJobs(group.ranks);
    const std::vector<FoundRank> earlier = TakeEarlierJobs(group.ranks);
    for (const auto* ranks : {&others, &earlier, &std::as_const(group.ranks)}) {
      if (ranks->empty()) continue;
      CheckedGroup& made = groups.emplace_back();
      made.name = (ranks == &others ? "other " : ranks == &earlier ? "earlier " : "") + name;
      for (const FoundRank& one : *ranks) {
        if (one.rank.IsNumber()) made.ranks.push_back(one.rank);
        made.captures.push_back(one.input.path);
      }
    }
  }
  if (groups.size() < 2 || separate.told_apart == ToldApart::kNot) groups.clear();
  return groups;
}

namespace {

// Moves those behind `kept_end` out of `ranks`.
std::vector<FoundRank> TakeFrom(std::vector<FoundRank>::iterator kept_end,
                                std::vector<FoundRank>& ranks) {
  std::vector<FoundRank> taken(std::make_move_iterator(kept_end),
                               std::make_move_iterator(ranks.end()));
  ranks.erase(kept_end, ranks.end());
  return taken;
}

}  // namespace

std::vector<FoundRank> TakeOtherJobs(std::vector<FoundRank>& ranks) {
  using Job = std::pair<bool, std::int64_t>;  // of GPUs; its size, 0: unknown
  const auto job_of = [](const FoundRank& one) {
    return Job(one.input.kind == CaptureKind::kGpu,
               one.input.gpu ? one.input.gpu->world_size.value_or(0) : 0);
  };
  std::map<Job, std::size_t> captures;
  for (const FoundRank& one : ranks) ++captures[job_of(one)];
  if (captures.size() < 2) return {};
  const Job kept =
      std::ranges::max_element(captures, {}, &decltype(captures)::value_type::second)->first;
  return TakeFrom(
      std::stable_partition(ranks.begin(), ranks.end(),
                            [&](const FoundRank& one) {
                              const auto [is_gpu, size] = job_of(one);
                              return is_gpu == kept.first &&
                                     (size == kept.second || size == 0 || kept.second == 0);
                            }),
      ranks);
}

std::vector<FoundRank> TakeEarlierJobs(std::vector<FoundRank>& ranks) {
  constexpr std::int64_t kApart = 26 * 3'600'000;  // as far as time zones of hosts may be, in ms
  std::vector<std::int64_t> times;
  for (const FoundRank& one : ranks) {
    const auto time = TimeOf(one);
    if (!time) return {};
    times.push_back(*time);
  }
  std::ranges::sort(times);
  const auto last_gap = std::adjacent_find(
      times.rbegin(), times.rend(),
      [](std::int64_t later, std::int64_t time) { return later - time > kApart; });
  if (last_gap == times.rend()) return {};
  const auto first_of_job = std::stable_partition(
      ranks.begin(), ranks.end(),
      [&](const FoundRank& one) { return TimeOf(one).value_or(0) >= *last_gap; });
  return TakeFrom(first_of_job, ranks);
}

}  // namespace mpa
