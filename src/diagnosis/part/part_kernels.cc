// SPDX-License-Identifier: Apache-2.0
// What kinds of kernels a rank ran, and how fast its chip could have run them.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/cache_hits.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/quantiles.h"
#include "mpa/mfu/chip_of_rank.h"
#include "mpa/mfu/flops.h"
#include "mpa/mfu/roofline.h"
#include "mpa/mfu/shapes.h"
#include "mpa/model/launches.h"
#include "part_facts.h"

namespace mpa {

std::string ListedShapes(std::string_view text) {
  std::string shapes;
  int depth = 0;
  for (const char letter : text) {
    if (letter == '[') ++depth;
    if (letter == ']') --depth;
    if (letter == ',') {
      shapes += depth > 1 ? ',' : ';';
    } else if (letter >= '0' && letter <= '9') {
      shapes += letter;
    }
  }
  return shapes;
}

namespace {

// Traces of GPUs record shapes with operators: those of the innermost one that launched a kernel
// and has any.
class ShapesOfOperators {
 public:
  explicit ShapesOfOperators(const RankTrace& trace) : trace_(trace), launches_(trace) {
    const auto& shapes = trace.host_ops.shapes;
    const bool has_any =
        std::ranges::any_of(shapes, [](StringId text) { return text != StringId::kEmpty; });
    if (trace.device == DeviceKind::kGpu && has_any) ops_.emplace(OpSpans(trace));
  }

  /// As the trace writes them; empty: not recorded.
  StringId Of(std::size_t kernel) const {
    const auto launch = ops_ ? launches_.Find(trace_.kernels.link[kernel]) : std::nullopt;
    if (!launch) return StringId::kEmpty;
    const TimeNs time = trace_.launches.host_time[*launch];
    std::int64_t op = ops_->FindEnclosing({time, time, trace_.launches.host_track[*launch]});
    for (; op != Nesting::kNone; op = ops_->Parent(static_cast<std::size_t>(op))) {
      const StringId shapes = trace_.host_ops.shapes[static_cast<std::size_t>(op)];
      if (!ListedShapes(trace_.strings.View(shapes)).empty()) return shapes;
    }
    return StringId::kEmpty;
  }

 private:
  const RankTrace& trace_;
  const LaunchIndex launches_;
  std::optional<Nesting> ops_;  // of traces with shapes
};

class KernelNamer {
 public:
  KernelNamer(const RankTrace& trace, PartNames& names, RankDiagnosis& part)
      : trace_(trace),
        names_(names),
        part_(part),
        chip_(ChipOf(trace, {})),
        shapes_of_operators_(trace),
        cache_(trace) {}

  void Name() {
    const Kernels& kernels = trace_.kernels;
    for (GraphNode& node : part_.graph.nodes) {
      if (node.kind != NodeKind::kKernel) continue;
      AddClock(node);
      const bool known = node.row >= 0 && static_cast<std::size_t>(node.row) < kernels.Size();
      const auto row = static_cast<std::size_t>(node.row);
      const Texts texts = known ? Texts{kernels.op_type[row], kernels.name[row],
                                        ShapesOfKernel(row), kernels.input_types[row]}
                                : Texts{};
      // Names of kernels tell their types, where these are not recorded; else they only vary.
      const StringId type =
          std::get<0>(texts) == StringId::kEmpty ? std::get<1>(texts) : std::get<0>(texts);
      const auto [found, is_new] =
          numbers_.try_emplace({type, std::get<2>(texts), std::get<3>(texts)},
                               static_cast<std::int32_t>(part_.kinds.size()));
      if (is_new) Describe(type, texts, known ? node.row : -1, node.category);
      if (const auto hits = known ? cache_.Of(row) : std::nullopt) {
        KernelKind& kind = part_.kinds[static_cast<std::size_t>(found->second)];
        kind.cache_time += node.dur;
        kind.cache_hits += *hits * static_cast<double>(node.dur);
      }
      if (known) {
        KernelKind& kind = part_.kinds[static_cast<std::size_t>(found->second)];
        kind.converts = Converts(row, node.category) || (!is_new && kind.converts);
      }
      if (known) NoteOutputs(row, part_.kinds[static_cast<std::size_t>(found->second)], is_new);
      node.row = found->second;
    }
    part_.rated_mhz = static_cast<std::int64_t>(chip_.frequency_mhz);
    for (std::size_t step = 0; step < clock_.size() && step < part_.steps.size(); ++step) {
      if (clock_[step].time > 0)
        part_.steps[step].mhz = static_cast<std::int64_t>(
            clock_[step].sum / static_cast<double>(clock_[step].time) + 0.5);
    }
  }

 private:
  using Texts =
      std::tuple<StringId, StringId, StringId, StringId>;  // type, name, shapes, data types
  struct Clock {
    double sum = 0;
    TimeNs time = 0;
  };

  std::string_view View(StringId text) const { return trace_.strings.View(text); }

  StringId ShapesOfKernel(std::size_t row) const {
    const StringId own = trace_.kernels.shapes[row];
    return own == StringId::kEmpty ? shapes_of_operators_.Of(row) : own;
  }

  // "FORMAT_ND" and "ND" are one.
  static std::string FirstOf(std::string_view list) {
    const std::vector<std::string> names = ParseTensorNames(list);
    if (names.empty() || names.front() == "N/A") return "";
    constexpr std::string_view kPrefix = "FORMAT_";
    return names.front().starts_with(kPrefix) ? names.front().substr(kPrefix.size())
                                              : names.front();
  }
  static bool AreSame(std::string_view read, std::string_view written) {
    const std::string from = FirstOf(read), to = FirstOf(written);
    return !from.empty() && from == to;
  }

  // False where both sides are recorded and are the same. A transposition keeps the name of its
  // layout.
  bool Converts(std::size_t row, TimeCategory category) const {
    const Kernels& kernels = trace_.kernels;
    const bool same_layout =
        AreSame(View(kernels.input_formats[row]), View(kernels.output_formats[row]));
    const bool knows_types = row < trace_.kernel_loads.Size();
    const bool same_type = knows_types && AreSame(View(kernels.input_types[row]),
                                                  View(trace_.kernel_loads.output_types[row]));
    const std::string_view type = View(kernels.op_type[row]);
    if (category == TimeCategory::kMove) return !same_layout || (knows_types && !same_type);
    if (type == "TransData") return !same_layout;
    return type != "Cast" || !same_type;
  }

  // Those of a concatenation or a slice need not follow from what it reads.
  void NoteOutputs(std::size_t row, KernelKind& kind, bool is_new) {
    const std::string_view outputs = WithoutQuotes(View(trace_.kernels.output_shapes[row]));
    if (is_new) {
      kind.outputs = names_.Of(outputs == "N/A" ? "" : outputs);
    } else if (part_.names[kind.outputs] != outputs) {
      kind.outputs = names_.Of("");
    }
  }

  void AddClock(const GraphNode& node) {
    if (node.step < 0 || trace_.core_clocks.Empty()) return;
    const auto mhz = MeanMhz(trace_.core_clocks, node.start, node.start + node.dur);
    if (!mhz) return;
    const auto step = static_cast<std::size_t>(node.step);
    if (clock_.size() <= step) clock_.resize(step + 1);
    clock_[step].sum += *mhz * static_cast<double>(node.dur);
    clock_[step].time += node.dur;
  }

  void Describe(StringId type, const Texts& texts, std::int32_t row, TimeCategory category) {
    KernelKind& kind = part_.kinds.emplace_back();
    kind.type = names_.Of(View(type));
    kind.name = names_.Of(View(std::get<1>(texts)));
    const std::string_view shapes = View(std::get<2>(texts));
    kind.shapes = names_.Of(shapes.starts_with("[") ? ListedShapes(shapes) : std::string(shapes));
    kind.types = names_.Of(View(std::get<3>(texts)));
    if (row < 0) return;
    const Kernels& kernels = trace_.kernels;
    const auto at = static_cast<std::size_t>(row);
    kind.on_vector_cores = IsOneOf(View(kernels.core[at]), {"AI_VECTOR_CORE", "KERNEL_AIVEC"});
    const KernelTensors tensors =
        KernelTensors::Parse(View(kernels.shapes[at]), View(kernels.input_formats[at]),
                             View(kernels.output_shapes[at]), View(kernels.output_formats[at]));
    const std::vector<std::string> types = ParseTensorNames(View(kernels.input_types[at]));
    AddBytes(tensors, types, category, kind);
    const Flops flops = FlopsOf(View(type), tensors);
    if (FlopsFamilyOf(View(type)) == FlopsFamily::kNone) return;
    const std::string_view said = View(kernels.hf32[at]);
    const TypeClass computes = ComputeType(View(type), types,
                                           said == "YES"  ? Hf32::kYes
                                           : said == "NO" ? Hf32::kNo
                                                          : Hf32::kNotTold);
    kind.multiplies_fp32 = computes == TypeClass::kFp32;
    const PeakTflops peak = PeakOf(chip_, computes);
    if (flops.Known() && peak.gap == PeakGap::kNone && peak.tflops > 0) {
      kind.least = static_cast<TimeNs>(static_cast<double>(flops.count) / (peak.tflops * 1e3));
    }
  }

  static void AddBytes(const KernelTensors& tensors, const std::vector<std::string>& types,
                       TimeCategory category, KernelKind& kind) {
    const TensorBytes bytes = BytesOf(tensors, types);
    kind.bytes = bytes.all;
    kind.written = bytes.written;
    std::int64_t read = 0, written = 0;  // elements of the largest
    for (const Shape& shape : tensors.inputs) read = std::max(read, ElementsOf(shape));
    for (const Shape& shape : tensors.outputs) written = std::max(written, ElementsOf(shape));
    kind.streams =
        bytes.all > 0 && category == TimeCategory::kVector && written > 0 && written == read;
  }

  const RankTrace& trace_;
  PartNames& names_;
  RankDiagnosis& part_;
  const ChipPeak chip_;
  const ShapesOfOperators shapes_of_operators_;
  const CacheHits cache_;
  std::vector<Clock> clock_;  // by step
  std::map<std::tuple<StringId, StringId, StringId>, std::int32_t> numbers_;
};

}  // namespace

void MarkStartUp(RankDiagnosis& part) {
  const auto& nodes = part.graph.nodes;
  std::map<std::int32_t, TimeNs> first_of_kind;
  for (const GraphEdge& edge : part.graph.edges) {
    if (nodes[edge.on].kind != NodeKind::kLaunch || nodes[edge.node].kind != NodeKind::kKernel)
      continue;
    const TimeNs launched = nodes[edge.on].start;
    const auto [found, is_new] = first_of_kind.try_emplace(nodes[edge.node].row, launched);
    if (!is_new) found->second = std::min(found->second, launched);
  }
  std::set<TimeNs> firsts;
  for (const auto& [kind, launched] : first_of_kind) firsts.insert(launched);
  if (firsts.empty()) return;
  for (HostShare& share : part.shares) {
    const TimeNs done = nodes[part.graph.edges[share.edge].node].start;
    share.starts_up = done <= *firsts.begin() || firsts.contains(done);
  }
}

void NameKernels(const RankTrace& trace, PartNames& names, RankDiagnosis& part) {
  KernelNamer(trace, names, part).Name();
}

// The calls that launch kernels: how long they take, and what stands behind them.

namespace {

bool LaunchesKernel(std::string_view name) {
  return IsOneOf(name, {"Node@launch", "cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel",
                        "cuLaunchKernelEx"});
}

// Launching a collective takes many times as long as launching a kernel.
std::set<std::int64_t> ConnectionsOfCollectives(const RankTrace& trace) {
  std::set<std::int64_t> connections(trace.communications.connection.begin(),
                                     trace.communications.connection.end());
  connections.erase(-1);
  return connections;
}

// Calls of the host, or of a GPU operators.
template <typename Rows>
void CountGraphs(const Rows& rows, const StringPool& strings, const HostSteps& steps,
                 std::vector<StepPart>& parts) {
  for (std::size_t i = 0; i < rows.Size(); ++i) {
    if (!StartsGraph(strings.View(rows.name[i]))) continue;
    const auto step = steps.OfHostTime(rows.start[i]);
    if (step && *step < parts.size()) ++parts[*step].graphs;
  }
}

bool WaitsForStream(std::string_view name) {
  return name.find("Synchronize") != std::string_view::npos;
}

}  // namespace

void AddLaunches(const RankTrace& trace, const HostSteps& steps, RankDiagnosis& part) {
  const HostCalls& calls = trace.host_calls;
  if (!trace.serving_marks.Empty()) {
    CountGraphs(calls, trace.strings, steps, part.steps);
    CountGraphs(trace.host_ops, trace.strings, steps, part.steps);
  }
  const std::set<std::int64_t> collectives = ConnectionsOfCollectives(trace);
  std::vector<std::vector<TimeNs>> durations(part.steps.size());  // by step
  struct Event {
    TimeNs start;
    bool launches;
  };
  std::map<std::int32_t, std::vector<Event>> events;  // by thread
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    const std::string_view name = trace.strings.View(calls.name[i]);
    const bool launches = LaunchesKernel(name) && !collectives.contains(calls.connection[i]);
    if (!launches && !WaitsForStream(name)) continue;
    events[calls.track[i]].push_back({calls.start[i], launches});
    if (!launches) continue;
    const auto step =
        steps.Count() == 0 ? std::optional<std::size_t>(0) : steps.OfHostTime(calls.start[i]);
    if (step && *step < durations.size()) durations[*step].push_back(calls.dur[i]);
  }
  for (std::size_t step = 0; step < durations.size(); ++step) {
    if (durations[step].empty()) continue;
    StepPart& of = part.steps[step];
    of.launches = static_cast<std::int64_t>(durations[step].size());
    of.launch_time = std::accumulate(durations[step].begin(), durations[step].end(), TimeNs{0});
    of.launch_median = Median(durations[step]);
    of.launch_decile = ValueAtPosition(durations[step], PercentileIndex(durations[step].size(), 90));
  }
  for (auto& [track, of_track] : events) {
    StableSort(of_track, {}, &Event::start);
  }
  for (std::size_t i = 0; i < part.blocked.size() && i < part.graph.blocked.size(); ++i) {
    const auto of_track = events.find(part.graph.blocked[i].track);
    if (of_track == events.end()) continue;
    const auto at = std::ranges::partition_point(
        of_track->second, [&](const Event& event) { return event.start < part.blocked[i].start; });
    part.blocked[i].behind_launch = at != of_track->second.begin() && std::prev(at)->launches;
  }
}

}  // namespace mpa
