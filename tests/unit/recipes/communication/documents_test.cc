// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "recipes/communication/sums.h"

namespace mpa::recipes::communication {
namespace {

using Json = nlohmann::json;

constexpr const char *kOp = "hcom_allReduce__001_0_1", *kSend = "hcom_send__001_0_1";

CommunicationOp OfGroup(const char* name, double elapse) {
  CommunicationOp op;
  op.name = name;
  op.group = "7";
  op.time.elapse = elapse;
  return op;
}

MatrixEntry LinkOf(const char* name, double megabytes) {
  return {.name = name,
          .group = "7",
          .source = 0,
          .destination = 0,
          .transport = "HCCS",
          .megabytes = megabytes,
          .milliseconds = 1,
          .bandwidth = 0,
          .op = ""};
}

// Both ranks have a collective of the group, of 1 ms; the first, or both, have a send of it, of 4
// ms.
class CommunicationDocuments : public testing::Test {
 protected:
  CommunicationDocuments() {
    KeepSteps({{.step = "step1",
                .p2p = {OfGroup(kSend, 4)},
                .collective = {OfGroup(kOp, 1)},
                .p2p_matrix = {LinkOf("send-total", 2)},
                .collective_matrix = {LinkOf("allreduce-total", 8)}}},
              first_);
    KeepSteps({{.step = "step1",
                .p2p = {},
                .collective = {OfGroup(kOp, 1)},
                .p2p_matrix = {},
                .collective_matrix = {}}},
              second_);
  }

  Part first_, second_;
  const Ranks ranks_{{0, first_}, {1, second_}};
};

Json Written(const TextDocument& document) {
  std::string text;
  document.write([&](std::string_view piece) { text += piece; });
  return Json::parse(text);
}

double ElapseOf(const Json& op) { return op.at("Communication Time Info").at("Elapse Time(ms)"); }

// The Python tool keeps an operator under the ranks that have operators of its kind in the group.
TEST_F(CommunicationDocuments, OperatorsBetweenTwoRanksHaveTheirOwnRanks) {
  const std::vector<Group> groups = FindGroups(ranks_);
  const Json json = Written(TimeDocument(std::make_shared<OpSums>(SumOps(ranks_)), groups));
  ASSERT_EQ(json.size(), 2u);
  const Json &sends = json.at("(0,)").at("step1"), &collectives = json.at("(0, 1)").at("step1");
  EXPECT_EQ(ElapseOf(sends.at(std::string(kSend) + "@7").at("0")), 4);
  EXPECT_EQ(ElapseOf(sends.at("Total Op Info@7").at("0")), 4);
  EXPECT_FALSE(collectives.contains(std::string(kSend) + "@7"));
  EXPECT_EQ(ElapseOf(collectives.at("Total Op Info@7").at("0")), 1);
  EXPECT_EQ(ElapseOf(collectives.at("Total Op Info@7").at("1")), 1);
}

TEST_F(CommunicationDocuments, BothKindsOfTheSameRanksHaveOneTotal) {
  second_.steps[0].p2p.push_back(OfGroup(kSend, 4));
  const std::vector<Group> groups = FindGroups(ranks_);
  const Json json = Written(TimeDocument(std::make_shared<OpSums>(SumOps(ranks_)), groups));
  ASSERT_EQ(json.size(), 1u);
  const Json& step = json.at("(0, 1)").at("step1");
  EXPECT_EQ(ElapseOf(step.at("Total Op Info@7").at("0")), 5);
  const Json links =
      Written(MatrixDocument(std::make_shared<LinkSums>(SumLinks(ranks_, groups)), groups));
  const Json& total = links.at("(0, 1)").at("step1").at("Total Op Info@7").at("0-0");
  EXPECT_EQ(total.at("Transit Size(MB)"), 10);
  EXPECT_EQ(total.at("Bandwidth(GB/s)"), 5);  // 10 MB in 2 ms
}

}  // namespace
}  // namespace mpa::recipes::communication
