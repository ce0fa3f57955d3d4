// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "mpa/base/error.h"

/// Members of documents that people keep: every wrong one is named.
namespace mpa::gate {

/// 13 days in ns, a petabyte: more than any run has. Beyond that, sums and differences would
/// overflow.
inline constexpr std::int64_t kMaxAmount = std::int64_t{1} << 50;

/// Throws Error (kCorrupt) unless `document` is an object with this "kind" and a "schema_version"
/// of at most `version`.
void CheckDocument(const nlohmann::json& document, const char* kind, int version);

/// The member, of an object. Throws Error (kCorrupt) when it is not there.
const nlohmann::json& RequiredMember(const nlohmann::json& object, const char* key);

std::string AsText(const nlohmann::json& value, const char* what);
std::int64_t AsInteger(const nlohmann::json& value, const char* what);
/// A time, size or count: from 0 to kMaxAmount.
std::int64_t AsAmount(const nlohmann::json& value, const char* what);
bool AsFlag(const nlohmann::json& value, const char* what);
double AsNumber(const nlohmann::json& value, const char* what);
const nlohmann::json& AsObject(const nlohmann::json& value, const char* what);
const nlohmann::json& AsArray(const nlohmann::json& value, const char* what);

}  // namespace mpa::gate
