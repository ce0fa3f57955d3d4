// SPDX-License-Identifier: Apache-2.0
#include "choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "help.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

// A description that ValuesOf() understands.
constexpr std::string_view kOpen = "{", kClose = "}", kCloseOfList = "}...";

std::vector<std::string> SplitWords(std::string_view text, char separator) {
  const std::vector<std::string_view> words = Split(text, separator);
  return {words.begin(), words.end()};
}

CLI::Validator Described(std::span<const std::string_view> values, std::string_view close) {
  return CLI::Validator(fmt::format("{}{}{}", kOpen, fmt::join(values, ","), close));
}

// "fit or wide", "pass, warn or fail".
std::string Alternatives(const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && i + 1 == values.size())
      text = Say("{} or {}", text, values[i]);
    else
      text += (i == 0 ? "" : ", ") + values[i];
  }
  return text;
}

}  // namespace

CLI::Validator OneOf(std::vector<std::string> values) {
  std::string description = fmt::format("{}{}{}", kOpen, fmt::join(values, ","), kClose);
  return CLI::Validator(
      [values = std::move(values)](const std::string& value) {
        const bool known = std::ranges::find(values, value) != values.end();
        return known ? std::string() : Say("'{}' is unknown; give {}", value, Alternatives(values));
      },
      std::move(description));
}

CLI::Validator Version(std::string example) {
  return CLI::Validator(
      [example = std::move(example)](const std::string& value) {
        const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
        const auto is_part = [&](char c) {
          return is_digit(c) || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        };
        const bool is_version = !value.empty() && is_digit(value.front()) && value.back() != '.' &&
                                value.find('.') != std::string::npos &&
                                std::ranges::all_of(value, is_part);
        return is_version ? std::string()
                          : Say("invalid version '{}'; give one such as {}", value, example);
      },
      "");
}

CLI::Validator Suggested(std::span<const std::string_view> values) {
  return Described(values, kClose);
}

CLI::Validator SuggestedList(std::span<const std::string_view> values) {
  return Described(values, kCloseOfList);
}

OptionValues ValuesOf(const CLI::Option& option) {
  using Kind = OptionValues::Kind;
  if (option.get_items_expected_max() == 0) return {};
  const std::vector<std::string> types = SplitWords(TypeNameOf(option), '|');
  const std::string description = option.get_type_name();
  const std::size_t open = description.find(fmt::format(":{}", kOpen));
  if (open != std::string::npos) {
    std::string_view listed = std::string_view(description).substr(open + 1 + kOpen.size());
    const bool several = listed.ends_with(kCloseOfList);
    if (several) listed.remove_suffix(kCloseOfList.size() - kClose.size());
    if (listed.ends_with(kClose)) {
      listed.remove_suffix(kClose.size());
      return {several ? Kind::kList : Kind::kWords, SplitWords(listed, ',')};
    }
  }
  if (IsOneOf(types.front(), {"PATH", "FILE", "OUT"})) {
    return {Kind::kFiles, {types.begin() + 1, types.end()}};
  }
  return {types.front() == "DIR" ? Kind::kDirectories : Kind::kFree, {}};
}

}  // namespace mpa
