// SPDX-License-Identifier: Apache-2.0
#include "story.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "mpa/measure/collectives.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

// A part of the end-to-end time and by how much it changed.
struct Part {
  TimeNs change = 0;
  std::string place;  // "free time", "MatMulV2 (42 kernels, +7.4 %)"
};

std::string Percent(TimeNs base, TimeNs comparison) {
  const double percent = 100.0 * static_cast<double>(comparison - base) / static_cast<double>(base);
  return fmt::format("{:+.1f} %", percent);
}

// --- Computing, by kernel type; by name where one side does not tell the types ---

bool HasTypes(const RankTrace& trace) {
  const std::vector<StringId>& types = trace.kernels.op_type;
  return std::any_of(types.begin(), types.end(),
                     [](StringId type) { return type != StringId::kEmpty; });
}

std::map<std::string, TimeAndCount> KernelTimes(const RankTrace& trace, bool by_type) {
  std::map<std::string, TimeAndCount> times;
  std::vector<TimeAndCount> of_text(trace.strings.Size());
  const Kernels& kernels = trace.kernels;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const bool typed = by_type && kernels.op_type[i] != StringId::kEmpty;
    of_text[Index(typed ? kernels.op_type[i] : kernels.name[i])].Add(kernels.dur[i]);
  }
  for (std::size_t i = 0; i < of_text.size(); ++i) {
    if (of_text[i].count == 0) continue;
    times[std::string(trace.strings.View(static_cast<StringId>(i)))] = of_text[i];
  }
  return times;
}

std::string KernelPlace(const std::string& name, const TimeAndCount& base,
                        const TimeAndCount& comparison) {
  const auto kernels = [](std::int64_t count) {
    return fmt::format("{} kernel{}", count, count == 1 ? "" : "s");
  };
  if (base.count == 0) return fmt::format("{} ({}, new)", name, kernels(comparison.count));
  if (comparison.count == 0) return fmt::format("{} ({}, gone)", name, kernels(base.count));
  const std::string before =
      base.count == comparison.count ? "" : fmt::format(" instead of {}", base.count);
  const std::string growth = base.time == 0 ? "" : ", " + Percent(base.time, comparison.time);
  return fmt::format("{} ({}{}{})", name, kernels(comparison.count), before, growth);
}

// The change of the computing time. Kernels that run at the same time add up to more than it; what
// they do to the sum is a part of its own.
void AddComputing(const CompareInput& input, const OverallMetrics& base,
                  const OverallMetrics& comparison, std::vector<Part>& parts) {
  const TimeNs change = comparison.computing - base.computing;
  const RankTrace& base_trace = input.Trace(Side::kBase);
  const RankTrace& comparison_trace = input.Trace(Side::kComparison);
  const bool by_type = HasTypes(base_trace) && HasTypes(comparison_trace);
  const auto base_times = KernelTimes(base_trace, by_type);
  auto comparison_times = KernelTimes(comparison_trace, by_type);
  // Kernels of an NPU and of a GPU have nothing in common but what they add up to.
  if (base_times.empty() || comparison_times.empty() ||
      base_trace.device != comparison_trace.device) {
    parts.push_back({change, "computing"});
    return;
  }
  TimeNs told = 0;
  const auto add = [&](const std::string& name, const TimeAndCount& before,
                       const TimeAndCount& after) {
    parts.push_back({after.time - before.time, KernelPlace(name, before, after)});
    told += after.time - before.time;
  };
  for (const auto& [name, before] : base_times) {
    const auto after = comparison_times.extract(name);
    add(name, before, after.empty() ? TimeAndCount() : after.mapped());
  }
  for (const auto& [name, after] : comparison_times) add(name, {}, after);
  if (change != told) {
    parts.push_back({change - told, "kernels that ran at the same time as others"});
  }
}

// --- Exposed communication, by group ---

// What the communication of a group mostly is, "allreduce"; "communication" when nothing tells.
std::string MainKind(const RankTrace& trace, const std::string& group) {
  std::map<std::string, TimeNs> times;
  const Communications& comms = trace.communications;
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    if (comms.group[i] < 0) continue;
    const auto row = static_cast<std::size_t>(comms.group[i]);
    if (trace.strings.View(trace.comm_groups.name[row]) != group) continue;
    times[CollectiveKind(trace.strings.View(comms.op_type[i]))] += comms.dur[i];
  }
  std::pair<TimeNs, std::string> most{0, "communication"};
  for (const auto& [kind, time] : times) {
    if (time > most.first && !kind.empty()) most = {time, kind};
  }
  return most.second;
}

void AddExposed(const CompareInput& input, const OverallMetrics& base,
                const OverallMetrics& comparison, std::vector<Part>& parts) {
  const TimeNs change = comparison.exposed_communication - base.exposed_communication;
  if (base.groups.empty() || comparison.groups.empty()) {
    parts.push_back({change, "exposed communication"});
    return;
  }
  const auto label = [](const GroupTime& group) {
    return group.process_group.empty() ? group.name : group.process_group;
  };
  std::vector<const GroupTime*> left;  // groups of the comparison without a partner yet
  for (const GroupTime& group : comparison.groups) left.push_back(&group);
  TimeNs told = 0;
  const auto add = [&](const GroupTime* before, const GroupTime* after) {
    const GroupTime& named = after != nullptr ? *after : *before;
    const Side side = after != nullptr ? Side::kComparison : Side::kBase;
    const TimeNs part =
        (after != nullptr ? after->exposed : 0) - (before != nullptr ? before->exposed : 0);
    parts.push_back({part, fmt::format("exposed {} in {}", MainKind(input.Trace(side), named.name),
                                       label(named))});
    told += part;
  };
  for (const GroupTime& group : base.groups) {
    auto partner = std::find_if(left.begin(), left.end(), [&](const GroupTime* other) {
      return label(*other) == label(group) || other->name == group.name;
    });
    // Databases name groups by the time of their creation: a single one is the same one.
    if (partner == left.end() && base.groups.size() == 1 && comparison.groups.size() == 1) {
      partner = left.begin();
    }
    add(&group, partner == left.end() ? nullptr : *partner);
    if (partner != left.end()) left.erase(partner);
  }
  for (const GroupTime* group : left) add(nullptr, group);
  if (change != told) {
    parts.push_back({change - told, "groups that communicated at the same time"});
  }
}

// --- Operators of one side only ---

std::set<std::string_view> OpNames(const RankTrace& trace) {
  std::set<std::string_view> names;
  for (const StringId name :
       std::set<StringId>(trace.host_ops.name.begin(), trace.host_ops.name.end())) {
    const std::string_view text = trace.strings.View(name);
    if (!IsStepMark(text)) names.insert(text);
  }
  return names;
}

// "; 12 operators only in the comparison", empty when both sides have the same.
std::string OneSidedOps(const CompareInput& input) {
  const auto base = OpNames(input.Trace(Side::kBase));
  const auto comparison = OpNames(input.Trace(Side::kComparison));
  if (base.empty() || comparison.empty()) return "";
  std::string text;
  const auto add = [&](const auto& names, const auto& others, std::string_view side) {
    const auto count = std::count_if(names.begin(), names.end(),
                                     [&](std::string_view name) { return !others.contains(name); });
    if (count == 0) return;
    text += fmt::format("; {} operator{} only in the {}", count, count == 1 ? "" : "s", side);
  };
  add(comparison, base, "comparison");
  add(base, comparison, "base");
  return text;
}

// Amounts in one unit, with two decimals.
class Amounts {
 public:
  // Chosen so that the largest amount is no small fraction of the unit.
  explicit Amounts(TimeNs largest) : in_ms_(std::abs(largest) >= 100'000) {}

  // In hundredths of the unit: what is printed adds up when this does.
  std::int64_t Rounded(TimeNs time) const {
    const double hundredth = in_ms_ ? 1e4 : 1e1;
    return std::llround(static_cast<double>(time) / hundredth);
  }
  std::string Text(std::int64_t hundredths) const {
    return fmt::format("{:+.2f} {}", static_cast<double>(hundredths) / 100, in_ms_ ? "ms" : "us");
  }

 private:
  bool in_ms_;
};

}  // namespace

std::vector<std::string> Story(const CompareInput& input, const OverallMetrics& base,
                               const OverallMetrics& comparison) {
  if (base.e2e == 0 || comparison.e2e == 0) return {};
  std::vector<Part> parts;
  AddComputing(input, base, comparison, parts);
  AddExposed(input, base, comparison, parts);
  if (base.lccl.count + comparison.lccl.count > 0) {
    parts.push_back({comparison.lccl.time - base.lccl.time, "LCCL"});
  }
  parts.push_back({comparison.free - base.free, "free time of the device"});
  std::erase_if(parts, [](const Part& part) { return part.change == 0; });
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::abs(a.change) > std::abs(b.change);
  });

  const TimeNs change = comparison.e2e - base.e2e;
  if (parts.empty()) return {"end to end: no change"};
  const Amounts amounts(parts.front().change);
  const std::int64_t total = amounts.Rounded(change);
  std::vector<std::string> lines = {
      fmt::format("end to end: {} ({})", amounts.Text(total), Percent(base.e2e, comparison.e2e))};
  constexpr std::size_t kMostParts = 3;
  std::int64_t rest = total;
  for (std::size_t i = 0; i < std::min(kMostParts, parts.size()); ++i) {
    const std::int64_t part = amounts.Rounded(parts[i].change);
    rest -= part;
    lines.push_back(fmt::format("  {} {}", amounts.Text(part), parts[i].place));
  }
  const std::size_t smaller = parts.size() - std::min(kMostParts, parts.size());
  const std::string one_sided = OneSidedOps(input);
  if (smaller == 1) {
    lines.push_back(fmt::format("  {} {}{}", amounts.Text(rest), parts.back().place, one_sided));
  } else if (smaller > 1) {
    lines.push_back(
        fmt::format("  {} in {} smaller changes{}", amounts.Text(rest), smaller, one_sided));
  } else if (rest != 0) {
    lines.push_back(fmt::format("  {} by rounding{}", amounts.Text(rest), one_sided));
  } else if (!one_sided.empty()) {
    lines.push_back("  " + one_sided.substr(2));
  }
  return lines;
}

}  // namespace mpa
