// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace mpa::io {

/// A small JSON document (metadata, communication.json), read whole. An empty file is an empty
/// object. Throws Error (kInput, kCorrupt) that names the file and the place.
nlohmann::json ReadJson(const std::filesystem::path& path);

/// The document that a text holds. Throws Error (kCorrupt) that names the place: where it is no
/// JSON, or nested deeper than any document of a capture.
nlohmann::json ParseJson(std::string_view text);

/// The member of an object; null for a member that is not there, and of anything but an object.
const nlohmann::json& Member(const nlohmann::json& object, const char* key);

}  // namespace mpa::io
