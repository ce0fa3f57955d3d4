// SPDX-License-Identifier: Apache-2.0
// The settings of two runs side by side.
#include "mpa/settings/differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/settings/costly.h"

namespace mpa {
namespace {

using Value = std::optional<std::string>;

Value ValueIn(const SettingValues& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? Value() : Value(found->second);
}

// One side lacks this setting, but records others of the kind. Which switches and versions are
// recorded depends on the version of the profiler; variables and metadata are there when they are
// set.
bool MattersAlone(SettingKind kind, const std::string& value) {
  return !value.empty() && (kind == SettingKind::kEnvironment || kind == SettingKind::kMetadata);
}

bool IsNoise(const std::string& name, const Value& value) {
  return value && DiffersByNature(name, *value);
}

// The form in which results are kept, which no step notices.
bool IsOfFiles(std::string_view name) {
  return IsOneOf(name, {"export_type", "data_simplification"});
}

void CompareKind(SettingKind kind, const SettingValues& base, const SettingValues& comparison,
                 ComparedSettings& compared) {
  std::set<std::string> names;
  for (const SettingValues* side : {&base, &comparison}) {
    for (const auto& [name, value] : *side) names.insert(name);
  }
  for (const std::string& name : names) {
    SettingDifference difference{.kind = kind,
                                 .name = name,
                                 .base = ValueIn(base, name),
                                 .comparison = ValueIn(comparison, name)};
    const auto& [before, after] = std::tie(difference.base, difference.comparison);
    if (IsNoise(name, before) || IsNoise(name, after)) continue;
    if (kind == SettingKind::kProfiler && IsOfFiles(name)) continue;
    if (before && after) ++compared.compared;
    if (before && after ? *before == *after : !MattersAlone(kind, before ? *before : *after))
      continue;
    difference.base_costs = CostsTime(name, base);
    difference.comparison_costs = CostsTime(name, comparison);
    if (difference.base_costs || difference.comparison_costs) {
      difference.costs = CostlySettingNamed(name)->costs;
    }
    compared.differing.push_back(std::move(difference));
  }
}

// What costs time now comes first.
int PlaceOf(const SettingDifference& difference) {
  if (difference.comparison_costs) return difference.base_costs ? 1 : 0;
  return difference.base_costs ? 1 : 2;
}

// A value for people. Of a long one the part from shortly before `from`.
std::string ShownValue(SettingKind kind, const Value& value, std::size_t from) {
  const bool is_metadata = kind == SettingKind::kMetadata;
  if (!value && !is_metadata) return Say("not recorded");
  if (!value || value->empty()) return Say("not set");
  constexpr std::size_t kColumns = 40, kBefore = 10;
  if (ColumnsOf(*value) <= kColumns) return *value;
  std::size_t begin = from > kColumns / 2 ? from - kBefore : 0;
  while (begin > 0 && (static_cast<unsigned char>((*value)[begin]) & 0xC0) == 0x80) --begin;
  return (begin > 0 ? "..." : "") + CutEnd(value->substr(begin), kColumns);
}

// `brief`: what the value does was said before.
std::string CostText(const SettingDifference& difference, bool brief) {
  if (difference.costs.empty()) return "";
  const bool both = difference.base_costs && difference.comparison_costs;
  const std::string_view whose =
      Translated(both                          ? "both cost time"
                 : difference.comparison_costs ? "costs time"
                                               : "the base's value costs time");
  return brief ? Say(" ({})", whose) : Say(" ({}: {})", whose, Translated(difference.costs));
}

std::string TextOf(const SettingDifference& difference, bool brief) {
  const std::string base = difference.base.value_or(""), now = difference.comparison.value_or("");
  const auto same = static_cast<std::size_t>(std::ranges::mismatch(base, now).in1 - base.begin());
  return fmt::format(
      "{} {} -> {}{}", difference.name, ShownValue(difference.kind, difference.base, same),
      ShownValue(difference.kind, difference.comparison, same), CostText(difference, brief));
}

}  // namespace

ComparedSettings CompareSettings(const RecordedSettings& base, const RecordedSettings& comparison) {
  ComparedSettings compared;
  for (const SettingKind kind : kSettingKinds) {
    const auto before = base.find(kind), after = comparison.find(kind);
    const bool in_base = before != base.end(), in_comparison = after != comparison.end();
    if (in_base && in_comparison) {
      CompareKind(kind, before->second, after->second, compared);
    } else if (in_base) {
      compared.only_in_base.push_back(kind);
    } else if (in_comparison) {
      compared.only_in_comparison.push_back(kind);
    }
  }
  StableSort(compared.differing, {}, PlaceOf);
  return compared;
}

std::string SettingsLine(const ComparedSettings& compared) {
  constexpr std::size_t kMost = 6, kColumns = 300;
  const std::vector<SettingDifference>& all = compared.differing;
  if (all.empty()) return "";
  std::string line = Say("settings that differ: ");
  std::set<std::string_view> told;
  std::size_t shown = 0;
  for (; shown < std::min(all.size(), kMost); ++shown) {
    const bool brief = !told.insert(all[shown].costs).second;
    const std::string text = TextOf(all[shown], brief);
    if (shown > 0 && ColumnsOf(line) + ColumnsOf(text) > kColumns) break;
    if (shown > 0) line += Translated(", ");
    line += text;
  }
  if (const std::size_t more = all.size() - shown; more > 0)
    line += Say("; {} more: see check", more);
  return line;
}

}  // namespace mpa
