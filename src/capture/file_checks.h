// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace mpa {

/// Throws Error (kInput) when `path` does not exist or cannot be read; warns when it belongs to
/// somebody else or others may write to it, because such a file may have been tampered with.
void CheckInput(const std::filesystem::path& path, bool force);

}  // namespace mpa
