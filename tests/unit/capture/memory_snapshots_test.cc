// SPDX-License-Identifier: Apache-2.0
// Memory snapshots, alone and beside captures.
#include <gtest/gtest.h>

#include <algorithm>

#include "mpa/capture/capture.h"
#include "support/failures.h"
#include "support/files.h"
#include "support/pickling.h"

namespace mpa {
namespace {

using test::ErrorOf;

class MemorySnapshotFiles : public ::testing::Test {
 protected:
  std::filesystem::path Snapshot(std::string_view name) const {
    return dir_.Write(name, test::Pickled({{"segments", nlohmann::ordered_json::array()}}));
  }
  void Capture(const std::string& name) const {
    dir_.Write(name + "/ASCEND_PROFILER_OUTPUT/trace_view.json", "[]");
  }
  Discovery Find(std::string_view name) const { return Discover(dir_ / name, {.force = true}); }
  static std::vector<std::string> SnapshotsOf(const RankInput& rank) {
    std::vector<std::string> names;
    for (const CaptureFile& file : rank.files) {
      if (file.kind == FileKind::kMemorySnapshot) names.push_back(file.path.filename().string());
    }
    return names;
  }

  test::TempDir dir_;
};

using Names = std::vector<std::string>;

TEST_F(MemorySnapshotFiles, ContentDecidesNotTheName) {
  for (const char* name : {"a.pkl", "b.pickle", "c.snapshot", "d"}) {
    const RankInput rank = OpenRank(Snapshot(name), {.force = true});
    EXPECT_EQ(rank.kind, CaptureKind::kSnapshot) << name;
    EXPECT_EQ(SnapshotsOf(rank), Names{name});
  }
  const auto other = dir_.Write("model.pkl", test::Pickled({{"weights", 7}}));
  EXPECT_HAS_TEXT(ErrorOf([&] { OpenRank(other, {}); }).what(), "not a memory snapshot of PyTorch");
}

TEST_F(MemorySnapshotFiles, EachOfADirectoryIsARankByItsName) {
  Snapshot("job/snapshot_rank3.pkl");
  Snapshot("job/deeper/snapshot_rank12.pickle");
  dir_.Write("job/model.pkl", test::Pickled({{"weights", 7}}));
  Discovery found = Find("job");
  ASSERT_EQ(found.ranks.size(), 2u);
  EXPECT_TRUE(found.unusable.empty());
  NameRanks(found.ranks);
  std::vector<std::int64_t> ranks;
  for (const RankInput& rank : found.ranks) ranks.push_back(rank.rank.Number());
  std::ranges::sort(ranks);
  EXPECT_EQ(ranks, (std::vector<std::int64_t>{3, 12}));
}

TEST_F(MemorySnapshotFiles, ThoseInACaptureBelongToIt) {
  Capture("r_ascend_pt");
  const RankInput before = OpenRank(dir_ / "r_ascend_pt", {.force = true});
  Snapshot("r_ascend_pt/snapshot.pkl");
  Snapshot("r_ascend_pt/ASCEND_PROFILER_OUTPUT/oom.pickle");
  const RankInput rank = OpenRank(dir_ / "r_ascend_pt", {.force = true});
  EXPECT_EQ(rank.kind, before.kind);
  EXPECT_EQ(SnapshotsOf(rank), (Names{"snapshot.pkl", "oom.pickle"}));
  EXPECT_EQ(rank.files.size(), before.files.size() + 2);
}

TEST_F(MemorySnapshotFiles, OneBesideTheOnlyCaptureBelongsToIt) {
  Capture("job/r_ascend_pt");
  Snapshot("job/snapshot.pkl");
  const Discovery found = Find("job");
  ASSERT_EQ(found.ranks.size(), 1u);
  EXPECT_EQ(found.ranks[0].kind, CaptureKind::kNpuText);
  EXPECT_EQ(SnapshotsOf(found.ranks[0]), Names{"snapshot.pkl"});
}

TEST_F(MemorySnapshotFiles, BesideSeveralCapturesTheRankInTheNameDecides) {
  for (const char* name : {"job/rank0_ascend_pt", "job/rank1_ascend_pt"}) Capture(name);
  Snapshot("job/snapshot_rank1.pkl");
  Snapshot("job/snapshot.pkl");  // of either
  const Discovery found = Find("job");
  ASSERT_EQ(found.ranks.size(), 2u);
  EXPECT_EQ(SnapshotsOf(found.ranks[0]), Names{});
  EXPECT_EQ(SnapshotsOf(found.ranks[1]), Names{"snapshot_rank1.pkl"});
  EXPECT_TRUE(found.unusable.empty());
}

}  // namespace
}  // namespace mpa
