// SPDX-License-Identifier: Apache-2.0
// The files kernel_details.csv and api_statistic.csv of all ranks: made of databases, copied of
// text captures, made of the files of msprof.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"
#include "mpa/model/rank_trace.h"
#include "mpa/model/step_bounds.h"
#include "mpa/profiler_output/profiler_output.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"

namespace mpa::recipes::export_summary {
namespace {

/// A CSV file that the profiler writes for text captures.
struct SummaryFile {
  std::string text;       ///< empty: there is nothing to write
  std::int64_t rows = 0;  ///< below the header
};

// A file of a text capture, as it is; without text if the capture lacks it.
SummaryFile FileOfCapture(const RankTrace& trace, const char* name) {
  namespace fs = std::filesystem;
  const fs::path capture(trace.capture_path);
  for (const fs::path& path : {capture / "ASCEND_PROFILER_OUTPUT" / name, capture / name}) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) continue;
    const io::InputText input(path);
    SummaryFile file;
    file.text = input.text();
    if (!file.text.empty() && file.text.back() != '\n') file.text += '\n';
    file.rows = std::max<std::int64_t>(std::ranges::count(file.text, '\n') - 1, 0);
    return file;
  }
  return {};
}

namespace po = profiler_output;

// Databases name the chip; tables have columns of what it has.
bool HasMixedCores(const RankTrace& trace) {
  const std::vector<std::int64_t>& mixed = trace.listed_kernels.mix_blocks;
  if (trace.source == "database" || mixed.empty()) return po::HasMixedCores(trace.job.chip);
  return std::ranges::any_of(mixed, [](std::int64_t blocks) { return blocks >= 0; });
}

// api_statistic.csv: durations of the calls of CANN on the host, by name and level.
SummaryFile ApiStatistic(const RankTrace& trace) {
  const HostCalls& calls = trace.host_calls;
  std::unordered_map<StringId, po::CallSum> of_text;
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    if (trace.IsOfStep(calls.start[i])) of_text[calls.name[i]].Add(calls.dur[i]);
  }
  po::CallSums sums;
  for (const auto& [text, sum] : of_text) {
    const auto [level, name] = po::LevelAndName(trace.strings.View(text));
    sums[{name, level}] = sum;
  }
  if (sums.empty()) return {};
  // Of such chips the profiler shows the device.
  const bool on_host = HasMixedCores(trace) || trace.device_id < 0;
  return {po::ApiStatistic(sums, on_host ? "host" : std::to_string(trace.device_id)),
          static_cast<std::int64_t>(sums.size())};
}

// The columns of the counters.
class Counters {
 public:
  explicit Counters(const RankTrace& trace) : trace_(trace) {
    for (const StringId name : trace.counter_names)
      names_.push_back(NameInFile(trace.strings.View(name)));
    AddUtilization();
  }

  const std::vector<std::string>& Names() const { return names_; }

  // A value for each; none for a kernel without counters.
  std::vector<double> Of(std::size_t kernel) const {
    std::vector<double> values = trace_.listed_kernels.counters[kernel];
    if (values.empty()) return values;
    values.resize(names_.size(), std::numeric_limits<double>::quiet_NaN());
    if (utilization_) values[*utilization_] = Utilization(kernel, values[*cycles_]);
    return values;
  }

 private:
  // Databases name the total times of the two kinds of cores alike, the file does not.
  static std::string NameInFile(std::string_view name) {
    return std::string(name == "aic_total_time"   ? "aicore_time"
                       : name == "aiv_total_time" ? "aiv_time"
                                                  : name);
  }

  std::optional<std::size_t> Find(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names_.begin());
  }

  // Databases lack the column, tables of msprof have it. It follows from the others where the
  // capture describes the chip.
  void AddUtilization() {
    const bool apart = Find("aic_mac_ratio").has_value();
    if (Find("cube_utilization")) return;
    if ((!apart && !Find("mac_ratio")) || trace_.chips.Empty()) return;
    cycles_ = Find(apart ? "aic_total_cycles" : "total_cycles");
    if (!cycles_) return;
    utilization_ = names_.size();
    names_.emplace_back("cube_utilization");
  }

  // In percent of the cycles of all cores at the nominal clock.
  double Utilization(std::size_t kernel, double cycles) const {
    const ListedKernels& kernels = trace_.listed_kernels;
    const Chips& chips = trace_.chips;
    const auto chip = std::ranges::find(chips.device, kernels.device[kernel]);
    if (chip == chips.device.end()) return std::numeric_limits<double>::quiet_NaN();
    const auto device = static_cast<std::size_t>(chip - chips.device.begin());
    const double possible = chips.cube_mhz[device] * static_cast<double>(chips.cube_cores[device]) *
                            static_cast<double>(kernels.dur[kernel]) / 1000;
    return possible > 0 ? cycles / possible * 100 : 0;
  }

  const RankTrace& trace_;
  std::vector<std::string> names_;
  std::optional<std::size_t> cycles_, utilization_;  // columns
};

po::KernelLine LineOf(const RankTrace& trace, std::size_t i) {
  const ListedKernels& kernels = trace.listed_kernels;
  po::KernelLine line = po::DescribeKernel(kernels, i, trace.strings, po::kNone);
  line.model = kernels.model[i];
  line.task = kernels.task[i];
  line.stream = kernels.stream[i];
  line.context = kernels.context[i];
  return line;
}

// kernel_details.csv: kernels and collectives in order of device and start.
SummaryFile KernelDetails(const RankTrace& trace) {
  const ListedKernels& kernels = trace.listed_kernels;
  if (kernels.Empty()) return {};
  std::vector<po::KernelSpan> spans;
  spans.reserve(kernels.Size());
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    spans.push_back({kernels.start[i], kernels.start[i] + kernels.dur[i], kernels.device[i], i});
  }
  po::ArrangeKernels(spans);
  const Counters counters(trace);
  const po::KernelDetails table({.steps = trace.steps.Size() > 0,
                                 .level0 = trace.profiler_level == "Level0",
                                 .mixed = HasMixedCores(trace),
                                 .counters = counters.Names()});
  const StepBounds steps(trace, kAsRecorded);
  SummaryFile file{table.Header(), static_cast<std::int64_t>(spans.size())};
  for (const po::KernelSpan& span : spans) {
    po::KernelLine line = LineOf(trace, span.row);
    const std::vector<double> values = counters.Of(span.row);
    if (!values.empty()) line.counters = values.data();
    if (const auto step = steps.OfDeviceWork(kernels.link[span.row], span.start)) {
      line.step = steps.Id(*step);
    }
    table.Append(span, line, file.text);
  }
  return file;
}

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
    kernels = FileOfCapture(trace, kKernels);
    calls = FileOfCapture(trace, kCalls);
  }
  if (kernels.text.empty()) kernels = KernelDetails(trace);
  if (calls.text.empty()) calls = ApiStatistic(trace);
  part.kernels = std::move(kernels.text);
  part.calls = std::move(calls.text);
  part.kernel_rows = kernels.rows;
  part.call_rows = calls.rows;
  return part;
}

struct FileItem {
  RankId rank;
  std::string file;
  std::int64_t rows = 0;
};

std::vector<ColumnOf<FileItem>> FileColumns() {
  return {CountColumn<&FileItem::rank, kRank>("rankId", 10, "The rank."),
          TextColumn<&FileItem::file>("file", 30, "The file, below the directory ExportSummary."),
          CountColumn<&FileItem::rows>("rows", 10, "Number of rows below the header.")};
}

std::string DirectoryOf(RankId rank) { return "rank" + RankFileName(rank); }

std::vector<TextDocument> TakeDocuments(RankPart& part) {
  Summary summary = *static_cast<const Summary*>(part.part.get());
  std::vector<TextDocument> documents;
  for (const auto& [name, text] :
       {std::pair{kKernels, &summary.kernels}, {kCalls, &summary.calls}}) {
    if (text->empty()) continue;
    documents.push_back({fmt::format("{}/{}", DirectoryOf(part.rank), name), std::move(*text)});
    text->clear();
  }
  summary.written = true;
  part.part = std::make_shared<const Summary>(std::move(summary));
  return documents;
}

void ReduceExportSummary(const std::vector<OfRank<Summary>>& ranks, const RecipeArguments&,
                         OutputSelection wanted, Report& report) {
  ItemSheet files({"ExportedFiles", ToTranslate("The files that were written")}, FileColumns());
  std::int64_t kernels = 0, calls = 0;
  for (const auto& [rank, part] : ranks) {
    if (part.left_out) {
      report.notes.push_back(
          Say("{}: left out, as it is neither database nor text; 'msprof-analyze parse' writes"
              " these files for raw captures",
              RankText(rank)));
      continue;
    }
    const std::string directory = DirectoryOf(rank);
    const std::size_t row_rank = BeginRank(rank, report);
    const auto add = [&, id = rank, written = part.written](
                         const char* name, const std::string& text, std::int64_t rows) {
      if (text.empty() && !(written && rows > 0)) {
        report.notes.push_back(Say("{}: it holds nothing for {}", RankText(id), name));
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
    report.lines.push_back(Say("{} of {}: {} kernels and collectives, {} of host calls",
                               Counted(files.sheet.rows.size(), "file"),
                               Counted(report.ranks.size(), "rank"), kernels,
                               Counted(calls, "name")));
  }
  if (wanted.sheets) report.sheets.push_back(std::move(files.sheet));
}

Verdict JudgeExportSummary(const RankFacts& facts) {
  const bool has_tables = facts.kind == CaptureKind::kNpuDb || facts.kind == CaptureKind::kNpuText;
  return JudgeReadable(facts)
      .Refuse(facts.kind == CaptureKind::kGpu, "it writes files for NPU captures only", "")
      .RefuseKineto(facts, "hold less than these files would")
      .Refuse(!has_tables, "raw captures have no tables", "run 'msprof-analyze parse'");
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

}  // namespace mpa::recipes::export_summary
