// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/collectives/lateness.h"
#include "mpa/diagnosis/findings/finding_type.h"
#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/diagnosis/replay/what_if.h"
#include "mpa/measure/earlier_time.h"
#include "mpa/report/page.h"

/// What a diagnosis says: where the time of a step goes, what slows it down, and how much a fix
/// saves.
namespace mpa {

// The chain of evidence of a finding: how what was measured becomes the time that it costs.

/// Work of one class of a late rank, and what is usual for it. Means over the steps of the finding.
struct CategoryExcess {
  std::string category;
  TimeNs own = 0, usual = 0;
  TimeNs Excess() const { return own - usual; }
};

struct TimeOfRank {
  RankId rank{};
  TimeNs time = 0;
};

/// Where a late rank first falls behind a peer that does the same work.
struct Divergence {
  RankId rank = -1, peer = -1;
  std::int32_t step = -1;
  std::string kernel, shapes;
  std::string op, line;  ///< the operator of the host that launched it, and its line of the
                         ///< program; empty: not recorded
  TimeNs behind = 0;     ///< the peer, counted from what both left together last
  std::string until;     ///< the operation to which the rank comes late
  TimeNs late = 0;       ///< there
};

/// How much of a late rank's lateness its work explains.
enum class Explained : std::uint8_t { kNothing, kMixed, kMainly, kNearlyAll };

/// Of a rank that holds up others, of several that do the worst.
struct LateRank {
  RankId rank{};
  std::size_t compared = 0;                ///< ranks that say what is usual, with the rank itself
  std::vector<CategoryExcess> categories;  ///< largest excess first
  TimeNs lateness = 0;  ///< behind all others of a group, per step, where it was the last
  double share = 0;     ///< of the lateness, that the largest excess explains; at most 1
  Explained explained{};
  std::vector<TimeOfRank> waiting;  ///< per step; the longest first
  std::optional<Divergence> divergence;
};

/// When a rank that was not captured came to an operation, as others saw it.
struct SeenArrival {
  std::string operation;
  std::int32_t step = -1;
  TimeNs behind = 0;                  ///< the last of the others
  std::vector<TimeOfRank> observers;  ///< how long each waited; the longest first
  /// Since the first of the listed operations: when the rank came, and when the first observer's
  /// host asked for it; -1: not known.
  TimeNs came = 0, asked = -1;
};

/// A step in which one rank, another one each time, held up the others.
struct StepStall {
  std::int32_t step = -1;
  RankId rank{};
  TimeNs late = 0;  ///< what it takes more than usual
  TimeNs next = 0;  ///< the same of the rank that comes second
};

/// Work on the critical path that a fix takes out, of all pieces of one name on one rank. Per step.
struct PathPiece {
  RankId rank{};     ///< -1: a rank that was not captured
  std::string name;  ///< a category of the accounting, a type of kernels or an operation
  TimeNs less = 0;
};

struct FindingChain {
  std::optional<LateRank> late;
  std::vector<SeenArrival>
      arrivals;  ///< in the order of time; the latest ones where there are many
  std::size_t more_arrivals = 0;
  std::vector<StepStall> stalls;  ///< of rank.jitter, in the order of time
  std::vector<PathPiece> path;    ///< the longest first
  std::size_t more_path = 0;
};

// The diagnosis itself.

/// How sure a finding is.
enum class Certainty : std::uint8_t { kLow, kMedium, kHigh };

/// By the share of a step that a fix saves.
enum class Impact : std::uint8_t { kInfo, kLow, kMedium, kHigh, kCritical };
std::string_view NameOf(Impact impact);

/// What a metric is: its name for programs, with the unit "ns", "count", "ratio", "share", "bytes",
/// "GB/s" or "MHz", and what it says to people, where "{}" stands for the value; without words only
/// programs read it.
struct MetricInfo {
  std::string_view name, unit;
  std::string_view form = {};
};

// Those of several findings.
inline constexpr MetricInfo kCallsPerStep{"calls_per_step", "count", "{} calls a step"},
    kTimePerStep{"time_per_step", "ns", "{} a step"},
    kSlowerThanPeers{"slower_than_peers", "ratio", "{} times the time of its peers"},
    kMeanClock{"clock", "MHz", "cores at {}"}, kBandwidth{"bandwidth", "GB/s", "{} over the link"},
    kSlowestTenth{"slowest_tenth", "ratio", "the slowest tenth takes {} times the median"},
    kMeanSize{"mean_size", "bytes", "mean size {}"},
    kPeakReserved{"peak_reserved", "bytes", "at most {} reserved"},
    /// Replays let ranks that are not analysed come with those that are.
    kIfOthersCame{"other_ranks", "count",
                  "the gain holds if the {} other ranks came no later than its peers"};

/// A measured number behind a finding.
struct Metric {
  const MetricInfo* info = nullptr;
  double value = 0;
};

/// A place in the capture that shows it: all events of one name and line on a rank in the steps
/// that count. Of its longest event the file says where it is.
struct Evidence {
  RankId rank{};
  std::string source{};  ///< file of the capture, or what its rows come from
  std::string table{};   ///< "kernels", "host_calls", ...
  std::string name{};    ///< of the event
  RankId peer{};
  TimeNs start = 0, dur = 0;  ///< as the file has them
  std::string capture{};      ///< its directory or file
  std::string line{};  ///< of the program, "train.py:90"; empty: not recorded, or of many lines
  std::string op{};    ///< the operation that the event is a task of; empty: it is of none
  double calls = 0;    ///< events per step
  TimeNs time = 0;     ///< of all of them, per step
  TimeNs of_all = 0;   ///< of all places of the finding on this rank, per step
};

/// A variable of the environment that a finding is about.
struct FoundSetting {
  std::string variable;
  /// With the ranks that have them; empty: none. Where a value costs time, only such values.
  std::vector<std::pair<std::string, std::vector<RankId>>> values;
  bool differs = false;  ///< the ranks should agree; false: a value costs time
  std::string serves{};  ///< key of the finding that it adds to
};

/// What a rank has too much of, and whose work says what is usual.
struct LateWork {
  RankIndex rank{};                      ///< position in the job
  std::vector<std::size_t> peers;        ///< positions, the rank among them
  std::vector<TimeCategory> categories;  ///< of the host; none: kernels
  bool copies = false;                   ///< copies to the device belong to it
};

/// A candidate while it is not known whether it costs the step anything.
struct Finding {
  const FindingType* type = nullptr;        ///< of the catalogue
  const FindingVariant* variant = nullptr;  ///< what is said of this case instead
  std::string key;  ///< the id and what tells it from others of it: "rank.late_host/r5"
  FindingKind kind = FindingKind::kFault;
  Certainty confidence = Certainty::kMedium;
  TimeNs gain = 0;                   ///< per step, once all before it are fixed
  TimeNs alone = 0;                  ///< per step, if nothing else is fixed
  TimeNs gain_max = 0;               ///< as `gain`, if it were gone completely
  bool pays_only_with_next = false;  ///< pays only together with the next one
  std::vector<RankId> ranks;         ///< the culprits; empty: all
  /// Their states, where the finding is about ranks that are not analysed, of which `ranks` may be
  /// empty: not known which.
  std::optional<AbsentRanks> absent{};
  std::vector<std::int32_t> steps;  ///< those in which it was seen
  std::string category;             ///< of the accounting, where it is the cause of a late rank
  std::vector<std::string> after;   ///< keys of findings that hide it
  bool if_uncaptured_ranks_do_too =
      false;  ///< hidden: saves `alone` only if ranks not captured do the same
  std::vector<Metric> metrics;
  std::vector<Evidence> evidence;         ///< the place with most time first
  std::vector<RankId> seen_on{};          ///< with places of it, in order
  bool is_on_all = false;                 ///< `seen_on` has all ranks of the job, none unknown
  std::optional<FoundSetting> setting{};  ///< of env.check
  /// Settings that all its ranks have as advised already, or that would have no effect.
  std::vector<std::string> already_set{};
  AdviceFacts facts{};
  std::optional<FindingChain> chain{};  ///< only of one that is to be explained
  /// What its fix takes out of the job's graph; nothing of one that no replay has judged.
  WhatIf what_if{};
  std::optional<LateWork> late{};   ///< of a rank that is late
  std::vector<StepStall> stalls{};  ///< of ranks that are late in turn

  /// True if it is about the rank.
  bool Concerns(RankId rank) const {
    return ranks.empty() || std::ranges::find(ranks, rank) != ranks.end();
  }
  bool Is(const FindingType& other) const { return type == &other; }
  template <typename Number>
  void Measure(const MetricInfo& info, Number value) {
    metrics.push_back({&info, static_cast<double>(value)});
  }
  std::string_view Title() const {
    return variant != nullptr && !variant->title.empty() ? variant->title : type->title;
  }
};

/// How the time of one step of one rank is spent, by category; the categories add up to the window.
struct AccountRow {
  RankId rank{};
  std::int32_t step = -1;  ///< -1: the whole capture
  TimeNs window = 0;
  std::vector<std::pair<std::string_view, TimeNs>> categories;
  bool communicates = true;  ///< the rank recorded communication, in this step or another
  EarlierTime earlier = {};  ///< before the first step of the rank
};

/// A call that looks guilty and is explained by a finding.
struct InnocentCall {
  std::string name;
  TimeNs cost = 0;
  std::string
      explained_by;    ///< key of the finding; empty: of none, but the wait itself costs nothing
  std::string line{};  ///< of the program, where nearly all of it is at one; see Evidence
};

/// What could not be judged, and what would have to be recorded.
struct NotJudged {
  const FindingType* type = nullptr;
  std::string_view needs, hint;
  std::vector<RankId> ranks{};  ///< that lack it; empty: all
};

/// A known fusion that the job has not made, whether or not it costs enough for a finding.
struct SeenFusion {
  std::string key;          ///< of the finding, if it is one: "op.unfused/conv_act/TransData"
  std::string_view pieces;  ///< "Conv + activation"
  std::string breaker;      ///< what stands between the pieces; empty: nothing
  double calls = 0;         ///< chains per step, of the mean rank
  TimeNs time = 0;          ///< of their kernels, per step of the mean rank
  TimeNs gone = 0;          ///< of those that one kernel in their place saves
  TimeNs saves = 0;         ///< per step, once all findings are fixed; of a finding, its gain
  bool is_finding = false;  ///< it is among the findings, or hidden behind them
  std::optional<Evidence> place{};  ///< the kernels that take most of the time that is saved
};

/// NotJudged::hint of what no capture of a GPU can hold.
inline constexpr std::string_view kNotOnGpus = "traces of GPUs do not hold it";

/// A finding that is not shown, although what is shown saves its time only once it is fixed.
struct NeededFinding {
  std::string key;
  TimeNs gain = 0;
};

/// Two ranks, and GB/s of what they moved; of several transports the slower one.
struct LinkPicture {
  RankId low{}, high{};
  double speed = 0;
};

/// What a page draws of the job.
struct JobPictures {
  std::vector<std::pair<std::string, TimeNs>> kernels;  ///< by type, of the mean rank and step
  std::vector<LinkPicture> links;
  std::optional<PageChart> roofline;
  std::optional<Timeline> wait;  ///< around the longest wait of a rank for another
  /// Around a place of each of the first findings, by their keys.
  std::vector<std::pair<std::string, Timeline>> places;
};

/// Of a job with so many ranks that not all were replayed: those that were, ascending; how many
/// stand out, and how many of these were not replayed. `ranks` is empty where all were.
struct ReplayedRanks {
  std::vector<RankId> ranks;
  std::size_t stand_out = 0, left_out = 0;
};

/// The steps of a rank on its host.
struct StepsOnHost {
  RankId rank{};
  std::int64_t steps = 0;
  TimeNs median = 0;  ///< of a step
  TimeNs all = 0;     ///< of all steps
  /// Of it, what the thread that makes the steps did, the longest first; the rest is not recorded.
  std::vector<std::pair<std::string, TimeNs>> categories;
};

struct Diagnosis {
  Thresholds thresholds;  ///< those it was made with
  std::vector<RankId> ranks;
  ReplayedRanks replayed;
  std::int64_t world = 0;  ///< ranks of the job; 0: unknown
  std::vector<std::int32_t> steps, dropped_steps;
  std::string level;
  std::vector<std::string> formats;
  std::map<std::string, std::string>
      settings;  ///< "2", or "0 (rank 3), 2 (ranks 0-2)" where ranks differ
  TimeNs step = 0, step_after_fixes = 0;
  std::vector<AccountRow> accounting;
  /// Of the rank with the longest steps, set where no rank has recorded device work: there is no
  /// account, and `step` is unknown.
  std::optional<StepsOnHost> on_host;
  std::vector<Finding> findings;  ///< in the order in which they should be fixed
  std::vector<InnocentCall> innocent_calls;
  std::vector<NotJudged> not_judged;
  /// Causes that save much alone, but hardly anything more once findings are fixed: their keys are
  /// `after`. The largest first.
  std::vector<Finding> hidden;
  std::vector<const FindingType*> passed_checks;  ///< were looked at and cost nothing in this job
  std::size_t known_fusions = 0;    ///< patterns that op.unfused looked for; 0: nothing tells them
  std::vector<SeenFusion> fusions;  ///< of these; those that save most first
  /// Fixed as well, where only some findings are shown.
  std::vector<NeededFinding> hiding_findings_not_shown;
  std::vector<RankId> culprits;  ///< ranks of faults that are not shown
  Lateness lateness;             ///< of all collectives, whatever causes it
  /// Captured, but not compared: see common_steps.h.
  std::vector<RankId> ranks_left_out;
  std::vector<RankId> ranks_without_work;  ///< of which no device work was recorded
  std::vector<std::int32_t> steps_left_out;
  std::vector<std::string> notes;
  JobPictures pictures;
  bool complete = true;  ///< false: ranks or parts of them could not be read
};

Impact ImpactOf(const Diagnosis& diagnosis, const Finding& finding);

}  // namespace mpa
