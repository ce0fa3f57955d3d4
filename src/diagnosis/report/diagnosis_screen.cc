// SPDX-License-Identifier: Apache-2.0
// The first screen of a diagnosis: where the step goes, what costs it, what to do.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

constexpr std::size_t kMaxLines = 25;
constexpr std::size_t kMaxSymptoms = 2;
// Leaves of the free time that have a place of their own.
constexpr std::size_t kMaxFree = 6;

class Screen : Speaker {
 public:
  Screen(const Diagnosis& diagnosis, Language language, const NextQuestion& next)
      : Speaker(language), of_(diagnosis), ms_(diagnosis.step), next_(next) {}

  std::vector<std::string> Make(std::size_t most) && {
    if (IsNotJudged()) return NothingJudged();
    AddHead();
    std::size_t shown = 0;
    FindingSection section = FindingSection::kFaults;  // needs no heading
    for (const FoundCause& finding : of_.findings) {
      std::vector<std::string> block = Block(finding, shown + 1);
      const FindingSection of_finding = SectionOf(finding);
      if (of_finding != section)
        block.insert(block.begin(), Text(HeadingOf(of_finding)) + Text({":", "："}));
      if (shown == most || lines_.size() + block.size() + LinesBelow(shown + 1) > kMaxLines) break;
      section = of_finding;
      lines_.insert(lines_.end(), block.begin(), block.end());
      ++shown;
    }
    AddBelow(shown);
    return std::move(lines_);
  }

  // Without the findings.
  std::vector<std::string> MakeHead() && {
    if (IsNotJudged()) return NothingJudged();
    AddHead();
    if (const std::string floor = FloorText(); !floor.empty()) lines_.push_back(floor);
    return std::move(lines_);
  }

 private:
  bool IsNotJudged() const { return !of_.ranks.empty() && of_.accounting.empty(); }

  void AddHead() {
    AddHeader();
    AddAccount();
    for (const std::string& text : {LateText(of_, language_), ClockText(of_, language_)}) {
      if (text.empty()) continue;
      for (std::string& part : Wrapped("  " + text, 4)) lines_.push_back(std::move(part));
    }
    if (std::ranges::none_of(of_.findings, IsOfStep)) AddNoFinding();
  }

  // The step without what the findings save.
  std::string FloorText() const {
    if (of_.findings.empty() || !IsOfStep(of_.findings.front())) return "";
    return Fill({"After all of these{}: {} ms", "{}全部解决后：{} ms"}, NeededText(),
                ms_(of_.floor));
  }

  // Items with commas between, none of them broken.
  void AddItems(std::string line, const std::vector<std::string>& items, std::size_t indent) {
    const std::string comma = English() ? "," : "，";
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string text = items[i] + (i + 1 < items.size() ? comma : "");
      if (ColumnsOf(line) + ColumnsOf(text) + 1 > ScreenColumns()) {
        lines_.push_back(line);
        line = std::string(indent, ' ');
      }
      if (English() && !line.ends_with(' ')) line += ' ';
      line += text;
    }
    lines_.push_back(line);
  }

  std::vector<std::string> NothingJudged() const {
    std::vector<std::string> lines = Wrapped(
        CaptureText(of_, language_) + Text({": no device work was recorded, so nothing is judged",
                                            "：未采集到设备任务，不作任何判断"}),
        2);
    if (!of_.not_judged.empty())
      lines.push_back(Fill({"    -> capture with {}", "    -> 采集时设置 {}"},
                           of_.not_judged.front().hint.english));
    return lines;
  }

  void AddHeader() {
    const std::string line =
        CaptureText(of_, language_) + Fill({": step {} ms", "：step 耗时 {} ms"}, ms_(of_.step));
    for (std::string& part : Wrapped(line, 2)) lines_.push_back(std::move(part));
  }

  void AddAccount() {
    const std::optional<AccountRow> row = ShownAccount(of_);
    if (!row) return;
    std::vector<std::string> items;
    for (const StepShare& share : SharesOf(*row)) {
      if (!share.always && share.percent == 0) continue;
      items.push_back(Fill({"{} {} ({} %)", "{} {}（{} %）"}, Text(share.name), ms_(share.time),
                           share.percent));
    }
    // The job begins with its first rank and ends with its last: a rank's own step may be shorter.
    const bool is_other = ms_(row->window) != ms_(of_.step);
    if (of_.ranks.size() > 1 && is_other)
      items.back() += Fill({" of {} on rank {}", "[rank {1}：{0}]"}, ms_(row->window), row->rank);
    if (of_.ranks.size() > 1 && !is_other)
      items.back() += Fill({" on rank {}", "[rank {}]"}, row->rank);
    AddItems("  ", items, 2);
    AddFree(*row);
  }

  // Largest first; what is below half a percent of the step is one item.
  void AddFree(const AccountRow& row) {
    std::vector<std::pair<std::string_view, TimeNs>> categories;
    for (const auto& category : row.categories) {
      if (category.first.starts_with("free.") && category.second > 0)
        categories.push_back(category);
    }
    std::ranges::stable_sort(categories, std::greater{},
                             [](const auto& category) { return category.second; });
    std::vector<std::string> items;
    TimeNs rest = 0;
    for (const auto& [category, time] : categories) {
      if (items.size() == kMaxFree || time * 200 < row.window) {
        rest += time;
      } else {
        items.push_back(fmt::format("{} {}", CategoryText(category, language_), ms_(time)));
      }
    }
    if (items.empty()) return;
    if (rest > 0) items.push_back(Fill({"other {}", "其他 {}"}, ms_(rest)));
    AddItems(Text({"  device free:", "  设备空闲："}), items, 4);
  }

  // What bounds the step when nothing is wrong with it.
  void AddNoFinding() {
    lines_.push_back(NoFindingText(of_, language_));
    const std::optional<AccountRow> row = ShownAccount(of_);
    if (!row || row->window <= 0) return;
    const auto largest =
        std::ranges::max_element(row->categories, {}, [](const auto& a) { return a.second; });
    if (largest == row->categories.end()) return;
    lines_.push_back(
        Fill({"Next limit: {}, {} ms ({} % of the step)", "下一个瓶颈：{}，{} ms（占 step {} %）"},
             CategoryText(largest->first, language_), ms_(largest->second),
             PercentOf(*row, largest->second)));
  }

  // As the account has it, where it is a part of its own there.
  static std::int64_t PercentOf(const AccountRow& row, TimeNs time) {
    for (const StepShare& share : SharesOf(row)) {
      if (share.time == time) return share.percent;
    }
    return (time * 100 + row.window / 2) / row.window;
  }

  std::vector<std::string> Block(const FoundCause& finding, std::size_t number) const {
    std::vector<std::string> block;
    const std::string head = fmt::format("{} {:<8} ", number, SeverityText(of_, finding));
    const std::string gain = GainText(of_, finding, language_);
    const std::size_t column = GainColumn();
    const std::string title = head + TitleOf(finding, language_);
    block = Wrapped(title, 11);
    if (!gain.empty()) {
      const bool fits = block.size() == 1 && ColumnsOf(title) + 2 <= column;
      if (!fits) block.emplace_back();
      block.back() += std::string(column - ColumnsOf(block.back()), ' ') + gain;
    }
    const std::string facts = FactsText(finding, language_, ScreenColumns() - 4);
    if (!facts.empty()) block.push_back("    " + facts);
    for (std::string& line : Wrapped(fmt::format("    -> {}", AdviceOf(finding, language_)), 7)) {
      block.push_back(std::move(line));
    }
    return block;
  }

  // Where what a fix saves stands in all blocks.
  std::size_t GainColumn() const {
    constexpr std::size_t kFarthest = 100;  // beyond, nobody sees to which line it belongs
    std::size_t widest = 0;
    for (const FoundCause& finding : of_.findings) {
      widest = std::max(widest, ColumnsOf(GainText(of_, finding, language_)));
    }
    return std::min(ScreenColumns(), kFarthest) - widest;
  }

  // Those below the findings, when so many of them are shown.
  std::size_t LinesBelow(std::size_t shown) const {
    const std::size_t more = shown < of_.findings.size() || !of_.fine.empty() ? 1 : 0;
    return more + HiddenLines().size() + std::min(kMaxSymptoms, of_.not_causes.size()) +
           NotJudgedLines().size() + NextLines().size();
  }

  // The last line can be pasted into a shell as it stands, and is not broken for that reason.
  std::vector<std::string> NextLines() const {
    if (of_.findings.empty()) return {};
    std::vector<std::string> lines;
    if (const std::string floor = FloorText(); !floor.empty()) lines = Wrapped(floor, 2);
    lines.push_back(
        Text({"Next: ", "下一步："}) +
        fmt::format("msprof-analyze advisor why {} -d {}", next_.finding, next_.captures));
    return lines;
  }

  // Findings that are not here, and have to be fixed as well.
  std::string NeededText() const {
    if (of_.needed.empty()) return "";
    const std::string first = Printable(of_.needed.front().key);
    if (of_.needed.size() == 1)
      return Fill({" and {} of 'advisor all'", "连同 'advisor all' 的 {} "}, first);
    return Fill({" and {}, {} more of 'advisor all'", "连同 'advisor all' 的 {} 等 {} 项"}, first,
                English() ? of_.needed.size() - 1 : of_.needed.size());
  }

  std::string CountsText(std::size_t more) const {
    const std::size_t fine = of_.fine.size();
    if (fine == 0)
      return more == 0 ? "" : Fill({"{} more: --json lists them", "另有 {} 项，见 --json"}, more);
    const std::string passed = Fill({"{} checks passed", "{} 项检查通过"}, fine);
    if (more == 0) return passed;
    return Fill({"{} more: --json lists them; {}", "另有 {} 项，见 --json；{}"}, more, passed);
  }

  // Causes that could not be judged, by what records what they need.
  struct Unjudged {
    Wording hint;
    std::set<const FindingInfo*> causes;
    std::vector<Wording> needs;
  };

  std::vector<Unjudged> NotJudgedByHint() const {
    std::vector<Unjudged> by_hint;
    for (const NotJudged& row : of_.not_judged) {
      if (row.hint.english == kNotOnGpus.english) continue;
      const auto is = [](const Wording& one) {
        return [&](const Wording& other) { return other.english == one.english; };
      };
      auto found = std::ranges::find_if(by_hint, is(row.hint), &Unjudged::hint);
      if (found == by_hint.end()) found = by_hint.insert(found, Unjudged{row.hint, {}, {}});
      found->causes.insert(row.finding);
      if (std::ranges::none_of(found->needs, is(row.needs))) found->needs.push_back(row.needs);
    }
    return by_hint;
  }

  // "4 causes without calls of the runtime (CANN), ... (profiler_level=Level1)"
  std::string NotJudgedText(const Unjudged& of) const {
    constexpr std::size_t kMaxNeeds = 2;
    std::string needs;
    for (std::size_t i = 0; i < std::min(kMaxNeeds, of.needs.size()); ++i)
      needs.append(i == 0 ? "" : Text({", ", "、"})).append(Text(of.needs[i]));
    if (of.needs.size() > kMaxNeeds) needs.append(Text({" and others", " 等"}));
    return of.causes.size() == 1
               ? Fill({"1 cause without {} ({})", "1 项缺少{}（{}）"}, needs, Text(of.hint))
               : Fill({"{} causes without {} ({})", "{} 项缺少{}（{}）"}, of.causes.size(), needs,
                      Text(of.hint));
  }

  // "Not judged: 1 cause without ... (gc_detect_threshold=1); ...": what to collect, in two lines
  // if these hold the first.
  std::vector<std::string> NotJudgedLines() const {
    const std::vector<Unjudged> by_hint = NotJudgedByHint();
    std::string text;
    for (std::size_t i = 0; i < by_hint.size(); ++i) {
      const std::string item = NotJudgedText(by_hint[i]);
      const std::string longer = text.empty() ? Text({"Not judged: ", "无法判断："}) + item
                                              : text + Text({"; ", "；"}) + item;
      const std::string more = Fill({"; {} more", "；另有 {} 项"}, by_hint.size() - i);
      const bool is_last = i + 1 == by_hint.size();
      if (i > 0 && Wrapped(is_last ? longer : longer + more, 2).size() > 2) {
        text += more;
        break;
      }
      text = longer;
    }
    return text.empty() ? std::vector<std::string>() : Wrapped(text, 2);
  }

  // The number that a finding has on the screen; its key where it has none.
  std::string NumberOf(const std::string& key) const {
    const auto found = std::ranges::find(of_.findings, key, &FoundCause::key);
    return found == of_.findings.end() ? Printable(key)
                                       : fmt::format("{}", found - of_.findings.begin() + 1);
  }

  // The largest of the causes that findings cover; where it takes several findings, the first of
  // them.
  std::vector<std::string> HiddenLines() const {
    if (of_.hidden.empty()) return {};
    const FoundCause& hidden = of_.hidden.front();
    const std::size_t findings = hidden.after.size();
    // A finding that is not on the screen has its key.
    std::string by = findings == 0 ? "" : ShortenMiddle(NumberOf(hidden.after.front()), 30);
    if (findings > 1)
      by += Fill({" and {} more", " 等 {} 项"}, English() ? findings - 1 : findings);
    const std::size_t others = of_.hidden.size() - 1;
    const std::string behind =
        hidden.if_others_do
            ? Fill({"; saves up to {} ms if others do the same{}",
                    "；若其他卡相同，最多可省 {} ms{}"},
                   ms_(hidden.alone), others == 0 ? "" : Fill({" (+{})", "（+{}）"}, others))
            : Fill({", {} ms alone, hardly any after it{}", "，单独 {} ms，其后几乎无收益{}"},
                   ms_(hidden.alone),
                   others == 0 ? "" : Fill({"; {} more", "；另有 {} 项"}, others));
    const std::string before = Fill({"Hidden behind {}: ", "被第 {} 项掩盖："}, by);
    return Wrapped(before + TitleOf(hidden, language_) + behind, 2);
  }

  std::string SymptomLine(const Symptom& symptom) const {
    const std::string why = symptom.explained_by.empty()
                                ? Text({"the wait itself costs nothing", "等待本身不增加耗时"})
                                : Fill({"waits for what {} delays", "在等第 {} 项造成的延迟"},
                                       NumberOf(symptom.explained_by));
    const std::string behind = Fill({", {} ms: {}", "，{} ms：{}"}, ms_(symptom.cost), why);
    const std::string before = Text({"Not a cause: ", "不是原因："});
    // The number and the reason stay, however long the name is.
    const std::size_t used = ColumnsOf(before) + ColumnsOf(behind);
    const std::size_t room =
        std::max<std::size_t>(12, ScreenColumns() - std::min(ScreenColumns(), used));
    return CutEnd(before + AtLine(symptom.name, symptom.line, language_, room) + behind,
                  ScreenColumns());
  }

  void AddBelow(std::size_t shown) {
    const std::size_t more = of_.findings.size() - shown;
    for (std::string& line : HiddenLines()) lines_.push_back(std::move(line));
    if (std::string counts = CountsText(more); !counts.empty()) lines_.push_back(std::move(counts));
    for (std::size_t i = 0; i < std::min(kMaxSymptoms, of_.not_causes.size()); ++i) {
      lines_.push_back(SymptomLine(of_.not_causes[i]));
    }
    for (std::string& line : NotJudgedLines()) lines_.push_back(std::move(line));
    for (std::string& line : NextLines()) lines_.push_back(std::move(line));
  }

  const Diagnosis& of_;
  const MsText ms_;
  const NextQuestion& next_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> DiagnosisScreen(const Diagnosis& diagnosis, Language language,
                                         std::size_t findings, const NextQuestion& next) {
  return Screen(diagnosis, language, next).Make(findings);
}

std::vector<std::string> DiagnosisHead(const Diagnosis& diagnosis, Language language) {
  return Screen(diagnosis, language, {}).MakeHead();
}

}  // namespace mpa
