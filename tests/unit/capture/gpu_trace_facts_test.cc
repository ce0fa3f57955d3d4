// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/base/error.h"
#include "mpa/capture/capture.h"
#include "support/files.h"

namespace mpa {
namespace {

const std::string kJob = R"("distributedInfo":{"backend":"nccl","rank":3,"world_size":8})";
const std::string kEvents =
    R"("traceEvents":[{"name":"a","args":{"dims":[[1,2],[3]],"rank":7}},{"name":"b"}])";

class GpuTraceFactsTest : public ::testing::Test {
 protected:
  GpuTraceFacts Read(const std::string& content) const {
    return ReadGpuTraceFacts(dir_.Write("trace.json", content));
  }
  GpuTraceFacts ReadPacked(const std::string& content) const {
    return ReadGpuTraceFacts(dir_.Write("trace.json.gz", test::Gzip(content)));
  }

  const test::TempDir dir_;
};

TEST_F(GpuTraceFactsTest, ReadsTheMembersBeforeTheEvents) {
  const GpuTraceFacts facts =
      Read("{" + kJob + R"(,"deviceProperties":[{"name":"A100"}],"with_stack":1,)" + kEvents + "}");
  EXPECT_EQ(facts.rank, 3);
  EXPECT_EQ(facts.world_size, 8);
  EXPECT_EQ(facts.device_name, "A100");
  EXPECT_TRUE(facts.with_stack);
  EXPECT_FALSE(facts.record_shapes || facts.profile_memory || facts.with_modules);
}

// Arrays within events look like the end of the events.
TEST_F(GpuTraceFactsTest, ReadsTheMembersBehindManyArrays) {
  std::string events = R"("traceEvents":[{"a":1})";
  for (int i = 0; i < 500; ++i) events += R"(,{"args":{"Input Dims":[[1]],"Input type":["a"]}})";
  const GpuTraceFacts facts = Read("{" + events + "]," + kJob + "}");
  EXPECT_EQ(facts.rank, 3);
  EXPECT_EQ(facts.world_size, 8);
}

TEST_F(GpuTraceFactsTest, ReadsTheMembersBehindALongFirstOne) {
  const std::string metadata = R"("metadata":")" + std::string(600 << 10, 'x') + "\"";
  EXPECT_EQ(Read("{" + metadata + "," + kJob + "," + kEvents + "}").rank, 3);
}

TEST_F(GpuTraceFactsTest, ReadsTheMembersBehindTheEvents) {
  const std::string behind =
      kEvents + ",\n" + kJob + R"(,"deviceProperties":[{"name":"A100"}],"record_shapes":true)";
  for (const GpuTraceFacts& facts : {Read("{" + behind + "}\n"), ReadPacked("{" + behind + "}")}) {
    EXPECT_EQ(facts.rank, 3);
    EXPECT_EQ(facts.world_size, 8);
    EXPECT_EQ(facts.device_name, "A100");
    EXPECT_TRUE(facts.record_shapes);
  }
}

// More than is read of either end.
TEST_F(GpuTraceFactsTest, ReadsTheEndOfALargeTrace) {
  std::string events = R"({"name":"a"})";
  for (int i = 0; i < 50'000; ++i) events += R"(,{"name":"aten::mm"})";
  const std::string trace = R"({"traceEvents":[)" + events + "]," + kJob + "}";
  EXPECT_EQ(Read(trace).rank, 3);
  EXPECT_EQ(ReadPacked(trace).rank, 3);
}

TEST_F(GpuTraceFactsTest, TakesWhatIsMissingOrBrokenForAbsent) {
  EXPECT_FALSE(Read("{" + kEvents + "}").rank);
  EXPECT_FALSE(Read("{" + kEvents + "," + kJob).rank);  // cut off
  EXPECT_FALSE(Read(R"({"distributedInfo":{"rank":-1},)" + kEvents + "}").rank);
  EXPECT_FALSE(Read("").rank);
  EXPECT_THROW(ReadGpuTraceFacts(dir_ / "none.json"), Error);
}

}  // namespace
}  // namespace mpa
