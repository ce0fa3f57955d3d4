// SPDX-License-Identifier: Apache-2.0
// Graphs as they were captured.
#include "mpa/measure/captured_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/module_ranges.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/op_tree.h"
#include "mpa/model/serving_batch.h"

namespace mpa {
namespace {

constexpr std::string_view kCaptureRange = "capture_";

bool LaunchesKernel(std::string_view call) {
  return IsRuntimeCall(call) && ContainsAny(call, {"LaunchKernel", "LaunchCooperativeKernel"});
}

bool Copies(std::string_view call) {
  return IsRuntimeCall(call) && ContainsAny(call, {"Memcpy", "Memset"});
}

using ThreadTime = std::pair<std::int32_t, TimeNs>;  // thread and time

// The span between the begin and the end of the capture of a stream.
struct CaptureSpan {
  TimeNs begin = 0, end = 0;
  std::int32_t track = -1;
  std::uint32_t begin_call = 0;  // row of the host operators
};

// Finds and condenses the graphs of a trace.
class GraphFinder {
 public:
  explicit GraphFinder(const RankTrace& trace) : trace_(trace), ops_(trace.host_ops) {}

  CapturedGraphs Find() && {
    FindSpans();
    if (spans_.empty()) return std::move(found_);
    for (const std::int64_t tid : trace_.tracks.tid) found_.thread_of_track.push_back(tid);
    nesting_.emplace(OpSpans(trace_));
    AddKernelNames();
    AddDone();
    for (const CaptureSpan& span : spans_) AddGraph(span);
    std::erase_if(found_.graphs, [](const CapturedGraph& graph) { return graph.nodes.empty(); });
    return std::move(found_);
  }

 private:
  std::string_view NameOf(std::size_t op) const { return trace_.strings.View(ops_.name[op]); }

  // One stream of a thread is captured at a time.
  void FindSpans() {
    std::vector<std::uint8_t> kinds(trace_.strings.Size(), 3);  // by name; 3: not looked at
    std::map<std::int32_t, std::vector<std::uint32_t>> calls;   // by thread
    for (std::size_t i = 0; i < ops_.Size(); ++i) {
      std::uint8_t& kind = kinds[Index(ops_.name[i])];
      if (kind == 3) {
        kind = ContainsAny(NameOf(i), {"StreamBeginCapture"}) ? 1
               : ContainsAny(NameOf(i), {"StreamEndCapture"}) ? 2
                                                              : 0;
      }
      if (kind != 0) calls[ops_.track[i]].push_back(static_cast<std::uint32_t>(i));
    }
    for (auto& [track, rows] : calls) {
      StableSort(rows, {}, [&](std::uint32_t row) { return ops_.start[row]; });
      std::optional<std::uint32_t> open;
      for (const std::uint32_t row : rows) {
        const bool begins = kinds[Index(ops_.name[row])] == 1;
        if (begins && !open) open = row;
        if (begins || !open) continue;
        spans_.push_back({ops_.start[*open] + ops_.dur[*open], ops_.start[row], track, *open});
        open.reset();
      }
    }
    StableSort(spans_, {}, &CaptureSpan::begin);
  }

  void AddKernelNames() {
    const NamedLaunches& calls = trace_.named_launches;
    for (std::size_t i = 0; i < calls.Size(); ++i)
      kernel_of_.emplace(ThreadTime{calls.track[i], calls.time[i]}, calls.kernel[i]);
  }

  // What has work on the device ran, and was not captured.
  void AddDone() {
    std::set<std::int64_t> links;
    for (const auto* column :
         {&trace_.kernels.link, &trace_.communications.link, &trace_.device_tasks.link}) {
      links.insert(column->begin(), column->end());
    }
    const Launches& launches = trace_.launches;
    for (std::size_t i = 0; i < launches.Size(); ++i) {
      if (links.contains(launches.link[i]))
        done_.emplace(launches.host_track[i], launches.host_time[i]);
    }
  }

  // Threads of the process that captures launch for it, unless they capture themselves.
  bool IsOf(const CaptureSpan& span, std::size_t op) const {
    const std::int32_t track = ops_.track[op];
    if (track == span.track) return true;
    if (track < 0 || span.track < 0) return false;
    const auto process = [&](std::int32_t one) {
      return trace_.tracks.pid[static_cast<std::size_t>(one)];
    };
    return process(track) == process(span.track) &&
           std::ranges::none_of(spans_, [&](const CaptureSpan& other) {
             return other.track == track && other.begin <= ops_.start[op] &&
                    ops_.start[op] < other.end;
           });
  }

  // Operators in order of start.
  std::span<const std::uint32_t> StartingWithin(const CaptureSpan& span) const {
    const std::vector<std::uint32_t>& in_order = nesting_->InOrder();
    const auto at = [&](TimeNs time) {
      return std::ranges::lower_bound(in_order, time, {},
                                      [&](std::uint32_t op) { return ops_.start[op]; });
    };
    return {at(span.begin), at(span.end)};
  }

  void NameGraph(const CaptureSpan& span, CapturedGraph& graph) const {
    for (std::int64_t around = nesting_->Parent(span.begin_call); around != Nesting::kNone;
         around = nesting_->Parent(static_cast<std::size_t>(around))) {
      const std::string_view name = NameOf(static_cast<std::size_t>(around));
      const std::int64_t batch = BatchOfCapture(name);
      if (batch < 0) continue;
      graph.name = name;
      graph.batch = batch;
      return;
    }
  }

  void AddGraph(const CaptureSpan& span) {
    CapturedGraph& graph = found_.graphs.emplace_back();
    graph.track = span.track;
    if (span.track >= 0) graph.process = trace_.tracks.pid[static_cast<std::size_t>(span.track)];
    NameGraph(span, graph);
    std::vector<std::uint32_t> kept;
    std::set<std::uint32_t> known;
    std::map<std::int32_t, TimeNs> call_end;  // a call of the driver within one of the runtime
    for (const std::uint32_t op : StartingWithin(span)) {
      const bool is_kernel = LaunchesKernel(NameOf(op));
      if (!is_kernel && !Copies(NameOf(op))) continue;
      const ThreadTime place{ops_.track[op], ops_.start[op]};
      if (done_.contains(place) || !IsOf(span, op)) continue;
      const auto [end, is_first] = call_end.try_emplace(place.first, place.second);
      if (!is_first && place.second < end->second) continue;
      end->second = ops_.start[op] + ops_.dur[op];
      const auto kernel = kernel_of_.find(place);
      graph.nodes.push_back(
          {place.second, place.first,
           is_kernel ? CapturedNode::Kind::kKernel : CapturedNode::Kind::kCopy,
           kernel == kernel_of_.end() ? StringId::kEmpty : Adopt(kernel->second)});
      // What launched it, as far as it began within the capture.
      for (std::int64_t around = op; around != Nesting::kNone;
           around = nesting_->Parent(static_cast<std::size_t>(around))) {
        const auto row = static_cast<std::uint32_t>(around);
        if (ops_.start[row] < span.begin || !known.insert(row).second) break;
        kept.push_back(row);
      }
    }
    std::ranges::sort(kept);
    for (const std::uint32_t row : kept) graph.ops.Append(Adopted(ops_.At(row), span));
    AddPython(span, graph);
  }

  // Only of this thread: what the others call is not within modules of theirs.
  void AddPython(const CaptureSpan& span, CapturedGraph& graph) {
    const PythonCalls& calls = trace_.python_calls;
    if (calls.Empty()) return;
    if (python_in_order_.empty()) python_in_order_ = calls.RowsByStart();
    const auto at = [&](TimeNs time) {
      return std::ranges::lower_bound(python_in_order_, time, {},
                                      [&](std::size_t row) { return calls.start[row]; });
    };
    std::vector<std::size_t> rows;
    std::vector<NestSpan> spans;
    for (auto row = at(span.begin); row != at(span.end); ++row) {
      if (calls.track[*row] != span.track) continue;
      rows.push_back(*row);
      spans.push_back({calls.start[*row], calls.start[*row] + calls.dur[*row], span.track});
    }
    const Nesting nesting(std::move(spans));
    std::vector<bool> known(rows.size());
    for (const CapturedNode& node : graph.nodes) {
      if (node.track != span.track) continue;
      for (std::int64_t around = nesting.Find(node.track, node.time); around != Nesting::kNone;
           around = nesting.Parent(static_cast<std::size_t>(around))) {
        if (known[static_cast<std::size_t>(around)]) break;
        known[static_cast<std::size_t>(around)] = true;
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!known[i]) continue;
      const bool is_module = IsModuleCall(trace_.strings.View(calls.name[rows[i]]));
      (is_module ? graph.modules : graph.functions).Append(Adopted(calls.At(rows[i]), span));
    }
  }

  // With the texts of the result, and without what lies behind the capture.
  template <typename Row>
  Row Adopted(Row row, const CaptureSpan& span) {
    row.dur = std::min(row.dur, span.end - row.start);
    MapTexts(row, *this);
    return row;
  }

  StringId Adopt(StringId text) {
    const auto [found, is_new] = texts_.try_emplace(text, StringId::kEmpty);
    if (is_new) found->second = found_.strings.Intern(trace_.strings.View(text));
    return found->second;
  }

  const RankTrace& trace_;
  const HostOps& ops_;
  CapturedGraphs found_;
  std::vector<CaptureSpan> spans_;
  std::optional<Nesting> nesting_;
  std::map<ThreadTime, StringId> kernel_of_;
  std::set<ThreadTime> done_;
  std::vector<std::size_t> python_in_order_;
  std::unordered_map<StringId, StringId> texts_;

 public:
  StringId operator[](StringId text) { return Adopt(text); }  // for MapTexts()
};

}  // namespace

CapturedGraphs FindCapturedGraphs(const RankTrace& trace) { return GraphFinder(trace).Find(); }

std::int64_t BatchOfCapture(std::string_view range) {
  if (!range.starts_with(kCaptureRange)) return -1;
  range.remove_prefix(kCaptureRange.size());
  const std::int64_t batch = TakeNumber(range);
  return range.empty() || range.starts_with('_') ? batch : -1;
}

std::int64_t TokensOfStep(std::string_view range) {
  const auto batch = ReadServingName(range);
  if (!batch) return -1;
  return batch->Tokens() >= 0 ? batch->Tokens() : batch->requests;
}

}  // namespace mpa
