// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/graph_layers.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/base/stable_sort.h"

namespace mpa {
namespace {

// So many lengths are tried, those between as many occurrences of one name that occur most often.
constexpr std::size_t kMaxLengths = 48;
constexpr std::size_t kOccurrences = 8;
// One kernel in seven may have another name than one pattern before; a stretch of others ends it.
constexpr std::size_t kCostOfOther = 6;
constexpr double kMinSame = 0.85;

std::vector<std::size_t> LikelyLengths(std::span<const std::uint32_t> names) {
  std::unordered_map<std::uint32_t, std::array<std::size_t, kOccurrences>> last;  // places + 1
  std::unordered_map<std::size_t, std::size_t> weights;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::array<std::size_t, kOccurrences>& before = last[names[i]];
    for (const std::size_t place : before) {
      if (place > 0 && 2 * (i + 1 - place) <= names.size()) ++weights[i + 1 - place];
    }
    std::shift_right(before.begin(), before.end(), 1);
    before[0] = i + 1;
  }
  std::vector<std::pair<std::size_t, std::size_t>> lengths(weights.begin(), weights.end());
  StableSort(lengths, [](const auto& a, const auto& b) {
    return std::pair{b.second, a.first} < std::pair{a.second, b.first};
  });
  if (lengths.size() > kMaxLengths) lengths.resize(kMaxLengths);
  std::vector<std::size_t> likely;
  for (const auto& [length, weight] : lengths) likely.push_back(length);
  std::ranges::sort(likely);
  return likely;
}

// The stretch in which the kernels equal those one length later, but for few.
LayerPattern Stretch(std::span<const std::uint32_t> names, std::size_t length) {
  std::int64_t sum = 0, best = 0;
  std::size_t begin = 0, same = 0;
  LayerPattern pattern{.length = length};
  for (std::size_t i = 0; i + length < names.size(); ++i) {
    if (sum <= 0) {
      sum = 0;
      same = 0;
      begin = i;
    }
    const bool equal = names[i] == names[i + length];
    sum += equal ? 1 : -static_cast<std::int64_t>(kCostOfOther);
    same += equal ? 1 : 0;
    if (sum <= best) continue;
    best = sum;
    pattern.begin = begin;
    pattern.covered = i + 1 - begin + length;
    pattern.same = static_cast<double>(same) / static_cast<double>(i + 1 - begin);
  }
  return pattern;
}

// How many of the kernels beside a stretch belong to it, of those of one length: the sum above
// leaves out a kernel that differs with the few behind it. `is_same(i)` is about the i-th from the
// stretch.
template <typename IsSame>
std::size_t More(std::size_t most, std::size_t length, IsSame is_same) {
  std::size_t more = 0, same = 0, others = 0;
  for (std::size_t i = 0; i < most && (kCostOfOther + 1) * others <= length; ++i) {
    ++(is_same(i) ? same : others);
    if (is_same(i) && same >= 2 * others) more = i + 1;
  }
  return more;
}

void Extend(std::span<const std::uint32_t> names, LayerPattern& pattern) {
  const std::size_t length = pattern.length, end = pattern.begin + pattern.covered;
  pattern.covered += More(std::min(names.size() - end, length - 1), length,
                          [&](std::size_t i) { return names[end + i] == names[end + i - length]; });
  const std::size_t begin = pattern.begin;
  const std::size_t before = More(std::min(begin, length - 1), length, [&](std::size_t i) {
    return names[begin - 1 - i] == names[begin - 1 - i + length];
  });
  pattern.begin -= before;
  pattern.covered += before;
}

// How often most of the names occur in one pattern; of several numbers the smallest.
std::size_t LayersIn(std::span<const std::uint32_t> kernels) {
  std::unordered_map<std::uint32_t, std::size_t> count;
  for (const std::uint32_t name : kernels) ++count[name];
  std::map<std::size_t, std::size_t> names;
  for (const auto& [name, times] : count) ++names[times];
  const auto most = std::ranges::max_element(
      names, [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

}  // namespace

std::optional<LayerPattern> FindLayers(std::span<const std::uint32_t> names) {
  std::vector<LayerPattern> found;
  std::size_t most = 0;
  for (const std::size_t length : LikelyLengths(names)) {
    LayerPattern pattern = Stretch(names, length);
    if (pattern.same < kMinSame || pattern.covered < 2 * length) continue;
    Extend(names, pattern);
    found.push_back(pattern);
    most = std::max(most, pattern.covered);
  }
  for (LayerPattern& pattern : found) {  // the shortest first
    if (10 * pattern.covered < 9 * most || 2 * pattern.covered < names.size()) continue;
    pattern.layers_in_it = LayersIn(names.subspan(pattern.begin, pattern.length));
    return pattern;
  }
  return std::nullopt;
}

}  // namespace mpa
