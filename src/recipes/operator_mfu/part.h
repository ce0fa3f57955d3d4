// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/measure/module_statistic.h"
#include "mpa/mfu/kernel_mfu.h"
#include "mpa/mfu/module_mfu.h"
#include "mpa/mfu/roofline.h"
#include "mpa/model/rank_trace.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/module_columns.h"
#include "mpa/recipe/part_bytes.h"
#include "mpa/report/amount.h"

namespace mpa {

/// A kernel with its utilisation, in texts that outlive the rank.
struct OperatorMfuRow {
  std::string op;  ///< host operator that launched the kernel; empty when it is not known
  std::string kernel;
  TimeNs start = 0, dur = 0;
  KernelMfu mfu;
  std::string counted;  ///< what the operations are of: the recorded call, or the kernel's type
  std::string input_shapes, output_shapes;  ///< without quotes

  /// Why the utilisation is unknown; empty when it is known.
  std::string_view Reason() const;
};

/// The kernels that do matrix work, or run in a range with recorded operations: first those of the
/// ranges, then the others, both in order of their operators and starts.
std::vector<OperatorMfuRow> OperatorMfuRows(const RankTrace& trace, const RankMfu& mfu);

/// The work of the steps.
inline constexpr const char* kStepWork = "step";

/// Kernels put together, or a span of time with the kernels in it.
struct MfuShare {
  std::string work;    ///< kStepWork, "device span", "counted matrix work", "attention", ...
  std::string reason;  ///< why their operations or utilisation are not known; empty when they are
  std::int64_t kernels = 0;
  TimeNs duration = 0;   ///< of the kernels, or wall time
  bool is_span = false;  ///< `duration` is wall time, and `rated` is all of it
  double flops = 0;      ///< a sum of several ranks' operations may leave 64 bits
  /// Of the kernels with a utilisation: their duration, and the time that their operations take at
  /// the peak. The utilisation of them all is the ratio.
  TimeNs rated = 0;
  double ideal = 0, ideal_at_measured_clock = 0;
  TimeNs rated_at_measured_clock = 0;

  /// The kernels do matrix work whose operations are not known: `reason` says why.
  bool IsUncounted() const { return flops <= 0 && !reason.empty(); }
  std::optional<double> Tflops() const;
  std::optional<double> Use() const;
  std::optional<double> UseOfMeasuredClock() const;
};

/// Kernels of one type with the same shapes, which waste time together.
struct MfuWaste {
  std::string op_type, kernel;  ///< the name of one of them
  std::string input_shapes;
  TypeClass type = TypeClass::kUnknown;
  std::int64_t count = 0;
  TimeNs duration = 0;
  double use = 0;
  TimeNs wasted = 0;  ///< sum of duration x (1 - utilisation)
};

struct MfuSummary {
  ChipPeak chip;
  TimeNs device_time = 0;  ///< of all kernels
  /// The time of the steps, all matrix work that is counted, all that is not, the kinds of what is
  /// counted, then what is not with its reasons.
  std::vector<MfuShare> shares;
  std::vector<MfuWaste> wastes;  ///< the ten that waste most

  /// Of the time of all kernels; empty for a span.
  std::optional<double> ShareOfTime(const MfuShare& share) const;
};

/// The first share is kStepWork: the time on the device of all steps of the rank, without that
/// between them, with the matrix work that belongs to them. Its utilisation is the time that their
/// operations take at the peak by that wall time; operations that are not known count as none. The
/// rank of a capture without steps has the "device span" instead, from the first kernel or
/// collective to the end of the last.
MfuSummary SummariseMfu(const RankTrace& trace, const RankMfu& mfu, const ChipPeak& chip);

namespace recipes::operator_mfu {

/// What operator_mfu keeps of a rank.
struct Part {
  std::vector<OperatorMfuRow> kernels;
  std::vector<ModuleStatisticRow> modules;
  MfuSummary summary;
  RatedKernels rated;
  Roofline roofline;
  bool has_shapes = false;  ///< the capture records shapes of kernels
  bool on_gpu = false;
};

}  // namespace recipes::operator_mfu

constexpr FlopsSource LastOf(FlopsSource) { return FlopsSource::kShapes; }
constexpr FlopsGap LastOf(FlopsGap) { return FlopsGap::kNoLauncher; }
constexpr PeakGap LastOf(PeakGap) { return PeakGap::kNoChip; }
constexpr KernelClass LastOf(KernelClass) { return KernelClass::kCommunication; }

/// The summary of a rank ("rank 3") as lines for the screen.
ScreenLines MfuScreen(std::string_view rank, const MfuSummary& summary);

/// The summaries of several ranks as lines for the screen: the spread of their utilisation, of what
/// has none of operations per second; what wastes most on all of them; the ranks that stand out.
ScreenLines MfuSpreadScreen(const std::vector<OfRank<MfuSummary>>& ranks);

}  // namespace mpa
