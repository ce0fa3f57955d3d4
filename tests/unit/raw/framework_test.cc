// SPDX-License-Identifier: Apache-2.0
// Framework files made by hand, with times that are nanoseconds already.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "raw/framework_bytes.h"
#include "raw/stages.h"
#include "support/files.h"

namespace mpa::raw {
namespace {

using test::Bytes;
using test::MarkBytes;
using test::OpBytes;
using test::Tlv;

using Lines = std::vector<std::string>;

class Framework : public testing::Test {
 protected:
  const Session& Read(Parts wanted = Parts::kAll) {
    session_ = Session();
    ReadFramework(directory_.path(), FrameworkClock{}, wanted, session_);
    return session_;
  }

  std::string Text(StringId id) const { return std::string(session_.strings.View(id)); }

  /// "name start-end in parent"
  Lines Ops() const {
    Lines lines;
    const TorchOps& ops = session_.ops;
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      const std::int32_t parent = ops.parent[i];
      lines.push_back(fmt::format("{} {}-{} in {}", Text(ops.name[i]), ops.start[i], ops.End(i),
                                  parent < 0 ? "nothing" : Text(ops.name[parent])));
    }
    return lines;
  }

  /// "side correlation name start-end op <name> other <row>"
  Lines Queue() const {
    Lines lines;
    const QueueRanges& queue = session_.queue;
    for (std::size_t i = 0; i < queue.Size(); ++i) {
      lines.push_back(fmt::format(
          "{} {} '{}' {}-{} op {} other {}", queue.dequeue[i] ? "dequeue" : "enqueue",
          queue.correlation[i], Text(queue.name[i]), queue.start[i], queue.End(i),
          queue.op[i] < 0 ? "none" : Text(session_.ops.name[queue.op[i]]), queue.partner[i]));
    }
    return lines;
  }

  test::TempDir directory_;
  Session session_;
};

TEST_F(Framework, OperatorsNestAcrossThreadsAndComeInOrderOfStart) {
  // Written when they end: inner ones come first in the file.
  directory_.Write("torch.op_range",
                   OpBytes({"aten::mm", 20, 30}) + OpBytes({"aten::linear", 10, 40}) +
                       OpBytes({"backward", 50, 60, 2}) + OpBytes({"ProfilerStep#3", 10, 90}) +
                       OpBytes({"after", 91, 95}));
  Read();
  EXPECT_EQ(Ops(), (Lines{"ProfilerStep#3 10-90 in nothing", "aten::linear 10-40 in ProfilerStep#3",
                          "aten::mm 20-30 in aten::linear", "backward 50-60 in ProfilerStep#3",
                          "after 91-95 in nothing"}));
  ASSERT_EQ(session_.steps.Size(), 1U);
  EXPECT_EQ(session_.steps.id[0], 3);
  EXPECT_EQ(session_.steps.start[0], 10);
  EXPECT_EQ(session_.steps.end[0], 90);
  EXPECT_EQ(session_.steps.device_start[0], -1);
}

TEST_F(Framework, MarksWithoutANumberInRangeAreNoSteps) {
  // 2^32 + 3 has the same low 32 bits as 3.
  directory_.Write("torch.op_range", OpBytes({"ProfilerStep#4294967299", 10, 20}) +
                                         OpBytes({"ProfilerStep#-4294967293", 30, 40}) +
                                         OpBytes({"ProfilerStep#2147483647", 50, 60}));
  Read();
  EXPECT_EQ(session_.steps.id, (std::vector<std::int32_t>{2147483647}));
}

TEST_F(Framework, ShapesAndStacksAreReadWhenTheyAreWanted) {
  directory_.Write(
      "torch.op_range",
      OpBytes({.name = "aten::mm",
               .start = 1,
               .end = 2,
               .fields = {{3, "float"}, {4, "2,3;3,4"}, {8, "a.py(1): f;b.py(2): g"}}}));
  Read();
  EXPECT_EQ(Text(session_.ops.types[0]), "float");
  EXPECT_EQ(Text(session_.ops.shapes[0]), "2,3;3,4");
  EXPECT_EQ(Text(session_.ops.stack[0]), "a.py(1): f;b.py(2): g");
  Read(Parts::kFramework);
  EXPECT_EQ(Text(session_.ops.name[0]), "aten::mm");
  EXPECT_EQ(Text(session_.ops.shapes[0]), "");
}

TEST_F(Framework, TruncatedFileIsReadUpToTheLastWholeRecord) {
  const std::string whole = OpBytes({"a", 1, 2}) + OpBytes({"b", 3, 4});
  const std::string cut = OpBytes({"c", 5, 6});
  for (std::size_t kept = 0; kept < cut.size(); ++kept) {
    directory_.Write("torch.op_range", whole + cut.substr(0, kept));
    Read();
    EXPECT_EQ(Ops(), (Lines{"a 1-2 in nothing", "b 3-4 in nothing"}));
    const Lines issues = session_.issues.Lines();
    ASSERT_EQ(issues.size(), kept > 0 ? 1U : 0U);
    if (kept > 0) {
      EXPECT_NE(issues[0].find(fmt::format("torch.op_range, {} bytes lost", kept)),
                std::string::npos)
          << issues[0];
    }
  }
}

TEST_F(Framework, DamagedOperatorsAreLeftOutAndCounted) {
  directory_.Write("torch.op_range", Tlv(1, "short") + Tlv(9, std::string(64, 'x')) +
                                         OpBytes({"ends before it starts", 9, 8}) +
                                         OpBytes({"good", 1, 2}));
  Read();
  EXPECT_EQ(Ops(), Lines{"good 1-2 in nothing"});
  EXPECT_NE(session_.issues.Lines().at(0).find("3 times"), std::string::npos);
}

TEST_F(Framework, BackwardPairsAreTheLastToStartOfEachPass) {
  directory_.Write("torch.op_range", OpBytes({"forward", 10, 20, 1, 5}) +
                                         OpBytes({"inner forward", 12, 18, 1, 5}) +
                                         OpBytes({"backward", 30, 40, 2, 5, 1}) +
                                         OpBytes({"inner backward", 31, 39, 2, 5, 1}) +
                                         OpBytes({"no backward", 22, 23, 1, 6}));
  Read();
  ASSERT_EQ(session_.backward.Size(), 1U);
  EXPECT_EQ(session_.backward.sequence[0], 5);
  EXPECT_EQ(Text(session_.ops.name[session_.backward.forward[0]]), "inner forward");
  EXPECT_EQ(Text(session_.ops.name[session_.backward.backward[0]]), "inner backward");
}

TEST_F(Framework, QueuedWorkIsPairedByThreadAndNameAndNamedByTheDequeue) {
  directory_.Write("torch.op_range", OpBytes({"aten::mm", 5, 100}));
  // The begin of an enqueue carries no correlation.
  directory_.Write("torch.op_mark", MarkBytes(0, 10, 0, 1, "mm") + MarkBytes(1, 12, 42, 1, "mm") +
                                        MarkBytes(2, 20, 42, 9, "aclnnMm") +
                                        MarkBytes(3, 30, 42, 9, "aclnnMm"));
  Read();
  EXPECT_EQ(Queue(), (Lines{"enqueue 42 'aclnnMm' 10-12 op aten::mm other 1",
                            "dequeue 42 'aclnnMm' 20-30 op none other 0"}));
}

TEST_F(Framework, QueuedWorkOfThreadsAtTheSameTimeStaysApart) {
  directory_.Write("torch.op_mark", MarkBytes(0, 10, 0, 1, "mm") + MarkBytes(0, 11, 0, 2, "mm") +
                                        MarkBytes(1, 20, 41, 1, "mm") +
                                        MarkBytes(1, 22, 42, 2, "mm"));
  Read();
  EXPECT_EQ(Queue(), (Lines{"enqueue 41 '' 10-20 op none other -1",
                            "enqueue 42 '' 11-22 op none other -1"}));
}

TEST_F(Framework, EndOfQueuedWorkTakesTheLatestBeginOfItsName) {
  directory_.Write("torch.op_mark", MarkBytes(2, 10, 7, 9, "a") + MarkBytes(2, 20, 8, 9, "a") +
                                        MarkBytes(2, 21, 9, 9, "b") + MarkBytes(3, 30, 8, 9, "a") +
                                        MarkBytes(3, 31, 7, 9, "a") + MarkBytes(3, 40, 9, 9, "b"));
  Read();
  EXPECT_EQ(Queue(), (Lines{"dequeue 8 'a' 20-30 op none other -1",
                            "dequeue 9 'b' 21-40 op none other -1"}));
  EXPECT_NE(session_.issues.Lines().at(0).find("its begin is missing"), std::string::npos);
}

TEST_F(Framework, EnqueueWhoseDequeueIsLostHasNoName) {
  directory_.Write("torch.op_range", OpBytes({"aten::mm", 5, 100, 1}));
  directory_.Write("torch.op_mark", MarkBytes(0, 10, 0, 1, "mm") + MarkBytes(1, 12, 42, 1, "mm") +
                                        MarkBytes(0, 13, 0, 2, "mm") +
                                        MarkBytes(1, 14, 43, 2, "mm"));
  Read();
  // The second one is on another thread than the operator that is open.
  EXPECT_EQ(Queue(), (Lines{"enqueue 42 '' 10-12 op aten::mm other -1",
                            "enqueue 43 '' 13-14 op none other -1"}));
}

TEST_F(Framework, PythonCallsAreReplayedAndModulesNumberedByClass) {
  const auto event = [](std::uint64_t time, std::uint64_t key, std::uint8_t tag) {
    return Bytes(time) + Bytes(std::uint64_t{1}) + Bytes(std::uint64_t{77}) + Bytes(key) +
           Bytes(tag);
  };
  const auto hash = [](std::uint64_t key, std::string_view text) {
    return Tlv(4, Bytes(key) + Tlv(1, text));
  };
  directory_.Write(
      "torch.python_tracer_hash",
      hash(1, "train.py(1): main") + hash(2, "Linear######100") + hash(3, "Linear######200"));
  // A return from before the capture, main, both modules, an unknown C function inside the second
  // one; main does not return.
  directory_.Write("torch.python_tracer_func",
                   event(5, 1, 1) + event(10, 1, 0) + event(20, 2, 0) + event(30, 2, 1) +
                       event(40, 3, 0) + event(50, 99, 2) + event(60, 99, 3) + event(70, 3, 1));
  Read();
  const PythonCalls& calls = session_.python;
  Lines lines;
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    lines.push_back(fmt::format("{} {}-{} id {} in {} module {}", Text(calls.name[i]),
                                calls.start[i], calls.End(i), calls.id[i], calls.parent_id[i],
                                calls.module_id[i]));
  }
  EXPECT_EQ(lines, (Lines{"train.py(1): main 10-70 id 1 in 0 module -1",
                          "nn.Module: Linear_0 20-30 id 2 in 1 module 0",
                          "nn.Module: Linear_1 40-70 id 4 in 1 module 1",
                          "99 50-60 id 5 in 4 module -1"}));
}

TEST_F(Framework, CollectionsAreReadEvenIfTheFileLooksPacked) {
  const std::uint64_t process = 0x8b1f;  // the first two bytes of a gzip file
  directory_.Write("torch.gc_record",
                   Bytes(process) + Bytes(std::uint64_t{3}) + Bytes(std::uint64_t{8}) + "rest");
  Read();
  ASSERT_EQ(session_.garbage_collections.Size(), 1U);
  EXPECT_EQ(session_.garbage_collections.process[0], 0x8b1f);
  EXPECT_EQ(session_.garbage_collections.start[0], 3);
  EXPECT_EQ(session_.garbage_collections.dur[0], 5);
  EXPECT_NE(session_.issues.Lines().at(0).find("4 bytes lost"), std::string::npos);
}

TEST_F(Framework, AllocatorEventsComeInOrderOfTime) {
  const auto record = [](std::int64_t time, std::int64_t bytes, std::uint8_t action) {
    return Tlv(3, Bytes(std::int64_t{0x1000}) + Bytes(time) + Bytes(bytes) +
                      Bytes(std::int64_t{1}) + Bytes(std::int64_t{2}) + Bytes(std::int64_t{3}) +
                      Bytes(std::int64_t{0x99}) + Bytes(std::int8_t{20}) + Bytes(std::int8_t{4}) +
                      Bytes(std::uint8_t{1}) + Bytes(action) + Bytes(std::uint8_t{0}) +
                      Bytes(std::uint64_t{11}) + Bytes(std::uint64_t{77}));
  };
  directory_.Write("torch.memory_usage", record(20, -512, 1) + record(10, 512, 0));
  Read();
  const AllocatorEvents& events = session_.allocations;
  ASSERT_EQ(events.Size(), 2U);
  EXPECT_EQ(events.time, (std::vector<TimeNs>{10, 20}));
  EXPECT_EQ(events.bytes, (std::vector<std::int64_t>{512, -512}));
  EXPECT_EQ(events.action, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(events.address[0], 0x1000U);
  EXPECT_EQ(events.allocated[0], 1);
  EXPECT_EQ(events.reserved[0], 2);
  EXPECT_EQ(events.active[0], 3);
  EXPECT_EQ(events.stream[0], 0x99U);
  EXPECT_EQ(events.device_type[0], 20);
  EXPECT_EQ(events.device[0], 4);
  EXPECT_EQ(events.component[0], 1);
  EXPECT_EQ(events.thread[0], 11);
  EXPECT_EQ(events.process[0], 77);
}

TEST_F(Framework, LongFilesGiveTheSameInPartsAsInOne) {
  // More than one part is decoded at a time; names repeat in all of them.
  std::string file;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) {
    file += OpBytes({i % 2 == 0 ? "even" : "odd", 2 * i, 2 * i + 1});
  }
  directory_.Write("torch.op_range", file);
  Read();
  ASSERT_EQ(session_.ops.Size(), kCount);
  for (int i = 0; i < kCount; ++i) {
    ASSERT_EQ(session_.ops.start[i], 2 * i);
    ASSERT_EQ(Text(session_.ops.name[i]), i % 2 == 0 ? "even" : "odd");
  }
}

}  // namespace
}  // namespace mpa::raw
