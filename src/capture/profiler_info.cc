// SPDX-License-Identifier: Apache-2.0
// The profiler's own settings.
#include "mpa/capture/profiler_info.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"

namespace mpa {
namespace {

using Json = nlohmann::json;

// The member of an object, or null for anything that is not there.
const Json& Member(const Json& object, const char* key) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

std::string Text(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

bool Flag(const Json& value) { return value.is_boolean() && value.get<bool>(); }

// Rank ids are numbers or texts of numbers.
std::optional<std::int64_t> WholeNumber(const Json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_string()) return io::ParseInt(value.get<std::string>());
  return std::nullopt;
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

}  // namespace

bool ProfilerInfo::HasActivity(const std::string& name) const {
  return std::find(activities.begin(), activities.end(), name) != activities.end();
}

ProfilerInfo ReadProfilerInfo(const std::filesystem::path& path) {
  const Json document = io::ReadJson(path);
  const Json& common = Member(Member(document, "config"), "common_config");
  const Json& experimental = Member(Member(document, "config"), "experimental_config");
  ProfilerInfo info;
  info.path = path;
  info.rank = WholeNumber(Member(document, "rank_id"));
  info.level = Text(Member(experimental, "_profiler_level"));
  info.aic_metrics = Text(Member(experimental, "_aic_metrics"));
  info.mstx = Flag(Member(experimental, "_msprof_tx")) || Flag(Member(experimental, "_mstx"));
  const Json& activities = Member(common, "activities");
  if (activities.is_array()) {
    for (const Json& activity : activities) info.activities.push_back(Text(activity));
  }
  info.schedule = Schedule(Member(common, "schedule"));
  info.record_shapes = Flag(Member(common, "record_shapes"));
  info.profile_memory = Flag(Member(common, "profile_memory"));
  info.with_stack = Flag(Member(common, "with_stack"));
  info.with_modules = Flag(Member(common, "with_modules"));
  info.has_end = Member(document, "end_info").is_object();
  info.torch_npu_version = Text(Member(document, "torch_npu_version"));
  info.cann_version = Text(Member(document, "cann_version"));
  return info;
}

}  // namespace mpa
