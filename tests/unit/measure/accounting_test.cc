// SPDX-License-Identifier: Apache-2.0
// Where the time of a step went: who occupied the device, and who should have fed it.
#include "mpa/measure/accounting.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "mpa/measure/device_work.h"
#include "mpa/measure/host_timeline.h"
#include "mpa/model/step_selection.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;

// A step of 1000 ns on the main thread, with a queue thread and a backward thread. Host and device
// have one clock, because no kernel begins before its launch.
class AccountingTest : public ::testing::Test {
 protected:
  AccountingTest() {
    main_ = rank_.Thread(1);
    queue_ = rank_.Thread(2);
    backward_ = rank_.Thread(3);
    rank_.Step(7, 0, 1000);
    rank_.Op("ProfilerStep#7", 0, 1000, main_);
  }

  void Call(std::string_view name, TimeNs begin, TimeNs end, std::int32_t track,
            std::int64_t connection = -1) {
    rank_.trace.host_calls.Append({.start = begin,
                                   .dur = end - begin,
                                   .name = rank_.Text(name),
                                   .track = track,
                                   .connection = connection});
  }

  // Work on the device that the call with the connection launched.
  void Kernel(TimeNs begin, TimeNs end, std::int64_t connection, std::string_view type = "Add",
              std::int64_t stream = 2) {
    rank_.trace.kernels.Append({.start = begin,
                                .dur = end - begin,
                                .name = rank_.Text(type),
                                .op_type = rank_.Text(type),
                                .core = rank_.Text("AI_VECTOR_CORE"),
                                .stream = stream});
    Task("KERNEL_AIVEC", begin, end, connection, stream);
  }
  void Task(std::string_view type, TimeNs begin, TimeNs end, std::int64_t connection,
            std::int64_t stream = 2, std::string_view name = "") {
    rank_.Task(type, begin, end, stream, name);
    rank_.trace.device_tasks.connection.back() = connection;
  }
  // Asked for by `asking` from `asked` to `put`, done by the queue thread.
  void Queued(TimeNs asked, TimeNs put, TimeNs begin, TimeNs end, std::int32_t asking) {
    rank_.Queued(asked, asking, begin, end, queue_);
    rank_.trace.queued_work.queued_dur.back() = put - asked;
  }
  // The kernel at 800 with the whole chain to it: asked for until 600, taken up at 650, launched
  // from 690 to 720.
  void KernelAt800() {
    Queued(590, 600, 650, 730, main_);
    Call("Node@launch", 690, 720, queue_, 5);
    Kernel(800, 1000, 5);
  }

  // "begin-end category" of each category in time, "*" behind a guess; and the categories fill the
  // windows.
  std::string Pieces(const AccountInput& input = {}) const {
    const RankAccount account = AccountRank(rank_.trace, input);
    for (const StepAccount& step : account.steps) {
      EXPECT_EQ(step.categories.Sum(), step.window.end - step.window.begin);
    }
    std::string text;
    const std::vector<Piece>& pieces = account.pieces;
    for (std::size_t i = 0; i < pieces.size();) {
      std::size_t next = i + 1;
      const bool guessed = pieces[i].confidence == Confidence::kGuess;
      while (next < pieces.size() && pieces[next].category == pieces[i].category &&
             (pieces[next].confidence == Confidence::kGuess) == guessed) {
        ++next;
      }
      text += fmt::format("{}-{} {}{}; ", pieces[i].begin, pieces[next - 1].end,
                          NameOf(pieces[i].category), guessed ? "*" : "");
      i = next;
    }
    return text;
  }

  RankBuilder rank_;
  std::int32_t main_, queue_, backward_;
};

TEST_F(AccountingTest, WalksTheChainToTheWorkThatEndsAGap) {
  rank_.Op("aten::add", 500, 700, main_);
  KernelAt800();
  EXPECT_EQ(Pieces(),
            "0-500 free.host_idle; 500-600 free.dispatch.op; 600-650 free.queue;"
            " 650-720 free.dispatch.cann; 720-800 free.launch_latency; 800-1000 comp.vector; ");
}

TEST_F(AccountingTest, QueueThreadMayBeBusyWithOtherWork) {
  Queued(100, 110, 200, 640, main_);
  KernelAt800();
  EXPECT_EQ(Pieces(),
            "0-100 free.host_idle; 100-110 free.dispatch.op; 110-590 free.host_idle;"
            " 590-600 free.dispatch.op; 600-640 free.dispatch.cann; 640-650 free.queue;"
            " 650-720 free.dispatch.cann; 720-800 free.launch_latency; 800-1000 comp.vector; ");
}

TEST_F(AccountingTest, WithoutAQueueTheThreadLaunchesItself) {
  rank_.Op("aten::add", 500, 730, main_);
  Call("Node@launch", 690, 720, main_, 5);
  Kernel(800, 1000, 5);
  EXPECT_EQ(Pieces(),
            "0-500 free.host_idle; 500-690 free.dispatch.op; 690-720 free.dispatch.cann;"
            " 720-800 free.launch_latency; 800-1000 comp.vector; ");
}

TEST_F(AccountingTest, LaunchedWorkThatDidNotStartWaitsForTheDeviceOrForItsStream) {
  Call("Node@launch", 10, 20, queue_, 5);
  Call("Node@launch", 20, 30, queue_, 6);
  Call("Node@launch", 30, 40, queue_, 8);
  Kernel(40, 100, 5);
  Kernel(300, 400, 6);
  Kernel(600, 1000, 8);
  Task("EVENT_WAIT", 350, 600, 7, 2);
  EXPECT_EQ(Pieces(),
            "0-10 free.host_idle*; 10-20 free.dispatch.cann; 20-40 free.launch_latency;"
            " 40-100 comp.vector; 100-300 free.device_queue; 300-400 comp.vector;"
            " 400-600 free.stream_wait; 600-1000 comp.vector; ");
}

TEST_F(AccountingTest, TheFirstTaskMayBeTheWaitOfTheStream) {
  Call("Node@launch", 10, 20, queue_, 5);
  Call("Node@launch", 20, 30, queue_, 6);
  Task("EVENT_WAIT", 35, 600, 7, 3);
  Kernel(40, 100, 5);
  Kernel(600, 1000, 6, "Add", 3);
  EXPECT_EQ(Pieces(),
            "0-10 free.host_idle*; 10-20 free.dispatch.cann; 20-40 free.launch_latency;"
            " 40-100 comp.vector; 100-600 free.stream_wait; 600-1000 comp.vector; ");
}

// The usual latency is 10: 300 are 200 too many.
TEST_F(AccountingTest, LatencyFarBeyondTheUsualIsTheDevicesOwn) {
  for (int i = 0; i < 3; ++i) {
    const TimeNs begin = 100 * i;
    Call("Node@launch", begin + 50, begin + 60, queue_, i);
    Kernel(begin + 70, begin + 90, i);
  }
  Call("Node@launch", 390, 400, queue_, 9);
  Kernel(700, 1000, 9);
  const std::string pieces = Pieces();
  EXPECT_NE(pieces.find("400-500 free.launch_latency; 500-700 free.device_queue; "),
            std::string::npos)
      << pieces;
}

TEST_F(AccountingTest, TheTailIsTheMainThreads) {
  Call("Node@launch", 0, 10, queue_, 5);
  Kernel(10, 400, 5);
  rank_.Op("aten::add", 600, 700, main_);
  const RankAccount account = AccountRank(rank_.trace);
  EXPECT_EQ(Pieces(),
            "0-10 free.dispatch.cann; 10-400 comp.vector; 400-600 free.host_idle;"
            " 600-700 free.dispatch.op; 700-1000 free.host_idle; ");
  EXPECT_EQ(account.pieces.front().tags, kPrepare);
  EXPECT_EQ(account.pieces.back().tags, kTail);
}

TEST_F(AccountingTest, NothingIsSaidWithoutAChain) {
  Kernel(800, 1000, -1);
  EXPECT_EQ(Pieces(), "0-800 free.unknown; 800-1000 comp.vector; ");
}

TEST_F(AccountingTest, NothingIsSaidWithoutTheHost) {
  RankBuilder device;
  device.KernelAt(100, 300);
  device.KernelAt(500, 600);
  const RankAccount account = AccountRank(device.trace);
  ASSERT_EQ(account.steps.size(), 1u);
  EXPECT_EQ(account.steps[0].window, (Interval{100, 600}));
  EXPECT_EQ(account.steps[0].categories[TimeCategory::kUnrecorded], 200);
}

// No calls of the runtime: the operator that launched tells the rest.
TEST_F(AccountingTest, OperatorsStandInForTheirCalls) {
  rank_.Launch(40, 500, main_);
  rank_.Op("aten::add", 500, 700, main_);
  Queued(590, 600, 650, 730, main_);
  Kernel(800, 1000, -1);
  rank_.trace.kernels.link.back() = 40;
  EXPECT_EQ(Pieces(),
            "0-500 free.host_idle; 500-600 free.dispatch.op; 600-650 free.queue;"
            " 650-730 free.dispatch.cann; 730-800 free.launch_latency; 800-1000 comp.vector; ");
  EXPECT_EQ(AccountRank(rank_.trace).pieces.front().confidence, Confidence::kPartial);
}

TEST_F(AccountingTest, AMomentOfALaunchStandsInForTheCall) {
  rank_.trace.call_stamps.Append({.time = 700, .track = queue_, .connection = 5});
  Queued(590, 600, 650, 730, main_);
  Kernel(800, 1000, 5);
  EXPECT_EQ(Pieces(),
            "0-590 free.host_idle; 590-600 free.dispatch.op; 600-650 free.queue;"
            " 650-700 free.dispatch.cann; 700-800 free.launch_latency; 800-1000 comp.vector; ");
}

// Kernels of a graph have no launch of their own.
TEST_F(AccountingTest, GapsWithinAGraphAreTheDevices) {
  Call("AscendCL@aclmdlRIExecuteAsync", 50, 350, main_, 5);
  Kernel(200, 300, -1);
  Kernel(320, 1000, -1);
  rank_.trace.device_tasks.model.Stored() = {1, 1};
  EXPECT_EQ(Pieces(),
            "0-50 free.host_idle; 50-200 free.dispatch.cann; 200-300 comp.vector;"
            " 300-320 free.device_queue; 320-1000 comp.vector; ");
}

// The main thread is in backward(), where another thread asks for work.
TEST_F(AccountingTest, AThreadThatWaitsForAnotherIsNotToBlame) {
  rank_.Call("torch/_tensor.py(429): backward", 100, 900, main_);
  rank_.Op("autograd::engine::evaluate_function: AddBackward0", 200, 500, backward_);
  Queued(210, 220, 230, 240, backward_);
  KernelAt800();
  EXPECT_EQ(Pieces(),
            "0-100 free.host_idle; 100-210 free.python; 210-500 free.dispatch.op*;"
            " 500-590 free.python; 590-600 free.dispatch.op; 600-650 free.queue; 650-720"
            " free.dispatch.cann;"
            " 720-800 free.launch_latency; 800-1000 comp.vector; ");
}

TEST_F(AccountingTest, AnIdleThreadIsReplacedByTheOneThatAskedLast) {
  Queued(100, 110, 120, 130, main_);
  rank_.Op("aten::mul", 300, 400, main_);
  rank_.Op("AddBackward0", 500, 640, backward_);
  Queued(590, 600, 650, 730, backward_);
  Call("Node@launch", 690, 720, queue_, 5);
  Kernel(800, 1000, 5);
  EXPECT_EQ(Pieces(),
            "0-100 free.host_idle*; 100-110 free.dispatch.op*; 110-300 free.host_idle*;"
            " 300-400 free.dispatch.op*; 400-500 free.host_idle*; 500-600 free.dispatch.op;"
            " 600-650 free.queue; 650-720 free.dispatch.cann; 720-800 free.launch_latency;"
            " 800-1000 comp.vector; ");
}

TEST_F(AccountingTest, TheMostTellingOfWhatIsOpenCounts) {
  rank_.Op("enumerate(DataLoader)#_SingleProcess.__next__", 10, 50, main_);
  rank_.Op("aten::copy_", 20, 30, main_);
  rank_.Call("torch/serialization.py(600): save", 60, 80, main_);
  rank_.Op("aten::item", 100, 150, main_);
  Call("AscendCL@aclrtSynchronizeStreamWithTimeout", 110, 140, main_);
  rank_.Op("aten::item", 150, 160, main_);  // nothing blocks
  rank_.Op("aten::to", 160, 200, main_);
  rank_.Op("aten::copy_", 165, 195, main_);
  Call("AscendCL@aclrtSynchronizeStream", 170, 190, main_);
  Call("AscendCL@aclrtSynchronizeDevice", 210, 220, main_);
  Call("AscendCL@aclrtMemcpy", 220, 230, main_);
  Call("AscendCL@opCompile", 240, 250, main_);
  Call("AscendCL@aclrtMallocPhysical", 260, 270, main_);
  Call("AscendCL@hcom_allReduce_", 280, 290, main_);
  Call("AscendCL@aclnnAdd", 300, 310, main_);
  rank_.trace.garbage_collections.Append({.start = 25, .dur = 10});
  KernelAt800();
  EXPECT_EQ(Pieces(),
            "0-10 free.host_idle; 10-25 free.dataloader; 25-35 free.gc; 35-50 free.dataloader;"
            " 50-60 free.host_idle; 60-80 free.checkpoint; 80-100 free.host_idle;"
            " 100-150 free.sync.scalar; 150-160 free.dispatch.op; 160-200 free.copy;"
            " 200-210 free.host_idle; 210-220 free.sync.explicit; 220-230 free.copy;"
            " 230-240 free.host_idle; 240-250 free.compile; 250-260 free.host_idle;"
            " 260-270 free.memory; 270-280 free.host_idle; 280-290 free.dispatch.comm;"
            " 290-300 free.host_idle; 300-310 free.dispatch.cann; 310-590 free.host_idle;"
            " 590-600 free.dispatch.op; 600-650 free.queue; 650-720 free.dispatch.cann;"
            " 720-800 free.launch_latency; 800-1000 comp.vector; ");
}

// Quick calls take 4 and 6 before their launch; 100 are more than five times that.
TEST_F(AccountingTest, ColdLookUpsOfTheLegacyPathAreTheirOwnClass) {
  const auto execute = [&](TimeNs begin, TimeNs launch, TimeNs end) {
    Call("AscendCL@aclopCompileAndExecute", begin, end, queue_);
    Call("Node@launch", launch, end, queue_);
  };
  execute(100, 104, 110);
  execute(200, 206, 210);
  execute(300, 400, 420);
  KernelAt800();
  rank_.trace.queued_work.queued[0] = 40;  // asked for by 50
  const std::string pieces = Pieces();
  EXPECT_NE(pieces.find("200-210 free.dispatch.cann; 210-300 free.queue; 300-400 free.aclop;"
                        " 400-420 free.dispatch.cann; "),
            std::string::npos)
      << pieces;
}

// No look-up takes 1 ms: where even the quickest call does, all of them compile.
TEST_F(AccountingTest, CallsOfTheLegacyPathThatAreAllSlowCompile) {
  constexpr TimeNs kSlow = 1'000'000;
  const auto classes = [&](TimeNs quickest) {
    rank_.trace.host_calls = {};
    Call("AscendCL@aclopCompileAndExecute", 100, 100 + quickest, queue_);
    Call("AscendCL@aclopCompileAndExecute", 2 * kSlow, 5 * kSlow, queue_);
    std::array<TimeNs, 2> times{};
    const HostTimeline timeline(rank_.trace);
    timeline.Walk(
        queue_, 0, 6 * kSlow,
        [&](const HostPiece& piece) {
          if (piece.category == TimeCategory::kCompile) times[0] += piece.end - piece.begin;
          if (piece.category == TimeCategory::kAclOp) times[1] += piece.end - piece.begin;
        },
        [](TimeNs, TimeNs) {});
    return times;
  };
  EXPECT_EQ(classes(kSlow), (std::array<TimeNs, 2>{4 * kSlow, 0}));
  EXPECT_EQ(classes(kSlow - 1), (std::array<TimeNs, 2>{0, 0})) << "three times as long is usual";
  EXPECT_EQ(classes(1'000), (std::array<TimeNs, 2>{0, 3 * kSlow}));
}

TEST_F(AccountingTest, KernelsComeBeforeCommunicationBeforeCopies) {
  Call("Node@launch", 0, 1, queue_, 5);
  Kernel(1, 300, 5);
  Kernel(100, 200, 5, "MatMulV2");
  rank_.Collective(rank_.Group("dp"), 250, 600);
  Task("MEMCPY_ASYNC", 500, 1000, -1, 3, "MEMCPY_ASYNC");
  EXPECT_EQ(Pieces(),
            "0-1 free.dispatch.cann; 1-100 comp.vector; 100-200 comp.matmul;"
            " 200-300 comp.vector; 300-600 comm.unsplit; 600-1000 copy.h2d; ");
}

TEST_F(AccountingTest, WhatIsSavedIsCopiedToTheHost) {
  rank_.Call("torch/serialization.py(628): save", 50, 400, main_);
  const auto copy = [&](TimeNs launched, TimeNs begin, TimeNs end) {
    rank_.Launch(launched, launched, main_);
    Task("MEMCPY_ASYNC", begin, end, -1, 3, "MEMCPY_ASYNC");
    rank_.trace.device_tasks.link.back() = launched;
  };
  copy(10, 20, 40);
  copy(60, 100, 300);
  const std::string pieces = Pieces();
  EXPECT_NE(pieces.find("20-40 copy.h2d"), std::string::npos) << pieces;
  EXPECT_NE(pieces.find("100-300 copy.d2h"), std::string::npos) << pieces;
}

// The type of the task says "within the device" for copies to the host on some chips.
TEST_F(AccountingTest, TheRecordedDirectionOfACopyCounts) {
  Task("SDMA_SQE", 100, 200, -1, 3, "MEMCPY_ASYNC");
  Task("SDMA_SQE", 300, 400, -1, 3, "MEMCPY_ASYNC");
  rank_.trace.device_tasks.direction.Stored().back() = CopyDirection::kToHost;
  const std::string pieces = Pieces();
  EXPECT_NE(pieces.find("100-200 copy.d2d"), std::string::npos) << pieces;
  EXPECT_NE(pieces.find("300-400 copy.d2h"), std::string::npos) << pieces;
}

TEST_F(AccountingTest, TakesArrivalsFromOutside) {
  rank_.Collective(rank_.Group("dp"), 0, 1000);
  const std::vector<LastArrival> arrivals = {{true, 700, 3}};
  EXPECT_EQ(Pieces({.arrivals = arrivals, .arrival_tolerance = 10}),
            "0-700 comm.wait_peer; 700-1000 comm.transfer; ");
  const std::vector<TimeNs> slow = {100};
  EXPECT_EQ(Pieces({.arrivals = arrivals, .slow = slow, .arrival_tolerance = 10}),
            "0-700 comm.wait_peer; 700-900 comm.transfer; 900-1000 comm.slow; ");
}

TEST_F(AccountingTest, WindowsOfStepsFollowEachOther) {
  rank_.Step(8, 1000, 2000);
  rank_.Op("ProfilerStep#8", 1000, 2000, main_);
  Call("Node@launch", 100, 110, queue_, 5);
  Call("Node@launch", 1100, 1110, queue_, 6);
  rank_.Launch(0, 100, main_);
  rank_.Launch(1, 1100, main_);
  Kernel(110, 1050, 5);  // the device is busy with the first step for longer
  Kernel(1120, 2500, 6);
  rank_.trace.kernels.link = {0, 1};
  const RankAccount account = AccountRank(rank_.trace);
  ASSERT_EQ(account.steps.size(), 2u);
  EXPECT_EQ(account.steps[0].window, (Interval{0, 1050}));
  EXPECT_EQ(account.steps[1].window, (Interval{1050, 2500}));
  EXPECT_EQ(account.PiecesOf(account.steps[1]).front().tags, kPrepare);
}

// The free time of both has one cause, and no work lies between; still each keeps its own.
TEST_F(AccountingTest, StepsWithoutDeviceWorkDoNotShareAPiece) {
  rank_.Step(8, 1000, 2000);
  Kernel(5000, 5001, -1);  // of no step
  const RankTrace no_host;
  const RankAccount account = AccountRank(rank_.trace, HostTimeline(no_host), {});
  ASSERT_EQ(account.steps.size(), 2u);
  for (const StepAccount& step : account.steps) {
    EXPECT_EQ(account.PiecesOf(step).size(), 1u);
    EXPECT_EQ(step.categories[TimeCategory::kUnrecorded], 1000);
  }
}

TEST_F(AccountingTest, ACallThatDrainedTheDeviceIsNamed) {
  Call("Node@launch", 0, 10, queue_, 5);
  Call("AscendCL@aclrtSynchronizeDevice", 50, 420, main_);
  Kernel(10, 400, 5);
  KernelAt800();
  const RankAccount account = AccountRank(rank_.trace);
  ASSERT_EQ(account.drained.size(), 1u);
  EXPECT_EQ(account.drained[0].gap, (Interval{400, 800}));
  EXPECT_EQ(account.drained[0].call, 1);
  EXPECT_EQ(account.pieces[2].tags, kAfterSync);
}

TEST_F(AccountingTest, ShiftsTheHostToTheClockOfTheDevice) {
  rank_.trace.steps = {};
  rank_.Step(7, 10'000, 11'000);
  Call("Node@launch", 10'120, 10'150, queue_, 5);
  Kernel(10'100, 10'900, 5);  // 20 before its call: the host is 20 ahead
  const RankAccount account = AccountRank(rank_.trace);
  EXPECT_EQ(account.clock.offset, 20);
  EXPECT_EQ(account.steps[0].window, (Interval{9980, 10'980}));
}

TEST_F(AccountingTest, ClocksTooFarApartAreLeftAsTheyAre) {
  Call("Node@launch", 2'000'000, 2'000'010, queue_, 5);
  Kernel(100, 1000, 5);
  const RankAccount account = AccountRank(rank_.trace);
  EXPECT_EQ(account.clock.offset, 0);
  EXPECT_FALSE(account.clock.trusted);
}

TEST(Account, OfNothingIsEmpty) {
  EXPECT_TRUE(AccountRank(RankTrace()).steps.empty());
  RankBuilder rank;
  rank.Step(1, 100, 100);
  rank.Step(2, 100, 50);
  rank.KernelAt(100, 110);
  EXPECT_EQ(AccountRank(rank.trace).steps.size(), 2u);
}

// The account says what an operator cost, causes ask what the kernel does.
TEST_F(AccountingTest, KernelsAreOfTheClassOfTheirOperator) {
  rank_.Op("aten::conv2d", 10, 90, main_);
  rank_.Launch(5, 50, main_);
  Kernel(100, 200, 5, "TransData");
  rank_.trace.kernels.link.back() = 5;
  Kernel(300, 350, 6, "TransData");
  const CategoryTimes categories = AccountRank(rank_.trace).steps.at(0).categories;
  EXPECT_EQ(categories[TimeCategory::kConvolution], 100);
  EXPECT_EQ(categories[TimeCategory::kFormat], 50);
  for (const DeviceItem& item : FindDeviceItems(rank_.trace))
    EXPECT_EQ(item.own, TimeCategory::kFormat);
}

// Copies and collectives of a GPU are what their category says; nothing else of them is free time.
TEST(GpuAccount, HasCopiesAndCollectivesOfEveryName) {
  RankBuilder rank(DeviceKind::kGpu);
  const auto copy = [&](std::string_view type, TimeNs begin, TimeNs end, CopyDirection direction) {
    rank.Task(type, begin, end, 7, "a copy");
    rank.trace.device_tasks.direction.Stored().back() = direction;
  };
  rank.KernelAt(0, 100, "Cijk_Alik_Bljk_BBS");
  copy("gpu_memcpy", 50, 150, CopyDirection::kToDevice);  // 50 of them beside the kernel
  copy("gpu_memcpy", 200, 230, CopyDirection::kToHost);
  copy("gpu_memset", 240, 245, CopyDirection::kWithinDevice);
  rank.Collective(-1, 300, 400, "mscclKernel_Sum_half");
  rank.KernelAt(490, 500, "reduce_kernel");
  const RankAccount account = AccountRank(rank.trace);
  ASSERT_EQ(account.steps.size(), 1u);
  const CategoryTimes& categories = account.steps[0].categories;
  EXPECT_EQ(categories[TimeCategory::kMatmul], 100);
  EXPECT_EQ(categories[TimeCategory::kVector], 10);
  EXPECT_EQ(categories[TimeCategory::kCopyIn], 50);
  EXPECT_EQ(categories[TimeCategory::kCopyOut], 30);
  EXPECT_EQ(categories[TimeCategory::kCopyDevice], 5);
  EXPECT_EQ(categories.SumOf(IsCommunication), 100);
  EXPECT_EQ(categories.SumOf(IsFree), 500 - 295);
}

// A kernel and a copy of another stream that begin in the same nanosecond are two things.
TEST(GpuAccount, DoesNotTakeACopyForTheTaskOfAKernel) {
  RankBuilder rank(DeviceKind::kGpu);
  rank.KernelAt(0, 100, "volta_sgemm");
  rank.trace.kernels.stream.back() = 7;
  rank.Task("gpu_memcpy", 0, 100, 20, "Memcpy HtoD");
  const std::vector<DeviceItem> items = FindDeviceItems(rank.trace);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].stream, 7);
  EXPECT_EQ(items[1].stream, 20);
}

// A step of the host and nothing of the device: what the device did is unknown.
TEST_F(AccountingTest, HasNoStepsWhereNoDeviceWorkWasRecorded) {
  rank_.Op("aten::mm", 100, 900, main_);
  EXPECT_TRUE(AccountRank(rank_.trace).steps.empty());
  Kernel(800, 900, -1);
  EXPECT_EQ(AccountRank(rank_.trace).steps.size(), 1u);
}

TEST(StepWindows, OfACaptureWithoutStepsAreAllItsWork) {
  RankBuilder rank;
  rank.KernelAt(300, 400);
  rank.Task("MEMCPY_ASYNC", 900, 950, 1);
  const std::vector<StepWindow> steps = FindStepWindows(rank.trace, {});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].id, -1);
  EXPECT_EQ(steps[0].window, (Interval{300, 950}));
}

// Step 2 begins when the device has finished step 1 at 260, and that alone keeps it so.
TEST(StepWindows, OfAChosenStepAreThoseOfTheWholeCapture) {
  RankBuilder rank;
  const std::int32_t main = rank.Thread(1);
  rank.Step(1, 0, 99);
  rank.Step(2, 100, 300);
  rank.Launch(71, 50, main);
  rank.Launch(72, 150, main);
  rank.trace.kernels.Append({.start = 120, .dur = 140, .link = 71});
  rank.trace.kernels.Append({.start = 270, .dur = 60, .link = 72});
  EXPECT_EQ(FindStepWindows(rank.trace, {}).at(1).window, (Interval{260, 330}));
  SelectStep(rank.trace, 2);
  const std::vector<StepWindow> steps = FindStepWindows(rank.trace, {});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].id, 2);
  EXPECT_EQ(steps[0].window, (Interval{260, 330}));
}

}  // namespace
}  // namespace mpa
