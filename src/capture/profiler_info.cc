// SPDX-License-Identifier: Apache-2.0
// The profiler's own settings.
#include <algorithm>

#include "json_members.h"
#include "mpa/capture/capture.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"

namespace mpa {
namespace {

using Json = nlohmann::json;

// Versions differ in the leading underscore.
const Json& EitherMember(const Json& object, const char* key, const char* other_key) {
  const Json& found = Member(object, key);
  return found.is_null() ? Member(object, other_key) : found;
}

std::optional<ProfilerSchedule> Schedule(const Json& value) {
  if (!value.is_object()) return std::nullopt;
  const auto number = [&](const char* key) { return WholeNumber(Member(value, key)).value_or(0); };
  return ProfilerSchedule{.wait = number("wait"),
                          .warmup = number("warmup"),
                          .active = number("active"),
                          .repeat = number("repeat"),
                          .skip_first = number("skip_first")};
}

void ReadSettings(const Json& common, const Json& experimental, ProfilerInfo& info) {
  info.level = Text(EitherMember(experimental, "_profiler_level", "profiler_level"));
  info.aic_metrics = Text(EitherMember(experimental, "_aic_metrics", "aic_metrics"));
  info.mstx = Flag(EitherMember(experimental, "_msprof_tx", "msprof_tx")) ||
              Flag(EitherMember(experimental, "_mstx", "mstx"));
  const Json& activities = Member(common, "activities");
  for (const Json& activity : activities.is_array() ? activities : Json::array()) {
    const std::string name = Text(activity);
    const bool bare = name.find('.') == std::string::npos;
    info.activities.push_back(bare ? "ProfilerActivity." + name : name);
  }
  info.schedule = Schedule(Member(common, "schedule"));
  info.record_shapes = Flag(Member(common, "record_shapes"));
  info.profile_memory = Flag(Member(common, "profile_memory"));
  info.with_stack = Flag(Member(common, "with_stack"));
  info.with_modules = Flag(Member(common, "with_modules"));
  info.records_garbage =
      EitherMember(experimental, "_gc_detect_threshold", "gc_detect_threshold").is_number();
}

}  // namespace

bool ProfilerInfo::HasActivity(const std::string& name) const {
  return std::find(activities.begin(), activities.end(), name) != activities.end();
}

std::optional<std::int64_t> NumberInName(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  const std::size_t underscore = stem.rfind('_');
  if (underscore == std::string::npos) return std::nullopt;
  const std::string digits = stem.substr(underscore + 1);
  if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return io::ParseInt(digits);
}

ProfilerInfo ReadProfilerInfo(const std::filesystem::path& path) {
  const Json document = io::ReadJson(path);
  const Json& config = Member(document, "config");
  ProfilerInfo info;
  info.path = path;
  ReadSettings(Member(config, "common_config"), Member(config, "experimental_config"), info);
  info.rank = Id(Member(document, "rank_id"));
  if (!info.rank) info.rank = NumberInName(path);
  info.has_end = Member(document, "end_info").is_object();
  info.torch_npu_version = Text(Member(document, "torch_npu_version"));
  info.cann_version = Text(Member(document, "cann_version"));
  return info;
}

ProfilerInfo ReadProfilerConfig(const std::filesystem::path& path) {
  const Json document = io::ReadJson(path);
  const Json& nested = Member(document, "prof_config");
  const Json& config = nested.is_object() ? nested : document;
  const Json& experimental = Member(config, "experimental_config");
  ProfilerInfo info;
  info.path = path;
  ReadSettings(config, experimental.is_object() ? experimental : config, info);
  if (!info.schedule && Member(config, "active").is_number()) info.schedule = Schedule(config);
  return info;
}

}  // namespace mpa
