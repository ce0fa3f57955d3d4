// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "screen_lines.h"

namespace mpa {
namespace {

constexpr std::size_t kMaxInnocentCalls = 2;

class ScreenBelow : Speaker {
 public:
  ScreenBelow(const Diagnosis& diagnosis, Language language)
      : Speaker(language), diagnosis_(diagnosis), ms_(diagnosis.step) {}

  std::vector<std::string> Make(std::size_t shown) const {
    std::vector<std::string> lines;
    const std::size_t more = diagnosis_.findings.size() - shown;
    for (std::string& line : HiddenLines()) lines.push_back(std::move(line));
    for (std::string& line : CountsLines(more)) lines.push_back(std::move(line));
    for (std::size_t i = 0; i < std::min(kMaxInnocentCalls, diagnosis_.innocent_calls.size());
         ++i) {
      lines.push_back(InnocentCallLine(diagnosis_.innocent_calls[i]));
    }
    for (std::string& line : NotJudgedLines()) lines.push_back(std::move(line));
    return lines;
  }

 private:
  // "3 more: --json lists them; 24 checks passed; fusions: none of 30 known patterns"
  std::vector<std::string> CountsLines(std::size_t more) const {
    std::vector<std::string> texts;
    if (more > 0)
      texts.push_back(Fill({"{} more: --json lists them", "另有 {} 项，见 --json"}, more));
    if (!diagnosis_.passed_checks.empty())
      texts.push_back(Fill({"{} checks passed", "{} 项检查通过"}, diagnosis_.passed_checks.size()));
    if (diagnosis_.known_fusions > 0 && diagnosis_.fusions.empty())
      texts.push_back(Fill({"fusions: none of {} known patterns", "融合：{} 种已知模式均未出现"},
                           diagnosis_.known_fusions));
    const std::string text = fmt::format("{}", fmt::join(texts, Text({"; ", "；"})));
    const std::vector<std::string> fusions = ShortFusions();
    if (text.empty() && fusions.empty()) return {};
    return fusions.empty() ? Wrapped(text, 2) : WithFusions(text, fusions);
  }

  // "...; fusions: 2 of 30 known patterns, too short for a finding: TransData breaks Conv +
  // activation (0.175 ms); 1 more": in one line more, if that holds the first.
  std::vector<std::string> WithFusions(const std::string& before,
                                       const std::vector<std::string>& fusions) const {
    std::string text = before.empty() ? "" : before + Text({"; ", "；"});
    text += Fill({"fusions: {} of {} known patterns, too short for a finding: ",
                  "融合：{1} 种已知模式中有 {0} 种，收益过小："},
                 fusions.size(), diagnosis_.known_fusions);
    for (std::size_t i = 0; i < fusions.size(); ++i) {
      const std::string longer = text + (i == 0 ? "" : Text({"; ", "；"})) + fusions[i];
      const std::size_t left = fusions.size() - i - 1;
      const std::string rest = left == 0 ? "" : Fill({"; {} more", "；另有 {} 种"}, left);
      if (i > 0 && Wrapped(longer + rest, 2).size() > 2) {
        text += Fill({"; {} more", "；另有 {} 种"}, left + 1);
        break;
      }
      text = longer;
    }
    return Wrapped(text, 2);
  }

  // Known fusions too short for a finding: "TransData breaks Conv + activation (0.175 ms)".
  std::vector<std::string> ShortFusions() const {
    std::vector<std::string> texts;
    for (const SeenFusion& fusion : diagnosis_.fusions) {
      if (fusion.is_finding) continue;
      const std::string pieces = Text(fusion.pieces);
      const std::string chain =
          fusion.breaker.empty() ? pieces
                                 : Fill({"{1} breaks {0}", "{1} 打断 {0}"}, pieces, fusion.breaker);
      const TimeNs time = std::max(fusion.saves, fusion.gone);
      texts.push_back(Fill({"{} ({} ms)", "{}（{} ms）"}, chain, MsText(time)(time)));
    }
    return texts;
  }

  // Causes that could not be judged, by what records what they need.
  struct Unjudged {
    Wording hint;
    std::set<const FindingType*> causes;
    std::vector<std::string> needs;
  };

  std::vector<Unjudged> NotJudgedByHint() const {
    std::vector<Unjudged> by_hint;
    for (const NotJudged& row : diagnosis_.not_judged) {
      if (row.hint.english == kNotOnGpus.english) continue;
      const auto is_hint = [&](const Unjudged& of) { return of.hint.english == row.hint.english; };
      auto found = std::ranges::find_if(by_hint, is_hint);
      if (found == by_hint.end()) found = by_hint.insert(found, Unjudged{row.hint, {}, {}});
      found->causes.insert(row.type);
      std::string needs = NeedsText(row, language_);
      if (std::ranges::find(found->needs, needs) == found->needs.end())
        found->needs.push_back(std::move(needs));
    }
    return by_hint;
  }

  // "4 causes without calls of the runtime (CANN), ... (profiler_level=Level1)"
  std::string NotJudgedText(const Unjudged& of) const {
    constexpr std::size_t kMaxNeeds = 2;
    std::string needs;
    for (std::size_t i = 0; i < std::min(kMaxNeeds, of.needs.size()); ++i)
      needs.append(i == 0 ? "" : Text({", ", "、"})).append(of.needs[i]);
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
    const auto found = std::ranges::find(diagnosis_.findings, key, &Finding::key);
    return found == diagnosis_.findings.end()
               ? Printable(key)
               : fmt::format("{}", found - diagnosis_.findings.begin() + 1);
  }

  // The largest of the causes that findings cover; where it takes several findings, the first of
  // them.
  std::vector<std::string> HiddenLines() const {
    if (diagnosis_.hidden.empty()) return {};
    const Finding& hidden = diagnosis_.hidden.front();
    const std::size_t findings = hidden.after.size();
    // A finding that is not on the screen has its key.
    std::string by = findings == 0 ? "" : ShortenMiddle(NumberOf(hidden.after.front()), 30);
    if (findings > 1)
      by += Fill({" and {} more", " 等 {} 项"}, English() ? findings - 1 : findings);
    const std::size_t others = diagnosis_.hidden.size() - 1;
    const std::string behind =
        hidden.if_uncaptured_ranks_do_too
            ? Fill({"; saves up to {} ms if others do the same{}",
                    "；若其他卡相同，最多可省 {} ms{}"},
                   ms_(hidden.alone), others == 0 ? "" : Fill({" (+{})", "（+{}）"}, others))
            : Fill({", {} ms alone, hardly any after it{}", "，单独 {} ms，其后几乎无收益{}"},
                   ms_(hidden.alone),
                   others == 0 ? "" : Fill({"; {} more", "；另有 {} 项"}, others));
    const std::string before = Fill({"Hidden behind {}: ", "被第 {} 项掩盖："}, by);
    return Wrapped(before + TitleOf(hidden, language_) + behind, 2);
  }

  std::string InnocentCallLine(const InnocentCall& call) const {
    const std::string why = call.explained_by.empty()
                                ? Text({"the wait itself costs nothing", "等待本身不增加耗时"})
                                : Fill({"waits for what {} delays", "在等第 {} 项造成的延迟"},
                                       NumberOf(call.explained_by));
    const std::string behind = Fill({", {} ms: {}", "，{} ms：{}"}, ms_(call.cost), why);
    const std::string before = Text({"Not a cause: ", "不是原因："});
    // The number and the reason stay, however long the name is.
    const std::size_t used = ColumnsOf(before) + ColumnsOf(behind);
    const std::size_t room =
        std::max<std::size_t>(12, ScreenColumns() - std::min(ScreenColumns(), used));
    return CutEnd(before + AtLine(call.name, call.line, language_, room) + behind, ScreenColumns());
  }

  const Diagnosis& diagnosis_;
  const MsText ms_;
};

}  // namespace

std::vector<std::string> LinesBelowFindings(const Diagnosis& diagnosis, Language language,
                                            std::size_t shown) {
  return ScreenBelow(diagnosis, language).Make(shown);
}

}  // namespace mpa
