// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze compare`: what differs between two captures.
#include "mpa/pipeline/compare.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "agent.h"
#include "choices.h"
#include "cluster_output.h"
#include "command.h"
#include "compare_config.h"
#include "compare_ranks.h"
#include "export_options.h"
#include "gate_options.h"
#include "mpa/base/console.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/text.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/pair_ranks.h"
#include "printing.h"

namespace mpa {
namespace {

// `msprof-analyze compare` of two captures, which makes sheets.

// The options of `compare`.
constexpr const char* kHere = ".";

struct CompareCommandOptions {
  std::vector<std::string> comparison, base;  // of a gate there may be several
  std::string output = kHere;
  std::vector<std::string> both;     // base and comparison as the script form takes them
  std::vector<std::string> enabled;  // names of comparisons
  std::string base_step, comparison_step, gpu_flow_cat, op_name_map, compare_config;
  std::string screen;  // "fit", "wide"; empty: the default
  std::int64_t max_kernels = 0;
  bool disable_details = false, disable_module = false;
  bool use_input_shape = false, use_kernel_type = false, compat = false;
  bool print_compare_config = false;
  bool debug = false, all_ranks = false;
  OpenOptions open;
  ExportOptions exports;
  GateOptions gate;
};

// What is written without --export_type.
inline constexpr std::string_view kSheetsType = "xlsx";

namespace fs = std::filesystem;

// What the user enabled; nothing enabled means everything.
std::vector<Comparison> Chosen(const CompareCommandOptions& options) {
  std::vector<Comparison> chosen;
  for (const Comparison& comparison : AllComparisons()) {
    const bool named = std::ranges::find(options.enabled, comparison.name) != options.enabled.end();
    if (named || options.enabled.empty()) chosen.push_back(comparison);
  }
  return chosen;
}

CompareOptions SheetOptions(const CompareCommandOptions& options) {
  constexpr std::int64_t kMinKernels = 4;
  if (options.max_kernels != 0 && options.max_kernels < kMinKernels) {
    Fail(ErrorKind::kUsage,
         "--max_kernel_num {}: too small, it has to be greater than {}; give {} or more",
         options.max_kernels, kMinKernels - 1, kMinKernels);
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
  const bool screen_only = !options.exports.json() &&
                           std::ranges::all_of(names, [](auto& name) { return name == "xlsx"; });
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
    return std::ranges::any_of(
        chosen, [&](const Comparison& comparison) { return comparison.name == name; });
  };
  if (options.use_kernel_type && !enabled("kernel")) {
    LogWarning("--use_kernel_type has no effect without --enable_kernel_compare");
  }
  if (!options.compare_config.empty() && !enabled("profiling")) {
    LogWarning("--compare_config has no effect without --enable_profiling_compare");
  }
  const bool matches = enabled("operator") || enabled("memory");
  const std::string_view why_not =
      Translated(options.disable_details ? "--disable_details was given"
                                         : "neither operators nor memory are compared");
  if (options.max_kernels != 0 && (!matches || options.disable_details)) {
    LogWarning("--max_kernel_num has no effect: {}", why_not);
  }
  if (options.use_input_shape && (!matches || options.disable_details)) {
    LogWarning("--use_input_shape has no effect: {}", why_not);
  }
  if (options.op_name_map.empty()) return;
  if (options.compat && (!matches || options.disable_details)) {
    LogWarning("--op_name_map has no effect: {}", why_not);
  } else if (!matches && !enabled("api")) {
    LogWarning("--op_name_map has no effect: operators, memory and api are not compared");
  }
}

// Compares two captures. Gives the exit code.
int RunSheets(const CompareCommandOptions& options, Agent& agent) {
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
    Fail(ErrorKind::kUsage, "--base_step and --comparison_step go together; give both or neither");
  }
  constexpr std::size_t kMaxFlowCategory = 20;
  if (options.gpu_flow_cat.size() > kMaxFlowCategory) {
    Fail(ErrorKind::kUsage,
         "--gpu_flow_cat {}: longer than {} characters; give only the category of the events",
         options.gpu_flow_cat, kMaxFlowCategory);
  }
  request.gpu_flow_cat = options.gpu_flow_cat;
  request.options = SheetOptions(options);
  request.comparisons = Chosen(options);
  WarnOfIdleOptions(options, request.comparisons);
  const std::vector<ExportType> types = options.exports.Types(
      ReportKind::kComparison, agent.IsWanted() ? "" : kSheetsType);  // programs ask for files
  if (options.all_ranks && options.exports.json()) {
    Fail(ErrorKind::kUsage, "--json prints the document of one rank; give --export_type json");
  }
  OpenOptions open = options.open;
  open.servers = true;
  CapturePairs ranks =
      PairRanks(ExpandHome(options.base[0]), ExpandHome(options.comparison[0]), open);
  const fs::path output = fs::absolute(ExpandHome(options.output)).lexically_normal();
  NewDirectories directories;
  std::optional<Error> unwritable;
  if (!types.empty()) {
    directories.Add(output);
    unwritable =
        PrepareOrTell(options.output != kHere, [&] { io::PrepareOutputDirectory(output); });
  }
  const std::string& comparison = options.comparison[0];
  agent.Answer().next = fmt::format("msprof-analyze advisor all -d {} -bp {}",
                                    ShellWord(comparison), ShellWord(options.base[0]));
  const SheetsDelivery delivery{.exports = options.exports,
                                .agent = agent,
                                .types = unwritable ? std::vector<ExportType>() : types,
                                .output = output,
                                .base = ExpandHome(options.base[0]),
                                .comparison = ExpandHome(comparison),
                                .compat = options.compat,
                                .open = options.open,
                                .asked = !options.enabled.empty()};
  const bool all = options.all_ranks && ranks.pairs.front().rank >= 0;
  const int code = all ? CompareAllRanks(std::move(request), std::move(ranks), delivery)
                       : CompareOneRank(std::move(request), std::move(ranks), delivery);
  if (unwritable) throw *unwritable;
  return code;
}

HelpPage ComparePage() {
  HelpPage page;
  page.summary =
      "Shows what differs between two captures. With an option of a gate, decides for a CI job"
      " whether the model got slower.";
  page.usage = {"compare -d CAPTURE -bp BASE [OPTIONS]", "compare BASE CAPTURE [OPTIONS]"};
  page.first = [](const CLI::Option& option) {
    return IsMostUsed(option) || IsNamed(option, {"all_ranks", "fail_on", "gate", "save_baseline"});
  };
  page.after_options = {
      MetricsOfGates(),
      ExitCodeList({{"0", "done; gate: ok or improved"},
                    {"1", "gate: regression"},
                    {"4", "gate: inconclusive, or the captures are not comparable"},
                    {"5",
                     "done, but broken parts of the input were left out; gate: judged on"
                     " partial data"}})};
  page.examples = {"compare -d ./new_ascend_pt -bp ./old_ascend_pt -o ./out",
                   "compare ./gpu_trace.json.gz ./rank0_ascend_pt --export_type md",
                   "compare -d ./main_1 -d ./main_2 --save_baseline main.json",
                   "compare -d ./new -bp main.json --fail_on 'step_time>+3%'",
                   "compare -d ./new_job -bp ./old_job --all_ranks",
                   "compare -d ./new -bp ./old --enable_operator_compare",
                   "compare -d ./new -bp ./old --fail_on 'op:MatMul*>+10%'"};
  page.documents = {"compare.md", "gate.md", "ci.md"};
  return page;
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
      {"--screen", !options.screen.empty()},
      {"--all_ranks", options.all_ranks},
  };
  for (const auto& [name, is_given] : given) {
    if (is_given) {
      Fail(ErrorKind::kUsage,
           "{}: a gate writes no sheets; run compare without the options of the gate to get them",
           name);
    }
  }
}

int RunCompare(const CompareCommandOptions& given, Agent& agent) {
  CompareCommandOptions options = given;
  if (options.debug) SetLogLevel(LogLevel::kDebug);
  if (options.print_compare_config) {
    Print(DefaultCompareConfig());
    FinishStdout();
    return 0;
  }
  agent.RefuseJson(options.exports.json());
  const bool named = !options.base.empty() || !options.comparison.empty();
  if (options.gate.LearnsNoise()) {
    options.comparison.insert(options.comparison.end(), options.both.begin(), options.both.end());
  } else if (options.both.size() == 2 && !named) {
    options.base = {options.both[0]};
    options.comparison = {options.both[1]};
  } else if (!options.both.empty()) {
    Fail(ErrorKind::kUsage,
         "compare needs two captures: give -d CAPTURE -bp BASE, or just the paths BASE CAPTURE");
  }
  const bool needs_base = options.gate.NeedsBase();
  if (options.comparison.empty() || (options.base.empty() && needs_base)) {
    Fail(ErrorKind::kUsage, "{} is required; see 'msprof-analyze compare --help'",
         options.comparison.empty() ? "-d,--profiling_path" : "-bp,--benchmark_profiling_path");
  }
  const bool is_gate = options.gate.Asked(options.exports, options.base);
  agent.Answer().question = is_gate ? "whether the program got slower, and why"
                                    : "what differs between two captures, and what it costs";
  agent.Answer().scope = {{"base", fmt::format("{}", fmt::join(options.base, ", "))},
                          {"comparison", fmt::format("{}", fmt::join(options.comparison, ", "))},
                          {"times", kTimesOfCaptures}};
  if (!is_gate) return RunSheets(options, agent);
  RefuseSheetOptions(options);
  return RunGate({options.comparison, options.base, options.output, options.open}, options.gate,
                 options.exports, agent);
}

}  // namespace

Command AddCompare(CLI::App& program, Agent& agent) {
  CLI::App* app = program.add_subcommand(
      "compare", "Show what differs between two captures, or gate a CI job on it");
  const auto options = std::make_shared<CompareCommandOptions>();
  const OptionAdder add(*app);
  add("-d,--profiling_path", options->comparison,
      "Capture to analyse: a directory (*_ascend_pt, *_ascend_ms, PROF_*), a trace (.json,"
      " .json.gz) or a database of the profiler; or a directory with those of several ranks",
      "PATH", kMaxUsed)
      ->allow_extra_args(false);
  add("--benchmark_profiling_path", options->base,
      "Capture to compare with, of the same or another kind", "PATH", kMaxUsed)
      ->allow_extra_args(false);
  app->add_option("captures", options->both)->expected(-1)->type_name("PATH");
  add("-o,--output_path", options->output, "Directory for the files [default: .]", "DIR", kMaxUsed);
  options->exports.AddTo(*app, {ReportKind::kComparison, ReportKind::kGate}, kSheetsType);
  for (const char* name : {"--export_type", "--json"}) app->get_option(name)->group(kMaxUsed);

  constexpr const char* kWhat = "What to compare [default: everything]";
  for (const Comparison& comparison : AllComparisons()) {
    app->add_flag_callback(
           fmt::format("--enable_{}_compare", comparison.name),
           [options, name = comparison.name] { options->enabled.emplace_back(name); },
           std::string(comparison.summary))
        ->group(kWhat);
  }
  add.Flag("--all_ranks", options->all_ranks,
           "In directories with several ranks, compare every rank that both have, not only the"
           " first; each gets its own files",
           kWhat);
  add("--base_step", options->base_step,
      "Compare this step of the -bp capture only; requires --comparison_step", "ID", kWhat);
  add("--comparison_step", options->comparison_step,
      "Compare this step of the -d capture only; requires --base_step", "ID", kWhat);

  constexpr const char* kHow = "How to make the sheets";
  add.Flag("--disable_details", options->disable_details,
           "Sum by name only: omit the sheets OperatorCompare, ModuleCompare and MemoryCompare",
           kHow);
  add.Flag("--disable_module", options->disable_module,
           "Compare operators even if both captures contain modules", kHow);
  add.Flag("--use_input_shape", options->use_input_shape,
           "Match operators only if their input shapes are equal", kHow);
  add("--max_kernel_num", options->max_kernels,
      "Look inside matched operators that launch more kernels than this, and match the operators"
      " there; at least 4",
      "N", kHow);
  add("--op_name_map", options->op_name_map,
      "Operators to match, and to sum in one row, although their names differ: \"{'aten::add':"
      " 'aten::add_'}\"",
      "DICT", kHow);
  add.Flag("--use_kernel_type", options->use_kernel_type,
           "Sum kernels by type and core (KernelTypeCompare) instead of type and shapes", kHow);
  add("--screen", options->screen,
      "Table on the screen: fit (in the lines of the screen) or wide (as the Python tool prints"
      " it)"
      " [default: fit; with --compat wide]",
      "FORM", kHow)
      ->check(OneOf({"fit", "wide"}));
  add.Flag("--compat", options->compat,
           "Lay out rows, cells and screen as the Python tool does: no Notes, 0 instead of N/A."
           " Wrong numbers of that tool stay corrected",
           kHow);
  add("--compare_config", options->compare_config,
      "INI file with the names that sort kernels into categories, instead of the built-in names",
      "FILE", kHow);
  add.Flag("--print_compare_config", options->print_compare_config,
           "Print the built-in names as such a file and exit", kHow);
  add("--gpu_flow_cat", options->gpu_flow_cat,
      "Category of the events that link GPU kernels to operators; give it if all device times of a"
      " GPU trace are 0",
      "TEXT", kHow);

  options->gate.AddTo(*app);
  AddOpenOptions(*app, options->open);
  add.Flag("--debug", options->debug, "Log every detail", kCommon);
  return {app,
          [options, &agent] {
            return RunCompare(*options, agent);
          },  // keeps alive what the options write to
          ComparePage};
}

}  // namespace mpa
