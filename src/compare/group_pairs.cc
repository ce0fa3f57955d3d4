// SPDX-License-Identifier: Apache-2.0
// Communication groups of two captures: which are the same, and what people call them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/base/utf8.h"
#include "mpa/measure/collectives.h"
#include "overall.h"

namespace mpa {
namespace {

// The group of a process group whose name no other group of the side has.
const GroupTime* OnlyGroupOf(const OverallMetrics& side, const std::string& process_group) {
  const GroupTime* found = nullptr;
  for (const GroupTime& group : side.groups) {
    if (group.process_group != process_group) continue;
    if (found != nullptr) return nullptr;
    found = &group;
  }
  return found;
}

// What frameworks mean by the short names of their groups.
std::string_view Parallelism(std::string_view process_group) {
  constexpr std::array<std::array<std::string_view, 2>, 8> kNames = {{{"dp", "data parallel"},
                                                                      {"tp", "tensor parallel"},
                                                                      {"pp", "pipeline parallel"},
                                                                      {"cp", "context parallel"},
                                                                      {"sp", "sequence parallel"},
                                                                      {"ep", "expert parallel"},
                                                                      {"exp", "expert parallel"},
                                                                      {"mp", "model parallel"}}};
  for (const auto& [name, meaning] : kNames) {
    if (process_group == name) return meaning;
  }
  return {};
}

std::string RankCountText(std::int32_t ranks) { return ranks == 0 ? "" : Counted(ranks, "rank"); }

std::string NamedGroup(const GroupTime& group) {
  const std::string_view parallelism = Translated(Parallelism(group.process_group));
  const std::string ranks = RankCountText(group.ranks);
  const std::string_view comma = parallelism.empty() || ranks.empty() ? "" : Translated(", ");
  const std::string more = fmt::format("{}{}{}", parallelism, comma, ranks);
  return more.empty() ? group.process_group : Say("{} ({})", group.process_group, more);
}

// What the capture says about the group alone; empty when only an address is known.
std::string OwnMeaning(const GroupTime& group) {
  if (!group.process_group.empty()) return NamedGroup(group);
  if (group.ranks != 0) return Say("group of {}", RankCountText(group.ranks));
  return "";
}

}  // namespace

std::vector<GroupPair> MatchGroups(const OverallMetrics& base, const OverallMetrics& comparison) {
  std::vector<GroupPair> pairs, by_name;
  const auto by_process_group = [&](const GroupTime& group) {
    return !group.process_group.empty() && OnlyGroupOf(base, group.process_group) != nullptr &&
           OnlyGroupOf(comparison, group.process_group) != nullptr;
  };
  const auto named = [&](const OverallMetrics& side, const std::string& name) {
    const auto found = std::ranges::find_if(side.groups, [&](const auto& group) {
      return group.name == name && !by_process_group(group);
    });
    return found == side.groups.end() ? nullptr : &*found;
  };
  for (const GroupTime& group : base.groups) {
    if (by_process_group(group)) {
      pairs.push_back({&group, OnlyGroupOf(comparison, group.process_group), true});
    } else {
      by_name.push_back({&group, named(comparison, group.name)});
    }
  }
  pairs.insert(pairs.end(), by_name.begin(), by_name.end());
  for (const GroupTime& group : comparison.groups) {
    if (by_process_group(group) || named(base, group.name) != nullptr) continue;
    pairs.push_back({nullptr, &group});
  }
  return pairs;
}

std::vector<GroupPair> MatchAllGroups(const OverallMetrics& base,
                                      const OverallMetrics& comparison) {
  std::vector<GroupPair> pairs = MatchGroups(base, comparison);
  std::vector<std::size_t> in_base, in_comparison;  // alone there
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].comparison == nullptr) in_base.push_back(i);
    if (pairs[i].base == nullptr) in_comparison.push_back(i);
  }
  if (in_base.size() != 1 || in_comparison.size() != 1) return pairs;
  pairs[in_base[0]].comparison = pairs[in_comparison[0]].comparison;
  pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(in_comparison[0]));
  return pairs;
}

std::string GroupMeaning(const OverallMetrics& side, const GroupTime& group) {
  const std::string own = OwnMeaning(group);
  const auto number = &group - side.groups.data() + 1;
  if (!own.empty()) {
    const auto alike = std::ranges::count_if(
        side.groups, [&](const GroupTime& other) { return OwnMeaning(other) == own; });
    return Printable(alike == 1 ? own : fmt::format("{} #{}", own, number));
  }
  const std::string name = Printable(BareGroupName(group.name));
  constexpr std::size_t kMaxNameLength = 8, kAddressWidth = 17;  // longer names are addresses
  if (name.size() <= kMaxNameLength)
    return name.starts_with("group") ? name : Say("group {}", name);
  if (side.groups.size() == 1) return Say("the only group");
  return Say("group {} ({})", number, ShortenMiddle(name, kAddressWidth));
}

std::string GroupMeaning(const OverallMetrics& base, const OverallMetrics& comparison,
                         const GroupPair& pair) {
  return pair.comparison != nullptr ? GroupMeaning(comparison, *pair.comparison)
                                    : GroupMeaning(base, *pair.base);
}

}  // namespace mpa
