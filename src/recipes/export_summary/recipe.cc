// SPDX-License-Identifier: Apache-2.0
// The files kernel_details.csv and api_statistic.csv of all ranks: made of databases, copied of
// text captures, made of the files of msprof.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "files.h"
#include "mpa/base/text.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/member_columns.h"

namespace mpa::recipes {
namespace {

using export_summary::SummaryFile;

constexpr const char *kKernels = "kernel_details.csv", *kCalls = "api_statistic.csv";

struct Summary {
  std::string kernels, calls;  // the texts of the files
  std::int64_t kernel_rows = 0, call_rows = 0;
  bool written = false;   // the texts were taken out
  bool left_out = false;  // neither database nor text
};

Summary MapExportSummary(const RankTrace& trace, const RecipeArguments&) {
  Summary part;
  const bool is_text = trace.source == "text" || trace.source == "tables";
  part.left_out = !is_text && trace.source != "database";
  if (part.left_out) return part;
  // What the capture has is copied, the rest is made of its events.
  SummaryFile kernels, calls;
  if (is_text) {
    kernels = export_summary::FileOfCapture(trace, kKernels);
    calls = export_summary::FileOfCapture(trace, kCalls);
  }
  if (kernels.text.empty()) kernels = export_summary::KernelDetails(trace);
  if (calls.text.empty()) calls = export_summary::ApiStatistic(trace);
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
  return {CountColumn<&FileItem::rank>("rankId", 10, "The rank."),
          TextColumn<&FileItem::file>("file", 30, "The file, below the directory ExportSummary."),
          CountColumn<&FileItem::rows>("rows", 10, "Its rows below the header.")};
}

// Directories of ranks; captures that do not say theirs are numbered.
std::string DirectoryOf(std::int64_t rank, int unknown) {
  if (rank >= 0) return fmt::format("rank{}", rank);
  return unknown == 1 ? "rank_unknown" : fmt::format("rank_unknown ({})", unknown);
}

std::vector<TextDocument> TakeDocuments(RankPart& part) {
  if (part.rank < 0) return {};  // which of them it is shows when all are known
  Summary summary = *static_cast<const Summary*>(part.part.get());
  std::vector<TextDocument> documents;
  for (const auto& [name, text] :
       {std::pair{kKernels, &summary.kernels}, {kCalls, &summary.calls}}) {
    if (text->empty()) continue;
    documents.push_back({fmt::format("{}/{}", DirectoryOf(part.rank, 0), name), std::move(*text)});
    text->clear();
  }
  summary.written = true;
  part.part = std::make_shared<const Summary>(std::move(summary));
  return documents;
}

void ReduceExportSummary(const std::vector<OfRank<Summary>>& ranks, const RecipeArguments&,
                         Wanted wanted, Report& report) {
  ItemSheet files("ExportedFiles", FileColumns());
  std::int64_t kernels = 0, calls = 0;
  int unknown = 0;
  for (const auto& [rank, part] : ranks) {
    if (part.left_out) {
      report.notes.push_back(fmt::format(
          "{}: left out, as it is neither database nor text; 'msprof-analyze parse' writes "
          "these files for raw captures",
          RankText(rank)));
      continue;
    }
    const std::string directory = DirectoryOf(rank, rank < 0 ? ++unknown : 0);
    const std::size_t row_rank = BeginRank(rank, report);
    const auto add = [&, id = rank, written = part.written](
                         const char* name, const std::string& text, std::int64_t rows) {
      if (text.empty() && !(written && rows > 0)) {
        report.notes.push_back(fmt::format("{}: it holds nothing for {}", RankText(id), name));
        return;
      }
      const std::string path = fmt::format("{}/{}", directory, name);
      if (wanted.documents && !text.empty()) report.documents.push_back({path, text});
      files.Add({id, path, rows}, row_rank);
    };
    add(kKernels, part.kernels, part.kernel_rows);
    add(kCalls, part.calls, part.call_rows);
    kernels += part.kernel_rows;
    calls += part.call_rows;
  }
  if (wanted.screen != Detail::kNone) {
    report.lines.push_back(fmt::format("{} of {}: {} kernels and collectives, {} of host calls",
                                       Counted(files.sheet.rows.size(), "file"),
                                       Counted(report.ranks.size(), "rank"), kernels,
                                       Counted(calls, "name")));
  }
  if (wanted.sheets) report.sheets.push_back(std::move(files.sheet));
}

Verdict JudgeExportSummary(const RankFacts& facts) {
  const bool has_tables = facts.kind == CaptureKind::kNpuDb || facts.kind == CaptureKind::kNpuText;
  return JudgeReadable(facts)
      .Refuse(facts.kind == CaptureKind::kGpu, "it writes files of NPU captures only", "")
      .RefuseKineto(facts, "hold less than these files")
      .Refuse(!has_tables, "raw captures have no tables yet", "run 'msprof-analyze parse'");
}

}  // namespace

Recipe ExportSummary() {
  Recipe recipe = MakeRecipe<MapExportSummary, ReduceExportSummary>(
      {.name = "export_summary",
       .folder = "ExportSummary",
       .summary = "kernel_details.csv and api_statistic.csv of every rank",
       .needs = Tables::kListedKernels | Tables::kHostCalls | Tables::kSteps | Tables::kLaunches |
                Tables::kKernels | Tables::kCommunications | Tables::kChips | Tables::kJobInfo,
       .can_run = JudgeExportSummary,
       .documents_always = true});
  recipe.take_documents = TakeDocuments;
  return recipe;
}

}  // namespace mpa::recipes
