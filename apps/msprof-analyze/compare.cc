// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze compare`: what differs between two captures.
#include "mpa/pipeline/compare.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "choices.h"
#include "command.h"
#include "compare_config.h"
#include "compare_sheets.h"
#include "gate_options.h"
#include "mpa/base/console.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "screen.h"

namespace mpa {
namespace {

HelpPage ComparePage() {
  HelpPage page;
  page.summary =
      "Shows what differs between two captures. With an option of a gate, decides for a CI job "
      "whether the model got slower.";
  page.usage = {"compare -d CAPTURE -bp BASE [OPTIONS]", "compare BASE CAPTURE [OPTIONS]"};
  page.after_options = {
      ExitCodeList({{"0", "done; gate: ok or improved"},
                    {"1", "gate: regression"},
                    {"4", "gate: inconclusive, or the captures are not comparable"},
                    {"5",
                     "done, but broken parts of the input were left out; gate: judged on "
                     "partial data"}})};
  page.examples = {"compare -d ./new_ascend_pt -bp ./old_ascend_pt -o ./out",
                   "compare ./gpu_trace.json.gz ./rank0_ascend_pt --export_type md",
                   "compare -d ./new -bp ./old --enable_operator_compare",
                   "compare -d ./new -bp ./old --fail_on 'step_time>+3%'",
                   "compare -d ./main_1 -d ./main_2 --save_baseline main.json",
                   "compare -d ./new -bp main.json --fail_on 'op:MatMul*>+10%'"};
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
  };
  for (const auto& [name, is_given] : given) {
    if (is_given) {
      Fail(ErrorKind::kUsage,
           "{}: a gate writes no sheets; run compare without the options of the gate to get them",
           name);
    }
  }
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
         "compare needs two captures: give -d CAPTURE -bp BASE, or just the paths BASE CAPTURE");
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
  CLI::App* app = program.add_subcommand(
      "compare", "Show what differs between two captures, or gate a CI job on it");
  const auto options = std::make_shared<CompareCommandOptions>();
  const auto add = [&](const char* name, auto& value, const char* help, const char* type,
                       const char* group) {
    return app->add_option(name, value, help)->type_name(type)->group(group);
  };
  const auto add_flag = [&](const char* name, bool& value, const char* help, const char* group) {
    app->add_flag(name, value, help)->group(group);
  };
  add("-d,--profiling_path", options->comparison,
      "Capture to analyse: a *_ascend_pt or *_ascend_ms directory, parsed or raw, its "
      "ASCEND_PROFILER_OUTPUT, a PROF_* directory, a trace (.json, .json.gz) or a profiler "
      "database",
      "PATH", kMostUsed)
      ->allow_extra_args(false);
  add("--benchmark_profiling_path", options->base,
      "Capture to compare with, of the same or another kind", "PATH", kMostUsed)
      ->allow_extra_args(false);
  app->add_option("captures", options->both)->expected(-1)->type_name("PATH");
  add("-o,--output_path", options->output, "Directory for the files [default: .]", "DIR",
      kMostUsed);
  options->exports.AddTo(*app, {ReportKind::kComparison, ReportKind::kGate}, kSheetsType);
  for (const char* name : {"--export_type", "--json"}) app->get_option(name)->group(kMostUsed);

  constexpr const char* kWhat = "What to compare [default: everything]";
  for (const Comparison& comparison : AllComparisons()) {
    app->add_flag_callback(
           fmt::format("--enable_{}_compare", comparison.name),
           [options, name = comparison.name] { options->enabled.emplace_back(name); },
           std::string(comparison.summary))
        ->group(kWhat);
  }
  add("--base_step", options->base_step,
      "Compare this step of the -bp capture only; requires --comparison_step", "ID", kWhat);
  add("--comparison_step", options->comparison_step,
      "Compare this step of the -d capture only; requires --base_step", "ID", kWhat);

  constexpr const char* kHow = "How to make the sheets";
  add_flag("--disable_details", options->disable_details,
           "Sum by name only: no sheets OperatorCompare, ModuleCompare and MemoryCompare", kHow);
  add_flag("--disable_module", options->disable_module,
           "Compare operators even if both captures contain modules", kHow);
  add_flag("--use_input_shape", options->use_input_shape,
           "Match operators only if their input shapes are equal", kHow);
  add("--max_kernel_num", options->max_kernels,
      "Look inside matched operators that launch more kernels than this, and match the operators "
      "there; at least 4",
      "N", kHow);
  add("--op_name_map", options->op_name_map,
      "Operators to match although their names differ: \"{'aten::add': 'aten::add_'}\"", "DICT",
      kHow);
  add_flag("--use_kernel_type", options->use_kernel_type,
           "Sum kernels by type and core (KernelTypeCompare) instead of type and shapes", kHow);
  add("--screen", options->screen,
      "Table on the screen: fit (in the lines of the screen) or wide (as the Python tool prints "
      "it) "
      "[default: fit; with --compat wide]",
      "FORM", kHow)
      ->check(OneOf({"fit", "wide"}));
  add_flag("--compat", options->compat,
           "Lay out rows, cells and screen as the Python tool does: no Notes, 0 instead of N/A. "
           "Its wrong numbers stay corrected",
           kHow);
  add("--compare_config", options->compare_config,
      "INI file with the names that sort kernels into categories, instead of the built-in names",
      "FILE", kHow);
  add_flag("--print_compare_config", options->print_compare_config,
           "Print the built-in names as such a file and exit", kHow);
  add("--gpu_flow_cat", options->gpu_flow_cat,
      "Category of the events that link GPU kernels to operators; give it if all device times of a "
      "GPU trace are 0",
      "TEXT", kHow);

  options->gate.AddTo(*app);
  AddOpenOptions(*app, options->open);
  add_flag("--debug", options->debug, "Log every detail", kCommon);
  return {app, [options] { return RunCompare(*options); },  // keeps alive what the options write to
          ComparePage};
}

}  // namespace mpa
