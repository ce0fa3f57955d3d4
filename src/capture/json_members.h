// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

/// Lenient access to metadata documents: what is missing or of another type counts as absent.
namespace mpa {

/// The member of an object, or null for anything that is not there.
inline const nlohmann::json& Member(const nlohmann::json& object, const char* key) {
  static const nlohmann::json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

/// A text; empty for anything else.
std::string Text(const nlohmann::json& value);
/// True for the boolean true only.
bool Flag(const nlohmann::json& value);
/// A whole number, or a text of one.
std::optional<std::int64_t> WholeNumber(const nlohmann::json& value);
/// The same for ids, of which negative ones mean "none".
std::optional<std::int64_t> Id(const nlohmann::json& value);

}  // namespace mpa
