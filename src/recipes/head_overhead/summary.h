// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyse.h"

namespace mpa::head {

/// What filled a part of the head. Names belong to the rank's texts or live as long as the program.
struct Child {
  Measure part{};          ///< one of kParts but Dynamo, or the epilogue
  std::string_view kind;   ///< "contiguous"; "of_which_..." is counted in another child as well
  std::string_view name;   ///< "aten::contiguous"
  std::int64_t count = 0;  ///< events; 0 for time without an event
  TimeNs total = 0;        ///< covered time
  MaybeNs exposed{};       ///< of it the device is idle, before the call's first kernel

  auto Key() const { return std::tie(part, kind, name); }
};

inline constexpr std::string_view kUnattributed = "(unattributed)";
inline constexpr std::string_view kQueueDrain = "of_which_queue_drain";
inline constexpr std::string_view kOfWhichSync = "of_which_sync";
inline constexpr std::string_view kLaunch = "launch";
inline constexpr std::string_view kOfWhichLaunch = "of_which_launch";
// What TorchAir's Python does with the inputs of a graph.
inline constexpr std::string_view kTensorConstruct = "tensor_construct";
inline constexpr std::string_view kContiguous = "contiguous";
inline constexpr std::string_view kClone = "clone";
inline constexpr std::string_view kToCopy = "to_copy";

/// Looks into the calls of a rank. Refers to the analysis, which must outlive it.
class ChildFinder {
 public:
  explicit ChildFinder(const HeadAnalysis& analysis);

  /// The children of a call: one for each part, kind and name, in that order.
  std::vector<Child> Of(std::size_t call) const;

 private:
  friend class ChildCollector;

  const HeadAnalysis& analysis_;
  std::map<std::int64_t, std::vector<std::size_t>> queue_of_pid_;  // rows in order of start
  Intervals garbage_;
};

/// Fills the numbers of conversions of a call from its children.
void CountConversions(const std::vector<Child>& children, Call& call);

/// How a measure spreads over the calls that have it. Times are nanoseconds.
struct CallSpread {
  std::int64_t count = 0;
  TimeNs sum = 0, max = 0;
  TimeNs mean = 0, p50 = 0, p90 = 0;  ///< rounded; see quantiles.h
};

/// Empty when there are no values.
std::optional<CallSpread> SpreadOf(std::vector<TimeNs> values);

/// A graph on a thread, or all.
struct Scope {
  std::string name;
  std::vector<std::size_t> calls;  ///< positions; those that do not count are left out
};
/// All calls together, then each graph in order of its first call. A graph that runs on several
/// threads has a scope for each.
std::vector<Scope> FindScopes(const std::vector<Call>& calls);
/// The calls of a scope, or those of one phase.
std::vector<const Call*> CallsOf(const std::vector<Call>& calls, const Scope& scope,
                                 std::optional<Phase> phase = {});
/// Thread and step of calls within steps.
std::set<std::pair<std::int32_t, std::int32_t>> StepsOf(const std::vector<const Call*>& calls);

struct SummaryRow {
  std::string scope;
  Phase phase{};
  Measure measure{};
  CallSpread spread;
  std::optional<double> share;          ///< of the sum of heads
  std::optional<double> share_of_step;  ///< of the time of the steps with such calls
  MaybeNs exposed_sum;
  std::optional<double> exposed_share;  ///< of the idle time before first kernels
};

/// A row for each scope, phase and measure that any call has.
std::vector<SummaryRow> Summarise(const std::vector<Call>& calls, const std::vector<Scope>& scopes,
                                  const HostSteps& steps);
/// The row of a measure of all calls of the phase; null if it does not exist.
const SummaryRow* FindRow(const std::vector<SummaryRow>& rows, Phase phase, Measure measure);

/// The calls of a thread in a step.
struct StepRow {
  std::int32_t step = -1;
  std::int64_t tid = -1;
  std::int64_t calls = 0, compile_calls = 0;
  std::array<TimeNs, kPartsOfCall> parts{};
  bool knows_serving = false;  ///< the part of a serving framework is known
  TimeNs head = 0;
  TimeNs tail = 0;     ///< from the end of the last call to the end of the step
  TimeNs outside = 0;  ///< of no call and not the tail: a call of the step before reaches into this
  TimeNs duration = 0;
  MaybeNs exposed;
};
std::vector<StepRow> SumSteps(const std::vector<Call>& calls, const HostSteps& steps);

/// A kind of child of all calls of a scope.
struct ChildRow {
  std::string scope;
  Measure part{};
  std::string kind, name;
  std::int64_t count = 0;       ///< events; 0 for time without an event
  std::int64_t calls = 0;       ///< of the scope
  TimeNs total = 0, max = 0;    ///< max: in one call
  MaybeNs exposed;              ///< of the total the device is idle
  std::optional<double> share;  ///< of the time of the part
};

/// The children of the calls of one phase, by scope and part, the longest first. Fills the numbers
/// of conversions of all calls.
std::vector<ChildRow> SumChildren(const std::vector<Scope>& scopes, Phase phase,
                                  HeadAnalysis& analysis);

}  // namespace mpa::head
