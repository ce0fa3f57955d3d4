// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/allocator_replay.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace mpa {
namespace {

constexpr std::int64_t kMb = std::int64_t{1} << 20;

// A snapshot of one device, filled by hand.
class Snapshot {
 public:
  Snapshot() { trace.memory_snapshots.Append({}); }

  // A segment for large blocks; its blocks are added behind it.
  void Segment(std::int64_t address, std::int64_t bytes, bool is_expandable = false) {
    trace.memory_segments.Append({.device = 0,
                                  .address = address,
                                  .bytes = bytes,
                                  .is_large = true,
                                  .is_expandable = is_expandable});
    at_ = address;
  }
  void Block(std::int64_t bytes, BlockState state, std::int64_t asked = 0) {
    trace.memory_blocks.Append(
        {.segment = static_cast<std::int32_t>(trace.memory_segments.Size() - 1),
         .address = at_,
         .bytes = bytes,
         .requested = asked,
         .state = state});
    at_ += bytes;
  }
  void Do(MemoryAction action, std::int64_t address, std::int64_t bytes) {
    trace.memory_actions.Append(
        {.device = 0, .action = action, .address = address, .bytes = bytes});
  }
  AllocatorReplay Replay() const {
    const auto replays = ReplayAllocators(trace);
    EXPECT_EQ(replays.size(), 1u);
    return replays.front();
  }

  RankTrace trace;

 private:
  std::int64_t at_ = 0;
};

using enum MemoryAction;
using enum BlockState;
using Bytes = std::vector<std::int64_t>;

TEST(AllocatorReplay, GivesWhatWasInUseAfterEachAction) {
  Snapshot snapshot;
  snapshot.Segment(1000 * kMb, 20 * kMb);
  snapshot.Block(4 * kMb, kAllocated, 4 * kMb);
  snapshot.Block(16 * kMb, kInactive);
  snapshot.Do(kSegmentAlloc, 1000 * kMb, 20 * kMb);
  snapshot.Do(kAllocate, 1000 * kMb, 5 * kMb);
  snapshot.Do(kRequestFree, 1000 * kMb, 5 * kMb);
  snapshot.Do(kFree, 1000 * kMb, 5 * kMb);
  snapshot.Do(kAllocate, 1000 * kMb, 4 * kMb);
  const AllocatorReplay replay = snapshot.Replay();
  EXPECT_EQ(InUseOverTime(replay), (Bytes{0, 0, 5 * kMb, 5 * kMb, 0, 4 * kMb}));
  EXPECT_EQ(replay.reserved, (Bytes(5, 20 * kMb)));
  EXPECT_EQ(replay.reserved_before, 0);
  EXPECT_EQ(replay.contradictions, 0);
  ASSERT_EQ(replay.lives.size(), 2u);
  EXPECT_EQ(replay.lives[0].begin, 1);
  EXPECT_EQ(replay.lives[0].end, 3);
  EXPECT_EQ(replay.lives[1].end, kHeldToTheEnd);
}

// The history is a ring: what was allocated before it is in use from the beginning.
TEST(AllocatorReplay, WhatWasAllocatedBeforeTheHistoryIsInUseBefore) {
  Snapshot snapshot;
  snapshot.Segment(1000 * kMb, 20 * kMb);
  snapshot.Block(4 * kMb, kAllocated, 3 * kMb);
  snapshot.Block(2 * kMb, kAwaitingFree, 2 * kMb);
  snapshot.Block(14 * kMb, kInactive);
  snapshot.Do(kFree, 1010 * kMb, 7 * kMb);
  snapshot.Do(kSegmentFree, 2000 * kMb, 6 * kMb);
  const AllocatorReplay replay = snapshot.Replay();
  EXPECT_EQ(replay.Before(), 12 * kMb);
  EXPECT_EQ(InUseOverTime(replay), (Bytes{12 * kMb, 5 * kMb, 5 * kMb}));
  EXPECT_EQ(replay.reserved_before, 26 * kMb);
  EXPECT_EQ(replay.reserved, (Bytes{26 * kMb, 20 * kMb}));
  EXPECT_EQ(replay.end.asked, 5 * kMb);
  EXPECT_EQ(replay.end.in_use, 6 * kMb);
  EXPECT_EQ(replay.end.awaiting_free, 2 * kMb);
}

TEST(AllocatorReplay, CountsWhatTheEndContradicts) {
  Snapshot snapshot;
  snapshot.Segment(1000 * kMb, 20 * kMb);
  snapshot.Block(20 * kMb, kAllocated, 20 * kMb);
  snapshot.Do(kAllocate, 1005 * kMb, kMb);  // neither released nor in use
  snapshot.Do(kFree, 1000 * kMb, kMb);      // in use
  EXPECT_EQ(snapshot.Replay().contradictions, 2);
}

TEST(AllocatorReplay, FreePiecesAreThoseOfSegmentsInUse) {
  Snapshot snapshot;
  snapshot.Segment(1000 * kMb, 20 * kMb);
  snapshot.Block(6 * kMb, kInactive);
  snapshot.Block(4 * kMb, kAllocated, 4 * kMb);
  snapshot.Block(10 * kMb, kInactive);
  snapshot.Segment(2000 * kMb, 30 * kMb);
  snapshot.Block(30 * kMb, kInactive);
  const HeldAtEnd end = snapshot.Replay().end;
  EXPECT_EQ(end.free.bytes, 16 * kMb);
  EXPECT_EQ(end.free.pieces, 2);
  EXPECT_EQ(end.free.largest, 10 * kMb);
  EXPECT_EQ(end.unsplit, 30 * kMb);
  EXPECT_EQ(end.reserved, 50 * kMb);
}

// 4 MB, 2 MB free, 4 MB, 10 MB free; the second 4 MB are released after the failure.
TEST(AllocatorReplay, FailuresHaveThePiecesOfTheirTime) {
  Snapshot snapshot;
  snapshot.Segment(1000 * kMb, 20 * kMb);
  snapshot.Block(4 * kMb, kAllocated, 4 * kMb);
  snapshot.Block(16 * kMb, kInactive);
  snapshot.Do(kAllocate, 1006 * kMb, 4 * kMb);
  snapshot.Do(kOutOfMemory, 3 * kMb, 11 * kMb);
  snapshot.Do(kFree, 1006 * kMb, 4 * kMb);
  const AllocatorReplay replay = snapshot.Replay();
  ASSERT_EQ(replay.out_of_memory.size(), 1u);
  const OutOfMemory& failure = replay.out_of_memory.front();
  EXPECT_EQ(failure.position, 1);
  EXPECT_EQ(failure.asked, 11 * kMb);
  EXPECT_EQ(failure.device_free, 3 * kMb);
  EXPECT_EQ(failure.in_use, 8 * kMb);
  EXPECT_EQ(failure.free.bytes, 12 * kMb);
  EXPECT_EQ(failure.free.pieces, 2);
  EXPECT_EQ(failure.free.largest, 10 * kMb);
}

// What is left behind a large block belongs to it, unless the segment can grow.
TEST(AllocatorReplay, RestsOfLargeBlocksAreNotFree) {
  for (const bool is_expandable : {false, true}) {
    Snapshot snapshot;
    snapshot.Segment(1000 * kMb, 20 * kMb, is_expandable);
    snapshot.Block(20 * kMb, kInactive);
    snapshot.Do(kAllocate, 1000 * kMb, 19 * kMb);
    snapshot.Do(kOutOfMemory, 0, 2 * kMb);
    snapshot.Do(kFree, 1000 * kMb, 19 * kMb);
    EXPECT_EQ(snapshot.Replay().out_of_memory.front().free.bytes, is_expandable ? kMb : 0);
  }
}

TEST(AllocatorReplay, LargerRestsAreFree) {
  Snapshot snapshot;
  snapshot.Segment(1000 * kMb, 20 * kMb);
  snapshot.Block(20 * kMb, kInactive);
  snapshot.Do(kAllocate, 1000 * kMb, 19 * kMb - 512);
  snapshot.Do(kOutOfMemory, 0, 2 * kMb);
  snapshot.Do(kFree, 1000 * kMb, 19 * kMb - 512);
  EXPECT_EQ(snapshot.Replay().out_of_memory.front().free.bytes, kMb + 512);
}

// The action says what the program asked for; the block was larger.
TEST(AllocatorReplay, BlocksTakeRoundedBytes) {
  Snapshot snapshot;
  snapshot.Segment(1000 * kMb, 20 * kMb);
  snapshot.Block(20 * kMb, kInactive);
  snapshot.Do(kAllocate, 1000 * kMb, 4 * kMb - 100);
  snapshot.Do(kOutOfMemory, 0, 17 * kMb);
  snapshot.Do(kFree, 1000 * kMb, 4 * kMb - 100);
  const OutOfMemory failure = snapshot.Replay().out_of_memory.front();
  EXPECT_EQ(failure.in_use, 4 * kMb - 100);
  EXPECT_EQ(failure.free.bytes, 16 * kMb);
}

// 2 MB is what small blocks share, which serve no large allocation.
TEST(AllocatorReplay, SegmentsForSmallBlocksAreNotFreeForLargeOnes) {
  for (const auto& [bytes, free] : {std::pair{2 * kMb, 0 * kMb}, {20 * kMb, 20 * kMb}}) {
    Snapshot snapshot;
    snapshot.Segment(1000 * kMb, 20 * kMb);
    snapshot.Block(20 * kMb, kAllocated, 20 * kMb);
    snapshot.Do(kOutOfMemory, 0, 30 * kMb);
    snapshot.Do(kSegmentFree, 3000 * kMb, bytes);
    EXPECT_EQ(snapshot.Replay().out_of_memory.front().free.bytes, free);
  }
}

TEST(AllocatorReplay, PoolsOfGraphsKeepTheirFreePieces) {
  Snapshot snapshot;
  snapshot.Segment(1000 * kMb, 20 * kMb);
  snapshot.Block(4 * kMb, kAllocated, 4 * kMb);
  snapshot.Block(16 * kMb, kInactive);
  snapshot.Do(kOutOfMemory, 0, 10 * kMb);
  snapshot.trace.memory_segments.pool[0] = snapshot.trace.strings.Intern("1,0");
  const AllocatorReplay replay = snapshot.Replay();
  EXPECT_EQ(replay.end.free.bytes, 0);
  EXPECT_EQ(replay.end.small_free.bytes, 16 * kMb);
  EXPECT_EQ(replay.out_of_memory.front().free.bytes, 0);
}

TEST(AllocatorReplay, ExpandableSegmentsGrowAndShrink) {
  Snapshot snapshot;
  snapshot.Segment(1000 * kMb, 20 * kMb, true);
  snapshot.Block(20 * kMb, kInactive);
  snapshot.Do(kSegmentMap, 1000 * kMb, 30 * kMb);
  snapshot.Do(kOutOfMemory, 0, 40 * kMb);
  snapshot.Do(kSegmentUnmap, 1020 * kMb, 10 * kMb);
  const AllocatorReplay replay = snapshot.Replay();
  EXPECT_EQ(replay.reserved, (Bytes{30 * kMb, 30 * kMb, 20 * kMb}));
  EXPECT_EQ(replay.reserved_before, 0);
  // One piece, although it was unmapped in two.
  EXPECT_EQ(replay.out_of_memory.front().free.pieces, 1);
  EXPECT_EQ(replay.out_of_memory.front().free.largest, 30 * kMb);
}

TEST(AllocatorReplay, WorkspaceIsNotFree) {
  Snapshot snapshot;
  snapshot.Segment(1000 * kMb, 20 * kMb);
  snapshot.Block(20 * kMb, kInactive);
  snapshot.trace.memory_segments.is_workspace[0] = 1;
  const HeldAtEnd end = snapshot.Replay().end;
  EXPECT_EQ(end.workspace, 20 * kMb);
  EXPECT_EQ(end.free.bytes + end.unsplit, 0);
}

class Sites : public ::testing::Test {
 protected:
  // Adds a call around those that were added before; gives the row of the innermost one.
  std::int32_t Stack(std::vector<std::pair<const char*, const char*>> innermost_first) {
    std::int32_t row = -1;
    for (auto call = innermost_first.rbegin(); call != innermost_first.rend(); ++call) {
      trace_.memory_calls.Append({.caller = row,
                                  .file = trace_.strings.Intern(call->first),
                                  .function = trace_.strings.Intern(call->second),
                                  .line = 7});
      row = static_cast<std::int32_t>(trace_.memory_calls.Size()) - 1;
    }
    return row;
  }
  AllocationSite Of(std::int32_t stack) { return AllocationSites(trace_).Of(stack); }
  RankTrace trace_;
};

TEST_F(Sites, LineIsThatOfTheProgramItself) {
  EXPECT_EQ(Of(Stack({{"/x/site-packages/torch/nn/linear.py", "forward"},
                      {"/me/train.py", "step"},
                      {"/me/train.py", "main"}})),
            (AllocationSite{"forward", "step", "train.py:7"}));
  EXPECT_EQ(Of(Stack({{"/me/train.py", "step"}})), (AllocationSite{"step", "", "train.py:7"}));
}

// The outermost operator that the program called, not those that it calls itself.
TEST_F(Sites, OperatorsAreKnownByTheirFramesOfCpp) {
  EXPECT_EQ(Of(Stack({{"??", "torch::CapturedTraceback::gather(bool)"},
                      {"??", "at::_ops::empty_strided::call(long)"},
                      {"x.cpp", "at::_ops::zeros_like::call(at::Tensor const&)"},
                      {"/me/optimizers.py", "step"},
                      {"??", "at::_ops::other::call()"}})),
            (AllocationSite{"aten::zeros_like", "step", "optimizers.py:7"}));
  EXPECT_EQ(Of(Stack({{"??", "at::_ops::bmm::call(at::Tensor const&)"},
                      {"??", "torch::autograd::generated::BmmBackward0::apply(std::vector)"},
                      {"??", "torch::autograd::Engine::thread_main()"}})),
            (AllocationSite{"aten::bmm", "BmmBackward0", ""}));
}

TEST_F(Sites, WithoutTheProgramItIsThatOfPython) {
  EXPECT_EQ(Of(Stack({{"/build/Allocator.cpp", "malloc"},
                      {"/x/site-packages/torch/nn/linear.py", "forward"}})),
            (AllocationSite{"forward", "", "linear.py:7"}));
  EXPECT_EQ(
      Of(Stack({{"/build/Traceback.cpp", "torch::unwind::unwind()"}, {"??", "Pool::grow()"}})),
      (AllocationSite{"Pool::grow()", "", ""}));
  EXPECT_EQ(Of(-1), AllocationSite());
}

}  // namespace
}  // namespace mpa
