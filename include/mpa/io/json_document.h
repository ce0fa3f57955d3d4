// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace mpa::io {

/// The most bytes that metadata of captures has: a job of 40,000 groups has 5 MB of them.
inline constexpr std::size_t kMostMetadata = std::size_t{256} << 20;
/// The same of communication.json, which grows with the collectives of the capture.
inline constexpr std::size_t kMostCommunication = std::size_t{4} << 30;

/// A small JSON document (metadata, communication.json), read whole. An empty file is an empty
/// object. Throws Error (kInput, kCorrupt) that names the file and the place; a document of more
/// than `most` bytes, once inflated, is not read.
nlohmann::json ReadJson(const std::filesystem::path& path, std::size_t most = kMostMetadata);

/// The document in a text. Throws Error (kCorrupt) that names the place when the text is not JSON
/// or is nested deeper than any document of a capture.
nlohmann::json ParseJson(std::string_view text);

/// The document in a text; it is_discarded() when the text is not JSON. The library's own function
/// is a second of compile time wherever it is called.
nlohmann::json TryParseJson(std::string_view text);

/// The member of an object; null for a missing member and for any value that is not an object.
const nlohmann::json& Member(const nlohmann::json& object, const char* key);

}  // namespace mpa::io
