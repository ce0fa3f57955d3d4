// SPDX-License-Identifier: Apache-2.0
// The settings of two runs, for programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "markup_text.h"

namespace mpa::writers {
namespace {

std::string ValueOrNull(const std::optional<std::string>& value) {
  return value ? Quoted(*value) : "null";
}

std::string Kinds(const std::vector<SettingKind>& kinds) {
  std::vector<std::string> names;
  for (const SettingKind kind : kinds) names.emplace_back(NameOf(kind));
  return QuotedList(names);
}

std::string DifferenceJson(const SettingDifference& difference) {
  return fmt::format(
      "{{\"name\": {}, \"kind\": \"{}\", \"base\": {}, \"comparison\": {}, \"base_costs_time\":"
      " {}, \"comparison_costs_time\": {}, \"cost\": {}}}",
      Quoted(difference.name), NameOf(difference.kind), ValueOrNull(difference.base),
      ValueOrNull(difference.comparison), difference.base_costs, difference.comparison_costs,
      Quoted(difference.costs));
}

}  // namespace

std::string SettingsJson(const ComparedSettings& compared) {
  std::vector<std::string> differing;
  for (const SettingDifference& difference : compared.differing)
    differing.push_back(DifferenceJson(difference));
  return fmt::format(
      "\"settings\": {{\"line\": {}, \"compared\": {},\n  \"differing\": [{}],\n"
      "  \"only_in_base\": {}, \"only_in_comparison\": {}}}",
      Quoted(SettingsLine(compared)), compared.compared, fmt::join(differing, ",\n   "),
      Kinds(compared.only_in_base), Kinds(compared.only_in_comparison));
}

}  // namespace mpa::writers
