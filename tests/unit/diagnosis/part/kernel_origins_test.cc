// SPDX-License-Identifier: Apache-2.0
// Which operator of the host asked for a kernel.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "mpa/diagnosis/part/part.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using KernelsOfOperators =
    std::vector<std::pair<TimeNs, std::string>>;  // start of the kernel, operator

KernelsOfOperators OriginsIn(const RankTrace& trace, bool explains = true) {
  const RankDiagnosis part = MakeRankDiagnosis(trace, explains);
  KernelsOfOperators found;
  for (const KernelOrigin& origin : part.origins)
    found.emplace_back(part.graph.nodes.at(origin.node).start, part.names.at(origin.op));
  return found;
}

// A module calls an operator, which calls another one. That one puts work into the queue at 50, and
// a thread launches the kernel behind it. Another operator runs on that thread then.
TEST(KernelOrigins, AreTheInnermostOperatorsThatAsked) {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1), queue = rank.Thread(2);
  rank.Op("ProfilerStep#1", 0, 1'000, main);
  rank.Op("aten::linear", 10, 200, main);
  rank.Op("aten::addmm", 20, 100, main);
  rank.Op("aclnnAddmm", 30, 90, main);  // below the framework
  rank.Op("other", 300, 900, queue);
  rank.Launch(7, 20, main);
  rank.Queued(50, main, 400, 600, queue);
  rank.trace.kernels.link[rank.KernelAt(1'500, 1'600)] = 7;
  rank.KernelAt(2'000, 2'100);  // of which no launch is recorded
  EXPECT_EQ(OriginsIn(rank.trace), (KernelsOfOperators{{1'500, "aten::addmm"}}));
  EXPECT_TRUE(OriginsIn(rank.trace, false).empty()) << "nobody asked";
}

}  // namespace
}  // namespace mpa
