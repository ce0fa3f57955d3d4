// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"

/// Lenient access to metadata documents: a missing member or one of another type counts as absent.
namespace mpa {

using io::Member;

/// A text; empty for anything else.
inline std::string Text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

/// True for the boolean true only.
inline bool Flag(const nlohmann::json& value) { return value.is_boolean() && value.get<bool>(); }

/// A whole number, or a text that contains one.
inline std::optional<std::int64_t> WholeNumber(const nlohmann::json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_string()) return io::ParseInt(value.get<std::string>());
  return std::nullopt;
}

/// The same for ids, of which negative ones mean "none".
inline std::optional<std::int64_t> Id(const nlohmann::json& value) {
  const auto id = WholeNumber(value);
  return id && *id >= 0 ? id : std::nullopt;
}

}  // namespace mpa
