// SPDX-License-Identifier: Apache-2.0
// profiler_metadata.json: the job's description of itself: its communication groups and settings.
#include <string>

#include "job_info.h"
#include "mpa/io/json_document.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {

void NameProcessGroups(const nlohmann::json& parallel_group_info, RankTrace& trace) {
  if (!parallel_group_info.is_object()) return;
  CommGroups& groups = trace.comm_groups;
  for (std::size_t i = 0; i < groups.Size(); ++i) {
    const std::string_view name = trace.strings.View(groups.name[i]);
    for (const auto& [id, info] : parallel_group_info.items()) {
      if (name != id && name != "Group " + id + " Communication") continue;
      const auto& ranks = io::Member(info, "global_ranks");
      if (ranks.is_array()) groups.ranks[i] = static_cast<std::int32_t>(ranks.size());
      const auto& group_name = io::Member(info, "group_name");
      if (!group_name.is_string()) continue;
      groups.process_group[i] = trace.strings.Intern(group_name.get_ref<const std::string&>());
    }
  }
}

namespace {

void ReadMetadata(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  const nlohmann::json document = io::ReadJson(file.path);
  const nlohmann::json& groups = io::Member(document, "parallel_group_info");
  NameProcessGroups(groups, trace);
  if (!Overlap(request.wanted, Tables::kJobInfo)) return;
  AddJobGroups(groups, trace.job);
  SetDistributedArgs(io::Member(document, "distributed_args"), trace.job);
  AddEnvironment(io::Member(document, "ENV_VARIABLES"), trace.job);
  SetPipeline(io::Member(document, "pp_info"), trace.job);
}

}  // namespace

Reader ProfilerMetadataJson() {
  return {"profiler_metadata.json", FileKind::kProfilerMetadata,
          Tables::kCommunications | Tables::kJobInfo, ReadMetadata};
}

}  // namespace mpa::readers
