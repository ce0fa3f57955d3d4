// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/diagnosis/part/kernel_perf.h"
#include "mpa/diagnosis/part/kernel_rows.h"
#include "mpa/diagnosis/part/kernel_sequences.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// What an operation moved by SDMA and RDMA.
struct MovedRow {
  struct Moved {
    std::int64_t bytes = 0;
    TimeNs time = 0;       ///< of the tasks, one after the other
    TimeNs unaligned = 0;  ///< of those whose size is not a multiple of 512 bytes
    std::int64_t unaligned_tasks = 0;
  };
  std::string name;
  std::int32_t step = -1;  ///< id; -1: none
  Moved sdma, rdma;
};

struct AiCpuRow {
  std::string name, type, shapes;
  TimeNs dur = 0;
};

struct CollectedRow {
  TimeNs start = 0, dur = 0;
};

/// Optimizers and runs of operators that one call of a library could replace.
struct FusibleRow {
  std::string api;
  std::int64_t count = 0;
};

/// The rows of a rank for the sheets that the Python tool's advisor has, too.
struct AnalyzerRows {
  std::vector<MovedRow> moved;          ///< operations that moved anything, in order of start
  std::vector<AiCpuRow> ai_cpu;         ///< the longest kernels first
  std::vector<CollectedRow> collected;  ///< garbage collections of a millisecond or more
  std::int64_t compiles = 0;            ///< calls that look up or compile an operator
  TimeNs compile_time = 0;
  std::vector<FusibleRow> fusible;  ///< by name
  KernelList on_some_cores, without_bound;
  std::vector<ClockRow> clocks;
  std::vector<PerfRow> performance;  ///< by family and verdict
  SequenceList sequences;
};

AnalyzerRows MakeAnalyzerRows(const RankTrace& trace);

/// What replaces the operators of the framework when they run one after the other; ids as in
/// FusibleRow::api. `names`: those of one thread that no other operator encloses, without "aten::".
std::vector<FusibleRow> FusibleRuns(const std::vector<std::string_view>& names);

}  // namespace mpa
