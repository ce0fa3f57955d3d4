// SPDX-License-Identifier: Apache-2.0
// The replays of captured graphs, and what they have in common.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/graph_layers.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/measure/module_ranges.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/op_tree.h"
#include "mpa/measure/quantiles.h"
#include "mpa/model/launches.h"
#include "part.h"

namespace mpa::recipes::graph_replays {
namespace {

// One replay: its work in order of begin.
struct Run {
  std::int64_t model = -1;   // of an NPU
  std::int32_t replay = -1;  // row of the replays, of a GPU
  std::vector<DeviceItem> items;
};

// Where a model of an NPU starts anew: its iterations tell, else that a task runs again.
class ModelRuns {
 public:
  explicit ModelRuns(const RankTrace& trace) {
    const ModelIterations& iterations = trace.model_iterations;
    for (const std::size_t i : iterations.RowsByStart())
      starts_[iterations.model[i]].push_back(iterations.start[i]);
  }

  void Add(const DeviceItem& item, std::vector<Run>& runs) {
    Open& open = open_[item.model];
    const auto starts = starts_.find(item.model);
    bool begins = !open.run;
    if (starts != starts_.end()) {
      const auto number =
          std::ranges::upper_bound(starts->second, item.begin) - starts->second.begin();
      begins = begins || number != open.iteration;
      open.iteration = number;
    } else if (item.number >= 0) {
      const Task task{item.stream, item.number};
      begins = begins || open.tasks.contains(task);
      if (begins) open.tasks.clear();
      open.tasks.insert(task);
    }
    if (begins) {
      open.run = runs.size();
      runs.push_back({.model = item.model, .items = {}});
    }
    runs[*open.run].items.push_back(item);
  }

 private:
  using Task = std::pair<std::int64_t, std::int64_t>;  // stream and number
  struct Open {
    std::optional<std::size_t> run;
    std::int64_t iteration = -1;
    std::set<Task> tasks;
  };

  std::map<std::int64_t, std::vector<TimeNs>> starts_;  // by model
  std::map<std::int64_t, Open> open_;
};

std::vector<Run> FindRuns(const RankTrace& trace) {
  std::vector<Run> runs;
  std::vector<std::int64_t> run_of_replay(trace.graph_replays.Size(), -1);
  const LaunchIndex launches(trace);
  ModelRuns models(trace);
  for (const DeviceItem& item : FindDeviceItems(trace)) {
    const auto launch = launches.Find(item.link);
    const std::int32_t replay = launch ? trace.launches.replay[*launch] : -1;
    if (replay >= 0) {
      std::int64_t& run = run_of_replay[static_cast<std::size_t>(replay)];
      if (run < 0) {
        run = static_cast<std::int64_t>(runs.size());
        runs.push_back({.replay = replay, .items = {}});
      }
      runs[static_cast<std::size_t>(run)].items.push_back(item);
    } else if (item.model >= 0) {
      models.Add(item, runs);
    }
  }
  return runs;
}

// What launched work in the captured graph.
class Launchers {
 public:
  explicit Launchers(const RankTrace& trace)
      : trace_(trace), launches_(trace), ops_(OpSpans(trace)) {
    const PythonCalls& calls = trace.python_calls;
    std::vector<NestSpan> spans;
    for (std::size_t i = 0; i < calls.Size(); ++i) {
      if (!IsModuleCall(trace.strings.View(calls.name[i]))) continue;
      spans.push_back({calls.start[i], calls.start[i] + calls.dur[i], calls.track[i]});
      modules_of_.push_back(calls.name[i]);
    }
    modules_.emplace(std::move(spans));
  }

  void Name(const DeviceItem& item, Place& place) const {
    const auto launch = launches_.Find(item.link);
    if (!launch) return;
    const std::int32_t track = trace_.launches.host_track[*launch];
    const TimeNs time = trace_.launches.host_time[*launch];
    std::int64_t op = ops_.Find(track, time);
    if (op < 0 || trace_.host_ops.replayed[static_cast<std::size_t>(op)] == 0) return;
    while (op >= 0 && IsRuntimeCall(OpName(op))) op = ops_.Parent(static_cast<std::size_t>(op));
    if (op >= 0 && trace_.host_ops.replayed[static_cast<std::size_t>(op)] != 0)
      place.op = OpName(op);
    std::vector<std::string_view> path;
    for (std::int64_t module = modules_->Find(track, time); module >= 0 && path.size() < kLevels;
         module = modules_->Parent(static_cast<std::size_t>(module)))
      path.push_back(
          ModuleClass(trace_.strings.View(modules_of_[static_cast<std::size_t>(module)])));
    place.module = fmt::format("{}", fmt::join(path.rbegin(), path.rend(), "/"));
  }

 private:
  static constexpr std::size_t kLevels = 6;  // the innermost

  std::string_view OpName(std::int64_t op) const {
    return trace_.strings.View(trace_.host_ops.name[static_cast<std::size_t>(op)]);
  }

  const RankTrace& trace_;
  LaunchIndex launches_;
  Nesting ops_;
  std::optional<Nesting> modules_;
  std::vector<StringId> modules_of_;
};

// Numbers the kernels of graphs by what tells them apart. Compilers of graphs number the kernels of
// an NPU in their names, and their types do not.
class WorkNames {
 public:
  explicit WorkNames(const RankTrace& trace) : trace_(trace) {}

  std::uint32_t Of(const DeviceItem& item) {
    const auto [known, is_new] =
        numbers_.try_emplace(Text(item), static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(&known->first);
    return known->second;
  }
  const std::string& TextOf(std::uint32_t number) const { return *texts_[number]; }

 private:
  std::string Text(const DeviceItem& item) const {
    const auto row = static_cast<std::size_t>(item.row);
    const auto view = [&](StringId text) { return trace_.strings.View(text); };
    if (item.table == PieceTable::kCommunications) {
      const std::string_view type = view(trace_.communications.op_type[row]);
      return std::string(type.substr(0, type.find("__")));
    }
    if (item.table == PieceTable::kKernels) {
      const std::string_view type = view(trace_.kernels.op_type[row]);
      const bool is_typed = trace_.device == DeviceKind::kNpu && !type.empty() && type != "N/A";
      return std::string(is_typed ? type : view(trace_.kernels.name[row]));
    }
    const std::string_view name = view(trace_.device_tasks.name[row]);
    return std::string(name.empty() ? view(trace_.device_tasks.type[row]) : name);
  }

  const RankTrace& trace_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> texts_;
};

void AddTime(const DeviceItem& item, TimeNs time, Graph& graph) {
  if (item.category == TimeCategory::kAttention) {
    graph.attention += time;
  } else if (IsDeviceCopy(item.category)) {
    graph.copies += time;
  } else if (!IsCompute(item.category)) {
    graph.communication += time;
  } else if (IsMatrixWork(static_cast<KernelClass>(item.category))) {
    graph.matrix += time;
  } else {
    graph.other += time;
  }
}

// The replays of one graph as they are added.
struct GraphSum {
  Graph graph;
  std::optional<LayerPattern> layers;
  std::vector<double> spans;
  std::vector<std::map<std::uint32_t, std::int64_t>> names;  // of each place, with their counts
};

// The place of a kernel in the list of places: before the layers, in them, after them.
std::size_t PlaceIn(const std::optional<LayerPattern>& layers, std::size_t kernel) {
  if (!layers || kernel < layers->begin) return kernel;
  if (const auto place = layers->PlaceOf(kernel)) return layers->begin + *place;
  return kernel - layers->covered + layers->length;
}

void AddPlaces(std::size_t kernels, GraphSum& sum) {
  const std::size_t covered = sum.layers ? sum.layers->covered - sum.layers->length : 0;
  sum.graph.places.resize(kernels - covered);
  sum.names.resize(kernels - covered);
  const std::size_t begin = sum.layers ? sum.layers->begin : kernels;
  const std::size_t end = sum.layers ? begin + sum.layers->length : kernels;
  for (std::size_t i = 0; i < sum.graph.places.size(); ++i) {
    Place& place = sum.graph.places[i];
    const bool inside = i >= begin && i < end;
    place.part = !sum.layers ? "graph" : inside ? "layer" : i < begin ? "before" : "after";
    place.position = static_cast<std::int64_t>(inside ? i - begin : i < begin ? i : i - end) + 1;
  }
}

class Summation {
 public:
  explicit Summation(const RankTrace& trace) : trace_(trace), names_(trace), launchers_(trace) {}

  Part Make() && {
    for (const Run& run : FindRuns(trace_)) Add(run);
    Part part;
    for (auto& [key, sum] : sums_) {
      Finish(sum);
      part.graphs.push_back(std::move(sum.graph));
    }
    StableSort(part.graphs, std::greater(), &Graph::Span);
    return part;
  }

 private:
  // Graphs are told apart by name, by who explains them, and by the work itself.
  using Key = std::tuple<std::string, std::string, std::vector<std::uint32_t>>;

  void Add(const Run& run) {
    std::vector<std::uint32_t> numbers;
    for (const DeviceItem& item : run.items) numbers.push_back(names_.Of(item));
    std::string name, source;
    const GraphReplays& replays = trace_.graph_replays;
    const auto row = static_cast<std::size_t>(run.replay);
    if (run.replay >= 0) {
      name = trace_.strings.View(replays.graph[row]);
      source = trace_.strings.View(replays.source[row]);
    } else {
      name = fmt::format("model {}", run.model);
    }
    const auto [found, is_new] = sums_.try_emplace(Key{name, source, numbers}, GraphSum());
    GraphSum& sum = found->second;
    Graph& graph = sum.graph;
    if (is_new) Begin(name, source, numbers, sum);
    ++graph.replays;
    if (run.replay >= 0) {
      graph.matched += replays.matched[row];
      graph.by_count = graph.by_count || replays.by_count[row] != 0;
    }
    AddItems(run, numbers, sum);
  }

  static void Begin(const std::string& name, const std::string& source,
                    const std::vector<std::uint32_t>& numbers, GraphSum& sum) {
    Graph& graph = sum.graph;
    graph.name = name;
    graph.source = source;
    graph.kernels = static_cast<std::int64_t>(numbers.size());
    sum.layers = FindLayers(numbers);
    if (sum.layers) {
      graph.layers = static_cast<std::int64_t>(sum.layers->Layers());
      graph.pattern = static_cast<std::int64_t>(sum.layers->length);
      graph.layers_in_pattern = static_cast<std::int64_t>(sum.layers->layers_in_it);
    }
    AddPlaces(numbers.size(), sum);
  }

  void AddItems(const Run& run, const std::vector<std::uint32_t>& numbers, GraphSum& sum) {
    TimeNs end = run.items.front().begin;
    for (std::size_t i = 0; i < run.items.size(); ++i) {
      const DeviceItem& item = run.items[i];
      const std::size_t at = PlaceIn(sum.layers, i);
      Place& place = sum.graph.places[at];
      if (sum.names[at].empty()) launchers_.Name(item, place);
      ++sum.names[at][numbers[i]];
      ++place.kernels;
      const TimeNs bubble = std::max<TimeNs>(item.begin - end, 0);
      const TimeNs own = std::max<TimeNs>(item.end - std::max(item.begin, end), 0);
      place.bubble += bubble;
      place.total += own;
      sum.graph.bubbles += bubble;
      AddTime(item, own, sum.graph);
      end = std::max(end, item.end);
    }
    sum.spans.push_back(static_cast<double>(end - run.items.front().begin));
  }

  void Finish(GraphSum& sum) const {
    sum.graph.median_span = Median(sum.spans);
    for (std::size_t i = 0; i < sum.names.size(); ++i) {
      if (sum.names[i].empty()) continue;
      const auto most = std::ranges::max_element(
          sum.names[i], [](const auto& a, const auto& b) { return a.second < b.second; });
      sum.graph.places[i].kernel = names_.TextOf(most->first);
      sum.graph.places[i].others = static_cast<std::int64_t>(sum.names[i].size()) - 1;
    }
  }

  const RankTrace& trace_;
  WorkNames names_;
  Launchers launchers_;
  std::map<Key, GraphSum> sums_;
};

}  // namespace

Part FindGraphs(const RankTrace& trace) { return Summation(trace).Make(); }

}  // namespace mpa::recipes::graph_replays
