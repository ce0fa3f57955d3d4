// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze parse`: the profiler's results of captures that were never parsed.
#include "mpa/pipeline/parse.h"

#include <filesystem>
#include <memory>

#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/progress.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

struct ParseOptions {
  std::string path, output, export_type;
  bool force = false;
};

constexpr const char* kParseFooter = R"(
Written into ASCEND_PROFILER_OUTPUT, with the names, columns and units of the profiler's own parser:
  text  trace_view.json, kernel_details.csv, operator_details.csv, op_statistic.csv,
        api_statistic.csv, step_trace_time.csv, task_time.csv, operator_memory.csv,
        memory_record.csv, npu_module_mem.csv, data_preprocess.csv, dp.csv, communication.json,
        communication_matrix.json, hccs.csv, pcie.csv, nic.csv, roce.csv, l2_cache.csv
  db    ascend_pytorch_profiler_<rank>.db, analysis.db; of MindSpore
        ascend_mindspore_profiler_<rank>.db, communication_analyzer.db
Files for which the capture holds nothing are not written. The raw data stays as it is.

Verified on Ascend 910B/910C and 910A. Other chips (310P, 310B, 950), graph mode and counters other
than PipeUtilization are experimental: their records are read by their description alone.

Examples:
  msprof-analyze parse -d ./node-7_4711_20260225061520123_ascend_pt
  msprof-analyze parse -d ./result -o ./parsed --export_type text

Exit codes: 0 done, 2 wrong command line or results there already, 3 input missing or unusable,
5 done but parts of the input were broken and left out, 6 output cannot be written.)";

int RunParse(const ParseOptions& options) {
  ParseRequest request;
  request.path = ExpandHome(options.path);
  if (!options.output.empty()) {
    request.output = fs::absolute(ExpandHome(options.output)).lexically_normal();
  }
  request.text = options.export_type != "db";
  request.database = options.export_type != "text";
  request.replace = options.force;
  const ParseOutcome outcome = Parse(request);
  ClearProgressLine();
  for (const std::string& note : outcome.notes) LogWarning("{}", note);
  for (const fs::path& path : outcome.written) LogNotice("the results are in {}", path.string());
  return outcome.partial ? kExitPartial : 0;
}

}  // namespace

Command AddParse(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "parse", "The profiler's own result files, of captures that were never parsed");
  app->footer(kParseFooter);
  const auto options = std::make_shared<ParseOptions>();
  app->add_option("-d,--profiling_path", options->path,
                  "One raw capture (a *_ascend_pt directory with FRAMEWORK and PROF_*, or a PROF_* "
                  "directory), or a directory with those of many ranks")
      ->required()
      ->type_name("PATH");
  app->add_option("-o,--output_path", options->output,
                  "Directory in which one of the capture's name is made [default: the capture]")
      ->type_name("DIR");
  app->add_option("--export_type", options->export_type,
                  "text: trace, tables and documents; db: databases [default: both]")
      ->check(CLI::IsMember({"text", "db"}))
      ->type_name("TYPE");
  app->add_flag("--force", options->force,
                "Replace the results that are there, but for files that are not written anew; "
                "follow links that lead out of the capture");
  return {app, [options] { return RunParse(*options); }};
}

}  // namespace mpa
