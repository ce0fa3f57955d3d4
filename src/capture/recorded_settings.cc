// SPDX-License-Identifier: Apache-2.0
// The settings in the documents of a capture.
#include "mpa/capture/recorded_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "json_members.h"
#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/io/json_document.h"
#include "setting_members.h"

namespace mpa {
namespace {

using Json = nlohmann::json;

// A document within a text, as add_metadata() and databases have them.
Json Unpacked(std::string_view text) {
  try {
    return io::ParseJson(text);
  } catch (const Error&) {  // not JSON: the text itself
    return text;
  }
}

std::string Scalar(const Json& value, const char* yes, const char* no) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? yes : no;
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool IsScalar(const Json& value) { return !value.is_object() && !value.is_array(); }

// A list of plain values is one value, anything else in brackets or braces has a name for each
// part.
void AddMember(SettingKind kind, const std::string& name, const Json& value, int depth,
               RecordedSettings& settings) {
  constexpr int kDeepest = 6;
  const bool is_switch = kind == SettingKind::kProfiler;
  const char *yes = is_switch ? "on" : "true", *no = is_switch ? "off" : "false";
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (depth < kDeepest && (text.starts_with('{') || text.starts_with('['))) {
      const Json within = Unpacked(text);
      if (!within.is_string()) return AddMember(kind, name, within, depth + 1, settings);
    }
  }
  if (IsScalar(value)) {
    AddSetting(kind, name, Scalar(value, yes, no), settings);
  } else if (value.is_array() && std::ranges::all_of(value, IsScalar)) {
    std::string text;
    for (const Json& one : value)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", Scalar(one, yes, no));
    AddSetting(kind, name, std::move(text), settings);
  } else if (depth >= kDeepest) {
    AddSetting(kind, name, "...", settings);
  } else {
    std::size_t place = 0;
    for (const auto& [key, member] : value.items()) {
      if (++place > kMaxSettings) break;
      AddMember(kind, fmt::format("{}.{}", name, key), member, depth + 1, settings);
    }
  }
}

bool IsVersion(std::string_view name) { return name.ends_with("_version"); }

}  // namespace

void AddVersions(const Json& document, RecordedSettings& settings) {
  if (!document.is_object()) return;
  for (const auto& [name, value] : document.items()) {
    if (IsVersion(name) && IsScalar(value))
      AddSetting(SettingKind::kVersion, name, Scalar(value, "true", "false"), settings);
  }
}

void AddProfilerSwitches(const Json& common, const Json& experimental, RecordedSettings& settings) {
  for (const Json* part : {&common, &experimental}) {
    if (!part->is_object()) continue;
    settings[SettingKind::kProfiler];
    for (const auto& [key, value] : part->items()) {
      // Versions of the profiler differ in the leading underscore.
      const std::string name = key.substr(std::min(key.find_first_not_of('_'), key.size()));
      if (name == "activities" && value.is_array()) {
        std::set<std::string> all;
        for (const Json& activity : value) {
          const std::string text = Text(activity);
          all.insert(text.find('.') == std::string::npos ? "ProfilerActivity." + text : text);
        }
        AddSetting(SettingKind::kProfiler, name, fmt::format("{}", fmt::join(all, " and ")),
                   settings);
      } else if (!IsOneOf(name, {"common_config", "experimental_config"})) {
        AddMember(SettingKind::kProfiler, name, value, 0, settings);
      }
    }
  }
}

Json ReadMetaData(const io::Database& database) {
  Json document = Json::object();
  if (!database.HasTable("META_DATA")) return document;
  io::Statement rows = database.Query("SELECT name, value FROM META_DATA");
  while (rows.Step()) document[std::string(rows.Text(0))] = Unpacked(rows.Text(1));
  return document;
}

void AddMetadata(const Json& document, RecordedSettings& settings) {
  if (!document.is_object()) return;
  settings[SettingKind::kMetadata];
  AddVersions(document, settings);
  for (const auto& [name, value] : document.items()) {
    if (name == "ENV_VARIABLES" && value.is_object()) {
      settings[SettingKind::kEnvironment];
      for (const auto& [variable, set] : value.items())
        AddMember(SettingKind::kEnvironment, variable, set, 0, settings);
    } else if (name != "parallel_group_info" && !name.starts_with("SCHEMA_VERSION") &&
               !IsVersion(name)) {
      AddMember(SettingKind::kMetadata, name, value, 0, settings);
    }
  }
}

void AddTraceMembers(const Json& members, RecordedSettings& settings) {
  constexpr std::string_view kSwitches[] = {"record_shapes", "profile_memory", "with_stack",
                                            "with_modules", "with_flops"};
  if (!members.is_object()) return;
  settings[SettingKind::kMetadata];
  AddVersions(members, settings);
  AddVersions(Member(members, "distributedInfo"), settings);
  // Since exporters write the switches they write those that are on. They number their traces, or
  // state versions, no sooner.
  bool knows_switches = members.contains("trace_id") || members.contains("baseTimeNanoseconds") ||
                        settings.contains(SettingKind::kVersion);
  for (const std::string_view name : kSwitches)
    knows_switches = knows_switches || members.contains(name);
  for (const std::string_view key : kSwitches) {
    const std::string name(key);
    const Json& value = Member(members, name.c_str());
    const bool on = Flag(value) || WholeNumber(value).value_or(0) != 0;
    if (!knows_switches) break;
    // Members stand before the events or behind them.
    if (on || !settings[SettingKind::kProfiler].contains(name))
      AddSetting(SettingKind::kProfiler, name, on ? "on" : "off", settings);
  }
  for (const auto& [name, value] : members.items()) {
    const bool is_switch = std::ranges::find(kSwitches, name) != std::end(kSwitches);
    if (is_switch || IsVersion(name) ||
        IsOneOf(name, {"schemaVersion", "deviceProperties", "distributedInfo", "traceEvents",
                       "traceName", "displayTimeUnit", "baseTimeNanoseconds", "trace_id", "INFO",
                       "WARNING", "ERROR", "VERBOSE", "STAGE", "otherData"}))
      continue;
    AddMember(SettingKind::kMetadata, name, value, 0, settings);
  }
}

}  // namespace mpa
