// SPDX-License-Identifier: Apache-2.0
// Were both sides collected alike?
#include "mpa/gate/comparable.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace mpa::gate {
namespace {

double Total(const ShapeCounts& counts) {
  double total = 0;
  for (const auto& [shape, count] : counts) total += static_cast<double>(count);
  return total;
}

// Hashes that are the same on every machine: they are kept in files.
std::string HashOf(std::string_view type, std::string_view shapes) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto mix = [&](std::string_view text) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    }
  };
  mix(type);
  mix("|");
  mix(shapes);
  return fmt::format("{:016x}", hash);
}

// What "Ascend910B or 910C" may be: a capture need not tell chips of one family apart.
std::set<std::string> Alternatives(std::string_view value) {
  constexpr std::string_view kOr = " or ";
  const std::string_view family = value.substr(0, value.find_first_of("0123456789"));
  std::set<std::string> all;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find(kOr), value.size());
    const std::string_view one = value.substr(0, end);
    all.insert(one.starts_with(family) ? std::string(one) : fmt::format("{}{}", family, one));
    value.remove_prefix(std::min(end + kOr.size(), value.size()));
  }
  return all;
}

// Values of a fact that cannot be true at once.
bool Contradict(const std::string& a, const std::string& b) {
  if (a == b) return false;
  const std::set<std::string> of_a = Alternatives(a), of_b = Alternatives(b);
  return std::none_of(of_a.begin(), of_a.end(),
                      [&](const std::string& one) { return of_b.contains(one); });
}

}  // namespace

std::string ShapeOf(const RankTrace& trace, std::size_t kernel) {
  const std::string_view shapes = trace.strings.View(trace.kernels.shapes[kernel]);
  if (shapes.empty()) return "";
  return HashOf(trace.strings.View(trace.kernels.op_type[kernel]), shapes);
}

ShapeCounts CountShapes(const RankTrace& trace) {
  ShapeCounts counts;
  for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
    std::string shape = ShapeOf(trace, i);
    if (!shape.empty()) ++counts[std::move(shape)];
  }
  return counts;
}

double ShapesInCommon(const ShapeCounts& base, const ShapeCounts& comparison) {
  const double base_total = Total(base), comparison_total = Total(comparison);
  if (base_total <= 0 || comparison_total <= 0) return 0;
  double common = 0;
  for (const auto& [shape, count] : base) {
    const auto found = comparison.find(shape);
    if (found == comparison.end()) continue;
    common += std::min(static_cast<double>(count) / base_total,
                       static_cast<double>(found->second) / comparison_total);
  }
  return common;
}

std::vector<GateMismatch> FindMismatches(const std::vector<RunSummary>& base,
                                         const std::vector<RunSummary>& comparison,
                                         const std::set<std::string>& allowed) {
  const RunSummary& first = base.front();
  std::map<std::string, GateMismatch> mismatches;
  const auto add = [&](const std::string& field, std::string before, std::string after) {
    mismatches.try_emplace(
        field, GateMismatch{field, std::move(before), std::move(after), allowed.contains(field)});
  };
  constexpr double kMostAlike = 0.5;
  const auto check = [&](const RunSummary& run) {
    for (const auto& [field, value] : run.facts) {
      const auto found = first.facts.find(field);
      if (found != first.facts.end() && Contradict(found->second, value)) {
        add(field, found->second, value);
      }
    }
    if (first.shapes.empty() || run.shapes.empty()) return;
    const double common = ShapesInCommon(first.shapes, run.shapes);
    if (common < kMostAlike) {
      add("shapes", "100 % of the kernels",
          fmt::format("{:.0f} % with the same type and shapes", 100 * common));
    }
  };
  for (const RunSummary& run : base) check(run);
  for (const RunSummary& run : comparison) check(run);
  std::vector<GateMismatch> list;
  list.reserve(mismatches.size());
  for (auto& [field, mismatch] : mismatches) list.push_back(std::move(mismatch));
  return list;
}

std::string MismatchText(const std::vector<GateMismatch>& mismatches) {
  std::string text;
  for (const GateMismatch& mismatch : mismatches) {
    if (mismatch.allowed) continue;
    text += fmt::format("{}{} ({} / {})", text.empty() ? "" : ", ", mismatch.field, mismatch.base,
                        mismatch.comparison);
  }
  return text;
}

}  // namespace mpa::gate
