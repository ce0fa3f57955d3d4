// SPDX-License-Identifier: Apache-2.0
// The places in the captures that show a finding.
#include "mpa/diagnosis/causes/evidence.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "fusible_kernels.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

// Of a finding; --evidence shows as many of them as it says.
constexpr std::size_t kMostPlaces = 50;
constexpr auto kNoPeer = std::int64_t{-1};

// Which file of the capture holds a table, and what it is called there.
struct PlaceNames {
  std::string_view file, table;
};

PlaceNames NamesOf(std::string_view source, std::string_view table) {
  using Names = std::map<std::string_view, PlaceNames>;
  static const Names text = {{"kernels", {"kernel_details.csv", "kernels"}},
                             {"host", {"trace_view.json", "host_ops"}},
                             {"calls", {"trace_view.json", "host_calls"}},
                             {"tasks", {"trace_view.json", "comm_tasks"}},
                             {"collectives", {"trace_view.json", "collectives"}},
                             {"garbage", {"trace_view.json", "garbage_collections"}}};
  static const Names database = {{"kernels", {"database", "TASK"}},
                                 {"host", {"database", "PYTORCH_API"}},
                                 {"calls", {"database", "CANN_API"}},
                                 {"tasks", {"database", "COMMUNICATION_TASK_INFO"}},
                                 {"collectives", {"database", "COMMUNICATION_OP"}},
                                 {"garbage", {"database", "GC_RECORD"}}};
  const Names& names = source == "database" ? database : text;
  const auto found = names.find(table);
  if (found == names.end()) return {source, table};
  if (source != "text" && source != "database") return {source, found->second.table};
  return found->second;
}

// What several findings point into: each is made once, when the first finding needs it.
class SharedFacts {
 public:
  SharedFacts(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis)
      : ranks_(ranks), rules_(diagnosis.rules), step_(diagnosis.step) {}

  const JobOperations& Operations() {
    if (!operations_) operations_ = JoinOperations(ranks_, rules_);
    return *operations_;
  }
  const std::map<std::string_view, std::vector<FusibleRun>>& Fusible() {
    if (!fusible_) fusible_ = FindFusible(ranks_, rules_, step_);
    return *fusible_;
  }

 private:
  const std::vector<DiagnosedRank>& ranks_;
  const Rules& rules_;
  const TimeNs step_;
  std::optional<JobOperations> operations_;
  std::optional<std::map<std::string_view, std::vector<FusibleRun>>> fusible_;
};

class EvidenceFinder {
 public:
  EvidenceFinder(const std::vector<DiagnosedRank>& ranks, FoundCause& finding, SharedFacts& facts)
      : ranks_(ranks), finding_(finding), facts_(facts), leaves_(LeavesOf(finding)) {}

  void Find() {
    if (finding_.id == "op.unfused") {
      AddPieces();
    } else if (finding_.id == "host.gc") {
      for (std::size_t i = 0; i < ranks_.size(); ++i) {
        if (IsCulprit(ranks_[i].rank)) AddCollections(i);
      }
    } else {
      for (std::size_t i = 0; i < ranks_.size(); ++i) {
        if (IsCulprit(ranks_[i].rank)) AddOfRank(i);
      }
      // A rank that was not captured shows in those that wait for it.
      if (leaves_.empty()) {
        for (std::size_t i = 0; i < ranks_.size(); ++i) AddOperations(i);
      }
    }
    KeepLongest();
    finding_.evidence = std::move(found_);
  }

 private:
  bool IsCulprit(std::int64_t rank) const {
    return finding_.ranks.empty() ||
           std::find(finding_.ranks.begin(), finding_.ranks.end(), rank) != finding_.ranks.end();
  }
  bool IsOfLeaf(Leaf leaf) const {
    return std::find(leaves_.begin(), leaves_.end(), leaf) != leaves_.end();
  }

  // True for the step at this position when the finding was seen in it.
  bool IsSeen(const RankDiagnosis& part, std::int32_t step) const {
    if (step < 0 || static_cast<std::size_t>(step) >= part.steps.size()) return false;
    const std::int32_t id = part.steps[static_cast<std::size_t>(step)].id;
    return finding_.steps.empty() ||
           std::find(finding_.steps.begin(), finding_.steps.end(), id) != finding_.steps.end();
  }

  void KeepLongest() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Evidence& a, const Evidence& b) { return a.dur > b.dur; });
    if (found_.size() < kMostPlaces) return;
    found_.resize(kMostPlaces);
    least_ = found_.back().dur;
  }

  // Null: there are enough longer ones. A finding may have millions of places.
  Evidence* Add(std::size_t rank, std::string_view table, NameId name, std::int64_t peer,
                TimeNs start, TimeNs dur) {
    return Add(rank, table, ranks_[rank].part->names[name], peer, start, dur);
  }
  Evidence* Add(std::size_t rank, std::string_view table, const std::string& name,
                std::int64_t peer, TimeNs start, TimeNs dur) {
    if (dur <= least_) return nullptr;
    if (found_.size() >= 4 * kMostPlaces) KeepLongest();
    const RankDiagnosis& part = *ranks_[rank].part;
    const PlaceNames names = NamesOf(part.source, table);
    return &found_.emplace_back(Evidence{ranks_[rank].rank, std::string(names.file),
                                         std::string(names.table), name, peer, start, dur,
                                         part.capture});
  }

  // Of the host, whose clock is a little off the one of the steps.
  bool IsSeenAt(const RankDiagnosis& part, TimeNs time) const {
    const auto after = std::find_if(part.steps.begin(), part.steps.end(),
                                    [time](const StepPart& step) { return time < step.end; });
    return after != part.steps.end() &&
           IsSeen(part, static_cast<std::int32_t>(after - part.steps.begin()));
  }

  void AddCollections(std::size_t rank) {
    const RankDiagnosis& part = *ranks_[rank].part;
    for (const CollectedRow& row : part.analyzers.collected) {
      if (IsSeenAt(part, row.start))
        Add(rank, "garbage", "garbage collection", kNoPeer, row.start, row.dur);
    }
    for (const SilentGap& gap : part.gaps) {
      if (IsSeen(part, part.graph.nodes[part.graph.edges[gap.edge].node].step))
        Add(rank, "host", "no record of the host", kNoPeer, gap.start, gap.dur);
    }
  }
  // What the host did, with the line of the program.
  void AddOfHost(std::size_t rank, std::string_view table, NameId name, NameId line, TimeNs start,
                 TimeNs dur) {
    if (Evidence* const added = Add(rank, table, name, kNoPeer, start, dur))
      added->line = ranks_[rank].part->names[line];
  }

  // Findings about some types of kernels have the type, or what is computed in pieces, as their
  // place.
  bool IsOfKind(const RankDiagnosis& part, const KernelKind& kind, const GraphNode& node) {
    const std::string& id = finding_.id;
    const std::string& type = part.names[kind.type];
    if (id == "op.slow" || id == "op.variance") return finding_.key.substr(id.size() + 1) == type;
    if (id == "op.fp32") return kind.multiplies_fp32;
    if (id == "op.optimizer") return node.in_optimizer;
    if (id == "pp.stage_imbalance") return !node.in_optimizer && IsOfOtherStages(part, kind);
    if (id == "op.attention") return ContainsAny(ToLower(type), {"softmax"});
    return true;
  }

  // True for what other ranks run as well: the layers, not the embedding or the head of the stage.
  bool IsOfOtherStages(const RankDiagnosis& part, const KernelKind& kind) {
    if (of_others_.empty()) {
      for (const DiagnosedRank& rank : ranks_) {
        if (IsCulprit(rank.rank)) continue;
        for (const KernelKind& other : rank.part->kinds)
          of_others_.emplace(rank.part->names[other.type], rank.part->names[other.shapes]);
      }
    }
    return of_others_.contains({part.names[kind.type], part.names[kind.shapes]});
  }

  void AddKernel(std::size_t rank, const GraphNode& node) {
    const RankDiagnosis& part = *ranks_[rank].part;
    const KernelKind& kind = part.kinds[static_cast<std::size_t>(node.row)];
    const bool named = !part.names[kind.name].empty();
    Add(rank, "kernels", named ? kind.name : kind.type, kNoPeer, node.start, node.dur);
  }

  // Kernels that one kernel could replace.
  void AddPieces() {
    const auto runs =
        facts_.Fusible().find(std::string_view(finding_.key).substr(finding_.id.size() + 1));
    if (runs == facts_.Fusible().end()) return;
    for (const FusibleRun& run : runs->second) {
      const RankDiagnosis& part = *ranks_[run.rank].part;
      for (const std::uint32_t kernel : run.kernels) {
        if (IsSeen(part, part.graph.nodes[kernel].step))
          AddKernel(run.rank, part.graph.nodes[kernel]);
      }
    }
  }

  void AddOfRank(std::size_t rank) {
    const RankDiagnosis& part = *ranks_[rank].part;
    for (const GraphNode& node : part.graph.nodes) {
      if (node.kind != NodeKind::kKernel || !IsOfLeaf(node.leaf) || !IsSeen(part, node.step))
        continue;
      if (IsOfKind(part, part.kinds[static_cast<std::size_t>(node.row)], node))
        AddKernel(rank, node);
    }
    for (const BlockedPart& call : part.blocked) {
      if (IsOfLeaf(call.leaf) && IsSeen(part, call.step))
        AddOfHost(rank, "calls", call.name, call.line, call.start, call.dur);
    }
    for (const HostPlace& place : part.places) {
      // The mark of a step is everywhere.
      const bool mark = part.names[place.name].starts_with("ProfilerStep#");
      if (IsOfLeaf(place.leaf) && !mark && !IsWaitOfStalls(part, place))
        AddOfHost(rank, "host", place.name, place.line, place.start, place.longest);
    }
  }

  // Operators that wait for the device do not stand still, and what comes before a capture without
  // steps launches anything is the start of the program; see LaunchCauses.
  bool IsWaitOfStalls(const RankDiagnosis& part, const HostPlace& place) const {
    if (finding_.id != "host.launch_bound") return false;
    const bool waits =
        std::any_of(part.blocked.begin(), part.blocked.end(),
                    [&](const BlockedPart& call) { return call.name == place.name; });
    const bool is_start =
        !part.steps.empty() && part.steps.front().id < 0 && place.start < part.steps.front().begin;
    return waits || is_start;
  }

  // The rank that the operation waited for, where the finding is about it; empty: not about this
  // one.
  std::optional<std::int64_t> PeerOf(const JobOperation& operation) const {
    const std::string group =
        finding_.key.substr(std::min(finding_.key.size(), finding_.id.size() + 1));
    if (finding_.id == "rank.late") {
      const std::int64_t culprit = finding_.ranks.empty() ? kNoPeer : finding_.ranks[0];
      return FindLate(operation, finding_.ranks) != nullptr ? std::optional(culprit) : std::nullopt;
    }
    const bool of_all = finding_.id == "comm.inner" || finding_.id == "comm.unaligned" ||
                        finding_.id == "comm.contention";
    if (of_all) return kNoPeer;
    if (finding_.id.starts_with("comm."))
      return operation.group == group ? std::optional(kNoPeer) : std::nullopt;
    if (finding_.id == "pp.bubble")
      return IsPairKind(operation.kind) ? std::optional(kNoPeer) : std::nullopt;
    return std::nullopt;
  }

  void AddOperations(std::size_t rank) {
    const RankDiagnosis& part = *ranks_[rank].part;
    if (finding_.id == "link.slow" || finding_.id == "comm.retransmit") return AddTransfers(rank);
    const auto& of_rank = facts_.Operations().of_rank[rank];
    const RowsOfOperations rows = RowsOf(part.collectives);
    for (std::size_t i = 0; i < part.operations.size(); ++i) {
      const OperationPart& operation = part.operations[i];
      const auto peer = PeerOf(facts_.Operations().all[of_rank[i]]);
      if (!peer || !IsSeen(part, operation.step) || AddWait(rank, i, rows, *peer)) continue;
      Add(rank, "collectives", operation.name, *peer, operation.start, operation.dur);
    }
  }

  using RowsOfOperations = std::map<std::int32_t, std::size_t>;  // of the collectives

  RowsOfOperations RowsOf(const RankCollectives& collectives) const {
    RowsOfOperations rows;
    if (finding_.id != "rank.late") return rows;
    for (std::size_t i = 0; i < collectives.runs.rows.size(); ++i)
      rows[collectives.runs.rows[i].operation] = i;
    return rows;
  }

  // The task of an operation of the rank that waits for the peer; false: none is recorded.
  bool AddWait(std::size_t rank, std::size_t number, const RowsOfOperations& rows,
               std::int64_t peer) {
    const RankDiagnosis& part = *ranks_[rank].part;
    const auto met = rows.find(part.graph.collectives[number].row);
    if (peer == kNoPeer || met == rows.end()) return false;
    const JobOperation& operation =
        facts_.Operations().all[facts_.Operations().of_rank[rank][number]];
    for (const SeenPeer& seen : part.collectives.seen[met->second]) {
      if (!seen.waited || RankInJob(operation, seen.peer) != peer) continue;
      if (Evidence* const added =
              Add(rank, "tasks", "Notify_Wait", peer, seen.begin, seen.time - seen.begin))
        added->op = part.names[part.operations[number].name];
      return true;
    }
    return false;
  }

  // Operations that sent something over one of the slow links.
  void AddTransfers(std::size_t rank) {
    const RankDiagnosis& part = *ranks_[rank].part;
    if (!IsCulprit(ranks_[rank].rank)) return;
    const auto& of_rank = facts_.Operations().of_rank[rank];
    for (const PeerTransfer& transfer : part.transfers) {
      const OperationPart& operation = part.operations[transfer.operation];
      const std::int64_t peer =
          RankInJob(facts_.Operations().all[of_rank[transfer.operation]], transfer.peer);
      if (peer == ranks_[rank].rank || !IsCulprit(peer) || !IsSeen(part, operation.step)) continue;
      Add(rank, "collectives", operation.name, peer, operation.start, operation.dur);
    }
  }

  const std::vector<DiagnosedRank>& ranks_;
  FoundCause& finding_;
  SharedFacts& facts_;
  const std::vector<Leaf> leaves_;
  std::set<std::pair<std::string, std::string>> of_others_;  // types and shapes of kernels
  std::vector<Evidence> found_;
  TimeNs least_ = -1;  // shorter ones and equal ones are too many
};

std::vector<Leaf> ComputeLeaves() {
  std::vector<Leaf> leaves;
  for (std::size_t leaf = 0; leaf < kLeaves && IsCompute(static_cast<Leaf>(leaf)); ++leaf)
    leaves.push_back(static_cast<Leaf>(leaf));
  return leaves;
}

}  // namespace

std::vector<Leaf> LeavesOf(const FoundCause& finding) {
  static const std::map<std::string_view, std::vector<Leaf>> leaves = {
      {"host.dataloader", {Leaf::kDataLoader}},
      {"host.h2d", {Leaf::kHostCopy}},
      {"host.sync", {Leaf::kScalarSync, Leaf::kExplicitSync}},
      {"host.compile", {Leaf::kCompile}},
      {"host.aclop", {Leaf::kAclOp}},
      {"host.gc", {Leaf::kGarbage}},
      {"host.memory", {Leaf::kMemory}},
      {"host.checkpoint", {Leaf::kCheckpoint}},
      {"host.launch_bound", {Leaf::kDispatchOp, Leaf::kDispatchCann, Leaf::kDispatchComm}},
      {"op.aicpu", {Leaf::kAiCpu}},
      {"op.format", {Leaf::kFormat, Leaf::kMove}},
      {"op.attention", {Leaf::kVector}},
      {"op.slow", ComputeLeaves()},
      {"op.variance", ComputeLeaves()},
      {"pp.stage_imbalance", ComputeLeaves()},
      {"mem.pressure", {Leaf::kMemory}},
      {"op.fp32", ComputeLeaves()},
      {"op.optimizer", ComputeLeaves()},
      {"op.unfused", ComputeLeaves()},
      {"dev.clock", {Leaf::kMatmul}},
      {"host.python", {Leaf::kPython}},
      {"host.launch_blocking", {Leaf::kExplicitSync}},
      {"host.cpu_contention", {Leaf::kDispatchCann}},
      {"rank.late_input", {Leaf::kDataLoader, Leaf::kHostCopy}},
  };
  if (const auto found = leaves.find(finding.id); found != leaves.end()) return found->second;
  const auto named = LeafNamed(finding.leaf);
  return named ? std::vector<Leaf>{*named} : std::vector<Leaf>{};
}

void FindEvidence(const std::vector<DiagnosedRank>& ranks, Diagnosis& diagnosis) {
  SharedFacts facts(ranks, diagnosis);
  for (FoundCause& finding : diagnosis.findings) EvidenceFinder(ranks, finding, facts).Find();
}

}  // namespace mpa
