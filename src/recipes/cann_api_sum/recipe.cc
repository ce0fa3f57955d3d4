// SPDX-License-Identifier: Apache-2.0
// How long the host spent in calls of CANN, on every rank.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "mpa/recipe/arguments.h"
#include "mpa/recipe/duration_sample.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/member_columns.h"

namespace mpa::recipes {
namespace {

struct ApiCalls {
  std::vector<std::pair<std::string, DurationSample>> by_name;
};

// "launch" of Node@launch.
std::string_view WithoutLevel(std::string_view name) {
  const std::size_t at = name.find('@');
  return at == std::string_view::npos ? name : name.substr(at + 1);
}

ApiCalls MapCannApiSum(const RankTrace& trace, const RecipeArguments&) {
  const HostCalls& calls = trace.host_calls;
  std::map<std::string, std::vector<TimeNs>, std::less<>> durations;
  std::map<StringId, std::vector<TimeNs>*> of_text;
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    std::vector<TimeNs>*& values = of_text[calls.name[i]];
    if (values == nullptr) {
      values = &durations[std::string(WithoutLevel(trace.strings.View(calls.name[i])))];
    }
    values->push_back(calls.dur[i]);
  }
  ApiCalls part;
  for (auto& [name, values] : durations) {
    part.by_name.emplace_back(name, DurationSample(std::move(values)));
  }
  return part;
}

// The standard deviation of all values, as the reference gives it for one rank (n) and for several
// (n - 1).
double DeviationOf(const DurationStats& stats, bool of_population) {
  if (!stats.deviation) return 0;
  const auto n = static_cast<double>(stats.count);
  return of_population ? *stats.deviation * std::sqrt((n - 1) / n) : *stats.deviation;
}

struct ApiItem {
  std::string name;
  DurationStats stats;
  double ratio = 0, deviation = 0;
  std::int64_t rank = -1;
  std::string min_ranks{}, max_ranks{};
};

using Columns = std::vector<ColumnOf<ApiItem>>;

ColumnOf<ApiItem> Real(const char* name, int decimals, const char* meaning,
                       Cell (*cell)(const ApiItem&)) {
  Column column = NamedColumn(name, Format::kDecimals2, 14, meaning);
  column.decimals = decimals;
  return {std::move(column), cell};
}
ColumnOf<ApiItem> Whole(const char* name, const char* meaning, Cell (*cell)(const ApiItem&)) {
  return {NamedColumn(name, Format::kInteger, 14, meaning), cell};
}
ColumnOf<ApiItem> Words(const char* name, double width, const char* meaning,
                        Cell (*cell)(const ApiItem&)) {
  return {NamedColumn(name, Format::kText, width, meaning), cell};
}

template <auto kMember>
constexpr Cell (*kOfStats)(const ApiItem&) = Member<&ApiItem::stats, kMember>;

// The columns of both sheets. The reference puts the shortest call before the quartiles in one and
// behind them in the other.
Columns SharedColumns(ColumnOf<ApiItem> ratio, bool min_first) {
  using Stats = DurationStats;
  Columns columns = {
      Words("name", 40, "The call.", Member<&ApiItem::name>),
      std::move(ratio),
      Whole("totalTimeNs", "Time of all calls, in ns; calls within calls count in both.",
            kOfStats<&Stats::sum>),
      Whole("totalCount", "Number of calls.", kOfStats<&Stats::count>),
      Real("averageNs", 1, "Mean of a call, in ns.", kOfStats<&Stats::mean>),
      Real("Q1Ns", 1, "First quartile, in ns.", kOfStats<&Stats::q1>),
      Real("medNs", 1, "Median, in ns.", kOfStats<&Stats::median>),
      Real("Q3Ns", 1, "Third quartile, in ns.", kOfStats<&Stats::q3>),
      Whole("maxNs", "Longest call, in ns.", kOfStats<&Stats::max>),
      Real("stdev", 1, "Standard deviation, in ns.", Member<&ApiItem::deviation>)};
  columns.insert(columns.begin() + (min_first ? 5 : 8),
                 Whole("minNs", "Shortest call, in ns.", kOfStats<&Stats::min>));
  return columns;
}

Columns RankColumns() {
  Columns columns =
      SharedColumns(Real("durationRatio", 2, "Share of the time of the rank, in percent.",
                         Member<&ApiItem::ratio>),
                    /*min_first=*/true);
  columns.push_back(Whole("rank", "The rank.", Member<&ApiItem::rank>));
  return columns;
}

Columns AllColumns() {
  Columns columns = SharedColumns(
      Real("timeRatio", 1, "Share of the time of all ranks, in percent.", Member<&ApiItem::ratio>),
      /*min_first=*/false);
  columns.push_back(Words("minRank", 12, "The ranks with the shortest call, joined by ', '.",
                          Member<&ApiItem::min_ranks>));
  columns.push_back(Words("maxRank", 12, "The ranks with the longest call, joined by ', '.",
                          Member<&ApiItem::max_ranks>));
  return columns;
}

// The largest sum first.
void Finish(std::vector<ApiItem>& items) {
  TimeNs total = 0;
  for (const ApiItem& item : items) total += item.stats.sum;
  for (ApiItem& item : items) {
    if (total > 0) {
      item.ratio = 100.0 * static_cast<double>(item.stats.sum) / static_cast<double>(total);
    }
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const ApiItem& a, const ApiItem& b) { return a.stats.sum > b.stats.sum; });
}

std::vector<ApiItem> ItemsOf(const ApiCalls& part, std::int64_t rank) {
  std::vector<ApiItem> items;
  for (const auto& [name, sample] : part.by_name) {
    ApiItem item{.name = name, .stats = StatsOf(sample), .rank = rank};
    item.deviation = DeviationOf(item.stats, /*of_population=*/true);
    items.push_back(std::move(item));
  }
  Finish(items);
  return items;
}

using Ranks = std::vector<OfRank<ApiCalls>>;

// Quartiles are those of all calls together.
std::vector<ApiItem> AllRanks(const Ranks& ranks) {
  struct Call {
    DurationSample sample;
    TimeNs min = 0, max = 0;
    std::vector<std::int64_t> min_ranks, max_ranks;
  };
  std::map<std::string, Call> calls;
  for (const auto& rank : ranks) {
    for (const auto& [name, sample] : rank.part.by_name) {
      const TimeNs min = sample.Values().front().first, max = sample.Values().back().first;
      const auto [found, is_new] = calls.try_emplace(name);
      Call& call = found->second;
      if (is_new || min < call.min) call.min_ranks.clear();
      if (is_new || max > call.max) call.max_ranks.clear();
      if (is_new || min <= call.min) {
        call.min = min;
        call.min_ranks.push_back(rank.rank);
      }
      if (is_new || max >= call.max) {
        call.max = max;
        call.max_ranks.push_back(rank.rank);
      }
      call.sample.Merge(sample);
    }
  }
  std::vector<ApiItem> items;
  for (const auto& [name, call] : calls) {
    ApiItem item{.name = name, .stats = StatsOf(call.sample)};
    item.deviation = DeviationOf(item.stats, /*of_population=*/ranks.size() == 1);
    item.min_ranks = fmt::format("{}", fmt::join(call.min_ranks, ", "));
    item.max_ranks = fmt::format("{}", fmt::join(call.max_ranks, ", "));
    items.push_back(std::move(item));
  }
  Finish(items);
  return items;
}

void AddLines(const Ranks& ranks, const std::vector<ApiItem>& all, Report& report) {
  TimeNs total = 0;
  for (const ApiItem& item : all) total += item.stats.sum;
  report.lines.push_back(fmt::format("calls of CANN on {} rank{}: {:.3f} ms", ranks.size(),
                                     ranks.size() == 1 ? "" : "s",
                                     static_cast<double>(total) / 1e6));
  report.lines.push_back(fmt::format("  {:<38} {:>7} {:>8} {:>11} {:>10}", "call", "share", "count",
                                     "sum ms", "median us"));
  constexpr std::size_t kShown = 10;
  for (std::size_t i = 0; i < std::min(kShown, all.size()); ++i) {
    const ApiItem& item = all[i];
    report.lines.push_back(fmt::format(
        "  {:<38.38} {:>5.1f} % {:>8} {:>11.3f} {:>10.1f}", item.name, item.ratio, item.stats.count,
        static_cast<double>(item.stats.sum) / 1e6, item.stats.median / 1e3));
  }
  if (all.size() > kShown)
    report.lines.push_back(fmt::format("  ... {} more", all.size() - kShown));
}

void ReduceCannApiSum(const Ranks& ranks, const RecipeArguments&, Wanted wanted, Report& report) {
  const std::vector<ApiItem> all = AllRanks(ranks);
  if (wanted.sheets) {
    const Columns rank_columns = RankColumns(), all_columns = AllColumns();
    Sheet of_ranks = SheetOf("CannApiSumRank", rank_columns, {"rank_stats"});
    Sheet sums = SheetOf("CannApiSum", all_columns, {"all_stats"});
    for (const auto& [id, part] : ranks) {
      const std::size_t rank = BeginRank(id, report);
      for (const ApiItem& item : ItemsOf(part, id)) AddRow(rank_columns, item, rank, of_ranks);
    }
    for (const ApiItem& item : all) AddRow(all_columns, item, 0, sums);
    report.sheets = {std::move(of_ranks), std::move(sums)};
  }
  if (wanted.screen != Detail::kNone && !all.empty()) AddLines(ranks, all, report);
}

Verdict JudgeCannApiSum(const RankFacts& facts) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.CannotRun()) return verdict;
  if (IsKineto(facts.kind)) return CannotRunOnKineto(facts, "have no calls of CANN");
  if (facts.kind == CaptureKind::kNpuText && facts.settings && facts.settings->level == "Level0") {
    return CannotRun("no CANN calls in text captures of Level0",
                     "profiler_level=Level1, or export_type=Db");
  }
  return verdict;
}

}  // namespace

Recipe CannApiSum() {
  return MakeRecipe<MapCannApiSum, ReduceCannApiSum>(
      {.name = "cann_api_sum",
       .folder = "CannApiSum",
       .summary = "how long the host spent in calls of CANN",
       .needs = Tables::kHostCalls,
       .can_run = JudgeCannApiSum});
}

}  // namespace mpa::recipes
