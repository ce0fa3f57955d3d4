// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/report/change_tree.h"

/// What slows a job down on each side of a comparison, and what of it has changed: one tree of
/// causes for all commands that compare jobs.
namespace mpa {

/// A finding of a diagnosis, as far as it costs time.
struct JobCause {
  std::string key;       ///< tells it from others: "rank.late_compute/r3"
  std::string text;      ///< "rank 3 computes 30 % slower"
  std::string detail;    ///< where it shows: "MatMulV3 +1.20 ms"; may be empty
  TimeNs cost = 0;       ///< of a step
  bool is_fault = true;  ///< false: it works as written, and could be faster
  /// Other causes hide it: what it costs behind them is not known.
  bool is_hidden = false;

  friend bool operator==(const JobCause&, const JobCause&) = default;
};

struct JobCauses {
  TimeNs step = 0;   ///< of the job, without warm-up
  TimeNs least = 0;  ///< what costs less is not among the causes
  std::vector<JobCause> causes;

  friend bool operator==(const JobCauses&, const JobCauses&) = default;
};

/// The kind of a cause in a tree of changes.
inline constexpr std::string_view kCauseKind = "cause";

/// What changed from the causes of the base to those of the comparison, `name` being the step of
/// the job: causes that came, went, grew or shrank by more than what either side can tell, the
/// largest change first, faults before others. The last child is what they leave of the change.
/// Without children: no cause has changed.
ChangeNode CauseChange(std::string name, const JobCauses& base, const JobCauses& comparison);

/// "job of 8 ranks: 23.03 -> 29.25 ms a step (+27.0 %)" and a line for each cause, of at most
/// `width` columns. Empty where no cause has changed.
std::vector<std::string> CauseLines(const ChangeNode& causes, std::size_t width);

/// True where the causes make up at least half of the change, and not much more than it: they
/// explain it better than the account of a single rank.
bool ExplainsMost(const ChangeNode& causes);

}  // namespace mpa
