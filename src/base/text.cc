// SPDX-License-Identifier: Apache-2.0
// Small text helpers.
#include "mpa/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "mpa/base/language.h"

namespace mpa {
namespace {

constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Levenshtein distance, one row at a time.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// "f" of "f(int, g(4))".
std::string_view WithoutParameters(std::string_view name) {
  if (!name.ends_with(')')) return name;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 1;) {
    depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
    if (depth == 0) return name.substr(0, at);
  }
  return name;
}

bool IsOfIdentifier(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (Lower(c) >= 'a' && Lower(c) <= 'z');
}

// Takes the last identifier away, or "(anonymous namespace)".
void DropQualifier(std::string& text) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  if (text.ends_with(kAnonymous)) text.resize(text.size() - kAnonymous.size());
  while (!text.empty() && IsOfIdentifier(text.back())) text.pop_back();
}

}  // namespace

std::string ToLower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = Lower(c);
  return out;
}

std::string Plural(std::int64_t count, std::string_view noun) {
  if (CurrentLanguage() == Language::kChinese) return std::string(Translated(noun));
  return std::string(noun) + (count == 1 ? "" : "s");
}

std::string Counted(std::int64_t count, std::string_view noun) {
  if (CurrentLanguage() == Language::kChinese) {
    // Chinese counts with a word that depends on the noun: the table has it with the number.
    const std::string english = "{} " + std::string(noun);
    const std::string_view form = Translated(english);
    return fmt::format(fmt::runtime(form), count);
  }
  return std::to_string(count) + ' ' + Plural(count, noun);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t from = 0; from <= text.size(); from += pieces.back().size() + 1) {
    pieces.push_back(text.substr(from, text.find(separator, from) - from));
  }
  return pieces;
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && StartsWithIgnoringCase(text, lower);
}

bool StartsWithIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (Lower(text[i]) != lower[i]) return false;
  }
  return true;
}

std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::string ShellWord(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("/._-+,:@%=").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

std::string_view Trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view WithoutNumber(std::string_view text) {
  const std::size_t before = text.find_last_not_of("0123456789");
  const bool numbered =
      before != std::string_view::npos && before + 1 < text.size() && text[before] == '_';
  return numbered ? text.substr(0, before) : text;
}

std::int64_t TakeNumber(std::string_view& text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::string WithoutAddresses(std::string_view text) {
  constexpr std::string_view kAt = " at 0x", kDigits = "0123456789abcdefABCDEF";
  std::string stable;
  for (std::size_t found; (found = text.find(kAt)) != std::string_view::npos;) {
    const std::size_t end =
        std::min(text.size(), text.find_first_not_of(kDigits, found + kAt.size()));
    const bool is_address = end > found + kAt.size();
    stable += text.substr(0, is_address ? found : end);
    text.remove_prefix(end);
  }
  return stable + std::string(text);
}

std::string ShortFunctionName(std::string_view name) {
  constexpr std::string_view kVoid = "void ", kScope = "::";
  if (name.starts_with(kVoid)) name.remove_prefix(kVoid.size());
  name = WithoutParameters(name);
  std::string text;
  int depth = 0;  // of template arguments
  for (std::size_t at = 0; at < name.size(); ++at) {
    depth += name[at] == '<' ? 1 : name[at] == '>' ? -1 : 0;
    if (depth > 0 && name.substr(at).starts_with(kScope) && !text.ends_with('>')) {
      DropQualifier(text);
      ++at;
    } else {
      text += name[at];
    }
  }
  return text;
}

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::optional<std::string> Closest(std::string_view name, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = std::min(name.size(), std::max<std::size_t>(2, name.size() / 3) + 1);
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace mpa
