// SPDX-License-Identifier: Apache-2.0
// From a directory with captures of many ranks to the result of a recipe.
#include "mpa/pipeline/cluster.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "mpa/base/parallel.h"
#include "mpa/io/input_text.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/parts.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "pipeline/part_places.h"
#include "support/failures.h"
#include "support/files.h"

namespace mpa {
namespace {

using Texts = std::vector<std::string>;

constexpr Option<bool> kLoud = Switch("loud", "With a mark");

std::size_t CountOps(const RankTrace& trace, const RecipeArguments&) {
  return trace.host_ops.Size();
}

void ListCounts(const std::vector<OfRank<std::size_t>>& ranks, const RecipeArguments& arguments,
                OutputSelection, Report& report) {
  for (const auto& [rank, count] : ranks) {
    report.lines.push_back(RankName(rank) + ": " + std::to_string(count) +
                           (arguments[kLoud] ? "!" : ""));
  }
}

// Counts the operators of each rank: "<rank>: <count>" on the screen.
Recipe CountOperators() {
  RecipeInfo info;
  info.name = "count";
  info.needs = Tables::kHostOps;
  return MakeRecipe<CountOps, ListCounts>(std::move(info));
}

ClusterOutcome Outcome(const ClusterRequest& request) {
  const Recipe recipe = CountOperators();
  return ReduceRanks(recipe, request.arguments, {}, MapRanks(recipe, request));
}

class ClusterTest : public ::testing::Test {
 protected:
  ~ClusterTest() override { SetJobs(0); }

  // A capture with so many operators, each in a step of its own.
  void WriteRank(const std::string& name, int rank, int operators) const {
    std::string events;
    for (int i = 0; i < operators; ++i) {
      events += std::string(i == 0 ? "" : ",") +
                R"({"ph":"X","cat":"cpu_op","name":"ProfilerStep#)" + std::to_string(i) +
                R"(","pid":1,"tid":2,"ts":)" + std::to_string(100 * i) + R"(,"dur":90})";
    }
    const std::string capture = name + "_ascend_pt/";
    dir_.Write(capture + "ASCEND_PROFILER_OUTPUT/trace_view.json", "[" + events + "]");
    dir_.Write(capture + "profiler_info_" + RankName(rank) + ".json", "{}");
  }
  // A GPU trace with so many operators. The rank stands before or behind the events.
  void WriteGpuRank(const std::string& name, int rank, int operators, bool behind = false) const {
    std::string events;
    for (int i = 0; i < operators; ++i) {
      events += std::string(i == 0 ? "" : ",") +
                R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":1,"dur":2})";
    }
    const std::string job = R"("distributedInfo":{"rank":)" + RankName(rank) + "}";
    const std::string list = R"("traceEvents":[)" + events + "]";
    dir_.Write(name, "{" + (behind ? list + "," + job : job + "," + list) + "}");
  }
  std::filesystem::path PartsDirectory() const {
    std::filesystem::create_directory(dir_ / "parts");
    return dir_ / "parts";
  }
  ClusterRequest Request() const {
    ClusterRequest request;
    request.directory = dir_ / "";
    request.open.force = true;
    return request;
  }
  Texts Run(const ClusterRequest& request) { return TextsOf(Outcome(request).report.lines); }

  const test::TempDir dir_;
};

TEST_F(ClusterTest, GivesThePartsInOrderOfRankWhateverTheirNames) {
  WriteRank("a", 10, 3);
  WriteRank("b", 2, 2);
  WriteRank("c", 1, 1);
  for (const int jobs : {1, 4}) {
    SetJobs(jobs);
    EXPECT_EQ(Run(Request()), (Texts{"1: 1", "2: 2", "10: 3"}));
  }
}

TEST_F(ClusterTest, ReadsTheChosenRanksOnlyAndMissesThoseThatAreNotThere) {
  WriteRank("a", 0, 1);
  WriteRank("b", 1, 2);
  ClusterRequest request = Request();
  request.ranks = {1, 7};
  const ClusterOutcome outcome = Outcome(request);
  EXPECT_EQ(TextsOf(outcome.report.lines), Texts{"1: 2"});
  EXPECT_TRUE(outcome.partial);
  ASSERT_EQ(outcome.report.notes.size(), 1u);
  EXPECT_HAS_TEXT(outcome.report.notes[0], "rank 7 not found");
}

TEST_F(ClusterTest, TakesTheRanksOfGpuTracesFromTheTraces) {
  WriteGpuRank("a.pt.trace.json", 10, 1);
  WriteGpuRank("b.pt.trace.json", 2, 2, /*behind=*/true);
  EXPECT_EQ(Run(Request()), (Texts{"2: 2", "10: 1"}));
  ClusterRequest request = Request();
  request.ranks = {2};
  EXPECT_EQ(Run(request), Texts{"2: 2"});
}

// The name of a GPU trace ends in milliseconds since the epoch.
TEST_F(ClusterTest, TakesTheLatestOfSeveralGpuTracesOfARank) {
  WriteGpuRank("b_1.1694128201545.pt.trace.json", 3, 1);
  WriteGpuRank("a_1.1694128209999.pt.trace.json", 3, 2);
  const ClusterOutcome outcome = Outcome(Request());
  EXPECT_EQ(TextsOf(outcome.report.lines), Texts{"3: 2"});
  ASSERT_EQ(outcome.report.notes.size(), 2u);
  EXPECT_EQ(outcome.report.notes[1], "1 of 2 traces analysed");
}

TEST_F(ClusterTest, LosesOnlyTheRankThatIsBroken) {
  WriteRank("a", 0, 1);
  WriteRank("b", 1, 2);
  dir_.Write("b_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json", "[nonsense]");
  const ClusterOutcome outcome = Outcome(Request());
  EXPECT_EQ(TextsOf(outcome.report.lines), Texts{"0: 1"});
  EXPECT_TRUE(outcome.partial);
  ASSERT_FALSE(outcome.report.notes.empty());
  EXPECT_HAS_TEXT(outcome.report.notes[0], "b_ascend_pt");
}

TEST_F(ClusterTest, TakesTheLatestOfSeveralCapturesOfARank) {
  WriteRank("host_1_20260101120000000", 0, 1);
  WriteRank("host_1_20260301120000000", 0, 3);
  WriteRank("host_1_20260201120000000", 0, 2);
  const ClusterOutcome outcome = Outcome(Request());
  EXPECT_EQ(TextsOf(outcome.report.lines), Texts{"0: 3"});
  EXPECT_TRUE(outcome.partial);  // what is left out is said
  ASSERT_EQ(outcome.report.notes.size(), 3u);
  EXPECT_EQ(outcome.report.notes[2], "1 of 3 captures analysed");
}

// A later capture of one rank alone is no reason to mix its session with the one before.
TEST_F(ClusterTest, AnalysesTheSessionThatIsWhole) {
  WriteRank("one_1_20260101120000000", 0, 1);
  WriteRank("two_1_20260101120000000", 1, 1);
  WriteRank("two_1_20260201120000000", 1, 2);
  const ClusterOutcome outcome = Outcome(Request());
  EXPECT_EQ(TextsOf(outcome.report.lines), (Texts{"0: 1", "1: 1"}));
  EXPECT_TRUE(outcome.partial);
  ASSERT_EQ(outcome.report.notes.size(), 2u);
  const std::string& note = outcome.report.notes[0];
  EXPECT_LT(note.find("two_1_20260201120000000"), note.find("(rank 1) is left out")) << note;
}

TEST_F(ClusterTest, ComputesNothingAcrossJobsThatAreDaysApart) {
  WriteRank("one_1_20260101120000000", 0, 1);
  WriteRank("two_1_20260101120500000", 1, 2);
  WriteRank("one_1_20260105120000000", 2, 3);
  const ClusterOutcome outcome = Outcome(Request());
  EXPECT_EQ(TextsOf(outcome.report.lines), Texts{"2: 3"});
  EXPECT_TRUE(outcome.partial);
  ASSERT_EQ(outcome.report.notes.size(), 3u);
  EXPECT_HAS_TEXT(outcome.report.notes[0], "belongs to another job");
}

TEST_F(ClusterTest, CutsEveryRankToTheStep) {
  WriteRank("a", 0, 4);
  ClusterRequest request = Request();
  request.step = 2;
  EXPECT_EQ(Run(request), Texts{"0: 1"});
}

TEST_F(ClusterTest, ReadsRanksThatAreLargerThanTheMemoryOneAfterTheOther) {
  for (int rank = 0; rank < 4; ++rank) WriteRank(RankName(rank), rank, rank);
  ClusterRequest request = Request();
  request.memory_bytes = 1;
  SetJobs(4);
  EXPECT_EQ(Run(request).size(), 4u);
}

TEST_F(ClusterTest, HandsTheRecipeItsOptions) {
  WriteRank("a", 0, 1);
  ClusterRequest request = Request();
  request.arguments.Set(kLoud, "");
  EXPECT_EQ(Run(request), Texts{"0: 1!"});
}

TEST_F(ClusterTest, PutsPartsFromFilesTogetherAsIfTheyHadNotTravelled) {
  WriteRank("a", 0, 3);
  WriteRank("b", 1, 2);
  const Recipe recipe = CountOperators();
  const std::filesystem::path parts = PartsDirectory();
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(WriteShard({{&recipe, {}}}, Request(), {parts, {i, 2}}).files.size(), 1u);
  const ClusterOutcome outcome =
      ReduceRanks(recipe, {}, {}, ReadParts({parts}, {{&recipe}}).front().mapped);
  EXPECT_EQ(TextsOf(outcome.report.lines), (Texts{"0: 3", "1: 2"}));
  EXPECT_FALSE(outcome.partial);
}

TEST_F(ClusterTest, ReadsPartsOfOneSetOfArguments) {
  WriteRank("a", 0, 3);
  const Recipe recipe = CountOperators();
  const std::filesystem::path parts = PartsDirectory();
  RecipeArguments loud;
  loud.Set(kLoud, "");
  for (const RecipeArguments& arguments : {RecipeArguments(), loud})
    WriteShard({{&recipe, arguments}}, Request(), {parts});
  const Error error = test::ErrorOf([&] { ReadParts({parts}, {{&recipe}}); });
  EXPECT_HAS_TEXT(error.what(), "made with different options");
  const auto sets = ReadParts({parts}, {{&recipe, loud}});
  EXPECT_EQ(TextsOf(ReduceRanks(recipe, sets[0].arguments, {}, sets[0].mapped).report.lines),
            Texts{"0: 3!"});
}

TEST_F(ClusterTest, LosesOnlyThePartThatIsDamaged) {
  WriteRank("a", 0, 3);
  WriteRank("b", 1, 2);
  const Recipe recipe = CountOperators();
  const std::filesystem::path parts = PartsDirectory();
  const auto written = WriteShard({{&recipe, {}}}, Request(), {parts});
  std::filesystem::resize_file(written.files[0], std::filesystem::file_size(written.files[0]) - 1);
  const MappedRanks read = ReadParts({parts}, {{&recipe}}).front().mapped;
  ASSERT_EQ(read.parts.size(), 1u);
  EXPECT_EQ(read.parts[0].rank, 1);
  EXPECT_TRUE(read.partial);
  EXPECT_HAS_TEXT(read.notes[0], "the part ends early");
}

TEST_F(ClusterTest, TakesNoSizeInAPackedFileOnTrust) {
  for (const char* name : {"a", "b", "c"}) WriteRank(name, name[0] - 'a', 1);
  const Recipe recipe = CountOperators();
  const std::filesystem::path parts = PartsDirectory(), packed = dir_ / "packed";
  WriteShard({{&recipe, {}}}, Request(), {parts});
  std::filesystem::create_directory(packed);
  const std::filesystem::path file = PackParts({parts}, {{&recipe}}, packed).file;
  const std::string whole(io::InputText(file, io::Content::kAsIs).text());
  std::string_view content = whole;
  const auto index = TakeSealed<PackIndex>(content);
  ASSERT_EQ(index.rows.size(), 4u);  // the list, and the ranks in order
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const auto ranks_read = [&](const PackIndex& forged) {
    io::WriteText(file, Sealed(forged) + std::string(content));
    std::vector<std::int64_t> ranks;
    const MappedRanks read = ReadParts({packed}, {{&recipe}}).front().mapped;
    for (const RankPart& part : read.parts) ranks.push_back(part.rank.Number());
    EXPECT_EQ(read.partial, ranks.size() < 3);
    return ranks;
  };
  using Ranks = std::vector<std::int64_t>;
  EXPECT_EQ(ranks_read(index), (Ranks{0, 1, 2}));
  // The last piece alone may be of any size: what lies behind it is of nobody.
  for (const std::uint64_t size : {kMost, kMost - 7, std::uint64_t{1} << 63, std::uint64_t{0}}) {
    PackIndex forged = index;
    forged.rows[3].rest_bytes = size;
    EXPECT_EQ(ranks_read(forged), size == 0 ? (Ranks{0, 1}) : (Ranks{0, 1, 2})) << size;
    forged.rows[2].rest_bytes = size;
    EXPECT_EQ(ranks_read(forged), Ranks{0}) << size;
  }
  PackIndex forged = index;
  forged.rows[2].name = forged.rows[1].name;  // a copy that is of another rank
  EXPECT_EQ(ranks_read(forged), (Ranks{0, 2}));
  forged.rows.pop_back();
  forged.rows.insert(forged.rows.begin(), {"count.job", kMost, kMost});
  const Error error = test::ErrorOf([&] { ranks_read(forged); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
}

TEST_F(ClusterTest, KeepsPartsOfCapturesThatHaveNotChanged) {
  WriteRank("a", 0, 3);
  WriteRank("b", 1, 2);
  const Recipe recipe = CountOperators();
  const std::filesystem::path parts = PartsDirectory();
  EXPECT_EQ(WriteShard({{&recipe, {}}}, Request(), {parts}).kept, 0u);
  EXPECT_EQ(WriteShard({{&recipe, {}}}, Request(), {parts}).kept, 2u);
  WriteRank("b", 1, 5);
  EXPECT_EQ(WriteShard({{&recipe, {}}}, Request(), {parts}).kept, 1u);
  const auto sets = ReadParts({parts}, {{&recipe}});
  EXPECT_EQ(TextsOf(ReduceRanks(recipe, {}, {}, sets[0].mapped).report.lines),
            (Texts{"0: 3", "1: 5"}));
}

TEST_F(ClusterTest, RefusesADirectoryWithoutCaptures) {
  const Error error = test::ErrorOf([&] { Run(Request()); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
}

}  // namespace
}  // namespace mpa
