// SPDX-License-Identifier: Apache-2.0
// How a capture was collected: settings, versions, and the facts in the directory's name.
#include <set>

#include "file_checks.h"
#include "json_members.h"
#include "mpa/io/json_document.h"
#include "scan_rank.h"
#include "survey_parts.h"

namespace mpa {
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
                              problem + "; the collection settings stay unknown",
                              "copy the file again",
                              {}});
  }
}

// Newer versions may store their version apart from the settings.
void ReadMetadata(const RankInput& input, const fs::path& capture, RankFacts& facts) {
  for (const char* name : {"version.json", "profiler_metadata.json"}) {
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
  std::set<std::int64_t> ranks;
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
  facts.rank = input.host_rank;
  if (const auto& settings = facts.settings) {
    if (settings->rank) facts.rank = settings->rank;
    if (!settings->rank_problem.empty()) {
      facts.warnings.push_back(
          {"rank_contradicts_name", settings->rank_problem, "correct rank_id", {}});
    }
    facts.torch_npu_version = settings->torch_npu_version;
    facts.cann_version = settings->cann_version;
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

}  // namespace mpa
