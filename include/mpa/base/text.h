// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpa {

/// ASCII lower case; other bytes (UTF-8) stay as they are.
std::string ToLower(std::string_view text);
/// The text as one word for a shell: in single quotes unless it needs none.
std::string ShellWord(std::string_view text);
/// Compare ToLower(text) with `lower`, which has no capital letters, without a copy.
bool EqualsIgnoringCase(std::string_view text, std::string_view lower);
bool StartsWithIgnoringCase(std::string_view text, std::string_view lower);

/// `text` without blanks, tabs and line ends at both ends.
std::string_view Trim(std::string_view text);
/// `text` without the mark that some programs put before UTF-8.
std::string_view WithoutByteOrderMark(std::string_view text);

/// The pieces of `text` between separators, as they are; of an empty text one, which is empty.
std::vector<std::string_view> Split(std::string_view text, char separator);

/// `text` without "_<digits>" at its end.
std::string_view WithoutNumber(std::string_view text);

/// The number that the text is; empty if it is anything else or has more.
template <typename Number>
std::optional<Number> WholeNumber(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

/// The number at the begin of the text, which loses it; -1 without one, or with one that is too
/// large.
std::int64_t TakeNumber(std::string_view& text);

/// `text` without the places of objects in memory, which differ from run to run: "<function f>" for
/// "<function f at 0x7f12a0>".
std::string WithoutAddresses(std::string_view text);

/// The name of a C++ function without what its signature has around it: result type, parameters,
/// and the namespaces of template arguments. "f<Add<float>>" for "void f<at::Add<float>>(int)".
/// Other names stay as they are.
std::string ShortFunctionName(std::string_view name);

/// What so many things are called: "rank" of one, "ranks" of any other number.
std::string Plural(std::int64_t count, std::string_view noun);
/// "1 rank", "3 ranks".
std::string Counted(std::int64_t count, std::string_view noun);

/// True when `text` is one of `words`.
bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words);
/// True when one of `words` occurs in `text`.
bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> words);

/// The candidate that needs the fewest edits to become `name`, if it is near enough to be meant
/// (two letters or at most a third of them differ, but not all); the first of several equally near
/// ones.
std::optional<std::string> Closest(std::string_view name, std::span<const std::string> candidates);

}  // namespace mpa
