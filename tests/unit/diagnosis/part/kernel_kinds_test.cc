// SPDX-License-Identifier: Apache-2.0
// What is known of kernels of one kind.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "mpa/diagnosis/part/part.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

TEST(KernelKinds, TellWhatRunsOnVectorCoresAlone) {
  test::RankBuilder rank;
  const std::map<std::string, std::string> cores = {
      {"Cube", "AI_CORE"},  {"Vector", "AI_VECTOR_CORE"}, {"OfDatabase", "KERNEL_AIVEC"},
      {"Mixed", "MIX_AIV"}, {"Host", "AI_CPU"},           {"Unknown", ""}};
  TimeNs time = 0;
  for (const auto& [type, core] : cores) {
    const std::size_t kernel = rank.KernelAt(time, time + 10, type);
    rank.trace.kernels.op_type[kernel] = rank.Text(type);
    rank.trace.kernels.core[kernel] = rank.Text(core);
    time += 10;
  }
  const RankDiagnosis part = MakeRankDiagnosis(rank.trace);
  ASSERT_EQ(part.kinds.size(), cores.size());
  for (const KernelKind& kind : part.kinds) {
    const std::string& type = part.names[kind.type];
    EXPECT_EQ(kind.on_vector_cores, type == "Vector" || type == "OfDatabase") << type;
  }
}

}  // namespace
}  // namespace mpa
