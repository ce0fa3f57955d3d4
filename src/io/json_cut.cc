// SPDX-License-Identifier: Apache-2.0
// Finds the boundaries of the events of a trace without parsing them: only quotes, escapes and
// brackets are looked at. Parsers with a size limit can then work on pieces, in parallel.
#include "mpa/io/json_cut.h"

#include <array>
#include <cstring>

#include "mpa/base/error.h"

namespace mpa::io {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::size_t SkipSpace(std::string_view text, std::size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

// `at` is behind an opening quote; returns the position behind the closing one, or kNone.
std::size_t SkipString(std::string_view text, std::size_t at) {
  const char* const begin = text.data();
  while (at < text.size()) {
    const void* found = std::memchr(begin + at, '"', text.size() - at);
    if (found == nullptr) return kNone;
    const auto quote = static_cast<std::size_t>(static_cast<const char*>(found) - begin);
    std::size_t backslashes = 0;
    while (quote > at + backslashes && text[quote - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return quote + 1;
    at = quote + 1;
  }
  return kNone;
}

enum Special : unsigned char { kPlain, kQuote, kOpen, kClose };

constexpr std::array<unsigned char, 256> kSpecial = [] {
  std::array<unsigned char, 256> table{};
  table['"'] = kQuote;
  table['{'] = table['['] = kOpen;
  table['}'] = table[']'] = kClose;
  return table;
}();

// `at` is on an opening bracket; returns the position behind its closing one, or kNone. Brackets of
// the other kind do not count: a broken event must not take its neighbours along.
std::size_t SkipBracket(std::string_view text, std::size_t at) {
  const char open = text[at];
  const char close = open == '{' ? '}' : ']';
  std::size_t depth = 0;
  while (at < text.size()) {
    switch (kSpecial[static_cast<unsigned char>(text[at])]) {
      case kQuote:
        at = SkipString(text, at + 1);
        if (at == kNone) return kNone;
        continue;
      case kOpen:
        if (text[at] == open) ++depth;
        break;
      case kClose:
        if (text[at] == close && --depth == 0) return at + 1;
        break;
      default:
        break;
    }
    ++at;
  }
  return kNone;
}

// The position behind the '[' of the event array.
std::size_t FindEventArray(std::string_view text) {
  std::size_t at = SkipSpace(text, text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  if (at == text.size()) Fail(ErrorKind::kCorrupt, "the file is empty");
  if (text[at] == '[') return at + 1;
  if (text[at] != '{') Fail(ErrorKind::kCorrupt, "not JSON: it begins with neither '[' nor '{{'");
  ++at;
  while (true) {
    at = SkipSpace(text, at);
    if (at < text.size() && text[at] == ',') at = SkipSpace(text, at + 1);
    if (at >= text.size() || text[at] != '"') break;
    const std::size_t key_end = SkipString(text, at + 1);
    if (key_end == kNone) break;
    const std::string_view key = text.substr(at + 1, key_end - at - 2);
    at = SkipSpace(text, key_end);
    if (at >= text.size() || text[at] != ':') break;
    at = SkipSpace(text, at + 1);
    if (at >= text.size()) break;
    if (key == "traceEvents" && text[at] == '[') return at + 1;
    if (text[at] == '{' || text[at] == '[') {
      at = SkipBracket(text, at);
    } else if (text[at] == '"') {
      at = SkipString(text, at + 1);
    } else {
      at = text.find_first_of(",}", at);
    }
    if (at == kNone) break;
  }
  Fail(ErrorKind::kCorrupt, "no \"traceEvents\" array; is this a profiler trace?");
}

// Calls on_object(begin, end) for each object from `at`; returns where the array ended, or kNone.
template <typename OnObject>
std::size_t ForEachObject(std::string_view text, std::size_t at, OnObject on_object) {
  while (true) {
    at = SkipSpace(text, at);
    if (at < text.size() && text[at] == ',') at = SkipSpace(text, at + 1);
    if (at >= text.size()) return kNone;
    if (text[at] == ']') return at;
    if (text[at] != '{') {
      Fail(ErrorKind::kCorrupt, "byte {}: expected an event object, found '{}'", at, text[at]);
    }
    const std::size_t end = SkipBracket(text, at);
    if (end == kNone) return kNone;
    on_object(at, end);
    at = end;
  }
}

}  // namespace

CutArray CutEventArray(std::string_view text, std::size_t piece_bytes) {
  CutArray cut;
  const std::size_t begin = FindEventArray(text);
  std::size_t piece_begin = kNone;
  std::size_t last_end = begin;
  const std::size_t array_end = ForEachObject(text, begin, [&](std::size_t from, std::size_t to) {
    if (piece_begin == kNone) piece_begin = from;
    last_end = to;
    if (to - piece_begin >= piece_bytes) {
      cut.pieces.push_back(text.substr(piece_begin, to - piece_begin));
      piece_begin = kNone;
    }
  });
  if (piece_begin != kNone) cut.pieces.push_back(text.substr(piece_begin, last_end - piece_begin));
  if (array_end == kNone) cut.cut_off_at = last_end;
  return cut;
}

std::vector<std::string_view> SplitObjects(std::string_view piece) {
  std::vector<std::string_view> objects;
  ForEachObject(piece, 0, [&](std::size_t from, std::size_t to) {
    objects.push_back(piece.substr(from, to - from));
  });
  return objects;
}

}  // namespace mpa::io
