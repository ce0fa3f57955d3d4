// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "group_pairs.h"
#include "mpa/measure/overall_metrics.h"
#include "mpa/report/report.h"

namespace mpa {

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

}  // namespace mpa
