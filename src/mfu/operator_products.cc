// SPDX-License-Identifier: Apache-2.0
// The operations of products from the shapes of the operators that launch them: GPUs record none of
// kernels.
#include "operator_products.h"

#include <charconv>
#include <cstdint>
#include <system_error>
#include <vector>

#include "mpa/base/text.h"

namespace mpa {
namespace {

using Sizes = std::vector<std::int64_t>;

// The lists within a list of lists of numbers. What else stands there ends them.
std::vector<Sizes> ListsIn(std::string_view text) {
  std::vector<Sizes> lists;
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

struct Form {
  std::string_view op;
  std::size_t left, right;  // places of the factors among the inputs
  bool transposed;          // the right one stands with its rows and columns exchanged
};
constexpr Form kForms[] = {{"aten::mm", 0, 1, false},         {"aten::addmm", 1, 2, false},
                           {"aten::bmm", 0, 1, false},        {"aten::baddbmm", 1, 2, false},
                           {"aten::_scaled_mm", 0, 1, false}, {"aten::_int_mm", 0, 1, false},
                           {"aten::linear", 0, 1, true}};

TypeClass ClassOfTypes(std::string_view types, std::size_t input) {
  const std::vector<std::string_view> names = Split(types, ',');
  if (input >= names.size()) return TypeClass::kUnknown;
  if (ContainsAny(names[input], {"BFloat16", "Half"})) return TypeClass::kFp16;
  return ContainsAny(names[input], {"signed char"}) ? TypeClass::kInt8 : TypeClass::kUnknown;
}

Flops Multiply(const Sizes& left, const Sizes& right, bool transposed) {
  if (left.size() < 2 || right.size() < 2) return {.gap = FlopsGap::kNoShapes};
  const std::size_t inner = right.size() - (transposed ? 1 : 2);
  const std::size_t columns = right.size() - (transposed ? 2 : 1);
  if (left.back() != right[inner]) return {.gap = FlopsGap::kMismatch};
  std::int64_t count = 2;
  for (const std::int64_t size : left) {
    if (__builtin_mul_overflow(count, size, &count)) return {.gap = FlopsGap::kTooLarge};
  }
  if (__builtin_mul_overflow(count, right[columns], &count)) return {.gap = FlopsGap::kTooLarge};
  return {.count = count};
}

}  // namespace

std::optional<OperatorProduct> ProductOf(std::string_view op, std::string_view shapes,
                                         std::string_view types) {
  for (const Form& form : kForms) {
    if (form.op != op) continue;
    const std::vector<Sizes> lists = ListsIn(shapes);
    OperatorProduct product{.flops = {.gap = FlopsGap::kNoShapes},
                            .type = ClassOfTypes(types, form.left)};
    if (lists.size() > form.right)
      product.flops = Multiply(lists[form.left], lists[form.right], form.transposed);
    return product;
  }
  return std::nullopt;
}

}  // namespace mpa
