// SPDX-License-Identifier: Apache-2.0
#include "value_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace mpa::recipes::hardware {
namespace {

struct Prefix {
  const char* name;
  double size;
};

// Decimal ones, as links and memories are sold, and as all reports of this program show bytes.
ValueUnit Prefixed(const std::string& unit, double largest) {
  constexpr std::array<Prefix, 5> kPrefixes = {
      {{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1}}};
  const auto fits =
      std::ranges::find_if(kPrefixes, [&](const Prefix& prefix) { return largest >= prefix.size; });
  const Prefix& prefix = fits != kPrefixes.end() ? *fits : kPrefixes.back();
  const int decimals = largest / prefix.size < 10 ? 2 : 1;
  return {prefix.name + unit, prefix.size, decimals};
}

}  // namespace

ValueUnit UnitOf(const CounterName& counter, double largest) {
  if (counter.unit == "B/s" || counter.unit == "B") return Prefixed(counter.unit, largest);
  if (counter.unit == "ns") return {"us", 1e3, 2};
  if (counter.unit == "%") return {"%", 1, largest < 1 ? 4 : 1};
  if (counter.unit == "packets") return {counter.unit, 1, 0};
  return {counter.unit, 1, largest < 100 ? 1 : 0};
}

std::string ValueText(const CounterName& counter, double value) {
  const ValueUnit unit = UnitOf(counter, value);
  const std::string text = fmt::format("{:.{}f}", value / unit.size, unit.decimals);
  return unit.name.empty() ? text : fmt::format("{} {}", text, unit.name);
}

std::vector<CounterOfRanks> MainCounters(const Ranks& ranks) {
  std::vector<CounterOfRanks> all;
  std::map<std::tuple<std::string, std::string>, std::size_t> places;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const Counter& counter : ranks[rank].part.counters) {
      if (!counter.is_main) continue;
      const auto [place, is_new] =
          places.try_emplace(std::tuple(counter.id.group, counter.id.name), all.size());
      if (is_new) all.push_back({&counter, {}, {}});
      CounterOfRanks& of_ranks = all[place->second];
      of_ranks.counters.emplace_back(rank, &counter);
      of_ranks.means.push_back({ranks[rank].rank, counter.mean});
    }
  }
  return all;
}

}  // namespace mpa::recipes::hardware
