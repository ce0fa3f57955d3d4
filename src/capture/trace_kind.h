// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace mpa {

/// What the events of a trace say of it.
struct TraceLook {
  bool is_array = false;       ///< the document is an array, else an object
  bool has_events = false;     ///< it is a trace at all
  std::optional<bool> is_gpu;  ///< of a GPU, or of an NPU; empty: the events do not say
};

/// Looks at a JSON file, which may be packed, until its events say whose they are. Throws Error
/// (kInput) for an empty or unreadable file, (kCorrupt) for one that is not JSON.
TraceLook LookAtTrace(const std::filesystem::path& path);

}  // namespace mpa
