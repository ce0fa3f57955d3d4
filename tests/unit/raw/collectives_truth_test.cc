// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "mpa/raw/labels.h"
#include "mpa/raw/session.h"
#include "raw/raw_captures.h"

namespace mpa::raw {
namespace {

using test::PlantedCapture;

std::string NameOrInvalid(std::span<const NamedNumber> table, std::int64_t number) {
  const std::string_view name = NameOf(table, number);
  return std::string(name.empty() ? "INVALID_TYPE" : name);
}

/// One line for each planted part of each collective, sorted.
std::vector<std::string> PlantedParts(const nlohmann::json& truth) {
  std::vector<std::string> lines;
  for (const auto& op : truth.at("collectives")) {
    for (const auto& part : op.at("tasks")) {
      lines.push_back(fmt::format(
          "{} {} {} {} {} {}-{} {} {} {} {} {} {} {} {} {} {} {} {} {}",
          op.at("type").get<std::string>(), op.at("group_hash").get<std::string>(),
          part.at("name").get<std::string>(), part.at("plane").get<int>(),
          part.at("master").get<bool>(), part.at("local_rank").get<std::int64_t>(),
          part.at("remote_rank").get<std::int64_t>(), part.at("size").get<std::int64_t>(),
          part.at("link").get<std::string>(), part.at("transport").get<std::string>(),
          part.at("rdma").get<std::string>(), part.at("notify").get<std::uint64_t>(),
          part.at("stream").get<int>(), part.at("task").get<int>(), part.at("batch").get<int>(),
          part.at("context").get<std::int64_t>(), part.at("start_ns").get<TimeNs>(),
          part.at("end_ns").get<TimeNs>(), part.at("dur_ns").get<double>(),
          part.at("issued_ns").get<TimeNs>()));
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> FoundParts(const Session& session) {
  std::vector<std::string> lines;
  const CollectiveParts& parts = session.parts;
  const Tasks& tasks = session.tasks;
  for (std::size_t i = 0; i < parts.Size(); ++i) {
    const auto op = static_cast<std::size_t>(parts.collective[i]);
    const auto task = static_cast<std::size_t>(parts.task[i]);
    lines.push_back(fmt::format(
        "{} {} {} {} {} {}-{} {} {} {} {} {} {} {} {} {} {} {} {} {}",
        session.strings.View(session.collectives.op_type[op]),
        session.strings.View(session.collectives.group[op]), session.strings.View(parts.name[i]),
        parts.plane[i], parts.master[i] != 0, parts.local_rank[i], parts.remote_rank[i],
        parts.bytes[i], NameOrInvalid(LinkTypes(), parts.link[i]),
        NameOrInvalid(TransportTypes(), parts.transport[i]),
        NameOrInvalid(RdmaTypes(), parts.rdma[i]), parts.notify[i], tasks.stream[task],
        tasks.task_id[task], tasks.batch[task], tasks.context[task], tasks.start[task],
        tasks.end[task], tasks.Exact(task), tasks.issued[task]));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> PlantedCollectives(const nlohmann::json& truth) {
  std::vector<std::string> lines;
  std::map<std::string, int> index;
  for (const auto& op : truth.at("collectives")) {
    const auto type = op.at("type").get<std::string>();
    const auto hash = op.at("group_hash").get<std::string>();
    lines.push_back(fmt::format(
        "{}_{}_{}_1 {} {} {} {} {} {} {}-{}", type, hash.substr(hash.size() - 3), index[hash]++,
        type, op.at("group").get<std::string>(), hash, op.at("count").get<std::int64_t>(),
        op.at("data_type").get<std::string>(), op.at("algorithm").get<std::string>(),
        op.at("start_ns").get<TimeNs>(), op.at("end_ns").get<TimeNs>()));
  }
  return lines;
}

std::vector<std::string> FoundCollectives(const Session& session) {
  std::vector<std::string> lines;
  const Collectives& ops = session.collectives;
  const auto text = [&](StringId id) { return session.strings.View(id); };
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    lines.push_back(fmt::format("{} {} {} {} {} {} {} {}-{}", text(ops.name[i]),
                                text(ops.op_type[i]), text(ops.group_name[i]), text(ops.group[i]),
                                ops.count[i], NameOf(CommunicationDataTypes(), ops.data_type[i]),
                                text(ops.algorithm[i]), ops.start[i], ops.end[i]));
  }
  return lines;
}

class PlantedCollectivesOf : public ::testing::TestWithParam<const char*> {};

TEST_P(PlantedCollectivesOf, ComeBackWithAllTheirParts) {
  const std::vector<PlantedCapture> captures = test::SharedRawCaptures(GetParam());
  MPA_SKIP_WITHOUT(captures);
  for (const PlantedCapture& capture : captures) {
    SCOPED_TRACE(capture.path.string());
    const Session session = ReadSession(capture.path, Parts::kCann);
    EXPECT_EQ(FoundCollectives(session), PlantedCollectives(capture.truth));
    EXPECT_EQ(FoundParts(session), PlantedParts(capture.truth));
    for (std::size_t i = 0; i < session.parts.Size(); ++i) {
      const auto task = static_cast<std::size_t>(session.parts.task[i]);
      EXPECT_EQ(session.tasks.kind[task], TaskKind::kCollectivePart);
      EXPECT_EQ(session.tasks.detail[task], static_cast<std::int32_t>(i));
    }
    for (const std::int64_t size : session.collectives.rank_size) {
      EXPECT_EQ(size, capture.truth.at("options").at("ranks").get<std::int64_t>());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Raw, PlantedCollectivesOf,
                         ::testing::Values("level0", "level1", "stack_mstx_gc", "hwts", "two_ranks",
                                           "truncated_framework", "truncated_tensor_info"),
                         [](const auto& test) { return std::string(test.param); });

// Of a capture that is cut off there are fewer, but none is invented.
TEST(CollectivesOfCutCaptures, ArePlantedOnes) {
  for (const char* name :
       {"truncated", "truncated_device", "truncated_api_event", "truncated_task_track"}) {
    const std::vector<PlantedCapture> captures = test::SharedRawCaptures(name);
    MPA_SKIP_WITHOUT(captures);
    SCOPED_TRACE(name);
    const Session session = ReadSession(captures[0].path, Parts::kCann);
    const std::vector<std::string> found = FoundParts(session);
    const std::vector<std::string> planted = PlantedParts(captures[0].truth);
    EXPECT_TRUE(std::includes(planted.begin(), planted.end(), found.begin(), found.end()));
    EXPECT_GT(found.size(), planted.size() / 2);
  }
}

}  // namespace
}  // namespace mpa::raw
