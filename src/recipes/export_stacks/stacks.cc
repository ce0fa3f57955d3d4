// SPDX-License-Identifier: Apache-2.0
// The time of a rank by call path.
#include "stacks.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/call_paths.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/op_tree.h"

namespace mpa::recipes::export_stacks {
namespace {

// A value for each row of the tables that device work is in.
template <typename Value>
class ByDeviceRow {
 public:
  ByDeviceRow(const RankTrace& trace, Value value)
      : kernels_(trace.kernels.Size(), value),
        communications_(trace.communications.Size(), value),
        tasks_(trace.device_tasks.Size(), value) {}
  Value& At(PieceTable table, std::int32_t row) {
    std::vector<Value>& values = table == PieceTable::kKernels          ? kernels_
                                 : table == PieceTable::kCommunications ? communications_
                                                                        : tasks_;
    return values[static_cast<std::size_t>(row)];
  }

 private:
  std::vector<Value> kernels_, communications_, tasks_;
};

class DeviceStacks {
 public:
  explicit DeviceStacks(const RankTrace& trace)
      : trace_(trace),
        account_(AccountRank(trace)),
        paths_(trace),
        launch_(trace, kNotFound),
        counted_(trace, kTimeCategories) {
    work_ = FindDeviceWork(trace, Nesting(OpSpans(trace))).launched;
    for (std::size_t i = 0; i < work_.size(); ++i) {
      const DeviceWork& work = work_[i].work;
      const auto note = [&](PieceTable table, std::int32_t row) {
        if (row != DeviceWork::kNone) launch_.At(table, row) = static_cast<std::int32_t>(i);
      };
      note(PieceTable::kDeviceTasks, work.task);
      note(PieceTable::kKernels, work.kernel);
      note(PieceTable::kCommunications, work.collective);
    }
  }

  PathTree Make() && {
    PathTreeBuilder& tree = paths_.tree();
    for (const Piece& piece : account_.pieces) {
      if (IsFree(piece.category)) continue;
      std::int32_t node = PathOf(piece);
      if (node == CallPaths::kNone) node = tree.Child(node, "[launch unknown]");
      node = tree.Child(node, FrameText(WorkName(piece)));
      if (!IsCompute(piece.category))
        node = tree.Child(node, fmt::format("[{}]", NameOf(piece.category)));
      // Work that other work interrupts is several pieces.
      std::size_t& counted = counted_.At(piece.table, piece.row);
      const auto category = static_cast<std::size_t>(piece.category);
      tree.Add(node, piece.end - piece.begin, counted == category ? 0 : 1);
      counted = category;
    }
    return std::move(tree).Take();
  }

 private:
  static constexpr std::int32_t kNotFound = -1;

  std::int32_t PathOf(const Piece& piece) {
    const std::int32_t launch = launch_.At(piece.table, piece.row);
    if (launch == kNotFound) return PathOfCall(piece);
    const LaunchedWork& work = work_[static_cast<std::size_t>(launch)];
    return work.op != Nesting::kNone ? paths_.OfOp(static_cast<std::size_t>(work.op))
                                     : paths_.At(work.track, work.launched);
  }

  // Without an operator the call of the runtime says which thread asked for the work, and when.
  std::int32_t PathOfCall(const Piece& piece) {
    if (!chains_) {
      chains_.emplace(trace_);
      items_ = FindDeviceItems(trace_);
      item_.emplace(trace_, kNotFound);
      for (std::size_t i = 0; i < items_.size(); ++i)
        item_->At(items_[i].table, items_[i].row) = static_cast<std::int32_t>(i);
    }
    const std::int32_t item = item_->At(piece.table, piece.row);
    if (item == kNotFound) return CallPaths::kNone;
    const DeviceItem& work = items_[static_cast<std::size_t>(item)];
    const auto chain = chains_->Find(work, work.begin + account_.clock.offset);
    return chain ? paths_.At(chain->asking_track, chain->asked) : CallPaths::kNone;
  }

  std::string WorkName(const Piece& piece) const {
    const auto row = static_cast<std::size_t>(piece.row);
    if (piece.table == PieceTable::kCommunications)
      return KernelNameOf(trace_, {.collective = piece.row});
    if (piece.table == PieceTable::kKernels)
      return std::string(trace_.strings.View(trace_.kernels.name[row]));
    return std::string(IsDeviceCopy(piece.category)
                           ? TaskKind(trace_, row)
                           : trace_.strings.View(trace_.device_tasks.name[row]));
  }

  const RankTrace& trace_;
  RankAccount account_;
  CallPaths paths_;
  std::vector<LaunchedWork> work_;
  ByDeviceRow<std::int32_t> launch_;  // position in work_
  ByDeviceRow<std::size_t> counted_;  // the category that was counted last
  // Only where launches are missing.
  std::optional<LaunchChains> chains_;
  std::vector<DeviceItem> items_;
  std::optional<ByDeviceRow<std::int32_t>> item_;
};

PathTree FreeStacks(const RankTrace& trace) {
  const RankAccount account = AccountRank(trace);
  CallPaths paths(trace);
  PathTreeBuilder& tree = paths.tree();
  std::array<std::int32_t, kTimeCategories> frames{};
  frames.fill(-1);
  for (const Piece& piece : account.pieces) {
    if (!IsFree(piece.category)) continue;
    const std::int32_t around =
        piece.row >= 0 ? paths.OfHost(piece, account.clock.offset) : CallPaths::kNone;
    std::int32_t& frame = frames[static_cast<std::size_t>(piece.category)];
    if (frame < 0) frame = tree.Frame(fmt::format("[{}]", NameOf(piece.category)));
    tree.Add(tree.Child(around, frame), piece.end - piece.begin, 1);
  }
  return std::move(tree).Take();
}

}  // namespace

PathTree StacksOf(const RankTrace& trace, Metric metric) {
  switch (metric) {
    case Metric::kDevice:
      return DeviceStacks(trace).Make();
    case Metric::kHost:
      return HostPaths(trace);
    case Metric::kSelfCpu:
    case Metric::kSelfNpu:
      return OperatorStacks(trace, metric == Metric::kSelfNpu);
    default:
      return FreeStacks(trace);
  }
}

// The time by call path as a picture.

namespace {

// Frames of less than a thousandth of the whole cannot be seen; each caller has one for all of
// them.
constexpr TimeNs kMinPart = 1000;
constexpr const char* kRest = "[frames of less than 0.1 %]";

Tint TintOf(TimeCategory category) {
  if (category == TimeCategory::kWaitPeer || category == TimeCategory::kInnerWait)
    return Tint::kWait;
  if (category == TimeCategory::kTransfer || category == TimeCategory::kSlow)
    return Tint::kTransfer;
  if (category == TimeCategory::kBubble) return Tint::kBase;
  if (IsCommunication(category)) return Tint::kUnsplit;
  if (IsDeviceCopy(category)) return Tint::kCopy;
  return IsFree(category) ? Tint::kFree : Tint::kCompute;
}

// By node. An operation of communication has frames of its categories within; what has none
// computes. The others are of the host.
std::vector<Tint> TintsOf(const PathTree& tree, Metric metric) {
  std::vector<Tint> tints(tree.nodes.size());
  if (metric != Metric::kDevice && metric != Metric::kFree) return tints;
  std::vector<bool> calls(tree.nodes.size());
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    const PathNode& node = tree.nodes[i];
    std::string_view name = tree.frames[static_cast<std::size_t>(node.frame)];
    std::optional<TimeCategory> category;
    if (name.starts_with('[') && name.ends_with(']'))
      category = CategoryNamed(name.substr(1, name.size() - 2));
    if (category) tints[i] = TintOf(*category);
    if (!category && !calls[i] && metric == Metric::kDevice) tints[i] = Tint::kCompute;
    if (node.parent < 0) continue;
    const auto parent = static_cast<std::size_t>(node.parent);
    calls[parent] = true;
    if (category && metric == Metric::kDevice)
      tints[parent] = IsCommunication(*category) ? Tint::kUnsplit : TintOf(*category);
  }
  return tints;
}

}  // namespace

PageChart FlameChart(const PathTree& tree, Metric metric, std::string title) {
  PageChart chart{.kind = PageChart::Kind::kFlame, .title = std::move(title), .unit = "ms"};
  PageSeries& own = chart.series.emplace_back(PageSeries{.name = "time"});
  std::vector<TimeNs> whole(tree.nodes.size());
  TimeNs total = 0;
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    const PathNode& node = tree.nodes[i];
    whole[i] += node.time;
    (node.parent >= 0 ? whole[static_cast<std::size_t>(node.parent)] : total) += whole[i];
  }
  const std::vector<Tint> tints = TintsOf(tree, metric);
  std::unordered_map<std::int32_t, std::size_t> labels;  // by frame
  const auto add = [&](std::int32_t parent, std::size_t label, TimeNs time, Tint tint = {}) {
    chart.frames.push_back({parent, label, tint});
    own.values.push_back(InMs(time));
    return static_cast<std::int32_t>(chart.frames.size() - 1);
  };
  std::vector<std::int32_t> drawn(tree.nodes.size(), -1);  // the frame of the node; -1: none
  std::vector<std::pair<std::int32_t, TimeNs>> rests;      // by parent, in order
  std::unordered_map<std::int32_t, std::size_t> rest_of;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const PathNode& node = tree.nodes[i];
    const std::int32_t parent =
        node.parent >= 0 ? drawn[static_cast<std::size_t>(node.parent)] : -1;
    if (node.parent >= 0 && parent < 0) continue;  // its time is in that of its caller
    if (whole[i] < (total + kMinPart - 1) / kMinPart) {
      const auto [found, is_new] = rest_of.try_emplace(parent, rests.size());
      if (is_new) rests.push_back({parent, 0});
      rests[found->second].second += whole[i];
      continue;
    }
    const auto [label, is_new] = labels.try_emplace(node.frame, chart.labels.size());
    if (is_new) chart.labels.push_back(tree.frames[static_cast<std::size_t>(node.frame)]);
    drawn[i] = add(parent, label->second, node.time, tints[i]);
  }
  const std::size_t rest = chart.labels.size();
  for (const auto& [parent, time] : rests) {
    if (time > 0) add(parent, rest, time);
  }
  if (!chart.frames.empty() && chart.frames.back().label == rest) chart.labels.emplace_back(kRest);
  return chart;
}

}  // namespace mpa::recipes::export_stacks
