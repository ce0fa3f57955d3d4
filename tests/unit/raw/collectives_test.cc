// SPDX-License-Identifier: Apache-2.0
// Collectives made by hand, record by record.
#include <gtest/gtest.h>

#include "mpa/raw/session.h"
#include "raw/made_capture.h"

namespace mpa::raw {
namespace {

using test::MadeCapture;
using test::Put;

constexpr unsigned kNodeLevel = 10000, kCommunication = 5500, kLaunchCall = 5;
constexpr unsigned kMaster = 0x010001, kSlave = 0x010002;
constexpr unsigned kFftsPlus = 52, kCopyTask = 5, kSdmaTask = 11, kSdmaContext = 8;
constexpr std::uint32_t kNone = 0xFFFFFFFF;

/// A capture that knows the names of collectives.
struct Capture : MadeCapture {
  Capture() {
    Add("host/data/aging.additional.type_info_dic.slice_0",
        "5500_65538:slave\n5000_52:FFTS_PLUS\n");
    Add("host/data/aging.additional.hash_dic.slice_0",
        "300:hcom_allReduce_\n301:Memcpy\n302:MESH-RING\n12345678:tp_group\n303:RDMASend\n");
  }

  /// The node range of a collective with its parameters.
  void Collective(std::uint64_t begin, std::uint64_t end) {
    Call(kNodeLevel, kLaunchCall, begin, end, 300);
    Node(end, 300, 9, 300);
    std::string bytes = Record(64, kNodeLevel, 10, end, 26);
    Put(bytes, 24, std::uint8_t{2});
    Put(bytes, 25, std::uint8_t{11});
    Put(bytes, 26, std::uint64_t{302});
    Put(bytes, 34, std::uint64_t{4096});
    Put(bytes, 42, std::uint64_t{12345678});
    Add("host/data/aging.compact.hccl_op_info.slice_0", bytes);
  }

  void Info(std::uint64_t time, unsigned plane, std::uint32_t context, std::uint64_t bytes_moved,
            std::uint64_t name = 301, std::uint32_t rdma = kNone) {
    std::string bytes = Record(256, kCommunication, 0, time, 120);
    Put(bytes, 24, name);
    Put(bytes, 40, std::uint64_t{12345678});
    Put(bytes, 48, std::uint32_t{3});
    Put(bytes, 52, std::uint32_t{4});
    Put(bytes, 56, std::uint32_t{8});
    Put(bytes, 64, static_cast<std::uint32_t>(plane));
    Put(bytes, 68, context);
    Put(bytes, 112, bytes_moved);
    Put(bytes, 128, std::uint32_t{1});
    Put(bytes, 136, rdma);
    Add("host/data/aging.additional.hccl_info.slice_0", bytes);
  }

  void ContextRange(std::uint64_t time, std::uint32_t first, std::uint32_t last) {
    std::string bytes = Record(256, kCommunication, 4, time, 20);
    Put(bytes, 24, std::uint64_t{300});
    Put(bytes, 32, std::uint32_t{2});
    Put(bytes, 36, first);
    Put(bytes, 40, last);
    Add("host/data/aging.additional.context_id_info.slice_0", bytes);
  }

  /// A part that is a task of its own, launched from `begin` on within 100 ns.
  void Part(std::uint64_t begin, unsigned type, unsigned task, std::uint64_t start,
            std::uint64_t end, unsigned plane = 0, std::uint64_t bytes = 0,
            std::uint64_t name = 301, std::uint32_t rdma = kNone) {
    Call(kCommunication, type, begin, begin + 100, name);
    Launch(begin + 50, 5, task, kCopyTask);
    Info(begin + 100, plane, kNone, bytes, name, rdma);
    Task(5, task, kSdmaTask, start, end);
  }

  Session ReadAll() { return ReadSession(Write(), Parts::kCann); }
};

std::string TextOf(const Session& session, StringId id) {
  return std::string(session.strings.View(id));
}

TEST(Collectives, AreTheNodeRangesWithTheirPlainTasks) {
  Capture capture;
  capture.Collective(1000, 2000);
  capture.Part(1100, kMaster, 1, 200, 300, 0, 4'000'000);
  capture.Part(1300, kMaster, 2, 310, 400, 0, 2'000'000);
  capture.Part(1500, kSlave, 3, 150, 900, 1, 1'000'000);
  const Session session = capture.ReadAll();

  ASSERT_EQ(session.collectives.Size(), 1u);
  const Collectives& ops = session.collectives;
  EXPECT_EQ(TextOf(session, ops.name[0]), "hcom_allReduce__678_0_1");
  EXPECT_EQ(TextOf(session, ops.op_type[0]), "hcom_allReduce_");
  EXPECT_EQ(TextOf(session, ops.group[0]), "12345678");
  EXPECT_EQ(TextOf(session, ops.group_name[0]), "tp_group");
  EXPECT_EQ(TextOf(session, ops.algorithm[0]), "MESH-RING");
  EXPECT_EQ(ops.data_type[0], 11);
  EXPECT_EQ(ops.count[0], 4096);
  EXPECT_EQ(ops.relay[0], 0);
  EXPECT_EQ(ops.retry[0], 1);
  EXPECT_EQ(ops.rank_size[0], 8);
  EXPECT_EQ(ops.call[0], 0);
  // The times are those of the master.
  EXPECT_EQ(ops.start[0], MadeCapture::kBegin + 4000);
  EXPECT_EQ(ops.end[0], MadeCapture::kBegin + 8000);
  EXPECT_EQ(ops.dur[0], 4000);

  ASSERT_EQ(session.parts.Size(), 3u);
  EXPECT_EQ(session.parts.master, (std::vector<std::uint8_t>{0, 1, 1}));  // in order of start
  EXPECT_EQ(session.parts.plane, (std::vector<std::int64_t>{1, 0, 0}));
  EXPECT_EQ(TextOf(session, session.parts.name[1]), "Memcpy");
  EXPECT_EQ(session.parts.remote_rank[1], 4);
  EXPECT_EQ(session.parts.link[1], 1);
  EXPECT_DOUBLE_EQ(session.parts.bandwidth[1], 2e12);  // 4 MB in 2 µs
  EXPECT_EQ(session.tasks.kind[0], TaskKind::kCollectivePart);
  EXPECT_EQ(session.tasks.detail[2], 2);
  EXPECT_TRUE(session.kernels.Empty());
}

TEST(Collectives, OfAGroupOfContextsHaveAPartForEach) {
  Capture capture;
  capture.Collective(1000, 2000);
  capture.Call(kCommunication, kMaster, 1100, 1900, 300);
  capture.Launch(1500, 2, 9, kFftsPlus);
  capture.ContextRange(1800, 0, 1);
  capture.Info(1800, 0, 0, 100);
  capture.Info(1800, 1, 1, 200);
  capture.Task(2, 9, 0, 100, 500);
  capture.Context(2, 9, 0, kSdmaContext, 110, 200);
  capture.Context(2, 9, 1, kSdmaContext, 120, 300);
  capture.Context(2, 9, 2, kSdmaContext, 130, 400);  // beyond the range
  const Session session = capture.ReadAll();
  ASSERT_EQ(session.collectives.Size(), 1u);
  EXPECT_EQ(session.collectives.start[0], MadeCapture::kBegin + 2200);
  EXPECT_EQ(session.collectives.end[0], MadeCapture::kBegin + 6000);
  EXPECT_EQ(session.parts.bytes, (std::vector<std::int64_t>{100, 200}));
  EXPECT_EQ(session.parts.plane, (std::vector<std::int64_t>{0, 1}));
}

TEST(Collectives, ARangeOfContextsHidesNoneOfALongerOneBeforeIt) {
  Capture capture;
  capture.Collective(1000, 2000);
  capture.Call(kCommunication, kMaster, 1100, 1900, 300);
  capture.Launch(1500, 2, 9, kFftsPlus);
  capture.ContextRange(1800, 0, 5);
  capture.ContextRange(1800, 2, 3);
  capture.Task(2, 9, 0, 100, 500);
  capture.Context(2, 9, 1, kSdmaContext, 110, 200);
  capture.Context(2, 9, 3, kSdmaContext, 120, 300);
  capture.Context(2, 9, 4, kSdmaContext, 130, 400);  // behind the second range, within the first
  capture.Context(2, 9, 6, kSdmaContext, 140, 450);  // beyond both
  EXPECT_EQ(capture.ReadAll().parts.Size(), 3u);
}

TEST(Collectives, WithoutInfoHaveOneNamelessPart) {
  Capture capture;
  capture.Collective(1000, 2000);
  capture.Call(kCommunication, kMaster, 1100, 1900, 300);
  capture.Launch(1500, 5, 1, kCopyTask);
  capture.Task(5, 1, kSdmaTask, 200, 300);
  const Session session = capture.ReadAll();
  ASSERT_EQ(session.parts.Size(), 1u);
  EXPECT_EQ(TextOf(session, session.parts.name[0]), "N/A");
  EXPECT_EQ(session.parts.plane[0], -1);
  EXPECT_EQ(session.parts.transport[0], 65534);
  EXPECT_EQ(TextOf(session, session.collectives.group[0]), "12345678");
}

TEST(Collectives, AreNumberedWithinTheirGroupAndByRun) {
  Capture capture;
  capture.Collective(1000, 2000);
  capture.Part(1100, kMaster, 1, 200, 300);
  capture.Collective(3000, 4000);
  capture.Part(3100, kMaster, 2, 400, 500);
  capture.Task(5, 2, kSdmaTask, 600, 700);  // the second is run again
  const Session session = capture.ReadAll();
  std::vector<std::string> names;
  for (const StringId name : session.collectives.name) names.push_back(TextOf(session, name));
  EXPECT_EQ(names, (std::vector<std::string>{"hcom_allReduce__678_0_1", "hcom_allReduce__678_1_1",
                                             "hcom_allReduce__678_1_2"}));
  EXPECT_EQ(session.collectives.start[2], MadeCapture::kBegin + 12000);
}

TEST(Collectives, PayloadsInARowShareTheirBandwidth) {
  Capture capture;
  capture.Collective(1000, 3000);
  capture.Part(1100, kMaster, 1, 100, 110, 0, 1'000'000, 303, 1);
  capture.Part(1300, kMaster, 2, 110, 120, 0, 2'000'000, 303, 1);
  for (unsigned i = 0; i < 4; ++i) {
    capture.Part(1500 + 200 * i, kMaster, 3 + i, 200 + 50 * i, 250 + 50 * i, 0, 0, 303, 0);
  }
  const Session session = capture.ReadAll();
  ASSERT_EQ(session.parts.Size(), 6u);
  // 3 MB from count 100 to count 400, 6 µs.
  EXPECT_DOUBLE_EQ(session.parts.bandwidth[0], 0.5e12);
  EXPECT_DOUBLE_EQ(session.parts.bandwidth[1], 0.5e12);
  EXPECT_EQ(session.parts.bandwidth[2], 0);
}

}  // namespace
}  // namespace mpa::raw
