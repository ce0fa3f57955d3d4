// SPDX-License-Identifier: Apache-2.0
// trace_view.json and profiler_metadata.json: communication groups, operations and tasks.
#include <gtest/gtest.h>

#include "support/failures.h"
#include "support/files.h"
#include "support/reading.h"

namespace mpa {
namespace {

using Names = std::vector<std::string>;

std::string Metadata(std::string_view kind, int tid, const std::string& args) {
  return R"({"ph":"M","name":")" + std::string(kind) + R"(","pid":20,"tid":)" +
         std::to_string(tid) + R"(,"args":{)" + args + "}},";
}
std::string Thread(int tid, int index, const std::string& name) {
  return Metadata("thread_name", tid, "\"name\":\"" + name + '"') +
         Metadata("thread_sort_index", tid, "\"sort_index\":" + std::to_string(index));
}
std::string Span(int tid, const std::string& name) {
  return R"({"ph":"X","name":")" + name + R"(","pid":20,"tid":)" + std::to_string(tid) +
         R"(,"ts":"1.5","dur":2},)";
}

// `events` ends in a comma; the name of the process comes last.
RankTrace ReadCommunication(const std::string& events, std::string_view process = "Communication") {
  const test::TempDir dir;
  return test::ReadFile(
      FileKind::kTraceView,
      dir.Write("trace_view.json",
                "[" + events + R"({"ph":"M","name":"process_name","pid":20,"args":{"name":")" +
                    std::string(process) + "\"}}]"));
}

Names GroupNamesOf(const RankTrace& trace, const std::vector<std::int32_t>& groups) {
  Names names;
  for (const std::int32_t group : groups) {
    names.emplace_back(
        trace.strings.View(trace.comm_groups.name.at(static_cast<std::size_t>(group))));
  }
  return names;
}

TEST(TraceViewCommunication, ListsTheKernelOfLcclAmongTasksAndOperations) {
  const RankTrace trace =
      ReadCommunication(Span(3, "KERNEL_AIVEC") + Span(3, "kernel_aivec_2"), "Ascend Hardware");
  EXPECT_EQ(test::ColumnTexts(trace, trace.communications.name), Names{"KERNEL_AIVEC"});
  EXPECT_EQ(test::ColumnTexts(trace, trace.device_tasks.name),
            (Names{"KERNEL_AIVEC", "kernel_aivec_2"}));
}

TEST(TraceViewCommunication, TellsOperationsFromTheTasksOfTheirPlanes) {
  const RankTrace trace = ReadCommunication(
      Thread(2, 1, "Group 0 Communication") + Thread(3, 2, "Plane 0") + Thread(4, 3, "Plane 1") +
      Thread(5, 4, "Group 1 Communication") + Thread(6, 5, "Plane 0") +
      Span(2, "hcom_allReduce__1_0_1") + Span(3, "Notify_Wait") + Span(4, "Memcpy") +
      Span(5, "hcom_send__2_0_1") + Span(6, "RDMASend"));
  EXPECT_EQ(test::ColumnTexts(trace, trace.communications.name),
            (Names{"hcom_allReduce__1_0_1", "hcom_send__2_0_1"}));
  EXPECT_EQ(GroupNamesOf(trace, trace.communications.group),
            (Names{"Group 0 Communication", "Group 1 Communication"}));
  EXPECT_EQ(trace.communications.start, (std::vector<TimeNs>{1500, 1500}));
  EXPECT_EQ(trace.communications.dur, (std::vector<TimeNs>{2000, 2000}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.comm_tasks.name),
            (Names{"Notify_Wait", "Memcpy", "RDMASend"}));
  EXPECT_EQ(GroupNamesOf(trace, trace.comm_tasks.group),
            (Names{"Group 0 Communication", "Group 0 Communication", "Group 1 Communication"}));
  EXPECT_EQ(trace.comm_tasks.plane, (std::vector<std::int64_t>{3, 4, 6}));
}

TEST(TraceViewCommunication, KeepsWhatTheArgsSayOfOperationsAndTasks) {
  const auto span = [](int tid, const std::string& args) {
    return R"({"ph":"X","name":"x","pid":20,"ts":"1.5","dur":2,"tid":)" + std::to_string(tid) +
           ",\"args\":{" + args + "}},";
  };
  const RankTrace trace = ReadCommunication(
      Thread(2, 1, "Group 0 Communication") + Thread(3, 2, "Plane 0") +
      span(2, R"("connection_id": 7, "data_type": "FP32", "count": 4097000)") +
      span(3, R"-("notify_id": "18446744073709551615", "stream id": 4, "src rank": 0, "dst rank":
                 4294967295, "transport type": "SDMA", "size(Byte)": 4, "link type": "ON_CHIP")-") +
      Span(3, "x") + span(3, R"-("notify_id": "92", "stream id": 5, "src rank": 3, "dst rank": 1,
                 "transport type": "LOCAL", "size(Byte)": 0, "link type": "INVALID_TYPE")-"));
  EXPECT_EQ(test::ColumnTexts(trace, trace.communications.data_type), Names{"FP32"});
  EXPECT_EQ(trace.communications.count, std::vector<std::int64_t>{4097000});
  const CommTasks& tasks = trace.comm_tasks;
  EXPECT_EQ(tasks.own_rank, (std::vector<std::int32_t>{0, -1, 3}));
  EXPECT_EQ(tasks.peer, (std::vector<std::int32_t>{-1, -1, 1}));
  EXPECT_EQ(tasks.bytes, (std::vector<std::int64_t>{4, -1, 0}));
  EXPECT_EQ(test::ColumnTexts(trace, tasks.transport), (Names{"SDMA", "", "LOCAL"}));
  EXPECT_EQ(test::ColumnTexts(trace, tasks.link_type), (Names{"ON_CHIP", "", ""}));
  EXPECT_EQ(tasks.notify, (std::vector<std::int64_t>{-1, -1, 92}));
  EXPECT_EQ(tasks.stream, (std::vector<std::int64_t>{4, -1, 5}));
}

TEST(TraceViewCommunication, OrdersThreadsBySortIndexNotByNumberOrPlaceInTheFile) {
  const RankTrace trace = ReadCommunication(
      Thread(3, 11, "Plane 0") + Thread(9, 10, "Group 1 Communication") + Thread(2, 1, "Plane 0") +
      Thread(7, 0, "Group 0 Communication") + Span(3, "in 1") + Span(2, "in 0"));
  EXPECT_EQ(test::ColumnTexts(trace, trace.comm_tasks.name), (Names{"in 0", "in 1"}));
  EXPECT_EQ(GroupNamesOf(trace, trace.comm_tasks.group),
            (Names{"Group 0 Communication", "Group 1 Communication"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.comm_groups.name),
            (Names{"Group 0 Communication", "Group 1 Communication"}));
}

TEST(TraceViewCommunication, WithoutAnOrderThreadsAreInThatOfTheirNumbers) {
  const auto thread = [](int tid, const std::string& name) {
    return Metadata("thread_name", tid, "\"name\":\"" + name + '"');
  };
  const std::string groups =
      thread(12, "Group 1 Communication") + thread(9, "Group 0 Communication");
  const std::string spans = Span(9, "hcom_allReduce__1_0_1") + Span(12, "hcom_send__2_0_1");
  const RankTrace whole = ReadCommunication(groups + spans);
  EXPECT_EQ(GroupNamesOf(whole, whole.communications.group),
            (Names{"Group 0 Communication", "Group 1 Communication"}));
  EXPECT_TRUE(whole.issues.Empty()) << "nothing is guessed";
  const RankTrace guessed =
      ReadCommunication(groups + thread(13, "Plane 0") + spans + Span(13, "Notify_Wait"));
  EXPECT_EQ(GroupNamesOf(guessed, guessed.comm_tasks.group), Names{"Group 1 Communication"});
  ASSERT_EQ(guessed.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(guessed.issues.Lines()[0], "thread_sort_index");
}

TEST(TraceViewCommunication, ThreadsMayShareAPlaceInTheOrder) {
  const RankTrace trace = ReadCommunication(
      Thread(1, 0, "Group 0 Communication") + Thread(2, 0, "Group 1 Communication") +
      Span(1, "hcom_allReduce__1_0_1") + Span(2, "hcom_send__2_0_1"));
  EXPECT_EQ(trace.communications.Size(), 2u);
}

TEST(TraceViewCommunication, KeepsPlanesThatComeBeforeAnyGroup) {
  const RankTrace trace =
      ReadCommunication(Thread(1, 0, "Plane 0") + Thread(2, 1, "Group 0 Communication") +
                        Span(1, "Notify_Wait") + Span(2, "hcom_send__2_0_1"));
  ASSERT_EQ(trace.comm_tasks.Size(), 1u);
  EXPECT_EQ(GroupNamesOf(trace, trace.comm_tasks.group), Names{"Unknown Group"});
  EXPECT_EQ(GroupNamesOf(trace, trace.communications.group), Names{"Group 0 Communication"});
}

TEST(TraceViewCommunication, KeepsTasksOfThreadsWithoutAName) {
  const RankTrace trace =
      ReadCommunication(Thread(2, 1, "Group 0 Communication") + Span(8, "Notify_Wait"));
  EXPECT_EQ(GroupNamesOf(trace, trace.comm_tasks.group), Names{"Unknown Group"});
}

TEST(TraceViewCommunication, KnowsTheProcessByItsOlderNameToo) {
  const RankTrace trace = ReadCommunication(
      Thread(2, 1, "Group 0 Communication") + Span(2, "hcom_send__2_0_1"), "HCCL");
  EXPECT_EQ(trace.communications.Size(), 1u);
}

TEST(TraceViewCommunication, IgnoresThreadsOfOtherProcesses) {
  std::string other = Thread(2, 1, "Group 7 Communication");
  for (std::size_t at = 0; (at = other.find("\"pid\":20", at)) != std::string::npos;)
    other[at + 6] = '9';
  const RankTrace trace = ReadCommunication(other + Thread(3, 2, "Group 0 Communication"));
  EXPECT_EQ(test::ColumnTexts(trace, trace.comm_groups.name), Names{"Group 0 Communication"});
}

class ProfilerMetadata : public ::testing::Test {
 protected:
  // The groups' process groups after reading `metadata`; "tp of 2" where the ranks are known.
  Names Name(std::string_view metadata) {
    RankTrace trace = ReadCommunication(Thread(2, 1, "Group 5 Communication") +
                                        Thread(3, 2, "Group 6 Communication"));
    test::ReadInto(trace, FileKind::kProfilerMetadata,
                   dir_.Write("profiler_metadata.json", metadata));
    Names names = test::ColumnTexts(trace, trace.comm_groups.process_group);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::int32_t ranks = trace.comm_groups.ranks[i];
      if (ranks != 0) names[i] += " of " + std::to_string(ranks);
    }
    return names;
  }
  test::TempDir dir_;
};

TEST_F(ProfilerMetadata, KeepsTheEnvironmentAsFarAsItSaysSomething) {
  const auto settings_of = [&](std::string_view metadata) {
    RankTrace trace;
    test::ReadInto(trace, FileKind::kProfilerMetadata,
                   dir_.Write("profiler_metadata.json", metadata));
    return trace.job.settings;
  };
  using Settings = std::map<std::string, std::string>;
  EXPECT_EQ(settings_of(R"({"ENV_VARIABLES":
                            {"TASK_QUEUE_ENABLE": "0", "HCCL_ALGO": "", "HCCL_BUFFSIZE": 200}})"),
            (Settings{{"TASK_QUEUE_ENABLE", "0"},
                      {"environment:", ""},
                      {"environment:TASK_QUEUE_ENABLE", "0"},
                      {"environment:HCCL_ALGO", ""},
                      {"environment:HCCL_BUFFSIZE", "200"},
                      {"metadata:", ""}}));
  EXPECT_EQ(settings_of(R"({"ENV_VARIABLES": ["TASK_QUEUE_ENABLE=1"]})"),
            (Settings{{"metadata:", ""}, {"metadata:ENV_VARIABLES", "TASK_QUEUE_ENABLE=1"}}));
}

TEST_F(ProfilerMetadata, NamesGroupsAsTheJobDoes) {
  EXPECT_EQ(Name(R"({"parallel_group_info": {"6": {"group_name": "tp", "global_ranks": [0, 1]},
                                             "60": {"group_name": "dp"}}})"),
            (Names{"", "tp of 2"}));
}

TEST_F(ProfilerMetadata, TakesDocumentsThatSayNothingOfGroups) {
  for (const char* text : {"", "{}", "[]", "3", R"({"parallel_group_info": []})",
                           R"({"parallel_group_info": {"5": "tp", "6": {"group_name": 7}}})",
                           R"({"parallel_group_info": {"5": {"ranks": [1]}, "6": null}})"}) {
    EXPECT_EQ(Name(text), (Names{"", ""})) << text;
  }
}

}  // namespace
}  // namespace mpa
