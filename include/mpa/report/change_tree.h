// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/report/amount.h"
#include "mpa/report/page.h"

/// What a change is made of: one tree for every command that compares, and one rule for what is
/// shown of it.
namespace mpa {

/// A part of a time on both sides (ns), or something that ran in it. Where it has children, these
/// add up to it on both sides.
struct ChangeNode {
  std::string kind;  ///< "component", "kernel", "collective", "operator", "host", "remainder"
  std::string name;
  TimeNs base = 0, comparison = 0;
  std::int64_t base_count = 0, comparison_count = 0;  ///< calls; 0: not counted
  bool is_noise = false;  ///< the change is not above the noise of what it is a part of
  std::string category =
      {};                  ///< of the accounting, "free.sync.scalar"; empty: it is of no category
  std::string cause = {};  ///< what is behind the change, for people
  std::vector<ChangeNode> children = {};

  TimeNs Change() const { return comparison - base; }
};

/// Adds the child, and its times to those of the parent.
void AddChild(ChangeNode child, ChangeNode& parent);

/// Adds what the children leave of the parent as one of them.
void AddRest(std::string_view kind, std::string_view name, ChangeNode& parent);
/// The kind of a remainder, which is never named as a cause.
inline constexpr std::string_view kRemainder = "remainder";

/// The names in the tree that changed, the largest change first. A remainder comes last, and is
/// there even if it is 0.
std::vector<ChangeNode> CategoriesOf(const ChangeNode& whole);

/// From the base by the largest changes to the comparison, in ms.
PageChart ChangeChart(const ChangeNode& whole);

/// In percent, without the sign for it: "+3.5", "0.0", ">999".
std::string GrowthText(TimeNs base, TimeNs comparison);
/// "+3.5 %"; empty where there was nothing to grow.
std::string GrowthOf(TimeNs base, TimeNs comparison);

/// A line of a summary. `rounded` is in steps of the last decimal of the scale.
struct ChangeLine {
  std::size_t level = 0;
  std::int64_t rounded = 0;
  std::string name, detail;
  std::string with_cause;  ///< the name with what is behind it, where that is known
};

/// What the change of `whole` is made of, the largest part first: a few names if these explain 80 %
/// of it; else its children, each explained in the same way; else that it is spread over so many
/// kinds, with the largest of them. The lines of a level add up, as rounded, to the line above
/// them; those of the first to the change of `whole`. Parts that are noise are in sums only; empty
/// where the whole is.
std::vector<ChangeLine> SummariseChange(const ChangeNode& whole, const AmountScale& scale);

/// "  +20.00 ms MatMulV2 (42 kernels, +7.4 %)": the lines as text. Where a line is longer than
/// `width` characters, the cause is left out, then the name gives way in the middle.
std::vector<std::string> ChangeLines(const std::vector<ChangeLine>& lines, const AmountScale& scale,
                                     std::size_t width);

/// The same in one line for at most three causes: "+15.0 ms exposed allreduce, +3.0 ms MatMulV2,
/// +1.0 ms other". The amounts add up to `rounded`. With little room names are shortened, then
/// causes are left out; empty where not even one fits, or nothing has changed.
/// `least_rest`: a smaller rest is not told, as rounded.
std::string ChangeCauses(const ChangeNode& whole, const AmountScale& scale, std::int64_t rounded,
                         std::size_t width, std::int64_t least_rest = 1);

}  // namespace mpa
