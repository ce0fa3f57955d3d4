// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace mpa::io {

/// Looks at a database file and at what its writer left beside it; true when the last writes are
/// still in the -wal file. Waits shortly for a process that is writing. Throws Error (kInput) when
/// `path` is no regular file, is empty, is still being written, or when a write was interrupted and
/// only SQLite, which would change the files, could undo it.
bool HasWrites(const std::filesystem::path& path);

}  // namespace mpa::io
