// SPDX-License-Identifier: Apache-2.0
#include "compare_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "agent.h"
#include "command.h"
#include "job_diagnoses.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/progress.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/report/rank_cell.h"
#include "printing.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStemOfSheets = "performance_comparison_result";

bool AllNotesAreWanted(const SheetsDelivery& delivery) {
  return delivery.asked || LogEnabled(LogLevel::kInfo);
}

// What is on the screen is not said twice. Sheets that nobody asked for by name may be missing: the
// sheet Notes says why.
std::vector<std::string> NotesToLog(const Report& report, const SheetsDelivery& delivery,
                                    bool preface_is_shown) {
  std::vector<std::string> notes;
  for (const std::string& note : report.notes) {
    const bool shown = preface_is_shown && note == report.preface;
    const bool of_sheet =
        std::ranges::find(report.not_collected, note) != report.not_collected.end();
    if (!shown && (!of_sheet || AllNotesAreWanted(delivery))) notes.push_back(note);
  }
  return notes;
}

void SayWhereNotesAre(bool any_of_sheets, const SheetsDelivery& delivery) {
  if (!any_of_sheets || AllNotesAreWanted(delivery)) return;
  if (delivery.compat)
    LogNotice("some sheets are missing or lack columns; -v says why");
  else
    LogNotice("some sheets are missing or lack columns; the sheet Notes or -v says why");
}

// The Python tool does not diagnose all ranks, and a single step does not show causes. Only the
// screen has them.
bool LooksForCauses(const CompareRequest& request, const JobDiagnoses& jobs,
                    const SheetsDelivery& delivery) {
  return jobs.AreJobs() && !delivery.compat && !request.base_step;
}

CompareOutcome ComparePair(CompareRequest& request, CapturePair& pair) {
  request.base = std::move(pair.base);
  request.comparison = std::move(pair.comparison);
  CompareOutcome outcome = Compare(request);
  outcome.totals.rank = pair.rank;
  return outcome;
}

// What changed most in each sheet; the Python tool has none of it.
std::vector<ScreenTable> ListsOf(const Report& report, const SheetsDelivery& delivery,
                                 const CompareRequest& request) {
  if (delivery.compat) return {};
  return ChangedLists(report, delivery.asked, request.options.screen_width);
}

// What the Python tool does not have.
void DropAdditions(Report& report) {
  report.preface.clear();
  report.story.clear();
  report.settings.reset();
  report.notes.clear();
}

std::vector<fs::path> WriteFiles(const Report& report, const std::string& stem,
                                 const SheetsDelivery& delivery) {
  if (delivery.types.empty()) return {};
  WrittenReport written = WriteReport(report, delivery.output, stem, delivery.types);
  LogNotes(written.notes);
  return written.paths;
}

}  // namespace

int CompareOneRank(CompareRequest request, CapturePairs ranks, const SheetsDelivery& delivery) {
  CapturePair& first = ranks.pairs.front();
  if (ranks.pairs.size() > 1) {
    LogNotice("comparing rank {} of the {} ranks that both have; --all_ranks compares each",
              RankName(first.rank), ranks.pairs.size());
  } else if (first.rank >= 0) {
    LogNotice("comparing rank {}, the only one that both have", RankName(first.rank));
  }
  for (const std::string& line : UnpairedLines(ranks.unpaired)) LogNotice("{}", line);
  request.notes = std::move(ranks.notes);
  constexpr std::size_t kManyRanks = 64;  // reading them all would take much longer than one
  JobDiagnoses jobs(ranks, delivery.base, delivery.comparison, delivery.open);
  const bool many = jobs.Ranks() > kManyRanks;
  const bool looks = LooksForCauses(request, jobs, delivery) && !many;
  if (many) LogNotice("--all_ranks also looks for causes over all of them");
  if (looks) jobs.Visit(first.rank, request);
  CompareOutcome outcome = ComparePair(request, first);
  Report& report = outcome.report;
  if (looks) {
    std::vector<std::string> causes = jobs.Lines(request.options.screen_width);
    if (!causes.empty()) {
      causes.push_back(fmt::format("rank {}:", RankName(first.rank)));
      report.story.insert(report.story.begin(), causes.begin(), causes.end());
    }
  }
  ClearProgressLine();
  LogNotes(NotesToLog(report, delivery, !delivery.compat && !delivery.exports.json()));
  SayWhereNotesAre(!report.not_collected.empty(), delivery);
  if (delivery.compat) DropAdditions(report);
  if (report.sheets.empty()) {
    Fail(ErrorKind::kInput,
         "nothing to compare; no report was written; see what the captures hold with"
         " 'msprof-analyze check'");
  }
  const bool for_agent = delivery.agent.IsWanted(), json = delivery.exports.json();
  const std::vector<ScreenTable> lists = ListsOf(report, delivery, request);
  std::string text;
  for (const ScreenTable& list : lists) {
    text += (text.empty() && report.story.empty() ? "" : "\n") + FormatTable(list);
    text.pop_back();  // the empty line behind a table
  }
  if (for_agent) delivery.agent.Show(report);
  // Documents have them with the other tables.
  const auto add_lists = [&] {
    report.screens.insert(report.screens.end(), lists.begin(), lists.end());
  };
  if (json) add_lists();
  if (!for_agent) delivery.exports.Show(report);  // also when there is no room for files
  if (!for_agent && !json) Print(text);
  if (!json) add_lists();
  const std::vector<fs::path> paths =
      WriteFiles(report, fmt::format("{}_{}", kStemOfSheets, UtcTimeStamp()), delivery);
  for (const fs::path& path : paths) LogNotice("the details are in {}", path.string());
  delivery.agent.Wrote(paths);
  FinishStdout();
  return outcome.partial || ranks.partial ? kExitPartial : 0;
}

int CompareAllRanks(CompareRequest request, CapturePairs ranks, const SheetsDelivery& delivery) {
  request.wants_totals = true;
  JobDiagnoses jobs(ranks, delivery.base, delivery.comparison, delivery.open);
  const bool looks = LooksForCauses(request, jobs, delivery);
  std::vector<std::string> notes = std::move(ranks.notes);
  std::vector<RankTotals> totals;
  RankTotals most;
  std::vector<std::string> story;
  std::optional<ComparedSettings> settings;
  std::vector<fs::path> files;
  bool partial = ranks.partial, of_sheets = false;
  const std::string time = UtcTimeStamp();
  for (CapturePair& pair : ranks.pairs) {
    try {
      if (looks) jobs.Visit(pair.rank, request);
      CompareOutcome outcome = ComparePair(request, pair);
      Report& report = outcome.report;
      for (const std::string& note : NotesToLog(report, delivery, false)) {
        notes.push_back(fmt::format("rank {}: {}", RankName(pair.rank), note));
      }
      of_sheets = of_sheets || !report.not_collected.empty();
      partial = partial || outcome.partial;
      totals.push_back(outcome.totals);
      if (delivery.compat) DropAdditions(report);
      const std::vector<fs::path> written = WriteFiles(
          report, fmt::format("{}_rank{}_{}", kStemOfSheets, RankFileName(pair.rank), time),
          delivery);
      files.insert(files.end(), written.begin(), written.end());
      if (most.rank < 0 || std::abs(outcome.totals.Change()) > std::abs(most.Change())) {
        most = outcome.totals;
        story = std::move(report.story);
        settings = std::move(report.settings);
      }
    } catch (const Error& error) {
      const bool is_last_hope = totals.empty() && &pair == &ranks.pairs.back();
      const bool of_input =
          error.kind() == ErrorKind::kInput || error.kind() == ErrorKind::kCorrupt;
      if (!of_input || is_last_hope) throw;
      notes.push_back(
          fmt::format("rank {}: {}; the rank is left out", RankName(pair.rank), error.what()));
      ranks.unpaired.push_back({pair.rank, RankState::kDamaged});
      partial = true;
    }
  }
  const std::vector<std::string> causes =
      looks ? jobs.Lines(request.options.screen_width) : std::vector<std::string>();
  ClearProgressLine();
  LogNotes(notes);
  SayWhereNotesAre(of_sheets, delivery);
  std::vector<std::vector<Cell>> of_ranks;
  for (const RankTotals& rank : totals)
    of_ranks.push_back({RankCell(rank.rank), rank.base, rank.comparison});
  Report screen;
  screen.screens.push_back(RanksScreen(delivery.base, delivery.comparison, std::move(totals),
                                       request.options.screen_width));
  screen.lines = ScreenLinesOf(UnpairedLines(ranks.unpaired));
  for (const std::string& line : causes) screen.lines.emplace_back(line);
  if (!story.empty()) screen.lines.push_back(Say("rank {} changed most:", RankName(most.rank)));
  screen.story = std::move(story);
  screen.settings = std::move(settings);
  delivery.agent.Wrote(files);
  if (delivery.agent.IsWanted()) {
    delivery.agent.Show(screen);
    delivery.agent.RestIs("--export_type json");
    AgentTable& table = delivery.agent.Answer().tables.emplace_back();
    table = {.name = "ranks",
             .columns = {"rank", "base_ns", "comparison_ns"},
             .rows = std::move(of_ranks)};
    table.of = table.rows.size();
  } else {
    delivery.exports.Show(screen);
  }
  FinishStdout();
  if (!delivery.types.empty()) {
    LogNotice("the details of each rank are in {}", delivery.output.string());
  }
  return partial ? kExitPartial : 0;
}

}  // namespace mpa
