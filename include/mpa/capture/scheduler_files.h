// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace mpa {

/// How the records of trace-cmd and perf begin, of which their own tools make a text.
inline constexpr std::string_view kTraceCmdData = "\x17\x08\x44tracing", kPerfData = "PERFILE2";

}  // namespace mpa
