// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/model/rank_trace.h"

/// Runs of kernels that repeat, whose place a fused kernel could take.
namespace mpa {

/// Kernels that ran one after the other in this order, with these shapes, again and again.
struct KernelSequence {
  /// Where it ran first: positions of its ends among kernels and collectives in order of start,
  /// which are the rows of kernel_details.csv, from 0.
  std::int64_t first = 0, last = 0;
  std::int64_t count = 0;  ///< how often it ran
  TimeNs total = 0;        ///< with the gaps between its kernels
  TimeNs busy = 0;         ///< of its kernels, one after the other
  TimeNs moving = -1;      ///< that loading and storing took, one after the other; -1: not measured
  bool host_bound = false, mte_bound = false;
  std::vector<std::string> names;
};

/// Those that took most time first; those that are too many are counted only. A kernel belongs to
/// one of them at most.
struct SequenceList {
  std::vector<KernelSequence> rows;
  std::int64_t count = 0;
  TimeNs total = 0, busy = 0, moving = 0;
};

/// Sequences of three to ten kernels of a step, between communication and kernels on the AI CPU,
/// that ran six times or more. Host-bound ones have kernels for less than 40 % of their time and
/// take more than 1 % of the capture; the others load and store for more than 80 % of the time of
/// their cores.
SequenceList RepeatedSequences(const RankTrace& trace);

}  // namespace mpa
