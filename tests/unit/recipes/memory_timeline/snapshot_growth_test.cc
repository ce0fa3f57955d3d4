// SPDX-License-Identifier: Apache-2.0
#include "recipes/memory_timeline/snapshot_growth.h"

#include <gtest/gtest.h>

namespace mpa::recipes::memory_timeline {
namespace {

// A history, written as it happens; what is kept is numbered.
class History {
 public:
  void Take(std::int64_t bytes) { Change(bytes); }
  void Return(std::int64_t bytes) { Change(-bytes); }
  void Keep(std::int64_t bytes) {
    kept_.push_back(replay_.lives.size());
    replay_.lives.push_back({.begin = static_cast<std::int64_t>(replay_.actions), .bytes = bytes});
    Change(bytes);
  }
  bool Grows() const { return memory_timeline::Grows(replay_, kept_, in_use_); }

 private:
  void Change(std::int64_t bytes) {
    in_use_.push_back(in_use_.back() + bytes);
    ++replay_.actions;
  }

  AllocatorReplay replay_;
  std::vector<std::size_t> kept_;
  std::vector<std::int64_t> in_use_ = {1000};
};

TEST(SnapshotGrowth, WhatEachStepKeepsGrows) {
  History history;
  for (int step = 0; step < 4; ++step) {
    history.Take(400);
    history.Keep(50);
    if (step == 0) history.Take(700);  // states of the optimizer
    history.Return(400);
  }
  EXPECT_TRUE(history.Grows());
}

TEST(SnapshotGrowth, TwoAllocationsAreTooFew) {
  History history;
  for (int step = 0; step < 2; ++step) {
    history.Take(400);
    history.Keep(50);
    history.Return(400);
  }
  EXPECT_FALSE(history.Grows());
}

// Parameters, states: all in one step of many.
TEST(SnapshotGrowth, WhatIsMadeOnceDoesNotGrow) {
  History history;
  for (int i = 0; i < 4; ++i) history.Keep(50);
  for (int step = 0; step < 50; ++step) {
    history.Take(400);
    history.Return(400);
  }
  EXPECT_FALSE(history.Grows());
}

// The layers of one forward pass, of which another site keeps more.
TEST(SnapshotGrowth, WhatRisesWithEverythingElseDoesNotGrow) {
  History history;
  for (int layer = 0; layer < 8; ++layer) {
    history.Keep(50);
    history.Take(300);
    history.Return(100);
  }
  EXPECT_FALSE(history.Grows());
}

// Layers whose scratch memory is small beside what is in use.
TEST(SnapshotGrowth, SmallWavesAreNoSteps) {
  History history;
  for (int layer = 0; layer < 8; ++layer) {
    history.Keep(20);
    history.Take(30);
    history.Return(30);
  }
  EXPECT_FALSE(history.Grows());
}

TEST(SnapshotGrowth, WhatStoppedLongAgoDoesNotGrow) {
  History history;
  for (int step = 0; step < 4; ++step) {
    history.Take(400);
    history.Keep(50);
    history.Return(400);
  }
  for (int step = 0; step < 40; ++step) {
    history.Take(400);
    history.Return(400);
  }
  EXPECT_FALSE(history.Grows());
}

}  // namespace
}  // namespace mpa::recipes::memory_timeline
