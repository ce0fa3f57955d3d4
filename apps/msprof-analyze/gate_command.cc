// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze compare` as a gate.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <utility>

#include "agent.h"
#include "cluster_output.h"
#include "command.h"
#include "gate_options.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/progress.h"
#include "mpa/diagnosis/recipe.h"
#include "mpa/gate/history.h"
#include "mpa/gate/judge.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/gate.h"
#include "mpa/pipeline/history.h"
#include "mpa/writers/writers.h"
#include "printing.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// The test of the decision counts all divisions of the runs.
constexpr std::size_t kMaxRuns = 50;

// The runs of one side.
struct SideOfGate {
  std::vector<gate::RunSummary> runs;
  std::optional<gate::Baseline> baseline;  // when it was one file, without its runs
  std::vector<std::string> notes;
  bool partial = false;
};

SideOfGate Join(std::vector<LoadedRuns>::iterator first, std::vector<LoadedRuns>::iterator last,
                const char* option) {
  SideOfGate side;
  if (last - first == 1) side.baseline = std::move(first->baseline);
  for (; first != last; ++first) {
    std::move(first->runs.begin(), first->runs.end(), std::back_inserter(side.runs));
    std::move(first->notes.begin(), first->notes.end(), std::back_inserter(side.notes));
    side.partial = side.partial || first->partial;
  }
  if (side.runs.size() > kMaxRuns) {
    Fail(ErrorKind::kUsage, "{}: {} runs given; at most {} can be compared", option,
         side.runs.size(), kMaxRuns);
  }
  return side;
}

std::pair<SideOfGate, SideOfGate> Load(const GateInputs& inputs, const GateOptions& options,
                                       const gate::GateSettings& settings) {
  LoadRunsRequest request;
  request.summary = options.Summary(settings);
  request.rank_stat = options.RankStat();
  request.open = inputs.open;
  request.memory_bytes = options.MemoryBytes();
  request.count_repeated = options.LearnsNoise();
  request.history_runs = options.history_runs();
  const JobCauseFinder search{DiagnosisRecipe(), CausesOf};
  if (!options.LearnsNoise()) request.search = &search;
  std::vector<RunInput> all;
  for (const std::string& path : inputs.base) all.push_back({"-bp", ExpandHome(path)});
  for (const std::string& path : inputs.comparison) all.push_back({"-d", ExpandHome(path)});
  std::vector<LoadedRuns> loaded = LoadRuns(all, request);
  ClearProgressLine();
  const auto middle = loaded.begin() + static_cast<std::ptrdiff_t>(inputs.base.size());
  std::pair sides{Join(loaded.begin(), middle, "-bp"), Join(middle, loaded.end(), "-d")};
  for (const SideOfGate* side : {&sides.first, &sides.second}) {
    LogNotes(side->notes);
  }
  return sides;
}

// What is kept must be whole: everything would be compared with it.
bool IsWhole(const SideOfGate& side, const std::string& file) {
  if (side.partial) {
    LogWarning("{} was not written, because its data would be partial; see above", file);
  }
  return !side.partial;
}

void WriteBaseline(const gate::Baseline& baseline, const std::string& file) {
  WriteDocument(gate::BaselineToJson(baseline), ExpandHome(file));
  LogNotice("the baseline is in {}", file);
}

gate::Baseline AsBaseline(const SideOfGate& side) {
  return {UtcTimeStamp(), MPA_VERSION, side.runs, std::nullopt};
}

int LearnNoise(const SideOfGate& side, const std::string& file, Agent& agent) {
  constexpr std::size_t kMinRuns = 3;
  if (side.runs.size() < kMinRuns) {
    if (side.runs.size() == 1) {
      Fail(ErrorKind::kUsage, "--learn_noise: 1 run is too few; give {} of one program or more",
           kMinRuns);
    }
    Fail(ErrorKind::kUsage, "--learn_noise: {} runs are too few; give {} of one program or more",
         side.runs.size(), kMinRuns);
  }
  if (!IsWhole(side, file)) return kExitPartial;
  const gate::NoiseFloors noise = gate::LearnNoise(side.runs);
  WriteDocument(gate::NoiseToJson(noise, MPA_VERSION, side.runs.size()), ExpandHome(file));
  std::vector<std::string> lines;
  AgentTable table{.name = "noise", .columns = {"metric", "share"}, .of = noise.size()};
  for (const auto& [metric, part] : noise) {
    lines.push_back(fmt::format("{:>8.2f} % {}", 100 * part, metric));
    table.rows.push_back({metric, part});
  }
  agent.Answer().question = "how much the metrics of runs of one program differ";
  agent.Answer().tables = {std::move(table)};
  agent.Wrote({ExpandHome(file)});
  if (!agent.IsWanted()) PrintLines(lines);
  FinishStdout();
  LogNotice("the noise of {} runs is in {}", side.runs.size(), file);
  return 0;
}

constexpr const char* kSummaryFile = "GITHUB_STEP_SUMMARY";

// Where jobs of GitHub show Markdown; empty outside of them.
fs::path SummaryFile() { return Variable(kSummaryFile); }

constexpr const char* kStem = "gate";

void Deliver(const Report& report, const std::vector<ExportType>& types,
             const ExportOptions& exports, const fs::path& output, Agent& agent) {
  if (!agent.IsWanted()) exports.Show(report);
  if (exports.json()) LogNotice("{}", report.gate->short_headline);
  std::vector<std::string> notes;
  std::vector<fs::path> files;
  for (const ExportType& type : types) {
    if (!type.ending.empty()) {
      files.push_back(ReplaceReport(report, output, kStem, type, notes));
      LogNotice("the report is in {}", files.back().string());
      continue;
    }
    if (!agent.IsWanted()) Print(FormatGateAnnotations(*report.gate));
    if (const fs::path summary = SummaryFile(); !summary.empty()) {
      AppendGateSummary(*report.gate, summary);
    }
  }
  LogNotes(notes);
  if (agent.IsWanted()) agent.Show(report);
  agent.Wrote(files);
  FinishStdout();
}

void CheckUpdate(const GateInputs& inputs, const GateOptions& options) {
  if (!options.update_baseline()) return;
  const std::string file = inputs.base.size() == 1 ? ExpandHome(inputs.base.front()) : "";
  if (!IsBaselineFile(file) || IsHistoryFile(file)) {
    Fail(ErrorKind::kUsage,
         "--update_baseline: -bp has to be one baseline file; --save_baseline makes one");
  }
}

// What a baseline was made without is left out of the captures beside it, too.
void TakeWarmupOfBaselines(const GateInputs& inputs, gate::GateSettings& settings) {
  if (settings.warmup) return;
  std::size_t warmup = 0;
  const auto take = [&](const char* option, const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      warmup =
          std::max(warmup, InContext(option, [&] { return WarmupOfBaseline(ExpandHome(path)); }));
    }
  };
  take("-bp", inputs.base);
  take("-d", inputs.comparison);
  if (warmup > 0) settings.warmup = warmup;
}

// Everything that will be written, before any capture is read.
void PrepareFiles(const GateInputs& inputs, const GateOptions& options,
                  const std::vector<ExportType>& types, const fs::path& output,
                  NewDirectories& directories) {
  if (!types.empty()) directories.Add(output);
  for (const ExportType& type : types) {
    if (!type.ending.empty()) {
      InContext("-o", [&, &to_prepare = type] { PrepareReport(output, kStem, to_prepare); });
    } else if (const fs::path summary = SummaryFile(); !summary.empty()) {
      InContext(kSummaryFile, [&] { CheckGateSummary(summary); });
    }
  }
  std::vector<std::pair<const char*, std::string>> files = {
      {"--save_baseline", options.save_baseline()},
      {"--learn_noise", options.learn_noise()},
      {"--update_baseline", options.update_baseline() ? inputs.base.front() : ""},
  };
  const fs::path history = ExpandHome(options.history());
  const bool is_new = !options.history().empty() && !fs::exists(history);
  if (!is_new) InContext("--history", [&] { CheckHistory(history); });
  files.emplace_back("--history", is_new ? options.history() : "");
  for (const auto& [option, file] : files) {
    if (file.empty()) continue;
    directories.Add(fs::absolute(ExpandHome(file)).parent_path());
    InContext(option, [&name = file] { io::PrepareOutputFile(ExpandHome(name)); });
  }
}

// Improvements alone move the baseline, and its oldest values stay beside it: growth in small
// pieces adds up where it can be seen.
void Update(const GateInputs& inputs, const SideOfGate& base, const SideOfGate& comparison,
            const GateReport& report) {
  const std::string& file = inputs.base.front();
  gate::Baseline old = *base.baseline;
  old.runs = base.runs;
  if (const std::string reason = gate::WhyBaselineStays(report); !reason.empty()) {
    if (!gate::FillsBaseline(report, base.runs, comparison.runs)) {
      LogNotice("{} stays as it is: {}", file, reason);
      return;
    }
    std::ranges::copy(comparison.runs, std::back_inserter(old.runs));
    WriteBaseline(old, file);
    LogNotice("the runs were added to it, because they are equal to its own; it has {} now",
              old.runs.size());
    return;
  }
  if (!IsWhole(comparison, file)) return;
  gate::Baseline next = AsBaseline(comparison);
  next.anchor = gate::AnchorOf(old);
  WriteBaseline(next, file);
}

// A first gate has no runs to be judged by.
void LeaveOutNewHistory(const GateOptions& options, GateInputs& inputs) {
  const fs::path history = ExpandHome(options.history());
  if (options.history().empty() || fs::exists(history)) return;
  const auto is_history = [&](const std::string& path) { return ExpandHome(path) == history; };
  if (std::erase_if(inputs.base, is_history) > 0)
    LogNotice("{} is new: nothing is judged yet", history.string());
}

// Returns the files that were written.
std::vector<fs::path> AddToHistory(const GateOptions& options, const gate::GateSettings& settings,
                                   const SideOfGate& side, const GateReport* report) {
  const std::string& file = options.history();
  if (file.empty() || !IsWhole(side, file)) return {};
  gate::HistoryRun run = gate::AsHistoryRun(settings, side.runs, report);
  using std::chrono::nanoseconds;
  run.time =
      std::chrono::duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  run.label = options.Label();
  run.tool_version = MPA_VERSION;
  InContext("--history", [&] { mpa::AddToHistory(run, AsBaseline(side), ExpandHome(file)); });
  LogNotice("the run was added to {}", file);
  return {ExpandHome(file)};
}

}  // namespace

int RunGate(const GateInputs& given, const GateOptions& options, const ExportOptions& exports,
            Agent& agent) {
  GateInputs inputs = given;
  LeaveOutNewHistory(options, inputs);
  gate::GateSettings settings = options.Settings();
  const gate::GatePolicy policy = options.Policy();
  const std::vector<ExportType> types = exports.Types(ReportKind::kGate, "");
  CheckUpdate(inputs, options);
  const fs::path output = fs::absolute(ExpandHome(inputs.output)).lexically_normal();
  NewDirectories directories;
  PrepareFiles(inputs, options, types, output, directories);

  TakeWarmupOfBaselines(inputs, settings);
  auto [base, comparison] = Load(inputs, options, settings);
  if (options.LearnsNoise()) return LearnNoise(comparison, options.learn_noise(), agent);
  const bool saves = !options.save_baseline().empty();
  const bool saved = saves && IsWhole(comparison, options.save_baseline());
  if (saved) WriteBaseline(AsBaseline(comparison), options.save_baseline());
  if (base.runs.empty()) {
    agent.Wrote(AddToHistory(options, settings, comparison, nullptr));
    if (saved) agent.Wrote({ExpandHome(options.save_baseline())});
    return comparison.partial ? kExitPartial : 0;
  }

  const auto anchor = base.baseline ? base.baseline->anchor : std::nullopt;
  GateReport report = gate::Judge(settings, base.runs, comparison.runs, anchor);
  const bool partial = base.partial || comparison.partial;
  report.exit_code = gate::GateExitCode(report.verdict, partial, policy);
  if (partial) gate::HoldBackVerdicts(report);
  report.base = inputs.base;
  report.comparison = inputs.comparison;
  report.notes = base.notes;
  report.notes.insert(report.notes.end(), comparison.notes.begin(), comparison.notes.end());
  Deliver(gate::ReportOf(report), types, exports, output, agent);
  (void)AddToHistory(options, settings, comparison, &report);
  if (options.update_baseline()) Update(inputs, base, comparison, report);
  const bool not_decided =
      report.verdict == GateVerdict::kInconclusive || report.verdict == GateVerdict::kUndecided;
  if (not_decided && !policy.strict &&
      policy.on_inconclusive == gate::GatePolicy::Inconclusive::kWarn) {
    LogWarning("the gate could not decide; --on_inconclusive can let it pass");
  }
  return report.exit_code;
}

}  // namespace mpa
