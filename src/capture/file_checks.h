// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "mpa/capture/capture.h"

namespace mpa {

/// Throws Error (kInput) when `path` does not exist or cannot be read.
void CheckReadable(const std::filesystem::path& path);

/// True when `path` is `directory` or lies below it; both are canonical.
bool IsWithin(const std::filesystem::path& path, const std::filesystem::path& directory);

/// Throws Error (kInput) when `path` is a link out of the capture (or out of its own directory, if
/// that is not in the capture), unless such links are followed.
void CheckWithin(const RankInput& rank, const std::filesystem::path& path);

/// Marks the files that are reached by links out of the capture: the author of a capture could use
/// a link to make others read unintended files. Settings reached by such a link are discarded.
/// Throws Error (kInput) when the main file is such a link.
void MarkLinksOut(RankInput& rank);

/// Warns once per capture when its files belong to another user or are writable by others, because
/// they may have been tampered with. Root reads everything and gets no warning.
void WarnIfForeign(const RankInput& rank);

}  // namespace mpa
