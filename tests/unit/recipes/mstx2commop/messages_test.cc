// SPDX-License-Identifier: Apache-2.0
#include "recipes/mstx2commop/messages.h"

#include <gtest/gtest.h>

namespace mpa::recipes::commop {
namespace {

TEST(MarkedOperators, AreReadFromDocumentsAndFields) {
  bool broken = false;
  const auto json = ParseMarkedOperator(
      R"({\"streamId\": \"32\",\"count\": 25701386,\"dataType\": \"fp16\",\"groupName\": \"g\",\"opName\": \"hcom_x\"})",
      broken);
  ASSERT_TRUE(json);
  EXPECT_FALSE(broken);
  EXPECT_EQ(json->type, "hcom_x_");
  EXPECT_EQ(json->group, "g");
  EXPECT_EQ(json->data_type, "FP16");
  EXPECT_EQ(json->count, "25701386");
  EXPECT_EQ(json->stream, 32);
  const auto fields = ParseMarkedOperator("comm:HcclAllReduce,g,int8,5", broken);
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->type, "hcom_AllReduce_");
  EXPECT_EQ(fields->count, "5");
  EXPECT_EQ(fields->stream, -1);
}

TEST(MarkedOperators, OtherMessagesAreNone) {
  bool broken = false;
  for (const char* text : {"", "forward", R"({"a": 1})", "command:x"}) {
    EXPECT_FALSE(ParseMarkedOperator(text, broken)) << text;
    EXPECT_FALSE(broken) << text;
  }
  for (const char* text : {R"({"opName": "x"})", R"({"opName)", "comm:a,b,c", "comm:a,b,c,d,e"}) {
    EXPECT_FALSE(ParseMarkedOperator(text, broken)) << text;
    EXPECT_TRUE(broken) << text;
  }
}

}  // namespace
}  // namespace mpa::recipes::commop
