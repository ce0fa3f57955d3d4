// SPDX-License-Identifier: Apache-2.0
#include "choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "help.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

// A description that ValuesOf() understands.
constexpr std::string_view kOpen = "{", kClose = "}", kCloseOfList = "}...";

std::vector<std::string> SplitWords(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(separator, from), text.size());
    words.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  return words;
}

CLI::Validator Described(std::span<const std::string_view> values, std::string_view close) {
  return CLI::Validator(fmt::format("{}{}{}", kOpen, fmt::join(values, ","), close));
}

// "fit or wide", "pass, warn or fail".
std::string Alternatives(const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += i == 0 ? "" : i + 1 == values.size() ? " or " : ", ";
    text += values[i];
  }
  return text;
}

}  // namespace

CLI::Validator OneOf(std::vector<std::string> values) {
  std::string description = fmt::format("{}{}{}", kOpen, fmt::join(values, ","), kClose);
  return CLI::Validator(
      [values = std::move(values)](const std::string& value) {
        const bool known = std::find(values.begin(), values.end(), value) != values.end();
        return known ? std::string()
                     : fmt::format("'{}' is unknown; give {}", value, Alternatives(values));
      },
      std::move(description));
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
