// SPDX-License-Identifier: Apache-2.0
// Gathers the facts of all captures below a path.
#include "mpa/capture/survey.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "file_checks.h"
#include "json_members.h"
#include "mpa/base/language.h"
#include "mpa/base/parallel.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/capture/recorded_settings.h"
#include "mpa/io/json_document.h"
#include "scan_rank.h"
#include "server_files.h"
#include "survey_parts.h"

namespace mpa {
namespace {

void SurveyMsprofOutput(const MsprofOutput& output, RankFacts& facts) {
  facts.unread_tables = output.unread;
  facts.framework = "msprof";
  if (!output.earlier.empty()) {
    facts.warnings.push_back({"several_exports", "exported several times: the last export is read",
                              "delete earlier exports", output.earlier});
  }
  for (const std::string& slice : output.lost_slices) {
    facts.complete = Recorded::kNo;
    facts.warnings.push_back({"lost_slice",
                              Say("{} is missing, what it holds is lost", slice),
                              "copy the capture again",
                              {}});
  }
}

void WarnOfUnreadDatabases(const RankInput& input, RankFacts& facts) {
  if (input.unread_databases.empty()) return;
  facts.warnings.push_back({"several_databases",
                            Say("several databases: {} is read, others are not",
                                input.files.front().path.filename().string()),
                            "keep one database per capture", input.unread_databases});
}

// What other files than those with the settings know of versions, and what was too much.
void CompleteSettings(RankFacts& facts) {
  const std::pair<const char*, const std::string&> versions[] = {
      {"torch_npu_version", facts.torch_npu_version}, {"cann_version", facts.cann_version}};
  for (const auto& [name, version] : versions) {
    if (!version.empty()) AddSetting(SettingKind::kVersion, name, version, facts.all_settings);
  }
  for (const auto& [kind, values] : facts.all_settings) {
    if (values.size() < kMaxSettings) continue;
    facts.warnings.push_back({"many_settings",
                              Say("more than {} settings of kind {}: the rest is left out",
                                  kMaxSettings - 1, NameOf(kind)),
                              "keep large documents out of add_metadata()",
                              {}});
  }
}

void WarnOfSources(const RankInput& input, RankFacts& facts) {
  if (!input.rank_conflict.empty()) {
    facts.warnings.push_back(
        {"rank_sources_differ", input.rank_conflict, "correct those that are wrong", {}});
  }
  if (!input.rank_origin.empty()) {
    facts.warnings.push_back({"rank_from_group",
                              input.rank_origin,
                              "keep profiler_info_<rank>.json beside each capture",
                              {}});
  }
}

// A snapshot alone has memory, and nothing else.
void SurveySnapshot(RankFacts& facts) {
  facts.framework = "PyTorch";
  for (const RecordedContent& content : kRecordedContents)
    facts.recorded.*content.state = Recorded::kNo;
  facts.recorded.memory = facts.recorded.op_memory = Recorded::kYes;
}

// Files behind links that are not followed count as absent, apart from a warning.
void LeaveOutLinks(RankInput& input, RankFacts& facts) {
  for (const CaptureFile& file : input.files) {
    OrWarn(facts, "it is not read", [&] { CheckFollowed(file); });
  }
  std::erase_if(input.files, [](const CaptureFile& file) { return !file.outside.empty(); });
}

}  // namespace

RankFacts SurveyRank(RankInput input) {
  RankFacts facts;
  LeaveOutLinks(input, facts);
  facts.path = input.path;
  facts.kind = input.kind;
  facts.id = input.rank;
  if (input.rank.IsNumber()) facts.rank = input.rank.Number();
  std::error_code ignored;
  facts.single_file = !std::filesystem::is_directory(input.path, ignored);
  for (const CaptureFile& file : input.files) facts.bytes += file.bytes;
  facts.snapshots = input.Find(FileKind::kMemorySnapshot) != nullptr;
  facts.scheduler_traces = input.Find(FileKind::kSchedulerTrace) != nullptr;
  if (facts.kind == CaptureKind::kSnapshot) {
    SurveySnapshot(facts);
  } else if (IsKineto(facts.kind)) {
    SurveyKineto(input, facts);
  } else {
    SurveySettings(input, facts);
    if (facts.kind == CaptureKind::kNpuDb) SurveyDb(input, facts);
    if (facts.kind == CaptureKind::kNpuText) SurveyText(input, facts);
    SurveyRaw(input, facts);
  }
  if (input.msprof) SurveyMsprofOutput(*input.msprof, facts);
  if (input.Find(FileKind::kHardwareTable) != nullptr) facts.recorded.hardware = Recorded::kYes;
  WarnOfUnreadDatabases(input, facts);
  CompleteSettings(facts);
  WarnOfSources(input, facts);
  WarnOfCollection(facts);
  return facts;
}

namespace {

std::vector<RankFacts> SurveyServers(std::vector<RankInput> servers) {
  NameRanks(servers);
  std::vector<RankFacts> all;
  for (const RankInput& server : servers) {
    RankFacts facts;
    facts.path = server.path;
    facts.kind = server.kind;
    facts.id = server.rank;
    for (const CaptureFile& file : server.files) {
      facts.bytes += file.bytes;
      facts.server_tables.push_back(file.path.stem().string());
    }
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace

Survey SurveyCaptures(const std::filesystem::path& path, const OpenOptions& options) {
  Discovery found = Discover(path, options);
  std::vector<Discovery::Unusable> inputs = std::move(found.unusable);
  // A directory of such records alone is no broken capture.
  std::erase_if(inputs, [](const Discovery::Unusable& input) {
    return input.reason == Translated(kServerProblem);
  });
  for (RankInput& rank : found.ranks) inputs.push_back({std::move(rank), ""});

  Survey survey;
  survey.path = std::filesystem::canonical(path);
  survey.servers = SurveyServers(std::move(found.servers));
  std::vector<RankInput> named;
  for (Discovery::Unusable& input : inputs) named.push_back(std::move(input.rank));
  NameRanks(named);
  for (const RankInput& input : named) {
    if (!input.impossible_rank) continue;
    survey.warnings.push_back({"rank_impossible",
                               Say("rank {} is out of range", *input.impossible_rank),
                               "correct the number in the name of profiler_info or the database",
                               {input.path}});
  }
  survey.ranks.resize(inputs.size());
  ParallelFor(inputs.size(), [&](std::size_t i) {
    survey.ranks[i] = SurveyRank(std::move(named[i]));
    if (survey.ranks[i].problem.empty()) survey.ranks[i].problem = inputs[i].reason;
  });
  StableSort(survey.ranks, [](const RankFacts& a, const RankFacts& b) {
    return std::tie(a.id, a.path) < std::tie(b.id, b.path);
  });
  WarnOfRanks(survey);
  WarnOfDynamicProfile(survey);
  return survey;
}

// How a capture was collected: settings, versions, and the facts in the directory's name.

namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

void FindSettings(const RankInput& input, const fs::path& capture, RankFacts& facts) {
  facts.settings = input.info;
  std::string problem = input.info_problem;
  try {
    if (!facts.settings && problem.empty()) {
      if (const auto path = FindProfilerInfo(capture)) {
        CheckWithin(input, *path);
        facts.settings = ReadProfilerInfo(*path);
      }
    }
    for (const fs::path& directory : {capture, capture.parent_path()}) {
      const fs::path config = directory / "profiler_config.json";
      if (facts.settings || !Exists(config)) continue;
      CheckWithin(input, config);
      facts.settings = ReadProfilerConfig(config);
    }
  } catch (const Error& error) {
    problem = error.what();
  }
  if (!problem.empty()) {
    facts.warnings.push_back({"broken_settings",
                              Say("{}; the collection settings stay unknown", problem),
                              "copy the file again",
                              {}});
  }
}

// Newer versions may store their version apart from the settings.
void ReadMetadata(const RankInput& input, const fs::path& capture, RankFacts& facts) {
  constexpr std::string_view kMetadataFile = "profiler_metadata.json";
  for (const std::string_view name : {std::string_view("version.json"), kMetadataFile}) {
    if (!Exists(capture / name)) continue;
    OrWarn(facts, "it is left out", [&] {
      CheckWithin(input, capture / name);
      const nlohmann::json document = io::ReadJson(capture / name);
      const auto take = [&](const char* key, std::string& version) {
        if (version.empty()) version = Text(Member(document, key));
      };
      take("torch_npu_version", facts.torch_npu_version);
      take("cann_version", facts.cann_version);
      if (!facts.world_size) facts.world_size = WorldSize(Member(document, "parallel_group_info"));
      if (name == kMetadataFile) AddMetadata(document, facts.all_settings);
    });
  }
}

// <worker>_<process>_<time>_ascend_pt; the worker is the host unless the job named it.
std::string WorkerInName(std::string name) {
  const auto cut_digits = [&name](std::size_t at_least) {
    const std::size_t underscore = name.rfind('_');
    if (underscore == std::string::npos || name.size() - underscore - 1 < at_least) return false;
    if (name.find_first_not_of("0123456789", underscore + 1) != std::string::npos) return false;
    name.resize(underscore);
    return true;
  };
  constexpr std::size_t kSuffix = std::string_view("_ascend_pt").size();
  if (name.size() <= kSuffix) return "";
  name.resize(name.size() - kSuffix);
  constexpr std::size_t kTimeDigits = 14;
  return cut_digits(kTimeDigits) && cut_digits(1) ? name : "";
}

}  // namespace

std::optional<std::int64_t> WorldSize(const nlohmann::json& parallel_group_info) {
  std::set<RankId> ranks;
  if (!parallel_group_info.is_object()) return std::nullopt;
  for (const auto& [id, group] : parallel_group_info.items()) {
    const nlohmann::json& of_group = Member(group, "global_ranks");
    if (!of_group.is_array()) continue;
    for (const nlohmann::json& value : of_group) {
      if (const auto rank = Id(value)) ranks.insert(*rank);
    }
  }
  if (ranks.empty()) return std::nullopt;
  return static_cast<std::int64_t>(ranks.size());
}

void SurveySettings(const RankInput& input, RankFacts& facts) {
  const fs::path capture = CaptureDirectory(input.path);
  const std::string name = capture.filename().string();
  if (name.ends_with("_ascend_pt")) facts.framework = "PyTorch";
  if (name.ends_with("_ascend_ms")) facts.framework = "MindSpore";
  if (!facts.framework.empty()) facts.host = WorkerInName(name);
  FindSettings(input, capture, facts);
  if (const auto& settings = facts.settings) {
    if (!settings->rank_problem.empty()) {
      facts.warnings.push_back(
          {"rank_contradicts_name", settings->rank_problem, "correct rank_id", {}});
    }
    facts.torch_npu_version = settings->torch_npu_version;
    facts.cann_version = settings->cann_version;
    facts.all_settings = settings->recorded;
    Contents& recorded = facts.recorded;
    recorded.stacks = YesIf(settings->with_stack || settings->with_modules);
    recorded.mstx = YesIf(settings->mstx);
    if (!settings->activities.empty()) {
      recorded.host_ops = YesIf(settings->HasActivity("ProfilerActivity.CPU"));
    }
  }
  ReadMetadata(input, capture, facts);
  if (facts.framework.empty() && !facts.torch_npu_version.empty()) facts.framework = "PyTorch";
}

// What makes a capture misleading: settings that cost host time, missing steps, unclear ranks.

namespace {

struct Switch {
  const char* name;
  bool on;
};

void WarnOfOverhead(const char* id, std::initializer_list<Switch> switches, const char* effect,
                    RankFacts& facts) {
  std::vector<std::string> on, off;
  for (const Switch& setting : switches) {
    if (!setting.on) continue;
    on.emplace_back(setting.name);
    off.push_back(fmt::format("{}=False", setting.name));
  }
  if (on.empty()) return;
  facts.warnings.push_back(
      {id,
       Say("{} on: {}", fmt::join(on, Translated(" and ")), Translated(effect)),
       Say("{} for measuring times", fmt::join(off, ", ")),
       {}});
}

void WarnOfSchedule(const ProfilerSchedule& schedule, RankFacts& facts) {
  if (schedule.active <= 0) return;
  if (schedule.warmup == 0) {
    facts.warnings.push_back({"no_warmup",
                              "no warm-up step: the first recorded step includes the start of the"
                              " profiler and looks slower than it is",
                              "warmup=1 or more in the schedule; leave the first step out",
                              {}});
  }
  const auto recorded = facts.steps ? static_cast<std::int64_t>(facts.steps->size()) : -1;
  if (recorded < 0 || recorded >= schedule.active) return;
  facts.warnings.push_back(
      {"steps_missing",
       recorded == 1 ? Say("{} active steps were scheduled, 1 is in the capture", schedule.active)
                     : Say("{} active steps were scheduled, {} are in the capture", schedule.active,
                           recorded),
       Say("call step() after each iteration, for at least {} iterations before the end"
           " (skip_first + wait + warmup + active)",
           schedule.skip_first + schedule.wait + schedule.warmup + schedule.active),
       {}});
}

bool IsProfilerInfo(const ProfilerInfo& settings) {
  return settings.path.filename().string().starts_with("profiler_info");
}

void WarnOfEnd(RankFacts& facts) {
  const bool no_end = facts.settings && IsProfilerInfo(*facts.settings) && !facts.settings->has_end;
  if (no_end || facts.stopped == Recorded::kNo) {
    facts.warnings.push_back({"not_stopped",
                              "no end_info: the profiler was not stopped properly, and the end of"
                              " the run may be missing",
                              "call stop() on the profiler, or use it in a with statement",
                              {}});
  }
}

}  // namespace

void WarnOfCollection(RankFacts& facts) {
  WarnOfEnd(facts);
  if (!facts.settings) return;
  const ProfilerInfo& settings = *facts.settings;
  if (settings.schedule) WarnOfSchedule(*settings.schedule, facts);
  WarnOfOverhead("stacks_inflate_host_time",
                 {{"with_stack", settings.with_stack}, {"with_modules", settings.with_modules}},
                 "host times are inflated, most for small operators; with a slower host the device"
                 " waits more, so free time grows too",
                 facts);
  WarnOfOverhead(
      "details_inflate_host_time",
      {{"record_shapes", settings.record_shapes}, {"profile_memory", settings.profile_memory}},
      "every operator and allocation takes a little longer on the host", facts);
}

void WarnOfRanks(Survey& survey) {
  std::map<std::int64_t, std::vector<std::filesystem::path>> paths_of_rank;
  std::vector<std::filesystem::path> unknown;
  for (const RankFacts& facts : survey.ranks) {
    (facts.rank ? paths_of_rank[*facts.rank] : unknown).push_back(facts.path);
  }
  for (auto& [rank, paths] : paths_of_rank) {
    if (paths.size() < 2) continue;
    survey.warnings.push_back(
        {"rank_claimed_twice", Say("{} captures claim rank {}", paths.size(), rank),
         "analyse one run at a time, or correct rank_id in profiler_info", std::move(paths)});
  }
  if (!unknown.empty() && survey.ranks.size() > 1) {
    survey.warnings.push_back(
        {"rank_unknown",
         Say("{} of {} captures have no rank number; they are named after their folders",
             unknown.size(), survey.ranks.size()),
         "keep profiler_info_<rank>.json beside each capture", std::move(unknown)});
  }
}

}  // namespace mpa
