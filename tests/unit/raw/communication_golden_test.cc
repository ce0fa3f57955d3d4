// SPDX-License-Identifier: Apache-2.0
// The sums of collectives are those of the profiler's own files, to the last digit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "mpa/raw/summaries.h"
#include "raw/raw_captures.h"

namespace mpa::raw {
namespace {

using nlohmann::json;

json TimeJson(const CommunicationTime& time, bool is_total) {
  json result = {{"Elapse Time(ms)", time.elapse},
                 {"Transit Time(ms)", time.transit},
                 {"Wait Time(ms)", time.wait},
                 {"Synchronization Time(ms)", time.synchronization},
                 {"Idle Time(ms)", time.idle},
                 {"Wait Time Ratio", time.wait_ratio},
                 {"Synchronization Time Ratio", time.synchronization_ratio}};
  if (!is_total) result["Start Timestamp(us)"] = time.start_us;
  return result;
}

json LinkJson(const LinkUse& use, bool is_total) {
  json sizes = json::object();
  for (const auto& [size, packets] : use.sizes) {
    sizes[json(size).dump()] = {packets.first, packets.second};
  }
  json result = {{"Transit Size(MB)", use.megabytes},
                 {"Transit Time(ms)", use.milliseconds},
                 {"Size Distribution", sizes}};
  if (!is_total) {
    result["Bandwidth(GB/s)"] = use.bandwidth;
    result["Large Packet Ratio"] = use.large_packet_ratio;
  }
  return result;
}

json OpsJson(const std::vector<CommunicationOp>& ops) {
  const std::map<LinkKind, std::string> kinds = {{LinkKind::kRdma, "RDMA"},
                                                 {LinkKind::kHccs, "HCCS"},
                                                 {LinkKind::kPcie, "PCIE"},
                                                 {LinkKind::kSdma, "SDMA"},
                                                 {LinkKind::kSio, "SIO"}};
  json result = json::object();
  for (const CommunicationOp& op : ops) {
    const bool is_total = op.group.empty();
    json links;
    for (const auto& [kind, use] : op.links) links[kinds.at(kind)] = LinkJson(use, is_total);
    result[is_total ? op.name : op.name + "@" + op.group] = {
        {"Communication Time Info", TimeJson(op.time, is_total)},
        {"Communication Bandwidth Info", links}};
  }
  return result;
}

json MatrixJson(const std::vector<MatrixEntry>& entries) {
  json result = json::object();
  for (const MatrixEntry& entry : entries) {
    json link = {{"Transport Type", entry.transport},
                 {"Transit Size(MB)", entry.megabytes},
                 {"Transit Time(ms)", entry.milliseconds},
                 {"Bandwidth(GB/s)", entry.bandwidth}};
    if (!entry.op.empty()) link["Op Name"] = entry.op;
    result[entry.name + "@" + entry.group][fmt::format("{}-{}", entry.source, entry.destination)] =
        link;
  }
  return result;
}

/// Makes start times equal that differ by no more than a double of epoch microseconds can tell: the
/// profiler's are shifted by some ten ns before they are rounded.
void ForgiveStarts(json& expected, const json& found) {
  constexpr const char* kStart = "Start Timestamp(us)";
  for (auto& [key, value] : expected.items()) {
    if (!value.is_object() || !found.contains(key)) continue;
    const json& other = found.at(key);
    ForgiveStarts(value, other);
    if (!value.contains(kStart) || !other.contains(kStart)) continue;
    const double apart = value.at(kStart).get<double>() - other.at(kStart).get<double>();
    if (std::abs(apart) <= 0.25) value[kStart] = other.at(kStart);
  }
}

class CommunicationOf : public ::testing::TestWithParam<const char*> {};

TEST_P(CommunicationOf, IsThatOfTheProfiler) {
  const auto captures = test::SharedRawCaptures(GetParam());
  MPA_SKIP_WITHOUT(captures);
  for (const test::PlantedCapture& capture : captures) {
    if (!exists(capture.parsed / "communication.json")) GTEST_SKIP() << "not parsed";
    SCOPED_TRACE(capture.path.string());
    const Session session = ReadSession(capture.path, Parts::kCann | Parts::kFramework);
    json communication = json::object(), matrix = json::object();
    for (const CommunicationStep& step : SummariseCommunication(session)) {
      communication[step.step] = {{"p2p", OpsJson(step.p2p)},
                                  {"collective", OpsJson(step.collective)}};
      matrix[step.step] = {{"p2p", MatrixJson(step.p2p_matrix)},
                           {"collective", MatrixJson(step.collective_matrix)}};
    }
    auto expected = json::parse(std::ifstream(capture.parsed / "communication.json"));
    ForgiveStarts(expected, communication);
    EXPECT_EQ(json::diff(expected, communication), json::array());
    const auto links = json::parse(std::ifstream(capture.parsed / "communication_matrix.json"));
    EXPECT_EQ(json::diff(links, matrix), json::array());
  }
}

INSTANTIATE_TEST_SUITE_P(Raw, CommunicationOf,
                         ::testing::Values("level1", "two_ranks", "hwts", "truncated_framework",
                                           "truncated_tensor_info"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace mpa::raw
