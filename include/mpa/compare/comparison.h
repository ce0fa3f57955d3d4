// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/on_demand.h"
#include "mpa/base/rank.h"
#include "mpa/capture/ability.h"
#include "mpa/measure/kernel_masks.h"
#include "mpa/measure/op_tree.h"
#include "mpa/model/rank_trace.h"
#include "mpa/report/report.h"

/// The analyses of `compare`: each looks at both captures and writes sheets.
namespace mpa {

/// Both sides, in their order.
inline constexpr std::array kSides = {Side::kBase, Side::kComparison};

/// Operators by name, and the name that each is declared equal to.
using OpNames = std::map<std::string, std::string, std::less<>>;

/// What the user chose for the sheets.
struct CompareOptions {
  bool details = true;            ///< sheets with a row for each pair of operators, modules, ...
  bool modules = true;            ///< module sheets instead of operator sheets where both sides can
  bool match_shapes = false;      ///< operators match when their shapes do, too
  bool kernel_types = false;      ///< kernels summed by type and core instead of type and shapes
  bool compat = false;            ///< rows, cells and screen as the Python tool lays them out
  bool wide_screen = false;       ///< the table of the Python tool on the screen; so with `compat`
  std::size_t screen_width = 80;  ///< characters of the longest line but of that table
  bool one_step = false;          ///< the captures were cut down to one step each
  std::size_t max_kernels = 0;    ///< pairs with more kernels are opened; 0: never
  /// Operators match by the names they are declared equal to, and share a row of the statistics;
  /// with `compat` only one by one, and not the row.
  OpNames op_names;
  KernelMasks masks;  ///< sort kernels into categories
};

/// Operators that belong together, as rows of the two rank's host operators; one may be missing.
struct OpPair {
  std::optional<std::uint32_t> base, comparison;
};

/// Two captures and what several analyses compute from them, each once and when it is first asked
/// for. Safe to use from several threads.
class CompareInput {
 public:
  CompareInput(const RankTrace& base, std::string base_path, const RankTrace& comparison,
               std::string comparison_path, CompareOptions options);
  CompareInput(const CompareInput&) = delete;
  CompareInput& operator=(const CompareInput&) = delete;

  const RankTrace& Trace(Side side) const { return Of(side).trace; }
  const std::string& Path(Side side) const { return Of(side).path; }
  const CompareOptions& options() const { return options_; }

  /// The operators as trees, with the device work they launched. Needs host operators, launches,
  /// kernels, device tasks and communications.
  const OpTree& Ops(Side side) const { return *Of(side).ops; }
  /// The top operators of both sides, matched in order of their starts and opened as the options
  /// say. Without details all operators of the base, then all of the comparison.
  const std::vector<OpPair>& MatchedOps() const { return *matched_; }

 private:
  struct Capture {
    Capture(const RankTrace& trace, std::string path);
    const RankTrace& trace;
    std::string path;
    OnDemand<OpTree> ops;
  };
  const Capture& Of(Side side) const { return side == Side::kBase ? base_ : comparison_; }

  Capture base_, comparison_;
  CompareOptions options_;
  OnDemand<std::vector<OpPair>> matched_;
};

/// An analysis of two captures. `run` appends its sheets to the report, and a note with the reason
/// and the remedy for a sheet that cannot be made; it depends on its arguments only and runs beside
/// the others. Rows may be made when they are read: the input has to outlive them.
struct Comparison {
  std::string_view name;     ///< of its option: "kernel" for --enable_kernel_compare
  std::string_view title;    ///< in `check`: "kernels"
  std::string_view summary;  ///< one line for --help
  Tables needs{};            ///< the loader reads nothing else
  void (*run)(const CompareInput& input, Report& report);
  Verdict (*can_run)(const RankFacts& facts);  ///< what it can do with a capture, for `check`
};

/// The end-to-end time of a rank in both captures; 0 where nothing ran on its device.
struct RankTotals {
  RankId rank{};
  TimeNs base = 0, comparison = 0;

  TimeNs Change() const { return comparison - base; }
};

/// The screen of several ranks: both jobs, and the totals of those that changed most, in order of
/// their numbers.
ScreenTable RanksScreen(const std::string& base_path, const std::string& comparison_path,
                        std::vector<RankTotals> totals, std::size_t width);

/// What the screen adds to the story of the report: of each list of sums the rows that changed
/// most, in lines of that width. A list that the user asked for has ten rows, any other three, of
/// those whose change matters. The story itself names kernels and collectives.
std::vector<ScreenTable> ChangedLists(const Report& report, bool asked, std::size_t width);

/// Every analysis, in the order of their sheets.
const std::vector<Comparison>& AllComparisons();

/// The first sheet of the workbook of two captures: the verdict of the screen, the ten largest
/// changes with the rows that have their details, and the parts of the step. Without a verdict, the
/// ten rows of a sheet that differ most. `report` holds the story, the change and all sheets.
WorkbookSummary SummariseComparison(const Report& report);

}  // namespace mpa
