// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze export timeline`: what ranks did, as one trace for trace viewers.
#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent.h"
#include "choices.h"
#include "cluster_output.h"
#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/progress.h"
#include "mpa/diagnosis/recipe.h"
#include "mpa/diagnosis/timeline_plan.h"
#include "mpa/io/numbers.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/cluster.h"
#include "printing.h"
#include "timeline_export.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThings[] = {"timeline"};
constexpr std::string_view kExportUsage = "msprof-analyze export timeline -d DIR";
constexpr const char* kFileName = "timeline.json.gz";

struct TimelineOptions {
  std::vector<std::string> words, captures;
  std::string output, from, to, around, max_events;
  bool python = false;
  RankOptions ranks;
};

// The captures: what stands behind the word "timeline", or the value of -d.
std::string CapturesOf(TimelineOptions& options) {
  if (options.words.empty() || options.words[0] != kThings[0])
    Fail(ErrorKind::kUsage, "give what to export: {}", kExportUsage);
  std::vector<std::string> given = options.captures;
  given.insert(given.end(), std::next(options.words.begin()), options.words.end());
  return PathOf(given, kExportUsage, options.ranks.open);
}

// Of -o: a file where the name says so, else the directory of the usual one.
fs::path OutputOf(const std::string& output) {
  const fs::path given =
      fs::absolute(output.empty() ? fs::current_path() : fs::path(ExpandHome(output)))
          .lexically_normal();
  const std::string name = given.filename().string();
  std::error_code ignored;
  const bool is_file =
      (name.ends_with(".json") || name.ends_with(".json.gz")) && !fs::is_directory(given, ignored);
  return is_file ? given : given / kFileName;
}

std::optional<TimeNs> ParseMs(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto time = io::ScaledDecimal(text, 6);
  if (!time || !IsTime(*time))
    Fail(ErrorKind::kUsage, "{} {}: give a time in ms, such as 12.5", option, text);
  return time;
}

std::size_t ParseMost(const std::string& text) {
  if (text.empty()) return kUsualSlices;
  const auto most = io::ParseInt(text);
  if (!most || *most <= 0)
    Fail(ErrorKind::kUsage, "--max_events {}: give a whole number above 0", text);
  return static_cast<std::size_t>(*most);
}

// The part of the job that is wanted. Times are ns from the begin of the first step.
struct Part {
  std::optional<std::int32_t> step;
  std::optional<TimeNs> from, to;
  std::string around;
};

Part PartOf(const TimelineOptions& options) {
  Part part{ParseStep("--step", options.ranks.step, StepForm::kNumberOrAll),
            ParseMs("--from", options.from), ParseMs("--to", options.to), options.around};
  const int kinds =
      (part.step ? 1 : 0) + (part.from || part.to ? 1 : 0) + (part.around.empty() ? 0 : 1);
  if (kinds > 1) Fail(ErrorKind::kUsage, "give one of --step, --from with --to, and --around");
  if (part.from && part.to && *part.from >= *part.to)
    Fail(ErrorKind::kUsage, "--from {} is not before --to {}", options.from, options.to);
  return part;
}

std::optional<Interval> WindowOf(const Part& part, const TimelinePlan& plan) {
  if (plan.focus) return plan.focus->place;
  if (!part.from && !part.to) return std::nullopt;
  return Interval{part.from ? plan.first_step + *part.from : std::numeric_limits<TimeNs>::min(),
                  part.to ? plan.first_step + *part.to : std::numeric_limits<TimeNs>::max()};
}

int RunExport(TimelineOptions options, Agent& agent) {
  const std::string captures = CapturesOf(options);
  const Part part = PartOf(options);
  const fs::path path = OutputOf(options.output);
  const std::size_t most = ParseMost(options.max_events);
  ClusterRequest request = options.ranks.Request(captures);
  const auto ranks = std::exchange(request.ranks, std::nullopt);
  request.step = std::nullopt;
  NewDirectories directories;
  directories.Add(path.parent_path());
  InContext("-o", [&] { io::PrepareOutputFile(path); });
  // Findings and clocks are those of the whole job.
  const Recipe diagnosis = DiagnosisRecipe();
  MappedRanks mapped = MapRanks(diagnosis, request);
  const TimelinePlan plan = PlanTimeline(mapped.parts, {}, part.around, mapped.absent);
  mapped.parts.clear();
  request.ranks = ranks;
  if (!ranks && plan.focus) request.ranks = {plan.focus->ranks.begin(), plan.focus->ranks.end()};
  const ExportedTimeline exported =
      ExportTimeline(plan, {request, part.step, WindowOf(part, plan), options.python, most, path});
  ClearProgressLine();
  AppendNew(exported.notes, mapped.notes);
  AppendNew(plan.notes, mapped.notes);
  LogNotes(mapped.notes);
  agent.Answer().question = "what ranks did, as one trace for trace viewers";
  agent.Answer().answer = exported.lines;
  agent.Wrote({path});
  if (!agent.IsWanted()) PrintLines(exported.lines);
  FinishStdout();
  LogNotice("the trace is in {}; https://ui.perfetto.dev opens it", path.string());
  return mapped.partial || exported.partial ? kExitPartial : 0;
}

constexpr const char* kWhatToShow = "What to show";

HelpPage ExportPage() {
  HelpPage page;
  page.summary =
      "Writes what ranks did as one trace on one clock, with the findings of the advisor, for"
      " https://ui.perfetto.dev and chrome://tracing.";
  page.usage = {"export timeline DIR [OPTIONS]", "export timeline -d DIR [OPTIONS]"};
  page.first = [](const CLI::Option& option) {
    return IsMostUsed(option) || option.get_group() == kWhatToShow;
  };
  page.after_options = {ExitCodeList({})};
  page.examples = {"export timeline -d ./result --ranks 0,5 --step 7",
                   "export timeline -d ./result --from 100 --to 250 -o part.json.gz",
                   "export timeline -d ./result --around rank.late_host/r5"};
  page.notes = {
      "All ranks are read first: findings and clocks are those of the whole job. The ranks to show"
      " are then read once more."};
  page.documents = {"timeline.md"};
  return page;
}

}  // namespace

Command AddExport(CLI::App& program, Agent& agent) {
  CLI::App* app =
      program.add_subcommand("export", "Write a trace of ranks on one clock, for trace viewers");
  const auto options = std::make_shared<TimelineOptions>();
  const OptionAdder add(*app);
  app->add_option("words", options->words)
      ->expected(-1)
      ->type_name("WORD")
      ->check(Suggested(kThings))
      ->group("");
  add("-d,--profiling_path", options->captures,
      "Directory with the captures of all ranks, or one capture, trace or database; several"
      " together form one job",
      "PATH", kMaxUsed)
      ->allow_extra_args(false);
  add("-o,--output_path", options->output,
      "File to write, NAME.json or NAME.json.gz, or a directory for timeline.json.gz [default: the"
      " current one]",
      "OUT", kMaxUsed);
  add("--ranks,--rank_list", options->ranks.rank_list,
      "Ranks to show, such as 0,1,4-7 [default: all; with --around those of the finding and one"
      " more]",
      "LIST", kWhatToShow);
  add("--step,--step_id", options->ranks.step, "One step of every rank [default: all]", "ID",
      kWhatToShow);
  add("--from", options->from, "Start, in ms after the start of the first step of the job", "MS",
      kWhatToShow);
  add("--to", options->to, "End, in ms after the start of the first step of the job", "MS",
      kWhatToShow);
  add("--around", options->around,
      "Show the place of a finding: its key, or its number in the list of 'advisor all'", "KEY",
      kWhatToShow);
  add.Flag("--python", options->python, "Also show Python functions", kWhatToShow);
  add("--max_events", options->max_events,
      "Number of slices to keep, the longest ones [default: 1000000]", "N", kWhatToShow);
  AddOpenOptions(*app, options->ranks.open);
  AddMemoryOption(*app, options->ranks.memory_limit)->group(kReading);
  return {app, [options, &agent] { return RunExport(*options, agent); }, ExportPage};
}

}  // namespace mpa
