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

class ScreenBelow {
 public:
  ScreenBelow(const Diagnosis& diagnosis) : diagnosis_(diagnosis), ms_(diagnosis.step) {}

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
    if (more > 0) texts.push_back(Say("{} more: --json lists them", more));
    if (!diagnosis_.passed_checks.empty())
      texts.push_back(Say("{} checks passed", diagnosis_.passed_checks.size()));
    if (diagnosis_.known_fusions > 0 && diagnosis_.fusions.empty())
      texts.push_back(Say("fusions: none of {} known patterns", diagnosis_.known_fusions));
    const std::string text = fmt::format("{}", fmt::join(texts, Translated("; ")));
    const std::vector<std::string> fusions = ShortFusions();
    if (text.empty() && fusions.empty()) return {};
    return fusions.empty() ? Wrapped(text, 2) : WithFusions(text, fusions);
  }

  // "...; fusions: 2 of 30 known patterns, too short for a finding: TransData breaks Conv +
  // activation (0.175 ms); 1 more": in one line more, if that holds the first.
  std::vector<std::string> WithFusions(const std::string& before,
                                       const std::vector<std::string>& fusions) const {
    std::string text = before.empty() ? "" : before + Say("; ");
    text += Say("fusions: {} of {} known patterns, too short for a finding: ", fusions.size(),
                diagnosis_.known_fusions);
    for (std::size_t i = 0; i < fusions.size(); ++i) {
      const std::string longer = i == 0 ? text + fusions[i] : Say("{}; {}", text, fusions[i]);
      const std::size_t left = fusions.size() - i - 1;
      const std::string rest = left == 0 ? "" : Say("; {} more", left);
      if (i > 0 && Wrapped(longer + rest, 2).size() > 2) {
        text += Say("; {} more", left + 1);
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
      const std::string pieces(Translated(fusion.pieces));
      const std::string chain =
          fusion.breaker.empty() ? pieces : Say("{1} breaks {0}", pieces, fusion.breaker);
      const TimeNs time = std::max(fusion.saves, fusion.gone);
      texts.push_back(Say("{} ({} ms)", chain, MsText(time)(time)));
    }
    return texts;
  }

  // Causes that could not be judged, by what records what they need.
  struct Unjudged {
    std::string_view hint;
    std::set<const FindingType*> causes;
    std::vector<std::string> needs;
  };

  std::vector<Unjudged> NotJudgedByHint() const {
    std::vector<Unjudged> by_hint;
    for (const NotJudged& row : diagnosis_.not_judged) {
      if (row.hint == kNotOnGpus) continue;
      const auto is_hint = [&](const Unjudged& of) { return of.hint == row.hint; };
      auto found = std::ranges::find_if(by_hint, is_hint);
      if (found == by_hint.end()) found = by_hint.insert(found, Unjudged{row.hint, {}, {}});
      found->causes.insert(row.type);
      std::string needs = NeedsText(row);
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
      needs.append(i == 0 ? "" : Translated(", ")).append(of.needs[i]);
    if (of.needs.size() > kMaxNeeds) needs = Say("{} and others", needs);
    return of.causes.size() == 1
               ? Say("1 cause without {} ({})", needs, Translated(of.hint))
               : Say("{} causes without {} ({})", of.causes.size(), needs, Translated(of.hint));
  }

  // "Not judged: 1 cause without ... (gc_detect_threshold=1); ...": what to collect, in two lines
  // if these hold the first.
  std::vector<std::string> NotJudgedLines() const {
    const std::vector<Unjudged> by_hint = NotJudgedByHint();
    std::string text;
    for (std::size_t i = 0; i < by_hint.size(); ++i) {
      const std::string item = NotJudgedText(by_hint[i]);
      const std::string longer =
          text.empty() ? Say("Not judged: {}", item) : Say("{}; {}", text, item);
      const std::string more = Say("; {} more", by_hint.size() - i);
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
    if (findings > 1) by = Say("{} and {} more", by, findings - 1);
    const std::string title = TitleOf(hidden), alone = ms_(hidden.alone);
    const std::size_t others = diagnosis_.hidden.size() - 1;
    if (hidden.if_uncaptured_ranks_do_too) {
      const std::string more = others == 0 ? "" : Say(" (+{})", others);
      return Wrapped(Say("Hidden behind {}: {}; saves up to {} ms if others do the same{}", by,
                         title, alone, more),
                     2);
    }
    const std::string more = others == 0 ? "" : Say("; {} more", others);
    return Wrapped(
        Say("Hidden behind {}: {}, {} ms alone, hardly any after it{}", by, title, alone, more), 2);
  }

  // The number and the reason stay, however long the name is.
  std::string InnocentCallLine(const InnocentCall& call) const {
    const std::string why = call.explained_by.empty()
                                ? Say("the wait itself costs nothing")
                                : Say("waits for what {} delays", NumberOf(call.explained_by));
    const auto line = [&](const std::string& name) {
      return Say("Not a cause: {}, {} ms: {}", name, ms_(call.cost), why);
    };
    const std::size_t room =
        std::max<std::size_t>(12, ScreenColumns() - std::min(ScreenColumns(), ColumnsOf(line(""))));
    return CutEnd(line(AtLine(call.name, call.line, room)), ScreenColumns());
  }

  const Diagnosis& diagnosis_;
  const MsText ms_;
};

}  // namespace

std::vector<std::string> LinesBelowFindings(const Diagnosis& diagnosis, std::size_t shown) {
  return ScreenBelow(diagnosis).Make(shown);
}

}  // namespace mpa
