// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "mpa/base/language.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

/// An option of a recipe, declared once: `arguments[kTop]` is its value, and kTop in
/// RecipeInfo::options makes the command line, --help and the manual know it, in the language that
/// the process has then. T is bool (a
/// switch), a whole or other number, an enumeration, a text, an optional of these, or what `read`
/// makes of a text.
template <typename T>
struct Option {
  static constexpr bool kIsPlain = std::is_arithmetic_v<T> || std::is_enum_v<T>;
  std::string_view name, type_name{}, help;
  /// What holds without the option; of a T that `read` makes the text of it.
  std::conditional_t<kIsPlain, T, std::string_view> usual{};
  std::string_view usual_text{};  ///< for --help, where `usual` does not say it
  std::span<const std::string_view> choices{};
  std::int64_t least = 1;
  T (*read)(const std::string& text) = nullptr;  ///< throws Error
  bool required = false, is_page = false;

  operator RecipeOption() const;
};

/// A switch.
constexpr Option<bool> Switch(std::string_view name, std::string_view help) {
  return {.name = name, .help = help};
}

namespace option {

template <typename T>
struct Held {
  using Type = T;
};
template <typename T>
struct Held<std::optional<T>> {
  using Type = T;
};

template <typename T>
constexpr RecipeOption::Kind KindOf() {
  using Kind = RecipeOption::Kind;
  if (std::is_same_v<T, bool>) return Kind::kSwitch;
  if (std::is_enum_v<T>) return Kind::kChoice;
  if (std::is_integral_v<T>) return Kind::kCount;
  return std::is_floating_point_v<T> ? Kind::kNumber : Kind::kText;
}

std::string TextOf(std::int64_t count);
std::string TextOf(double number);

}  // namespace option

template <typename T>
Option<T>::operator RecipeOption() const {
  using Kind = RecipeOption::Kind;
  Kind kind = read != nullptr ? Kind::kText : option::KindOf<typename option::Held<T>::Type>();
  if (kind == Kind::kText && !choices.empty()) kind = Kind::kChoice;
  std::string otherwise(usual_text);
  if (otherwise.empty() && !required) {
    if constexpr (std::is_enum_v<T>)
      otherwise = choices[static_cast<std::size_t>(usual)];
    else if constexpr (std::is_floating_point_v<T>)
      otherwise = option::TextOf(usual);
    else if constexpr (!kIsPlain)
      otherwise = usual;
    else if constexpr (!std::is_same_v<T, bool>)
      otherwise = option::TextOf(static_cast<std::int64_t>(usual));
  }
  std::string full(Translated(help));
  if (!otherwise.empty()) full += Say(" [default: {}]", Translated(otherwise));
  std::function<void(const std::string&)> check;
  if (read != nullptr) check = [read = read](const std::string& text) { (void)read(text); };
  return {name, type_name, full, kind, choices, least, check, required, is_page};
}

template <typename T>
T RecipeArguments::operator[](const Option<T>& option) const {
  using Value = typename option::Held<T>::Type;
  const OptionValue* value = Find(option.name);
  if constexpr (std::is_same_v<T, bool>) {
    return value != nullptr;
  } else {
    if (value != nullptr && option.read != nullptr) return option.read(value->text);
    if (value != nullptr) {
      if constexpr (std::is_enum_v<Value> || std::is_integral_v<Value>)
        return static_cast<Value>(value->count);
      else if constexpr (std::is_floating_point_v<Value>)
        return value->number;
      else if constexpr (std::is_same_v<Value, std::string>)
        return value->text;
    }
    if constexpr (Option<T>::kIsPlain || std::is_same_v<T, std::string>)
      return T(option.usual);
    else
      return option.usual.empty() ? T() : option.read(std::string(option.usual));
  }
}

/// The switch of recipes for the layout of the Python tool.
inline constexpr std::string_view kCompat = "compat";
constexpr Option<bool> CompatSwitch(std::string_view help) { return Switch(kCompat, help); }

/// The step that the user chose; empty: all. Throws Error (kInput) when the rank has no such step.
std::optional<std::int32_t> ChosenStep(const Steps& steps, const RecipeArguments& arguments);

}  // namespace mpa
