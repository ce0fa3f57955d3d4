// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/utf8.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "screen_lines.h"

namespace mpa {
namespace {

// Categories of the free time that have a place of their own.
constexpr std::size_t kMaxFree = 6;

class AccountScreen {
 public:
  AccountScreen(const Diagnosis& diagnosis) : diagnosis_(diagnosis), ms_(diagnosis.step) {}

  std::vector<std::string> Make() && {
    AddHeader();
    AddAccount();
    for (const std::string& text : {LateText(diagnosis_), ClockText(diagnosis_)}) {
      if (text.empty()) continue;
      for (std::string& part : Wrapped("  " + text, 4)) lines_.push_back(std::move(part));
    }
    if (std::ranges::none_of(diagnosis_.findings, IsOfStep)) AddNoFinding();
    return std::move(lines_);
  }

 private:
  // Items with commas between, none of them broken.
  void AddItems(std::string line, const std::vector<std::string>& items, std::size_t indent) {
    std::string_view comma = Translated(", ");
    const std::string_view blank = comma.ends_with(' ') ? " " : "";
    comma.remove_suffix(blank.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      std::string text = items[i];
      if (i + 1 < items.size()) text += comma;
      if (ColumnsOf(line) + ColumnsOf(text) + 1 > ScreenColumns()) {
        lines_.push_back(line);
        line = std::string(indent, ' ');
      }
      if (!line.ends_with(' ')) line += blank;
      line += text;
    }
    lines_.push_back(line);
  }

  void AddHeader() {
    const std::string line = Say("{}: step {} ms", CaptureText(diagnosis_), ms_(diagnosis_.step));
    for (std::string& part : Wrapped(line, 2)) lines_.push_back(std::move(part));
  }

  void AddAccount() {
    const std::optional<AccountRow> row = ShownAccount(diagnosis_);
    if (!row) return;
    std::vector<std::string> items;
    for (const StepShare& share : SharesOf(*row)) {
      if (!share.always && share.percent == 0) continue;
      items.push_back(Say("{} {} ({} %)", Translated(share.name), ms_(share.time), share.percent));
    }
    // The job begins with its first rank and ends with its last: a rank's own step may be shorter.
    const bool is_other = ms_(row->window) != ms_(diagnosis_.step);
    if (diagnosis_.ranks.size() > 1 && is_other)
      items.back() =
          Say("{} of {} on rank {}", items.back(), ms_(row->window), RankName(row->rank));
    if (diagnosis_.ranks.size() > 1 && !is_other)
      items.back() = Say("{} on rank {}", items.back(), RankName(row->rank));
    AddItems("  ", items, 2);
    AddFree(*row);
    AddEarlier();
  }

  // What lies before the steps is in no part of them. Said where it is not in the capture, or much.
  void AddEarlier() {
    const auto most = std::ranges::max_element(
        diagnosis_.accounting, {}, [](const AccountRow& row) { return row.earlier.time; });
    if (most == diagnosis_.accounting.end() || most->earlier.time <= 0) return;
    if (most->earlier.was_recorded && 10 * most->earlier.time < diagnosis_.step) return;
    lines_.push_back("  " + EarlierTimeText(most->earlier));
  }

  // Largest first; what is below half a percent of the step is one item.
  void AddFree(const AccountRow& row) {
    std::vector<std::pair<std::string_view, TimeNs>> categories;
    for (const auto& category : row.categories) {
      if (category.first.starts_with("free.") && category.second > 0)
        categories.push_back(category);
    }
    StableSort(categories, std::greater{}, [](const auto& category) { return category.second; });
    std::vector<std::string> items;
    TimeNs rest = 0;
    for (const auto& [category, time] : categories) {
      if (items.size() == kMaxFree || time * 200 < row.window) {
        rest += time;
      } else {
        items.push_back(fmt::format("{} {}", CategoryText(category), ms_(time)));
      }
    }
    if (items.empty()) return;
    if (rest > 0) items.push_back(Say("other {}", ms_(rest)));
    AddItems(Say("  device free:"), items, 4);
  }

  // What bounds the step when nothing is wrong with it.
  void AddNoFinding() {
    lines_.push_back(NoFindingText(diagnosis_));
    const std::optional<AccountRow> row = ShownAccount(diagnosis_);
    if (!row || row->window <= 0) return;
    const auto largest =
        std::ranges::max_element(row->categories, {}, [](const auto& a) { return a.second; });
    if (largest == row->categories.end()) return;
    lines_.push_back(Say("Next limit: {}, {} ms ({} % of the step)", CategoryText(largest->first),
                         ms_(largest->second), PercentOf(*row, largest->second)));
  }

  // As the account has it, where it is a part of its own there.
  static std::int64_t PercentOf(const AccountRow& row, TimeNs time) {
    for (const StepShare& share : SharesOf(row)) {
      if (share.time == time) return share.percent;
    }
    return (time * 100 + row.window / 2) / row.window;
  }

  const Diagnosis& diagnosis_;
  const MsText ms_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> AccountLines(const Diagnosis& diagnosis) {
  return AccountScreen(diagnosis).Make();
}

}  // namespace mpa
