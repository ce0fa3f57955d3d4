// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/part/analyzer_rows.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

RankDiagnosis PartThatLost(std::int64_t packets) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) builder.Step().Kernel("MatMulV3", kMs);
  builder.Part().analyzers.lost_packets = packets;
  return builder.Build();
}

TEST(LostPackets, RanksWhosePortsLosePacketsAreNamed) {
  const Diagnosis diagnosis = DiagnoseJob({PartThatLost(0), PartThatLost(7)});
  const Finding* found = FindingWith(diagnosis, "comm.lost_packets");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, std::vector<RankId>{1});
  EXPECT_EQ(MetricIn(*found, "lost_packets"), 7);
  EXPECT_EQ(found->gain, 0);
}

// Totals that were there before the capture, and one that the driver set back.
MPA_REFUTES(LostPackets, TotalsThatDoNotGrowAreNoLoss, "comm.lost_packets");
TEST(LostPackets, TotalsThatDoNotGrowAreNoLoss) {
  test::RankBuilder rank;
  const auto total = [&](std::string_view group, std::string_view name,
                         std::initializer_list<double> values, CounterKind kind) {
    const auto counter = static_cast<std::int32_t>(rank.trace.counters.Size());
    rank.trace.counters.Append({.group = rank.Text(group), .name = rank.Text(name), .kind = kind});
    for (const double value : values)
      rank.trace.counter_samples.Append({.counter = counter, .value = value});
  };
  total("RoCE", "rx errors", {500, 500, 500}, CounterKind::kTotal);
  total("RoCE", "rx dropped", {90, 3}, CounterKind::kTotal);
  total("NIC", "rx dropped", {1, 9}, CounterKind::kTotal);  // what nobody asked for is dropped, too
  total("RoCE", "rx error rate", {1, 9}, CounterKind::kLevel);
  EXPECT_EQ(MakeAnalyzerRows(rank.trace).lost_packets, 0);
  EXPECT_EQ(FindingWith(DiagnoseJob({PartThatLost(0)}), "comm.lost_packets"), nullptr);
  EXPECT_EQ(MakeAnalyzerRows(test::RankBuilder().trace).lost_packets, -1) << "nothing was counted";
  total("RoCE", "tx errors", {1, 4}, CounterKind::kTotal);
  total("Network device", "roceNewPktRty", {10, 12}, CounterKind::kTotal);
  EXPECT_EQ(MakeAnalyzerRows(rank.trace).lost_packets, 5);
}

}  // namespace
}  // namespace mpa
