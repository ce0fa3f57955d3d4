// SPDX-License-Identifier: Apache-2.0
// Replays of captured graphs get the operators and modules of the capture.
#include "graph_captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/progress.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/measure/graph_replays.h"
#include "mpa/model/op_values.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr Tables kNeeded = Tables::kHostOps | Tables::kLaunches;

// "capture_traces/graph_capture.pt.trace.json.gz".
std::string ShownName(const fs::path& path) {
  return (path.parent_path().filename() / path.filename()).string();
}

// The number behind "rank" in the name of a trace: "graph_capture_rank_0.17.pt.trace.json".
std::optional<std::int64_t> RankInName(const fs::path& path) {
  const std::string name = ToLower(path.filename().string());
  for (std::size_t at = name.find("rank"); at != std::string::npos;
       at = name.find("rank", at + 1)) {
    std::size_t digit = at + 4;
    while (digit < name.size() && ContainsAny("_-[", {std::string_view(name).substr(digit, 1)}))
      ++digit;
    std::int64_t number = 0;
    const std::size_t first = digit;
    for (; digit < name.size() && name[digit] >= '0' && name[digit] <= '9' && digit < first + 8;
         ++digit) {
      number = 10 * number + (name[digit] - '0');
    }
    if (digit > first) return number;
  }
  return std::nullopt;
}

// Those of the rank where their names tell ranks; else all, since the ranks of a job capture the
// same graphs.
std::vector<const CaptureFile*> CapturesOf(const RankInput& input, RankId rank) {
  std::vector<const CaptureFile*> all, own;
  for (const CaptureFile& file : input.files) {
    if (file.kind != FileKind::kGraphCapture) continue;
    all.push_back(&file);
    if (RankInName(file.path) == rank) own.push_back(&file);
  }
  return own.empty() ? all : own;
}

class Explanation {
 public:
  Explanation(const RankInput& input, const ReadRequest& request, LoadedRank& rank)
      : input_(input), request_(request), rank_(rank), explainer_(rank.trace) {}

  void Run() {
    if (!explainer_.Replays().empty()) {
      CapturedGraphs own = FindCapturedGraphs(rank_.trace);
      own.source = input_.path.filename().string();
      if (!own.graphs.empty()) {
        explainer_.Add(std::move(own));
        explainer_.Explain();
      }
      ReadCaptures();
    }
    Tell();
  }

 private:
  bool AllAreExplained() const {
    return std::ranges::all_of(explainer_.Outcomes(),
                               [](const auto& outcome) { return outcome.explained; });
  }

  // First those for the batches of the replays, where a list tells the batches; the others where
  // that does not suffice.
  void ReadCaptures() {
    std::vector<const CaptureFile*> files = CapturesOf(input_, rank_.trace.rank);
    if (files.empty() || AllAreExplained()) return;
    const auto later = FilesOfBatches(files);
    for (const bool first : {true, false}) {
      const std::size_t begin = first ? 0 : later, end = first ? later : files.size();
      if (begin == end || AllAreExplained()) continue;
      for (std::size_t i = begin; i < end; ++i) Read(*files[i]);
      explainer_.Explain();
    }
  }

  // Puts the files for the batches of the replays first, and gives their number.
  std::size_t FilesOfBatches(std::vector<const CaptureFile*>& files) {
    for (const ListedGraphCapture& listed :
         ReadGraphCaptureList(files.front()->path.parent_path())) {
      listed_[listed.file] = listed;
    }
    std::set<std::int64_t> batches, wanted;
    for (const auto& [file, listed] : listed_) batches.insert(listed.batch);
    for (const Replay& replay : explainer_.Replays()) {
      const auto batch = replay.tokens < 0 ? batches.end() : batches.lower_bound(replay.tokens);
      if (batch == batches.end()) return files.size();
      wanted.insert(*batch);
    }
    const auto later = std::stable_partition(files.begin(), files.end(), [&](const auto* file) {
      const auto listed = listed_.find(file->path.filename().string());
      return listed == listed_.end() || wanted.contains(listed->second.batch);
    });
    return static_cast<std::size_t>(later - files.begin());
  }

  void Read(const CaptureFile& file) {
    try {
      CheckFollowed(file);
      LoadedRank capture;
      ReadTrace(file, capture);
      CapturedGraphs graphs = FindCapturedGraphs(capture.trace);
      graphs.source = ShownName(file.path);
      const auto listed = listed_.find(file.path.filename().string());
      for (CapturedGraph& graph : graphs.graphs) {
        if (listed == listed_.end() || graph.batch >= 0) continue;
        graph.batch = listed->second.batch;
        graph.name = listed->second.mode;
      }
      LogInfo("{} -> {}", file.path.string(), Counted(graphs.graphs.size(), "captured graph"));
      if (graphs.graphs.empty() && input_.names_graph_capture)
        problems_.push_back(Say("{}: no graph was captured there", graphs.source));
      for (const std::string& line : capture.trace.issues.Lines()) {
        problems_.push_back(fmt::format("{}: {}", file.path.string(), line));
        rank_.partial = true;
      }
      explainer_.Add(std::move(graphs));
    } catch (const Error& error) {
      if (input_.names_graph_capture || !IsBadInput(error)) throw;
      problems_.push_back(Say("{}; it explains no graph", error.what()));
      rank_.partial = true;
    }
  }

  void ReadTrace(const CaptureFile& file, LoadedRank& capture) const {
    const bool is_npu = input_.kind == CaptureKind::kNpuKineto;
    const CaptureFile trace{is_npu ? FileKind::kNpuKinetoTrace : FileKind::kKinetoTrace, file.path,
                            file.bytes};
    ReadRequest request = request_;
    constexpr Tables kDetails = kOpValues | Tables::kOpStacks | Tables::kPythonCalls;
    request.wanted = kNeeded | Tables::kNamedLaunches | Tables::kKernels | Tables::kDeviceTasks |
                     Tables::kCommunications | (request_.wanted & kDetails);
    AddProgressTotal(file.bytes);
    for (const Reader& reader : AllReaders()) {
      if (reader.reads == trace.kind) reader.read(trace, request, capture.trace);
    }
  }

  // One line for what is explained, one for what is not. Where all of it is, nothing has to be
  // known.
  void Tell() {
    const std::string path = input_.path.string();
    const std::string explained = Explained(), unexplained = Unexplained();
    if (!explained.empty() && is_sure_) {
      LogInfo("{}: {}", path, explained);
    } else if (!explained.empty()) {
      rank_.notes.push_back(fmt::format("{}: {}", path, explained));
    }
    if (!unexplained.empty()) rank_.notes.push_back(fmt::format("{}: {}", path, unexplained));
    for (const std::string& problem : problems_) rank_.notes.push_back(problem);
    if (!input_.names_graph_capture || !explained.empty()) return;
    rank_.partial = true;
    if (explainer_.Replays().empty())
      rank_.notes.push_back(
          Say("{}: it replays no captured graph that --graph_capture could explain", path));
  }

  std::string Explained() {
    std::int64_t replays = 0, kernels = 0, matched = 0;
    std::int64_t apart = 0;  // launches that the capture or the replay lacks
    bool by_count = false, unsure = false;
    std::vector<std::string> graphs;
    for (std::size_t i = 0; i < explainer_.Outcomes().size(); ++i) {
      const GraphExplainer::Outcome& outcome = explainer_.Outcomes()[i];
      if (!outcome.explained) continue;
      ++replays;
      kernels += outcome.match->kernels;
      matched += outcome.match->matched;
      apart = std::max(apart, std::abs(outcome.match->captured - outcome.match->kernels));
      by_count = by_count || outcome.match->by_count;
      unsure = unsure || outcome.batch_is_unsure;
      const std::string name = GraphName(outcome.match->graph);
      if (std::ranges::find(graphs, name) == graphs.end()) graphs.push_back(name);
    }
    if (replays == 0) return "";
    is_sure_ = matched == kernels && !by_count && !unsure && apart == 0;
    std::string text = Say("{} of captured graphs: {} of {} kernels matched with {}{}",
                           Counted(replays, "replay"), matched, kernels, graphs.front(),
                           graphs.size() == 1 ? "" : Say(" and {} more", graphs.size() - 1));
    if (apart > 0)
      text = Say("{}; the capture and the replay differ by {}", text, Counted(apart, "kernel"));
    if (by_count) {
      text = Say("{}, by their order alone, because the capture does not name its kernels", text);
    }
    if (unsure) {
      text = Say(
          "{}; the shapes may be those of another batch, because no captured graph is known for the"
          " batch of the step",
          text);
    }
    return text;
  }

  std::string Unexplained() const {
    std::int64_t replays = 0, kernels = 0;
    const GraphExplainer::Outcome* best = nullptr;
    for (const GraphExplainer::Outcome& outcome : explainer_.Outcomes()) {
      if (outcome.explained || !outcome.match) continue;
      ++replays;
      kernels += outcome.match->kernels;
      if (best == nullptr || best->match->matched < outcome.match->matched) best = &outcome;
    }
    if (replays == 0) return "";
    const GraphMatch& match = *best->match;
    std::string text = Say("{} of captured graphs, {}, not explained: ", Counted(replays, "replay"),
                           Counted(kernels, "kernel"));
    if (best->too_short) {
      return text.append(
          Translated("the call that launches the graph is too short to place its operators in it"));
    }
    return text + Say("the nearest graph, {}, has {} where the replay has {}, {} of them of the"
                      " same name in the same place; give the capture of this run with"
                      " --graph_capture",
                      GraphName(match.graph), Counted(match.captured, "kernel"), match.kernels,
                      match.matched);
  }

  std::string GraphName(std::size_t graph) const {
    const std::string& name = explainer_.Graph(graph).name;
    const std::string_view source = explainer_.SourceOf(graph);
    return name.empty() ? std::string(source) : fmt::format("{} ({})", source, name);
  }

  const RankInput& input_;
  const ReadRequest& request_;
  LoadedRank& rank_;
  GraphExplainer explainer_;
  std::map<std::string, ListedGraphCapture> listed_;  // by name of the trace
  std::vector<std::string> problems_;
  bool is_sure_ = false;  // every kernel of the replays that are explained, by its name
};

}  // namespace

Tables TablesOfGraphs(const ReadRequest& request) {
  return (request.wanted & kNeeded) == kNeeded ? Tables::kNamedLaunches : Tables::kNone;
}

void ExplainGraphs(const RankInput& input, const ReadRequest& request, LoadedRank& rank) {
  if (!IsKineto(input.kind) || TablesOfGraphs(request) == Tables::kNone) return;
  Explanation(input, request, rank).Run();
  rank.trace.named_launches = {};
}

}  // namespace mpa
