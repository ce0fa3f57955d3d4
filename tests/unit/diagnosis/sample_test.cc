// SPDX-License-Identifier: Apache-2.0
// Accounts, clocks and arrivals of captures beside the project (../shared/data/npu): two ranks of a
// job of eight. The expected numbers were measured independently.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "mpa/collectives/arrivals.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/measure/accounting.h"
#include "pipeline/load_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

class SampleDiagnosisTest : public ::testing::Test {
 protected:
  // False when the captures are not there.
  bool Load(const std::string& name) {
    const fs::path data = fs::path(MPA_SOURCE_DIR).parent_path() / "shared" / "data" / "npu" / name;
    for (const char* rank : {"rank0_ascend_pt", "rank1_ascend_pt"}) {
      if (!fs::exists(data / rank)) return false;
      LoadedRank loaded = LoadRank(OpenRank(data / rank, {}),
                                   {kAccountTables | Tables::kJobInfo | Tables::kOpStacks, ""}, {});
      loaded.trace.rank = static_cast<std::int64_t>(traces_.size());
      traces_.push_back(std::move(loaded.trace));
    }
    return true;
  }
  std::vector<RankCollectives> Meet() const {
    std::vector<RankCollectives> ranks;
    for (const RankTrace& trace : traces_) ranks.push_back(CollectivesOfRank(trace));
    return ranks;
  }

  std::vector<RankTrace> traces_;
};

#define LOAD_OR_SKIP(name) \
  if (!Load(name)) GTEST_SKIP() << "no captures beside the project"

void ExpectNear(TimeNs actual, TimeNs expected, TimeNs tolerance, const char* what) {
  EXPECT_NEAR(static_cast<double>(actual), static_cast<double>(expected),
              static_cast<double>(tolerance))
      << what;
}

struct Expected {
  TimeNs offset, window, compute, communication, wait, transfer, inner, free_with_copies, copies;
  TimeNs dispatch, copy, python, launch_and_queue, aclop, dataloader, tail;
};

// In ns; what the rules may divide differently has a tolerance of 0.6 ms (dispatch and aclop) and
// 0.3 ms, the sums have none but rounding.
void ExpectAccount(const RankTrace& trace, const Expected& expected) {
  const RankAccount account = AccountRank(trace);
  ASSERT_EQ(account.steps.size(), 1u);
  const StepAccount& step = account.steps[0];
  CategoryTimes categories = step.categories;
  TimeNs tail = 0;
  for (const Piece& piece : account.pieces) {
    if ((piece.tags & kTail) == 0) continue;
    tail += piece.end - piece.begin;
    categories[piece.category] -= piece.end - piece.begin;  // the tail is listed apart
  }
  constexpr TimeNs kRounding = 1000;
  ExpectNear(account.clock.offset, expected.offset, 100, "offset");
  ExpectNear(step.window.end - step.window.begin, expected.window, kRounding, "window");
  ExpectNear(step.categories.SumOf(IsCompute), expected.compute, kRounding, "compute");
  ExpectNear(step.categories.SumOf(IsCommunication), expected.communication, kRounding, "exposed");
  ExpectNear(step.categories[TimeCategory::kWaitPeer], expected.wait, kRounding, "wait");
  ExpectNear(step.categories[TimeCategory::kTransfer], expected.transfer, kRounding, "transfer");
  ExpectNear(step.categories[TimeCategory::kInnerWait] + step.categories[TimeCategory::kInnerIdle],
             expected.inner, kRounding, "inner");
  const TimeNs copies = step.categories.SumOf(IsDeviceCopy);
  ExpectNear(copies, expected.copies, kRounding, "copies");
  ExpectNear(step.categories.SumOf(IsFree) + copies, expected.free_with_copies, kRounding, "free");
  constexpr TimeNs kRules = 600'000, kOther = 300'000;
  ExpectNear(categories[TimeCategory::kDispatchOp] + categories[TimeCategory::kDispatchCann] +
                 categories[TimeCategory::kDispatchComm],
             expected.dispatch, kRules, "dispatch");
  ExpectNear(categories[TimeCategory::kAclOp] + categories[TimeCategory::kCompile], expected.aclop,
             kRules, "aclop");
  // With the short copies behind the first one, which were not counted.
  ExpectNear(categories[TimeCategory::kHostCopy], expected.copy, 1'000'000, "copy");
  // With the profiler's own frames, which were not told from others.
  ExpectNear(categories[TimeCategory::kPython] + categories[TimeCategory::kProfiler],
             expected.python, kOther, "python");
  // The device lets time pass between kernels that wait in its queue: they are counted together.
  ExpectNear(categories[TimeCategory::kLaunchLatency] + categories[TimeCategory::kDeviceQueue] +
                 categories[TimeCategory::kQueue],
             expected.launch_and_queue, kOther, "launch latency");
  ExpectNear(categories[TimeCategory::kDataLoader], expected.dataloader, kOther, "dataloader");
  ExpectNear(tail, expected.tail, kOther, "tail");
}

TEST_F(SampleDiagnosisTest, AccountsOfTextCapturesHaveTheMeasuredLeaves) {
  LOAD_OR_SKIP("text/level1");
  ExpectAccount(traces_[0], {.offset = 11'132,
                             .window = 155'986'000,
                             .compute = 8'874'000,
                             .communication = 101'963'000,
                             .wait = 97'858'000,
                             .transfer = 3'932'000,
                             .inner = 173'000,
                             .free_with_copies = 45'149'000,
                             .copies = 853'000,
                             .dispatch = 18'775'000,
                             .copy = 5'294'000,
                             .python = 5'291'000,
                             .launch_and_queue = 4'889'000 + 434'000,
                             .aclop = 4'397'000,
                             .dataloader = 3'332'000,
                             .tail = 1'502'000});
  ExpectAccount(traces_[1], {.offset = 23'936,
                             .window = 153'888'000,
                             .compute = 8'878'000,
                             .communication = 96'359'000,
                             .wait = 92'263'000,
                             .transfer = 3'943'000,
                             .inner = 153'000,
                             .free_with_copies = 48'651'000,
                             .copies = 1'285'000,
                             .dispatch = 19'698'000,
                             .copy = 5'936'000,
                             .python = 6'076'000,
                             .launch_and_queue = 5'020'000 + 470'000,
                             .aclop = 4'668'000,
                             .dataloader = 3'606'000,
                             .tail = 1'543'000});
}

TEST_F(SampleDiagnosisTest, EveryCaptureIsAccountedForWhole) {
  for (const char* name : {"text/level0", "db/level0", "db/level1", "db_mstx"}) {
    traces_.clear();
    LOAD_OR_SKIP(name);
    for (const RankTrace& trace : traces_) {
      const RankAccount account = AccountRank(trace);
      ASSERT_FALSE(account.steps.empty()) << name;
      for (const StepAccount& step : account.steps) {
        EXPECT_EQ(step.categories.Sum(), step.window.end - step.window.begin) << name;
        EXPECT_EQ(step.categories[TimeCategory::kUnsplit], 0) << name;
        EXPECT_EQ(step.categories[TimeCategory::kUnknown], 0) << name;
        EXPECT_GT(step.categories[TimeCategory::kWaitPeer], 50'000'000) << name;
      }
    }
  }
}

TEST_F(SampleDiagnosisTest, RanksLeaveCollectivesAtOneTime) {
  LOAD_OR_SKIP("text/level1");
  const std::vector<RankCollectives> known = Meet();
  const JobCollectives ranks(known.begin(), known.end());
  const CollectiveInstances instances = JoinInstances(ranks);
  ASSERT_EQ(instances.size(), 4u);
  const RankClocks clocks = AlignClocks(ranks, instances);
  ASSERT_EQ(clocks.pairs.size(), 1u);
  EXPECT_EQ(clocks.pairs[0].collectives, 4u);
  ExpectNear(clocks.pairs[0].line.offset, 8100, 100, "of 6.6, 7.1, 14.8, 9.2 us");
  EXPECT_TRUE(clocks.inconsistent.empty());
  const ArrivalFinder arrivals(ranks, clocks);
  const Arrival first = arrivals.Of(instances[0]).all.back(),
                last = arrivals.Of(instances[3]).all.back();
  EXPECT_EQ(first.rank, 5) << "which is not captured";
  EXPECT_EQ(first.source, ArrivalSource::kSeen);
  EXPECT_EQ(last.rank, 5);
  // Rank 5 came 27.0 ms after its arrival at the first one to the last one.
  ExpectNear(last.time - first.time,
             (883'816'026'238 + 21'996'219) - (883'732'241'564 + 78'776'734), 20'000, "last of 5");
}

// The time behind the last arrival is that of the transfer alone: equal on all ranks.
TEST_F(SampleDiagnosisTest, TransfersTakeTheSameTimeOnAllRanks) {
  LOAD_OR_SKIP("text/level1");
  const std::vector<TimeNs> expected = {312'900, 1'370'200, 2'315'000, 221'700};
  for (const RankTrace& trace : traces_) {
    const std::vector<LastArrival> last = OwnLastArrivals(trace, CollectiveParts(trace));
    const std::vector<std::size_t> rows = trace.communications.RowsByStart();
    ASSERT_EQ(rows.size(), expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const TimeNs end = trace.communications.start[rows[i]] + trace.communications.dur[rows[i]];
      ExpectNear(end - last[rows[i]].time, expected[i], 8000, "behind the arrival");
    }
  }
}

TEST_F(SampleDiagnosisTest, ArrivalsOfUncapturedRanksAreSeenByOthers) {
  LOAD_OR_SKIP("db/level1");
  const std::vector<RankCollectives> known = Meet();
  const JobCollectives ranks(known.begin(), known.end());
  const CollectiveInstances instances = JoinInstances(ranks);
  const RankClocks clocks = AlignClocks(ranks, instances);
  const InstanceArrivals arrivals = ArrivalFinder(ranks, clocks).Of(instances.at(0));
  ASSERT_EQ(arrivals.all.size(), 8u);
  const TimeNs own = arrivals.all.front().time;
  EXPECT_EQ(arrivals.all.front().rank, 0);
  const std::vector<std::pair<std::int64_t, TimeNs>> expected = {
      {1, 3'533'000},  {3, 5'660'000},  {2, 7'153'000}, {4, 8'774'000},
      {5, 10'882'000}, {7, 13'289'000}, {6, 88'424'000}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(arrivals.all[i + 1].rank, expected[i].first);
    ExpectNear(arrivals.all[i + 1].time - own, expected[i].second, 20'000, "arrival");
  }
}

// A simulated job says itself how long its steps and its kernels took.
TEST(SimulatedAccounts, HaveTheLedgerOfTheSimulator) {
  const fs::path job =
      fs::path(MPA_SOURCE_DIR).parent_path() / "shared" / "data" / "sim" / "tp2pp2dp2";
  if (!fs::exists(job)) GTEST_SKIP() << "no simulated jobs beside the project";
  std::ifstream file(job / "truth.json");
  const auto truth = nlohmann::json::parse(file);
  std::size_t looked_at = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(job / "db")) {
    const RankInput input = OpenRank(entry.path(), {});
    ASSERT_TRUE(input.info && input.info->rank);
    const auto rank = static_cast<std::size_t>(*input.info->rank);
    const RankTrace trace = LoadRank(input, {kAccountTables, ""}, {}).trace;
    const RankAccount account = AccountRank(trace);
    ASSERT_EQ(account.steps.size(), truth["steps"].size());
    for (std::size_t step = 0; step < account.steps.size(); ++step) {
      const StepAccount& own = account.steps[step];
      const double window = static_cast<double>(own.window.end - own.window.begin) / 1e6;
      EXPECT_NEAR(window, truth["step_ms_per_rank"][rank][step].get<double>(), 0.01 * window);
      EXPECT_NEAR(static_cast<double>(own.categories.SumOf(IsCompute)) / 1e6,
                  truth["kernel_ms_per_rank"][rank][step].get<double>(), 0.001 * window);
      // The simulator counts what other work hides, too.
      EXPECT_LE(static_cast<double>(own.categories[TimeCategory::kWaitPeer] +
                                    own.categories[TimeCategory::kBubble]) /
                    1e6,
                truth["collective_wait_ms_per_rank"][rank][step].get<double>() + 0.02 * window);
      EXPECT_EQ(own.categories.Sum(), own.window.end - own.window.begin);
    }
    ++looked_at;
  }
  EXPECT_EQ(looked_at, truth["world"].get<std::size_t>());
}

// What the call stacks of the captures say: `images.cuda()` and a number that is printed.
TEST_F(SampleDiagnosisTest, TextAndDatabaseNameTheSameLines) {
  for (const char* name : {"text/level1", "db/level1", "db/level0"}) {
    traces_.clear();
    LOAD_OR_SKIP(name);
    const RankDiagnosis part = MakeRankDiagnosis(traces_[0]);
    const auto copy =
        std::find_if(part.blocked.begin(), part.blocked.end(), [&](const BlockedPart& call) {
          return call.category == TimeCategory::kHostCopy && call.dur > 3'000'000;
        });
    ASSERT_NE(copy, part.blocked.end()) << name;
    EXPECT_EQ(part.names[copy->line], "main.py:350") << name;
    const auto longest =
        std::max_element(part.blocked.begin(), part.blocked.end(),
                         [](const BlockedPart& a, const BlockedPart& b) { return a.dur < b.dur; });
    ASSERT_NE(longest, part.blocked.end()) << name;
    EXPECT_EQ(part.names[longest->line], "main.py:485") << name;
  }
}

}  // namespace
}  // namespace mpa
