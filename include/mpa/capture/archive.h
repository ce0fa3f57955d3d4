// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace mpa {

/// True for the name of an archive or packed file (.tar, .tgz, .zip, .gz, ...) that is not a trace.
bool IsArchive(const std::filesystem::path& path);

/// The message for an archive that was given as a capture.
inline constexpr std::string_view kArchiveProblem =
    "an archive; unpack it first, and give the directory that is in it";

}  // namespace mpa
