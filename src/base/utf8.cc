// SPDX-License-Identifier: Apache-2.0
// UTF-8 as the Unicode standard defines it: no overlong forms, no surrogates, nothing above
// U+10FFFF.
#include "mpa/base/utf8.h"

#include <fmt/format.h>

#include <algorithm>

namespace mpa {
namespace {

bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

}  // namespace

std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned lead = byte(0);
  if (text.empty()) return 0;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4 || !continues(1)) return 0;
  if (lead < 0xe0) return 2;
  if (!continues(2)) return 0;
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) > 0x9f;
  const bool too_large = lead == 0xf4 && byte(1) > 0x8f;
  if (overlong || surrogate || too_large) return 0;
  if (lead < 0xf0) return 3;
  return continues(3) ? 4 : 0;
}

char32_t CodePoint(std::string_view text) {
  const std::size_t length = Utf8Length(text);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (length < 2) return byte(0);
  char32_t code = byte(0) & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3fu);
  return code;
}

std::size_t CountCharacters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, BeginsCharacter));
}

std::string ShortenMiddle(std::string_view text, std::size_t characters) {
  constexpr std::string_view kGap = "...";
  const std::size_t all = CountCharacters(text);
  if (all <= characters) return std::string(text);
  // Where the character of that number begins.
  const auto begin_of = [&](std::size_t number) {
    std::size_t at = 0;
    for (std::size_t seen = 0; at < text.size(); ++at) {
      if (BeginsCharacter(text[at]) && seen++ == number) break;
    }
    return at;
  };
  const std::size_t kept = characters - std::min(characters, kGap.size());
  const std::size_t behind = kept / 2;
  return fmt::format("{}{}{}", text.substr(0, begin_of(kept - behind)), kGap,
                     text.substr(begin_of(all - behind)));
}

std::string ValidUtf8(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = Utf8Length(text.substr(i));
    valid += length == 0 ? kReplacement : text.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  return valid;
}

}  // namespace mpa
