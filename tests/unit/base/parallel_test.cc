// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace mpa {
namespace {

class ParallelForWithJobs : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { SetJobs(GetParam()); }
  void TearDown() override { SetJobs(0); }
};
INSTANTIATE_TEST_SUITE_P(, ParallelForWithJobs, ::testing::Values(1, 4));

TEST_P(ParallelForWithJobs, CallsTheBodyOnceForEachIndex) {
  std::vector<std::atomic<int>> calls(1000);
  ParallelFor(calls.size(), [&](std::size_t i) { ++calls[i]; });
  for (std::size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i], 1) << i;
}

TEST_P(ParallelForWithJobs, DoesNothingForNoIndices) {
  bool called = false;
  ParallelFor(0, [&](std::size_t) { called = true; });
  EXPECT_FALSE(called);
}

TEST_P(ParallelForWithJobs, FinishesWhenCallsAreNested) {
  std::atomic<int> calls = 0;
  ParallelFor(8, [&](std::size_t) {
    ParallelFor(8, [&](std::size_t) { ParallelFor(8, [&](std::size_t) { ++calls; }); });
  });
  EXPECT_EQ(calls, 8 * 8 * 8);
}

TEST_P(ParallelForWithJobs, RethrowsTheExceptionOfTheLowestFailingIndex) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::string message;
    try {
      ParallelFor(100, [](std::size_t i) {
        if (i >= 10) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    ASSERT_EQ(message, "10");
  }
}

TEST_P(ParallelForWithJobs, StartsNoFurtherWorkAfterAFailure) {
  std::atomic<int> calls = 0;
  EXPECT_THROW(ParallelFor(1'000'000,
                           [&](std::size_t) {
                             ++calls;
                             throw std::runtime_error("failed");
                           }),
               std::runtime_error);
  EXPECT_LE(calls, GetParam());
}

TEST_P(ParallelForWithJobs, CanBeUsedAgainAfterAFailure) {
  EXPECT_THROW(ParallelFor(4, [](std::size_t) { throw std::runtime_error("failed"); }),
               std::runtime_error);
  std::atomic<int> calls = 0;
  ParallelFor(100, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 100);
}

TEST(ParallelFor, UsesTheCallingThreadOnlyWithOneJob) {
  SetJobs(1);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> elsewhere = 0;
  ParallelFor(100, [&](std::size_t) { elsewhere += std::this_thread::get_id() != caller ? 1 : 0; });
  EXPECT_EQ(elsewhere, 0);
  SetJobs(0);
}

TEST(ParallelFor, RunsAtMostAsManyBodiesAtOnceAsThereAreJobs) {
  SetJobs(3);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  ParallelFor(20, [&](std::size_t) {
    ParallelFor(20, [&](std::size_t) {
      const int now = ++running;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::yield();
      --running;
    });
  });
  EXPECT_LE(most, 3);
  SetJobs(0);
}

}  // namespace
}  // namespace mpa
