// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/amounts.h"
#include "mpa/measure/unit_loads.h"
#include "mpa/model/rank_trace.h"

/// The rows of a rank for the sheets that the Python tool's advisor has, too.
namespace mpa {

// Kernels that make little use of their cores.

/// What KernelRow has of the tensors, in this order.
enum class TensorText : std::uint8_t {
  kInputShapes,
  kInputTypes,
  kInputFormats,
  kOutputShapes,
  kOutputTypes,
  kOutputFormats
};
inline constexpr std::size_t kTensorTexts = 6;

struct KernelRow {
  std::string name, type, core;
  TimeNs dur = 0;
  std::int32_t blocks = -1, mix_blocks = -1;
  std::int32_t cores = 0;  ///< that the device has of the kind; 0: unknown
  UnitLoads loads;
  std::array<std::string, kTensorTexts> tensors;
};

/// Kernels of one kind, the longest first; those that are too many are counted only.
struct KernelList {
  std::vector<KernelRow> rows;
  std::int64_t count = 0;
  TimeNs time = 0;
};

/// The clock of the cores while the kernels of one name ran.
struct ClockRow {
  std::string name;
  std::int64_t count = 0;
  TimeNs time = 0;
  double mhz = 0;  ///< mean, weighted by time
  std::int64_t least = 0, most = 0;
};

/// True for the kind of core of a kernel on the AI CPU.
bool IsAiCpu(std::string_view core);

/// Kernels whose blocks do not fill the cores of the device in the last round. Empty where neither
/// is known.
KernelList KernelsOnSomeCores(const RankTrace& trace);

/// Kernels that keep no unit of their cores busy for most of their time. Empty unless one of them
/// is long.
KernelList KernelsWithoutBound(const RankTrace& trace);

/// By name, those that took most time first. Empty where the clock was not measured.
std::vector<ClockRow> ClocksOfKernels(const RankTrace& trace);

// How well the kernels that matter use the units of their cores.

/// The sheets: products of matrices, attention, kernels of the vector cores.
enum class PerfFamily : std::uint8_t { kCube, kAttention, kVector };
inline constexpr PerfFamily kPerfFamilies[] = {PerfFamily::kCube, PerfFamily::kAttention,
                                               PerfFamily::kVector};

/// What is said of a kernel. Those of bad shapes are judged by nothing else.
enum class PerfVerdict : std::uint8_t {
  kRoom,   ///< no unit reaches its limit
  kBound,  ///< a unit does
  kShape,  ///< its inner axes do not fit the units
};

/// The calls of one kernel with one set of shapes.
struct PerfRow {
  PerfFamily family = PerfFamily::kCube;
  PerfVerdict verdict = PerfVerdict::kRoom;
  std::string name, type, shapes, types;
  std::string what;  ///< the unit that is nearest to its limit, or the axis that does not fit
  std::int64_t count = 0;
  TimeNs time = 0;
  double room = 0;  ///< how far that unit is from its limit, as a share of the time of the core
};

/// Of each family and verdict the five that matter most: by time, those with room by their room in
/// it.
std::vector<PerfRow> KernelPerformance(const RankTrace& trace);

// Runs of kernels that repeat, whose place a fused kernel could take.

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

/// What the tasks of an operation moved by SDMA and RDMA.
struct MovedRow {
  std::string name;
  std::int32_t step = -1;  ///< id; -1: none
  Traffic sdma{}, rdma{};
  Traffic unaligned{};  ///< of `sdma`, in sizes that are not multiples of 512 bytes
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
  /// That RoCE ports counted as damaged or dropped, or sent again, while the capture lasted; -1:
  /// their counters were not recorded.
  std::int64_t lost_packets = -1;
};

AnalyzerRows MakeAnalyzerRows(const RankTrace& trace);

/// What replaces the operators of the framework when they run one after the other; ids as in
/// FusibleRow::api. `names`: those of one thread that no other operator encloses, without "aten::".
std::vector<FusibleRow> FusibleRuns(const std::vector<std::string_view>& names);

}  // namespace mpa
