// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "trace_builder.h"

namespace mpa::readers {

/// Where an event is, and its row in a table.
using PlacedRow = std::pair<EventPlace, std::size_t>;

/// Gives copies that operators made directly, without the task queue, a launch: no arrow from an
/// operator ends at them, but one from a call of the runtime does, on the thread of the operator.
/// `copies` are rows of the device tasks. Needs the operators and the queued work.
void LinkDirectCopies(std::vector<PlacedRow> copies, const std::vector<FlowPoint>& runtime_flows,
                      RankTrace& trace);

}  // namespace mpa::readers
