// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace mpa::io {

/// Checks a database file and the files that its writer left next to it; true when the last writes
/// are still in the -wal file. Waits briefly for a process that is writing. Throws Error (kInput)
/// when `path` is not a regular file, is empty, is still being written, or when a write was
/// interrupted and only SQLite could undo it, by changing the files.
bool HasWrites(const std::filesystem::path& path);

}  // namespace mpa::io
