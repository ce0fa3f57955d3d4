// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_state.h"
#include "mpa/collectives/instances.h"
#include "mpa/collectives/rank_clocks.h"
#include "mpa/collectives/uncaptured.h"
#include "mpa/report/screen_line.h"

/// Which ranks came last to collectives, and by how much: the one answer of all commands.
namespace mpa {

/// Which ranks came last to one instance; instances where this is unknown have no entry.
struct InstanceLateness {
  bool known = false;
  /// The last ones first: at any distance from those before, the others at one that matters. Empty:
  /// the last ones came together.
  std::vector<LateMembers> late;
};

/// Ranks that came last together, over all instances.
struct LateRanks {
  std::vector<RankId> ranks;  ///< empty: ranks that were not captured, not recorded which
  bool captured = false;
  std::size_t times = 0;       ///< that they were the last, or the last but later ones
  std::size_t times_last = 0;  ///< that they were the last
  TimeNs sum = 0;              ///< by which they came after those before them, in all instances
  TimeNs as_last = 0;          ///< of it in those to which they came last
  TimeNs most = 0;             ///< the same in one instance
  std::size_t worst = 0;       ///< that instance
};

struct Lateness {
  CollectiveInstances instances;
  std::vector<InstanceLateness> of_instance;
  std::vector<LateRanks> ranks;        ///< the largest `as_last` first, then the largest sum
  std::size_t captured = 0;            ///< ranks
  std::size_t of_job = 0;              ///< ranks that the job has at least
  std::size_t known = 0, unknown = 0;  ///< of the instances in which everyone waits for everyone
  std::vector<ClockDoubt> doubts;
  RankClocks clocks;  ///< that collectives tell
  AbsentRanks absent;

  /// True if the captures show that ranks are missing.
  bool IsPartial() const;
};

/// Where a run of the rank at this position is among the instances; empty: not among them.
std::optional<std::size_t> FindInstance(const Lateness& lateness, const JobCollectives& ranks,
                                        RankIndex rank, std::int32_t operation);

/// `absent`: ranks of the job that are not among these.
Lateness FindLateness(const JobCollectives& ranks, const AbsentRanks& absent);

/// "2 of 8 ranks captured", "7 of 8 ranks read (1 damaged)"; empty: all are.
std::string CoverageText(std::size_t analysed, std::size_t of_job, const AbsentRanks& absent);
/// "2 of 8 ranks captured"; "2 ranks captured, not all of the job"; "7 of 8 ranks read (1 damaged)"
/// where others were captured, too; empty: all are.
std::string CoverageText(const Lateness& lateness);

/// "rank 5 (not captured)", "rank 3", "a rank that was not captured"; of many the first ones. Of
/// ranks that were not analysed `absent` knows the state.
std::string LateRanksText(const std::vector<RankId>& ranks, bool captured,
                          const AbsentRanks& absent);

/// "captured", or the state of the ranks.
std::string LateStateText(const std::vector<RankId>& ranks, bool captured,
                          const AbsentRanks& absent);

/// "rank 7 arrived 509.5 us after the second-to-last rank", at the worst of its instances.
std::string LateArrivalText(const Lateness& lateness, const LateRanks& late);

/// "1.310 ms late in 5 collectives"; empty where it was late once.
std::string LateSumText(const LateRanks& late);

/// "the clocks of ranks 0 and 3 contradict each other by 12.34 us", those that do most; empty: none
/// do.
std::string ClockDoubtText(const Lateness& lateness);

/// What follows from it.
inline constexpr std::string_view kDoubtMeans = "a rank that is late by less cannot be identified";

/// Adds that clocks contradict each other, where they do.
void AddClockLines(const Lateness& lateness, ScreenLines& lines);

/// Of commands about something else.
inline constexpr std::size_t kShownLateRanks = 3;

/// Adds what the screens of all commands say of late ranks: the coverage, at most `most` late ranks
/// with how late they came where, and what cannot be known. Without collectives the coverage alone.
/// `tells`: of some late ranks only; null: of all.
void AddLatenessLines(const Lateness& lateness, std::size_t most, ScreenLines& lines,
                      const std::function<bool(const LateRanks&)>& tells = nullptr);

}  // namespace mpa
