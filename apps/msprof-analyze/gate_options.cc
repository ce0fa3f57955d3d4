// SPDX-License-Identifier: Apache-2.0
// The options of a gate, and what they mean.
#include "gate_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "choices.h"
#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/gate/comparable.h"
#include "mpa/pipeline/gate.h"
#include "mpa/writers/writers.h"

namespace mpa {
namespace {

constexpr const char* kDefaultRule = "step_time>+3%";

// Words that are separated by commas.
std::vector<std::string> Words(const std::vector<std::string>& lists) {
  std::vector<std::string> words;
  for (const std::string& list : lists) {
    for (const std::string_view word : Split(list, ',')) words.emplace_back(Trim(word));
  }
  return words;
}

// A field with a slip in it would allow nothing, silently.
void CheckField(std::string_view field) {
  const std::span<const std::string_view> known = gate::MismatchFields();
  if (std::ranges::find(known, field) != known.end()) return;
  Fail(ErrorKind::kUsage, "--allow_mismatch: '{}' is unknown; available: {}", field,
       fmt::join(known, ", "));
}

}  // namespace

HelpPage::List MetricsOfGates() {
  return {"Limits of a gate (--fail_on)",
          {{"step_time>+3%", "a step; the default"},
           {"comm_exposed>+5%&+200us", "both limits have to be exceeded"},
           {"peak_memory>+256MB", "the most memory that the allocators reserved"},
           {"op:MatMul*>+10%", "with a pattern: op:, kernel:, module:, api:"},
           {Say("other metrics"),
            "e2e, computing, comm_total, lccl, copies, free; for a server prefill:time_per_token"
            " and decode:time_per_token"}}};
}

void GateOptions::AddTo(CLI::App& command) {
  constexpr const char* kRules = "Gate: what fails a CI job";
  constexpr const char* kRuns =
      "Gate: runs (-d and -bp accept several, and directories of all ranks)";
  constexpr const char* kFiles = "Gate: files";
  const OptionAdder add(command);
  add("--fail_on", fail_on_,
      "Run as a gate: exit with 1 if a metric grows by more than this and the noise. Quote it for"
      " the shell; give it several times for several metrics",
      "EXPR", kRules)
      ->allow_extra_args(false);
  add("--gate", gate_file_,
      "JSON file with metrics, limits and floors, see docs/gate.md; options override it", "FILE",
      kRules);
  add("--min_abs", min_abs_,
      "Growth up to this is too small to decide [default: 20us,1MB, and at most 1 % of the metric]",
      "AMOUNT", kRules);
  add("--min_share", min_share_,
      "For times, growth up to this share of the step is too small to decide [default: 0.1%, and at"
      " most 1 % of the metric]",
      "PERCENT", kRules);
  add.Flag("--fail_on_new_op", fail_on_new_op_,
           "Exit with 1 if there are operators or kernel types that the base lacks", kRules);
  add.Flag("--strict", strict_,
           "Exit with 1 also if a metric is above its limit, but not above floor or noise", kRules);
  add.Flag("--warn_only", warn_only_, "Report a regression, but exit with 0", kRules);
  add("--on_inconclusive", on_inconclusive_,
      "How to treat metrics that are undecided or inconclusive: pass, warn or fail with 4"
      " [default: fail]",
      "ACTION", kRules)
      ->check(OneOf({"pass", "warn", "fail"}));
  add("--allow_mismatch", allow_mismatch_,
      "Compare even if these fields differ, such as cann_version,torch_npu_version", "FIELDS",
      kRules)
      ->allow_extra_args(false);

  add("--warmup", warmup_,
      "Ignore the first N steps of each run [default: those that are outliers]", "N", kRuns)
      ->check(CLI::Range(0, 1'000'000));
  add("--min_steps", min_steps_, "Steps that each run must have [default: 3]", "N", kRuns)
      ->check(CLI::Range(1, 1'000'000));
  add("--rank_stat", rank_stat_,
      "Rank to judge if there are several: worst, median or p95 [default: worst]", "STAT", kRuns)
      ->check(OneOf({"worst", "median", "p95"}));
  AddMemoryOption(command, memory_limit_)->group(kRuns);

  add("--save_baseline", save_baseline_,
      "Save a summary of the -d runs in a small file, for -bp FILE of later gates; without -bp"
      " nothing is judged",
      "FILE", kFiles);
  add.Flag("--update_baseline", update_baseline_,
           "Replace the -bp file with the -d runs if they are better by more than chance explains;"
           " until it has ten runs, add those that are equal to it",
           kFiles);
  add("--history", history_,
      "Add the -d runs and the verdict to this file, which is made if it is not there; see"
      " 'msprof-analyze history'. As -bp FILE its newest runs that passed are the base",
      "FILE", kFiles);
  add("--history_runs", history_runs_,
      "With a history as -bp, judge by the median of its newest N runs that passed [default: 10]",
      "N", kFiles)
      ->check(CLI::Range(1, 50));
  add("--label", label_,
      "Name of the run in the history [default: the commit or build that the CI job names]", "TEXT",
      kFiles);
  add("--noise", noise_,
      "How much runs of one program differ: a FILE made with --learn_noise, or auto for usual"
      " values and the spread of the runs [default: auto]",
      "FILE|auto", kFiles);
  add("--learn_noise", learn_noise_,
      "Write that file from three or more runs of one program: --learn_noise OUT.json A1 A2 A3",
      "OUT", kFiles);
}

bool GateOptions::Given() const {
  const bool texts = !(gate_file_.empty() && noise_.empty() && save_baseline_.empty() &&
                       learn_noise_.empty() && rank_stat_.empty() && min_abs_.empty() &&
                       min_share_.empty() && on_inconclusive_.empty() && memory_limit_.empty());
  return texts || !history_.empty() || !label_.empty() || history_runs_ || !fail_on_.empty() ||
         !allow_mismatch_.empty() || warmup_ || min_steps_ || fail_on_new_op_ || strict_ ||
         warn_only_ || update_baseline_;
}

bool GateOptions::Asked(const ExportOptions& exports, const std::vector<std::string>& base) const {
  const std::vector<std::string> names = exports.Names();
  const auto only_of_gates = [](const std::string& name) {
    return IsOneOf(name, {"junit", "openmetrics", "github"});
  };
  return Given() || std::ranges::any_of(names, only_of_gates) ||
         std::ranges::any_of(
             base, [](const std::string& path) { return IsBaselineFile(ExpandHome(path)); });
}

gate::GateSettings GateOptions::Settings() const {
  gate::GateSettings settings;
  if (!gate_file_.empty()) {
    InContext("--gate " + gate_file_,
              [&] { gate::ApplyGateFile(ReadDocument(ExpandHome(gate_file_)), settings); });
  }
  std::vector<gate::Rule> from_options;
  for (const std::string& expression : fail_on_) {
    gate::Rule rule = InContext("--fail_on", [&] { return gate::ParseRule(expression); });
    const bool twice = std::ranges::any_of(
        from_options, [&](const gate::Rule& other) { return other.metric == rule.metric; });
    if (twice) {
      Fail(ErrorKind::kUsage,
           "--fail_on {}: {} already has a limit; give one limit, '&' joins a share and an amount",
           expression, gate::NameOf(rule.metric));
    }
    // What the file says of the metric gives way.
    std::erase_if(settings.rules,
                  [&](const gate::Rule& other) { return other.metric == rule.metric; });
    from_options.push_back(std::move(rule));
  }
  settings.rules.insert(settings.rules.end(), from_options.begin(), from_options.end());
  if (settings.rules.empty()) settings.rules.push_back(gate::ParseRule(kDefaultRule));
  if (!min_abs_.empty()) InContext("--min_abs", [&] { gate::ApplyMinAbs(min_abs_, settings); });
  if (!min_share_.empty()) {
    settings.min_share = InContext("--min_share", [&] { return gate::ParseMinShare(min_share_); });
  }
  if (min_steps_) settings.min_steps = static_cast<std::size_t>(*min_steps_);
  if (warmup_) settings.warmup = static_cast<std::size_t>(*warmup_);
  settings.fail_on_new_op = fail_on_new_op_;
  for (std::string& field : Words(allow_mismatch_)) {
    CheckField(field);
    settings.allowed_mismatches.insert(std::move(field));
  }
  if (!noise_.empty() && noise_ != "auto") {
    settings.learned_noise = InContext("--noise", [&] { return ReadNoise(ExpandHome(noise_)); });
  }
  return settings;
}

gate::GatePolicy GateOptions::Policy() const {
  using Inconclusive = gate::GatePolicy::Inconclusive;
  gate::GatePolicy policy;
  policy.warn_only = warn_only_;
  policy.strict = strict_;
  if (on_inconclusive_ == "pass") {
    policy.on_inconclusive = Inconclusive::kPass;
  } else if (on_inconclusive_ == "warn") {
    policy.on_inconclusive = Inconclusive::kWarn;
  }
  return policy;
}

gate::RankStat GateOptions::RankStat() const {
  if (rank_stat_ == "median") return gate::RankStat::kMedian;
  if (rank_stat_ == "p95") return gate::RankStat::kP95;
  return gate::RankStat::kWorst;
}

gate::SummaryRequest GateOptions::Summary(const gate::GateSettings& settings) const {
  gate::SummaryRequest request;
  for (const gate::Rule& rule : settings.rules) {
    if (gate::HasPattern(rule.metric.kind)) request.patterns.push_back(rule.metric);
    request.requests = request.requests || gate::IsRequest(rule.metric.kind);
  }
  request.warmup = settings.warmup.value_or(0);
  request.modules = !save_baseline_.empty() || update_baseline_;
  return request;
}

std::string GateOptions::Label() const {
  if (!label_.empty()) return label_;
  for (const char* name :
       {"GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT", "BUILD_SOURCEVERSION", "BUILDKITE_COMMIT",
        "CIRCLE_SHA1", "BITBUCKET_COMMIT", "TRAVIS_COMMIT", "BUILD_NUMBER"}) {
    if (std::string value = Variable(name); !value.empty()) return value;
  }
  return "";
}

std::int64_t GateOptions::MemoryBytes() const {
  return ApplyMemoryLimit("--memory_limit", memory_limit_);
}

}  // namespace mpa
