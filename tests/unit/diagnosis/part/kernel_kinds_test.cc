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

TEST(KernelKinds, TellWhatConverts) {
  struct Case {
    const char *type, *from, *to;
    bool converts;
  };
  for (const Case& of : std::initializer_list<Case>{{"TensorMove", "NCHW", "NCHW", false},
                                                    {"TensorMove", "ND", "FORMAT_ND", false},
                                                    {"TensorMove", "NCHW", "NC1HWC0", true},
                                                    {"TensorMove", "", "", true},
                                                    {"TransData", "NCHW", "FRACTAL_Z", true},
                                                    {"Transpose", "ND;ND", "ND", true}}) {
    test::RankBuilder rank;
    const std::size_t kernel = rank.KernelAt(0, 10, of.type);
    rank.trace.kernels.op_type[kernel] = rank.Text(of.type);
    rank.trace.kernels.input_formats.Stored()[kernel] = rank.Text(of.from);
    rank.trace.kernels.output_formats.Stored()[kernel] = rank.Text(of.to);
    const RankDiagnosis part = MakeRankDiagnosis(rank.trace);
    ASSERT_EQ(part.kinds.size(), 1u);
    EXPECT_EQ(part.kinds[0].converts, of.converts) << of.type << " " << of.from << " " << of.to;
  }
}

}  // namespace
}  // namespace mpa
