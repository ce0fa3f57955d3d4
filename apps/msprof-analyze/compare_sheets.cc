// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze compare` of two captures, which makes sheets.
#include "compare_sheets.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "command.h"
#include "compare_config.h"
#include "mpa/base/console.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/progress.h"
#include "mpa/base/text.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/compare.h"
#include "op_name_map.h"
#include "screen.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// What the user enabled; nothing enabled means everything.
std::vector<Comparison> Chosen(const CompareCommandOptions& options) {
  std::vector<Comparison> chosen;
  for (const Comparison& comparison : AllComparisons()) {
    const bool named = std::find(options.enabled.begin(), options.enabled.end(), comparison.name) !=
                       options.enabled.end();
    if (named || options.enabled.empty()) chosen.push_back(comparison);
  }
  return chosen;
}

CompareOptions SheetOptions(const CompareCommandOptions& options) {
  constexpr std::int64_t kFewestKernels = 4;
  if (options.max_kernels != 0 && options.max_kernels < kFewestKernels) {
    Fail(ErrorKind::kUsage,
         "--max_kernel_num {}: too small, has to be greater than {}; give {} or more",
         options.max_kernels, kFewestKernels - 1, kFewestKernels);
  }
  CompareOptions sheets;
  sheets.details = !options.disable_details;
  sheets.modules = !options.disable_module;
  sheets.match_shapes = options.use_input_shape;
  sheets.kernel_types = options.use_kernel_type;
  sheets.compat = options.compat;
  sheets.wide_screen = options.screen == "wide";
  // Documents say the same, however wide the terminal is.
  const std::vector<std::string> names = options.exports.Names();
  const bool screen_only =
      !options.exports.json() &&
      std::all_of(names.begin(), names.end(), [](auto& name) { return name == "xlsx"; });
  if (screen_only) sheets.screen_width = std::max(sheets.screen_width, ScreenWidth(stdout));
  sheets.max_kernels = static_cast<std::size_t>(options.max_kernels);
  if (!options.op_name_map.empty()) sheets.op_names = ParseOpNameMap(options.op_name_map);
  if (!options.compare_config.empty()) {
    InContext("--compare_config",
              [&] { sheets.masks = ReadCompareConfig(ExpandHome(options.compare_config)); });
  }
  return sheets;
}

// Says which options have no effect with the others.
void WarnOfIdleOptions(const CompareCommandOptions& options,
                       const std::vector<Comparison>& chosen) {
  const auto enabled = [&](std::string_view name) {
    return std::any_of(chosen.begin(), chosen.end(),
                       [&](const Comparison& comparison) { return comparison.name == name; });
  };
  if (options.use_kernel_type && !enabled("kernel")) {
    LogWarning("--use_kernel_type has no effect without --enable_kernel_compare");
  }
  if (!options.compare_config.empty() && !enabled("profiling")) {
    LogWarning("--compare_config has no effect without --enable_profiling_compare");
  }
  const bool matches = enabled("operator") || enabled("memory");
  if (options.max_kernels != 0 && (!matches || options.disable_details)) {
    LogWarning("--max_kernel_num has no effect: {}",
               options.disable_details ? "--disable_details was given"
                                       : "neither operators nor memory are compared");
  }
  if ((options.use_input_shape || !options.op_name_map.empty()) &&
      (!matches || options.disable_details)) {
    LogWarning("--use_input_shape and --op_name_map have no effect: {}",
               options.disable_details ? "--disable_details was given"
                                       : "neither operators nor memory are compared");
  }
}

// A directory with the captures of several ranks is told as such, with the way to compare two.
[[noreturn]] void FailWithCaptures(const std::string& directory,
                                   const std::vector<RankInput>& captures) {
  constexpr std::size_t kNamed = 5;
  const fs::path top = fs::canonical(directory);
  std::vector<std::string> names;
  for (const RankInput& capture : captures) {
    if (names.size() < kNamed) names.push_back(capture.path.lexically_relative(top).string());
  }
  const auto path = [&](const std::string& name) { return (fs::path(directory) / name).string(); };
  const std::size_t more = captures.size() - names.size();
  Fail(ErrorKind::kInput,
       "{}: holds {} capture{}: {}{}; give two, such as: msprof-analyze compare -d {} -bp {}",
       directory, captures.size(), more + names.size() == 1 ? "" : "s", fmt::join(names, ", "),
       more > 0 ? fmt::format(" and {} more", more) : "", path(names.back()),
       names.size() == 1 ? "BASE" : path(names.front()));
}

RankInput OpenSide(const std::string& given, const OpenOptions& options) {
  const std::string path = ExpandHome(given);
  try {
    return OpenRank(path, options);
  } catch (const Error&) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      const Discovery found = Discover(path, options);
      if (!found.ranks.empty()) FailWithCaptures(path, found.ranks);
    }
    throw;
  }
}

}  // namespace

int RunSheets(const CompareCommandOptions& options) {
  for (const auto& [name, paths] : {std::pair{"-d", &options.comparison}, {"-bp", &options.base}}) {
    if (paths->size() == 1) continue;
    Fail(ErrorKind::kUsage, "{} is given {} times; give it once, or make it a gate with --fail_on",
         name, paths->size());
  }
  CompareRequest request;
  request.base_step = ParseStep("--base_step", options.base_step, StepForm::kDigits);
  request.comparison_step =
      ParseStep("--comparison_step", options.comparison_step, StepForm::kDigits);
  if (request.base_step.has_value() != request.comparison_step.has_value()) {
    Fail(ErrorKind::kUsage, "--base_step and --comparison_step go together; give both or none");
  }
  constexpr std::size_t kLongestFlowCategory = 20;
  if (options.gpu_flow_cat.size() > kLongestFlowCategory) {
    Fail(ErrorKind::kUsage,
         "--gpu_flow_cat {}: longer than {} characters; give only the category of the events",
         options.gpu_flow_cat, kLongestFlowCategory);
  }
  request.gpu_flow_cat = options.gpu_flow_cat;
  request.options = SheetOptions(options);
  request.comparisons = Chosen(options);
  WarnOfIdleOptions(options, request.comparisons);
  const std::vector<ExportType> types = options.exports.Types(ReportKind::kComparison, kSheetsType);
  InContext("-bp", [&] { request.base = OpenSide(options.base[0], options.open); });
  InContext("-d", [&] { request.comparison = OpenSide(options.comparison[0], options.open); });
  const fs::path output = fs::absolute(ExpandHome(options.output)).lexically_normal();
  if (!types.empty()) InContext("-o", [&] { io::PrepareOutputDirectory(output); });

  CompareOutcome outcome = Compare(request);
  ClearProgressLine();
  for (const std::string& note : outcome.report.notes) {
    const bool on_screen = note == outcome.report.preface && !options.compat;
    if (!on_screen || options.exports.json()) LogWarning("{}", note);
  }
  if (options.compat) {
    outcome.report.preface.clear();
    outcome.report.story.clear();
    outcome.report.notes.clear();
  }
  if (outcome.report.sheets.empty()) {
    Fail(ErrorKind::kInput,
         "nothing to compare; no report was written; see what the captures hold with "
         "'msprof-analyze check'");
  }
  options.exports.Show(outcome.report);  // also when there is no room for files
  WrittenReport written;
  if (!types.empty()) {
    written = WriteReport(outcome.report, output, "performance_comparison_result_" + UtcTimeStamp(),
                          types);
  }
  FinishStdout();
  LogNotes(written.notes);
  for (const fs::path& path : written.paths) LogNotice("the details are in {}", path.string());
  return outcome.partial ? kExitPartial : 0;
}

}  // namespace mpa
