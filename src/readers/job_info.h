// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "mpa/model/rank_trace.h"

namespace mpa::readers {

/// Names the communication groups as the job does and counts their ranks, from a
/// "parallel_group_info" document ({group id: {"group_name": ..., "global_ranks": [...]}}). The id
/// is the group's name in databases and stands in the middle of it ("Group <id> Communication") in
/// traces.
void NameProcessGroups(const nlohmann::json& parallel_group_info, RankTrace& trace);

/// Adds the groups of a "parallel_group_info" document ({group id: {"group_name": ...,
/// "global_ranks": [...]}}) that the rank's job does not have yet.
void AddJobGroups(const nlohmann::json& parallel_group_info, JobInfo& job);

/// Takes the "distributed_args" of a job, without the rank's own number; anything but an object is
/// left out.
void SetDistributedArgs(const nlohmann::json& distributed_args, JobInfo& job);

/// Takes the settings in profiler_metadata.json, or META_DATA as one object: all of them as
/// FlatSettings() has them, and the variables of the environment that have a value by their names.
void KeepSettings(const nlohmann::json& document, JobInfo& job);

/// Takes the "pp_info" of a job ({"pp_type": ..., "microbatch_num": ...}).
void SetPipeline(const nlohmann::json& pp_info, JobInfo& job);

}  // namespace mpa::readers
