// SPDX-License-Identifier: Apache-2.0
// A recipe over all ranks of a job.
#include "mpa/pipeline/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

#include "load_rank.h"
#include "map_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/parallel.h"
#include "whole_parts.h"

namespace mpa {

MappedRanks MapRanks(const Recipe& recipe, const ClusterRequest& request) {
  return std::move(MapRanks({RecipeRun{&recipe, request.arguments}}, request).front());
}

std::vector<MappedRanks> MapRanks(const std::vector<RecipeRun>& runs,
                                  const ClusterRequest& request) {
  std::vector<MappedRanks> results;
  if (ReadApart(runs, request)) {
    for (const RecipeRun& run : runs) {
      try {
        results.push_back(std::move(MapRanks({run}, request).front()));
      } catch (const Error& error) {
        // The others can do without records of a server; reducing none says that there are none.
        if (!run.recipe->of_servers || error.kind() != ErrorKind::kInput) throw;
        results.emplace_back();
      }
    }
    return results;
  }
  const FoundRanks found = FindRanksOf(runs, request);
  std::vector<std::vector<MappedRank>> mapped(
      runs.size(), std::vector<MappedRank>(found.ranks.size()));  // by run and rank
  MemoryBudget budget(request.memory_bytes);
  const auto read = [&](const std::vector<RecipeRun>& wanted, std::size_t i) {
    const MemoryBudget::Share share(budget, found.ranks[i].input);
    return MapRank(wanted, request, found.ranks[i]);
  };
  std::deque<WholeParts> whole;
  for (const RecipeRun& run : runs)
    whole.emplace_back(*run.recipe, request.reduce_bytes, found.ranks.size());
  ParallelFor(found.ranks.size(), [&](std::size_t i) {
    std::vector<MappedRank> of_rank = read(runs, i);
    for (std::size_t run = 0; run < runs.size(); ++run) {
      mapped[run][i] = std::move(of_rank[run]);
      whole[run].Keep(i, {found.ranks[i].rank, mapped[run][i].part}, mapped[run][i]);
    }
  });
  const RanksOfJob job = JobOf(runs, found, request);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    whole[run].Choose(
        runs[run].arguments, job.ranks, mapped[run], [&](const std::vector<std::size_t>& missing) {
          ParallelFor(missing.size(), [&](std::size_t i) {
            mapped[run][missing[i]] = std::move(read({runs[run]}, missing[i]).front());
          });
        });
    results.push_back(Together(job, std::move(mapped[run])));
  }
  return results;
}

namespace {

constexpr const char* kColumn = "group";

template <typename T>
void MoveAll(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

bool HaveEqualColumns(const Sheet& sheet, const Sheet& joined) {
  return sheet.columns.size() + 1 == joined.columns.size() &&
         std::equal(sheet.columns.begin(), sheet.columns.end(), joined.columns.begin(),
                    [](const Column& a, const Column& b) { return a.name == b.name; });
}

// The sheet of all groups for the rows of one; a new one where their columns differ.
Sheet& SheetFor(const std::string& group, const Sheet& sheet, Report& report) {
  const auto found = std::ranges::find(report.sheets, sheet.name, &Sheet::name);
  if (found != report.sheets.end() && HaveEqualColumns(sheet, *found)) return *found;
  const bool is_other = found != report.sheets.end();
  Sheet& added = report.sheets.emplace_back(sheet);
  added.rows.clear();
  if (is_other) added.name = fmt::format("{} {}", sheet.name, group);
  constexpr double kWidth = 20;
  added.columns.push_back(NamedColumn(kColumn, Format::kText, kWidth,
                                      "The group of captures, where several share ranks."));
  // Rows of different groups are different bars.
  for (Chart& chart : added.charts) chart.labels.emplace_back(kColumn);
  return added;
}

std::string FileNameOf(std::string group) {
  std::replace(group.begin(), group.end(), '/', '_');
  return group;
}

// Appends what a recipe found in a group of captures: its answer below its name, its rows with the
// name in one more column, its files with the name in front of theirs.
void JoinGroup(const std::string& group, Report of_group, Report& report) {
  const std::size_t first_rank = report.ranks.size();
  MoveAll(of_group.ranks, report.ranks);
  for (Sheet& sheet : of_group.sheets) {
    Sheet& joined = SheetFor(group, sheet, report);
    for (Row& row : sheet.rows) {
      row.rank = first_rank + row.rank;
      row.cells.resize(joined.columns.size() - 1);
      row.cells.emplace_back(group);
      joined.rows.push_back(std::move(row));
    }
  }
  if (!report.lines.empty()) report.lines.emplace_back("");
  report.lines.push_back(group + ":");
  MoveAll(of_group.lines, report.lines);
  for (ScreenTable& screen : of_group.screens)
    screen.heading.insert(screen.heading.begin(), group + ":");
  MoveAll(of_group.screens, report.screens);
  for (AdviceCard& card : of_group.advice_cards)
    card.scope = fmt::format("{} {}", group, card.scope);
  MoveAll(of_group.advice_cards, report.advice_cards);
  MoveAll(of_group.timelines, report.timelines);
  for (PageChart& drawing : of_group.drawings)
    drawing.title = fmt::format("{}: {}", group, drawing.title);
  MoveAll(of_group.drawings, report.drawings);
  for (TextDocument& document : of_group.documents)
    document.file_name = fmt::format("{}_{}", FileNameOf(group), document.file_name);
  MoveAll(of_group.documents, report.documents);
  MoveAll(of_group.sources, report.sources);
  for (const std::string& note : of_group.notes)
    report.notes.push_back(fmt::format("{}: {}", group, note));
}

// A group in which the recipe finds nothing costs a note, unless no group is left.
void ReduceGroups(const Recipe& recipe, const RecipeArguments& arguments, OutputSelection wanted,
                  const MappedRanks& mapped, ClusterOutcome& outcome) {
  std::optional<Error> problem;
  std::size_t reduced = 0;
  for (std::size_t begin = 0, end = 0; begin < mapped.parts.size(); begin = end) {
    const std::string& group = mapped.groups[begin];
    while (end < mapped.parts.size() && mapped.groups[end] == group) ++end;
    const std::vector<RankPart> parts(mapped.parts.begin() + static_cast<std::ptrdiff_t>(begin),
                                      mapped.parts.begin() + static_cast<std::ptrdiff_t>(end));
    try {
      Report report;
      report.absent = mapped.absent;
      recipe.reduce(parts, arguments, wanted, report);
      JoinGroup(group, std::move(report), outcome.report);
      ++reduced;
    } catch (const Error& error) {
      if (!IsBadInput(error)) throw;
      outcome.report.notes.push_back(Say("{}: {}; it is left out", group, error.what()));
      outcome.partial = true;
      problem = error;
    }
  }
  if (reduced == 0 && problem) throw *problem;
}

}  // namespace

ClusterOutcome ReduceRanks(const Recipe& recipe, const RecipeArguments& arguments,
                           OutputSelection wanted, MappedRanks mapped) {
  ClusterOutcome outcome;
  outcome.partial = mapped.partial;
  outcome.report.notes = std::move(mapped.notes);
  outcome.report.facts = std::move(mapped.facts);
  outcome.report.absent = mapped.absent;
  if (mapped.groups.size() == mapped.parts.size()) {
    ReduceGroups(recipe, arguments, wanted, mapped, outcome);
  } else {
    recipe.reduce(mapped.parts, arguments, wanted, outcome.report);
    outcome.partial = outcome.partial || outcome.report.partial;
  }
  return outcome;
}

}  // namespace mpa
