// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
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

}  // namespace mpa::head
