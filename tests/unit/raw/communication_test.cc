// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mpa/raw/summaries.h"

namespace mpa::raw {
namespace {

constexpr std::int64_t kAbsent = 0xFFFFFFFF;
constexpr std::int64_t kOnChip = 0, kHccs = 1, kPcie = 2, kHccsSwitch = 5;
constexpr std::int64_t kSdma = 0, kRdma = 1, kLocal = 2;

/// A session of collectives that are made up part by part.
struct Planted {
  Session session;

  void Collective(std::string_view name, TimeNs start) {
    session.collectives.Append({.start = start,
                                .name = session.strings.Intern(name),
                                .group = session.strings.Intern("17")});
  }

  struct Part {
    std::string_view name;
    TimeNs start = 0, dur = 0;
    std::int64_t bytes = 0, remote = kAbsent, link = 255, transport = kLocal, rdma = kAbsent;
    std::int64_t plane = 0;
    bool master = true;
  };
  void Add(const Part& part) {
    session.parts.Append({.task = static_cast<std::int32_t>(session.tasks.Size()),
                          .collective = static_cast<std::int32_t>(session.collectives.Size()) - 1,
                          .name = session.strings.Intern(part.name),
                          .plane = part.plane,
                          .master = part.master,
                          .local_rank = 3,
                          .remote_rank = part.remote,
                          .bytes = part.bytes,
                          .transport = part.transport,
                          .link = part.link,
                          .rdma = part.rdma});
    session.tasks.Append({{.start = part.start, .dur = part.dur}, {.end = part.start + part.dur}});
  }
  void Copy(TimeNs start, TimeNs dur, std::int64_t bytes, std::int64_t remote, std::int64_t link,
            std::int64_t plane = 0) {
    Add({.name = "Memcpy",
         .start = start,
         .dur = dur,
         .bytes = bytes,
         .remote = remote,
         .link = link,
         .transport = kSdma,
         .plane = plane,
         .master = plane == 0});
  }
};

/// 3 steps of host counters are not needed: all is in the single step of a capture without steps.
CommunicationStep Only(const Session& session) {
  const std::vector<CommunicationStep> steps = SummariseCommunication(session);
  EXPECT_EQ(steps.size(), 1U);
  return steps.empty() ? CommunicationStep{} : steps.front();
}

TEST(SummariseCommunication, TimesAreThoseOfThePlaneOfTheFirstMaster) {
  Planted planted;
  planted.Collective("hcom_allReduce__017_0_1", 1'000'000);
  planted.Add({.name = "Notify_Wait", .start = 1'000'000, .dur = 100'000});
  planted.Copy(1'000'000, 900'000, 1'000'000, 4, kHccs, 1);
  planted.Copy(1'200'000, 200'000, 1'000'000, 4, kHccs);
  planted.Copy(1'400'000, 50'000, 1'000'000, kAbsent, kOnChip);
  planted.Add({.name = "Notify_Wait", .start = 1'500'000, .dur = 300'000});
  const CommunicationStep step = Only(planted.session);
  EXPECT_EQ(step.step, "step");
  ASSERT_EQ(step.collective.size(), 2U);
  const CommunicationTime& time = step.collective[0].time;
  EXPECT_DOUBLE_EQ(time.start_us, 1000);
  EXPECT_DOUBLE_EQ(time.elapse, 0.8);
  EXPECT_DOUBLE_EQ(time.transit, 0.2);
  EXPECT_DOUBLE_EQ(time.wait, 0.4);
  EXPECT_DOUBLE_EQ(time.synchronization, 0.1);
  EXPECT_NEAR(time.idle, 0.2, 1e-12);
  EXPECT_DOUBLE_EQ(time.wait_ratio, 0.6667);
  EXPECT_DOUBLE_EQ(time.synchronization_ratio, 0.3333);
  EXPECT_TRUE(step.p2p.empty());
}

TEST(SummariseCommunication, LinksCountAllPlanesAndNoCopyWithinTheChip) {
  Planted planted;
  planted.Collective("hcom_allReduce__017_0_1", 0);
  planted.Copy(0, 1'000'000, 64'000'000, 4, kHccs);
  planted.Copy(0, 500'000, 16'000'000, 5, kHccsSwitch, 1);
  planted.Copy(0, 500'000, 16'000'000, 6, kPcie, 2);
  planted.Copy(0, 500'000, 16'000'000, kAbsent, kOnChip);
  const CommunicationStep step = Only(planted.session);
  ASSERT_FALSE(step.collective.empty());
  const auto& links = step.collective[0].links;
  ASSERT_EQ(links.size(), 5U);
  const LinkUse& hccs = links.at(LinkKind::kHccs);
  EXPECT_DOUBLE_EQ(hccs.megabytes, 80);
  EXPECT_DOUBLE_EQ(hccs.milliseconds, 1.5);
  EXPECT_DOUBLE_EQ(hccs.bandwidth, 53.3333);
  EXPECT_DOUBLE_EQ(hccs.large_packet_ratio, 0.5);  // 64 MB are more than 32 MB
  EXPECT_EQ(hccs.sizes.at(16).first, 1);
  EXPECT_DOUBLE_EQ(hccs.sizes.at(16).second, 0.5);
  EXPECT_DOUBLE_EQ(links.at(LinkKind::kPcie).bandwidth, 32);
  const LinkUse& sdma = links.at(LinkKind::kSdma);
  EXPECT_DOUBLE_EQ(sdma.megabytes, 96);
  EXPECT_DOUBLE_EQ(sdma.bandwidth, 48);
  EXPECT_TRUE(sdma.sizes.empty());
  EXPECT_EQ(links.at(LinkKind::kRdma).megabytes, 0);
}

void AddRdma(Planted& planted, TimeNs start, int closing) {
  planted.Add({.name = "RDMASend",
               .start = start,
               .dur = 10'000,
               .bytes = 1'000'000,
               .remote = 7,
               .link = 3,
               .transport = kRdma,
               .rdma = 1});
  for (int i = 0; i < closing; ++i) {
    planted.Add({.name = i % 2 == 0 ? "RDMASend" : "Notify_Wait",
                 .start = start + (i + 1) * 100'000,
                 .dur = 50'000,
                 .rdma = 0});
  }
}

TEST(SummariseCommunication, AnRdmaTransferEndsWithItsWaits) {
  Planted planted;
  planted.Collective("hcom_send__017_0_1", 0);
  AddRdma(planted, 0, 2);
  const CommunicationStep step = Only(planted.session);
  EXPECT_TRUE(step.collective.empty());
  ASSERT_EQ(step.p2p.size(), 2U);
  EXPECT_DOUBLE_EQ(step.p2p[0].time.transit, 0.25);
  EXPECT_EQ(step.p2p[0].time.wait, 0);
  EXPECT_DOUBLE_EQ(step.p2p[0].links.at(LinkKind::kRdma).bandwidth, 4);
  EXPECT_DOUBLE_EQ(step.p2p[0].links.at(LinkKind::kRdma).large_packet_ratio, 1);
}

TEST(SummariseCommunication, AnRdmaTransferWithoutItsEndIsLeftOut) {
  Planted planted;
  planted.Collective("hcom_allReduce__017_0_1", 0);
  AddRdma(planted, 0, 3);  // of 4
  const CommunicationStep step = Only(planted.session);
  ASSERT_FALSE(step.collective.empty());
  EXPECT_EQ(step.collective[0].time.transit, 0);
  EXPECT_DOUBLE_EQ(step.collective[0].time.wait, 0.05);
  EXPECT_TRUE(step.collective_matrix.empty());
}

TEST(SummariseCommunication, TheTotalAddsUpTheOperationsOfTheStep) {
  Planted planted;
  for (const TimeNs start : {0, 10'000'000}) {
    planted.Collective("hcom_allGather__017_0_1", start);
    planted.Copy(start, 1'000'000, 8'000'000, 4, kHccs);
  }
  const CommunicationStep step = Only(planted.session);
  ASSERT_EQ(step.collective.size(), 3U);
  const CommunicationOp& total = step.collective.back();
  EXPECT_EQ(total.name, "Total Op Info");
  EXPECT_EQ(total.group, "");
  EXPECT_DOUBLE_EQ(total.time.transit, 2);
  EXPECT_EQ(total.links.at(LinkKind::kHccs).sizes.at(8).first, 2);
}

TEST(SummariseCommunication, OperationsBelongToTheStepInWhoseDeviceTimeTheyStart) {
  Planted planted;
  for (const TimeNs start : {100, 2100, 5000}) {
    planted.Collective("hcom_allGather__017_0_1", start);
    planted.Copy(start, 10, 8'000'000, 4, kHccs);
  }
  planted.session.steps.Append({.id = 5, .device_start = 0, .device_end = 1000});
  planted.session.steps.Append({.id = 6});  // launched nothing
  planted.session.steps.Append({.id = 7, .device_start = 2000, .device_end = 3000});
  const std::vector<CommunicationStep> steps = SummariseCommunication(planted.session);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].step, "step5");
  EXPECT_EQ(steps[0].collective.size(), 2U);
  EXPECT_EQ(steps[1].step, "step7");
  EXPECT_EQ(steps[1].collective.size(), 2U);
}

TEST(SummariseCommunication, TheMatrixNamesTheFastestMiddleAndSlowestOperation) {
  Planted planted;
  const std::vector<std::int64_t> durations = {2'000'000, 1'000'000, 4'000'000};
  for (std::size_t i = 0; i < durations.size(); ++i) {
    const auto start = static_cast<TimeNs>(i) * 10'000'000;
    planted.Collective("hcom_reduceScatter__017_" + std::to_string(i) + "_1", start);
    planted.Copy(start, durations[i], 8'000'000, 4, kHccs);
  }
  const CommunicationStep step = Only(planted.session);
  std::vector<std::string> found;
  for (const MatrixEntry& entry : step.collective_matrix) {
    found.push_back(fmt::format("{} {}-{} {} {} {} {}", entry.name, entry.source, entry.destination,
                                entry.transport, entry.milliseconds, entry.bandwidth, entry.op));
  }
  EXPECT_EQ(found,
            (std::vector<std::string>{"reduce-top1 3-4 HCCS 1 8 hcom_reduceScatter__017_1_1",
                                      "reduce-middle 3-4 HCCS 2 4 hcom_reduceScatter__017_0_1",
                                      "reduce-bottom1 3-4 HCCS 4 2 hcom_reduceScatter__017_2_1",
                                      "reduce-total 3-4 HCCS 7 3.4286 ",
                                      "reduce-bottom2 3-4 HCCS 2 4 hcom_reduceScatter__017_0_1",
                                      "reduce-bottom3 3-4 HCCS 1 8 hcom_reduceScatter__017_1_1"}));
}

TEST(SummariseCommunication, ACopyWithoutPeerIsLocal) {
  Planted planted;
  planted.Collective("hcom_broadcast__017_0_1", 0);
  planted.Copy(0, 1'000'000, 8'000'000, kAbsent, kOnChip);
  const CommunicationStep step = Only(planted.session);
  ASSERT_FALSE(step.collective_matrix.empty());
  EXPECT_EQ(step.collective_matrix[0].transport, "LOCAL");
  EXPECT_EQ(step.collective_matrix[0].source, 3);
  EXPECT_EQ(step.collective_matrix[0].destination, 3);
}

}  // namespace
}  // namespace mpa::raw
