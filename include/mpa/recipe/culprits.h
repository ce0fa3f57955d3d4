// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_state.h"
#include "mpa/collectives/lateness.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/rank_trace.h"
#include "mpa/recipe/slow_links.h"
#include "mpa/report/screen_line.h"

/// The ranks that delay a job, by the accounts of its ranks: the first lines of recipes' screens.
namespace mpa {

/// A step of a rank as ranks are compared; in ns. `computing`, `communication`, `copies` and `free`
/// add up to `length`.
struct StepLoad {
  std::int32_t step = -1;  ///< -1: the capture has no steps
  TimeNs length = 0;
  TimeNs computing = 0;
  TimeNs communication = 0;  ///< while nothing is computed
  TimeNs copies = 0;         ///< while nothing else ran
  TimeNs free = 0;
  TimeNs waiting = -1;          ///< of the communication, for other ranks; -1: not known
  std::vector<TimeNs> kinds{};  ///< of the computing, by TimeCategory; empty: not known
};

/// What shows whether a rank holds up others.
struct RankLoad {
  std::vector<StepLoad> steps;
  /// Kernels by type, and how many the capture has; empty: not known.
  std::vector<std::pair<std::string, std::int64_t>> kernels;
  std::vector<LinkSum> links;
  RankCollectives collectives;
};

/// The tables that LoadOfRank() reads.
inline constexpr Tables kLoadTables = kLatenessTables;

/// `step`: that step alone.
RankLoad LoadOfRank(const RankTrace& trace, const std::optional<std::int32_t>& step = std::nullopt);
/// The same for who has the account of the rank already.
RankLoad LoadOfRank(const RankTrace& trace, const RankAccount& account,
                    const std::optional<std::int32_t>& step);
StepLoad LoadOfStep(const StepAccount& account);
/// For parts that were read from files: throws Error (kCorrupt) for what cannot be.
void CheckLoad(const RankLoad& load);

/// The part of a step that makes a rank late.
enum class LatePart : std::uint8_t {
  kComputing,
  kCopies,
  kFree,
  kStage,    ///< a stage of a pipeline has more kernels than others
  kUnknown,  ///< the rank was not captured
  kLink,     ///< the link between two ranks
};

/// Ranks for which others wait. Times are those of the mean counted step, in ns.
struct Culprit {
  std::vector<RankId> ranks;  ///< of `kUnknown` empty: not recorded which
  LatePart part{};
  TimeNs own = 0, usual = 0;  ///< of the part; of the first rank, and of the others of its role
  TimeNs cost = 0;            ///< by which the step would be shorter, about
  std::string kind{};         ///< of the computing that is most longer: "matmul"; empty: not known
  std::optional<SlowLink> link{};
};

/// What is said of a job. Of ranks that wait less because they are late, and of those that wait for
/// them, nothing is.
struct JobVerdict {
  std::vector<Culprit> culprits;  ///< what costs most first
  TimeNs step = 0;                ///< of the rank with the longest ones, the mean
  TimeNs waiting = -1;            ///< of the rank that waits most; -1: not known
  std::size_t steps = 0;          ///< that count
  bool judged = false;            ///< false: nothing tells who is late
  /// True if all of these ranks are among the same culprits.
  bool HoldUp(const std::vector<RankId>& ranks, bool captured) const;
  /// Less is noise: 1 % of the step, and 50 us.
  TimeNs LeastCost() const { return std::max<TimeNs>(50'000, step / 100); }
  Lateness lateness;  ///< of the steps that count
  LinkSpeedsOfJob links;
};

/// The names of the ranks that are culprits, as charts have them.
std::vector<std::string> NamesOfCulprits(const JobVerdict& verdict);

/// A rank with what it did; both outlive the call.
struct LoadedRank {
  RankId rank{};
  const RankLoad& load;
};

/// Of parts that are loads.
template <typename Ranks>
std::vector<LoadedRank> LoadedRanks(const Ranks& ranks) {
  std::vector<LoadedRank> loaded;
  for (const auto& rank : ranks) loaded.push_back({rank.rank, rank.part});
  return loaded;
}

/// The speeds of the links between these ranks.
LinkSpeedsOfJob LinksOf(const std::vector<LoadedRank>& ranks);

/// `warm_up`: a step that does not count, where the caller knows it; else the lengths of the steps
/// tell. Ranks are compared within a stage of the pipeline; the lower quartile is usual.
JobVerdict JudgeLoads(const std::vector<LoadedRank>& ranks, const AbsentRanks& absent,
                      const std::optional<std::int32_t>& warm_up = std::nullopt);

/// Adds who holds up the job and by what, at most three, or that nobody does. Nothing where nothing
/// tells.
void AddVerdictLines(const JobVerdict& verdict, ScreenLines& lines);
/// What is said of one of them, in a sentence.
std::string CulpritText(const JobVerdict& verdict, const Culprit& culprit);

/// Adds how many of the ranks were analysed, and how late those came that hold up the job, at most
/// `most`; what comes late because of them, and what costs next to nothing, is left out.
void AddLateLines(const JobVerdict& verdict, std::size_t most, ScreenLines& lines);

}  // namespace mpa
