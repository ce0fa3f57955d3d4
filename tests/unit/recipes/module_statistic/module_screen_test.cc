// SPDX-License-Identifier: Apache-2.0
#include "recipes/module_statistic/module_screen.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

using Texts = std::vector<std::string>;

ModuleStatisticRow RowOf(const char* parent, const char* module, TimeNs total) {
  ModuleStatisticRow row;
  row.parent = parent;
  row.module = module;
  row.total = row.computed = total;
  return row;
}

constexpr TimeNs kScreenMs = 1'000'000;

TEST(ModuleScreen, ShowsModulesWithinThoseAroundThemTheLargestFirst) {
  EXPECT_EQ(
      TextsOf(ModuleScreen({RowOf("Net", "Linear", kScreenMs), RowOf("Net", "Linear", kScreenMs),
                            RowOf("", "Net", kScreenMs), RowOf("Net", "Conv", 5 * kScreenMs),
                            RowOf("", "Loss", 2 * kScreenMs)},
                           10)),
      (Texts{"################      80.0 %      8.00 ms  Net",
             "##########            50.0 %      5.00 ms    Conv",
             "####                  20.0 %      2.00 ms    Linear",
             "####                  20.0 %      2.00 ms  Loss"}));
}

TEST(ModuleScreen, CountsTheModulesThatFindNoRoom) {
  EXPECT_EQ(ModuleScreen({RowOf("", "A", 3), RowOf("", "B", 2), RowOf("", "C", 1)}, 1).back(),
            "... and 2 smaller modules");
}

TEST(ModuleScreen, IsEmptyWithoutModules) { EXPECT_TRUE(ModuleScreen({}, 5).empty()); }

TEST(ModuleScreen, TakesModulesWithoutTime) {
  EXPECT_EQ(TextsOf(ModuleScreen({RowOf("", "A", 0)}, 5)),
            Texts{"                       0.0 %         0 ns  A"});
}

}  // namespace
}  // namespace mpa
