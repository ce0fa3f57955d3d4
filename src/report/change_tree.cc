// SPDX-License-Identifier: Apache-2.0
// One tree of changes, and what is shown of it.
#include "mpa/report/change_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/utf8.h"

namespace mpa {
namespace {

// So many names stand for a change, so many parts for a level.
constexpr std::size_t kMaxNames = 3, kMaxParts = 4;
constexpr std::size_t kMaxNameLength = 48;  // in one line with others

using Nodes = std::vector<const ChangeNode*>;

void CollectCategories(const ChangeNode& node, Nodes& categories) {
  const bool counts = node.Change() != 0 || node.kind == kRemainder;
  if (node.children.empty() && counts) categories.push_back(&node);
  for (const ChangeNode& child : node.children) CollectCategories(child, categories);
}

void SortLargestFirst(Nodes& nodes) {
  StableSort(nodes, [](const ChangeNode* a, const ChangeNode* b) {
    return std::abs(a->Change()) > std::abs(b->Change());
  });
}

// Parts of one level: those that may be named, and how many have changed in all.
struct Parts {
  Nodes named;
  std::size_t changed = 0;
};

Parts NamedOf(Nodes nodes, bool with_remainder) {
  std::erase_if(nodes, [](const ChangeNode* node) { return node->Change() == 0; });
  Parts parts;
  parts.changed = nodes.size();
  std::erase_if(nodes, [&](const ChangeNode* node) {
    return node->is_noise || (node->kind == kRemainder && !with_remainder);
  });
  SortLargestFirst(nodes);
  parts.named = std::move(nodes);
  return parts;
}

Parts NamesIn(const ChangeNode& node) {
  Nodes categories;
  CollectCategories(node, categories);
  return NamedOf(std::move(categories), /*with_remainder=*/false);
}

Parts ChildrenOf(const ChangeNode& node) {
  Nodes children;
  for (const ChangeNode& child : node.children) children.push_back(&child);
  return NamedOf(std::move(children), /*with_remainder=*/true);
}

// A single part more takes no more room than the line that sums it up.
std::size_t ShownOf(const Parts& parts, std::size_t most) {
  const bool one_more = parts.changed == most + 1 && parts.named.size() == parts.changed;
  return std::min(parts.named.size(), one_more ? most + 1 : most);
}

// True when the names that would be shown make up 80 % of the change, and none that would not has
// more than the rest of it: parts that cancel each other out do not count as a small change.
bool Explain(const Parts& names, TimeNs change) {
  const std::size_t shown = ShownOf(names, kMaxNames);
  TimeNs rest = change;
  for (std::size_t i = 0; i < shown; ++i) rest -= names.named[i]->Change();
  const auto is_small = [&](TimeNs time) { return 5 * std::abs(time) <= std::abs(change); };
  return !names.named.empty() && is_small(rest) &&
         (shown == names.named.size() || is_small(names.named[shown]->Change()));
}

bool HasLevels(const ChangeNode& node) {
  return std::ranges::any_of(node.children,
                             [](const ChangeNode& child) { return !child.children.empty(); });
}

// True when none of many names has half of the change.
bool IsSpread(const ChangeNode& node, const Parts& names) {
  if (names.changed <= kMaxNames || HasLevels(node)) return false;
  return names.named.empty() ||
         2 * std::abs(names.named.front()->Change()) <= std::abs(node.Change());
}

std::string SpreadText(const ChangeNode& node, std::size_t count) {
  const std::string& kind = node.children.front().kind;
  if (kind == "kernel") return Say("spread over {} kinds of kernels", count);
  return kind == "collective" ? Say("spread over {} kinds of communication", count)
                              : Say("spread over {} causes", count);
}

std::string ShownName(const ChangeNode& node) { return std::string(Translated(node.name)); }

// "free time (scalar reads: aten::item at train.py:90 +5.000 ms)"
std::string WithCause(const ChangeNode& node) {
  const std::string name = ShownName(node);
  if (node.cause.empty()) return name;
  const std::string_view close = Translated(")");
  if (!name.ends_with(close)) return Say("{} ({})", name, node.cause);
  return Say("{}: {})", name.substr(0, name.size() - close.size()), node.cause);
}

std::string CountText(const ChangeNode& node) {
  const auto kernels = [](std::int64_t count) { return Counted(count, "kernel"); };
  if (node.base_count == 0) return Say("{}, new", kernels(node.comparison_count));
  if (node.comparison_count == 0) return Say("{}, gone", kernels(node.base_count));
  const std::string growth = GrowthOf(node.base, node.comparison);
  const std::string counted =
      node.base_count == node.comparison_count
          ? kernels(node.comparison_count)
          : Say("{} instead of {}", kernels(node.comparison_count), node.base_count);
  return growth.empty() ? counted : Say("{}, {}", counted, growth);
}

std::string DetailOf(const ChangeNode& node) {
  if (node.kind == "kernel" && node.base_count + node.comparison_count > 0) return CountText(node);
  return node.base == 0 && node.comparison > 0 ? Say("new") : GrowthOf(node.base, node.comparison);
}

class Summary {
 public:
  explicit Summary(const AmountScale& scale) : scale_(scale) {}

  void AddWhole(const ChangeNode& whole) {
    const std::int64_t rounded = scale_.Rounded(whole.Change());
    const Parts names = NamesIn(whole);
    const bool spread = !Explain(names, whole.Change()) && IsSpread(whole, names);
    if (spread) {
      lines_.push_back({0, rounded, SpreadText(whole, names.changed), DetailOf(whole), ""});
    }
    Add(whole, rounded, spread ? 1 : 0);
  }

  void Add(const ChangeNode& node, std::int64_t rounded, std::size_t level) {
    const Parts names = NamesIn(node);
    if (Explain(names, node.Change())) {
      List(names, kMaxNames, rounded, level);
    } else if (HasLevels(node)) {
      List(ChildrenOf(node), kMaxParts, rounded, level);
    } else {
      List(names, IsSpread(node, names) ? 1 : kMaxNames, rounded, level);
    }
  }

  std::vector<ChangeLine> Take() { return std::move(lines_); }

 private:
  void List(const Parts& parts, std::size_t most, std::int64_t sum, std::size_t level) {
    if (parts.named.empty()) return;
    std::size_t shown = ShownOf(parts, most);
    const auto shows = [&](std::size_t i) {
      return i < parts.named.size() && scale_.Rounded(parts.named[i]->Change()) != 0;
    };
    while (shown > 1 && !shows(shown - 1)) --shown;
    const TimeNs largest = std::abs(parts.named.front()->Change());
    for (std::size_t i = 0; i < shown; ++i) {
      const ChangeNode& part = *parts.named[i];
      // What stands for the line of the rest takes what rounding left over.
      const std::int64_t rounded = i == most ? sum : scale_.Rounded(part.Change());
      sum -= rounded;
      AddPart(part, rounded, level, 5 * std::abs(part.Change()) >= largest);
    }
    const std::size_t smaller = parts.changed - shown;
    if (smaller > 0 && (sum != 0 || shows(shown))) {
      lines_.push_back(
          {level, sum,
           smaller == 1 ? Say("in 1 smaller change") : Say("in {} smaller changes", smaller), "",
           ""});
    } else if (sum != 0) {  // they are all shown
      lines_.push_back({level, sum, Say("by rounding"), "", ""});
    }
  }

  void AddPart(const ChangeNode& part, std::int64_t rounded, std::size_t level, bool explained) {
    const Parts names = NamesIn(part);
    if (names.changed == 1 && names.named.size() == 1) {  // one line says it all
      const ChangeNode& only = *names.named.front();
      lines_.push_back({level, rounded, ShownName(only), DetailOf(only), WithCause(only)});
      return;
    }
    const bool spread = !Explain(names, part.Change()) && IsSpread(part, names);
    lines_.push_back(
        {level, rounded,
         spread ? ShownName(part) + " " + SpreadText(part, names.changed) : ShownName(part),
         DetailOf(part), ""});
    if (explained && !part.children.empty()) Add(part, rounded, level + 1);
  }

  AmountScale scale_;
  std::vector<ChangeLine> lines_;
};

// --- One line ---

struct Cause {
  const ChangeNode* node;
  std::string name, with_cause;
};

void CollectCauses(const ChangeNode& node, std::string_view name, std::vector<Cause>& causes) {
  if (node.is_noise || node.Change() == 0 || node.kind == kRemainder) return;
  if (node.children.empty()) {
    ChangeNode named = node;
    named.name = ShortenMiddle(ShownName(node), kMaxNameLength);
    causes.push_back({&node, named.name, WithCause(named)});
    return;
  }
  const Parts names = NamesIn(node);
  const bool explained = Explain(names, node.Change()), spread = IsSpread(node, names);
  if (!explained && HasLevels(node)) {
    for (const ChangeNode& child : node.children) CollectCauses(child, ShownName(child), causes);
  } else if (explained || (name.empty() && !spread)) {
    for (std::size_t i = 0; i < std::min(names.named.size(), kMaxNames); ++i) {
      CollectCauses(*names.named[i], ShownName(*names.named[i]), causes);
    }
  } else {
    const std::string text = spread ? SpreadText(node, names.changed) : "";
    const std::string_view blank = name.empty() || text.empty() ? "" : " ";
    const std::string growth = GrowthOf(node.base, node.comparison);
    causes.push_back({&node, std::string(name.empty() ? text : name),
                      growth.empty()
                          ? fmt::format("{}{}{}", name, blank, text)
                          : Say("{} ({})", fmt::format("{}{}{}", name, blank, text), growth)});
  }
}

// Those that are a good part of the largest one, the largest first.
std::vector<Cause> CausesOf(const ChangeNode& whole, const AmountScale& scale) {
  constexpr std::int64_t kPartOfLargest = 10;
  std::vector<Cause> causes;
  CollectCauses(whole, /*name=*/"", causes);
  const auto size = [&](const Cause& cause) {
    return std::abs(scale.Rounded(cause.node->Change()));
  };
  StableSort(causes, [](const Cause& a, const Cause& b) {
    return std::abs(a.node->Change()) > std::abs(b.node->Change());
  });
  if (causes.empty()) return causes;
  const std::int64_t least = size(causes.front());
  std::erase_if(causes, [&](const Cause& cause) {
    return size(cause) == 0 || size(cause) * kPartOfLargest < least;
  });
  if (causes.size() > kMaxNames) causes.resize(kMaxNames);
  return causes;
}

}  // namespace

void AddChild(ChangeNode child, ChangeNode& parent) {
  parent.base += child.base;
  parent.comparison += child.comparison;
  parent.children.push_back(std::move(child));
}

void AddRest(std::string_view kind, std::string_view name, ChangeNode& parent) {
  ChangeNode left{std::string(kind), std::string(name), parent.base, parent.comparison};
  for (const ChangeNode& child : parent.children) {
    left.base -= child.base;
    left.comparison -= child.comparison;
  }
  parent.children.push_back(std::move(left));
}

std::vector<ChangeNode> CategoriesOf(const ChangeNode& whole) {
  if (whole.children.empty()) return {};
  Nodes nodes;
  CollectCategories(whole, nodes);
  SortLargestFirst(nodes);
  std::stable_partition(nodes.begin(), nodes.end(),
                        [](const ChangeNode* node) { return node->kind != kRemainder; });
  std::vector<ChangeNode> categories;
  categories.reserve(nodes.size());
  for (const ChangeNode* node : nodes) categories.push_back(*node);
  return categories;
}

std::string GrowthText(TimeNs base, TimeNs comparison) {
  const double growth = 100.0 * static_cast<double>(comparison - base) / static_cast<double>(base);
  if (growth >= 1000) return ">999";
  return std::abs(growth) < 0.05 ? "0.0" : fmt::format("{:+.1f}", growth);
}

std::string GrowthOf(TimeNs base, TimeNs comparison) {
  if (base <= 0) return "";
  return comparison == 0 ? Say("gone") : GrowthText(base, comparison) + " %";
}

std::vector<ChangeLine> SummariseChange(const ChangeNode& whole, const AmountScale& scale) {
  if (whole.is_noise || whole.children.empty()) return {};
  Summary summary(scale);
  summary.AddWhole(whole);
  return summary.Take();
}

std::vector<std::string> ChangeLines(const std::vector<ChangeLine>& lines, const AmountScale& scale,
                                     std::size_t width) {
  constexpr std::size_t kMin = 16;
  std::vector<std::string> texts;
  for (const ChangeLine& line : lines) {
    const std::string before =
        fmt::format("{:{}}{} {} ", "", 2 * line.level, scale.Signed(line.rounded), scale.unit());
    // One pair of brackets is enough.
    const std::string_view close = Translated(")");
    const bool bracketed = line.name.ends_with(close) || line.with_cause.ends_with(close);
    const std::string behind = line.detail.empty() ? ""
                               : bracketed         ? Say(", {}", line.detail)
                                                   : Say(" ({})", line.detail);
    const std::size_t taken = before.size() + ColumnsOf(behind);
    const std::size_t left = width > taken + kMin ? width - taken : kMin;
    const std::string with_cause = Printable(line.with_cause);
    const bool fits = !with_cause.empty() && ColumnsOf(with_cause) <= left;
    const std::string name = CutEnd(ShortenMiddle(Printable(line.name), left), left);
    texts.push_back(before + (fits ? with_cause : name) + behind);
  }
  return texts;
}

namespace {

// "waiting for rank 5 in allreduce" rather goes without its place than without its middle; the
// ranks of "garbage in the step (rank 0)" stay.
std::string ShortCause(const std::string& name, std::size_t most) {
  const std::size_t place = name.find(" in ");
  if (CountCharacters(name) <= most || place > most) return ShortenMiddle(name, most);
  const std::size_t ranks = name.rfind(" (");
  std::string without = name.substr(0, place);
  if (ranks != std::string::npos && ranks > place &&
      CountCharacters(without + name.substr(ranks)) <= most)
    without += name.substr(ranks);
  return without;
}

}  // namespace

std::string ChangeCauses(const ChangeNode& whole, const AmountScale& scale, std::int64_t rounded,
                         std::size_t width, std::int64_t least_rest) {
  const std::vector<Cause> causes = CausesOf(whole, scale);
  const std::string unit = scale.unit().empty() ? "" : fmt::format(" {}", scale.unit());
  const auto text_of = [&](std::size_t count, auto name_of, bool with_rest) {
    std::string text;
    std::int64_t rest = rounded;
    const auto add = [&](std::int64_t amount, const std::string& name) {
      text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ", scale.Signed(amount), unit, name);
    };
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t amount = scale.Rounded(causes[i].node->Change());
      add(amount, name_of(causes[i]));
      rest -= amount;
    }
    if (with_rest && std::abs(rest) >= least_rest) add(rest, Say("other"));
    return text;
  };
  constexpr std::size_t kWidths[] = {kMaxNameLength, 32, 24, 20, 16};
  for (const bool with_rest : {true, false}) {
    for (std::size_t count = causes.size(); count > 0; --count) {
      std::vector<std::string> texts = {text_of(
          count, [](const Cause& cause) { return cause.with_cause; }, with_rest)};
      for (const std::size_t most : kWidths) {
        texts.push_back(text_of(
            count, [most](const Cause& cause) { return ShortCause(cause.name, most); }, with_rest));
      }
      for (std::string& text : texts) {
        if (ColumnsOf(text) <= width) return std::move(text);
      }
    }
  }
  return "";
}

}  // namespace mpa
