// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "mpa/capture/capture.h"

namespace mpa {

/// Throws Error (kInput) when `path` does not exist or cannot be read.
void CheckReadable(const std::filesystem::path& path);

/// Warns once for the capture when files of it belong to somebody else or others may write to them,
/// because they may have been tampered with. Root, who reads everything, gets no warning.
void WarnIfForeign(const RankInput& rank);

}  // namespace mpa
