// SPDX-License-Identifier: Apache-2.0
// Requests of a server before and after: their times by percentile, and how long batches run, of
// all instances together and of each instance and data parallel rank.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compare_sheet.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/time.h"
#include "mpa/compare/comparison.h"
#include "mpa/measure/quantiles.h"
#include "mpa/measure/request_times.h"
#include "mpa/measure/server_spans.h"
#include "mpa/report/amount.h"

namespace mpa::comparisons {
namespace {

using SortedTimes = std::vector<TimeNs>;

// Batches of one phase that ran, or were put together.
struct BatchTimes {
  SortedTimes lengths{};
  double requests = 0, tokens = 0;

  double MeanRequests() const { return requests / static_cast<double>(lengths.size()); }
  double MeanTokens() const { return tokens / static_cast<double>(lengths.size()); }
};
using BatchesByName = std::map<std::string, BatchTimes>;

std::string NameOfBatch(ServerSpan kind, std::int32_t prefill, std::int32_t decode) {
  if (kind == ServerSpan::kSchedule) return "scheduling";
  if (kind != ServerSpan::kExecute && kind != ServerSpan::kRunner) return "";
  if (prefill > 0) return decode > 0 ? "mixed batches" : "prefill batches";
  return decode > 0 ? "decode batches" : "batches";
}

// Requests and batches that are compared together: all, those of an instance, or of a data parallel
// rank of it.
struct Group {
  std::array<SortedTimes, kRequestTimes> times{};
  BatchesByName batches{};
};
struct Place {
  std::string instance{};  // empty: all, or the only one
  std::int32_t dp_rank = -1;

  auto operator<=>(const Place&) const = default;
};
using Groups = std::map<Place, Group>;

// The places that a row belongs to.
class Places {
 public:
  Places(const RankTrace& trace, bool by_instance) : trace_(trace), by_instance_(by_instance) {
    const auto note = [&](const auto& table) {
      for (std::size_t i = 0; i < table.Size(); ++i)
        if (table.dp_rank[i] >= 0) dp_ranks_[table.instance[i]].insert(table.dp_rank[i]);
    };
    note(trace.server_requests);
    note(trace.server_batches);
  }

  template <typename Take>
  void ForEach(StringId instance, std::int32_t dp_rank, Take take) const {
    take(Place{});
    const std::string name(by_instance_ ? trace_.strings.View(instance) : "");
    if (by_instance_) take(Place{name});
    const auto ranks = dp_ranks_.find(instance);
    if (dp_rank >= 0 && ranks != dp_ranks_.end() && ranks->second.size() > 1)
      take(Place{name, dp_rank});
  }

 private:
  const RankTrace& trace_;
  bool by_instance_;
  std::map<StringId, std::set<std::int32_t>> dp_ranks_;
};

Groups GroupsOf(const RankTrace& trace, bool by_instance) {
  const Places places(trace, by_instance);
  Groups groups;
  const mpa::ServerRequests& requests = trace.server_requests;
  for (std::size_t i = 0; i < requests.Size(); ++i) {
    const TimesOfRequest of_one = TimesOf(requests.first_token[i], requests.dur[i],
                                          requests.queued[i], requests.reply_tokens[i]);
    places.ForEach(requests.instance[i], requests.dp_rank[i], [&](const Place& place) {
      Group& group = groups[place];
      for (std::size_t time = 0; time < of_one.size(); ++time)
        if (of_one[time] >= 0) group.times[time].push_back(of_one[time]);
    });
  }
  const ServerBatches& rows = trace.server_batches;
  for (std::size_t i = 0; i < rows.Size(); ++i) {
    const std::string name = NameOfBatch(KindOfSpan(trace.strings.View(rows.name[i])),
                                         rows.prefill_requests[i], rows.decode_requests[i]);
    if (name.empty()) continue;
    places.ForEach(rows.instance[i], rows.dp_rank[i], [&](const Place& place) {
      BatchTimes& times = groups[place].batches[name];
      times.lengths.push_back(rows.dur[i]);
      times.requests += std::max(rows.requests[i], 0);
      times.tokens += static_cast<double>(std::max<std::int64_t>(rows.prefill_tokens[i], 0) +
                                          std::max<std::int64_t>(rows.decode_tokens[i], 0));
    });
  }
  for (auto& [place, group] : groups) {
    for (SortedTimes& one : group.times) std::ranges::sort(one);
    for (auto& [name, times] : group.batches) std::ranges::sort(times.lengths);
  }
  return groups;
}

std::set<std::string> InstancesOf(const RankTrace& trace) {
  std::set<std::string> names;
  for (const StringId name : trace.server_requests.instance)
    names.emplace(trace.strings.View(name));
  for (const StringId name : trace.server_batches.instance) names.emplace(trace.strings.View(name));
  return names;
}

std::string NameOf(const Place& place) {
  std::string name = place.instance.empty() ? "" : Say("instance {}", Printable(place.instance));
  if (place.dp_rank >= 0) name += fmt::format("{}dp {}", name.empty() ? "" : ", ", place.dp_rank);
  return name;
}

constexpr std::array kPercents = {50, 90, 99, 100};

void AddRows(const Place& place, const std::string& name, const SortedTimes& base,
             const SortedTimes& comparison, Sheet& sheet) {
  if (base.empty() && comparison.empty()) return;
  for (const int percent : kPercents) {
    Row row{{place.instance, place.dp_rank < 0 ? Cell() : Cell(std::int64_t{place.dp_rank}), name,
             percent == 100 ? std::string("max") : fmt::format("p{}", percent)}};
    std::array<double, 2> at{};
    for (std::size_t side = 0; side < 2; ++side) {
      const SortedTimes& times = side == 0 ? base : comparison;
      at[side] = times.empty() ? 0 : InMs(Percentile(times, percent));
      const auto count = static_cast<std::int64_t>(times.size());
      AppendCells(row, count, times.empty() ? Cell() : Cell(at[side]));
    }
    const bool both = !base.empty() && !comparison.empty();
    AppendCells(row, both ? Cell(at[1] - at[0]) : Cell(),
                both && at[0] > 0 ? Cell(at[1] / at[0]) : Cell());
    sheet.rows.push_back(std::move(row));
  }
}

std::string Change(TimeNs base, TimeNs comparison) {
  return fmt::format("{} -> {} ({:+.1f} %)", AmountText(Quantity::kTime, base),
                     AmountText(Quantity::kTime, comparison), PercentOf(comparison - base, base));
}

// Batches that hold as much and take longer: the model got slower, not the load.
void AddSlowerBatches(const Place& place, const BatchesByName& base,
                      const BatchesByName& comparison, Report& report) {
  constexpr double kSlower = 1.1, kAlike = 0.1;
  constexpr std::size_t kFew = 20;
  for (const auto& [name, before] : base) {
    const auto found = comparison.find(name);
    if (found == comparison.end() || name == "scheduling") continue;
    const BatchTimes& after = found->second;
    if (before.lengths.size() < kFew || after.lengths.size() < kFew) continue;
    const auto alike = [&](double a, double b) {
      return std::abs(a - b) <= kAlike * std::max(a, b);
    };
    if (!alike(before.MeanRequests(), after.MeanRequests()) ||
        !alike(before.MeanTokens(), after.MeanTokens()))
      continue;
    const TimeNs base_time = Percentile(before.lengths, 50);
    const TimeNs time = Percentile(after.lengths, 50);
    if (static_cast<double>(time) < kSlower * static_cast<double>(base_time)) continue;
    const std::string where = NameOf(place);
    report.story.push_back(Say("{} run longer with as many requests and tokens: {}",
                               where.empty() ? std::string(Translated(name))
                                             : fmt::format("{}: {}", where, Translated(name)),
                               Change(base_time, time)));
  }
}

void AddGroup(const Place& place, const Group& base, const Group& comparison, Sheet& sheet) {
  for (std::size_t i = 0; i < kRequestTimes; ++i)
    AddRows(place, std::string(Translated(TitleOf(static_cast<RequestTime>(i)))), base.times[i],
            comparison.times[i], sheet);
  for (const auto& [name, of_base] : base.batches) {
    const auto found = comparison.batches.find(name);
    AddRows(place, std::string(Translated(name)), of_base.lengths,
            found == comparison.batches.end() ? SortedTimes() : found->second.lengths, sheet);
  }
}

void TellTimes(const Place& place, const Group& base, const Group& comparison, Report& report) {
  const std::string where = NameOf(place);
  for (std::size_t i = 0; i < kRequestTimes; ++i) {
    const SortedTimes &before = base.times[i], &after = comparison.times[i];
    if (before.empty() || after.empty()) continue;
    const std::string title(Translated(TitleOf(static_cast<RequestTime>(i))));
    report.story.push_back(Say("{}: p50 {}, p99 {}",
                               where.empty() ? title : fmt::format("{}, {}", where, title),
                               Change(Percentile(before, 50), Percentile(after, 50)),
                               Change(Percentile(before, 99), Percentile(after, 99))));
    if (!where.empty()) return;  // of parts the time to the first token is enough
  }
}

// Groups that only one side has.
void TellUnmatched(const Groups& groups, const Groups& others, std::string_view title,
                   Report& report) {
  std::vector<std::string> names;
  for (const auto& [place, group] : groups)
    if (!others.contains(place) && place.dp_rank < 0) names.push_back(NameOf(place));
  if (!names.empty()) report.story.push_back(fmt::format("{} {}", title, fmt::join(names, ", ")));
}

void RunServerRequests(const CompareInput& input, Report& report) {
  const auto has_any = [&](Side side) {
    const RankTrace& trace = input.Trace(side);
    return !trace.server_requests.Empty() || !trace.server_batches.Empty();
  };
  if (input.options().compat || !has_any(Side::kBase) || !has_any(Side::kComparison)) return;
  const RankTrace &base = input.Trace(Side::kBase), &comparison = input.Trace(Side::kComparison);
  // Of a single instance on both sides the names do not matter.
  const bool by_instance = InstancesOf(base).size() > 1 || InstancesOf(comparison).size() > 1;
  Sheet sheet = CompareSheet(
      "RequestCompare",
      {{PlainColumn("Instance", "The instance; empty: all together, or the only one.", 20),
        PlainColumn("DP Rank", "The data parallel rank; empty: all, or unknown.", 10),
        BoldColumn("Quantity", "A time of requests, or of batches of a phase."),
        PlainColumn("Percentile", "p50, p90, p99 or max.", 12)},
       ForBothSides({PlainColumn("Count", "Requests or batches of which the time is known.", 12),
                     Decimals("Time(ms)", "The time at the percentile, in ms.")}),
       {Difference("Diff Time(ms)", "Time of the comparison minus that of the base, in ms."),
        Growth("Diff Ratio", RatioMeaning("the time"))}},
      input);
  const Groups before = GroupsOf(base, by_instance), after = GroupsOf(comparison, by_instance);
  constexpr std::size_t kMostParts = 8;  // that are told of
  std::size_t told = 0;
  for (const auto& [place, of_base] : before) {
    const auto found = after.find(place);
    if (found == after.end()) continue;
    AddGroup(place, of_base, found->second, sheet);
    const bool is_all = place == Place{};
    if (is_all || (place.dp_rank < 0 && told++ < kMostParts))
      TellTimes(place, of_base, found->second, report);
    // Of several instances it matters which ones are slower.
    if (is_all != by_instance && place.dp_rank < 0)
      AddSlowerBatches(place, of_base.batches, found->second.batches, report);
  }
  TellUnmatched(before, after, Translated("only in the base:"), report);
  TellUnmatched(after, before, Translated("only in the comparison:"), report);
  report.sheets.push_back(std::move(sheet));
}

Verdict JudgeServerRequests(const RankFacts& facts) {
  if (facts.kind == CaptureKind::kServer) return {};
  return JudgeReadable(facts).LeaveApart(
      true, "a profile of a device has no requests; msServiceProfiler records them",
      "give the directory that ms_service_profiler.parse wrote");
}

}  // namespace

Comparison ServerRequests() {
  return {"request",       "requests of a server", "Requests of a server, by percentile",
          Tables::kServer, RunServerRequests,      JudgeServerRequests};
}

}  // namespace mpa::comparisons
