// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "mpa/capture/capture.h"

namespace mpa {

/// Throws Error (kInput) when `path` does not exist or cannot be read.
void CheckReadable(const std::filesystem::path& path);

/// True when `path` is `directory` or lies below it; both are canonical.
bool IsWithin(const std::filesystem::path& path, const std::filesystem::path& directory);

/// Throws Error (kInput) when `path` is a link out of the capture, or out of its own directory if
/// that is not in the capture, unless such links are followed.
void CheckWithin(const RankInput& rank, const std::filesystem::path& path);

/// Marks the files that are reached by links out of the capture: whoever made it could make others
/// read what they do not mean to. Settings that are reached so are forgotten. Throws Error (kInput)
/// when the main file is one.
void MarkLinksOut(RankInput& rank);

/// Warns once for the capture when files of it belong to somebody else or others may write to them,
/// because they may have been tampered with. Root, who reads everything, gets no warning.
void WarnIfForeign(const RankInput& rank);

}  // namespace mpa
