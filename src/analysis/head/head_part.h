// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "call.h"
#include "child_sums.h"
#include "summary.h"

namespace mpa::head {

/// What the head of a rank's calls comes to: plain values that outlive the rank.
struct HeadPart {
  std::vector<Call> calls;
  std::vector<std::string> graphs;  ///< names, by Call::graph
  std::vector<StepRow> steps;
  std::vector<SummaryRow> summary;
  std::vector<ChildRow> children;
};

}  // namespace mpa::head
