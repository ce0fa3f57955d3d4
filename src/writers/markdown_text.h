// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpa::writers {

/// Names of a capture are only ever text: no end of a cell or line, no HTML, no links and images.
/// As entities, which mean the same within tables and outside.
std::string EscapedMarkdown(std::string_view text);

}  // namespace mpa::writers
