// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace mpa::io {

/// A small JSON document (metadata, communication.json), read whole. An empty file is an empty
/// object. Throws Error (kInput, kCorrupt) that names the file and the place.
nlohmann::json ReadJson(const std::filesystem::path& path);

/// The document in a text. Throws Error (kCorrupt) that names the place when the text is not JSON
/// or is nested deeper than any document of a capture.
nlohmann::json ParseJson(std::string_view text);

/// The member of an object; null for a missing member and for any value that is not an object.
const nlohmann::json& Member(const nlohmann::json& object, const char* key);

}  // namespace mpa::io
