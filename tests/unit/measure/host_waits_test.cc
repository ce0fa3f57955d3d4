// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/host_waits.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "mpa/measure/host_places.h"
#include "mpa/measure/host_timeline.h"
#include "support/failures.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

constexpr TimeNs kMs = 1'000'000;

// A process with the number 1, as RankBuilder has it.
class HostWaits : public ::testing::Test {
 protected:
  void Add(std::string_view name, TimeNs start, TimeNs end, std::int64_t thread,
           std::int64_t process = 1) {
    rank_.trace.system_calls.Append({.start = start,
                                     .dur = end - start,
                                     .process = process,
                                     .thread = thread,
                                     .name = rank_.Text(name)});
  }
  void AddLock(TimeNs start, TimeNs end, std::int64_t thread, bool is_held) {
    rank_.trace.lock_uses.Append({.start = start,
                                  .dur = end - start,
                                  .process = 1,
                                  .thread = thread,
                                  .lock = rank_.Text("GIL"),
                                  .is_held = is_held});
  }
  using Found = std::vector<std::tuple<TimeNs, TimeNs, TimeCategory>>;
  Found Find() {
    Found found;
    for (const HostWait& wait : FindHostWaits(rank_.trace))
      found.emplace_back(wait.begin, wait.end, wait.category);
    return found;
  }
  std::map<TimeCategory, TimeNs> TimesOf(std::int32_t track, TimeNs end) {
    std::map<TimeCategory, TimeNs> times;
    HostTimeline(rank_.trace)
        .Walk(
            track, 0, end,
            [&](const HostPiece& piece) { times[piece.category] += piece.end - piece.begin; },
            [](TimeNs, TimeNs) {});
    return times;
  }

  test::RankBuilder rank_;
  const std::int32_t main_ = rank_.Thread(70), worker_ = rank_.Thread(71);
};

TEST_F(HostWaits, OfCallsWithinEachOtherTheProgramMadeTheOutermost) {
  Add("pthread_mutex_lock", 0, 5 * kMs, 70);
  Add("futex", 1000, 5 * kMs - 1000, 70);
  Add("ioctl", 6 * kMs, 8 * kMs, 70);
  Add("ioctl", 9 * kMs, 10 * kMs - 1, 70);  // a usual one
  Add("ioctl", 6 * kMs, 8 * kMs, 72);       // a thread of which nothing else is known
  Add("ioctl", 6 * kMs, 8 * kMs, 70, 9);    // another process
  EXPECT_EQ(Find(), (Found{{0, 5 * kMs, TimeCategory::kLock},
                           {6 * kMs, 8 * kMs, TimeCategory::kSystemCall}}));
}

TEST_F(HostWaits, AThreadThatWaitsForAnotherIsInnocent) {
  for (const char* name : {"pthread_cond_wait", "futex", "read", "epoll_wait", "sem_wait"}) {
    rank_.trace.system_calls = {};
    Add(name, 0, 5 * kMs, 70);
    EXPECT_EQ(Find().size(), 1u) << name << ": nobody works";
  }
  rank_.Op("aten::add", kMs, 2 * kMs, worker_);
  for (const char* name : {"pthread_cond_wait", "futex", "read", "epoll_wait", "sem_wait"}) {
    rank_.trace.system_calls = {};
    Add(name, 0, 5 * kMs, 70);
    EXPECT_TRUE(Find().empty()) << name;
  }
  for (const char* name : {"pthread_mutex_lock", "ioctl", "write", "fsync", "nanosleep"}) {
    rank_.trace.system_calls = {};
    Add(name, 0, 5 * kMs, 70);
    EXPECT_EQ(Find().size(), 1u) << name;
  }
}

// From 0 to 10 ms an operator runs; a scalar is read from 2 to 5 ms, which waits in futex.
TEST_F(HostWaits, WhatACallOfTheRuntimeExplainsIsNotToldTwice) {
  rank_.trace.host_calls.Append({.start = 2 * kMs,
                                 .dur = 3 * kMs,
                                 .name = rank_.Text("AscendCL@aclrtSynchronizeStream"),
                                 .track = main_});
  rank_.Op("aten::add", 0, 10 * kMs, main_);
  Add("ioctl", 2 * kMs + 1000, 5 * kMs - 1000, 70);
  Add("ioctl", 6 * kMs, 8 * kMs, 70);
  EXPECT_EQ(TimesOf(main_, 10 * kMs),
            (std::map<TimeCategory, TimeNs>{{TimeCategory::kExplicitSync, 3 * kMs},
                                            {TimeCategory::kSystemCall, 2 * kMs},
                                            {TimeCategory::kDispatchOp, 5 * kMs}}));
}

TEST_F(HostWaits, WhoHeldTheLockIsNamedWithWhatItRan) {
  rank_.Call("train.py(9): step", 0, 10 * kMs, main_);
  rank_.Call("loader.py(31): decode", 0, 4 * kMs, worker_);
  AddLock(kMs, 5 * kMs, 70, false);
  AddLock(kMs, 4 * kMs, 71, true);
  AddLock(4 * kMs, 5 * kMs, 72, true);
  AddLock(7 * kMs, 7 * kMs + 50'000, 70, false);  // as always
  NameLockHolders(rank_.trace);
  ASSERT_EQ(Find(), (Found{{kMs, 5 * kMs, TimeCategory::kGil}}));
  EXPECT_EQ(HostNameOf(rank_.trace, PieceTable::kLockUses, 0),
            "GIL held by thread 71, loader.py(31): decode");
  EXPECT_EQ(HostNameOf(rank_.trace, PieceTable::kLockUses, 3), "GIL");
  EXPECT_EQ(TimesOf(main_, 10 * kMs),
            (std::map<TimeCategory, TimeNs>{{TimeCategory::kGil, 4 * kMs},
                                            {TimeCategory::kPython, 6 * kMs}}));
}

TEST_F(HostWaits, ACallInWhichOperatorsBeginIsLeftOut) {
  for (TimeNs begin = 0; begin < 20 * kMs; begin += kMs) {
    Add("ioctl", begin, begin + kMs - 100'000, 70);
    rank_.Op("aten::add", begin + kMs - 90'000, begin + kMs - 50'000, main_);
  }
  CheckHostWaits(rank_.trace);
  EXPECT_EQ(rank_.trace.system_calls.Size(), 20u);
  EXPECT_TRUE(rank_.trace.issues.Empty());
  rank_.Op("aten::mul", 300'000, 310'000, main_);
  CheckHostWaits(rank_.trace);
  EXPECT_EQ(rank_.trace.system_calls.Size(), 19u);
  EXPECT_HAS_TEXT(rank_.trace.issues.Lines().at(0), "its thread begins operators meanwhile");
}

// Half a millisecond behind the clock of the capture.
TEST_F(HostWaits, AnotherClockIsSaid) {
  for (TimeNs begin = 0; begin < 20 * kMs; begin += kMs) {
    Add("ioctl", begin + 500'000, begin + kMs + 400'000, 70);
    rank_.Op("aten::add", begin + kMs - 90'000, begin + kMs - 50'000, main_);
  }
  CheckHostWaits(rank_.trace);
  EXPECT_TRUE(rank_.trace.system_calls.Empty());
  EXPECT_HAS_TEXT(rank_.trace.issues.Lines().at(0), "their clock is not that of the capture");
}

TEST_F(HostWaits, AnotherTimeAndOtherThreadsAreSaid) {
  rank_.Op("aten::add", 0, kMs, main_);
  Add("ioctl", 5 * kMs, 6 * kMs, 70);
  CheckHostWaits(rank_.trace);
  EXPECT_HAS_TEXT(rank_.trace.issues.Lines().at(0), "of another time than the capture");
  rank_.trace.issues = {};
  AddLock(0, kMs, 99, false);
  CheckHostWaits(rank_.trace);
  EXPECT_HAS_TEXT(rank_.trace.issues.Lines().at(0), "none is of a thread of the capture");
}

}  // namespace
}  // namespace mpa
