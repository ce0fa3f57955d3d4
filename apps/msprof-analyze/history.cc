// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze history`: how metrics went over the runs that gates have kept.
#include "mpa/gate/history.h"

#include <filesystem>
#include <memory>

#include "agent.h"
#include "cluster_output.h"
#include "command.h"
#include "export_options.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/history.h"
#include "printing.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStemOfHistory = "history";

struct HistoryOptions {
  std::string file, metric, output = ".";
  std::size_t newest = 100;
  ExportOptions exports;
};

HelpPage HistoryPage() {
  HelpPage page;
  page.summary =
      "Shows a metric over the runs that 'compare --history' has kept, with the band of its noise,"
      " and the runs at which its level changed.";
  page.usage = {"history FILE [OPTIONS]"};
  page.after_options = {ExitCodeList({})};
  page.examples = {"compare -d ./new -bp ./old --history runs.db", "history runs.db",
                   "history runs.db --metric computing --export_type html,openmetrics"};
  page.documents = {"history.md", "ci.md"};
  return page;
}

int RunHistory(const HistoryOptions& options, Agent& agent) {
  agent.RefuseJson(options.exports.json());
  if (options.file.empty()) {
    Fail(ErrorKind::kUsage,
         "history needs a file of runs; give msprof-analyze history FILE (compare --history FILE"
         " makes it)");
  }
  const std::vector<ExportType> types = options.exports.Types(ReportKind::kHistory, "");
  const fs::path output = fs::absolute(ExpandHome(options.output)).lexically_normal();
  NewDirectories directories;
  if (!types.empty()) directories.Add(output);
  for (const ExportType& type : types)
    InContext("-o", [&] { PrepareReport(output, kStemOfHistory, type); });
  const std::vector<gate::HistoryRun> runs = ReadHistory(ExpandHome(options.file), options.newest);
  const Report report = gate::HistoryReport(runs, options.metric);
  agent.Answer().question = "how a metric went over the runs, and where its level changed";
  if (agent.IsWanted())
    agent.Show(report);
  else
    options.exports.Show(report);
  std::vector<std::string> notes;
  std::vector<fs::path> files;
  for (const ExportType& type : types) {
    Report newest;
    if (type.name == "openmetrics") newest.gate = gate::NewestOfHistory(runs);
    files.push_back(
        ReplaceReport(newest.gate ? newest : report, output, kStemOfHistory, type, notes));
    LogNotice("the report is in {}", files.back().string());
  }
  LogNotes(notes);
  agent.Wrote(files);
  FinishStdout();
  return 0;
}

}  // namespace

Command AddHistory(CLI::App& program, Agent& agent) {
  CLI::App* app = program.add_subcommand(
      "history", "Show a metric over many runs of a gate, and where its level changed");
  const auto options = std::make_shared<HistoryOptions>();
  const OptionAdder add(*app);
  app->add_option("file", options->file)->type_name("FILE");
  add("--metric", options->metric, "Metric to list [default: step_time]", "NAME", kMaxUsed);
  add("--last", options->newest, "Look at the newest N runs [default: 100]", "N", kMaxUsed)
      ->check(CLI::Range(1, 1000));
  add("-o,--output_path", options->output, "Directory for the files [default: .]", "DIR", kMaxUsed);
  options->exports.AddTo(*app, {ReportKind::kHistory}, Translated("none"));
  for (const char* name : {"--export_type", "--json"}) app->get_option(name)->group(kMaxUsed);
  return {app, [options, &agent] { return RunHistory(*options, agent); }, HistoryPage};
}

}  // namespace mpa
