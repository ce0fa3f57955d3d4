// SPDX-License-Identifier: Apache-2.0
// The slowest kernels, operators and events in a few lines.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"
#include "top.h"

namespace mpa::top_operators {
namespace {

constexpr std::size_t kShownKernels = 5, kShownOperators = 3, kShownEvents = 4;

std::string ShortName(const std::string& name, std::size_t columns) {
  return CutEnd(Printable(ShortFunctionName(name)), columns);
}

std::string BoundText(const Top& top) {
  const UnitLoads loads = top.Loads();
  if (BusiestLoad(loads) <= 0) return "-";
  return fmt::format("{} {:.0f} %", BusiestUnit(loads), BusiestLoad(loads) / 10.0);
}

// "4096,4096 by aten::mm at model.py:12"; what is unknown is left out.
std::string PlaceText(const std::string& shapes, const std::string& launched_by,
                      const std::string& call_site) {
  std::string text = CutEnd(Printable(shapes), NameColumns(36));
  const auto add = [&](const char* word, const std::string& more) {
    if (more.empty()) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", word, Printable(more));
  };
  add("by", launched_by);
  add("at", call_site);
  return CutEnd(text, ScreenColumns() - 4);
}

void AddTop(const std::vector<Top>& all, std::size_t shown, TimeNs steps, const char* title,
            Report& report) {
  if (all.empty()) return;
  const bool with_busy = all.front().kind != Kind::kOperator;
  // As wide as the names are, where the screen has room.
  constexpr std::size_t kColumns = 22;
  std::vector<std::string> names;
  std::size_t columns = kColumns;
  for (std::size_t i = 0; i < std::min(shown, all.size()); ++i) {
    const std::string& name = all[i].type.empty() ? all[i].name : all[i].type;
    names.push_back(ShortenName(Printable(ShortFunctionName(name)), NameColumns(kColumns)));
    columns = std::max(columns, ColumnsOf(names.back()));
  }
  const auto cell = [&](const std::string& name) {
    return name + std::string(columns - ColumnsOf(name), ' ');
  };
  report.lines.push_back(fmt::format("{} {:>7} {:>10} {:>9} {:>9} {:>6}{}", cell(title), "calls",
                                     "total ms", "mean us", "max us", "% step",
                                     with_busy ? " busy" : ""));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Top& top = all[i];
    report.lines.push_back(fmt::format("{} {:>7} {:>10.3f} {:>9.1f} {:>9.1f} {:>6.1f}{}",
                                       cell(names[i]), top.calls, InMs(top.total), top.Mean() / 1e3,
                                       InUs(top.max), PercentOf(top.in_steps, steps),
                                       with_busy ? " " + BoundText(top) : ""));
    const std::string place = PlaceText(top.shapes, top.launched_by, top.call_site);
    if (!place.empty()) report.lines.push_back("    " + place);
  }
}

void AddEvents(const Ranks& ranks, TimeNs over, Report& report) {
  std::vector<std::pair<std::int64_t, const SlowEvent*>> events;
  std::int64_t count = 0;
  for (const auto& [rank, part] : ranks) {
    count += static_cast<std::int64_t>(part.events.size()) + part.events_left_out;
    for (const SlowEvent& event : part.events) events.push_back({rank, &event});
  }
  const std::string threshold = AmountText(Quantity::kTime, over);
  if (events.empty()) {
    report.lines.push_back(fmt::format("no event is longer than {}", threshold));
    return;
  }
  const std::size_t shown = std::min(kShownEvents, events.size());
  std::ranges::stable_sort(
      events, [](const auto& a, const auto& b) { return a.second->dur > b.second->dur; });
  report.lines.push_back(fmt::format("{} longer than {}; the longest (all: SlowEvents)",
                                     Counted(count, "event"), threshold));
  report.lines.push_back(
      fmt::format("{:>6} {:>6} {:>11}  {:<13} {}", "rank", "step", "ms", "kind", "name"));
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [rank, event] = events[i];
    const std::string site =
        event->call_site.empty()
            ? ""
            : " at " + ShortenName(Printable(event->call_site), NameColumns(40) / 2);
    const std::string name = ShortName(event->name, NameColumns(39) - ColumnsOf(site)) + site;
    report.lines.push_back(fmt::format("{:>6} {:>6} {:>11.3f}  {:<13} {}", RankNumber(rank),
                                       event->step >= 0 ? std::to_string(event->step) : "-",
                                       InMs(event->dur), NameOf(event->kind), name));
  }
}

// Ranks on which one of the slowest kernels takes another time than on the others.
void AddOutliers(const Ranks& ranks, const std::vector<Top>& kernels, Report& report) {
  constexpr std::size_t kCompared = 3;
  OutlierLines outliers;
  for (std::size_t i = 0; i < std::min(kCompared, kernels.size()); ++i) {
    const Top& wanted = kernels[i];
    std::vector<RankValue> times;
    for (const auto& [rank, part] : ranks) {
      const auto same = std::ranges::find_if(part.kernels, [&](const Top& top) {
        return top.kind == wanted.kind && top.type == wanted.type && top.shapes == wanted.shapes &&
               top.core == wanted.core;
      });
      if (same != part.kernels.end()) times.push_back({rank, InMs(same->total)});
    }
    if (!times.empty())
      outliers.Add(ShortName(wanted.type, 30), times,
                   [](double ms) { return fmt::format("{:.3f} ms", ms); });
  }
  outliers.AppendTo(report.lines);
}

}  // namespace

void AddLines(const Ranks& ranks, std::size_t top, TimeNs over, Report& report) {
  const std::vector<Top> kernels = Together(ranks, &TopOfRank::kernels);
  const std::vector<Top> operators = Together(ranks, &TopOfRank::operators);
  TimeNs steps = 0, busy = 0;
  bool has_python = false, has_shapes = false, has_loads = false, is_gpu = false;
  for (const auto& [rank, part] : ranks) {
    steps += part.steps;
    busy += part.busy;
    has_python = has_python || part.has_python;
    has_shapes = has_shapes || part.has_shapes;
    has_loads = has_loads || part.has_loads;
    is_gpu = is_gpu || part.is_gpu;
  }
  if (!kernels.empty()) {
    const Top& first = kernels.front();
    report.lines.push_back(
        fmt::format("{} takes most: {} of {} of device work, {}", ShortName(first.type, 24),
                    AmountText(Quantity::kTime, first.total), AmountText(Quantity::kTime, busy),
                    Counted(static_cast<std::int64_t>(ranks.size()), "rank")));
  }
  AddTop(kernels, std::min(top, kShownKernels), steps, "kernels", report);
  AddTop(operators, std::min(top, kShownOperators), steps, "operators, own kernels", report);
  AddEvents(ranks, over, report);
  AddOutliers(ranks, kernels, report);
  std::string missing;
  const auto add = [&](bool known, const char* what, const char* setting) {
    if (!known) missing += fmt::format("{}{} ({})", missing.empty() ? "" : ", ", what, setting);
  };
  add(has_python, "call sites", "with_stack=True");
  add(has_shapes, "shapes", "record_shapes=True");
  add(has_loads || is_gpu, "busy units", "aic_metrics=PipeUtilization");
  if (!missing.empty()) {
    for (std::string& line : Wrapped("not recorded: " + missing, 2))
      report.lines.push_back(std::move(line));
  }
}

}  // namespace mpa::top_operators
