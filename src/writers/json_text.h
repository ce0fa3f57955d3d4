// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpa::writers {

/// `text` as JSON has it, in quotes.
std::string Quoted(std::string_view text);

}  // namespace mpa::writers
