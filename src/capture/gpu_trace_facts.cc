// SPDX-License-Identifier: Apache-2.0
// The members of a GPU trace beside its events.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "json_members.h"
#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/capture/capture.h"
#include "mpa/io/byte_stream.h"
#include "mpa/io/input_text.h"
#include "trace_kind.h"

namespace mpa {
namespace {

using Json = nlohmann::json;

// Device properties of 16 GPUs take 10 KB, the process groups of a large job some 100 KB.
constexpr std::size_t kEndBytes = std::size_t{256} << 10;
constexpr std::size_t kLargeHead = std::size_t{32} << 20;

Json ParseMembers(const std::string& text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

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
  constexpr int kMostTries = 1024;  // arrays of objects within the last events
  int tries = 0;
  for (std::size_t at = tail.find(']'); at != std::string::npos && tries < kMostTries;
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

void AddFacts(const Json& members, GpuTraceFacts& facts) {
  const Json& job = Member(members, "distributedInfo");
  if (!facts.rank) facts.rank = Id(Member(job, "rank"));
  if (!facts.world_size) facts.world_size = Id(Member(job, "world_size"));
  const Json& devices = Member(members, "deviceProperties");
  if (facts.device_name.empty() && devices.is_array() && !devices.empty()) {
    facts.device_name = Text(Member(devices.front(), "name"));
  }
  facts.record_shapes = facts.record_shapes || IsOn(Member(members, "record_shapes"));
  facts.profile_memory = facts.profile_memory || IsOn(Member(members, "profile_memory"));
  facts.with_stack = facts.with_stack || IsOn(Member(members, "with_stack"));
  facts.with_modules = facts.with_modules || IsOn(Member(members, "with_modules"));
}

}  // namespace

GpuTraceFacts ReadGpuTraceFacts(const std::filesystem::path& path) {
  GpuTraceFacts facts;
  AddFacts(MembersBefore(path), facts);
  if (!facts.rank || facts.device_name.empty()) AddFacts(MembersBehind(path), facts);
  return facts;
}

// Whose trace a file is, by words that only exporters of one kind write.

namespace {

// Looks at one part of the text.
void Look(std::string_view part, TraceLook& look) {
  look.has_events = look.has_events || ContainsAny(part, {"\"traceEvents\""}) ||
                    (look.is_array && ContainsAny(part, {"\"ph\""}));
  if (ContainsAny(part, {"\"Ascend Hardware\"", "\"async_npu\"", "\"HostToDevice\"",
                         "\"Overlap Analysis\"", "\"Task Type\""})) {
    look.is_gpu = false;
  } else if (ContainsAny(part, {"\"deviceProperties\"", "\"External id\"", "\"cuda_runtime\"",
                                "\"cuda_driver\"", "\"ac2g\"", "\"gpu_memcpy\"",
                                "\"gpu_user_annotation\"", "\"collective_comm\""})) {
    look.is_gpu = true;
  }
}

}  // namespace

TraceLook LookAtTrace(const std::filesystem::path& path) {
  constexpr std::size_t kPart = std::size_t{64} << 10;
  constexpr std::size_t kOverlap = 32;                   // longer than any of the words
  constexpr std::size_t kMost = std::size_t{256} << 20;  // other JSON may be large, too
  io::ByteStream stream(path);
  std::string text(kPart, '\0');
  text.resize(stream.Read(text.data(), kPart));
  const std::string_view start = Trim(WithoutByteOrderMark(text));
  if (start.empty()) Fail(ErrorKind::kInput, "{}: the file is empty", path.string());
  if (start[0] != '{' && start[0] != '[') {
    Fail(ErrorKind::kCorrupt, "{}: not JSON: it begins with neither '[' nor '{{'", path.string());
  }
  TraceLook look;
  look.is_array = start[0] == '[';
  for (std::size_t done = text.size(); !text.empty(); done += kPart) {
    Look(text, look);
    if ((look.has_events && look.is_gpu) || text.size() < kPart || done > kMost) break;
    const std::string overlap = text.substr(text.size() - kOverlap);
    text.resize(kOverlap + kPart);
    text.replace(0, kOverlap, overlap);
    text.resize(kOverlap + stream.Read(text.data() + kOverlap, kPart));
  }
  return look;
}

}  // namespace mpa
