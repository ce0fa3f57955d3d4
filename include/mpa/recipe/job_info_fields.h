// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/job_info.h"
#include "mpa/recipe/part_bytes.h"

/// What the parts of recipes keep of a JobInfo.
namespace mpa {

template <class Archive>
void serialize(Archive& archive, JobInfo& job) {
  archive(job.groups, job.distributed_args, job.host_uid, job.host_name, job.devices);
}

}  // namespace mpa
