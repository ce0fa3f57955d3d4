// SPDX-License-Identifier: Apache-2.0
// What the change of the end-to-end time is made of: kernels and their families, groups.
#include "changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "group_pairs.h"
#include "mpa/measure/activities.h"
#include "mpa/measure/collectives.h"
#include "mpa/measure/kernel_category.h"
#include "overall_rows.h"

namespace mpa {
namespace {

void SortChanges(std::vector<Change>& parts) {
  std::erase_if(parts, [](const Change& part) { return part.time == 0; });
  std::stable_sort(parts.begin(), parts.end(), [](const Change& a, const Change& b) {
    return std::abs(a.time) > std::abs(b.time);
  });
}

TimeNs SumOf(const std::vector<Change>& parts) {
  TimeNs sum = 0;
  for (const Change& part : parts) sum += part.time;
  return sum;
}

// Empty where there was nothing to grow.
std::string GrowthOf(TimeNs base, TimeNs comparison) {
  return base > 0 ? GrowthText(base, comparison) + " %" : "";
}

// --- Computing, by kernel type; by name where one side does not tell the types ---

bool AnyKernelHasType(const RankTrace& trace) {
  const std::vector<StringId>& types = trace.kernels.op_type;
  return std::any_of(types.begin(), types.end(),
                     [](StringId type) { return type != StringId::kEmpty; });
}

// The name of a GPU kernel without what every signature has: "void f<int>(int, int)" is "f<int>".
std::string_view BareKernelName(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  if (!name.ends_with(')')) return name;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 1;) {
    depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
    if (depth == 0) return name.substr(0, at);
  }
  return name;
}

// The kernels that compute on one side.
class ComputeKernels {
 public:
  ComputeKernels(const RankTrace& trace, bool by_type) : trace_(trace), by_type_(by_type) {}

  // Sorts them into categories, as OverallMetrics does.
  void Classify(const KernelMasks& masks) {
    const KernelClassifier classifier(trace_, masks);
    categories_.reserve(trace_.kernels.Size());
    for (std::size_t i = 0; i < trace_.kernels.Size(); ++i) {
      categories_.push_back(classifier.Classify(i));
    }
  }

  // By type or name; `belongs` says which categories, once they are classified.
  template <typename Belongs>
  std::map<std::string, TimeAndCount> Times(Belongs belongs) const {
    std::vector<TimeAndCount> of_text(trace_.strings.Size());
    const Kernels& kernels = trace_.kernels;
    for (std::size_t i = 0; i < kernels.Size(); ++i) {
      if (!categories_.empty() && !belongs(categories_[i])) continue;
      const bool typed = by_type_ && kernels.op_type[i] != StringId::kEmpty;
      of_text[Index(typed ? kernels.op_type[i] : kernels.name[i])].Add(kernels.dur[i]);
    }
    std::map<std::string, TimeAndCount> times;
    for (std::size_t i = 0; i < of_text.size(); ++i) {
      if (of_text[i].count == 0) continue;
      times[std::string(trace_.strings.View(static_cast<StringId>(i)))] = of_text[i];
    }
    return times;
  }

 private:
  const RankTrace& trace_;
  bool by_type_;
  std::vector<Category> categories_;
};

std::string CountText(const TimeAndCount& base, const TimeAndCount& comparison) {
  const auto kernels = [](std::int64_t count) {
    return fmt::format("{} kernel{}", count, count == 1 ? "" : "s");
  };
  if (base.count == 0) return kernels(comparison.count) + ", new";
  if (comparison.count == 0) return kernels(base.count) + ", gone";
  const std::string before =
      base.count == comparison.count ? "" : fmt::format(" instead of {}", base.count);
  const std::string growth = GrowthOf(base.time, comparison.time);
  return kernels(comparison.count) + before + (growth.empty() ? "" : ", " + growth);
}

Change KernelChange(std::string name, const TimeAndCount& base, const TimeAndCount& comparison) {
  return {comparison.time - base.time, std::move(name), CountText(base, comparison)};
}

std::vector<Change> KernelChanges(const std::map<std::string, TimeAndCount>& base,
                                  std::map<std::string, TimeAndCount> comparison) {
  std::vector<Change> changes;
  for (const auto& [name, before] : base) {
    const auto after = comparison.extract(name);
    changes.push_back(KernelChange(std::string(BareKernelName(name)), before,
                                   after.empty() ? TimeAndCount() : after.mapped()));
  }
  for (const auto& [name, after] : comparison) {
    changes.push_back(KernelChange(std::string(BareKernelName(name)), {}, after));
  }
  SortChanges(changes);
  return changes;
}

// What `parts` do not add up to, as a part of its own.
void AddRest(TimeNs change, const char* name, std::vector<Change>& parts) {
  parts.push_back({change - SumOf(parts), name});
  SortChanges(parts);
}

constexpr const char* kConcurrentKernels = "kernels that ran at the same time as others";

// The change of the computing time by families of kernels, as on the screen. `find_names` gives the
// kernels of those categories that it is asked for.
template <typename FindNames>
std::vector<Change> FamilyChanges(TimeNs change, const OverallMetrics& base,
                                  const OverallMetrics& comparison, FindNames find_names) {
  std::vector<Change> changes;
  const auto add = [&](std::string_view name, const TimeAndCount& before, const TimeAndCount& after,
                       auto belongs) {
    if (before.time == after.time) return;
    Change family = KernelChange(std::string(name), before, after);
    family.names = find_names(belongs);
    if (family.names.size() == 1) {  // one line says it all
      family.name += ": " + family.names.front().name;
      family.names.clear();
    }
    changes.push_back(std::move(family));
  };
  for (const KernelFamily& family : kKernelFamilies) {
    add(family.name, family.Of(base), family.Of(comparison),
        [&](Category category) { return family.Has(category); });
  }
  add("fused with communication (MC2)", base.Of(Category::kMc2), comparison.Of(Category::kMc2),
      [](Category category) { return category == Category::kMc2; });
  if (const TimeNs other = comparison.Other() - base.Other(); other != 0) {
    changes.push_back({other, "Other", "computing that no family holds"});
  }
  AddRest(change, kConcurrentKernels, changes);
  return changes;
}

Change ComputingChange(const CompareInput& input, const OverallMetrics& base,
                       const OverallMetrics& comparison) {
  Change computing{comparison.computing - base.computing, "computing",
                   GrowthOf(base.computing, comparison.computing)};
  const RankTrace& base_trace = input.Trace(Side::kBase);
  const RankTrace& comparison_trace = input.Trace(Side::kComparison);
  const bool by_type = AnyKernelHasType(base_trace) && AnyKernelHasType(comparison_trace);
  ComputeKernels base_kernels(base_trace, by_type);
  ComputeKernels comparison_kernels(comparison_trace, by_type);
  // Kernels of an NPU and of a GPU have nothing in common but their families.
  const bool same_device = base_trace.device == comparison_trace.device;
  const auto names = [&](auto belongs) {
    if (!same_device) return std::vector<Change>();
    return KernelChanges(base_kernels.Times(belongs), comparison_kernels.Times(belongs));
  };
  if (same_device && !base_trace.kernels.Empty() && !comparison_trace.kernels.Empty()) {
    computing.names = names([](Category) { return true; });
    AddRest(computing.time, kConcurrentKernels, computing.names);
    if (Concentrates(computing.names, computing.time)) return computing;
  }
  if (base.has_categories && comparison.has_categories) {
    if (same_device) {
      base_kernels.Classify(input.options().masks);
      comparison_kernels.Classify(input.options().masks);
    }
    computing.levels = FamilyChanges(computing.time, base, comparison, names);
  }
  return computing;
}

// --- Exposed communication, by group ---

// What the communication of each group mostly is, "allreduce", by the name of the group; of all
// communication under "".
std::map<std::string_view, std::string> MainKinds(const RankTrace& trace) {
  std::map<std::string_view, std::map<std::string, TimeNs>> times;
  const Communications& comms = trace.communications;
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    const std::string kind = CollectiveKindOf(trace, i);
    if (kind.empty() || kind == "N/A") continue;
    times[""][kind] += comms.dur[i];
    if (comms.group[i] < 0) continue;
    const auto group = static_cast<std::size_t>(comms.group[i]);
    times[trace.strings.View(trace.comm_groups.name[group])][kind] += comms.dur[i];
  }
  std::map<std::string_view, std::string> kinds;
  for (const auto& [group, of_group] : times) {
    kinds[group] = std::max_element(of_group.begin(), of_group.end(), [](auto& a, auto& b) {
                     return a.second < b.second;
                   })->first;
  }
  return kinds;
}

// The group's change is that of how long the rank waits for others, not of what it transfers.
bool IsWaiting(const GroupPair& pair, bool known) {
  if (!known || pair.base == nullptr || pair.comparison == nullptr) return false;
  const TimeNs all = pair.comparison->exposed - pair.base->exposed;
  const TimeNs waits = pair.comparison->wait - pair.base->wait;
  return all != 0 && (all > 0) == (waits > 0) && 5 * std::abs(waits) >= 4 * std::abs(all);
}

Change ExposedChange(const CompareInput& input, const OverallMetrics& base,
                     const OverallMetrics& comparison) {
  Change exposed{comparison.exposed_communication - base.exposed_communication,
                 "exposed communication",
                 GrowthOf(base.exposed_communication, comparison.exposed_communication)};
  const auto base_kinds = MainKinds(input.Trace(Side::kBase));
  const auto comparison_kinds = MainKinds(input.Trace(Side::kComparison));
  if (base.groups.empty() || comparison.groups.empty()) {
    const bool in_base = base.exposed_communication > comparison.exposed_communication;
    const auto& kinds = in_base ? base_kinds : comparison_kinds;
    if (!kinds.empty()) exposed.name += ", mostly " + kinds.at("");
    return exposed;
  }
  const auto time = [](const GroupTime* group) { return group != nullptr ? group->exposed : 0; };
  for (const GroupPair& pair : MatchAllGroups(base, comparison)) {
    const bool in_base = pair.comparison == nullptr;
    const auto& kinds = in_base ? base_kinds : comparison_kinds;
    const auto kind = kinds.find(in_base ? pair.base->name : pair.comparison->name);
    const bool waits = IsWaiting(pair, base.has_waits && comparison.has_waits);
    exposed.names.push_back(
        {time(pair.comparison) - time(pair.base),
         fmt::format(fmt::runtime(waits ? "waiting in {} of {}" : "exposed {} in {}"),
                     kind == kinds.end() ? "communication" : kind->second,
                     GroupMeaning(base, comparison, pair)),
         GrowthOf(time(pair.base), time(pair.comparison))});
  }
  AddRest(exposed.time, "groups that communicated at the same time", exposed.names);
  if (exposed.names.size() == 1) return exposed.names.front();
  exposed.levels = exposed.names;  // groups are few, all of them can be listed
  return exposed;
}

}  // namespace

bool Concentrates(const std::vector<Change>& parts, TimeNs change) {
  TimeNs rest = change;
  // A single part more takes no more room than the line that sums it up.
  const std::size_t shown = parts.size() == kMostNames + 1 ? parts.size() : kMostNames;
  for (std::size_t i = 0; i < std::min(shown, parts.size()); ++i) rest -= parts[i].time;
  return !parts.empty() && 5 * std::abs(rest) <= std::abs(change);
}

std::string GrowthText(TimeNs base, TimeNs comparison) {
  const double growth = 100.0 * static_cast<double>(comparison - base) / static_cast<double>(base);
  if (growth >= 1000) return ">999";
  return std::abs(growth) < 0.05 ? "0.0" : fmt::format("{:+.1f}", growth);
}

Change EndToEndChange(const CompareInput& input, const OverallMetrics& base,
                      const OverallMetrics& comparison) {
  Change all{comparison.e2e - base.e2e, "end to end", GrowthOf(base.e2e, comparison.e2e)};
  all.levels = {ComputingChange(input, base, comparison),
                ExposedChange(input, base, comparison),
                {comparison.lccl.time - base.lccl.time, "LCCL"},
                {comparison.free - base.free, "free time of the device",
                 GrowthOf(base.free, comparison.free)}};
  for (const Change& part : all.levels) {
    if (part.names.empty()) {
      all.names.push_back(part);
    } else {
      all.names.insert(all.names.end(), part.names.begin(), part.names.end());
    }
  }
  SortChanges(all.levels);
  SortChanges(all.names);
  return all;
}

}  // namespace mpa
