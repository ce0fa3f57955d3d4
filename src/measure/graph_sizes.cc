// SPDX-License-Identifier: Apache-2.0
// For how many tokens the graphs were captured that a server replays.
#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>
#include <vector>

#include "mpa/base/rows_by.h"
#include "mpa/measure/captured_graph.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/serving_kernels.h"

namespace mpa {

std::int64_t FirstDimension(std::string_view shapes) {
  shapes.remove_prefix(std::min(shapes.find_first_not_of("\"[ "), shapes.size()));
  std::int64_t dimension = -1;
  const auto [end, error] =
      std::from_chars(shapes.data(), shapes.data() + shapes.size(), dimension);
  return error == std::errc() && dimension > 0 ? dimension : -1;
}

namespace {

class MarkedGraphs {
 public:
  explicit MarkedGraphs(RankTrace& trace)
      : trace_(trace),
        marks_(trace.serving_marks),
        rows_(RowsBy(marks_.Size(), [&](std::size_t row) { return marks_.start[row]; })) {}

  void AddCaptured() {
    const GraphReplays& replays = trace_.graph_replays;
    for (std::size_t i = 0; i < replays.Size(); ++i) {
      const std::int64_t tokens = BatchOfCapture(trace_.strings.View(replays.graph[i]));
      Around(replays.start[i], [&](std::size_t row) {
        marks_.graph_tokens[row] = std::max(marks_.graph_tokens[row], tokens);
      });
    }
  }

  void AddByShapes() {
    std::unordered_map<StringId, std::int64_t> dimensions;      // by shapes
    std::map<std::size_t, std::map<std::int64_t, int>> counts;  // by row of a mark and dimension
    const LaunchCalls calls(trace_);
    for (const DeviceItem& item : FindDeviceItems(trace_)) {
      if (item.model < 0 || item.table != PieceTable::kKernels) continue;
      const StringId shapes = trace_.kernels.shapes[static_cast<std::size_t>(item.row)];
      const auto [known, is_new] = dimensions.try_emplace(shapes, -1);
      if (is_new) known->second = FirstDimension(trace_.strings.View(shapes));
      const std::int64_t dimension = known->second;
      const auto call = calls.LastGraph(item.begin);
      if (dimension < 0 || !call) continue;
      Around(call->begin, [&](std::size_t row) { ++counts[row][dimension]; });
    }
    for (const auto& [row, of_mark] : counts) {
      const auto most =
          std::ranges::max_element(of_mark, {}, [](const auto& entry) { return entry.second; });
      int all = 0;
      for (const auto& [dimension, count] : of_mark) all += count;
      if (marks_.graph_tokens[row] < 0 && 2 * most->second > all)
        marks_.graph_tokens[row] = most->first;
    }
  }

 private:
  // Calls `add` with the marks that are open at a time. Marks hardly nest: those that began before
  // the last few are over.
  template <typename Add>
  void Around(TimeNs time, Add add) const {
    constexpr std::ptrdiff_t kDeepest = 4;
    auto at = std::ranges::upper_bound(rows_, time, {},
                                       [&](std::size_t row) { return marks_.start[row]; });
    for (std::ptrdiff_t i = 0; i < kDeepest && at != rows_.begin(); ++i) {
      --at;
      if (time < marks_.start[*at] + marks_.dur[*at]) add(*at);
    }
  }

  RankTrace& trace_;
  ServingMarks& marks_;
  const std::vector<std::size_t> rows_;  // in order of start
};

}  // namespace

void AddGraphTokens(RankTrace& trace) {
  if (trace.serving_marks.Empty()) return;
  MarkedGraphs graphs(trace);
  graphs.AddCaptured();
  graphs.AddByShapes();
}

}  // namespace mpa
