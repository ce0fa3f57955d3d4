// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mpa {

/// A communication group as the job itself describes it.
struct JobGroup {
  std::string id;                   ///< as databases name it, "host%eth_0"; see GroupHash()
  std::string name;                 ///< "tp", "dp", "pp"
  std::vector<std::int64_t> ranks;  ///< of the whole job; empty: the capture does not say
};

struct DeviceOfRank {
  std::int64_t rank = -1, device = -1;
};

/// What a capture says about the job of the rank. Texts are empty where it does not say.
struct JobInfo {
  std::vector<JobGroup> groups;
  std::string distributed_args;  ///< a JSON object, such as {"tensor_model_parallel_size": 2, ...}
  std::string pipeline_type;     ///< "1f1b", "dualpipev"
  std::int64_t micro_batches = -1;  ///< of a step
  std::string host_uid, host_name;
  std::string chip;  ///< "Ascend910B"
  std::vector<DeviceOfRank> devices;
  /// Environment variables of the rank that the profiler kept, and its own switches:
  /// "profiler.stack", "profiler.shapes", "profiler.memory", "profiler.modules", "profiler.gc",
  /// each "on". Empty values are left out.
  std::map<std::string, std::string> settings;
};

}  // namespace mpa
