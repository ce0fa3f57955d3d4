// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "recipes/module_statistic/module_screen.h"

namespace mpa {
namespace {

using ListTexts = std::vector<std::string>;

constexpr TimeNs kListMs = 1'000'000;

// Ranks with modules "Net" and "Net/Linear" and work outside of them, in ms.
class ListRanks {
 public:
  void Add(TimeNs net, TimeNs linear, TimeNs outside) {
    ModuleStatistic& statistic = statistics_.emplace_back();
    statistic.source = ModuleSource::kMstxRanges;
    statistic.rows.push_back(Row("", "Net", net * kListMs));
    statistic.rows.push_back(Row("Net", "Linear", linear * kListMs));
    statistic.coverage.in_modules = (net + linear) * kListMs;
    statistic.coverage.outside_modules = outside * kListMs;
  }
  void AddModule(const std::string& name, TimeNs time) {
    statistics_.back().rows.push_back(Row("", name, time * kListMs));
    statistics_.back().coverage.in_modules += time * kListMs;
  }
  void AddCollectives(TimeNs time) { statistics_.back().coverage.collectives = time * kListMs; }
  ListTexts List() const {
    std::vector<OfRank<ModuleStatistic>> ranks;
    for (const ModuleStatistic& statistic : statistics_) {
      ranks.push_back({static_cast<std::int64_t>(ranks.size()), statistic});
    }
    return TextsOf(ModuleList(ranks));
  }

 private:
  static ModuleStatisticRow Row(const char* parent, const std::string& module, TimeNs total) {
    ModuleStatisticRow row;
    row.parent = parent;
    row.module = module;
    row.total = row.computed = total;
    return row;
  }
  std::deque<ModuleStatistic> statistics_;
};

TEST(ModuleList, AddsUpToAllKernelsOfARank) {
  ListRanks ranks;
  ranks.Add(2000, 5000, 3000);
  EXPECT_EQ(ranks.List(),
            (ListTexts{"rank 0: kernels take 10.00 s, 70.0 % in modules (mstx ranges)",
                       "share                                s  own time",
                       "##########            50.0 %      5.00  Net/Linear",
                       "####                  20.0 %      2.00  Net",
                       "######                30.0 %      3.00  (outside of modules)"}));
}

// Collectives take time, but are no kernels.
TEST(ModuleList, TellsTheTimeOfCollectivesApart) {
  ListRanks ranks;
  ranks.Add(2000, 5000, 3000);
  ranks.AddCollectives(90000);
  const ListTexts lines = ranks.List();
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "rank 0: kernels take 10.00 s, 70.0 % in modules (mstx ranges)");
  EXPECT_EQ(lines[1], "collectives take 90.00 s more; the list has kernels only");
}

TEST(ModuleList, HasTheSpreadOverRanksAndWhoStandsOut) {
  ListRanks ranks;
  for (int rank = 0; rank < 4; ++rank) ranks.Add(2000, rank == 2 ? 10000 : 5000, 3000);
  // All ranks: 25 of 45 s in Net/Linear, 8 in Net, 12 outside.
  EXPECT_EQ(
      ranks.List(),
      (ListTexts{"4 ranks: kernels take 10.00 s (median), 73.3 % in modules (mstx ranges)",
                 "share                median      min      max of rank  own time (s)",
                 "######      55.6 %     5.00     5.00    10.00       2  Net/Linear",
                 "##          17.8 %     2.00     2.00     2.00       0  Net",
                 "###         26.7 %     3.00     3.00     3.00       0  (outside of modules)",
                 "########## 100.0 %    10.00    10.00    15.00       2  all kernels",
                 "stands out: rank 2, Net/Linear: 10.00 s instead of 5.00 s (+100.0 %)"}));
}

TEST(ModuleList, PutsSmallModulesTogether) {
  ListRanks ranks;
  ranks.Add(1000, 1000, 0);
  for (int i = 0; i < 10; ++i) ranks.AddModule(fmt::format("M{}", i), 100);
  const ListTexts lines = ranks.List();
  EXPECT_EQ(lines.size(), 2 + 10 + 2u);
  EXPECT_NE(lines[12].find("(2 smaller modules)"), std::string::npos) << lines[12];
  EXPECT_NE(lines[12].find("200.0"), std::string::npos) << lines[12];
}

TEST(ModuleList, IsEmptyWithoutKernels) {
  ListRanks ranks;
  ranks.Add(0, 0, 0);
  EXPECT_TRUE(ranks.List().empty());
}

}  // namespace
}  // namespace mpa
