// SPDX-License-Identifier: Apache-2.0
// Explains replays by captured graphs.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "kernel_names.h"
#include "mpa/measure/graph_replays.h"

namespace mpa {
namespace {

using Kind = CapturedNode::Kind;
using Outcome = GraphExplainer::Outcome;
constexpr std::int64_t kNoNode = -1;

// Functions of Python that all replays together may add; of more the modules alone are added.
constexpr std::size_t kMaxFunctions = 2'000'000;

// A captured graph with what is compared.
struct KnownGraph {
  std::size_t file = 0, place = 0;
  std::vector<std::size_t> kernels, copies;  // nodes
  std::vector<std::int32_t> names;           // of the kernels; -1: not named
  bool names_any = false;
};

// Which node each kernel and each copy of a replay is.
struct Assignment {
  GraphMatch match;
  std::vector<std::int64_t> kernels, copies;  // nodes, or kNoNode
};

// The times of a captured graph within a call: what begins at different times does so here as well.
class TimeMap {
 public:
  explicit TimeMap(std::vector<TimeNs> starts) : starts_(std::move(starts)) {
    std::ranges::sort(starts_);
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
  }

  // False when the call is too short to keep the times apart.
  bool Fit(TimeNs begin, TimeNs end) {
    begin_ = begin + 1;
    room_ = end - 1 - begin_;
    const auto starts = static_cast<TimeNs>(starts_.size());
    places_ = 2 * starts;
    ends_apart_ = room_ >= places_;
    if (!ends_apart_) places_ = starts;
    return room_ >= places_;
  }
  TimeNs Start(TimeNs captured) const {
    return At(ends_apart_ ? 2 * Rank(captured) : Rank(captured));
  }
  // Behind all that begins before.
  TimeNs End(TimeNs captured) const {
    return At(ends_apart_ ? 2 * Rank(captured) - 1 : Rank(captured));
  }

 private:
  TimeNs Rank(TimeNs captured) const {
    return std::ranges::lower_bound(starts_, captured) - starts_.begin();
  }
  TimeNs At(TimeNs place) const { return begin_ + place * (room_ / places_); }

  std::vector<TimeNs> starts_;
  TimeNs begin_ = 0, room_ = 0, places_ = 1;
  bool ends_apart_ = true;
};

// The captured graphs of a rank, and which of them a replay ran.
class ReplayMatcher {
 public:
  explicit ReplayMatcher(const RankTrace& trace) : trace_(trace) {}

  void Add(CapturedGraphs graphs) {
    for (std::size_t i = 0; i < graphs.graphs.size(); ++i) {
      const CapturedGraph& graph = graphs.graphs[i];
      KnownGraph& known = known_.emplace_back();
      known.file = files_.size();
      known.place = i;
      for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
        if (graph.nodes[node].kind == Kind::kCopy) {
          known.copies.push_back(node);
          continue;
        }
        const StringId name = graph.nodes[node].kernel;
        known.kernels.push_back(node);
        known.names.push_back(name == StringId::kEmpty ? -1 : names_.Of(graphs.strings.View(name)));
        known.names_any |= name != StringId::kEmpty;
      }
    }
    files_.push_back(std::move(graphs));
  }

  const CapturedGraphs& File(std::size_t file) const { return files_[file]; }
  std::size_t FileOf(std::size_t graph) const { return known_[graph].file; }
  const CapturedGraph& Graph(std::size_t graph) const {
    return files_[known_[graph].file].graphs[known_[graph].place];
  }

  // The best one; of equal ones that behind the one chosen before. Empty: no graph is known.
  std::optional<Assignment> Choose(const Replay& replay, Outcome& outcome) {
    std::vector<std::int32_t> names;
    for (const ReplayedWork& work : replay.kernels) names.push_back(NameOf(work));
    std::vector<Assignment> equal;  // the best ones
    const auto rank = [](const GraphMatch& match) {
      return std::tuple{match.Explains(), !match.by_count, match.matched,
                        -std::abs(match.kernels - match.captured)};
    };
    for (std::size_t i = 0; i < known_.size(); ++i) {
      Assignment one = Match(i, replay, names);
      if (!equal.empty() && rank(one.match) < rank(equal.front().match)) continue;
      if (!equal.empty() && rank(one.match) > rank(equal.front().match)) equal.clear();
      equal.push_back(std::move(one));
    }
    if (equal.empty()) return std::nullopt;
    KeepBatch(replay.tokens, equal, outcome);
    auto next = std::ranges::find_if(
        equal, [&](const Assignment& one) { return one.match.graph >= next_graph_; });
    if (next == equal.end()) next = equal.begin();
    if (next->match.Explains()) next_graph_ = next->match.graph + 1;
    return std::move(*next);
  }

 private:
  std::int32_t NameOf(const ReplayedWork& work) {
    const bool is_kernel = work.table == ReplayedWork::Table::kKernels;
    const StringId name =
        is_kernel ? trace_.kernels.name[work.row] : trace_.communications.name[work.row];
    const auto [known, is_new] = name_of_.try_emplace(name, 0);
    if (is_new) known->second = names_.Of(trace_.strings.View(name));
    return known->second;
  }

  // Keeps the graphs of one batch. Without a batch that holds the step's tokens all are as good.
  void KeepBatch(std::int64_t tokens, std::vector<Assignment>& equal, Outcome& outcome) const {
    const auto batch_of = [&](const Assignment& one) { return Graph(one.match.graph).batch; };
    std::int64_t kept = -1;
    for (const Assignment& one : equal) {
      const std::int64_t batch = batch_of(one);
      if (batch >= tokens && tokens >= 0 && (kept < 0 || batch < kept)) kept = batch;
    }
    const auto differs = [&](const Assignment& one) { return batch_of(one) != batch_of(equal[0]); };
    outcome.batch_is_unsure = kept < 0 && (std::ranges::any_of(equal, differs) ||
                                           (tokens >= 0 && batch_of(equal[0]) >= 0));
    if (kept < 0) kept = batch_of(equal[0]);
    std::erase_if(equal, [&](const Assignment& one) { return batch_of(one) != kept; });
  }

  Assignment Match(std::size_t graph, const Replay& replay,
                   const std::vector<std::int32_t>& names) {
    const KnownGraph& known = known_[graph];
    Assignment result;
    result.match = {.graph = graph,
                    .kernels = static_cast<std::int64_t>(names.size()),
                    .captured = static_cast<std::int64_t>(known.kernels.size())};
    if (known.kernels.size() == names.size() && !known.names_any) {
      result.match.by_count = true;
      result.match.matched = result.match.kernels;
      result.kernels.assign(known.kernels.begin(), known.kernels.end());
    } else {
      AssignInOrder(known, names, result);
      if (known.names.size() != names.size()) {
        AssignFromBothEnds(known, names, result);
      } else if (!result.match.Explains() && HasSeveralStreams(replay)) {
        AssignByName(known, names, result);
      }
    }
    if (known.copies.size() == replay.copies.size())
      result.copies.assign(known.copies.begin(), known.copies.end());
    else
      result.copies.assign(replay.copies.size(), kNoNode);
    return result;
  }

  void AssignInOrder(const KnownGraph& known, const std::vector<std::int32_t>& names,
                     Assignment& result) {
    result.kernels.assign(names.size(), kNoNode);
    for (std::size_t i = 0; i < std::min(names.size(), known.names.size()); ++i) {
      if (known.names[i] < 0 || !names_.AreSame(known.names[i], names[i])) continue;
      result.kernels[i] = static_cast<std::int64_t>(known.kernels[i]);
      ++result.match.matched;
    }
  }

  // Launches in a row may be missing on one side: what lies before them is counted from the begin,
  // what lies behind from the end. Kept where nothing is left over, for then nothing is guessed.
  void AssignFromBothEnds(const KnownGraph& known, const std::vector<std::int32_t>& names,
                          Assignment& result) {
    const std::size_t fewer = std::min(names.size(), known.names.size());
    const auto same = [&](std::size_t captured, std::size_t replayed) {
      return known.names[captured] >= 0 && names_.AreSame(known.names[captured], names[replayed]);
    };
    std::size_t before = 0, behind = 0;
    while (before < fewer && same(before, before)) ++before;
    while (before + behind < fewer &&
           same(known.names.size() - 1 - behind, names.size() - 1 - behind))
      ++behind;
    if (before + behind < fewer) return;
    result.match.matched = static_cast<std::int64_t>(fewer);
    result.kernels.assign(names.size(), kNoNode);
    for (std::size_t i = 0; i < before; ++i)
      result.kernels[i] = static_cast<std::int64_t>(known.kernels[i]);
    for (std::size_t i = 1; i <= behind; ++i)
      result.kernels[names.size() - i] =
          static_cast<std::int64_t>(known.kernels[known.kernels.size() - i]);
  }

  static bool HasSeveralStreams(const Replay& replay) {
    return std::ranges::any_of(replay.kernels, [&](const ReplayedWork& work) {
      return work.stream != replay.kernels.front().stream;
    });
  }

  void AssignByName(const KnownGraph& known, const std::vector<std::int32_t>& names,
                    Assignment& result) {
    std::unordered_map<std::int32_t, std::vector<std::size_t>> nodes;  // the last first
    for (std::size_t i = known.names.size(); i-- > 0;) {
      if (known.names[i] >= 0) nodes[known.names[i]].push_back(known.kernels[i]);
    }
    std::vector<std::int64_t> found(names.size(), kNoNode);
    std::int64_t matched = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto left = nodes.find(names[i]);
      if (left == nodes.end() || left->second.empty()) continue;
      found[i] = static_cast<std::int64_t>(left->second.back());
      left->second.pop_back();
      ++matched;
    }
    if (matched <= result.match.matched) return;
    result.match.matched = matched;
    result.kernels = std::move(found);
  }

  const RankTrace& trace_;
  std::vector<CapturedGraphs> files_;
  std::vector<KnownGraph> known_;
  KernelNames names_;
  std::unordered_map<StringId, std::int32_t> name_of_;  // of the rank's kernels
  std::size_t next_graph_ = 0;
};

std::vector<TimeNs> StartsOf(const CapturedGraph& graph, bool with_functions) {
  std::vector<TimeNs> starts = graph.ops.start;
  starts.insert(starts.end(), graph.modules.start.begin(), graph.modules.start.end());
  if (with_functions)
    starts.insert(starts.end(), graph.functions.start.begin(), graph.functions.start.end());
  return starts;
}

}  // namespace

class GraphExplainer::Impl {
 public:
  explicit Impl(RankTrace& trace) : trace_(trace), matcher_(trace) {
    for (const std::int64_t link : trace.launches.link) next_link_ = std::max(next_link_, link + 1);
  }

  void Add(CapturedGraphs graphs) {
    texts_.emplace_back();
    tracks_.emplace_back();
    matcher_.Add(std::move(graphs));
  }

  const CapturedGraph& Graph(std::size_t graph) const { return matcher_.Graph(graph); }
  std::string_view SourceOf(std::size_t graph) const {
    return matcher_.File(matcher_.FileOf(graph)).source;
  }

  void Explain(const Replay& replay, Outcome& outcome) {
    const std::optional<Assignment> best = matcher_.Choose(replay, outcome);
    if (!best) return;
    outcome.match = best->match;
    if (best->match.Explains()) outcome.explained = Expand(replay, *best, outcome);
  }

  // For MapTexts(): a text of the file whose rows are added.
  StringId operator[](StringId text) {
    const auto [known, is_new] = texts_[file_].try_emplace(text, StringId::kEmpty);
    if (is_new) known->second = trace_.strings.Intern(matcher_.File(file_).strings.View(text));
    return known->second;
  }

 private:
  bool Expand(const Replay& replay, const Assignment& assignment, Outcome& outcome) {
    const CapturedGraph& graph = Graph(assignment.match.graph);
    file_ = matcher_.FileOf(assignment.match.graph);
    const TimeNs begin = trace_.host_ops.start[replay.call];
    const TimeNs end = begin + trace_.host_ops.dur[replay.call];
    bool with_functions = functions_ + graph.functions.Size() <= kMaxFunctions;
    TimeMap times(StartsOf(graph, with_functions));
    if (!times.Fit(begin, end) && with_functions) {
      with_functions = false;
      times = TimeMap(StartsOf(graph, false));
    }
    if (!times.Fit(begin, end)) {
      outcome.too_short = true;
      return false;
    }
    const std::int32_t track = trace_.launches.host_track[replay.launch];
    AddRows(graph.ops, graph, track, times, trace_.host_ops);
    AddRows(graph.modules, graph, track, times, trace_.python_calls);
    if (with_functions) {
      AddRows(graph.functions, graph, track, times, trace_.python_calls);
      functions_ += graph.functions.Size();
    }
    const std::int32_t row = trace_.launches.replay[replay.launch];
    const auto launch = [&](const std::vector<ReplayedWork>& work,
                            const std::vector<std::int64_t>& nodes) {
      for (std::size_t i = 0; i < work.size(); ++i) {
        if (nodes[i] == kNoNode) continue;
        const CapturedNode& node = graph.nodes[static_cast<std::size_t>(nodes[i])];
        LinkOf(work[i]) = next_link_;
        trace_.launches.Append({.link = next_link_++,
                                .host_time = times.Start(node.time),
                                .host_track = TrackOf(node.track, graph, track),
                                .device_time = work[i].start,
                                .stream = work[i].stream,
                                .replay = row});
      }
    };
    launch(replay.kernels, assignment.kernels);
    launch(replay.copies, assignment.copies);
    GraphReplays& replays = trace_.graph_replays;
    const auto place = static_cast<std::size_t>(row);
    replays.graph[place] = trace_.strings.Intern(graph.name);
    replays.source[place] = trace_.strings.Intern(SourceOf(assignment.match.graph));
    replays.matched[place] = assignment.match.matched;
    replays.by_count[place] = assignment.match.by_count;
    return true;
  }

  std::int64_t& LinkOf(const ReplayedWork& work) {
    switch (work.table) {
      case ReplayedWork::Table::kKernels:
        return trace_.kernels.link[work.row];
      case ReplayedWork::Table::kCommunications:
        return trace_.communications.link[work.row];
      case ReplayedWork::Table::kTasks:
        break;
    }
    return trace_.device_tasks.link[work.row];
  }

  template <typename Table>
  void AddRows(const Table& rows, const CapturedGraph& graph, std::int32_t track,
               const TimeMap& times, Table& to) {
    for (std::size_t i = 0; i < rows.Size(); ++i) {
      typename Table::Row row = rows.At(i);
      const TimeNs end = times.End(row.start + std::max<TimeNs>(row.dur, 1));
      row.start = times.Start(row.start);
      row.dur = std::max<TimeNs>(end - row.start, 0);
      row.track = TrackOf(row.track, graph, track);
      if constexpr (requires { row.replayed; }) row.replayed = true;
      MapTexts(row, *this);
      to.Append(row);
    }
  }

  // The thread that captured becomes the one that replays; others that took part are threads of
  // their own.
  std::int32_t TrackOf(std::int32_t captured, const CapturedGraph& graph, std::int32_t track) {
    if (captured == graph.track) return track;
    const auto [known, is_new] = tracks_[file_].try_emplace({captured, track}, -1);
    if (!is_new) return known->second;
    const std::int64_t thread =
        captured < 0 ? -1
                     : matcher_.File(file_).thread_of_track[static_cast<std::size_t>(captured)];
    known->second = static_cast<std::int32_t>(trace_.tracks.Size());
    trace_.tracks.Append(
        {.pid = track < 0 ? -1 : trace_.tracks.pid[static_cast<std::size_t>(track)],
         .tid = thread});
    return known->second;
  }

  RankTrace& trace_;
  ReplayMatcher matcher_;
  std::int64_t next_link_ = 0;
  std::size_t functions_ = 0;
  // By file: its texts in the rank, and its threads for each that replays.
  std::vector<std::unordered_map<StringId, StringId>> texts_;
  std::vector<std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t>> tracks_;
  std::size_t file_ = 0;  // whose rows are added
};

GraphExplainer::GraphExplainer(RankTrace& trace)
    : replays_(FindReplays(trace)),
      outcomes_(replays_.size()),
      impl_(std::make_unique<Impl>(trace)) {
  for (const Replay& replay : replays_) {
    trace.launches.replay.Stored()[replay.launch] =
        static_cast<std::int32_t>(trace.graph_replays.Size());
    trace.graph_replays.Append({.start = trace.host_ops.start[replay.call],
                                .dur = trace.host_ops.dur[replay.call],
                                .track = trace.host_ops.track[replay.call],
                                .kernels = static_cast<std::int64_t>(replay.kernels.size())});
  }
}

GraphExplainer::~GraphExplainer() = default;

void GraphExplainer::Add(CapturedGraphs graphs) { impl_->Add(std::move(graphs)); }

void GraphExplainer::Explain() {
  for (std::size_t i = 0; i < replays_.size(); ++i) {
    if (!outcomes_[i].explained) impl_->Explain(replays_[i], outcomes_[i]);
  }
}

const CapturedGraph& GraphExplainer::Graph(std::size_t graph) const { return impl_->Graph(graph); }
std::string_view GraphExplainer::SourceOf(std::size_t graph) const {
  return impl_->SourceOf(graph);
}

}  // namespace mpa
