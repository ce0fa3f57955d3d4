// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "mpa/base/fields.h"
#include "mpa/base/text.h"

/// Names as the sources spell them: those of fields and of enumerators, so that no second list of
/// them is kept.
namespace mpa::query {

/// An object that is never made: its members have places, which compilers can spell.
template <typename T>
struct Example {
  static const T value;
};
/// Clang before 18 takes pointers to members of objects as a part of something alone.
template <typename Pointer>
struct Place {
  Pointer pointer;
};
template <typename Pointer>
Place(Pointer) -> Place<Pointer>;

template <auto kThing>
constexpr std::string_view Spelled() {
  return __PRETTY_FUNCTION__;
}
template <typename Type>
constexpr std::string_view SpelledType() {
  return __PRETTY_FUNCTION__;
}

constexpr bool IsOfWord(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The last word of what follows "<parameter> = " in a spelled function: GCC ends it with ';',
/// Clang with ']'. `before`: up to the first of this character.
constexpr std::string_view SpelledWord(std::string_view text, std::string_view parameter,
                                       char before = 0) {
  text.remove_prefix(text.find(parameter) + parameter.size());
  text = text.substr(0, std::min(text.find(';'), text.rfind(']')));
  if (before != 0) text = text.substr(0, text.find(before));
  while (!text.empty() && !IsOfWord(text.back())) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 && IsOfWord(text[begin - 1])) --begin;
  return text.substr(begin);
}

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif
/// "aic_mac": the field of `T` at this position.
template <PlainStruct T, std::size_t kField>
constexpr std::string_view FieldName() {
  return SpelledWord(Spelled<Place{&std::get<kField>(FieldsOf(Example<T>::value))}>(), "kThing = ");
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// "KernelFields" for mpa::KernelFields<mpa::InRow>.
template <typename Type>
constexpr std::string_view TemplateName() {
  return SpelledWord(SpelledType<Type>(), "Type = ", '<');
}

/// "exposed_communication" for kExposedCommunication; of values that have no name empty.
template <typename Enum>
const std::string& EnumeratorName(Enum value) {
  constexpr std::size_t kMost = 64;
  static const std::array<std::string, kMost> names =
      []<std::size_t... I>(std::index_sequence<I...>) {
    const auto name = [](std::string_view word) {
      std::string text;
      if (!word.starts_with('k')) return text;
      for (const char c : word.substr(1)) {
        if (c >= 'A' && c <= 'Z' && !text.empty()) text += '_';
        text += c;
      }
      return ToLower(text);
    };
    return std::array<std::string, kMost>{
        name(SpelledWord(Spelled<static_cast<Enum>(I)>(), "kThing = "))...};
  }
  (std::make_index_sequence<kMost>());
  return names[std::min(static_cast<std::size_t>(value), kMost - 1)];
}

/// "computing, communication, free": the names of all values.
template <typename Enum>
std::string AllEnumerators() {
  std::string text;
  for (int i = 0; !EnumeratorName(static_cast<Enum>(i)).empty(); ++i)
    text += (i == 0 ? "" : ", ") + EnumeratorName(static_cast<Enum>(i));
  return text;
}

}  // namespace mpa::query
