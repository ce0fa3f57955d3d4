// SPDX-License-Identifier: Apache-2.0
// The profiler's own settings.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "json_members.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/capture/capture.h"
#include "mpa/io/byte_stream.h"
#include "mpa/io/input_text.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"
#include "scan_rank.h"
#include "setting_members.h"

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
  AddProfilerSwitches(common, experimental, info.recorded);
}

// The number in the name is the rank, as for the Python tool; without one, that of the document.
void ReadRank(const Json& document, ProfilerInfo& info) {
  const auto stated = Id(Member(document, "rank_id"));
  const auto named = NumberInName(info.path);
  info.rank = named ? named : stated;
  if (!named || !document.is_object() || !document.contains("rank_id") || stated == named) return;
  constexpr std::size_t kMaxLength = 40;
  const std::string value = document["rank_id"].dump(-1, ' ', true, Json::error_handler_t::replace);
  info.rank_problem =
      Say("{}: rank_id is {}, but the file name says {}, which is taken as the rank",
          info.path.string(), value.substr(0, kMaxLength), *named);
}

}  // namespace

bool ProfilerInfo::HasActivity(const std::string& name) const {
  return std::ranges::find(activities, name) != activities.end();
}

std::optional<std::int64_t> NumberInName(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  const std::size_t underscore = stem.rfind('_');
  if (underscore == std::string::npos) return std::nullopt;
  const std::string digits = stem.substr(underscore + 1);
  if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  if (digits.empty()) return std::nullopt;
  return io::ParseInt(digits).value_or(std::numeric_limits<std::int64_t>::max());
}

ProfilerInfo ReadProfilerInfo(const std::filesystem::path& path) {
  const Json document = io::ReadJson(path);
  const Json& config = Member(document, "config");
  ProfilerInfo info;
  info.path = path;
  ReadSettings(Member(config, "common_config"), Member(config, "experimental_config"), info);
  ReadRank(document, info);
  info.has_end = Member(document, "end_info").is_object();
  info.torch_npu_version = Text(Member(document, "torch_npu_version"));
  info.cann_version = Text(Member(document, "cann_version"));
  AddVersions(document, info.recorded);
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

// The members of a GPU trace beside its events.

namespace {

using Json = nlohmann::json;

// Device properties of 16 GPUs take 10 KB, the process groups of a large job some 100 KB.
constexpr std::size_t kEndBytes = std::size_t{256} << 10;
constexpr std::size_t kLargeHead = std::size_t{32} << 20;

Json ParseMembers(const std::string& text) { return io::TryParseJson(text); }

// The members before the events, as a document of their own.
Json MembersBefore(const std::filesystem::path& path) {
  std::string head = io::ReadStart(path, kEndBytes);
  std::size_t events = head.find("\"traceEvents\"");
  if (events == std::string::npos && head.size() == kEndBytes) {
    head = io::ReadStart(path, kLargeHead);
    events = head.find("\"traceEvents\"");
  }
  if (events == std::string::npos) return {};
  head.resize(events);
  head.resize(head.find_last_not_of(" \t\r\n,") + 1);
  return ParseMembers(head + "}");
}

// The members behind the events: what follows the first bracket that closes an array of objects and
// leaves a valid document.
Json MembersBehind(const std::filesystem::path& path) {
  const std::string tail = io::ReadTextEnd(path, kEndBytes);
  constexpr int kMaxTries = 1024;  // arrays of objects within the last events
  int tries = 0;
  for (std::size_t at = tail.find(']'); at != std::string::npos && tries < kMaxTries;
       at = tail.find(']', at + 1)) {
    const std::string_view before = Trim(std::string_view(tail).substr(0, at));
    const std::string_view rest = Trim(std::string_view(tail).substr(at + 1));
    if (!rest.starts_with(',') || !(before.ends_with('}') || before.ends_with('['))) continue;
    ++tries;
    Json members = ParseMembers("{" + std::string(rest.substr(1)));
    if (members.is_object()) return members;
  }
  return {};
}

// Exporters write switches as booleans or as numbers.
bool IsOn(const Json& value) { return Flag(value) || WholeNumber(value).value_or(0) != 0; }

std::vector<ProcessGroup> GroupsIn(const Json& job) {
  std::vector<ProcessGroup> groups;
  const Json& listed = Member(job, "pg_config");
  if (!listed.is_array()) return groups;
  for (const Json& entry : listed) {
    ProcessGroup group{Text(Member(entry, "pg_name")), Text(Member(entry, "pg_desc")), {}};
    const Json& ranks = Member(entry, "ranks");
    if (ranks.is_array()) {
      for (const Json& rank : ranks) {
        if (const auto number = Id(rank)) group.ranks.push_back(*number);
      }
      if (group.ranks.size() != ranks.size()) group.ranks.clear();
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

void AddFacts(const Json& members, GpuTraceFacts& facts) {
  const Json& job = Member(members, "distributedInfo");
  if (!facts.rank) facts.rank = Id(Member(job, "rank"));
  if (!facts.world_size) facts.world_size = Id(Member(job, "world_size"));
  if (facts.groups.empty()) facts.groups = GroupsIn(job);
  const Json& devices = Member(members, "deviceProperties");
  if (facts.device_name.empty() && devices.is_array() && !devices.empty()) {
    facts.device_name = Text(Member(devices.front(), "name"));
  }
  facts.record_shapes = facts.record_shapes || IsOn(Member(members, "record_shapes"));
  facts.profile_memory = facts.profile_memory || IsOn(Member(members, "profile_memory"));
  facts.with_stack = facts.with_stack || IsOn(Member(members, "with_stack"));
  facts.with_modules = facts.with_modules || IsOn(Member(members, "with_modules"));
  AddTraceMembers(members, facts.recorded);
}

}  // namespace

GpuTraceFacts ReadGpuTraceFacts(const std::filesystem::path& path) {
  GpuTraceFacts facts;
  AddFacts(MembersBefore(path), facts);
  if (!facts.rank || facts.device_name.empty()) AddFacts(MembersBehind(path), facts);
  return facts;
}

// Which profiler wrote a trace, by words that only its exporter writes.

namespace {

constexpr std::string_view kProtonWriter = "Proton (Triton)";

// Other programs write the same format. Their own words are looked for in this order: instructions
// that Proton records may belong to a kernel that is called like a category.
void NameWriter(std::string_view part, TraceLook& look) {
  if (look.writer == kProtonWriter) return;
  if (ContainsAny(part, {"\"Finalization Time (ns)\"", "\"Post Final Time (ns)\""})) {
    look.writer = kProtonWriter;
  } else if (!look.writer.empty()) {
    return;
  } else if (ContainsAny(part, {"\"viztracer_metadata\"", "\"FEE\""})) {
    look.writer = "VizTracer";
  } else if (ContainsAny(part, {"\"/host:CPU", "\"/device:", "\"hlo_op\"", "\"hlo_module\"",
                                "/device:GPU:", "/device:CPU:", "\"PjitFunction("})) {
    look.writer = "JAX or TensorFlow";
  }
}

// Looks at one part of the text. Kineto writes the same of every device until its work comes: the
// label of the process is torch_npu's, as are the names of its streams.
void Look(std::string_view part, TraceLook& look) {
  look.has_events = look.has_events || ContainsAny(part, {"\"traceEvents\""}) ||
                    (look.is_array && ContainsAny(part, {"\"ph\""}));
  if (!look.is_kineto &&
      ContainsAny(part, {"\"Ascend Hardware\"", "\"async_npu\"", "\"HostToDevice\"",
                         "\"Overlap Analysis\"", "\"Task Type\""})) {
    look.is_kineto = false;
    return;
  }
  look.has_gpu = look.has_gpu ||
                 ContainsAny(part, {"\"cuda_runtime\"", "\"cuda_driver\"", "\"gpu_memcpy\"",
                                    "\"gpu_user_annotation\"", "\"totalGlobalMem\"", "\"grid\""});
  look.has_categories =
      look.has_categories ||
      ContainsAny(part, {"cpu_op\"", "\"kernel\"", "\"Kernel\"", "\"Operator\"", "\"operator\"",
                         "user_annotation\"", "python_function\"", "cpu_instant_event\"", "gpu_mem",
                         "\"Memcpy\"", "\"Runtime\"", "_runtime\"", "_driver\"", "mtia_", "\"hip_",
                         "hpu_op\"", "\"[memory]\"", "ProfilerStep#"});
  look.has_phases = look.has_phases || ContainsAny(part, {"\"ph\""});
  NameWriter(part, look);
  look.is_of_npu = look.is_of_npu || ContainsAny(part, {"\"Ascend NPU\"", "\"NPU stream "});
  if (look.has_gpu || look.is_of_npu ||
      ContainsAny(part,
                  {"\"deviceProperties\"", "\"External id\"", "\"ac2g\"", "\"collective_comm\""})) {
    look.is_kineto = true;
  }
}

}  // namespace

TraceLook LookAtTrace(const std::filesystem::path& path) {
  constexpr std::size_t kPart = std::size_t{64} << 10;
  constexpr std::size_t kOverlap = 32;                  // longer than any of the words
  constexpr std::size_t kMax = std::size_t{256} << 20;  // other JSON may be large, too
  io::ByteStream stream(path);
  std::string text(kPart, '\0');
  text.resize(stream.Read(text.data(), kPart));
  const std::string_view start = Trim(WithoutByteOrderMark(text));
  InContext(path.string(), [&] { io::RefuseWideText(text); });
  if (start.empty()) Fail(ErrorKind::kInput, "{}: the file is empty", path.string());
  if (start[0] != '{' && start[0] != '[') {
    Fail(ErrorKind::kCorrupt, "{}: not JSON: it begins with neither '[' nor '{{'", path.string());
  }
  TraceLook look;
  look.is_array = start[0] == '[';
  for (std::size_t done = text.size(); !text.empty(); done += kPart) {
    Look(text, look);
    const bool is_known = look.is_kineto && (!*look.is_kineto || look.has_gpu || look.is_of_npu);
    if ((look.has_events && is_known) || text.size() < kPart || (done > kMax && !look.is_kineto))
      break;
    if (look.is_kineto && !look.has_events && done > kMax) {
      Fail(ErrorKind::kCorrupt,
           "{}: {} MB before the first event, and no profiler writes that much; it is not read",
           path.string(), kMax >> 20);
    }
    const std::string overlap = text.substr(text.size() - kOverlap);
    text.resize(kOverlap + kPart);
    text.replace(0, kOverlap, overlap);
    text.resize(kOverlap + stream.Read(text.data() + kOverlap, kPart));
  }
  const bool is_known = look.is_kineto.has_value() || look.has_categories;
  if (is_known && look.writer != kProtonWriter) look.writer = {};
  if (!is_known && look.writer.empty() && look.has_events && look.has_phases && !look.is_array)
    look.writer = Translated("another program");
  return look;
}

}  // namespace mpa
