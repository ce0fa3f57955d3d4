// SPDX-License-Identifier: Apache-2.0
// The overall comparison as a table that fits the screen.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "mpa/base/printable.h"
#include "mpa/base/rank_names.h"
#include "mpa/base/utf8.h"
#include "mpa/report/amount.h"
#include "mpa/report/change_tree.h"
#include "overall.h"

namespace mpa {
namespace {

// The columns of numbers with the blanks before them; the names have the rest of the line.
constexpr std::array<std::size_t, 4> kNumberWidths = {10, 10, 10, 8};
constexpr std::size_t kNumbersWidth = 4 * 2 + 10 + 10 + 10 + 8;
constexpr std::size_t kMaxRows = 24;

std::string RightAligned(const std::string& text, std::size_t width) {
  return fmt::format("{:>{}}", text, width);
}

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
    return fmt::format("{:<12}{}{}", side, shown, note);
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

std::string DiffPercent(std::int64_t base, std::int64_t comparison) {
  if (base == comparison) return "0.0";
  if (base == 0) return "new";
  return comparison == 0 ? "gone" : GrowthText(base, comparison);
}

class ScreenRows {
 public:
  explicit ScreenRows(std::size_t width) : name_width_(width - kNumbersWidth) {}

  void Add(const AmountScale& scale, const std::string& name, int level, const OverallValue& base,
           const OverallValue& comparison) {
    const auto value = [&](const OverallValue& side) {
      return side.known ? scale.Text(scale.Rounded(side.time)) : "N/A";
    };
    const bool known = base.known && comparison.known;
    const std::int64_t change = scale.Rounded(comparison.time - base.time);
    const std::array<std::string, 4> numbers = {
        value(base), value(comparison),
        !known        ? "N/A"
        : change == 0 ? scale.Text(0)
                      : scale.Signed(change),
        known ? DiffPercent(base.time, comparison.time) : "N/A"};
    const std::string indent(static_cast<std::size_t>(2 * level), ' ');
    std::vector<std::string> row = {ShortenMiddle(indent + Printable(name), name_width_)};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      row.push_back(RightAligned(numbers[i], kNumberWidths[i]));
    }
    rows_.push_back(
        {std::move(row), level, std::max(std::abs(base.time), std::abs(comparison.time))});
  }

  // The rows that matter: with too many the lowest level goes, then the smallest rows of the next.
  std::vector<std::vector<std::string>> Take(const char* sheet) {
    const std::size_t all = rows_.size();
    if (all > kMaxRows) std::erase_if(rows_, [](const Entry& row) { return row.level > 1; });
    while (rows_.size() > kMaxRows) {
      rows_.erase(std::ranges::min_element(rows_, [](const Entry& a, const Entry& b) {
        return std::pair(-a.level, a.size) < std::pair(-b.level, b.size);
      }));
    }
    std::vector<std::vector<std::string>> rows;
    for (Entry& row : rows_) rows.push_back(std::move(row.cells));
    if (rows.size() < all) {
      rows.push_back({fmt::format("({} more in {})", all - rows.size(), sheet), "", "", "", ""});
    }
    return rows;
  }

 private:
  struct Entry {
    std::vector<std::string> cells;
    int level = 0;
    TimeNs size = 0;
  };
  std::size_t name_width_;
  std::vector<Entry> rows_;
};

}  // namespace

ScreenTable OverallWithoutWork(const CompareInput& input, const OverallMetrics& base,
                               const OverallMetrics& comparison) {
  ScreenTable table;
  table.heading = Heading(input);
  table.heading.push_back(fmt::format("Nothing is judged: no device work was recorded in the {}.",
                                      base.e2e > 0         ? "comparison"
                                      : comparison.e2e > 0 ? "base"
                                                           : "captures"));
  table.plain = true;
  return table;
}

namespace {

void SetHeaders(std::string what, ScreenTable& table) {
  table.headers = {std::move(what)};
  constexpr std::array<const char*, 4> kHeaders = {"Base", "Comparison", "Diff", "Diff %"};
  for (std::size_t i = 0; i < kHeaders.size(); ++i) {
    table.headers.push_back(RightAligned(kHeaders[i], kNumberWidths[i]));
  }
}

// The table sums up what the lines below it show of the median step.
std::string WindowText(const OverallMetrics& base, const OverallMetrics& comparison) {
  if (std::max(base.steps, comparison.steps) <= 1) return "";
  return base.steps == comparison.steps ? fmt::format(", all {} steps", base.steps) : ", all steps";
}

}  // namespace

ScreenTable OverallScreen(const CompareInput& input, const OverallMetrics& base,
                          const OverallMetrics& comparison) {
  ScreenTable table;
  table.title = "Where the time went";
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
    if (!row.name.empty() && !zero) rows.Add(times, row.name, row.level, row.base, row.comparison);
  }
  const std::int64_t most_memory = std::max(base.peak_memory_bytes, comparison.peak_memory_bytes);
  if (most_memory > 0) {
    const AmountScale sizes(Quantity::kBytes, most_memory);
    const auto value = [](const OverallMetrics& side) {
      OverallValue bytes;
      bytes.time = side.peak_memory_bytes;
      bytes.known = side.peak_memory_bytes > 0;
      return bytes;
    };
    rows.Add(sizes, fmt::format("Peak memory ({})", sizes.unit()), 0, value(base),
             value(comparison));
  }
  SetHeaders(fmt::format("Time ({}){}", times.unit(), WindowText(base, comparison)), table);
  table.rows = rows.Take("OverallMetrics");
  return table;
}

ScreenTable KernelScreen(const CompareInput& input, const std::vector<OverallRow>& kernels,
                         const char* sheet) {
  ScreenTable table;
  table.title = "Kernels by type";
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
  SetHeaders(fmt::format("Time of kernels ({})", times.unit()), table);
  table.rows = rows.Take(sheet);
  return table;
}

ScreenTable RanksScreen(const std::string& base_path, const std::string& comparison_path,
                        std::vector<RankTotals> totals, std::size_t width) {
  constexpr std::size_t kMaxLines = 16;
  const std::size_t all = totals.size();
  std::ranges::stable_sort(totals, [](const RankTotals& a, const RankTotals& b) {
    return std::abs(a.Change()) > std::abs(b.Change());
  });
  totals.resize(std::min(all, kMaxLines));
  std::ranges::sort(totals, {}, &RankTotals::rank);
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
  SetHeaders(fmt::format("End to end ({})", times.unit()), table);
  table.rows = rows.Take("");
  if (totals.size() < all) {
    table.rows.push_back({fmt::format("({} more ranks)", all - totals.size()), "", "", "", ""});
  }
  return table;
}

}  // namespace mpa
