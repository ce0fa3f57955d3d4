// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mpa/raw/summaries.h"

namespace mpa::raw {
namespace {

using Lines = std::vector<std::string>;
constexpr std::int64_t kMalloc = 0, kFreed = 1, kBlockFreed = 2;

// Thread 1 runs operators, thread 9 what it enqueued.
class MemoryRows : public testing::Test {
 protected:
  void Op(std::string_view name, TimeNs start, TimeNs end, std::int32_t parent = -1) {
    s_.ops.Append({{.start = start, .dur = end - start, .name = s_.strings.Intern(name)},
                   {.thread = 1, .parent = parent}});
  }

  void Event(TimeNs time, std::uint64_t address, std::int64_t action, std::int64_t total = 0,
             std::int64_t thread = 1) {
    s_.allocations.Append({.time = time,
                           .address = address,
                           .bytes = action == kMalloc ? 512 : -512,
                           .allocated = total,
                           .reserved = 2048,
                           .active = total + 1,
                           .stream = 7,
                           .device = 5,
                           .action = action,
                           .thread = thread});
  }

  void CannEvent(TimeNs time, std::int64_t bytes, std::int64_t total) {
    s_.op_memory.Append({.time = time,
                         .name = s_.strings.Intern("MatMul"),
                         .address = 1,
                         .bytes = bytes,
                         .allocated = total,
                         .reserved = 100,
                         .device = 5});
  }

  /// "name allocated-released/active-released"
  Lines Lives() {
    Lines lines;
    for (const AllocationLife& life : AllocationLives(s_)) {
      lines.push_back(fmt::format("{}{} {}-{}/{}", life.cann ? "cann::" : "",
                                  s_.strings.View(life.name), life.allocated, life.released,
                                  life.active_released));
    }
    return lines;
  }

  /// "component time allocated reserved active stream|-"
  Lines Records() {
    Lines lines;
    for (const MemoryRecord& record : MemoryRecords(s_)) {
      lines.push_back(fmt::format("{} {} {} {} {} {}", record.component, record.time,
                                  record.allocated, record.reserved, record.active,
                                  record.has_stream ? fmt::format("{}", record.stream) : "-"));
    }
    return lines;
  }

  Session s_;
};

TEST_F(MemoryRows, AllocationLivesUntilItsFreeAndTheReturnOfItsBlock) {
  Op("aten::add", 0, 100);
  Event(10, 0xA, kMalloc);
  Event(11, 0xB, kMalloc);
  Event(20, 0xA, kFreed);
  Event(21, 0xA, kBlockFreed);
  Event(30, 0xA, kMalloc);
  Event(31, 0xB, kBlockFreed);
  EXPECT_EQ(Lives(), (Lines{"aten::add 10-20/21", "aten::add 11--1/31", "aten::add 30--1/-1"}));
}

TEST_F(MemoryRows, TotalsOfTheReleaseAreThoseOfTheFree) {
  Op("aten::add", 0, 100);
  Event(10, 0xA, kMalloc, 600);
  Event(20, 0xA, kBlockFreed, 500);
  Event(21, 0xA, kFreed, 400);
  const AllocationLife life = AllocationLives(s_).at(0);
  EXPECT_EQ(life.bytes, 512);
  EXPECT_EQ(life.allocated_total, 600);
  EXPECT_EQ(life.active_total, 601);
  EXPECT_EQ(life.released_total, 400);
  EXPECT_EQ(life.released_active, 401);
  EXPECT_EQ(life.released_reserved, 2048);
  EXPECT_EQ(life.stream, 7U);
  EXPECT_EQ(life.device, 5);
}

TEST_F(MemoryRows, TotalsOfTheFreeStayWhenTheBlockReturnsLater) {
  Op("aten::add", 0, 100);
  Event(10, 0xA, kMalloc, 600);
  Event(20, 0xA, kFreed, 400);
  Event(21, 0xA, kBlockFreed, 300);
  const AllocationLife life = AllocationLives(s_).at(0);
  EXPECT_EQ(life.released_total, 400);
  EXPECT_EQ(life.released_active, 401);
}

TEST_F(MemoryRows, TotalsOfTheReleaseAreThoseOfTheBlockWhereTheFreeIsMissing) {
  Op("aten::add", 0, 100);
  Event(10, 0xA, kMalloc, 600);
  Event(20, 0xA, kBlockFreed, 500);
  const AllocationLife life = AllocationLives(s_).at(0);
  EXPECT_EQ(life.released, -1);
  EXPECT_EQ(life.released_total, 500);
  EXPECT_EQ(life.released_active, 501);
  EXPECT_EQ(life.released_reserved, 2048);
}

TEST_F(MemoryRows, GivesBackWithoutAnAllocationBelongToTheTimeBefore) {
  Event(10, 0xA, kFreed);
  Event(11, 0xA, kBlockFreed);
  EXPECT_EQ(Lives(), Lines());
}

TEST_F(MemoryRows, AllocationIsNamedAfterTheOperatorAroundItThatSaysSomething) {
  Op("aten::add", 0, 100);
  Op("aten::sub", 10, 40, 0);
  Op("empty_tensor", 20, 30, 1);
  Event(25, 0xA, kMalloc);   // in empty_tensor: named after what is around
  Event(50, 0xB, kMalloc);   // after aten::sub
  Event(150, 0xC, kMalloc);  // after everything
  EXPECT_EQ(Lives(), (Lines{"aten::sub 25--1/-1", "aten::add 50--1/-1", " 150--1/-1"}));
}

TEST_F(MemoryRows, AllocationInQueuedWorkIsNamedAfterTheLibraryOperatorThatEnqueuedIt) {
  Op("aten::mm", 0, 50);
  Op("aclnnMm", 10, 40, 0);
  s_.queue.Append({.start = 20, .dur = 1, .correlation = 3, .thread = 1, .op = 1, .partner = 1});
  s_.queue.Append(
      {.start = 60, .dur = 10, .dequeue = true, .correlation = 3, .thread = 9, .partner = 0});
  Event(65, 0xA, kMalloc, 0, 9);
  EXPECT_EQ(Lives(), Lines{"aten::mm 65--1/-1"});
}

TEST_F(MemoryRows, OperatorsOfCannFollowInTheOrderOfTheirReleases) {
  CannEvent(10, 64, 64);
  CannEvent(20, -64, 0);
  CannEvent(30, 32, 32);
  EXPECT_EQ(Lives(), (Lines{"cann::MatMul 10-20/-1", "cann::MatMul 30--1/-1"}));
}

TEST_F(MemoryRows, EachRecordOfOneAllocatorAlsoTellsTheSumOfBoth) {
  CannEvent(5, 64, 64);
  Event(10, 0xA, kMalloc, 512);
  s_.allocations.Append({.time = 12, .allocated = 1, .reserved = 2, .active = 3, .component = 1});
  CannEvent(20, -64, 0);
  EXPECT_EQ(Records(), (Lines{"GE 5 64 100 -1 -", "PTA+GE 5 64 100 0 -",            //
                              "PTA 10 512 2048 513 7", "PTA+GE 10 576 2148 513 7",  //
                              "WORKSPACE 12 1 2 3 0",                               //
                              "GE 20 0 100 -1 -", "PTA+GE 20 512 2148 513 7"}));
}

TEST_F(MemoryRows, SamplesOfTheProcessComeFirst) {
  s_.device_memory.Append({.time = 50, .ddr = 1, .hbm = 20});
  s_.device_memory.Append({.time = 51, .whole_device = true, .hbm = 99});
  Event(10, 0xA, kMalloc, 512);
  EXPECT_EQ(Records()[0], "APP 50 -1 21 -1 -");
  EXPECT_EQ(Records().size(), 3U);
}

}  // namespace
}  // namespace mpa::raw
