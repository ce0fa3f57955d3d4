// SPDX-License-Identifier: Apache-2.0
// The first screen of a diagnosis: where the step goes, what costs it, what to do.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>

#include "metric_names.h"
#include "mpa/base/columns.h"
#include "mpa/diagnosis/diagnosis.h"

namespace mpa {
namespace {

constexpr std::size_t kMostLines = 25;
// What is kept for the lines below the findings.
constexpr std::size_t kLinesBelow = 4;

struct Part {
  Texts name;
  TimeNs time = 0;
};

// Percent of the whole, rounded so that they add up to 100: the largest rests are rounded up.
std::vector<int> Shares(const std::vector<Part>& parts) {
  const TimeNs whole = std::accumulate(parts.begin(), parts.end(), TimeNs{0},
                                       [](TimeNs sum, const Part& part) { return sum + part.time; });
  std::vector<int> shares(parts.size(), 0);
  if (whole <= 0) return shares;
  std::vector<std::pair<double, std::size_t>> rests;
  int given = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double exact = 100.0 * static_cast<double>(parts[i].time) / static_cast<double>(whole);
    shares[i] = static_cast<int>(exact);
    given += shares[i];
    rests.emplace_back(exact - shares[i], i);
  }
  std::stable_sort(rests.begin(), rests.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < rests.size() && given < 100; ++i, ++given) ++shares[rests[i].second];
  return shares;
}

bool IsBelow(std::string_view leaf, std::string_view parent) { return leaf.starts_with(parent); }

TimeNs SumOf(const AccountRow& row, std::string_view parent) {
  TimeNs sum = 0;
  for (const auto& [leaf, time] : row.leaves) sum += IsBelow(leaf, parent) ? time : 0;
  return sum;
}

// The account of the step nearest to the mean of the rank with the longest steps.
const AccountRow* ShownAccount(const Diagnosis& diagnosis) {
  const AccountRow* shown = nullptr;
  for (const AccountRow& row : diagnosis.accounting) {
    const auto away = [&](const AccountRow& other) { return std::abs(other.window - diagnosis.step); };
    if (shown == nullptr || away(row) < away(*shown)) shown = &row;
  }
  return shown;
}

class Screen {
 public:
  Screen(const Diagnosis& diagnosis, Language language) : of_(diagnosis), language_(language) {}

  std::vector<std::string> Make(std::size_t most) && {
    AddHeader();
    AddAccount();
    if (of_.findings.empty()) {
      lines_.push_back(Text({"No finding above 1 % of the step.", "没有超过 step 1 % 的问题。"}));
    }
    std::size_t shown = 0;
    bool opportunities = false;
    for (const FoundCause& finding : of_.findings) {
      std::vector<std::string> block = Block(finding, shown + 1);
      if (finding.kind == FindingKind::kOpportunity && !opportunities) {
        opportunities = true;
        block.insert(block.begin(), Text({"Works as written, could be faster:", "可优化项："}));
      }
      if (shown == most || lines_.size() + block.size() + kLinesBelow > kMostLines) break;
      lines_.insert(lines_.end(), block.begin(), block.end());
      ++shown;
    }
    AddBelow(shown);
    return std::move(lines_);
  }

 private:
  std::string Text(const Texts& texts) const { return std::string(texts.In(language_)); }
  template <typename... Values>
  std::string Fill(const Texts& texts, const Values&... values) const {
    return fmt::format(fmt::runtime(texts.In(language_)), values...);
  }
  bool English() const { return language_ == Language::kEnglish; }

  void Wrap(const std::string& text, std::size_t indent) {
    for (std::string& line : Wrapped(text, indent)) lines_.push_back(std::move(line));
  }

  // Items with commas between, none of them broken.
  void WrapItems(std::string line, const std::vector<std::string>& items, std::size_t indent) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string text = items[i] + (i + 1 < items.size() ? "," : "");
      if (ColumnsOf(line) + ColumnsOf(text) + 1 > kScreenColumns) {
        lines_.push_back(line);
        line = std::string(indent, ' ');
      }
      if (line.find_first_not_of(' ') != std::string::npos) line += ' ';
      line += text;
    }
    lines_.push_back(line);
  }

  void AddHeader() {
    std::string steps;
    if (of_.steps.size() == 1) steps = fmt::format(", step {}", of_.steps[0]);
    if (of_.steps.size() > 1) steps = fmt::format(", steps {}-{}", of_.steps.front(), of_.steps.back());
    if (!of_.dropped_steps.empty()) {
      steps += Fill({" ({} left out: warm-up)", "（{} 为预热，不计）"}, fmt::join(of_.dropped_steps, ", "));
    }
    const std::size_t count = of_.ranks.size();
    const std::string world = of_.world > static_cast<std::int64_t>(count) ? fmt::format(" of {}", of_.world) : "";
    Wrap(fmt::format("{}{} {}{}{}: {} {} ms", count, world, English() ? (count == 1 ? "rank" : "ranks") : "卡", steps,
                     of_.level.empty() ? "" : ", " + of_.level, English() ? "step" : "step 耗时", Ms(of_.step)),
         2);
  }

  void AddAccount() {
    const AccountRow* row = ShownAccount(of_);
    if (row == nullptr) return;
    const TimeNs wait = SumOf(*row, "comm.wait_peer"), bubble = SumOf(*row, "comm.bubble");
    std::vector<Part> parts = {{{"compute", "计算"}, SumOf(*row, "comp.")},
                               {{"waiting for ranks", "等待其他卡"}, wait},
                               {{"bubble", "流水线气泡"}, bubble},
                               {{"transfer", "通信传输"}, SumOf(*row, "comm.") - wait - bubble},
                               {{"copies", "拷贝"}, SumOf(*row, "copy.")},
                               {{"device free", "设备空闲"}, SumOf(*row, "free.")}};
    const std::vector<int> shares = Shares(parts);
    std::vector<std::string> items;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool always = i == 0 || i == 1 || i == 3 || i == 5;
      if (!always && shares[i] == 0) continue;
      items.push_back(fmt::format("{} {} ({} %)", Text(parts[i].name), Ms(parts[i].time), shares[i]));
    }
    if (of_.ranks.size() > 1) items.back() += Fill({" on rank {}", "（{} 卡）"}, row->rank);
    WrapItems("  ", items, 2);
    AddFree(*row);
  }

  void AddFree(const AccountRow& row) {
    std::vector<std::pair<std::string, TimeNs>> causes;
    for (const auto& [leaf, time] : row.leaves) {
      if (IsBelow(leaf, "free.") && time > 0) causes.emplace_back(std::string(leaf.substr(5)), time);
    }
    std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> items;
    TimeNs rest = 0;
    for (const auto& [name, time] : causes) {
      if (items.size() == 6 || time * 200 < row.window) {
        rest += time;
      } else {
        items.push_back(fmt::format("{} {}", name, Ms(time)));
      }
    }
    if (items.empty()) return;
    if (rest > 0) items.push_back(Fill({"other {}", "其他 {}"}, Ms(rest)));
    WrapItems(Text({"  device free:", "  设备空闲："}), items, 4);
  }

  std::string TitleOf(const FoundCause& finding) const {
    const std::string_view title = EntryOf(finding.id).title.In(language_);
    std::string text = fmt::format(fmt::runtime(title), RanksText(finding.ranks, language_));
    const bool names_ranks = title.find("{}") != std::string_view::npos;
    if (!names_ranks && !finding.ranks.empty()) text += fmt::format(" ({})", RanksText(finding.ranks, language_));
    return finding.confidence == Certainty::kLow ? fmt::format("{}{}", English() ? "probably: " : "可能：", text) : text;
  }

  std::vector<std::string> Block(const FoundCause& finding, std::size_t number) const {
    std::string severity(NameOf(ImpactOf(finding.gain, of_.step)));
    for (char& letter : severity) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    const double share = of_.step > 0 ? 100.0 * static_cast<double>(finding.gain) / static_cast<double>(of_.step) : 0;
    std::string gain = fmt::format("{} {} ms ({:.0f} %)", English() ? "saves" : "可省", Ms(finding.gain), share);
    if (finding.with_next) {
      gain = English() ? "pays with the next" : "与下一项同时解决才有收益";
    } else if (std::abs(finding.alone - finding.gain) * 5 > finding.gain) {
      gain += Fill({", alone {}", "，单独 {}"}, Ms(finding.alone));
    }
    std::vector<std::string> block;
    const std::string head = fmt::format("{} {:<8} ", number, severity);
    const std::string title = TitleOf(finding);
    const std::size_t used = ColumnsOf(head) + ColumnsOf(title) + ColumnsOf(gain);
    if (used + 2 <= kScreenColumns) {
      block.push_back(head + title + std::string(kScreenColumns - used, ' ') + gain);
    } else {
      for (std::string& line : Wrapped(head + title, 11)) block.push_back(std::move(line));
      block.push_back(std::string(kScreenColumns - ColumnsOf(gain), ' ') + gain);
    }
    std::string facts;
    for (const Metric& metric : finding.metrics) {
      const std::string fact = MetricText(metric, language_);
      if (fact.empty() || ColumnsOf(facts) + ColumnsOf(fact) > 72) continue;
      facts += (facts.empty() ? "" : ", ") + fact;
    }
    if (!finding.leaf.empty() && ColumnsOf(facts) < 50) {
      facts += fmt::format("{}{} {}", facts.empty() ? "" : ", ", English() ? "in" : "主要在", finding.leaf);
    }
    if (!facts.empty()) block.push_back("    " + facts);
    for (std::string& line : Wrapped(fmt::format("    -> {}", EntryOf(finding.id).advice.In(language_)), 7)) {
      block.push_back(std::move(line));
    }
    return block;
  }

  void AddBelow(std::size_t shown) {
    const std::size_t more = of_.findings.size() - shown;
    if (more > 0) {
      lines_.push_back(Fill({"{} more: --json lists them", "另有 {} 项，见 --json"}, more));
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(2, of_.not_causes.size()); ++i) {
      const NotACause& innocent = of_.not_causes[i];
      const std::string why = innocent.explained_by.empty()
                                  ? Text({"nothing waits for it", "没有任务在等它"})
                                  : Fill({"waits for what {} delays", "在等 {} 造成的延迟"}, innocent.explained_by);
      lines_.push_back(CutEnd(fmt::format("{}: {}, {} ms: {}", English() ? "Not a cause" : "不是原因", innocent.name,
                                          Ms(innocent.cost), why),
                              kScreenColumns));
    }
    if (!of_.findings.empty()) {
      lines_.push_back(Fill({"After all of these: {} ms.  Next: advisor why {} -d DIR", "全部解决后：{} ms。下一步：advisor why {} -d DIR"},
                                   Ms(of_.floor), of_.findings.front().key));
    }
  }

  const Diagnosis& of_;
  const Language language_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> DiagnosisScreen(const Diagnosis& diagnosis, Language language,
                                         std::size_t findings) {
  return Screen(diagnosis, language).Make(findings);
}

}  // namespace mpa
