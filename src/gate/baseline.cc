// SPDX-License-Identifier: Apache-2.0
// Runs as a document, and back.
#include "mpa/gate/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "json_values.h"
#include "levels.h"
#include "mpa/base/language.h"
#include "mpa/change/account_names.h"
#include "mpa/measure/quantiles.h"
#include "requests.h"

namespace mpa::gate {
namespace {

using nlohmann::json;

// Up to version 1 free time had the copies in it. Up to version 2 the peak of the memory was that
// of the process in some forms of captures, and e2e lacked both ends in those of older exporters.
constexpr int kBaselineVersion = 3;
// What ranking the runs takes grows with the third power of their number.
constexpr std::size_t kMaxRuns = 100;

struct Section {
  const char* key;
  TimesByName Breakdown::*times;
  bool is_newer = false;  ///< baselines of versions before tell nothing of it
};
constexpr Section kSections[] = {
    {"kernels", &Breakdown::kernels},
    {"op_types", &Breakdown::op_types},
    {"operators", &Breakdown::operators},
    {"modules", &Breakdown::modules},
    {"apis", &Breakdown::apis},
    {"collectives", &Breakdown::collectives},
    {"capture", &Breakdown::capture, true},
    {"account", &Breakdown::account, true},
    {"places", &Breakdown::places, true},
    {"phases", &Breakdown::phases, true},
};

json CausesToJson(const JobCauses& of) {
  json causes = json::array();
  for (const JobCause& cause : of.causes) {
    causes.push_back({{"key", cause.key},
                      {"text", cause.text},
                      {"detail", cause.detail},
                      {"cost_ns", cause.cost},
                      {"is_fault", cause.is_fault},
                      {"is_hidden", cause.is_hidden}});
  }
  return {{"step_ns", of.step}, {"least_ns", of.least}, {"causes", std::move(causes)}};
}

JobCauses CausesFromJson(const json& object) {
  AsObject(object, "causes");
  JobCauses of{AsAmount(RequiredMember(object, "step_ns"), "step_ns"),
               AsAmount(RequiredMember(object, "least_ns"), "least_ns"),
               {}};
  for (const json& cause : AsArray(RequiredMember(object, "causes"), "causes")) {
    AsObject(cause, "causes");
    of.causes.push_back({AsText(RequiredMember(cause, "key"), "key"),
                         AsText(RequiredMember(cause, "text"), "text"),
                         AsText(RequiredMember(cause, "detail"), "detail"),
                         AsAmount(RequiredMember(cause, "cost_ns"), "cost_ns"),
                         AsFlag(RequiredMember(cause, "is_fault"), "is_fault"),
                         AsFlag(RequiredMember(cause, "is_hidden"), "is_hidden")});
  }
  return of;
}

json RunToJson(const RunSummary& run) {
  json samples = json::object();
  for (const auto& [metric, values] : run.samples) samples[NameOf(metric)] = values;
  json medians = json::object();
  for (const Section& section : kSections) {
    json& times = medians[section.key] = json::object();
    for (const auto& [name, amount] : run.breakdown.*section.times) {
      times[name] = {amount.time, amount.count};
    }
  }
  json settings = json::object();
  for (const auto& [kind, values] : run.settings) settings[std::string(NameOf(kind))] = values;
  json object = {{"source", run.source}, {"facts", run.facts}, {"settings", settings},
                 {"steps", run.steps},   {"samples", samples}, {"medians", medians},
                 {"shapes", run.shapes}};
  if (run.causes) object["causes"] = CausesToJson(*run.causes);
  if (run.is_older) object["is_older"] = true;  // it stays what it is, whoever writes it anew
  return object;
}

TimesByName TimesFromJson(const json& object, const char* key) {
  TimesByName times;
  std::int64_t sum = 0;
  for (const auto& [name, pair] : AsObject(object, key).items()) {
    if (AsArray(pair, name.c_str()).size() != 2) {
      Fail(ErrorKind::kCorrupt, "{}: two numbers were expected, ns and calls", name);
    }
    times[name] = {AsAmount(pair[0], name.c_str()), AsAmount(pair[1], name.c_str())};
    sum += times[name].time;
    if (sum > kMaxAmount) Fail(ErrorKind::kCorrupt, "{}: it is longer than the step", key);
  }
  return times;
}

// What version 1 called free time is left out, where copies may be in it.
void TakeOutCopies(RunSummary& run) {
  const auto& account = run.breakdown.account;
  const auto copies = account.lower_bound("copy.");
  const bool has_none =
      !account.empty() && (copies == account.end() || !copies->first.starts_with("copy."));
  if (!has_none) run.samples.erase({MetricKind::kFree, ""});
  TimesByName& capture = run.breakdown.capture;
  if (auto free = capture.extract(kFreeTime)) {
    free.key() = kFreeBetweenTasks;
    capture.insert(std::move(free));
  }
}

// What versions before 3 measured otherwise in some captures; they do not say of which kind theirs
// is. Without steps the parts of e2e are those metrics.
void TakeOutMeasuredOtherwise(RunSummary& run) {
  run.samples.erase({MetricKind::kPeakMemory, ""});
  run.samples.erase({MetricKind::kE2e, ""});
  if (run.steps.empty()) run.samples.erase({MetricKind::kFree, ""});
  run.breakdown.capture.clear();
  run.is_older = true;
}

// Baselines of versions before keep those that sides have to agree in, as facts.
RecordedSettings SettingsFromFacts(const Facts& facts) {
  RecordedSettings settings;
  for (const std::string name :
       {"torch_npu_version", "cann_version", "profiler_level", "aic_metrics", "activities",
        "record_shapes", "profile_memory", "with_stack", "with_modules"}) {
    const auto found = facts.find(name);
    if (found == facts.end()) continue;
    const bool is_version = name.ends_with("_version");
    AddSetting(is_version ? SettingKind::kVersion : SettingKind::kProfiler, name, found->second,
               settings);
  }
  return settings;
}

RecordedSettings SettingsFromJson(const json& object) {
  RecordedSettings settings;
  for (const SettingKind kind : kSettingKinds) {
    const std::string name(NameOf(kind));
    const auto found = AsObject(object, "settings").find(name);
    if (found == object.end()) continue;
    settings[kind];
    for (const auto& [setting, value] : AsObject(*found, name.c_str()).items())
      AddSetting(kind, setting, AsText(value, setting.c_str()), settings);
  }
  return settings;
}

RunSummary RunFromJson(const json& object) {
  AsObject(object, "run");
  RunSummary run;
  run.source = AsText(RequiredMember(object, "source"), "source");
  for (const auto& [field, value] : AsObject(RequiredMember(object, "facts"), "facts").items()) {
    run.facts[field] = AsText(value, field.c_str());
  }
  run.settings = object.contains("settings") ? SettingsFromJson(object["settings"])
                                             : SettingsFromFacts(run.facts);
  for (const json& step : AsArray(RequiredMember(object, "steps"), "steps")) {
    const std::int64_t id = AsInteger(step, "steps");
    if (id < 0 || id > std::numeric_limits<std::int32_t>::max()) {
      Fail(ErrorKind::kCorrupt, "steps: invalid step {}", id);
    }
    run.steps.push_back(static_cast<std::int32_t>(id));
  }
  for (const auto& [name, list] : AsObject(RequiredMember(object, "samples"), "samples").items()) {
    Metric metric;
    try {
      metric = ParseMetric(name);
    } catch (const Error& error) {  // a wrong file is not a wrong command line
      Fail(ErrorKind::kCorrupt, "samples: {}", error.what());
    }
    for (const json& value : AsArray(list, name.c_str())) {
      run.samples[metric].push_back(AsAmount(value, name.c_str()));
    }
  }
  const json& medians = AsObject(RequiredMember(object, "medians"), "medians");
  for (const Section& section : kSections) {
    if (section.is_newer && !medians.contains(section.key)) continue;
    run.breakdown.*section.times = TimesFromJson(RequiredMember(medians, section.key), section.key);
  }
  for (const auto& [shape, count] : AsObject(RequiredMember(object, "shapes"), "shapes").items()) {
    run.shapes[shape] = AsAmount(count, "shapes");
  }
  if (const auto older = object.find("is_older"); older != object.end()) {
    run.is_older = AsFlag(*older, "is_older");
  }
  if (const auto causes = object.find("causes"); causes != object.end())
    run.causes = CausesFromJson(*causes);
  return run;
}

}  // namespace

json BaselineToJson(const Baseline& baseline) {
  json runs = json::array();
  for (const RunSummary& run : baseline.runs) runs.push_back(RunToJson(run));
  json document = {{"kind", kBaselineKind},
                   {"schema_version", kBaselineVersion},
                   {"tool_version", baseline.tool_version},
                   {"created", baseline.created},
                   {"runs", std::move(runs)}};
  if (baseline.anchor) {
    document["oldest_anchor"] = {{"created", baseline.anchor->created},
                                 {"tool_version", baseline.anchor->tool_version},
                                 {"medians", baseline.anchor->medians}};
  }
  return document;
}

Baseline BaselineFromJson(const json& document) {
  CheckDocument(document, kBaselineKind, kBaselineVersion);
  Baseline baseline;
  baseline.tool_version = AsText(RequiredMember(document, "tool_version"), "tool_version");
  baseline.created = AsText(RequiredMember(document, "created"), "created");
  const json& runs = AsArray(RequiredMember(document, "runs"), "runs");
  if (runs.size() > kMaxRuns) {
    Fail(ErrorKind::kCorrupt, "runs: {} given; at most {} can be judged", runs.size(), kMaxRuns);
  }
  for (const json& run : runs) {
    InContext(Say("run {}", baseline.runs.size() + 1),
              [&] { baseline.runs.push_back(RunFromJson(run)); });
  }
  const std::int64_t version = AsInteger(document["schema_version"], "schema_version");
  if (version < 2) std::ranges::for_each(baseline.runs, TakeOutCopies);
  if (version < 3) std::ranges::for_each(baseline.runs, TakeOutMeasuredOtherwise);
  if (baseline.runs.empty()) Fail(ErrorKind::kCorrupt, "runs: the list is empty");
  if (const auto found = document.find("oldest_anchor"); found != document.end()) {
    AsObject(*found, "oldest_anchor");
    Anchor& anchor = baseline.anchor.emplace();
    anchor.created = AsText(RequiredMember(*found, "created"), "created");
    anchor.tool_version = AsText(RequiredMember(*found, "tool_version"), "tool_version");
    const json& medians = AsObject(RequiredMember(*found, "medians"), "medians");
    for (const auto& [name, value] : medians.items()) {
      anchor.medians[name] = AsAmount(value, name.c_str());
    }
    if (version < 2) anchor.medians.erase("free");
    if (version < 3) {
      anchor.medians.erase("peak_memory");
      anchor.medians.erase("e2e");
    }
  }
  return baseline;
}

Anchor AnchorOf(const Baseline& old) {
  if (old.anchor) return *old.anchor;
  Anchor anchor{old.created, old.tool_version, {}};
  for (const auto& [metric, median] : MediansOf(old.runs)) anchor.medians[NameOf(metric)] = median;
  return anchor;
}

// Noise that is known before the runs are judged.

namespace {

constexpr const char* kKind = "msprof-analyze-noise";
constexpr int kNoiseVersion = 1;

}  // namespace

std::vector<Metric> MetricsOf(const RunSummary& run) {
  std::vector<Metric> metrics;
  for (const auto& [metric, samples] : run.samples) {
    if (!IsRequest(metric.kind)) {
      metrics.push_back(metric);
      continue;
    }
    for (const int percent : {50, 90, 99}) metrics.push_back(WithPercentile(metric, percent));
  }
  return metrics;
}

NoiseFloors LearnNoise(const std::vector<RunSummary>& runs) {
  NoiseFloors floors;
  for (const Metric& metric : MetricsOf(runs.front())) {
    std::vector<std::int64_t> medians;
    for (const RunSummary& run : runs) {
      if (IsRequest(metric.kind)) {
        for (const std::int64_t value : ValueOfRequests(run, metric)) medians.push_back(value);
        continue;
      }
      const auto found = run.samples.find(metric);
      if (found != run.samples.end() && !found->second.empty()) {
        medians.push_back(Median(found->second));
      }
    }
    const std::int64_t middle = std::abs(Median(medians));
    if (medians.size() != runs.size() || middle == 0) continue;
    const double spread =
        std::sqrt(SquaredDistances(medians) / static_cast<double>(medians.size() - 1));
    floors[NameOf(metric)] = spread / static_cast<double>(middle);
  }
  return floors;
}

double UsualNoise(const Metric& metric, double share) {
  constexpr double kSmallShare = 0.01;
  switch (metric.kind) {
    case MetricKind::kStepTime:
    case MetricKind::kE2e:
    case MetricKind::kPrefill:
    case MetricKind::kDecode:
      return 0.003;
    case MetricKind::kComputing:
      return 0.002;
    case MetricKind::kFree:
      return 2.19;
    case MetricKind::kCommExposed:
    case MetricKind::kCommTotal:
    case MetricKind::kLccl:
    case MetricKind::kCopies:
    case MetricKind::kOp:
    case MetricKind::kKernel:
    case MetricKind::kModule:
    case MetricKind::kApi:
      return share < kSmallShare ? 0.11 : 0;
    case MetricKind::kStepTimeMax:
    case MetricKind::kStepTimeP99:
      return 0.02;
    case MetricKind::kRequest:  // their own noise says it
    case MetricKind::kPeakMemory:
    case MetricKind::kMemoryGrowth:
      break;
  }
  return 0;
}

nlohmann::json NoiseToJson(const NoiseFloors& floors, const std::string& tool_version,
                           std::size_t runs) {
  return {{"kind", kKind},
          {"schema_version", kNoiseVersion},
          {"tool_version", tool_version},
          {"runs", runs},
          {"relative_noise", floors}};
}

NoiseFloors NoiseFromJson(const nlohmann::json& document) {
  CheckDocument(document, kKind, kNoiseVersion);
  NoiseFloors floors;
  const char* key = "relative_noise";
  for (const auto& [name, value] : AsObject(RequiredMember(document, key), key).items()) {
    const double noise = AsNumber(value, name.c_str());
    if (!std::isfinite(noise) || noise < 0) {
      Fail(ErrorKind::kCorrupt, "{}: noise is a number of at least 0", name);
    }
    floors[name] = noise;
  }
  return floors;
}

}  // namespace mpa::gate
