// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/reword.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

#include "mpa/base/language.h"

namespace mpa {
namespace {

// What stands in the text where the form has "{}"; empty where the text is of another form.
std::optional<std::vector<std::string>> FieldsOf(std::string_view text, std::string_view form) {
  std::vector<std::string> fields;
  for (std::size_t hole = form.find("{}"); hole != form.npos; hole = form.find("{}")) {
    if (!text.starts_with(form.substr(0, hole))) return std::nullopt;
    text.remove_prefix(hole);
    form.remove_prefix(hole + 2);
    const std::string_view next = form.substr(0, form.find("{}"));
    const std::size_t end = next.empty() ? text.size() : text.find(next);
    if (end == text.npos) return std::nullopt;
    fields.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return text == form ? std::optional(fields) : std::nullopt;
}

}  // namespace

std::string Reworded(const std::string& text, std::span<const char* const> forms) {
  if (CurrentLanguage() == Language::kEnglish) return text;
  for (const char* form : forms) {
    const auto fields = FieldsOf(text, form);
    if (!fields) continue;
    fmt::dynamic_format_arg_store<fmt::format_context> values;
    for (const std::string& field : *fields) values.push_back(Reworded(field, forms));
    const std::string_view said = Translated(form);
    return fmt::vformat(fmt::string_view(said.data(), said.size()), values);
  }
  return text;
}

}  // namespace mpa
