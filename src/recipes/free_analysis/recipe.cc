// SPDX-License-Identifier: Apache-2.0
// The longest times in which the device of every rank was idle, and why.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "gap_reason.h"
#include "gaps.h"
#include "mpa/base/printable.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"

namespace mpa::free_analysis {

struct Idle {
  Interval time;
  Reason reason;
};

struct IdleOfRank {
  std::vector<Idle> longest;
  std::size_t count = 0;
  TimeNs total = 0, span = 0;
};

template <class Archive>
void serialize(Archive& archive, Idle& idle) {
  Reason& reason = idle.reason;
  archive(idle.time.begin, idle.time.end, EnumField{reason.cause}, reason.framework_idle,
          reason.runtime_idle, reason.text);
}
template <class Archive>
void serialize(Archive& archive, IdleOfRank& part) {
  archive(part.longest, part.count, part.total, part.span);
}

}  // namespace mpa::free_analysis

namespace mpa::recipes {
namespace {

using free_analysis::Cause;
using free_analysis::Idle;
using free_analysis::IdleOfRank;

constexpr std::string_view kTopNum = "top_num";
constexpr std::int64_t kUsualTop = 10;

IdleOfRank MapFreeAnalysis(const RankTrace& trace, const RecipeArguments& arguments) {
  const std::int64_t most = NumberArgument<std::int64_t>(arguments, kTopNum).value_or(kUsualTop);
  const free_analysis::Gaps gaps = free_analysis::FindGaps(trace, static_cast<std::size_t>(most));
  IdleOfRank part{{}, gaps.count, gaps.total, gaps.span};
  for (const free_analysis::Gap& gap : gaps.longest) {
    part.longest.push_back({gap.time, ReasonOf(gap)});
  }
  return part;
}

struct IdleItem {
  std::int64_t rank = -1;
  const Idle& idle;
};

Cell Microseconds(TimeNs time) { return static_cast<double>(time) / 1000; }
Cell Microseconds(const std::optional<TimeNs>& time) { return time ? Microseconds(*time) : Cell(); }

std::vector<ColumnOf<IdleItem>> IdleColumns() {
  using Item = IdleItem;
  const auto column = [](const char* name, const char* title, Format format, const char* meaning) {
    Column result = NamedColumn(name, format, 20, meaning);
    result.in_workbook.title = title;
    return result;
  };
  return {
      {column("rankId", "Rank ID", Format::kInteger, "The rank."),
       [](const Item& item) -> Cell { return item.rank; }},
      {column("startTime(us)", "Start Time(us)", Format::kText, "When the device became idle."),
       [](const Item& item) -> Cell { return MicrosecondsText(item.idle.time.begin); }},
      {column("endTime(us)", "End Time(us)", Format::kText, "When it worked again."),
       [](const Item& item) -> Cell { return MicrosecondsText(item.idle.time.end); }},
      {column("duration(us)", "Duration(us)", Format::kDecimals3, "How long it was idle."),
       [](const Item& item) -> Cell {
         return Microseconds(item.idle.time.end - item.idle.time.begin);
       }},
      {column("pytorchIdleTime(us)", "Pytorch Idle Time(us)", Format::kDecimals3,
              "Between the ends of the operators that launched the work before and behind; empty "
              "where the capture does not say, or other tasks ran."),
       [](const Item& item) -> Cell { return Microseconds(item.idle.reason.framework_idle); }},
      {column("cannIdleTime(us)", "Cann Idle Time(us)", Format::kDecimals3,
              "The same of the calls of CANN."),
       [](const Item& item) -> Cell { return Microseconds(item.idle.reason.runtime_idle); }},
      {column("reason", "Reason", Format::kText, "What the host, or else the device, did."),
       [](const Item& item) -> Cell { return item.idle.reason.text; }}};
}

using Ranks = std::vector<OfRank<IdleOfRank>>;

// By cause how much of the listed idle time it explains, over all ranks.
void AddCauses(const Ranks& ranks, Report& report) {
  struct Share {
    std::size_t count = 0;
    TimeNs time = 0;
  };
  constexpr auto kCauses = static_cast<std::size_t>(LastOf(Cause{})) + 1;
  std::array<Share, kCauses> shares{};
  TimeNs all = 0;
  for (const auto& [id, part] : ranks) {
    for (const Idle& idle : part.longest) {
      Share& share = shares[static_cast<std::size_t>(idle.reason.cause)];
      ++share.count;
      share.time += idle.time.end - idle.time.begin;
      all += idle.time.end - idle.time.begin;
    }
  }
  std::array<std::size_t, kCauses> order{};
  for (std::size_t i = 0; i < kCauses; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shares[a].time > shares[b].time; });
  report.lines.push_back("causes of the longest idle times, by their share of these times");
  for (const std::size_t cause : order) {
    const Share& share = shares[cause];
    if (share.count == 0) continue;
    report.lines.push_back(
        fmt::format("  {:<30} {:>6.1f} %  {} times", NameOf(static_cast<Cause>(cause)),
                    100 * static_cast<double>(share.time) / static_cast<double>(all), share.count));
  }
}

void AddLines(const Ranks& ranks, Report& report) {
  std::vector<RankValue> shares;
  const Idle* longest = nullptr;
  std::int64_t its_rank = -1;
  for (const auto& [id, part] : ranks) {
    if (part.span == 0) continue;
    shares.push_back({id, 100 * static_cast<double>(part.total) / static_cast<double>(part.span)});
    if (part.longest.empty()) continue;
    const Interval time = part.longest.front().time;
    if (longest == nullptr || time.end - time.begin > longest->time.end - longest->time.begin) {
      longest = &part.longest.front();
      its_rank = id;
    }
  }
  if (shares.empty()) return;
  OutlierLines outliers;
  outliers.Add("idle", shares, [](double value) { return fmt::format("{:.1f} %", value); });
  const RankSpread spread = SpreadOf(std::move(shares));
  report.lines.push_back(
      fmt::format("the device is idle {:.1f} % of the time: min {:.1f} %, max {:.1f} % ({})",
                  spread.median, spread.min.value, spread.max.value, RankText(spread.max.rank)));
  if (longest != nullptr) {
    AddCauses(ranks, report);
    report.lines.push_back(fmt::format(
        "longest: {} on {}", AmountText(Quantity::kTime, longest->time.end - longest->time.begin),
        RankText(its_rank)));
    report.lines.push_back(fmt::format("  {:.76}", Printable(longest->reason.text)));
  }
  outliers.AppendTo(report.lines);
}

void AddNotes(const Ranks& ranks, Report& report) {
  std::size_t unknown = 0, layers = 0;
  for (const auto& [id, part] : ranks) {
    for (const Idle& idle : part.longest) {
      unknown += idle.reason.cause == Cause::kUnknown ? 1 : 0;
      layers += idle.reason.cause == Cause::kHost ? 1 : 0;
    }
  }
  if (unknown > 0) {
    report.notes.push_back(fmt::format(
        "for {} idle times the capture does not say what dispatched the work around them; collect "
        "with activities CPU and NPU and profiler_level=Level1; work of captured graphs and of "
        "compiled models is not dispatched one by one",
        unknown));
  }
  if (layers > 0) {
    report.notes.push_back(
        fmt::format("of {} idle times the operators are not recorded; collect with the activity "
                    "CPU to separate the framework from CANN",
                    layers));
  }
}

void ReduceFreeAnalysis(const Ranks& ranks, const RecipeArguments&, Wanted wanted, Report& report) {
  if (wanted.sheets) {
    const auto columns = IdleColumns();
    Sheet sheet = SheetOf("FreeAnalysis", columns, {"free_analysis", TextFile::Unit::kAsTheyAre});
    for (const auto& [id, part] : ranks) {
      const std::size_t rank = BeginRank(id, report);
      for (const Idle& idle : part.longest) AddRow(columns, {id, idle}, rank, sheet);
    }
    report.sheets.push_back(std::move(sheet));
  }
  AddNotes(ranks, report);
  if (wanted.screen != Detail::kNone) AddLines(ranks, report);
}

Verdict JudgeFreeAnalysis(const RankFacts& facts) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.CannotRun()) return verdict;
  if (facts.recorded.device_tasks == Recorded::kNo) {
    return CannotRun("no device work was recorded", DeviceSetting(facts));
  }
  verdict.AddLack(facts.recorded.host_ops == Recorded::kNo,
                  "no operators of the host; the framework cannot be separated from CANN",
                  "activities=[CPU, NPU]");
  return verdict;
}

}  // namespace

Recipe FreeAnalysis() {
  return MakeRecipe<MapFreeAnalysis, ReduceFreeAnalysis>(
      {.name = "free_analysis",
       .folder = "FreeAnalysis",
       .summary = "the longest idle times of the device, and why",
       .needs = Tables::kOverlaps | Tables::kKernels | Tables::kDeviceTasks |
                Tables::kCommunications | Tables::kScheduleKernels | Tables::kHostOps |
                Tables::kLaunches | Tables::kHostCalls | Tables::kCommTasks,
       .parameters = {{kTopNum, "N", "Idle times of each rank to explain [default: 10]",
                       RecipeParameter::Value::kCount}},
       .can_run = JudgeFreeAnalysis});
}

}  // namespace mpa::recipes
