// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mpa/recipe/recipe.h"
#include "support/rank_builder.h"

namespace mpa::recipes::free_analysis {
namespace {

constexpr TimeNs kUs = 1000;

const Recipe& FreeAnalysis() {
  return *std::find_if(AllRecipes().begin(), AllRecipes().end(),
                       [](const Recipe& recipe) { return recipe.name == "free_analysis"; });
}

std::vector<std::string> LinesOf(const RankTrace& trace) {
  Report report;
  FreeAnalysis().reduce({{0, FreeAnalysis().map(trace, {})}}, {},
                        {.sheets = false, .documents = false}, report);
  return TextsOf(report.lines);
}

// One thread does one thing after the other, until it launches a kernel at 545 us that begins 10 us
// after the launch, at 575. Of the 575 us the eight largest causes take 520, the rest is garbage
// collection (25), the launch (20) and its latency (10).
TEST(FreeAnalysisScreen, ShowsEightCausesAndTheSumOfTheOthers) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Step(7, 0, 1000 * kUs);
  rank.Op("ProfilerStep#7", 0, 1000 * kUs, thread);
  TimeNs begin = 100 * kUs;  // only the mark before
  const std::vector<std::pair<const char*, TimeNs>> ops = {
      {"aten::add", 90},
      {"c10d::allreduce_", 80},
      {"cudaMalloc", 70},
      {"cudaStreamSynchronize", 60},
      {"cuModuleLoadData", 50},
      {"torch.save", 40},
      {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 30}};
  for (const auto& [name, us] : ops) {
    rank.Op(name, begin, begin + us * kUs, thread);
    begin += us * kUs;
  }
  rank.trace.garbage_collections.Append({.start = begin, .dur = 25 * kUs});
  rank.trace.host_calls.Append({.start = 545 * kUs,
                                .dur = 20 * kUs,
                                .name = rank.Text("Node@launch"),
                                .track = thread,
                                .connection = 5});
  rank.KernelAt(575 * kUs, 1000 * kUs);
  rank.Task("KERNEL_AIVEC", 575 * kUs, 1000 * kUs, 2);
  rank.trace.device_tasks.connection.back() = 5;
  const std::vector<std::string> lines = LinesOf(rank.trace);
  ASSERT_GE(lines.size(), 12u);
  const std::vector<std::string> causes = {
      "host not recorded", "operator calls", "launching collectives",
      "allocation",        "synchronising",  "compiling",
      "checkpoint",        "data loader"};
  for (std::size_t i = 0; i < causes.size(); ++i) {
    EXPECT_TRUE(lines[i + 3].starts_with("  " + causes[i] + "  ")) << lines[i + 3];
  }
  EXPECT_TRUE(lines[3].ends_with(" 17.4 %         0.100 ms")) << lines[3];
  EXPECT_TRUE(lines[10].ends_with(" 5.2 %         0.030 ms")) << lines[10];
  EXPECT_TRUE(lines[11].starts_with("  others  ")) << lines[11];
  EXPECT_TRUE(lines[11].ends_with(" 9.6 %         0.055 ms")) << lines[11];
}

}  // namespace
}  // namespace mpa::recipes::free_analysis
