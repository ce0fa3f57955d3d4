// SPDX-License-Identifier: Apache-2.0
// The files kernel_details.csv and api_statistic.csv for captures that were stored as databases.
#include <fmt/format.h>

#include "files.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa::recipes {
namespace {

using export_summary::SummaryFile;

struct Summary {
  std::string kernels, calls;  // the texts of the files
  std::int64_t kernel_rows = 0, call_rows = 0;
  bool of_database = false;
};

template <class Archive>
void serialize(Archive& archive, Summary& part) {
  archive(part.kernels, part.calls, part.kernel_rows, part.call_rows, part.of_database);
}

Summary MapExportSummary(const RankTrace& trace, const RecipeArguments&) {
  Summary part;
  part.of_database = trace.source == "database";
  if (!part.of_database) return part;
  SummaryFile kernels = export_summary::KernelDetails(trace);
  SummaryFile calls = export_summary::ApiStatistic(trace);
  part.kernels = std::move(kernels.text);
  part.calls = std::move(calls.text);
  part.kernel_rows = kernels.rows;
  part.call_rows = calls.rows;
  return part;
}

struct FileItem {
  std::int64_t rank = -1;
  std::string file;
  std::int64_t rows = 0;
};

std::vector<ColumnOf<FileItem>> FileColumns() {
  return {{{.name = "rankId", .format = Format::kInteger, .meaning = "The rank."},
           [](const FileItem& item) -> Cell { return item.rank; }},
          {{.name = "file",
            .format = Format::kText,
            .width = 30,
            .meaning = "The file, below the directory ExportSummary."},
           [](const FileItem& item) -> Cell { return item.file; }},
          {{.name = "rows", .format = Format::kInteger, .meaning = "Its rows below the header."},
           [](const FileItem& item) -> Cell { return item.rows; }}};
}

// Directories of ranks; captures that do not say theirs are numbered.
std::string DirectoryOf(std::int64_t rank, int unknown) {
  if (rank >= 0) return fmt::format("rank{}", rank);
  return unknown == 1 ? "rank_unknown" : fmt::format("rank_unknown ({})", unknown);
}

void ReduceExportSummary(const std::vector<OfRank<Summary>>& ranks, const RecipeArguments&, Wanted,
                         Report& report) {
  const auto columns = FileColumns();
  Sheet files = SheetOf("ExportedFiles", columns);
  std::int64_t kernels = 0, calls = 0;
  int unknown = 0;
  for (const auto& [rank, part] : ranks) {
    if (!part.of_database) {
      report.notes.push_back(fmt::format(
          "{}: left out, as it is not a database; text captures have the files already, and 'parse' "
          "writes them for raw ones",
          RankText(rank)));
      continue;
    }
    const std::string directory = DirectoryOf(rank, rank < 0 ? ++unknown : 0);
    const std::size_t row_rank = BeginRank(rank, report);
    const auto add = [&, id = rank](const char* name, const std::string& text, std::int64_t rows) {
      if (text.empty()) return;
      const std::string path = fmt::format("{}/{}", directory, name);
      report.documents.push_back({path, text});
      AddRow(columns, FileItem{id, path, rows}, row_rank, files);
    };
    add("kernel_details.csv", part.kernels, part.kernel_rows);
    add("api_statistic.csv", part.calls, part.call_rows);
    kernels += part.kernel_rows;
    calls += part.call_rows;
  }
  report.lines.push_back(
      fmt::format("{} files of {} ranks: {} kernels and collectives, {} names of host calls",
                  files.rows.size(), report.ranks.size(), kernels, calls));
  report.sheets.push_back(std::move(files));
}

Verdict JudgeExportSummary(const RankFacts& facts) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.CannotRun() || facts.kind == CaptureKind::kNpuDb) return verdict;
  if (facts.kind == CaptureKind::kNpuText) {
    return CannotRun("text captures have kernel_details.csv and api_statistic.csv already", "");
  }
  if (facts.kind == CaptureKind::kGpu) return CannotRun("it writes files of NPU captures only", "");
  return CannotRun("raw captures have no tables yet", "run 'msprof-analyze parse'");
}

}  // namespace

Recipe ExportSummary() {
  return MakeRecipe<MapExportSummary, ReduceExportSummary>(
      {.name = "export_summary",
       .folder = "ExportSummary",
       .summary = "kernel_details.csv and api_statistic.csv for databases",
       .needs = Tables::kListedKernels | Tables::kHostCalls | Tables::kSteps | Tables::kLaunches |
                Tables::kKernels | Tables::kCommunications,
       .can_run = JudgeExportSummary,
       .documents_always = true});
}

}  // namespace mpa::recipes
