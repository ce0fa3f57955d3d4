// SPDX-License-Identifier: Apache-2.0
#include "operator_inputs.h"

#include <charconv>
#include <system_error>

#include "mpa/base/text.h"

namespace mpa {
namespace {

// The lists within a list of lists of numbers; none where something else stands there.
Shapes ListsIn(std::string_view text) {
  Shapes lists;
  if (!text.starts_with('[')) return lists;
  int level = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '[' && ++level == 2) lists.emplace_back();
    if (letter == '[' && level > 2) return {};
    if (letter == ']') --level;
    if (letter < '0' || letter > '9') continue;
    std::int64_t size = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + at, end, size);
    if (error != std::errc() || level != 2) return {};
    lists.back().push_back(size);
    at = static_cast<std::size_t>(rest - text.data()) - 1;
  }
  return lists;
}

// The texts in quotes of a list of such.
std::vector<std::string_view> QuotedIn(std::string_view text) {
  std::vector<std::string_view> quoted;
  if (!text.starts_with('[')) return quoted;
  for (std::size_t at = text.find('\''); at != std::string_view::npos;) {
    const std::size_t end = text.find('\'', at + 1);
    if (end == std::string_view::npos) return {};
    quoted.push_back(text.substr(at + 1, end - at - 1));
    at = text.find('\'', end + 1);
  }
  return quoted;
}

std::optional<bool> AsFlag(std::string_view text) {
  if (text == "True") return true;
  return text == "False" ? std::optional(false) : std::nullopt;
}

// "[1, 1]" with each element as `read` has it.
template <typename Value, typename Read>
std::optional<std::vector<Value>> AsList(std::string_view text, Read read) {
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  std::vector<Value> list;
  text = Trim(text.substr(1, text.size() - 2));
  if (text.empty()) return list;
  for (const std::string_view part : Split(text, ',')) {
    const std::optional<Value> value = read(Trim(part));
    if (!value) return std::nullopt;
    list.push_back(*value);
  }
  return list;
}

}  // namespace

OperatorInputs::OperatorInputs(const OperatorTexts& texts)
    : shapes_(ListsIn(texts.shapes)),
      types_(QuotedIn(texts.types)),
      values_(QuotedIn(texts.values)) {}

const Shape* OperatorInputs::Tensor(std::size_t input) const {
  return input < shapes_.size() && !shapes_[input].empty() ? &shapes_[input] : nullptr;
}

TypeClass OperatorInputs::TypeOf(std::size_t input) const {
  const std::string_view type = At(types_, input);
  if (IsOneOf(type, {"c10::BFloat16", "c10::Half"})) return TypeClass::kFp16;
  if (type.starts_with("c10::Float8_")) return TypeClass::kFp8;
  return type == "signed char" ? TypeClass::kInt8 : TypeClass::kUnknown;
}

std::optional<bool> OperatorInputs::Flag(std::size_t input) const {
  return AsFlag(At(values_, input));
}

std::optional<std::int64_t> OperatorInputs::Number(std::size_t input) const {
  return WholeNumber<std::int64_t>(At(values_, input));
}

std::optional<std::vector<std::int64_t>> OperatorInputs::Numbers(std::size_t input) const {
  return AsList<std::int64_t>(At(values_, input), WholeNumber<std::int64_t>);
}

std::optional<std::vector<bool>> OperatorInputs::Flags(std::size_t input) const {
  return AsList<bool>(At(values_, input), AsFlag);
}

}  // namespace mpa
