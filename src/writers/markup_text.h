// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/settings/differences.h"

namespace mpa::writers {

/// A character and the text that stands in its place.
using Escapes = std::initializer_list<std::pair<char, std::string_view>>;
std::string Escaped(std::string_view text, Escapes escapes);

/// A text between tags or in an attribute of HTML, whatever it holds.
std::string EscapedHtml(std::string_view text);

/// A whole page that needs nothing else. `title` is a text, `style` and `body` are as they are.
std::string HtmlDocument(std::string_view title, std::string_view style, std::string_view body);

/// `text` as JSON has it, in quotes.
std::string Quoted(std::string_view text);
/// The same of several, as an array.
std::string QuotedList(const std::vector<std::string>& texts);

/// A member "settings" of a document: what differs, and what one side alone records.
std::string SettingsJson(const ComparedSettings& compared);

/// Names of a capture are only ever text: no end of a cell or line, no HTML, no links and images.
/// As entities, which mean the same within tables and outside.
std::string EscapedMarkdown(std::string_view text);

}  // namespace mpa::writers
