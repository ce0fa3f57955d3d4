// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze parse`: the profiler's results of captures that were never parsed.
#include "mpa/pipeline/parse.h"

#include <memory>

#include "agent.h"
#include "choices.h"
#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/progress.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

struct ParseOptions {
  CaptureArgument captures;
  std::string output, export_type;
  bool force = false;
};

HelpPage ParsePage() {
  HelpPage page;
  page.summary =
      "Writes the result files of the profiler for captures that were never parsed, without CANN"
      " and torch_npu.";
  page.usage = {"parse PATH [OPTIONS]", "parse -d PATH [OPTIONS]"};
  page.after_options = {
      {"Files in ASCEND_PROFILER_OUTPUT, with the names, columns and units of the profiler's own"
       " parser",
       {{"text",
         "trace_view.json, kernel_details.csv, operator_details.csv, op_statistic.csv,"
         " api_statistic.csv, step_trace_time.csv, task_time.csv, operator_memory.csv,"
         " memory_record.csv, npu_module_mem.csv, data_preprocess.csv, dp.csv, communication.json,"
         " communication_matrix.json, hccs.csv, pcie.csv, nic.csv, roce.csv, l2_cache.csv"},
        {"db",
         "ascend_pytorch_profiler_<rank>.db and analysis.db; for MindSpore"
         " ascend_mindspore_profiler_<rank>.db and communication_analyzer.db"}}},
      ExitCodeList({{"2", "wrong command line, or the results exist already"}})};
  page.examples = {"parse ./node-7_4711_20260225061520123_ascend_pt",
                   "parse ./result -o ./parsed --export_type text"};
  page.notes = {
      "Files for which the capture has no data are not written. The raw data stays unchanged.",
      "Verified on Ascend 910B, 910C and 910A. Experimental: other chips (310P, 310B, 950), graph"
      " mode, and counters other than PipeUtilization; their records are read as their format"
      " describes them, and were not checked with real captures."};
  page.documents = {"raw-captures.md"};
  return page;
}

int RunParse(const ParseOptions& options, Agent& agent) {
  ParseRequest request;
  OpenOptions open;
  request.path = options.captures.Path("msprof-analyze parse PATH", open);
  request.chosen = std::move(open.chosen);
  if (!options.output.empty()) {
    request.output = fs::absolute(ExpandHome(options.output)).lexically_normal();
  }
  request.text = options.export_type != "db";
  request.database = options.export_type != "text";
  request.replace = options.force;
  const ParseOutcome outcome = Parse(request);
  ClearProgressLine();
  LogNotes(outcome.notes);
  for (const fs::path& path : outcome.written) LogNotice("the results are in {}", path.string());
  agent.Answer().question = "the result files of captures that were never parsed";
  agent.Answer().next = fmt::format("msprof-analyze check {}", ShellWord(request.path.string()));
  agent.Wrote(outcome.written);
  return outcome.partial ? kExitPartial : 0;
}

}  // namespace

Command AddParse(CLI::App& program, Agent& agent) {
  CLI::App* app = program.add_subcommand(
      "parse", "Write the profiler's result files for captures that were never parsed");
  const auto options = std::make_shared<ParseOptions>();
  const OptionAdder add(*app);
  options->captures.AddTo(*app,
                          "A raw capture (a *_ascend_pt directory with FRAMEWORK and PROF_*, or a"
                          " PROF_* directory), or a directory with raw captures of many ranks");
  add("-o,--output_path", options->output,
      "Directory for the results, with a subdirectory for each capture [default: the"
      " captures themselves]",
      "DIR", kMaxUsed);
  add("--export_type", options->export_type,
      "text: trace, tables and documents; db: databases [default: both]", "TYPE", kMaxUsed)
      ->check(OneOf({"text", "db"}));
  add.Flag("--force", options->force,
           "Replace existing results, and follow links that lead out of the capture; existing"
           " files that this run does not write stay",
           kMaxUsed);
  return {app, [options, &agent] { return RunParse(*options, agent); }, ParsePage};
}

}  // namespace mpa
