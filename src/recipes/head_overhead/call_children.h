// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyse.h"
#include "call.h"
#include "host_forest.h"
#include "mpa/measure/intervals.h"
#include "summary.h"

namespace mpa::head {

/// A part of the head that is looked into.
enum class ChildSegment : std::uint8_t {
  kPlatform,
  kTorchairPy,
  kTorchairCpp,
  kGe,
  kReplay,
  kEpilogue
};
inline constexpr std::size_t kChildSegments = 6;
std::string_view NameOf(ChildSegment segment);

/// What filled a part of a segment. Names belong to the rank's texts or live as long as the
/// program.
struct Child {
  ChildSegment segment{};
  std::string_view kind;   ///< "contiguous"; "of_which_..." is counted in another child as well
  std::string_view name;   ///< "aten::contiguous"
  std::int64_t count = 0;  ///< events; 0 for time without an event
  TimeNs total = 0;        ///< covered time
  MaybeNs exposed{};       ///< of it the device is idle, before the call's first kernel

  auto Key() const { return std::tie(segment, kind, name); }
};

inline constexpr std::string_view kUnattributed = "(unattributed)";
inline constexpr std::string_view kQueueDrain = "of_which_queue_drain";
inline constexpr std::string_view kOfWhichSync = "of_which_sync";
inline constexpr std::string_view kLaunch = "launch";
inline constexpr std::string_view kOfWhichLaunch = "of_which_launch";

/// Looks into the calls of a rank. Refers to both, which must outlive it.
class ChildFinder {
 public:
  ChildFinder(const RankTrace& trace, const HeadAnalysis& analysis);

  /// The children of a call: one for each segment, kind and name, in that order.
  std::vector<Child> Of(std::size_t call) const;

 private:
  friend class ChildCollector;
  struct QueueSpan {
    TimeNs start = 0, end = 0;
    StringId name{};
  };

  const RankTrace& trace_;
  const HeadAnalysis& analysis_;
  std::map<std::int64_t, std::vector<QueueSpan>> queue_of_pid_;  // in order of start
  Intervals garbage_;
};

/// Fills the numbers of conversions of a call from its children.
void CountConversions(const std::vector<Child>& children, Call& call);

/// A kind of child of all calls of a scope.
struct ChildRow {
  std::string scope;
  ChildSegment segment{};
  std::string kind, name;
  std::int64_t count = 0;       ///< events; 0 for time without an event
  std::int64_t calls = 0;       ///< of the scope
  TimeNs total = 0, max = 0;    ///< max: in one call
  MaybeNs exposed;              ///< of the total the device is idle
  std::optional<double> share;  ///< of the time of the segment
};

/// Adds up the children of the calls of one phase, for every scope.
class ChildSums {
 public:
  ChildSums(const std::vector<Call>& calls, const std::vector<Scope>& scopes, Phase phase);

  /// Calls of another phase and those that do not count are left out.
  void Add(std::size_t call, const std::vector<Child>& children);
  /// By scope and segment, the longest first.
  std::vector<ChildRow> Rows() const;

 private:
  using Key = std::tuple<ChildSegment, std::string_view, std::string_view>;
  struct Sum {
    std::int64_t count = 0;
    TimeNs total = 0, max = 0;
    MaybeNs exposed;
    void Add(const Sum& other);
  };
  struct ScopeSums {
    std::map<Key, Sum> of_key;
    std::array<TimeNs, kChildSegments> times{};
    std::int64_t calls = 0;
  };

  const std::vector<Call>& calls_;
  const std::vector<Scope>& scopes_;
  Phase phase_;
  std::vector<std::size_t> scope_of_call_;  // that of its graph; 0: none
  std::vector<ScopeSums> sums_;             // of each scope; the first, of all, is made by Rows()
};

// Kinds of what TorchAir's Python does with the inputs of a graph.
inline constexpr std::string_view kTensorConstruct = "tensor_construct";
inline constexpr std::string_view kContiguous = "contiguous";
inline constexpr std::string_view kClone = "clone";
inline constexpr std::string_view kToCopy = "to_copy";

/// An event directly within TorchAir's Python.
struct PyChild {
  std::string_view name;
  HostEvent event{};
  Interval time;
  std::string_view kind{};
  bool counts = true;  ///< false: a part of the conversion that another event counts
};

/// Sets the kinds of the events of one call, which come in order of time.
void ClassifyPyChildren(Engine engine, std::vector<PyChild>& children);

// Collects the pieces of one call.
class ChildCollector {
 public:
  ChildCollector(const ChildFinder& finder, std::size_t call)
      : finder_(finder),
        a_(finder.analysis_),
        strings_(finder.trace_.strings),
        call_(a_.calls[call]),
        parts_(a_.parts[call]) {}

  std::vector<Child> Collect();

 private:
  struct Piece {
    Child child;
    Interval time;
  };

  bool Encloses(std::int64_t outer, std::int64_t inner) const {
    return inner != HostNode::kNone && outer <= inner && inner < a_.forest.At(outer).subtree_end;
  }
  std::string_view NameOfNode(std::int64_t node) const {
    return strings_.View(a_.forest.At(node).name);
  }

  void Add(ChildSegment segment, std::string_view kind, std::string_view name, Interval time,
           std::int64_t count = 1) {
    pieces_.push_back({{segment, kind, name, count}, time});
  }

  // What of `span` none of `covered` covers.
  void AddRest(ChildSegment segment, std::string_view name, const Interval& span,
               std::vector<Interval> covered);

  // The outermost nodes of the call's thread that start within `span`, without those that hold
  // `inner`, which are looked into.
  template <typename OnNode>
  void ForEachNode(const Interval& span, std::int64_t inner, OnNode on_node) const {
    std::int64_t at = a_.forest.FirstFrom(call_.track, span.begin);
    const std::int64_t end = a_.forest.EndOf(call_.track);
    while (at < end && a_.forest.At(at).start < span.end) {
      const HostNode& node = a_.forest.At(at);
      const bool looked_into =
          at == parts_.found.node || at == parts_.found.run || Encloses(at, inner);
      if (!looked_into) on_node(at, Interval{node.start, std::min(node.end, span.end)});
      at = looked_into ? at + 1 : node.subtree_end;
    }
  }

  void AddPlatform();

  void AddRuntime(ChildSegment segment, std::string_view kind, std::size_t row,
                  const Interval& span, std::string_view name = {}) {
    if (name.empty()) name = strings_.View(a_.runtime.Table().name[row]);
    Add(segment, kind, name, {a_.runtime.Start(row), std::min(a_.runtime.End(row), span.end)});
  }

  void AddPython();

  void AddCpp();

  void AddSync(ChildSegment segment, const Interval& span);

  // The largest gap is a wait for eager operators when the thread that launches these was busy for
  // at least half of it.
  void AddQueueDrain(const std::vector<Piece>& gaps);

  // Where the execution of the graph belongs.
  ChildSegment GraphSegment() const {
    return call_.Replays() ? ChildSegment::kReplay : ChildSegment::kGe;
  }
  void AddGe();
  void AddGeRow(std::size_t row, const Interval& span, bool nested);
  // An execution without what it calls.
  void AddOwnTime(std::size_t row, const Interval& span);
  void AddEpilogue();
  void AddOutputs(std::int64_t node, const Interval& time);

  // One child for each segment, kind and name, with the time that its pieces cover together.
  std::vector<Child> Joined();

  const ChildFinder& finder_;
  const HeadAnalysis& a_;
  const StringPool& strings_;
  const Call& call_;
  const CallParts& parts_;
  std::vector<Piece> pieces_;
};

}  // namespace mpa::head
