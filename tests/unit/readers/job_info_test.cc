// SPDX-License-Identifier: Apache-2.0
#include "readers/job_info.h"

#include <gtest/gtest.h>

namespace mpa::readers {
namespace {

nlohmann::json Groups(int count) {
  nlohmann::json groups = nlohmann::json::object();
  for (int i = 0; i < count; ++i) {
    groups["group_" + std::to_string(i)] = {{"group_name", "tp"}, {"global_ranks", {0, 1}}};
  }
  return groups;
}

// Each group compared with each other would take minutes.
TEST(JobInfo, ManyGroupsTakeNoTime) {
  constexpr int kGroups = 100'000;
  JobInfo job;
  AddJobGroups(Groups(kGroups), job);
  AddJobGroups(Groups(kGroups), job);
  ASSERT_EQ(job.groups.size(), static_cast<std::size_t>(kGroups)) << "each once";
  EXPECT_EQ(std::vector<RankId>(job.groups.front().ranks), (std::vector<RankId>{0, 1}));

  RankTrace trace;
  for (int i = 0; i < kGroups; i += 5) {
    const std::string name = "group_" + std::to_string(i);
    trace.comm_groups.Append(
        {.name = trace.strings.Intern(i % 2 == 0 ? name : "Group " + name + " Communication")});
  }
  NameProcessGroups(Groups(kGroups), trace);
  for (std::size_t i = 0; i < trace.comm_groups.Size(); ++i) {
    ASSERT_EQ(trace.comm_groups.ranks[i], 2) << i;
    ASSERT_EQ(trace.strings.View(trace.comm_groups.process_group[i]), "tp");
  }
}

}  // namespace
}  // namespace mpa::readers
