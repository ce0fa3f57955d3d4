// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "json_values.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/gate/judge.h"

namespace mpa::gate {
namespace {

[[noreturn]] void FailType(const nlohmann::json& value, const char* what, const char* wanted) {
  Fail(ErrorKind::kCorrupt, "{}: {} was expected, not {}", what, Translated(wanted),
       value.type_name());
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
  if (amount < 0 || amount > kMaxAmount) {
    Fail(ErrorKind::kCorrupt, "{}: {} is not a time, size or count", what, amount);
  }
  return amount;
}

bool AsFlag(const nlohmann::json& value, const char* what) {
  if (!value.is_boolean()) FailType(value, what, "true or false");
  return value.get<bool>();
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

// Thresholds as a document.

namespace {

using nlohmann::json;

void RefuseOthers(const json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object.items()) {
    if (!IsOneOf(key, known)) {
      Fail(ErrorKind::kUsage, "unknown name \"{}\"; available: {}", key, fmt::join(known, ", "));
    }
  }
}

std::size_t AsCount(const json& value, const char* what) {
  const std::int64_t count = AsInteger(value, what);
  constexpr std::int64_t kMax = 1'000'000;
  if (count < 0 || count > kMax)
    Fail(ErrorKind::kUsage, "{} {}: give a number of steps", what, count);
  return static_cast<std::size_t>(count);
}

Rule RuleOf(const json& object) {
  AsObject(object, "a metric");
  RefuseOthers(object, {"metric", "limit", "min_abs", "min_share"});
  Rule rule;
  rule.metric = ParseMetric(AsText(RequiredMember(object, "metric"), "metric"));
  const Quantity quantity = QuantityOf(rule.metric.kind);
  InContext(NameOf(rule.metric), [&] {
    const std::string limit = AsText(RequiredMember(object, "limit"), "limit");
    InContext("limit", [&] { rule.limit = ParseLimit(limit, quantity); });
    if (object.contains("min_abs")) {
      const std::string text = AsText(object["min_abs"], "min_abs");
      rule.min_abs = ParseAmount(text, quantity);
      if (!rule.min_abs)
        Fail(ErrorKind::kUsage,
             "min_abs: '{}' is not an amount of that metric; give one such as 20us or 1MB", text);
    }
    if (object.contains("min_share")) {
      rule.min_share = ParseMinShare(AsText(object["min_share"], "min_share"));
    }
  });
  return rule;
}

void Apply(const json& document, GateSettings& settings) {
  AsObject(document, "the document");
  RefuseOthers(document, {"metrics", "min_abs", "min_share", "min_steps", "warmup"});
  if (document.contains("metrics")) {
    for (const json& metric : AsArray(document["metrics"], "metrics")) {
      Rule rule = RuleOf(metric);
      const bool twice = std::ranges::any_of(
          settings.rules, [&](const Rule& other) { return other.metric == rule.metric; });
      if (twice) Fail(ErrorKind::kUsage, "metrics: {} is listed twice", NameOf(rule.metric));
      settings.rules.push_back(std::move(rule));
    }
  }
  if (document.contains("min_abs")) ApplyMinAbs(AsText(document["min_abs"], "min_abs"), settings);
  if (document.contains("min_share")) {
    settings.min_share = ParseMinShare(AsText(document["min_share"], "min_share"));
  }
  if (document.contains("min_steps")) {
    settings.min_steps = std::max<std::size_t>(1, AsCount(document["min_steps"], "min_steps"));
  }
  if (document.contains("warmup")) settings.warmup = AsCount(document["warmup"], "warmup");
}

}  // namespace

void ApplyGateFile(const json& document, GateSettings& settings) {
  try {
    Apply(document, settings);
  } catch (const Error& error) {
    // The user wrote it: a wrong member is like a wrong option, not like a broken capture.
    throw Error(ErrorKind::kUsage, error.what());
  }
}

void ApplyMinAbs(std::string_view text, GateSettings& settings) {
  for (const std::string_view piece : Split(text, ',')) {
    const std::string_view part = Trim(piece);
    if (const auto ns = ParseAmount(part, Quantity::kTime)) {
      settings.min_abs_ns = *ns;
    } else if (const auto bytes = ParseAmount(part, Quantity::kBytes)) {
      settings.min_abs_bytes = *bytes;
    } else {
      Fail(ErrorKind::kUsage, "invalid amount '{}'; give 20us or 16MB, or both as 20us,16MB", part);
    }
  }
}

double ParseMinShare(std::string_view text) {
  const auto percent = ParsePercent(text);
  if (!percent) Fail(ErrorKind::kUsage, "invalid share of the step '{}'; give 0.5%", text);
  return *percent;
}

}  // namespace mpa::gate
