// SPDX-License-Identifier: Apache-2.0
#include "job_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "mpa/io/json_document.h"

namespace mpa::readers {

void AddJobGroups(const nlohmann::json& parallel_group_info, JobInfo& job) {
  if (!parallel_group_info.is_object()) return;
  for (const auto& [id, info] : parallel_group_info.items()) {
    const bool known = std::ranges::any_of(
        job.groups, [&key = id](const JobGroup& group) { return group.id == key; });
    if (known) continue;
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

void AddEnvironment(const nlohmann::json& variables, JobInfo& job) {
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

}  // namespace mpa::readers
