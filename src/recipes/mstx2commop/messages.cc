// SPDX-License-Identifier: Apache-2.0
#include "messages.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "mpa/base/text.h"
#include "mpa/io/json_document.h"

namespace mpa::recipes::commop {
namespace {

constexpr std::string_view kOldPrefix = "comm:", kOldLibrary = "Hccl";
// Longer messages describe no operator.
constexpr std::size_t kMaxLength = 4096;

std::string InCapitals(std::string_view text) {
  std::string capitals(text);
  for (char& c : capitals) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return capitals;
}

// The text of a text, the digits of a number.
std::optional<std::string> TextOf(const nlohmann::json& document, const char* key) {
  const auto found = document.find(key);
  if (found == document.end()) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  if (found->is_number_integer()) return std::to_string(found->get<std::int64_t>());
  return std::nullopt;
}

std::optional<MarkedOperator> FromJson(std::string_view message) {
  std::string text;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const bool escapes = message[i] == '\\' && i + 1 < message.size() && message[i + 1] == '"';
    if (!escapes) text += message[i];
  }
  const auto document = io::TryParseJson(text);
  if (!document.is_object()) return std::nullopt;
  const auto name = TextOf(document, "opName"), group = TextOf(document, "groupName"),
             type = TextOf(document, "dataType"), count = TextOf(document, "count"),
             stream = TextOf(document, "streamId");
  if (!name || !group || !type || !count || !stream) return std::nullopt;
  MarkedOperator found{*name + "_", *group, InCapitals(*type), *count, -1};
  std::from_chars(stream->data(), stream->data() + stream->size(), found.stream);
  return found;
}

std::optional<MarkedOperator> FromFields(std::string_view message) {
  message.remove_prefix(kOldPrefix.size());
  if (message.starts_with(kOldLibrary)) message.remove_prefix(kOldLibrary.size());
  const std::vector<std::string_view> fields = Split(message, ',');
  if (fields.size() != 4) return std::nullopt;
  return MarkedOperator{"hcom_" + std::string(fields[0]) + "_", std::string(fields[1]),
                        InCapitals(fields[2]), std::string(fields[3]), -1};
}

}  // namespace

std::optional<MarkedOperator> ParseMarkedOperator(std::string_view message, bool& broken) {
  broken = false;
  if (message.size() > kMaxLength) return std::nullopt;
  const bool is_old = message.starts_with(kOldPrefix);
  if (!is_old && (!message.starts_with('{') || message.find("opName") == std::string_view::npos)) {
    return std::nullopt;
  }
  auto found = is_old ? FromFields(message) : FromJson(message);
  broken = !found;
  return found;
}

}  // namespace mpa::recipes::commop
