// SPDX-License-Identifier: Apache-2.0
// A small trace around a finding, in the form that Perfetto and chrome://tracing open.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "mpa/base/printable.h"
#include "mpa/base/time.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

using TraceJson = nlohmann::ordered_json;

// Ranks that are shown; of many culprits the first ones.
constexpr std::size_t kMostRanks = 4;

// Rows of a rank in the trace.
enum TraceRow : int { kStepRow, kHostRow, kKernelRow, kCopyRow, kCollectiveRow, kFindingRow };

std::size_t CountSteps(const std::vector<DiagnosedRank>& ranks) {
  std::size_t steps = 0;
  for (const DiagnosedRank& rank : ranks) steps = std::max(steps, rank.part->steps.size());
  return steps;
}

class SceneFinder {
 public:
  SceneFinder(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis,
              const FoundCause& finding)
      : ranks_(ranks), of_(diagnosis), finding_(finding), leaves_(LeavesOf(finding)) {}

  FindingScene Find() const { return {ShownRanks(), WorstStep()}; }

 private:
  bool IsCulprit(std::int64_t rank) const {
    return std::ranges::find(finding_.ranks, rank) != finding_.ranks.end();
  }

  // The step in which the leaves of the finding take most on its ranks; of equal ones the longest.
  std::size_t WorstStep() const {
    std::pair<TimeNs, TimeNs> most{-1, -1};
    std::size_t worst = 0;
    for (std::size_t step = 0; step < CountSteps(ranks_); ++step) {
      std::pair<TimeNs, TimeNs> cost{0, 0};
      for (const DiagnosedRank& rank : ranks_) {
        if (step >= rank.part->steps.size()) continue;
        const StepPart& part = rank.part->steps[step];
        cost.second = std::max(cost.second, part.end - part.begin);
        if (!finding_.ranks.empty() && !IsCulprit(rank.rank)) continue;
        for (const Leaf leaf : leaves_) cost.first += part.leaves[static_cast<std::size_t>(leaf)];
      }
      const bool counts =
          std::ranges::find(of_.dropped_steps, IdOf(step)) == of_.dropped_steps.end();
      if (counts && cost > most) {
        most = cost;
        worst = step;
      }
    }
    return worst;
  }

  std::int32_t IdOf(std::size_t step) const {
    for (const DiagnosedRank& rank : ranks_) {
      if (step < rank.part->steps.size()) return rank.part->steps[step].id;
    }
    return -1;
  }

  // The culprits, or the ranks of the places that show it, and one rank beside them.
  std::vector<std::size_t> ShownRanks() const {
    std::vector<std::size_t> shown;
    std::optional<std::size_t> peer;
    const auto is_place = [&](std::int64_t rank) {
      return std::ranges::any_of(finding_.evidence,
                                 [&](const Evidence& place) { return place.rank == rank; });
    };
    const bool captured = std::ranges::any_of(
        ranks_, [&](const DiagnosedRank& rank) { return IsCulprit(rank.rank); });
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const bool wanted = captured ? IsCulprit(ranks_[i].rank) : is_place(ranks_[i].rank);
      if (wanted && shown.size() < kMostRanks) {
        shown.push_back(i);
      } else if (!wanted && !peer) {
        peer = i;
      }
    }
    if (peer) shown.push_back(*peer);
    return shown;
  }

  const std::vector<DiagnosedRank>& ranks_;
  const Diagnosis& of_;
  const FoundCause& finding_;
  const std::vector<Leaf> leaves_;
};

class TimelineMaker {
 public:
  TimelineMaker(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis,
                const FoundCause& finding)
      : ranks_(ranks), finding_(finding), joined_(JoinOperations(ranks, diagnosis.rules)) {
    const FindingScene scene = SceneOf(ranks, diagnosis, finding);
    step_ = scene.step;
    shown_ = scene.ranks;
  }

  std::string Make() && {
    begin_ = std::numeric_limits<TimeNs>::max();
    for (const std::size_t rank : shown_) {
      if (const StepPart* step = StepOf(rank))
        begin_ = std::min(begin_, joined_.clock[rank].Convert(step->begin));
    }
    for (const std::size_t rank : shown_) AddRank(rank);
    const TraceJson document = {
        {"displayTimeUnit", "ms"},
        {"otherData",
         {{"finding", finding_.key},
          {"title", TitleOf(finding_, Language::kEnglish)},
          {"clock", "ns since the begin of the step on the clock of the first rank"}}},
        {"traceEvents", std::move(events_)}};
    return PrintableJson(document.dump(-1, ' ', false, TraceJson::error_handler_t::replace)) + "\n";
  }

 private:
  const RankDiagnosis& Part(std::size_t rank) const { return *ranks_[rank].part; }

  const StepPart* StepOf(std::size_t rank) const {
    const auto& steps = Part(rank).steps;
    return step_ < steps.size() ? &steps[step_] : nullptr;
  }

  bool IsCulprit(std::int64_t rank) const {
    return std::ranges::find(finding_.ranks, rank) != finding_.ranks.end();
  }

  // Times of a trace are in us, with parts.

  void Add(std::size_t rank, TraceRow row, std::string_view name, TimeNs start, TimeNs dur,
           TraceJson args) {
    TraceJson event = {{"ph", "X"},
                       {"name", Printable(name)},
                       {"pid", ranks_[rank].rank},
                       {"tid", static_cast<int>(row)},
                       {"ts", InUs(joined_.clock[rank].Convert(start) - begin_)},
                       {"dur", InUs(dur)}};
    args["start_ns"] = start;
    event["args"] = std::move(args);
    events_.push_back(std::move(event));
  }

  void NameRows(std::size_t rank) {
    const auto add = [&](std::string_view what, int row, const std::string& name) {
      events_.push_back({{"ph", "M"},
                         {"name", what},
                         {"pid", ranks_[rank].rank},
                         {"tid", row},
                         {"args", {{"name", name}}}});
    };
    const bool culprit = IsCulprit(ranks_[rank].rank);
    add("process_name", 0,
        fmt::format("rank {}{}", ranks_[rank].rank, culprit ? " (finding)" : ""));
    constexpr std::string_view kNames[] = {"step",   "host: launches", "kernels",
                                           "copies", "collectives",    "where the finding shows"};
    for (int row = kStepRow; row <= kFindingRow; ++row)
      add("thread_name", row, std::string(kNames[row]));
  }

  void AddRank(std::size_t rank) {
    const StepPart* step = StepOf(rank);
    if (step == nullptr) return;
    NameRows(rank);
    const RankDiagnosis& part = Part(rank);
    Add(rank, kStepRow, fmt::format("step {}", step->id), step->begin, step->end - step->begin,
        {{"window_ns", step->end - step->begin}});
    const auto number = static_cast<std::int32_t>(step_);
    for (const GraphNode& node : part.graph.nodes) {
      if (node.step == number) AddNode(rank, node);
    }
    for (std::size_t i = 0; i < part.operations.size(); ++i) {
      const OperationPart& operation = part.operations[i];
      if (operation.step != number) continue;
      const JobOperation& joined = joined_.all[joined_.of_rank[rank][i]];
      TraceJson args = {{"kind", part.names[operation.kind]}, {"group", Printable(joined.group)}};
      const std::vector<LateMembers>& late = joined.joint.late;
      if (!late.empty() && late[0].ranks.size() == 1) args["last_came_rank"] = late[0].ranks[0];
      Add(rank, kCollectiveRow, part.names[operation.name], operation.start, operation.dur,
          std::move(args));
    }
    for (const Evidence& place : finding_.evidence) {
      const bool within = place.start < step->end && place.start + place.dur > step->begin;
      if (place.rank != ranks_[rank].rank || !within) continue;
      Add(rank, kFindingRow, place.name, place.start, place.dur, {{"table", place.table}});
    }
  }

  void AddNode(std::size_t rank, const GraphNode& node) {
    const RankDiagnosis& part = Part(rank);
    if (node.kind == NodeKind::kKernel) {
      const KernelKind& kind = part.KindOf(node);
      Add(rank, kKernelRow, part.names[kind.type], node.start, node.dur,
          {{"leaf", NameOf(node.leaf)}, {"shapes", Printable(part.names[kind.shapes])}});
    } else if (node.kind == NodeKind::kCopy) {
      Add(rank, kCopyRow, LeafText(NameOf(node.leaf), Language::kEnglish), node.start, node.dur,
          TraceJson::object());
    } else if (node.kind == NodeKind::kLaunch) {
      Add(rank, kHostRow, "launch", node.start, 0, TraceJson::object());
    }
  }

  const std::vector<DiagnosedRank>& ranks_;
  const FoundCause& finding_;
  const JobOperations joined_;
  std::size_t step_ = 0;
  std::vector<std::size_t> shown_;
  TimeNs begin_ = 0;
  TraceJson events_ = TraceJson::array();
};

}  // namespace

FindingScene SceneOf(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis,
                     const FoundCause& finding) {
  return SceneFinder(ranks, diagnosis, finding).Find();
}

std::string TimelineName(const FoundCause& finding) {
  // Keys of jobs of thousands of ranks are longer than names of files may be.
  constexpr std::size_t kLongest = 100;
  std::string name = "timeline_" + finding.key.substr(0, kLongest);
  for (char& letter : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' ||
                       letter == '-' || letter == '+';
    if (!plain) letter = '_';
  }
  return name + ".json";
}

std::string TimelineOf(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis,
                       const FoundCause& finding) {
  return TimelineMaker(ranks, diagnosis, finding).Make();
}

}  // namespace mpa
