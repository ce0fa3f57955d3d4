// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/compare/comparison.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/overall_metrics.h"
#include "mpa/report/report.h"

namespace mpa {

/// The same communication group in two captures; one may lack it.
struct GroupPair {
  const GroupTime* base = nullptr;
  const GroupTime* comparison = nullptr;
  bool by_process_group = false;  ///< the job's own name for it made the pair
};

/// The groups of both sides, those of the base first. Groups match by the job's name for them where
/// no other group of the side has it, then by the capture's.
std::vector<GroupPair> MatchGroups(const OverallMetrics& base, const OverallMetrics& comparison);

/// The same for people. Captures may name a group by the time of its creation: what is left over is
/// a pair, too, where each side has one group left.
std::vector<GroupPair> MatchAllGroups(const OverallMetrics& base, const OverallMetrics& comparison);

/// What the group is for, as far as the capture says: "dp (data parallel, 8 ranks)", "group of 8
/// ranks", "the only group". An address comes last, shortened.
std::string GroupMeaning(const OverallMetrics& side, const GroupTime& group);

/// The meaning of the group in the comparison, or in the base if the comparison lacks it.
std::string GroupMeaning(const OverallMetrics& base, const OverallMetrics& comparison,
                         const GroupPair& pair);

/// Categories of kernels that belong together, neighbours in Category.
struct KernelFamily {
  std::string_view name;
  Category first{};
  std::size_t size = 1;
  std::array<std::string_view, 2> halves{};  ///< of two categories

  TimeAndCount Of(const OverallMetrics& side) const;

 private:
  static std::size_t Index(Category category) { return static_cast<std::size_t>(category); }
  std::size_t End() const { return Index(first) + size; }
};

/// The families in order of their rows. MC2 kernels and those that no rule knows are in none.
inline constexpr std::array<std::string_view, 2> kCores = {"Cube", "Vector"};
inline constexpr std::array<KernelFamily, 9> kKernelFamilies = {
    {{"Flash Attention (Forward)", Category::kFlashAttentionForwardCube, 2, kCores},
     {"Flash Attention (Backward)", Category::kFlashAttentionBackwardCube, 2, kCores},
     {"Conv (Forward)", Category::kConvForwardCube, 2, kCores},
     {"Conv (Backward)", Category::kConvBackwardCube, 2, kCores},
     {"Matmul", Category::kMatmulCube, 2, kCores},
     {"Page Attention", Category::kPagedAttention},
     {"Vector", Category::kVectorTrans, 2, {"Trans", "No Trans"}},
     {"Cube", Category::kOtherCube},
     {"SDMA (Tensor Move)", Category::kTensorMove}}};

/// What one side says in one row. A side that lacks the row is 0, and has no number.
struct OverallValue {
  TimeNs time = 0;
  Cell number = NoNumber::kNotCounted;
  bool known = true;
};

/// What groups count twice: a time in the sheet, a negative one on the screen, where it adds up
/// with its neighbours.
inline constexpr const char* kCountedTwice = "counted in two groups";

/// A part of the end-to-end time on both sides.
struct OverallRow {
  std::string label;  ///< in the sheet, with a tab for each level; empty: on the screen alone
  std::string name;   ///< on the screen; empty: in the sheet alone
  int level = 0;
  Emphasis emphasis = Emphasis::kNone;
  OverallValue base, comparison;
};

/// The rows of the overall picture with these groups; those that are 0 on both sides are left out.
/// With `compat` 0 stands for what a side does not tell.
std::vector<OverallRow> OverallRows(const OverallMetrics& base, const OverallMetrics& comparison,
                                    const std::vector<GroupPair>& groups, bool compat);

/// The sheet OverallMetrics of two captures. What a side does not tell is N/A, or 0 with --compat.
Sheet OverallSheet(const CompareInput& input, const OverallMetrics& base,
                   const OverallMetrics& comparison);

/// The same for the screen: the captures, and the parts of the end-to-end time with their changes,
/// in one unit and in lines of the width that the options say.
ScreenTable OverallScreen(const CompareInput& input, const OverallMetrics& base,
                          const OverallMetrics& comparison);

/// The screen of captures without a trace: the captures, and these times of their kernels.
ScreenTable KernelScreen(const CompareInput& input, const std::vector<OverallRow>& kernels,
                         const char* sheet);

/// The screen where a side did nothing on the device: the captures, and that nothing is judged.
ScreenTable OverallWithoutWork(const CompareInput& input, const OverallMetrics& base,
                               const OverallMetrics& comparison);

/// The screen table "Model Profiling Time Distribution", one row for each side. `compat`: with the
/// columns and cells of the Python tool.
ScreenTable OverallWideScreen(const OverallMetrics& base, const OverallMetrics& comparison,
                              bool compat);

/// What changed most: the change of the end-to-end time and of the median step, and what the latter
/// is made of by the account of both captures, as the gate shows it. As printed the lines of a
/// level add up to the one above. Lines have at most the width that the options say. Empty when a
/// side has no device activity. The report gets the same as a picture and as a tree. `accounts`: of
/// the base and of the comparison.
std::vector<std::string> DescribeChanges(const CompareInput& input, const OverallMetrics& base,
                                         const OverallMetrics& comparison,
                                         std::array<RankAccount, 2> accounts, Report& report);

}  // namespace mpa
