// SPDX-License-Identifier: Apache-2.0
// The places in the captures that show a finding: what its fix takes out of the graph.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "graph_index.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

// Of a finding; --evidence shows as many of them as it says.
constexpr std::size_t kMaxPlaces = 50;
constexpr auto kNoPeer = std::int64_t{-1};

// Which file of the capture holds a table, and what it is called there.
struct PlaceNames {
  std::string_view file, table;
};

PlaceNames NamesOf(std::string_view source, std::string_view table) {
  struct Names {
    std::string_view table, file, in_file, in_database;
  };
  static constexpr Names kNames[] = {
      {"kernels", "kernel_details.csv", "kernels", "TASK"},
      {"host", "trace_view.json", "host_ops", "PYTORCH_API"},
      {"calls", "trace_view.json", "host_calls", "CANN_API"},
      {"tasks", "trace_view.json", "comm_tasks", "COMMUNICATION_TASK_INFO"},
      {"collectives", "trace_view.json", "collectives", "COMMUNICATION_OP"},
      {"garbage", "trace_view.json", "garbage_collections", "GC_RECORD"},
      {"threads", "trace of the scheduler", "thread_states", "thread_states"},
      {"functions", "log of function_monitor", "function_counts", "function_counts"}};
  const auto* found = std::ranges::find(kNames, table, &Names::table);
  if (found == std::end(kNames)) return {source, table};
  // Such a file lies beside captures of all kinds.
  if (IsOneOf(table, {"threads", "functions"})) return {found->file, found->in_file};
  if (source == "database") return {source, found->in_database};
  return {source == "text" ? found->file : source, found->in_file};
}

// Places of one finding, joined by what they are called.
class Places {
 public:
  Places(const Job& job, const Finding& finding) : job_(job), finding_(finding) {}

  bool IsCulprit(RankId rank) const { return finding_.Concerns(rank); }

  struct Event {
    std::string_view name{}, op{}, line{};
    RankId peer{};
    TimeNs start = 0, dur = 0;
    TimeNs time = 0;  // of all that stand behind it
    std::int64_t count = 1;
  };
  void Add(RankIndex rank, std::string_view table, const Event& event) {
    const std::string_view shown = event.op.empty() ? event.name : event.op;
    Evidence& place =
        places_.try_emplace({rank, shown, event.line, event.peer}, Evidence{.dur = -1})
            .first->second;
    place.calls += static_cast<double>(event.count);
    place.time += event.time;
    whole_[rank] += event.time;
    if (event.dur <= place.dur) return;
    const PlaceNames names = NamesOf(job_.Part(rank).source, table);
    place.rank = job_.ranks[rank].rank;
    place.source = names.file;
    place.table = names.table;
    place.name = event.name;
    place.peer = event.peer;
    place.start = event.start;
    place.dur = event.dur;
    place.capture = job_.Part(rank).capture;
    place.line = event.line;
    place.op = event.op;
  }
  /// Time that the finding takes without a place of its own.
  void AddRest(RankIndex rank, TimeNs time) { whole_[rank] += time; }

  std::vector<RankId> Ranks() const {
    std::vector<RankId> ranks;
    for (const auto& [rank, time] : whole_) {
      if (time > 0) ranks.push_back(job_.ranks[rank].rank);
    }
    std::ranges::sort(ranks);
    return ranks;
  }

  std::vector<Evidence> Largest() && {
    std::vector<Evidence> largest;
    for (auto& [key, place] : places_) {
      place.calls /= static_cast<double>(std::max<std::size_t>(1, job_.CountedSteps()));
      place.time = PerStep(job_, place.time);
      place.of_all = PerStep(job_, whole_.at(std::get<0>(key)));
      largest.push_back(std::move(place));
    }
    StableSort(largest, [](const Evidence& a, const Evidence& b) {
      return std::pair{a.time, a.dur} > std::pair{b.time, b.dur};
    });
    largest.resize(std::min(largest.size(), kMaxPlaces));
    return largest;
  }

 private:
  const Job& job_;
  const Finding& finding_;
  // By rank, name, line and peer; the names are those of the parts.
  std::map<std::tuple<std::size_t, std::string_view, std::string_view, RankId>, Evidence> places_;
  std::map<std::size_t, TimeNs> whole_;
};

// A rank does more than its peers: only what it does more is the finding.
bool IsExcess(const Finding& finding) {
  return finding.type->area == Area::kRanks || finding.type->area == Area::kBalance;
}

// Adds the work of ranks that a fix takes out.
class WorkOfRanks {
 public:
  WorkOfRanks(const Job& job, GraphIndex& index, const std::vector<TimeCategory>& about,
              const Finding& finding, Places& places)
      : job_(job),
        index_(index),
        about_(about),
        type_(*finding.type),
        is_excess_(IsExcess(finding)),
        places_(places) {}

  void Add(const Removal& removal) {
    for (const Removal::Node& node : removal.durations) AddNode(node);
    for (const Removal::Edge& wait : removal.waits) {
      const auto at = index_.RankAt(wait.edge);
      if (at && wait.less > 0) AddHostWork(at->first, at->second, wait.less);
    }
    for (const ReplayGraph::Edge cut : removal.cuts) {
      if (const auto at = index_.RankAt(cut)) AddCall(at->first, at->second);
    }
  }

 private:
  bool IsAbout(TimeCategory category) const { return about_.empty() || IsOf(about_, category); }

  void AddNode(const Removal::Node& removed) {
    const RankIndex rank = index_.RankOf(removed.node);
    const RankDiagnosis& part = job_.Part(rank);
    const GraphNode& node = part.graph.nodes[removed.node - job_.graph.first_node[rank]];
    if (node.kind != NodeKind::kKernel || removed.less <= 0 || !job_.Counts(node.step) ||
        !IsAbout(node.category) || !places_.IsCulprit(job_.ranks[rank].rank))
      return;
    const KernelKind& kind = part.KindOf(node);
    places_.Add(rank, "kernels",
                {.name = part.names[part.names[kind.name].empty() ? kind.type : kind.name],
                 .start = node.start,
                 .dur = node.dur,
                 .time = is_excess_ ? removed.less : node.dur});
  }

  // Several shares may lie on an edge: a fix that takes less than all of one takes it from the
  // shortest that has so much.
  void AddHostWork(RankIndex rank, std::uint32_t edge, TimeNs less) {
    if (!job_.Counts(job_.StepOfEdge(rank, edge)) || !places_.IsCulprit(job_.ranks[rank].rank))
      return;
    if (IsOfScheduler(type_)) return AddThreadWaits(rank, edge);
    if (&type_ == &kHostCacheMisses) return AddFunctions(rank, edge, less);
    const RankDiagnosis& part = job_.Part(rank);
    std::optional<std::uint32_t> found;
    index_.Of(rank).shares.ForEach(edge, [&](std::uint32_t i) {
      const HostShare& share = part.shares[i];
      if (IsAbout(share.category) && share.time >= less &&
          (!found || share.time < part.shares[*found].time))
        found = i;
    });
    if (found) return AddShare(rank, *found, less);
    index_.Of(rank).gaps.ForEach(edge, [&](std::uint32_t i) {
      const SilentGap& gap = part.gaps[i];
      if (gap.dur != less || !IsOf(about_, TimeCategory::kGarbage)) return;
      places_.Add(rank, "host",
                  {.name = Translated("no record of the host"),
                   .start = gap.start,
                   .dur = gap.dur,
                   .time = gap.dur});
    });
  }

  void AddThreadWaits(RankIndex rank, std::uint32_t edge) {
    const RankDiagnosis& part = job_.Part(rank);
    index_.Of(rank).waits.ForEach(edge, [&](std::uint32_t i) {
      const ThreadWait& wait = part.scheduler.waits[i];
      if (!mpa::IsAbout(type_, wait)) return;
      places_.Add(rank, "threads",
                  {.name = part.names[wait.name],
                   .start = wait.start,
                   .dur = wait.longest,
                   .time = wait.time,
                   .count = wait.count});
    });
  }

  // Several calls may share the edge.
  void AddFunctions(RankIndex rank, std::uint32_t edge, TimeNs less) {
    const RankDiagnosis& part = job_.Part(rank);
    const auto& functions = index_.Of(rank).functions;
    TimeNs all = 0;
    functions.ForEach(edge, [&](std::uint32_t i) { all += part.functions.times[i].time; });
    functions.ForEach(edge, [&](std::uint32_t i) {
      const CountedTime& time = part.functions.times[i];
      const CountedCall& call = part.functions.calls[time.call];
      places_.Add(rank, "functions",
                  {.name = part.names[call.name],
                   .start = call.start,
                   .dur = call.dur,
                   .time = ShareOf(less, Share(time.time, all)),
                   .count = functions_.emplace(rank, time.call).second ? 1 : 0});
    });
  }

  void AddShare(RankIndex rank, std::uint32_t number, TimeNs less) {
    const RankDiagnosis& part = job_.Part(rank);
    const HostShare& share = part.shares[number];
    const double of_share = is_excess_ ? Share(less, share.time) : 1;
    TimeNs rest = ShareOf(share.time, of_share);
    index_.Of(rank).places.ForEachOf(number, [&](const HostPlace& place) {
      const TimeNs time = ShareOf(place.time, of_share);
      places_.Add(rank, TableOf(share.category),
                  {.name = part.names[place.name],
                   .line = part.names[place.line],
                   .start = place.start,
                   .dur = place.longest,
                   .time = time,
                   .count = place.count});
      rest -= time;
    });
    places_.AddRest(rank, std::max<TimeNs>(0, rest));
  }

  static std::string_view TableOf(TimeCategory category) {
    switch (category) {
      case TimeCategory::kGarbage:
        return "garbage";
      case TimeCategory::kGil:
        return "lock_uses";
      case TimeCategory::kLock:
      case TimeCategory::kSystemCall:
        return "system_calls";
      default:
        return "host";
    }
  }

  // A call that waits for several streams is there once for each.
  void AddCall(RankIndex rank, std::uint32_t edge) {
    const RankDiagnosis& part = job_.Part(rank);
    index_.Of(rank).blocked.ForEach(edge, [&](std::uint32_t i) {
      const BlockedPart& call = part.blocked[i];
      if (!job_.Counts(call.step) || !places_.IsCulprit(job_.ranks[rank].rank) ||
          !calls_.emplace(rank, call.start, call.name).second)
        return;
      places_.Add(rank, "calls",
                  {.name = part.names[call.name],
                   .op = part.names[call.place],
                   .line = part.names[call.line],
                   .start = call.start,
                   .dur = call.dur,
                   .time = call.dur});
    });
  }

  const Job& job_;
  GraphIndex& index_;
  const std::vector<TimeCategory>& about_;
  const FindingType& type_;
  const bool is_excess_;
  Places& places_;
  std::set<std::tuple<std::size_t, TimeNs, NameId>> calls_;
  std::set<std::pair<std::size_t, std::uint32_t>> functions_;
};

// Adds the operations that a fix shortens, on the ranks that were captured.
class WorkOfOperations {
 public:
  WorkOfOperations(const Job& job, const Finding& finding, Places& places)
      : job_(job), finding_(finding), places_(places) {}

  void Shorten(std::size_t operation, std::size_t member, TimeNs less) {
    const JointOperation::Member& of = job_.operations.all[operation].joint.members[member];
    const OperationPart& row = job_.PartOf(of);
    if (!job_.Counts(row.step) || !places_.IsCulprit(job_.ranks[of.rank].rank)) return;
    places_.Add(of.rank, "collectives",
                {.name = job_.Part(of.rank).names[row.name],
                 .peer = OtherEnd(job_.ranks[of.rank].rank),
                 .start = row.start,
                 .dur = row.dur,
                 .time = less});
  }

  // A rank that was not captured shows in those that wait for it.
  void AddWaits(std::size_t operation) {
    const JobOperation& of = job_.operations.all[operation];
    const RankId culprit = finding_.ranks.empty() ? kNoPeer : finding_.ranks[0];
    for (const JointOperation::Member& member : of.joint.members) {
      const OperationPart& row = job_.PartOf(member);
      if (!job_.Counts(row.step) || AddWait(of, member, culprit)) continue;
      places_.Add(member.rank, "collectives",
                  {.name = job_.Part(member.rank).names[row.name],
                   .peer = culprit,
                   .start = row.start,
                   .dur = row.dur,
                   .time = row.dur});
    }
  }

 private:
  // The other rank of a two-rank finding, or kNoPeer.
  RankId OtherEnd(RankId rank) const {
    if (finding_.ranks.size() != 2) return kNoPeer;
    return finding_.ranks[finding_.ranks[0] == rank ? 1 : 0];
  }

  // The task of an operation that waits for the peer; false: none is recorded.
  bool AddWait(const JobOperation& operation, const JointOperation::Member& member, RankId peer) {
    const RankDiagnosis& part = job_.Part(member.rank);
    const std::int32_t wanted = part.graph.collectives[member.collective].row;
    const auto& rows = part.collectives.runs.rows;
    const auto met = std::ranges::find(rows, wanted, &RankRuns::Row::operation);
    if (peer == kNoPeer || met == rows.end()) return false;
    for (const SeenPeer& seen :
         part.collectives.seen[static_cast<std::size_t>(met - rows.begin())]) {
      if (!seen.waited || RankInJob(operation, seen.peer) != peer) continue;
      places_.Add(member.rank, "tasks",
                  {.name = "Notify_Wait",
                   .op = part.names[job_.PartOf(member).name],
                   .peer = peer,
                   .start = seen.begin,
                   .dur = seen.time - seen.begin,
                   .time = seen.time - seen.begin});
      return true;
    }
    return false;
  }

  const Job& job_;
  const Finding& finding_;
  Places& places_;
};

}  // namespace

std::vector<TimeCategory> ComputeCategories() {
  std::vector<TimeCategory> categories;
  for (std::size_t category = 0;
       category < kTimeCategories && IsCompute(static_cast<TimeCategory>(category)); ++category)
    categories.push_back(static_cast<TimeCategory>(category));
  return categories;
}

std::vector<TimeCategory> CategoriesOf(const Finding& finding) {
  const auto named = CategoryNamed(finding.category);
  if (!finding.type->categories.empty() || !named) return finding.type->categories;
  return {*named};
}

std::vector<TimeCategory> CategoriesOfFix(const Finding& finding) {
  return finding.late ? finding.late->categories : CategoriesOf(finding);
}

EvidenceFinder::EvidenceFinder(const Job& job)
    : job_(job), index_(std::make_unique<GraphIndex>(job)) {}

EvidenceFinder::~EvidenceFinder() = default;

void EvidenceFinder::Find(const WhatIf& what_if, const std::vector<TimeCategory>& about,
                          Finding& finding) {
  Places places(job_, finding);
  WorkOfOperations operations(job_, finding, places);
  bool has_operations = false;
  for (const Removal::Edge& wait : what_if.expect.waits) {
    const GraphIndex::OfOperation* of = about.empty() ? index_->OperationAt(wait.edge) : nullptr;
    if (of == nullptr || wait.less <= 0) continue;
    operations.Shorten(of->operation, of->member, wait.less);
    has_operations = true;
  }
  for (const ReplayGraph::Edge cut : what_if.expect.cuts) {
    const GraphIndex::OfOperation* of = index_->OperationAt(cut);
    if (of == nullptr || !of->is_late) continue;
    operations.AddWaits(of->operation);
    has_operations = true;
  }
  // Where operations become fewer, their hosts ask for fewer: that is not a place of its own.
  if (!has_operations) {
    WorkOfRanks ranks(job_, *index_, about, finding, places);
    ranks.Add(what_if.bound.IsEmpty() ? what_if.expect : what_if.bound);
  }
  finding.seen_on = places.Ranks();
  finding.evidence = std::move(places).Largest();
}

}  // namespace mpa
