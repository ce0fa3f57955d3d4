// SPDX-License-Identifier: Apache-2.0
// The members of a GPU trace beside its events.
#include "mpa/capture/gpu_trace_facts.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "json_members.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"

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
}

}  // namespace

GpuTraceFacts ReadGpuTraceFacts(const std::filesystem::path& path) {
  GpuTraceFacts facts;
  AddFacts(MembersBefore(path), facts);
  if (!facts.rank || facts.device_name.empty()) AddFacts(MembersBehind(path), facts);
  return facts;
}

}  // namespace mpa
