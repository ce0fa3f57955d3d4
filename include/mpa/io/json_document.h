// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace mpa::io {

/// A small JSON document (metadata, communication.json), read whole. An empty file is an empty
/// object. Throws Error (kInput, kCorrupt) that names the file and the place.
nlohmann::json ReadJson(const std::filesystem::path& path);

}  // namespace mpa::io
