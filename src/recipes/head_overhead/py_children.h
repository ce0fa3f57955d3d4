// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "call.h"
#include "host_events.h"
#include "mpa/measure/intervals.h"

namespace mpa::head {

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

}  // namespace mpa::head
