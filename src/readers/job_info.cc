// SPDX-License-Identifier: Apache-2.0
#include "job_info.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_set>

#include "mpa/capture/recorded_settings.h"
#include "mpa/io/json_document.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {

void AddJobGroups(const nlohmann::json& parallel_group_info, JobInfo& job) {
  if (!parallel_group_info.is_object()) return;
  std::unordered_set<std::string> known;
  for (const JobGroup& group : job.groups) known.insert(group.id);
  for (const auto& [id, info] : parallel_group_info.items()) {
    if (!known.insert(id).second) continue;
    JobGroup& group = job.groups.emplace_back();
    group.id = id;
    const auto& name = io::Member(info, "group_name");
    if (name.is_string()) group.name = name.get<std::string>();
    const auto& ranks = io::Member(info, "global_ranks");
    if (!ranks.is_array()) continue;
    for (const auto& rank : ranks) {
      if (rank.is_number_integer()) group.ranks.push_back(rank.get<std::int64_t>());
    }
  }
}

void SetDistributedArgs(const nlohmann::json& distributed_args, JobInfo& job) {
  if (!distributed_args.is_object() || !job.distributed_args.empty()) return;
  // With blanks, as Python writes it; the order of the members is theirs by name.
  std::string text;
  for (const auto& [key, value] : distributed_args.items()) {
    if (key == "rank") continue;
    text += fmt::format(
        "{}{}: {}", text.empty() ? "" : ", ",
        nlohmann::json(key).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
        value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  job.distributed_args = "{" + text + "}";
}

void KeepSettings(const nlohmann::json& document, JobInfo& job) {
  RecordedSettings recorded;
  AddMetadata(document, recorded);
  job.settings.merge(FlatSettings(recorded));
  // Causes need whole values, however long.
  const nlohmann::json& variables = io::Member(document, "ENV_VARIABLES");
  if (!variables.is_object()) return;
  for (const auto& [name, value] : variables.items()) {
    if (value.is_string() && !value.get_ref<const std::string&>().empty())
      job.settings[name] = value.get<std::string>();
  }
}

void SetPipeline(const nlohmann::json& pp_info, JobInfo& job) {
  const auto& type = io::Member(pp_info, "pp_type");
  if (type.is_string()) job.pipeline_type = type.get<std::string>();
  const auto& count = io::Member(pp_info, "microbatch_num");
  if (count.is_number_integer()) job.micro_batches = count.get<std::int64_t>();
}

// profiler_metadata.json: the job's description of itself: its communication groups and settings.

void NameProcessGroups(const nlohmann::json& parallel_group_info, RankTrace& trace) {
  if (!parallel_group_info.is_object()) return;
  constexpr std::string_view kBefore = "Group ", kBehind = " Communication";
  CommGroups& groups = trace.comm_groups;
  for (std::size_t i = 0; i < groups.Size(); ++i) {
    const std::string name(trace.strings.View(groups.name[i]));
    auto found = parallel_group_info.find(name);
    if (found == parallel_group_info.end() && name.starts_with(kBefore) &&
        name.ends_with(kBehind) && name.size() > kBefore.size() + kBehind.size()) {
      found = parallel_group_info.find(
          name.substr(kBefore.size(), name.size() - kBefore.size() - kBehind.size()));
    }
    if (found == parallel_group_info.end()) continue;
    const auto& ranks = io::Member(*found, "global_ranks");
    if (ranks.is_array()) groups.ranks[i] = static_cast<std::int32_t>(ranks.size());
    const auto& group_name = io::Member(*found, "group_name");
    if (!group_name.is_string()) continue;
    groups.process_group[i] = trace.strings.Intern(group_name.get_ref<const std::string&>());
  }
}

namespace {

void ReadMetadata(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  const nlohmann::json document = io::ReadJson(file.path);
  const nlohmann::json& groups = io::Member(document, "parallel_group_info");
  NameProcessGroups(groups, trace);
  if (!Intersects(request.wanted, Tables::kJobInfo)) return;
  AddJobGroups(groups, trace.job);
  SetDistributedArgs(io::Member(document, "distributed_args"), trace.job);
  KeepSettings(document, trace.job);
  SetPipeline(io::Member(document, "pp_info"), trace.job);
}

}  // namespace

Reader ProfilerMetadataJson() {
  return {"profiler_metadata.json", FileKind::kProfilerMetadata,
          Tables::kCommunications | Tables::kJobInfo, ReadMetadata};
}

}  // namespace mpa::readers
