// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace mpa {

/// What the events of a trace say of it.
struct TraceLook {
  bool is_array = false;    ///< the document is an array, else an object
  bool has_events = false;  ///< it is a trace at all
  /// In the form of Kineto, which GPUs have, or of the NPU's own profiler; empty: the events do not
  /// say.
  std::optional<bool> is_kineto;
  bool has_gpu = false;    ///< Kineto, with a GPU or work of one
  bool is_of_npu = false;  ///< Kineto, with an NPU
};

/// Looks at a JSON file, which may be packed, until its text says whose work it is. Throws Error
/// (kInput) for an empty or unreadable file, (kCorrupt) for one that is not JSON.
TraceLook LookAtTrace(const std::filesystem::path& path);

}  // namespace mpa
