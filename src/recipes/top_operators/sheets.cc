// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "mpa/report/member_columns.h"
#include "top.h"

namespace mpa::top_operators {
namespace {

struct TopItem {
  std::int64_t rank = -1;
  const Top* top = nullptr;
  TimeNs steps = 0;  // of all ranks that it is of
};

std::vector<ColumnOf<TopItem>> TopColumns(bool with_rank, bool of_operators) {
  using Item = TopItem;
  std::vector<ColumnOf<Item>> columns;
  const auto add = [&](ColumnOf<Item> column) { columns.push_back(std::move(column)); };
  if (with_rank) add(CountColumn<&Item::rank>("rankId", 10, "The rank."));
  if (of_operators) {
    add(TextColumn<&Item::top, &Top::name>("name", 36, "The operator."));
  } else {
    add(TextColumn<&Item::top, &Top::kind>("kind", 14, "kernel, communication or copy."));
    add(TextColumn<&Item::top, &Top::name>("name", 36,
                                           "Of the longest call; of communication the type."));
    add(TextColumn<&Item::top, &Top::type>("type", 24,
                                           "Calls of one type, shapes and core are one row."));
    add(TextColumn<&Item::top, &Top::core>("core", 16, "The kind of core."));
  }
  add(TextColumn<&Item::top, &Top::shapes>("inputShapes", 36,
                                           "Shapes of the inputs; empty: unknown."));
  add(CountColumn<&Item::top, &Top::calls>(
      "calls", 10, of_operators ? "Calls that launched device work." : "How often it ran."));
  add(CountColumn<&Item::top, &Top::total>(
      "totalNs", 16,
      of_operators ? "Device time of the kernels and collectives that it launched itself, in ns."
                   : "Its time on the device, in ns."));
  add(NumberColumn<&Item::top, &Top::Mean>("meanNs", Format::kDecimals2, 16, "Of a call, in ns."));
  add(CountColumn<&Item::top, &Top::max>("maxNs", 16, "Of the longest call, in ns."));
  add({NamedColumn("stepShare(%)", Format::kDecimals2, 12,
                   "Its time within the steps, as a share of their length; what runs at once "
                   "counts for each."),
       [](const Item& item) -> Cell {
         if (item.steps <= 0) return {};
         return 100 * static_cast<double>(item.top->in_steps) / static_cast<double>(item.steps);
       }});
  if (of_operators) {
    add(CountColumn<&Item::top, &Top::host>(
        "hostNs", 16, "How long these calls ran on the host, with operators within, in ns."));
  }
  if (!of_operators) {
    add({NamedColumn("bound", Format::kText, 10,
                     "What the busiest unit of the cores does, if it is busy for more than 80 % of "
                     "the time: cube, vector, memory or scalar; else none. Empty: not measured."),
         [](const Item& item) -> Cell {
           const UnitLoads loads = item.top->Loads();
           return std::string(IsUnbound(loads) ? "none" : BusiestUnit(loads));
         }});
    add({NamedColumn("busiestUnit", Format::kText, 10, "What the busiest unit does."),
         [](const Item& item) -> Cell { return std::string(BusiestUnit(item.top->Loads())); }});
    add({NamedColumn("busiestShare(%)", Format::kDecimals2, 12,
                     "For which share of the time it is busy, the mean of all calls by time."),
         [](const Item& item) -> Cell {
           const std::int16_t load = BusiestLoad(item.top->Loads());
           return load > 0 ? Cell(load / 10.0) : Cell();
         }});
    add(TextColumn<&Item::top, &Top::launched_by>(
        "operator", 30, "The operator that launched the longest call; empty: unknown."));
  }
  add(TextColumn<&Item::top, &Top::call_site>(
      "callSite", 30, "The line of the program behind the longest call; empty: unknown."));
  return columns;
}

using EventItem = RowOfRank<SlowEvent>;

std::vector<ColumnOf<EventItem>> EventColumns() {
  using Item = EventItem;
  return {
      CountColumn<&Item::rank>("rankId", 10, "The rank."),
      CountColumn<&Item::row, &SlowEvent::step, kIfKnown>("step", 8, "The step; empty: none."),
      TextColumn<&Item::row, &SlowEvent::kind>("kind", 14,
                                               "kernel, communication, copy or operator."),
      CountColumn<&Item::row, &SlowEvent::start>("startNs", 22, "When it began, in ns."),
      CountColumn<&Item::row, &SlowEvent::dur>(
          "durationNs", 16, "How long it took, in ns: on the device, of an operator on the host."),
      TextColumn<&Item::row, &SlowEvent::name>("name", 36, "Its name."),
      TextColumn<&Item::row, &SlowEvent::shapes>("inputShapes", 36,
                                                 "Shapes of the inputs; empty: unknown."),
      TextColumn<&Item::row, &SlowEvent::launched_by>(
          "operator", 30, "The operator that launched it; empty: unknown."),
      TextColumn<&Item::row, &SlowEvent::call_site>("callSite", 30,
                                                    "The line of the program; empty: unknown.")};
}

void AddTop(const char* name, const char* of_ranks, const Ranks& ranks, std::size_t top,
            std::vector<Top> TopOfRank::*list, Report& report) {
  const bool of_operators = list == &TopOfRank::operators;
  ItemSheet all(name, TopColumns(false, of_operators));
  ItemSheet each(of_ranks, TopColumns(true, of_operators));
  TimeNs steps = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const TopOfRank& part = ranks[i].part;
    steps += part.steps;
    for (std::size_t row = 0; row < std::min(top, (part.*list).size()); ++row)
      each.Add({ranks[i].rank, &(part.*list)[row], part.steps}, i);
  }
  const std::vector<Top> together = Together(ranks, list);
  for (std::size_t row = 0; row < std::min(top, together.size()); ++row)
    all.Add({-1, &together[row], steps});
  report.sheets.push_back(std::move(all.sheet));
  report.sheets.push_back(std::move(each.sheet));
}

}  // namespace

void AddSheets(const Ranks& ranks, std::size_t top, Report& report) {
  AddTop("TopKernels", "TopKernelsOfRanks", ranks, top, &TopOfRank::kernels, report);
  AddTop("TopOperators", "TopOperatorsOfRanks", ranks, top, &TopOfRank::operators, report);
  ItemSheet events("SlowEvents", EventColumns());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const SlowEvent& event : ranks[i].part.events) events.Add({ranks[i].rank, &event}, i);
  }
  report.sheets.push_back(std::move(events.sheet));
}

}  // namespace mpa::top_operators
