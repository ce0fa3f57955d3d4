// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpa::writers {

/// A text between tags or in an attribute of HTML, whatever it holds.
std::string EscapedHtml(std::string_view text);

/// A whole page that needs nothing else. `title` is a text, `style` and `body` are as they are.
std::string HtmlDocument(std::string_view language, std::string_view title, std::string_view style,
                         std::string_view body);

}  // namespace mpa::writers
