// SPDX-License-Identifier: Apache-2.0
// Memory snapshots: the forms of old and new versions, rows that are broken, files that are
// hostile.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "support/failures.h"
#include "support/files.h"
#include "support/pickling.h"
#include "support/reading.h"

namespace mpa::readers {
namespace {

using Json = nlohmann::ordered_json;
using test::ErrorOf;
using test::TempDir;

// A list in braces with one member is a copy of that member to some compilers.
Json List(std::initializer_list<Json> members) {
  Json list = Json::array();
  for (const Json& member : members) list.push_back(member);
  return list;
}

Json Frame(const char* file, int line, const char* name) {
  return {{"filename", file}, {"line", line}, {"name", name}};
}

Json Block(std::int64_t address, std::int64_t size, const char* state, std::int64_t asked = 0) {
  return {{"address", address}, {"size", size}, {"requested_size", asked}, {"state", state}};
}

Json Segment(std::int64_t address, std::int64_t size, Json blocks) {
  return {{"device", 0},
          {"address", address},
          {"total_size", size},
          {"stream", 7},
          {"segment_type", "large"},
          {"is_expandable", false},
          {"blocks", std::move(blocks)}};
}

Json Action(const char* action, std::int64_t address, std::int64_t size) {
  return {{"action", action}, {"addr", address}, {"size", size}, {"stream", 7}};
}

Json Whole(Json segments, Json traces) {
  return {{"segments", std::move(segments)}, {"device_traces", std::move(traces)}};
}

// A segment of 1024 bytes at 4096 with two blocks.
Json OneSegment() {
  return Segment(4096, 1024,
                 {Block(4096, 512, "active_allocated", 500), Block(4608, 512, "inactive")});
}

RankTrace ReadSnapshot(const Json& value) {
  const TempDir dir;
  return test::ReadFile(FileKind::kMemorySnapshot, dir.Write("s.pkl", test::Pickled(value)));
}

std::string ErrorOfBytes(const std::string& bytes) {
  const TempDir dir;
  const auto path = dir.Write("s.pkl", bytes);
  const Error error = ErrorOf([&] { test::ReadFile(FileKind::kMemorySnapshot, path); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  const std::string text = error.what();
  EXPECT_TRUE(text.starts_with(path.string() + ": ")) << text;
  return text.substr(path.string().size() + 2);
}
std::string ErrorOfValue(const Json& value) { return ErrorOfBytes(test::Pickled(value)); }

TEST(MemorySnapshot, HasSegmentsBlocksAndActions) {
  Json action = Action("alloc", 4096, 500);
  action["time_us"] = 17;
  action["frames"] = {Frame("/t/nn.py", 3, "forward"), Frame("/me/train.py", 12, "step")};
  const RankTrace trace =
      ReadSnapshot(Whole(List({OneSegment()}), List({Json::array(), List({action})})));
  EXPECT_TRUE(trace.issues.Empty());
  ASSERT_EQ(trace.memory_segments.Size(), 1u);
  const auto segment = trace.memory_segments.At(0);
  EXPECT_EQ(segment.device, 0);
  EXPECT_EQ(segment.address, 4096);
  EXPECT_EQ(segment.bytes, 1024);
  EXPECT_EQ(segment.stream, 7);
  EXPECT_TRUE(segment.is_large);
  EXPECT_FALSE(segment.is_expandable);
  ASSERT_EQ(trace.memory_blocks.Size(), 2u);
  const auto block = trace.memory_blocks.At(0);
  EXPECT_EQ(block.segment, 0);
  EXPECT_EQ(block.requested, 500);
  EXPECT_EQ(block.state, BlockState::kAllocated);
  EXPECT_EQ(trace.memory_blocks.state[1], BlockState::kInactive);
  ASSERT_EQ(trace.memory_actions.Size(), 1u);
  const auto made = trace.memory_actions.At(0);
  EXPECT_EQ(made.device, 1);
  EXPECT_EQ(made.action, MemoryAction::kAllocate);
  EXPECT_EQ(made.time, 17'000);
  const auto inner = trace.memory_calls.At(static_cast<std::size_t>(made.stack));
  EXPECT_EQ(trace.strings.View(inner.file), "/t/nn.py");
  EXPECT_EQ(inner.line, 3);
  const auto outer = trace.memory_calls.At(static_cast<std::size_t>(inner.caller));
  EXPECT_EQ(trace.strings.View(outer.function), "step");
  EXPECT_EQ(outer.caller, -1);
}

TEST(MemorySnapshot, CallsAreSharedByStacks) {
  const auto with = [](Json frames) {
    Json action = Action("alloc", 4096, 1);
    action["frames"] = std::move(frames);
    return action;
  };
  const Json main = Frame("a.py", 1, "main"), f = Frame("a.py", 2, "f"), g = Frame("a.py", 3, "g");
  const RankTrace trace = ReadSnapshot(
      Whole(List({OneSegment()}), List({List({with({f, main}), with({g, main}), with({f, main}),
                                              with(List({main})), with(Json::array())})})));
  EXPECT_EQ(trace.memory_calls.Size(), 3u);
  const auto& stacks = trace.memory_actions.stack;
  EXPECT_EQ(stacks[0], stacks[2]);
  EXPECT_NE(stacks[0], stacks[1]);
  EXPECT_EQ(trace.memory_calls.caller[static_cast<std::size_t>(stacks[1])], stacks[3]);
  EXPECT_EQ(stacks[4], -1);
}

TEST(MemorySnapshot, OldVersionsHaveHistoriesAndNoAddressesOfBlocks) {
  const Json history = {
      {{"addr", 4096}, {"real_size", 300}, {"frames", List({Frame("a.py", 9, "f")})}},
      {{"addr", 4096}, {"real_size", 77}}};
  const Json segment =
      Segment(4096, 1024,
              {{{"size", 512}, {"state", "active_allocated"}, {"history", history}},
               {{"size", 512}, {"state", "inactive"}}});
  for (const Json& value : {Whole(List({segment}), List({Json::array()})), List({segment})}) {
    const RankTrace trace = ReadSnapshot(value);
    EXPECT_TRUE(trace.issues.Empty());
    ASSERT_EQ(trace.memory_blocks.Size(), 2u);
    EXPECT_EQ(trace.memory_blocks.address[0], 4096);
    EXPECT_EQ(trace.memory_blocks.address[1], 4608);
    EXPECT_EQ(trace.memory_blocks.requested[0], 300);
    const auto call = trace.memory_calls.At(static_cast<std::size_t>(trace.memory_blocks.stack[0]));
    EXPECT_EQ(call.line, 9);
  }
}

TEST(MemorySnapshot, FailuresSayWhatTheDeviceHadFree) {
  const Json oom = {{"action", "oom"}, {"device_free", 333}, {"size", 999}, {"stream", 0}};
  const RankTrace trace = ReadSnapshot(Whole(List({OneSegment()}), List({List({oom})})));
  EXPECT_EQ(trace.memory_actions.At(0).action, MemoryAction::kOutOfMemory);
  EXPECT_EQ(trace.memory_actions.At(0).address, 333);
}

// torch_npu lists the scratch memory of operators as if it had been allocated at that moment.
TEST(MemorySnapshot, WorkspaceIsNoAction) {
  const RankTrace trace = ReadSnapshot(Whole(
      {OneSegment(), Segment(8192, 2048, List({Block(8192, 2048, "inactive", 10)}))},
      List({List({Action("workspace_snapshot", 8192, 2048), Action("segment_alloc", 8192, 2048),
                  Action("alloc", 8192, 2048), Action("alloc", 4096, 500)})})));
  EXPECT_TRUE(trace.issues.Empty());
  ASSERT_EQ(trace.memory_actions.Size(), 1u);
  EXPECT_EQ(trace.memory_actions.address[0], 4096);
  EXPECT_FALSE(trace.memory_segments.At(0).is_workspace);
  EXPECT_TRUE(trace.memory_segments.At(1).is_workspace);
}

TEST(MemorySnapshot, KeepsTheSettingsOfTheAllocator) {
  Json value = Whole(List({OneSegment()}), Json::array());
  value["allocator_settings"] = {{"PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:32"},
                                 {"max_split_size", 32 << 20}};
  value["external_annotations"] = List({{{"name", "step"}, {"stage", "START"}}});
  const RankTrace trace = ReadSnapshot(value);
  EXPECT_EQ(trace.strings.View(trace.memory_snapshots.settings[0]), "max_split_size_mb:32");
  EXPECT_EQ(trace.memory_snapshots.max_split[0], 32 << 20);
  EXPECT_EQ(trace.strings.View(trace.memory_snapshots.file[0]), "s.pkl");
}

TEST(MemorySnapshot, CountsRowsThatCannotBeRead) {
  Json no_size = Action("alloc", 4096, 1);
  no_size.erase("size");
  const RankTrace trace = ReadSnapshot(Whole(
      List({OneSegment()}), List({List({no_size, Action("wash", 4096, 1), Action("alloc", -5, 1),
                                        Action("alloc", 4096, 2)})})));
  EXPECT_EQ(trace.memory_actions.Size(), 1u);
  EXPECT_EQ(trace.issues.Lines(),
            (std::vector<std::string>{
                "action of the allocator left out, of an unknown kind (s.pkl)",
                "action of the allocator left out, without an address or a size, 2 times (first:"
                " s.pkl)"}));
}

TEST(MemorySnapshot, BlocksThatCannotBeReadLeaveAHole) {
  const Json strange = {{"size", 512}, {"state", "molten"}};
  const RankTrace trace =
      ReadSnapshot(Whole({Segment(4096, 1024, {strange, Block(4608, 512, "inactive")}),
                          Segment(8192, 512, List({strange}))},
                         Json::array()));
  EXPECT_EQ(trace.memory_blocks.Size(), 1u);
  EXPECT_EQ(trace.memory_segments.Size(), 2u);
  EXPECT_TRUE(trace.issues.Contains("block of memory left out, without a size or a state"));
  EXPECT_TRUE(trace.issues.Breaks(Promise::kTablesAgree));
}

TEST(MemorySnapshot, SaysWhereTablesDoNotAgree) {
  Json hole = Segment(4096, 2048, List({Block(4096, 512, "inactive")}));
  EXPECT_TRUE(
      ReadSnapshot(Whole(List({hole}), Json::array())).issues.Breaks(Promise::kTablesAgree));
  Json other = OneSegment();
  other["allocated_size"] = 1;
  EXPECT_TRUE(
      ReadSnapshot(Whole(List({other}), Json::array())).issues.Breaks(Promise::kTablesAgree));
}

// Of several files the others stay.
TEST(MemorySnapshot, LeavesNoRowsOfAFileThatBreaksOff) {
  Json action = Action("alloc", 4096, 500);
  action["frames"] = List({Frame("a.py", 3, "f")});
  const std::string whole =
      test::Pickled(Whole(List({OneSegment()}), List({List({action, action})})));
  const TempDir dir;
  RankTrace trace;
  test::ReadInto(trace, FileKind::kMemorySnapshot, dir.Write("whole.pkl", whole));
  ErrorOf([&] {
    test::ReadInto(trace, FileKind::kMemorySnapshot,
                   dir.Write("cut.pkl", whole.substr(0, whole.size() - 1)));
  });
  EXPECT_EQ(trace.memory_snapshots.Size(), 1u);
  EXPECT_EQ(trace.memory_calls.Size(), 1u);
  EXPECT_EQ(trace.memory_segments.Size(), 1u);
  EXPECT_EQ(trace.memory_blocks.Size(), 2u);
  EXPECT_EQ(trace.memory_actions.Size(), 2u);
  test::ReadInto(trace, FileKind::kMemorySnapshot, dir.Write("again.pkl", whole));
  EXPECT_EQ(trace.memory_actions.snapshot[3], 1);
  // Calls are those of each file.
  EXPECT_EQ(trace.memory_actions.stack, (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(trace.memory_blocks.segment[3], 1);
}

TEST(MemorySnapshot, RefusesOtherPickles) {
  const std::string other =
      "a pickle, but not of a memory snapshot; give a file that _dump_snapshot() of torch or"
      " torch_npu wrote";
  EXPECT_EQ(ErrorOfValue(7), other);
  EXPECT_EQ(ErrorOfValue({{"model", {1, 2}}}), other);
  EXPECT_EQ(ErrorOfValue({{"segments", 1}}), other);
  EXPECT_EQ(ErrorOfValue(Json::array({1, 2})), other);
  EXPECT_EQ(ErrorOfValue(List({Whole(List({OneSegment()}), Json::array())})), other);
}

TEST(MemorySnapshot, RefusesRecordsInTheWrongPlace) {
  const std::string alone = test::Pickled(Whole(List({Action("alloc", 1, 1)}), Json::array()));
  EXPECT_EQ(ErrorOfBytes(alone), fmt::format("a list with other records than in a snapshot,"
                                             " at byte {}",
                                             alone.size() - 2));
  const std::string mixed =
      test::Pickled(Whole({OneSegment(), Action("alloc", 1, 1)}, Json::array()));
  // The list ends before the key behind it, and that before its size and its letter.
  EXPECT_EQ(ErrorOfBytes(mixed), fmt::format("a list of records of different kinds, at byte {}",
                                             mixed.find("device_traces") - 6));
}

TEST(MemorySnapshot, RefusesSumsThatDoNotFit) {
  const std::int64_t huge = std::int64_t{1} << 61;
  EXPECT_NE(ErrorOfValue(Whole(List({OneSegment()}),
                               List({List({Action("alloc", 0, huge), Action("alloc", 0, huge)})})))
                .find("more bytes than any device could serve"),
            std::string::npos);
}

// Blocks that a million segments share would be a million times as many rows.
TEST(MemorySnapshot, RefusesListsInTwoPlaces) {
  std::string bytes = "\x80\x04}(";
  const auto add = [&](const Json& value) { test::AppendPickled(value, bytes); };
  add("segments");
  bytes += "](";
  for (int i = 0; i < 2; ++i) {
    bytes += "}(";
    add("device"), add(0), add("address"), add(4096), add("total_size"), add(512), add("blocks");
    if (i == 0) {
      bytes += "](";
      add(Block(4096, 512, "inactive"));
      bytes += "e\x94";
    } else {
      bytes += std::string("h\0", 2);
    }
    bytes += 'u';
  }
  bytes += "eu.";
  EXPECT_EQ(ErrorOfBytes(bytes).substr(0, 32), "a list that stands in two places");
}

}  // namespace
}  // namespace mpa::readers
