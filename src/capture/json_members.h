// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "mpa/io/json_document.h"

/// Lenient access to metadata documents: a missing member or one of another type counts as absent.
namespace mpa {

using io::Member;

/// A text; empty for anything else.
std::string Text(const nlohmann::json& value);
/// True for the boolean true only.
bool Flag(const nlohmann::json& value);
/// A whole number, or a text that contains one.
std::optional<std::int64_t> WholeNumber(const nlohmann::json& value);
/// The same for ids, of which negative ones mean "none".
std::optional<std::int64_t> Id(const nlohmann::json& value);

}  // namespace mpa
