// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/model/rank_trace.h"
#include "mpa/recipe/culprits.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/part_bytes.h"

namespace mpa {

constexpr LinkKind LastOf(LinkKind) { return LinkKind::kSio; }

namespace recipes::communication {

/// A row of the matrix: see MatrixEntry. Its texts are places in Part::texts, for there are many
/// rows of few texts.
struct LinkPart {
  std::uint32_t name = 0, group = 0, transport = 0, op = 0;
  std::int64_t source = 0, destination = 0;
  double megabytes = 0, milliseconds = 0;
};

struct StepPart {
  std::string step;
  std::vector<CommunicationOp> p2p, collective;
  std::vector<LinkPart> p2p_matrix, collective_matrix;
};

/// What the recipes on communication keep of a rank.
struct Part {
  std::vector<StepPart> steps;
  std::vector<std::string> texts;
  std::vector<StepTimes::Row> step_times;
  JobInfo job;
  std::string capture;  ///< directory of the capture, as it was found
  /// Hashes of the groups that collectives of a trace of torch.profiler name; it has no sums.
  std::vector<std::string> groups;
  bool of_torch = false;
  bool of_one_step = false;  ///< the rest of the run was left out
  RankLoad load{};           ///< of `all` alone

  const std::string& Text(std::uint32_t place) const { return texts[place]; }
};

/// Fills the steps and texts.
void KeepSteps(const std::vector<CommunicationStep>& steps, Part& part);
/// Throws Error (kCorrupt) for a place that no text has.
void CheckSteps(const Part& part);

}  // namespace recipes::communication

template <class Archive>
void serialize(Archive& archive, CommunicationOp& op) {
  archive(op.name, op.group, op.time);
  std::vector<std::pair<std::uint8_t, LinkUse>> links;
  for (const auto& [kind, use] : op.links) links.emplace_back(static_cast<std::uint8_t>(kind), use);
  archive(links);
  for (const auto& [kind, use] : links) {
    if (kind > static_cast<std::uint8_t>(LastOf(LinkKind{}))) {
      Fail(ErrorKind::kCorrupt, "the part holds an unknown kind of link");
    }
    op.links[static_cast<LinkKind>(kind)] = use;
  }
}

}  // namespace mpa

namespace mpa::recipes::communication {

using Ranks = std::vector<OfRank<Part>>;

/// A communication group of the job, in collectives or in point-to-point operations.
struct Group {
  bool p2p = false;
  std::string name;               ///< the hash of its id, decimal
  std::string id, process_group;  ///< empty where no rank's metadata tells
  std::set<RankId> seen;          ///< ranks in whose captures it occurs
  std::set<RankId> ranks;         ///< of the job; `seen` where the metadata does not tell
  std::size_t size = 0;           ///< of its ranks, at least: some may be known by links alone

  const char* Type() const { return p2p ? "p2p" : "collective"; }
};

/// The groups of all ranks: collective ones before p2p ones, each in order of their names.
std::vector<Group> FindGroups(const Ranks& ranks);

/// "(0,1)"
std::string RankSetText(const std::set<RankId>& ranks);
/// "(0, 1)", of one rank "(0,)": as Python prints a tuple.
std::string RankTupleText(const std::set<RankId>& ranks);

/// Where a rank stands in the grid of the job.
struct GridPlace {
  std::int64_t dp = 0, pp = 0, tp = 0;
};

/// From the distributed_args of the job; empty where they are missing or contradict themselves.
/// Ranks are numbered tensor parallel first, then data (with context) parallel, then the pipeline.
class Grid {
 public:
  /// `problem` says why there is none, if the arguments exist.
  Grid(const Ranks& ranks, std::string& problem);

  bool Known() const { return world_ > 0; }
  std::optional<GridPlace> Of(RankId rank) const;

 private:
  std::int64_t world_ = 0, tensor_ = 1, data_ = 1;
};

/// A row of the step trace: of a rank, or the longest of the ranks of a stage. Times are ns.
struct StepTraceRow {
  std::string step;
  bool stage = false;
  RankId rank{};
  std::set<RankId> ranks;  ///< of the stage
  StepTimes::Row times;
  std::optional<GridPlace> place;
};

/// The pipeline stages: groups of ranks that work on the same layers; empty without a pipeline.
std::vector<std::set<RankId>> StagesOf(const std::vector<Group>& groups);

std::vector<StepTraceRow> StepTrace(const Ranks& ranks, const std::vector<Group>& groups,
                                    const Grid& grid);

inline constexpr const char* kTotal = "Total Op Info";

/// The sizes of packets over each kind of link.
using PacketSizes = std::map<LinkKind, std::vector<double>>;

/// An operator of a rank in a step, which a part holds, or the sum of all of a group.
struct RankOp {
  std::string_view step;
  RankId rank{};
  const CommunicationOp* op = nullptr;
  const PacketSizes* sizes = nullptr;  ///< of a sum
  bool p2p = false;

  /// In the order of the operators: the largest of each first.
  PacketSizes Sizes() const;
};

/// Sums of operators, and what they refer to. They move, but are not copied.
struct RankTotals {
  RankTotals() = default;
  RankTotals(RankTotals&&) = default;
  RankTotals& operator=(RankTotals&&) = default;

  std::vector<RankOp> listed;
  std::deque<std::pair<CommunicationOp, PacketSizes>> sums;
};

/// All operators of all ranks in order of rank, each as its capture has it; behind them the sums by
/// step, rank and group. What the captures themselves sum up is left out. Parts hold the texts and
/// operators.
struct OpSums {
  std::vector<RankOp> ops;
  RankTotals totals;
};
OpSums SumOps(const Ranks& ranks);

/// The sums of the operators by step, rank and group; in the groups of `apart` p2p operators have a
/// sum of their own.
RankTotals TotalsOf(const std::vector<RankOp>& ops, const std::set<std::string>& apart);

/// What moved over a link in a step. Parts hold the texts.
struct RankLink {
  std::string_view step, name, group;
  bool p2p = false;
  /// Ranks of the job; -1: unknown.
  RankId source{}, destination{};
  /// Their numbers in the group, by which captures name them.
  std::int64_t source_in_group = -1, destination_in_group = -1;
  std::string_view transport, op;
  double megabytes = 0, milliseconds = 0;

  bool KnowsEnds() const { return source >= 0 && destination >= 0; }
  /// GB/s; 0 without a time.
  double Bandwidth() const { return milliseconds > 0 ? megabytes / milliseconds : 0; }
};

struct LinkSums {
  std::vector<RankLink> links, totals;
  std::vector<std::string> notes;  ///< ranks that the job does not name
};
LinkSums SumLinks(const Ranks& ranks, const std::vector<Group>& groups);

/// Four decimals, as the profiler writes ratios and bandwidths; 0 for a divisor of nothing.
double RatioOf(double part, double whole);

/// Adds what the screen begins with where no rank is to blame: the slowest link, else what
/// communication costs, else the longest operator.
void AddAnswer(const std::vector<StepTraceRow>& steps, const OpSums& ops, const LinkSums& links,
               Report& report);
/// Each adds its lines to the screen, none without data: the spread of the steps over ranks, the
/// groups by kind, the longest operator, and the links by transport with the slowest of each.
void AddStepLines(const std::vector<StepTraceRow>& rows, Report& report);
/// `captured`: ranks that are analysed.
void AddGroupLines(const std::vector<Group>& groups, std::size_t captured, Report& report);
void AddOperatorLines(const OpSums& ops, Report& report);
void AddLinkLines(const LinkSums& links, Report& report);

/// Each adds the sheets of one subject to the report; a sheet without rows is left out.
void AddGroupSheet(const std::vector<Group>& groups, Report& report);
void AddTimeSheets(const std::shared_ptr<const OpSums>& sums, Report& report);
void AddMatrixSheet(const std::shared_ptr<const LinkSums>& sums, Report& report);
void AddStepSheet(const std::vector<StepTraceRow>& rows, Report& report);
/// HostInfo, RankDeviceMap, ClusterBaseInfo.
void AddJobSheets(const Ranks& ranks, Report& report);

// The files that the Python tool makes of text captures.

TextDocument GroupDocument(const std::vector<Group>& groups);
TextDocument TimeDocument(std::shared_ptr<const OpSums> sums, const std::vector<Group>& groups);
/// Of the links between ranks that are known.
TextDocument MatrixDocument(std::shared_ptr<const LinkSums> sums, const std::vector<Group>& groups);
/// Of the others, of which the job does not name a rank: both ends by their numbers in the group.
TextDocument GroupMatrixDocument(std::shared_ptr<const LinkSums> sums,
                                 const std::vector<Group>& groups);
TextDocument StepDocument(const std::vector<StepTraceRow>& rows, bool with_indices);

}  // namespace mpa::recipes::communication
