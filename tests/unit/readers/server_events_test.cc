// SPDX-License-Identifier: Apache-2.0
#include "readers/server_events.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace mpa::readers {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs MembersIn(std::string_view object) {
  std::vector<EventArg> members;
  ReadMembers(object, members);
  Pairs pairs;
  for (const EventArg& member : members) pairs.emplace_back(member.key, member.value);
  return pairs;
}

TEST(ServerMembers, ValuesAreTextsNumbersAndArrays) {
  EXPECT_EQ(
      MembersIn(R"({"rid": "7", "QueueSize=": 12 , "list": [{"a": "]}"}, 2], "x": null})"),
      (Pairs{{"rid", "7"}, {"QueueSize=", "12"}, {"list", R"([{"a": "]}"}, 2])"}, {"x", "null"}}));
  EXPECT_EQ(MembersIn(R"("name":"httpReq","rid":"a\"b",)"),
            (Pairs{{"name", "httpReq"}, {"rid", R"(a\"b)"}}));
}

TEST(ServerMembers, WhatIsBrokenEndsThem) {
  EXPECT_EQ(MembersIn(R"({"a": 1, "b")"), (Pairs{{"a", "1"}}));
  EXPECT_EQ(MembersIn(R"({"a": "open)"), (Pairs{{"a", "open"}}));
  EXPECT_EQ(MembersIn(R"({"a": [1, {"b": 2)"), (Pairs{{"a", R"([1, {"b": 2)"}}));
  EXPECT_EQ(MembersIn("]}{"), Pairs());
  EXPECT_EQ(MembersIn(R"({"a":)"), Pairs());
  const std::string deep(1 << 20, '[');  // no recursion
  EXPECT_EQ(MembersIn("{\"a\": " + deep + "}").size(), 1U);
}

// A log of one process, event by event.
class Log {
 public:
  void Add(TimeNs start, TimeNs dur, std::string_view name, std::string_view attributes,
           std::string_view process = "1") {
    std::vector<EventArg> members;
    ReadMembers(attributes, members);
    log_.Add({.start = start,
              .dur = dur,
              .name = trace_.strings.Intern(name),
              .process = trace_.strings.Intern(process)},
             members);
  }
  const RankTrace& Finish() {
    log_.Finish();
    return trace_;
  }
  std::string IdOf(std::size_t request) const {
    return std::string(trace_.strings.View(trace_.server_requests.id[request]));
  }

 private:
  RankTrace trace_;
  ServerLog log_{{trace_, 0, {}}, "test"};
};

TEST(ServerEvents, ARequestIsPutTogetherFromItsEvents) {
  Log log;
  log.Add(1000, 0, "httpReq", R"({"rid": "a"})");
  log.Add(1100, 0, "Enqueue", R"({"rid": ["a"], "scope#QueueName": "WAITING"})");
  log.Add(1150, 0, "Dequeue", R"({"rid": ["a"], "scope#QueueName": "WAITING"})");
  log.Add(1160, 0, "Dequeue", R"({"rid": ["a"], "scope#QueueName": "RUNNING"})");
  log.Add(1200, 0, "Enqueue", R"({"rid": ["a"], "scope#QueueName": "WAITING"})");  // again
  log.Add(1207, 0, "Dequeue", R"({"rid": ["a"], "scope#QueueName": "WAITING"})");
  log.Add(1300, 20, "detokenize", R"({"rid": ["a", "b"]})");
  log.Add(1400, 0, "detokenize", R"({"rid": ["a"]})");
  log.Add(1500, 0, "httpRes", R"({"rid": "a", "recvTokenSize=": 12, "replyTokenSize=": 2.0})");
  const ServerRequests& requests = log.Finish().server_requests;
  ASSERT_EQ(requests.Size(), 2U);
  EXPECT_EQ(requests.start[0], 1000);
  EXPECT_EQ(requests.dur[0], 500);
  EXPECT_EQ(requests.first_token[0], 320);
  EXPECT_EQ(requests.queued[0], 57);
  EXPECT_EQ(requests.prompt_tokens[0], 12);
  EXPECT_EQ(requests.reply_tokens[0], 2);
  EXPECT_EQ(requests.start[1], -1);  // what nothing says is unknown
  EXPECT_EQ(requests.first_token[1], -1);
}

TEST(ServerEvents, NamesOfOneRequestAreOne) {
  Log log;
  log.Add(1000, 0, "httpReq", R"({"rid": "a-b"})");
  log.Add(1001, 0, "httpReq", R"({"rid": "x-00000000"})");  // its own id, though it looks short
  log.Add(1100, 0, "Link", R"({"from": "a-b", "to": 3})", "2");
  log.Add(1200, 10, "BatchSchedule", R"({"rid": [{"rid": 3, "iter": 0}]})", "2");
  log.Add(1300, 10, "modelExec", R"({"rid": [{"rid": "a-b-0123abcd", "iter": 0}]})", "4");
  log.Add(1400, 10, "modelExec", R"({"rid": [{"rid": 3, "iter": 0}]})", "5");  // another 3
  const ServerRequests& requests = log.Finish().server_requests;
  ASSERT_EQ(requests.Size(), 3U);
  EXPECT_EQ(log.IdOf(0), "a-b");
  EXPECT_EQ(log.IdOf(1), "x-00000000");
  EXPECT_EQ(log.IdOf(2), "3");
  EXPECT_EQ(requests.scheduled[0], 1200);
  EXPECT_EQ(requests.ran[0], 1310);
}

TEST(ServerEvents, ABatchHasTheBlocksThatItsSchedulerSaw) {
  Log log;
  log.Add(1000, 50, "batchFrameworkProcessing", R"({"rid": [{"rid": "a", "type": 0}]})");
  log.Add(1020, 0, "KVCacheStatus", R"({"TotalBlocks=": 9, "FreeBlocks=": 4})");
  log.Add(1010, 0, "KVCacheStatus", R"({"TotalBlocks=": 7, "FreeBlocks=": 1})", "2");
  log.Add(1030, 0, "CacheHitRate", R"({"rid": "a", "hitCache": 0.5})");
  const RankTrace& trace = log.Finish();
  ASSERT_EQ(trace.server_batches.Size(), 1U);
  EXPECT_EQ(trace.server_batches.total_blocks[0], 9);
  EXPECT_EQ(trace.server_batches.free_blocks[0], 4);
  EXPECT_EQ(trace.server_batches.prefill_requests[0], 1);
  EXPECT_EQ(trace.server_cache.Size(), 2U);
  EXPECT_EQ(trace.server_requests.hit_rate[0], 0.5);
}

}  // namespace
}  // namespace mpa::readers
