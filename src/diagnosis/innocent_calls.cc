// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "diagnose.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

constexpr std::size_t kMaxInnocentCalls = 2;

// Waiting calls of one name on one rank.
struct WaitingCalls {
  std::map<std::uint32_t, TimeNs>
      dur;  // by the moment at which the call ends: it may wait for several streams
  TimeNs Sum() const {
    TimeNs sum = 0;
    for (const auto& [end, time] : dur) sum += time;
    return sum;
  }
};

class InnocentCallFinder {
 public:
  InnocentCallFinder(const Job& job, StepReplays& replays, Diagnosis& diagnosis)
      : job_(job), fixes_(FixesOf(diagnosis)), replays_(replays), diagnosis_(diagnosis) {}

  void Find() {
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) Collect(rank);
    FindConcerned();
    std::vector<LongWait> largest;
    for (const auto& [name, ranks] : calls_) {
      const TimeNs time = PerStep(job_, LongestOf(ranks).second);
      if (!concerned_.contains(name) &&
          time >= ShareOf(diagnosis_.step, job_.thresholds[kInnocentShare]))
        largest.emplace_back(time, name);
    }
    StableSort(largest, std::greater{}, [](const auto& row) { return row.first; });
    // A few at a time: a replay tells all calls how long they wait then.
    constexpr std::size_t kTogether = 2 * kMaxInnocentCalls;
    for (std::size_t first = 0; first < largest.size(); first += kTogether) {
      const std::span<const LongWait> some =
          std::span(largest).subspan(first, std::min(kTogether, largest.size() - first));
      const std::vector<std::string> explained_by = Explain(some);
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (diagnosis_.innocent_calls.size() == kMaxInnocentCalls) return;
        Add(some[i].second, some[i].first, explained_by[i]);
      }
    }
  }

 private:
  using OfRanks = std::map<std::size_t, WaitingCalls>;
  using LongWait = std::pair<TimeNs, std::string>;  // how long the calls wait, and their name

  std::string NameOf(const RankDiagnosis& part, const BlockedPart& call) const {
    const std::string& place = part.names[call.place];
    return place.empty() ? part.names[call.name] : place;
  }

  void Collect(RankIndex rank) {
    const RankDiagnosis& part = job_.Part(rank);
    for (const BlockedPart& call : part.blocked) {
      const bool counts = job_.Counts(call.step);
      if (counts && call.edge < part.graph.edges.size())
        calls_[NameOf(part, call)][rank].dur[part.graph.edges[call.edge].node] = call.dur;
    }
  }

  static std::pair<std::size_t, TimeNs> LongestOf(const OfRanks& ranks) {
    std::pair<std::size_t, TimeNs> longest{0, -1};
    for (const auto& [rank, calls] : ranks) {
      if (calls.Sum() > longest.second) longest = {rank, calls.Sum()};
    }
    return longest;
  }

  // The names of calls that a finding is about: it takes out waits of theirs, or counts their kind
  // among what it costs.
  void FindConcerned() {
    std::set<ReplayGraph::Edge> cuts;
    for (const Removal* fix : fixes_) cuts.insert(fix->cuts.begin(), fix->cuts.end());
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      for (const BlockedPart& call : part.blocked) {
        if (cuts.contains(job_.graph.first_edge[rank] + call.edge) || IsAbout(rank, call.category))
          concerned_.insert(NameOf(part, call));
      }
    }
  }

  bool IsAbout(RankIndex rank, TimeCategory category) const {
    return std::ranges::any_of(diagnosis_.findings, [&](const Finding& finding) {
      return finding.Concerns(job_.ranks[rank].rank) && IsOf(CategoriesOf(finding), category);
    });
  }

  void Add(const std::string& name, TimeNs time, const std::string& explained_by) {
    Removal without;
    for (const auto& [rank, calls] : calls_.at(name)) {
      for (const BlockedPart& call : job_.Part(rank).blocked) {
        if (NameOf(job_.Part(rank), call) == name)
          without.cuts.push_back(job_.graph.first_edge[rank] + call.edge);
      }
    }
    // What is explained costs something of its own, too; not most of it.
    const TimeNs alone = Saved({}, without);
    if (explained_by.empty() ? alone >= LeastGain(job_.thresholds, diagnosis_.step)
                             : 2 * alone >= time)
      return;
    if (explained_by.empty() &&
        Saved(fixes_, without) >= LeastGain(job_.thresholds, diagnosis_.step))
      return;
    InnocentCall& call = diagnosis_.innocent_calls.emplace_back();
    call.name = name;
    call.cost = time;
    call.explained_by = explained_by;
  }

  // How much shorter the step is without the waits, once some findings are fixed.
  TimeNs Saved(const StepReplays::Removals& fixed, const Removal& without) {
    const std::vector<TimeNs> times =
        replays_.Times(fixed, std::vector<StepReplays::Removals>{{}, {&without}});
    return times[0] - times[1];
  }

  // For each the finding without which the calls wait least; empty: they wait for long without any
  // of them.
  std::vector<std::string> Explain(std::span<const LongWait> of_names) {
    struct Waits {
      RankIndex rank;
      std::vector<std::uint32_t> edges;
      std::vector<TimeNs> times;  // with nothing fixed, then with each finding
    };
    std::vector<StepReplays::Removals> sets(1);
    for (std::size_t i = 0; i < fixes_.size(); ++i) {
      StepReplays::Removals& removals = sets.emplace_back(1, fixes_[i]);
      if (diagnosis_.findings[i].pays_only_with_next && i + 1 < fixes_.size())
        removals.push_back(fixes_[i + 1]);
    }
    std::vector<Waits> waits;
    for (const LongWait& wait : of_names) {
      const RankIndex rank = LongestOf(calls_.at(wait.second)).first;
      waits.push_back({rank, EdgesBeside(rank, calls_.at(wait.second).at(rank)),
                       std::vector<TimeNs>(sets.size())});
    }
    replays_.ForEach({}, sets, [&](std::size_t number, const Replays& replays, std::size_t set) {
      for (Waits& of_calls : waits)
        of_calls.times[number] = WaitOf(of_calls.rank, of_calls.edges, replays, set);
    });
    std::vector<std::string> keys;
    for (const Waits& of_calls : waits) keys.push_back(KeyOf(of_calls.times));
    return keys;
  }

  std::string KeyOf(const std::vector<TimeNs>& waits) const {
    TimeNs best = std::max<TimeNs>(1, ShareOf(waits.front(), job_.thresholds[kExplainedShare]));
    std::string key;
    for (std::size_t i = 1; i < waits.size(); ++i) {
      const TimeNs less = waits.front() - waits[i];
      if (less < best) continue;
      best = less + 1;  // of equal ones the first
      key = diagnosis_.findings[i - 1].key;
    }
    return key;
  }

  // What holds up the ends of calls beside the device.
  std::vector<std::uint32_t> EdgesBeside(RankIndex rank, const WaitingCalls& calls) const {
    const RankDiagnosis& part = job_.Part(rank);
    std::vector<bool> is_end(part.graph.nodes.size(), false),
        blocking(part.graph.edges.size(), false);
    for (const auto& [end, time] : calls.dur) is_end[end] = true;
    for (const BlockedPart& call : part.blocked) blocking[call.edge] = true;
    std::vector<std::uint32_t> edges;
    for (std::uint32_t i = 0; i < part.graph.edges.size(); ++i) {
      if (is_end[part.graph.edges[i].node] && !blocking[i]) edges.push_back(i);
    }
    return edges;
  }

  // How long calls of a rank wait for the device in a replay: from when all else that holds up
  // their ends is done.
  TimeNs WaitOf(RankIndex rank, const std::vector<std::uint32_t>& edges, const Replays& replays,
                std::size_t set) const {
    const RankDiagnosis& part = job_.Part(rank);
    const ReplayGraph::Node first = job_.graph.first_node[rank];
    std::map<std::uint32_t, TimeNs> ready;
    for (const std::uint32_t i : edges) {
      const GraphEdge& edge = part.graph.edges[i];
      const TimeNs from =
          replays.Start(set, first + edge.on) +
          (edge.from == WaitsFor::kEnd ? replays.Duration(set, first + edge.on) : 0);
      const TimeNs then = from + job_.graph.graph.Weight(job_.graph.first_edge[rank] + i);
      const auto [found, is_new] = ready.try_emplace(edge.node, then);
      found->second = std::max(found->second, then);
    }
    TimeNs wait = 0;
    for (const auto& [node, then] : ready)
      wait += std::max<TimeNs>(0, replays.Start(set, first + node) - then);
    return wait;
  }

  const Job& job_;
  const StepReplays::Removals fixes_;
  StepReplays& replays_;
  Diagnosis& diagnosis_;
  std::map<std::string, OfRanks> calls_;  // by name
  std::set<std::string> concerned_;
};

}  // namespace

void FindInnocentCalls(const Job& job, StepReplays& replays, Diagnosis& diagnosis) {
  InnocentCallFinder(job, replays, diagnosis).Find();
}

namespace {

using TimeOfLines = std::map<std::string, TimeNs>;

// The line that has at least four fifths of the time; empty: there is none.
std::string LineOfNearlyAll(const TimeOfLines& lines) {
  TimeNs whole = 0;
  for (const auto& [line, time] : lines) whole += time;
  const auto found =
      std::ranges::find_if(lines, [&](const auto& line) { return line.second * 5 >= whole * 4; });
  return found == lines.end() ? "" : found->first;
}

}  // namespace

void AddLinesOfInnocentCalls(const Job& job, Diagnosis& diagnosis) {
  std::map<std::string, TimeOfLines> lines;  // by operator, else by call
  for (const DiagnosedRank& rank : job.ranks) {
    const auto& names = rank.part->names;
    for (const BlockedPart& call : rank.part->blocked) {
      const std::string& place = names[call.place];
      lines[place.empty() ? names[call.name] : place][names[call.line]] += call.dur;
    }
  }
  for (InnocentCall& call : diagnosis.innocent_calls) call.line = LineOfNearlyAll(lines[call.name]);
}

}  // namespace mpa
