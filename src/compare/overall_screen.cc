// SPDX-License-Identifier: Apache-2.0
// The overall comparison as a table that fits the screen.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/utf8.h"
#include "mpa/measure/host_alone.h"
#include "mpa/measure/quantiles.h"
#include "mpa/report/amount.h"
#include "mpa/report/change_tree.h"
#include "overall.h"
#include "screen_rows.h"

namespace mpa {
namespace {

// At most so many characters of a path whose end, from `differs` on, matters most.
std::string ShortenPath(const std::string& path, std::size_t differs, std::size_t width) {
  constexpr std::size_t kMinOfHead = 4;  // "/..."
  const std::string head = path.substr(0, differs), end = path.substr(differs);
  const std::size_t end_width = CountCharacters(end);
  if (end_width + kMinOfHead > width) return "..." + ShortenMiddle(end, width - 3);
  return ShortenMiddle(head, width - end_width) + end;
}

// "Base:       /data/.../rank0_ascend_pt (NPU)". Long paths lose parts of the directories that both
// have.
std::vector<std::string> Heading(const std::string& base_path, std::string_view base_note,
                                 const std::string& comparison_path,
                                 std::string_view comparison_note, std::size_t screen_width) {
  const std::string base = Printable(base_path);
  const std::string comparison = Printable(comparison_path);
  const auto differ = std::mismatch(base.begin(), base.end(), comparison.begin(), comparison.end());
  const std::size_t slash = base.rfind('/', static_cast<std::size_t>(differ.first - base.begin()));
  const auto line = [&](const char* side, const std::string& path, std::string_view note) {
    const std::size_t width = screen_width - std::string_view("Comparison:  ").size() - note.size();
    const std::string shown =
        CountCharacters(path) <= width
            ? path
            : ShortenPath(path, slash == std::string::npos ? 0 : slash, width);
    return PaddedBehind(std::string(Translated(side)), 12) + shown + std::string(note);
  };
  return {line("Base:", base, base_note), line("Comparison:", comparison, comparison_note)};
}

std::vector<std::string> Heading(const CompareInput& input) {
  const auto note = [&](Side side) {
    return input.Trace(side).device == DeviceKind::kNpu ? " (NPU)" : " (GPU)";
  };
  return Heading(input.Path(Side::kBase), note(Side::kBase), input.Path(Side::kComparison),
                 note(Side::kComparison), input.options().screen_width);
}

// "On the host: base 5 steps, median 12.300 ms", and the same of the comparison with its change.
std::vector<std::string> OnHostLines(const CompareInput& input) {
  std::vector<std::string> lines;
  TimeNs base = 0;
  for (const Side side : {Side::kBase, Side::kComparison}) {
    const std::vector<TimeNs> steps = HostStepTimes(input.Trace(side));
    if (steps.empty()) continue;
    const TimeNs median = Median(steps);
    const double ms = static_cast<double>(median) / 1e6;
    const std::string counted = Counted(std::ssize(steps), "step");
    std::string& line = lines.emplace_back(
        side == Side::kBase ? Say("On the host: base {}, median {:.3f} ms", counted, ms)
                            : Say("On the host: comparison {}, median {:.3f} ms", counted, ms));
    if (side == Side::kBase) base = median;
    if (side == Side::kComparison && base > 0)
      line += fmt::format(" ({:+.1f} %)",
                          100.0 * static_cast<double>(median - base) / static_cast<double>(base));
  }
  return lines;
}

}  // namespace

ScreenTable OverallWithoutWork(const CompareInput& input, const OverallMetrics& base,
                               const OverallMetrics& comparison) {
  ScreenTable table;
  table.heading = Heading(input);
  table.heading.emplace_back(Translated(
      base.e2e > 0         ? "Nothing is judged: no device work was recorded in the comparison."
      : comparison.e2e > 0 ? "Nothing is judged: no device work was recorded in the base."
                           : "Nothing is judged: no device work was recorded in the captures."));
  for (std::string& line : OnHostLines(input)) table.heading.push_back(std::move(line));
  table.plain = true;
  return table;
}

namespace {

// What the allocators reserved, and what the process took. They need not be recorded on both sides.
void AddMemoryRows(const OverallMetrics& base, const OverallMetrics& comparison, ScreenRows& rows) {
  const auto add = [&](std::string_view name, std::int64_t OverallMetrics::*bytes) {
    const std::int64_t most = std::max(base.*bytes, comparison.*bytes);
    if (most <= 0) return;
    const AmountScale sizes(Quantity::kBytes, most);
    const auto value = [&](const OverallMetrics& side) {
      return OverallValue{.time = side.*bytes, .known = side.*bytes > 0};
    };
    rows.Add(sizes, Say("{} ({})", name, sizes.unit()), 0, value(base), value(comparison));
  };
  add(base.only_shared_allocators ? Say("Peak memory, {} only", fmt::join(base.allocators, ", "))
                                  : Say("Peak memory reserved"),
      &OverallMetrics::peak_memory_bytes);
  add(Translated("Peak memory of process"), &OverallMetrics::process_memory_bytes);
}

// The table sums up what the lines below it show of the median step.
std::string TimeHeader(const AmountScale& times, const OverallMetrics& base,
                       const OverallMetrics& comparison) {
  if (std::max(base.steps, comparison.steps) <= 1) return Say("Time ({})", times.unit());
  return base.steps == comparison.steps ? Say("Time ({}), all {} steps", times.unit(), base.steps)
                                        : Say("Time ({}), all steps", times.unit());
}

}  // namespace

ScreenTable OverallScreen(const CompareInput& input, const OverallMetrics& base,
                          const OverallMetrics& comparison) {
  ScreenTable table;
  table.title = Translated("Where the time went");
  table.heading = Heading(input);
  table.plain = true;
  const AmountScale times = AmountScale::ForPartsOf(std::max(base.e2e, comparison.e2e));
  ScreenRows rows(input.options().screen_width);
  const std::vector<GroupPair> groups = MatchAllGroups(base, comparison);
  for (OverallRow& row : OverallRows(base, comparison, groups, /*compat=*/false)) {
    if (row.name == kCountedTwice) {
      row.base.time = -row.base.time;
      row.comparison.time = -row.comparison.time;
    }
    const bool zero =
        row.base.known && row.comparison.known && row.base.time == 0 && row.comparison.time == 0;
    if (row.name.empty() || zero) continue;
    rows.Add(times, std::string(Translated(row.name)), row.level, row.base, row.comparison);
  }
  AddMemoryRows(base, comparison, rows);
  SetHeaders(TimeHeader(times, base, comparison), table);
  table.rows = rows.Take("OverallMetrics");
  return table;
}

ScreenTable KernelScreen(const CompareInput& input, const std::vector<OverallRow>& kernels,
                         const char* sheet) {
  ScreenTable table;
  table.title = Translated("Kernels by type");
  table.heading = Heading(input);
  table.plain = true;
  TimeNs longest = 0;
  for (const OverallRow& row : kernels) {
    longest = std::max({longest, row.base.time, row.comparison.time});
  }
  const AmountScale times = AmountScale::ForPartsOf(longest);
  ScreenRows rows(input.options().screen_width);
  for (const OverallRow& row : kernels) {
    rows.Add(times, row.name, row.level, row.base, row.comparison);
  }
  SetHeaders(Say("Time of kernels ({})", times.unit()), table);
  table.rows = rows.Take(sheet);
  return table;
}

ScreenTable RanksScreen(const std::string& base_path, const std::string& comparison_path,
                        std::vector<RankTotals> totals, std::size_t width) {
  constexpr std::size_t kMaxLines = 16;
  const std::size_t all = totals.size();
  StableSort(totals, [](const RankTotals& a, const RankTotals& b) {
    return std::abs(a.Change()) > std::abs(b.Change());
  });
  totals.resize(std::min(all, kMaxLines));
  StableSort(totals, {}, &RankTotals::rank);
  TimeNs longest = 0;
  for (const RankTotals& rank : totals) {
    longest = std::max({longest, rank.base, rank.comparison});
  }
  const AmountScale times = AmountScale::ForPartsOf(longest);
  ScreenRows rows(width);
  for (const RankTotals& rank : totals) {
    const auto value = [](TimeNs time) { return OverallValue{.time = time, .known = time > 0}; };
    rows.Add(times, "rank " + RankName(rank.rank), 0, value(rank.base), value(rank.comparison));
  }
  ScreenTable table;
  table.plain = true;
  table.heading = Heading(base_path, "", comparison_path, "", width);
  SetHeaders(Say("End to end ({})", times.unit()), table);
  table.rows = rows.Take("");
  if (totals.size() < all) {
    table.rows.push_back({Say("({} more ranks)", all - totals.size()), "", "", "", ""});
  }
  return table;
}

}  // namespace mpa
