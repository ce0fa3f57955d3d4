// SPDX-License-Identifier: Apache-2.0
#include "story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include "changes.h"
#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "mpa/model/step_bounds.h"
#include "mpa/report/amount.h"

namespace mpa {
namespace {

class StoryTeller {
 public:
  StoryTeller(const AmountScale& scale, std::size_t width) : scale_(scale), width_(width) {}

  // Lines of what the change is made of; as printed they add up to it.
  void Explain(const Change& change, std::size_t indent) {
    if (Concentrates(change.names, change.time)) {
      List(change.names, change.time, indent, kMostNames);
    } else if (!change.levels.empty()) {
      constexpr std::size_t kMostLevels = 4;
      ListExplained(change, indent, kMostLevels);
    } else if (!change.names.empty()) {
      Spread(change, indent);
    }
  }

  void Add(std::string line) { lines_.push_back(std::move(line)); }

  // "    +20.00 ms NAME (42 kernels, +7.4 %)"; the name gives way where the line is too long.
  void AddPart(std::int64_t rounded, const Change& part, std::size_t indent) {
    const std::string before =
        fmt::format("{:{}}{} {} ", "", indent, scale_.Signed(rounded), scale_.unit());
    const bool bracketed = part.name.ends_with(')');  // one pair of brackets is enough
    const std::string behind = part.detail.empty() ? ""
                               : bracketed         ? ", " + part.detail
                                                   : fmt::format(" ({})", part.detail);
    Add(before + Shortened(part.name, before.size() + behind.size()) + behind);
  }

  std::vector<std::string> Take() { return std::move(lines_); }

 private:
  std::string Shortened(const std::string& name, std::size_t taken) const {
    constexpr std::size_t kFewest = 16;
    const std::size_t left = width_ > taken + kFewest ? width_ - taken : kFewest;
    return ShortenMiddle(Printable(name), left);
  }

  // What is left of a sum behind the parts that were listed.
  void AddRest(std::int64_t rest, std::size_t smaller, std::size_t indent) {
    const std::string amount =
        fmt::format("{:{}}{} {}", "", indent, scale_.Signed(rest), scale_.unit());
    if (smaller > 0) {
      Add(fmt::format("{} in {} smaller changes", amount, smaller));
    } else if (rest != 0) {
      Add(amount + " by rounding");
    }
  }

  // The largest parts, each followed by what `more` says about it, and the rest.
  template <typename More>
  void ListWith(const std::vector<Change>& parts, TimeNs sum, std::size_t indent, std::size_t most,
                More more) {
    const std::size_t shown = parts.size() <= most + 1 ? parts.size() : most;
    std::int64_t rest = scale_.Rounded(sum);
    for (std::size_t i = 0; i < shown; ++i) {
      // What stands for a line of the rest takes what rounding left over.
      const std::int64_t rounded = i == most ? rest : scale_.Rounded(parts[i].time);
      rest -= rounded;
      AddPart(rounded, parts[i], indent);
      more(parts[i]);
    }
    AddRest(rest, parts.size() - shown, indent);
  }

  void List(const std::vector<Change>& parts, TimeNs sum, std::size_t indent, std::size_t most) {
    ListWith(parts, sum, indent, most, [](const Change&) {});
  }

  // Large parts, each with what it is made of where it weighs 20 % of the largest one.
  void ListExplained(const Change& change, std::size_t indent, std::size_t most) {
    const TimeNs largest = std::abs(change.levels.front().time);
    ListWith(change.levels, change.time, indent, most, [&](const Change& part) {
      if (5 * std::abs(part.time) >= largest) Explain(part, indent + 2);
    });
  }

  // Too many names: the largest one, and how small a share it has.
  void Spread(const Change& change, std::size_t indent) {
    const Change& largest = change.names.front();
    if (std::abs(largest.time) > std::abs(change.time)) {  // they cancel each other out
      List(change.names, change.time, indent, kMostNames);
      return;
    }
    Add(fmt::format("{:{}}spread over {} kinds of kernels, the largest is {:.0f} %:", "", indent,
                    change.names.size(),
                    100.0 * static_cast<double>(largest.time) / static_cast<double>(change.time)));
    AddPart(scale_.Rounded(largest.time), largest, indent);
  }

  AmountScale scale_;
  std::size_t width_;
  std::vector<std::string> lines_;
};

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

// "12 operators only in the comparison, 4 only in the base"; empty when both sides have the same.
std::string OneSidedOps(const CompareInput& input) {
  const auto base = OpNames(input.Trace(Side::kBase));
  const auto comparison = OpNames(input.Trace(Side::kComparison));
  if (base.empty() || comparison.empty()) return "";
  std::string text;
  const auto add = [&](const auto& names, const auto& others, std::string_view side) {
    const auto count = std::count_if(names.begin(), names.end(),
                                     [&](std::string_view name) { return !others.contains(name); });
    if (count == 0) return;
    const std::string_view word = !text.empty() ? "" : count == 1 ? " operator" : " operators";
    text += fmt::format("{}{}{} only in the {}", text.empty() ? "" : ", ", count, word, side);
  };
  add(comparison, base, "comparison");
  add(base, comparison, "base");
  return text;
}

}  // namespace

std::vector<std::string> Story(const CompareInput& input, const OverallMetrics& base,
                               const OverallMetrics& comparison) {
  if (base.e2e == 0 || comparison.e2e == 0) return {};
  const Change all = EndToEndChange(input, base, comparison);
  if (all.names.empty()) return {"end to end: no change"};
  const AmountScale scale = AmountScale::ForPartsOf(std::max(base.e2e, comparison.e2e));
  StoryTeller teller(scale, input.options().screen_width);
  teller.Add(fmt::format("end to end: {} {} ({})", scale.Signed(scale.Rounded(all.time)),
                         scale.unit(), all.detail));
  teller.Explain(all, 2);
  if (const std::string ops = OneSidedOps(input); !ops.empty()) teller.Add("  " + ops);
  return teller.Take();
}

}  // namespace mpa
