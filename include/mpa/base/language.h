// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpa {

/// The language of what people read: screens, pages, sheets.
enum class Language : std::uint8_t { kEnglish, kChinese };

}  // namespace mpa
