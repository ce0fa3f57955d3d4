// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze compare`: what differs between two captures.
#include "mpa/pipeline/compare.h"

#include <array>
#include <ctime>
#include <filesystem>
#include <memory>

#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/progress.h"
#include "mpa/io/numbers.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/writers.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string comparison, base, output = ".";
  std::string base_step, comparison_step, gpu_flow_cat;
  bool force = false, debug = false;
};

constexpr const char* kFooter = R"(
Examples:
  msprof-analyze compare -d ./new_ascend_pt -bp ./old_ascend_pt -o ./out
  msprof-analyze compare -d ./rank0_ascend_pt -bp ./gpu_trace.json.gz --enable_profiling_compare

Exit codes: 0 done, 2 wrong command line, 3 input missing or unusable, 5 done but parts of the input
were broken and left out, 6 output cannot be written.)";

std::optional<std::int32_t> ParseStep(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  const auto step = digits ? io::ParseInt(text) : std::nullopt;
  if (!step || *step > std::numeric_limits<std::int32_t>::max()) {
    Fail(ErrorKind::kUsage, "{} {}: a step is a whole number such as 5", option, text);
  }
  return static_cast<std::int32_t>(*step);
}

// "20261231235959"
std::string UtcTimeStamp() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d%H%M%S", &utc);
  return text.data();
}

int Run(const Options& options) {
  if (options.debug) SetLogLevel(LogLevel::kDebug);
  CompareRequest request;
  request.base_step = ParseStep("--base_step", options.base_step);
  request.comparison_step = ParseStep("--comparison_step", options.comparison_step);
  if (request.base_step.has_value() != request.comparison_step.has_value()) {
    Fail(ErrorKind::kUsage, "--base_step and --comparison_step go together; give both or none");
  }
  constexpr std::size_t kLongestFlowCategory = 20;
  if (options.gpu_flow_cat.size() > kLongestFlowCategory) {
    Fail(ErrorKind::kUsage, "--gpu_flow_cat {}: longer than {} characters", options.gpu_flow_cat,
         kLongestFlowCategory);
  }
  request.gpu_flow_cat = options.gpu_flow_cat;
  request.comparisons = AllComparisons();
  InContext("-bp", [&] { request.base = OpenRank(ExpandHome(options.base), options.force); });
  InContext("-d",
            [&] { request.comparison = OpenRank(ExpandHome(options.comparison), options.force); });
  const fs::path output = fs::absolute(ExpandHome(options.output)).lexically_normal();
  io::PrepareOutputDirectory(output);

  const CompareOutcome outcome = Compare(request);
  ClearProgressLine();
  for (const std::string& note : outcome.report.notes) LogWarning("{}", note);
  if (outcome.report.sheets.empty()) {
    Fail(ErrorKind::kInput, "nothing to compare; no workbook was written");
  }
  const fs::path workbook =
      WriteXlsx(outcome.report, output, "performance_comparison_result_" + UtcTimeStamp());
  for (const ScreenTable& screen : outcome.report.screens) {
    fmt::print(stdout, "{}", FormatTable(screen));
  }
  if (std::fflush(stdout) != 0) Fail(ErrorKind::kOutput, "cannot write to standard output");
  LogNotice("the details are in {}", workbook.string());
  return outcome.partial ? kExitPartial : 0;
}

}  // namespace

Command AddCompare(CLI::App& program) {
  CLI::App* app = program.add_subcommand("compare", "What differs between two captures");
  app->footer(kFooter);
  const auto options = std::make_shared<Options>();
  const auto enable_overall = std::make_shared<bool>(false);
  app->add_option("-d,--profiling_path", options->comparison,
                  "Capture to look at: a *_ascend_pt or *_ascend_ms directory, its "
                  "ASCEND_PROFILER_OUTPUT, a trace (.json, .json.gz) or a profiler database")
      ->required()
      ->type_name("PATH");
  app->add_option("--benchmark_profiling_path", options->base,
                  "(-bp) Capture to compare with, of the same or another kind")
      ->required()
      ->type_name("PATH");
  app->add_option("-o,--output_path", options->output, "Directory for the workbook [default: .]")
      ->type_name("DIR");
  app->add_flag("--enable_profiling_compare", *enable_overall,
                "Compare the overall times only [default: everything available]");
  app->add_option("--base_step", options->base_step,
                  "Step of the -bp capture; goes together with --comparison_step")
      ->type_name("ID");
  app->add_option("--comparison_step", options->comparison_step, "Step of the -d capture")
      ->type_name("ID");
  app->add_option("--gpu_flow_cat", options->gpu_flow_cat,
                  "Event category that ties GPU kernels to operators, if yours is unusual")
      ->type_name("TEXT");
  app->add_flag("--force", options->force, "Read files of other owners without a warning");
  app->add_flag("--debug", options->debug, "Log every detail on stderr");
  // Options of sheets that do not exist yet: those that only hide sheets have nothing to do.
  const auto ignored = std::make_shared<bool>(false);
  for (const char* name : {"--disable_details", "--disable_module"}) {
    app->add_flag(name, *ignored, "Without effect: these sheets are not available yet")
        ->group("Not available yet");
  }
  struct Unavailable {
    const char* name;
    bool takes_value;
  };
  constexpr std::array<Unavailable, 9> kUnavailable = {{{"--enable_operator_compare", false},
                                                        {"--enable_memory_compare", false},
                                                        {"--enable_communication_compare", false},
                                                        {"--enable_api_compare", false},
                                                        {"--enable_kernel_compare", false},
                                                        {"--use_input_shape", false},
                                                        {"--use_kernel_type", false},
                                                        {"--max_kernel_num", true},
                                                        {"--op_name_map", true}}};
  for (const Unavailable& unavailable : kUnavailable) {
    CLI::Option* option = app->add_option_function<std::string>(
        unavailable.name,
        [name = unavailable.name](const std::string&) {
          Fail(ErrorKind::kUsage,
               "{} is not available yet; --enable_profiling_compare (the overall times) is", name);
        },
        "");
    option->group("Not available yet");
    if (!unavailable.takes_value) option->expected(0)->type_name("");
  }
  return {app, [options, enable_overall, ignored] {  // keeps alive what the options write to
            const int status = Run(*options);
            if (!*enable_overall) {
              LogNotice(
                  "compared the overall times; operators, modules, memory, communication, API "
                  "and kernels are not available yet");
            }
            return status;
          }};
}

}  // namespace mpa
