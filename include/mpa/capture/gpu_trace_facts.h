// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mpa {

/// A process group of the job: an entry of "pg_config" of "distributedInfo".
struct ProcessGroup {
  std::string name, description;    ///< "0", "default_pg"
  std::vector<std::int64_t> ranks;  ///< empty: not all of them are listed
};

/// What a GPU trace says of itself beside its events. A member is empty, or false, where the trace
/// does not say.
struct GpuTraceFacts {
  std::optional<std::int64_t> rank, world_size;  ///< "distributedInfo"
  std::string device_name;                       ///< of the first of the "deviceProperties"
  std::vector<ProcessGroup> groups;              ///< since PyTorch 2.3
  bool record_shapes = false, profile_memory = false, with_stack = false, with_modules = false;
};

/// Reads the members before the events and those behind them; exporters write either. Without a
/// rank and a device before the events, a compressed trace is unpacked up to its end. Broken
/// members count as absent. Throws Error (kInput, kCorrupt) when the file cannot be read.
GpuTraceFacts ReadGpuTraceFacts(const std::filesystem::path& path);

}  // namespace mpa
