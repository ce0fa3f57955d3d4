// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze compare`: what differs between two captures.
#include "mpa/pipeline/compare.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "compare_config.h"
#include "export_options.h"
#include "gate_options.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/progress.h"
#include "mpa/io/output_file.h"
#include "op_name_map.h"
#include "screen.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

struct CompareCommandOptions {
  std::vector<std::string> comparison, base;  // of a gate there may be several
  std::string output = ".";
  std::vector<std::string> both;     // base and comparison as the script form takes them
  std::vector<std::string> enabled;  // names of comparisons
  std::string base_step, comparison_step, gpu_flow_cat, op_name_map, compare_config;
  std::int64_t max_kernels = 0;
  bool disable_details = false, disable_module = false;
  bool use_input_shape = false, use_kernel_type = false, compat = false;
  bool print_compare_config = false;
  bool debug = false;
  OpenOptions open;
  ExportOptions exports;
  GateOptions gate;
};

constexpr const char* kCompareFooter = R"(
Examples:
  msprof-analyze compare -d ./new_ascend_pt -bp ./old_ascend_pt -o ./out
  msprof-analyze compare -d ./rank0_ascend_pt -bp ./gpu_trace.json.gz --export_type xlsx,json
  msprof-analyze compare -d ./new_ascend_pt -bp ./old_ascend_pt --enable_operator_compare --max_kernel_num 10
  msprof-analyze compare ./old_ascend_pt ./new_ascend_pt
  msprof-analyze compare -d ./new -bp ./old --fail_on 'step_time>+3%' --export_type junit
  msprof-analyze compare -d ./main_1 -d ./main_2 -d ./main_3 --save_baseline main.json
  msprof-analyze compare -d ./new -bp main.json --fail_on 'op:MatMul*>+10%&+200us' --warmup 1

Exit codes: 0 done, 2 wrong command line, 3 input missing or unusable, 5 done but parts of the input
were broken and left out, 6 output cannot be written. Of a gate: 0 ok or improved, 1 regression,
4 inconclusive or not comparable, 5 judged on partial data.)";

constexpr std::string_view kSheetsType = "xlsx";

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
    Fail(ErrorKind::kUsage, "--max_kernel_num {}: has to be greater than {}", options.max_kernels,
         kFewestKernels - 1);
  }
  CompareOptions sheets;
  sheets.details = !options.disable_details;
  sheets.modules = !options.disable_module;
  sheets.match_shapes = options.use_input_shape;
  sheets.kernel_types = options.use_kernel_type;
  sheets.compat = options.compat;
  sheets.max_kernels = static_cast<std::size_t>(options.max_kernels);
  if (!options.op_name_map.empty()) sheets.op_names = ParseOpNameMap(options.op_name_map);
  if (!options.compare_config.empty()) {
    InContext("--compare_config",
              [&] { sheets.masks = ReadCompareConfig(ExpandHome(options.compare_config)); });
  }
  return sheets;
}

// Says which options have nothing to do beside the others.
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

// The options of the sheets, which a gate does not make.
void RefuseSheetOptions(const CompareCommandOptions& options) {
  const std::pair<const char*, bool> given[] = {
      {"--enable_..._compare", !options.enabled.empty()},
      {"--base_step", !options.base_step.empty()},
      {"--comparison_step", !options.comparison_step.empty()},
      {"--gpu_flow_cat", !options.gpu_flow_cat.empty()},
      {"--op_name_map", !options.op_name_map.empty()},
      {"--compare_config", !options.compare_config.empty()},
      {"--max_kernel_num", options.max_kernels != 0},
      {"--disable_details", options.disable_details},
      {"--disable_module", options.disable_module},
      {"--use_input_shape", options.use_input_shape},
      {"--use_kernel_type", options.use_kernel_type},
      {"--compat", options.compat},
  };
  for (const auto& [name, is_given] : given) {
    if (is_given) {
      Fail(ErrorKind::kUsage,
           "{}: a gate makes no sheets; run compare without the options of the gate for these",
           name);
    }
  }
}

int RunSheets(const CompareCommandOptions& options) {
  for (const auto& [name, paths] : {std::pair{"-d", &options.comparison}, {"-bp", &options.base}}) {
    if (paths->size() == 1) continue;
    Fail(ErrorKind::kUsage, "{} is given {} times; only a gate takes several runs, see --fail_on",
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
    Fail(ErrorKind::kUsage, "--gpu_flow_cat {}: longer than {} characters", options.gpu_flow_cat,
         kLongestFlowCategory);
  }
  request.gpu_flow_cat = options.gpu_flow_cat;
  request.options = SheetOptions(options);
  request.comparisons = Chosen(options);
  WarnOfIdleOptions(options, request.comparisons);
  const std::vector<ExportType> types = options.exports.Types(ReportKind::kComparison, kSheetsType);
  InContext("-bp", [&] { request.base = OpenRank(ExpandHome(options.base[0]), options.open); });
  InContext("-d", [&] {
    request.comparison = OpenRank(ExpandHome(options.comparison[0]), options.open);
  });
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
    Fail(ErrorKind::kInput, "nothing to compare; no report was written");
  }
  WrittenReport written;
  if (!types.empty()) {
    written = WriteReport(outcome.report, output, "performance_comparison_result_" + UtcTimeStamp(),
                          types);
  }
  for (const std::string& note : written.notes) LogWarning("{}", note);
  options.exports.Show(outcome.report);
  FinishStdout();
  for (const fs::path& path : written.paths) LogNotice("the details are in {}", path.string());
  return outcome.partial ? kExitPartial : 0;
}

int RunCompare(const CompareCommandOptions& given) {
  CompareCommandOptions options = given;
  if (options.debug) SetLogLevel(LogLevel::kDebug);
  if (options.print_compare_config) {
    Print(DefaultCompareConfig());
    FinishStdout();
    return 0;
  }
  const bool named = !options.base.empty() || !options.comparison.empty();
  if (options.gate.LearnsNoise()) {
    options.comparison.insert(options.comparison.end(), options.both.begin(), options.both.end());
  } else if (options.both.size() == 2 && !named) {
    options.base = {options.both[0]};
    options.comparison = {options.both[1]};
  } else if (!options.both.empty()) {
    Fail(ErrorKind::kUsage,
         "two captures are compared: give -d CAPTURE -bp BASE, or the base and the capture alone");
  }
  const bool needs_base = options.gate.NeedsBase();
  if (options.comparison.empty() || (options.base.empty() && needs_base)) {
    Fail(ErrorKind::kUsage, "{} is required; see 'msprof-analyze compare --help'",
         options.comparison.empty() ? "-d,--profiling_path" : "-bp,--benchmark_profiling_path");
  }
  if (!options.gate.Asked(options.exports, options.base)) return RunSheets(options);
  RefuseSheetOptions(options);
  return RunGate({options.comparison, options.base, options.output, options.open}, options.gate,
                 options.exports);
}

}  // namespace

Command AddCompare(CLI::App& program) {
  CLI::App* app = program.add_subcommand("compare", "What differs between two captures");
  app->footer(kCompareFooter);
  const auto options = std::make_shared<CompareCommandOptions>();
  app->add_option("-d,--profiling_path", options->comparison,
                  "Capture to look at: a *_ascend_pt or *_ascend_ms directory, parsed or raw, its "
                  "ASCEND_PROFILER_OUTPUT, a PROF_* directory, a trace (.json, .json.gz) or a "
                  "profiler database")
      ->allow_extra_args(false)
      ->type_name("PATH");
  app->add_option("--benchmark_profiling_path", options->base,
                  "(-bp) Capture to compare with, of the same or another kind")
      ->allow_extra_args(false)
      ->type_name("PATH");
  app->add_option("captures", options->both,
                  "Instead of -bp and -d: the capture to compare with, the capture to look at")
      ->expected(-1)
      ->type_name("BASE COMPARISON");
  app->add_option("-o,--output_path", options->output, "Directory for the files [default: .]")
      ->type_name("DIR");
  options->exports.AddTo(*app, {ReportKind::kComparison, ReportKind::kGate}, kSheetsType);

  constexpr const char* kWhat = "What to compare [default: everything]";
  for (const Comparison& comparison : AllComparisons()) {
    app->add_flag_callback(
           fmt::format("--enable_{}_compare", comparison.name),
           [options, name = comparison.name] { options->enabled.emplace_back(name); },
           std::string(comparison.summary))
        ->group(kWhat);
  }
  app->add_option("--base_step", options->base_step,
                  "Step of the -bp capture; goes together with --comparison_step. Everything is "
                  "taken from that step alone")
      ->type_name("ID")
      ->group(kWhat);
  app->add_option("--comparison_step", options->comparison_step, "Step of the -d capture")
      ->type_name("ID")
      ->group(kWhat);

  constexpr const char* kHow = "How the sheets are made";
  app->add_flag("--disable_details", options->disable_details,
                "Sums by name only: no sheets OperatorCompare, ModuleCompare, MemoryCompare")
      ->group(kHow);
  app->add_flag("--disable_module", options->disable_module,
                "Compare operators even if both captures contain modules")
      ->group(kHow);
  app->add_flag("--use_input_shape", options->use_input_shape,
                "Operators match only when their input shapes are the same, too")
      ->group(kHow);
  app->add_option("--max_kernel_num", options->max_kernels,
                  "Open matched operators that launch more kernels than this, and match the "
                  "operators within; at least 4")
      ->type_name("N")
      ->group(kHow);
  app->add_option("--op_name_map", options->op_name_map,
                  "Names under which operators match, where the captures name them differently: "
                  "\"{'aten::add': 'aten::add_'}\"")
      ->type_name("DICT")
      ->group(kHow);
  app->add_flag("--use_kernel_type", options->use_kernel_type,
                "Kernels summed by type and core (KernelTypeCompare) instead of type and shapes")
      ->group(kHow);

  app->add_flag("--compat", options->compat,
                "Rows, cells and screen as the Python tool lays them out, for scripts written for "
                "it: no Notes, 0 instead of N/A. Its wrong numbers stay corrected")
      ->group(kHow);
  app->add_option("--compare_config", options->compare_config,
                  "INI file with the names by which kernels are sorted into categories, in place "
                  "of the built-in ones")
      ->type_name("FILE")
      ->group(kHow);
  app->add_flag("--print_compare_config", options->print_compare_config,
                "Print the built-in names as such a file, and do nothing else")
      ->group(kHow);

  options->gate.AddTo(*app);
  app->add_option("--gpu_flow_cat", options->gpu_flow_cat,
                  "Event category that ties GPU kernels to operators, if yours is unusual: when "
                  "all device times of a GPU are 0")
      ->type_name("TEXT");
  AddOpenOptions(*app, options->open);
  app->add_flag("--debug", options->debug, "Log every detail on stderr");
  return {app,
          [options] { return RunCompare(*options); }};  // keeps alive what the options write to
}

}  // namespace mpa
