// SPDX-License-Identifier: Apache-2.0
#include "module_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"
#include "mpa/report/screen_list.h"

namespace mpa {
namespace {

using Ranks = std::vector<OfRank<ModuleStatistic>>;

// A line of the list: times by position of the rank.
struct ListRow {
  std::string name;
  std::vector<TimeNs> times;

  TimeNs Total() const { return std::accumulate(times.begin(), times.end(), TimeNs{0}); }
};

TimeNs KernelTime(const ModuleCoverage& coverage) {
  return coverage.in_modules + coverage.outside_modules + coverage.without_op;
}

// The most expensive module first.
std::vector<ListRow> OwnTimes(const Ranks& ranks) {
  std::map<std::string, std::vector<TimeNs>> times;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const ModuleStatisticRow& row : ranks[i].part.rows) {
      auto& of_ranks = times[row.parent.empty() ? row.module : row.parent + "/" + row.module];
      of_ranks.resize(ranks.size());
      of_ranks[i] += row.computed;
    }
  }
  std::vector<ListRow> rows;
  rows.reserve(times.size());
  for (auto& [path, of_ranks] : times) {
    ListRow row{path, std::move(of_ranks)};
    if (row.Total() > 0) rows.push_back(std::move(row));  // others only communicate
  }
  StableSort(rows, std::greater(), &ListRow::Total);
  return rows;
}

template <typename Time>
ListRow RowOf(std::string name, const Ranks& ranks, Time time) {
  ListRow row{std::move(name), {}};
  for (const OfRank<ModuleStatistic>& rank : ranks) row.times.push_back(time(rank.part.coverage));
  return row;
}

// The rows that are not among the first become one.
void FoldSmaller(std::size_t most, std::vector<ListRow>& rows) {
  if (rows.size() <= most + 1) return;
  ListRow smaller{Say("({} smaller modules)", rows.size() - most),
                  std::vector<TimeNs>(rows.front().times.size())};
  for (std::size_t i = most; i < rows.size(); ++i) {
    for (RankIndex rank; rank < smaller.times.size(); ++rank) {
      smaller.times[rank] += rows[i].times[rank];
    }
  }
  rows.resize(most);
  rows.push_back(std::move(smaller));
}

std::vector<RankValue> ValuesOf(const ListRow& row, const Ranks& ranks) {
  std::vector<RankValue> values;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    values.push_back({ranks[i].rank, static_cast<double>(row.times[i])});
  }
  return values;
}

std::string SourceText(const Ranks& ranks) {
  bool ranges = false, calls = false;
  for (const OfRank<ModuleStatistic>& rank : ranks) {
    if (rank.part.rows.empty()) continue;
    (rank.part.source == ModuleSource::kMstxRanges ? ranges : calls) = true;
  }
  if (ranges && calls) return Say("mstx ranges and nn.Module calls");
  return std::string(Translated(ranges ? "mstx ranges" : "nn.Module calls"));
}

}  // namespace

ScreenLines ModuleList(const Ranks& ranks) {
  constexpr std::size_t kMaxModules = 10;
  const ListRow all = RowOf(Say("all kernels"), ranks, KernelTime);
  if (all.Total() == 0) return {};
  std::vector<ListRow> rows = OwnTimes(ranks);
  FoldSmaller(kMaxModules, rows);
  const ListRow outside =
      RowOf(Say("(outside of modules)"), ranks,
            [](const ModuleCoverage& coverage) { return coverage.outside_modules; });
  const ListRow without = RowOf(Say("(operator unknown)"), ranks,
                                [](const ModuleCoverage& coverage) { return coverage.without_op; });
  rows.push_back(outside);
  if (without.Total() > 0) rows.push_back(without);
  if (ranks.size() > 1) rows.push_back(all);

  const auto share = [&](TimeNs time) {
    return static_cast<double>(time) / static_cast<double>(all.Total());
  };
  const RankSpread kernels = SpreadOf(ValuesOf(all, ranks));
  const AmountScale scale(Quantity::kTime, std::llround(kernels.max.value));
  const auto text = [&](double time) { return scale.Text(scale.Rounded(std::llround(time))); };
  const ListRow collectives = RowOf(
      "collectives", ranks, [](const ModuleCoverage& coverage) { return coverage.collectives; });
  const double inside = share(all.Total() - outside.Total() - without.Total());

  ScreenLines lines;
  OutlierLines outliers;
  const bool several = ranks.size() > 1;
  const std::string median = several ? Say(" (median)") : "";
  lines.push_back(Say("{}: kernels take {} {}{}, {:.1f} % in modules ({})",
                      several ? Counted(static_cast<std::int64_t>(ranks.size()), "rank")
                              : RankText(ranks.front().rank),
                      text(kernels.median), scale.unit(), median, inside * 100, SourceText(ranks)));
  if (collectives.Total() > 0) {
    lines.push_back(Say("collectives take {} {}{} more; the list has kernels only",
                        text(SpreadOf(ValuesOf(collectives, ranks)).median), scale.unit(), median));
  }
  const std::size_t width = several ? 10 : 20;
  std::vector<ScreenColumn> columns = {ScreenText("share", width), ScreenRatio("", 7)};
  if (several) {
    for (const char* header : {ToTranslate("median"), ToTranslate("min"), ToTranslate("max")})
      columns.push_back(ScreenAmount(header, 8, scale));
    columns.push_back(ScreenNumber("of rank", 7));
    columns.push_back(ScreenName(Say("own time ({})", scale.unit()), 0));
  } else {
    columns.push_back(ScreenAmount(scale.unit(), 9, scale));
    columns.push_back(ScreenName("own time", 0));
  }
  const ScreenList list(0, std::move(columns));
  lines.push_back(list.Heading());
  for (const ListRow& row : rows) {
    const double part = share(row.Total());
    const RankSpread spread = SpreadOf(ValuesOf(row, ranks));
    // Parts that were read from files may contradict themselves: no share is above the whole.
    const double shown = std::clamp(part, 0.0, 1.0);
    const std::string bar(static_cast<std::size_t>(std::lround(shown * static_cast<double>(width))),
                          '#');
    lines.push_back(several ? list.Line(bar, part, spread.median, spread.min.value,
                                        spread.max.value, RankName(spread.max.rank), row.name)
                            : list.Line(bar, part, spread.median, row.name));
    constexpr double kSmall = 0.01;
    if (part < kSmall) continue;
    outliers.Add(row.name, ValuesOf(row, ranks),
                 [&](double time) { return fmt::format("{} {}", text(time), scale.unit()); });
  }
  outliers.AppendTo(lines);
  return lines;
}

namespace {

// Modules by their path; a path comes behind those of the modules around it.
struct ModuleRow {
  TimeNs time = 0;  // with the modules within
  std::vector<std::string> children;
};

class ModulesByPath {
 public:
  explicit ModulesByPath(const std::vector<ModuleStatisticRow>& rows) {
    for (const ModuleStatisticRow& row : rows) {
      const std::string path = row.parent.empty() ? row.module : row.parent + "/" + row.module;
      total_ += row.computed;
      for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
        Node(path.substr(0, end)).time += row.computed;
        if (end == std::string::npos) break;
      }
    }
  }

  TimeNs total() const { return total_; }
  std::size_t Size() const { return modules_.size() - 1; }

  // Calls visit(path, depth, time), the largest first, modules within behind those around them.
  void Visit(const std::function<void(const std::string&, std::size_t, TimeNs)>& visit) {
    std::vector<std::pair<std::string, std::size_t>> open;
    const auto push_children = [&](const std::string& path, std::size_t depth) {
      std::vector<std::string> children = modules_[path].children;
      StableSort(children, [&](const std::string& a, const std::string& b) {
        return modules_[a].time < modules_[b].time;  // the largest is taken first
      });
      for (const std::string& child : children) open.emplace_back(child, depth);
    };
    push_children("", 0);
    while (!open.empty()) {
      const auto [path, depth] = open.back();
      open.pop_back();
      visit(path, depth, modules_[path].time);
      push_children(path, depth + 1);
    }
  }

 private:
  ModuleRow& Node(const std::string& path) {
    const auto [found, is_new] = modules_.try_emplace(path);
    if (is_new) {
      const std::size_t slash = path.rfind('/');
      modules_[slash == std::string::npos ? "" : path.substr(0, slash)].children.push_back(path);
    }
    return modules_[path];
  }

  std::map<std::string, ModuleRow> modules_ = {{"", {}}};
  TimeNs total_ = 0;
};

}  // namespace

ScreenLines ModuleScreen(const std::vector<ModuleStatisticRow>& rows, std::size_t most_lines) {
  ModulesByPath modules(rows);
  ScreenLines lines;
  const AmountScale scale(Quantity::kTime, modules.total());
  std::size_t left = 0;
  modules.Visit([&](const std::string& path, std::size_t depth, TimeNs time) {
    if (lines.size() >= most_lines) {
      ++left;
      return;
    }
    constexpr double kBar = 20;
    const double share = modules.total() > 0
                             ? static_cast<double>(time) / static_cast<double>(modules.total())
                             : 0.0;
    const std::string bar(static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBar)),
                          '#');
    const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
    const std::string start = fmt::format("{:<20} {:5.1f} % {:>9} {}  ", bar, share * 100,
                                          scale.Text(scale.Rounded(time)), scale.unit());
    const std::string label = std::string(2 * depth, ' ') + Printable(path.substr(name));
    lines.push_back(start + CutEnd(label, ScreenColumns() - start.size()));
  });
  if (left > 0) lines.push_back(Say("... and {} smaller modules", left));
  return lines;
}

}  // namespace mpa
