// SPDX-License-Identifier: Apache-2.0
#include "json_values.h"

#include <utility>

namespace mpa::gate {
namespace {

[[noreturn]] void FailType(const nlohmann::json& value, const char* what, const char* wanted) {
  Fail(ErrorKind::kCorrupt, "{}: {} was expected, not {}", what, wanted, value.type_name());
}

}  // namespace

const nlohmann::json& RequiredMember(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) Fail(ErrorKind::kCorrupt, "missing member \"{}\"", key);
  return *found;
}

std::string AsText(const nlohmann::json& value, const char* what) {
  if (!value.is_string()) FailType(value, what, "a text");
  return value.get<std::string>();
}

std::int64_t AsInteger(const nlohmann::json& value, const char* what) {
  if (!value.is_number_integer()) FailType(value, what, "a whole number");
  if (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>())) {
    Fail(ErrorKind::kCorrupt, "{}: {} is too large", what, value.get<std::uint64_t>());
  }
  return value.get<std::int64_t>();
}

std::int64_t AsAmount(const nlohmann::json& value, const char* what) {
  const std::int64_t amount = AsInteger(value, what);
  if (amount < 0 || amount > kMostAmount) {
    Fail(ErrorKind::kCorrupt, "{}: {} is not a time, size or count", what, amount);
  }
  return amount;
}

double AsNumber(const nlohmann::json& value, const char* what) {
  if (!value.is_number()) FailType(value, what, "a number");
  return value.get<double>();
}

const nlohmann::json& AsObject(const nlohmann::json& value, const char* what) {
  if (!value.is_object()) FailType(value, what, "an object");
  return value;
}

const nlohmann::json& AsArray(const nlohmann::json& value, const char* what) {
  if (!value.is_array()) FailType(value, what, "a list");
  return value;
}

void CheckDocument(const nlohmann::json& document, const char* kind, int version) {
  AsObject(document, "the document");
  const std::string found = AsText(RequiredMember(document, "kind"), "kind");
  if (found != kind) Fail(ErrorKind::kCorrupt, "kind is '{}', not '{}'", found, kind);
  const std::int64_t written =
      AsInteger(RequiredMember(document, "schema_version"), "schema_version");
  if (written < 1 || written > version) {
    Fail(ErrorKind::kCorrupt, "schema_version {} is unknown, this program reads up to {}", written,
         version);
  }
}

}  // namespace mpa::gate
