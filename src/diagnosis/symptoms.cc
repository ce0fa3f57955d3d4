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
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

constexpr std::size_t kMaxSymptoms = 2;

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

class InnocentFinder {
 public:
  InnocentFinder(const Job& job, const std::vector<const WhatIf*>& what_ifs, StepReplays& replays,
                 Diagnosis& diagnosis)
      : job_(job), what_ifs_(what_ifs), replays_(replays), diagnosis_(diagnosis) {}

  void Find() {
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) Collect(rank);
    FindConcerned();
    std::vector<Candidate> largest;
    for (const auto& [name, ranks] : calls_) {
      const TimeNs time = PerStep(job_, LongestOf(ranks).second);
      if (!concerned_.contains(name) &&
          time >= ShareOf(diagnosis_.step, job_.thresholds[kInnocentShare]))
        largest.emplace_back(time, name);
    }
    StableSort(largest, std::greater{}, [](const auto& row) { return row.first; });
    // A few at a time: a replay tells all calls how long they wait then.
    constexpr std::size_t kTogether = 2 * kMaxSymptoms;
    for (std::size_t first = 0; first < largest.size(); first += kTogether) {
      const std::span<const Candidate> some =
          std::span(largest).subspan(first, std::min(kTogether, largest.size() - first));
      const std::vector<std::string> explained_by = Explain(some);
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (diagnosis_.not_causes.size() == kMaxSymptoms) return;
        Add(some[i].second, some[i].first, explained_by[i]);
      }
    }
  }

 private:
  using OfRanks = std::map<std::size_t, WaitingCalls>;
  using Candidate = std::pair<TimeNs, std::string>;  // how long the calls wait, and their name

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
    for (const WhatIf* what_if : what_ifs_)
      cuts.insert(what_if->expect.cuts.begin(), what_if->expect.cuts.end());
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      for (const BlockedPart& call : part.blocked) {
        if (cuts.contains(job_.graph.first_edge[rank] + call.edge) || IsAbout(rank, call.category))
          concerned_.insert(NameOf(part, call));
      }
    }
  }

  bool IsAbout(RankIndex rank, TimeCategory category) const {
    return std::ranges::any_of(diagnosis_.findings, [&](const FoundCause& finding) {
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
    StepReplays::Removals mended;
    for (const WhatIf* what_if : what_ifs_) mended.push_back(&what_if->expect);
    if (explained_by.empty() &&
        Saved(mended, without) >= LeastGain(job_.thresholds, diagnosis_.step))
      return;
    Symptom& symptom = diagnosis_.not_causes.emplace_back();
    symptom.name = name;
    symptom.cost = time;
    symptom.explained_by = explained_by;
  }

  // How much shorter the step is without the waits, once some findings are mended.
  TimeNs Saved(const StepReplays::Removals& mended, const Removal& without) {
    const std::vector<TimeNs> times =
        replays_.Times(mended, std::vector<StepReplays::Removals>{{}, {&without}});
    return times[0] - times[1];
  }

  // For each the finding without which the calls wait least; empty: they wait for long without any
  // of them.
  std::vector<std::string> Explain(std::span<const Candidate> candidates) {
    struct Waits {
      RankIndex rank;
      std::vector<std::uint32_t> edges;
      std::vector<TimeNs> times;  // with nothing mended, then with each finding
    };
    std::vector<StepReplays::Removals> sets(1);
    for (std::size_t i = 0; i < what_ifs_.size(); ++i) {
      StepReplays::Removals& removals = sets.emplace_back(1, &what_ifs_[i]->expect);
      if (diagnosis_.findings[i].with_next && i + 1 < what_ifs_.size())
        removals.push_back(&what_ifs_[i + 1]->expect);
    }
    std::vector<Waits> waits;
    for (const Candidate& candidate : candidates) {
      const RankIndex rank = LongestOf(calls_.at(candidate.second)).first;
      waits.push_back({rank, EdgesBeside(rank, calls_.at(candidate.second).at(rank)),
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
  const std::vector<const WhatIf*>& what_ifs_;
  StepReplays& replays_;
  Diagnosis& diagnosis_;
  std::map<std::string, OfRanks> calls_;  // by name
  std::set<std::string> concerned_;
};

}  // namespace

void FindNotCauses(const Job& job, const std::vector<const WhatIf*>& what_ifs, StepReplays& replays,
                   Diagnosis& diagnosis) {
  InnocentFinder(job, what_ifs, replays, diagnosis).Find();
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

void AddLinesOfNotCauses(const Job& job, Diagnosis& diagnosis) {
  std::map<std::string, TimeOfLines> lines;  // by operator, else by call
  for (const DiagnosedRank& rank : job.ranks) {
    const auto& names = rank.part->names;
    for (const BlockedPart& call : rank.part->blocked) {
      const std::string& place = names[call.place];
      lines[place.empty() ? names[call.name] : place][names[call.line]] += call.dur;
    }
  }
  for (Symptom& symptom : diagnosis.not_causes) symptom.line = LineOfNearlyAll(lines[symptom.name]);
}

namespace {

// Those that hide others cost much, so they are among the first.
constexpr std::size_t kMaxDominating = 4;

void Insert(FoundCause cause, Diagnosis& diagnosis) {
  const auto place = std::ranges::find_if(
      diagnosis.hidden, [&](const FoundCause& other) { return other.alone < cause.alone; });
  diagnosis.hidden.insert(place, std::move(cause));
}

// A gain is clearly larger than what is saved alone.
bool IsMore(TimeNs gain, const FoundCause& finding, const Thresholds& thresholds) {
  return gain - finding.alone > ShareOf(finding.gain, thresholds[kHiddenShare]);
}

}  // namespace

void FindHiding(StepReplays& replays, const std::vector<const WhatIf*>& what_ifs,
                Diagnosis& diagnosis) {
  for (std::size_t i = 1; i < what_ifs.size(); ++i) {
    FoundCause& finding = diagnosis.findings[i];
    if (!IsMore(finding.gain, finding, diagnosis.thresholds)) continue;
    const std::size_t ahead = std::min(i, kMaxDominating);
    std::vector<StepReplays::Removals> pairs;
    for (std::size_t other = 0; other < ahead; ++other)
      pairs.push_back({&what_ifs[other]->expect, &what_ifs[i]->expect});
    const std::vector<TimeNs> with_both = replays.Times({}, pairs);
    for (std::size_t other = 0; other < ahead; ++other) {
      const TimeNs with_other = diagnosis.step - diagnosis.findings[other].alone;
      const TimeNs then = with_other - with_both[other];
      if (IsMore(then, finding, diagnosis.thresholds))
        finding.after.push_back(diagnosis.findings[other].key);
    }
    if (!finding.after.empty()) continue;
    // It takes several of them.
    for (std::size_t other = 0; other < ahead; ++other)
      finding.after.push_back(diagnosis.findings[other].key);
  }
}

void AddHidden(const std::vector<const WhatIf*>& what_ifs,
               const std::function<TimeNs(const Removal&)>& step_with, FoundCause cause,
               Diagnosis& diagnosis) {
  const std::size_t ahead = std::min(what_ifs.size(), kMaxDominating);
  for (std::size_t other = 0; other < ahead; ++other) {
    const FoundCause& finding = diagnosis.findings[other];
    const TimeNs then = diagnosis.step - finding.alone - step_with(what_ifs[other]->expect);
    if (cause.alone - then > ShareOf(cause.alone, diagnosis.thresholds[kHiddenShare]))
      cause.after.push_back(finding.key);
  }
  const bool several = cause.after.empty();  // it takes more than one of them
  for (std::size_t other = 0; several && other < what_ifs.size(); ++other)
    cause.after.push_back(diagnosis.findings[other].key);
  Insert(std::move(cause), diagnosis);
}

void AddHiddenBehindOthers(StepReplays& replays, const StepReplays::Removals& others,
                           const WhatIf& what_if, FoundCause cause, Diagnosis& diagnosis) {
  StepReplays::Removals with = others;
  with.push_back(&what_if.expect);
  cause.alone = replays.Time(others) - replays.Time(with);
  if (cause.alone < LeastGain(diagnosis.thresholds, diagnosis.step)) return;
  cause.if_others_do = true;
  for (const FoundCause& finding : diagnosis.findings) {
    if (finding.Is(kRankLate)) cause.after.push_back(finding.key);
  }
  Insert(std::move(cause), diagnosis);
}

}  // namespace mpa
