// SPDX-License-Identifier: Apache-2.0
// What a profiler database says about the job of its rank.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "job_info.h"
#include "profiler_db_tables.h"

namespace mpa::readers {

void ReadJobInfo(DbInput& input) {
  JobInfo& job = input.trace.job;
  const io::Database& database = input.database;
  const auto document_of = [&](const char* name) {
    io::Statement rows =
        database.Query(fmt::format("SELECT value FROM META_DATA WHERE name = '{}'", name));
    return rows.Step() ? nlohmann::json::parse(rows.Text(0), nullptr, /*allow_exceptions=*/false)
                       : nlohmann::json();
  };
  if (database.HasTable("META_DATA")) {
    AddJobGroups(document_of("parallel_group_info"), job);
    SetDistributedArgs(document_of("distributed_args"), job);
    SetPipeline(document_of("pp_info"), job);
    AddEnvironment(document_of("ENV_VARIABLES"), job);
  }
  if (database.HasTable("HOST_INFO")) {
    io::Statement rows = database.Query("SELECT hostUid, hostName FROM HOST_INFO");
    if (rows.Step()) {
      job.host_uid = rows.Text(0);
      job.host_name = rows.Text(1);
    }
  }
  if (database.HasTable("NPU_INFO")) {
    io::Statement rows = database.Query("SELECT name FROM NPU_INFO");
    if (rows.Step()) job.chip = rows.Text(0);
  }
  if (database.HasTable("RANK_DEVICE_MAP")) {
    io::Statement rows = database.Query("SELECT rankId, deviceId FROM RANK_DEVICE_MAP");
    while (rows.Step()) job.devices.push_back({rows.Int(0).value_or(-1), rows.Int(1).value_or(-1)});
  }
}

void ReadDeviceId(DbInput& input) {
  if (!input.database.HasTable("RANK_DEVICE_MAP")) return;
  io::Statement rows = input.database.Query("SELECT deviceId FROM RANK_DEVICE_MAP");
  if (rows.Step()) input.trace.device_id = rows.IntOr(0, -1);
}

}  // namespace mpa::readers
