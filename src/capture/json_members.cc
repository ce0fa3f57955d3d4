// SPDX-License-Identifier: Apache-2.0
// Lenient access to metadata documents.
#include "json_members.h"

#include "mpa/io/numbers.h"

namespace mpa {

std::string Text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

bool Flag(const nlohmann::json& value) { return value.is_boolean() && value.get<bool>(); }

std::optional<std::int64_t> WholeNumber(const nlohmann::json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_string()) return io::ParseInt(value.get<std::string>());
  return std::nullopt;
}

std::optional<std::int64_t> Id(const nlohmann::json& value) {
  const auto id = WholeNumber(value);
  return id && *id >= 0 ? id : std::nullopt;
}

}  // namespace mpa
