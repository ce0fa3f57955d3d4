// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

__extension__ using Wide = __int128;  // the distance of two values may need 64 bits and a sign

// `part` of `whole` of the way from one value to a greater one.
std::int64_t Between(std::int64_t from, std::int64_t to, std::int64_t part, std::int64_t whole) {
  const Wide way = (Wide{to} - from) * part;
  return static_cast<std::int64_t>(from + (2 * way + whole) / (2 * Wide{whole}));
}

// Puts the middle value where it belongs, smaller ones before it, and gives its place.
template <typename Value>
auto ToMiddle(std::vector<Value>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return middle;
}

}  // namespace

std::int64_t Percentile(const std::vector<std::int64_t>& sorted, int percent) {
  if (sorted.empty()) return 0;
  const std::size_t place = (sorted.size() - 1) * static_cast<std::size_t>(percent);
  const std::size_t below = place / 100;
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return Between(sorted[below], sorted[above], static_cast<std::int64_t>(place % 100), 100);
}

std::int64_t Median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = ToMiddle(values);
  if (values.size() % 2 == 1) return *middle;
  return Between(*std::max_element(values.begin(), middle), *middle, 1, 2);
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = ToMiddle(values);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::size_t PercentileIndex(std::size_t count, int percent) {
  return (static_cast<std::size_t>(percent) * count + 99) / 100 - 1;
}

std::size_t PercentileIndexAbove(std::size_t count, int percent) {
  return static_cast<std::size_t>(percent) * count / 100;
}

}  // namespace mpa
