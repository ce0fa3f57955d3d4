// SPDX-License-Identifier: Apache-2.0
// Why the device was idle, for people: tables have it in the words of the Python tool.
#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gaps.h"
#include "mpa/base/language.h"

namespace mpa::recipes::free_analysis {
namespace {

// As ReasonOf() writes them, whole sentences before what they are made of.
constexpr const char* kForms[] = {
    ToTranslate("Perhaps not idle: the first recorded work of a stream began long after its launch;"
                " earlier work was not recorded."),
    ToTranslate("Skip free analysis due to no prev or next task."),
    ToTranslate("Skip free analysis due to no {} dispatch time."),
    ToTranslate("Host, no pytorch dispatch time: {}"),
    ToTranslate("Idle Pytorch layer: no task dispatched in {} us"),
    ToTranslate("Abnormal {} layer: {}"),
    ToTranslate("long time between two node@launch {} us"),
    ToTranslate("long node@launch {} us"),
    ToTranslate("Device task running: {}, max remaining free {} us"),
    ToTranslate("Device task running: {}."),
    ToTranslate("{} {} tasks, {}"),
    ToTranslate("{} {} tasks")};

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

std::string ReasonInWords(const std::string& reason) {
  if (CurrentLanguage() == Language::kEnglish) return reason;
  for (const char* form : kForms) {
    const auto fields = FieldsOf(reason, form);
    if (!fields) continue;
    fmt::dynamic_format_arg_store<fmt::format_context> values;
    for (const std::string& field : *fields) values.push_back(ReasonInWords(field));
    return fmt::vformat(Translated(form), values);
  }
  return reason;
}

}  // namespace mpa::recipes::free_analysis
