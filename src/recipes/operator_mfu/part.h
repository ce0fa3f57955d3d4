// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mfu_summary.h"
#include "mpa/measure/module_statistic.h"
#include "mpa/recipe/module_parts.h"
#include "mpa/recipe/part_bytes.h"
#include "operator_mfu.h"

namespace mpa {
namespace operator_mfu {

/// What operator_mfu keeps of a rank.
struct Part {
  std::vector<OperatorMfuRow> kernels;
  std::vector<ModuleStatisticRow> modules;
  MfuSummary summary;
  bool has_shapes = false;  ///< the capture records shapes of kernels
};

template <class Archive>
void serialize(Archive& archive, Part& part) {
  archive(part.kernels, part.modules, part.summary, part.has_shapes);
}

}  // namespace operator_mfu

constexpr FlopsSource LastOf(FlopsSource) { return FlopsSource::kShapes; }
constexpr FlopsGap LastOf(FlopsGap) { return FlopsGap::kNotMatrixWork; }
constexpr TypeClass LastOf(TypeClass) { return TypeClass::kFp32; }
constexpr PeakGap LastOf(PeakGap) { return PeakGap::kNoChip; }

template <class Archive>
void serialize(Archive& archive, Flops& flops) {
  archive(flops.count, EnumField{flops.gap}, flops.padded);
}

template <class Archive>
void serialize(Archive& archive, Utilisation& use) {
  archive(use.ratio, EnumField{use.gap});
}

template <class Archive>
void serialize(Archive& archive, KernelMfu& mfu) {
  archive(mfu.op, mfu.range, EnumField{mfu.source}, mfu.flops, EnumField{mfu.type}, mfu.peak_tflops,
          mfu.use, mfu.use_of_measured_clock);
}

template <class Archive>
void serialize(Archive& archive, OperatorMfuRow& row) {
  archive(row.op, row.kernel, row.start, row.dur, row.mfu, row.counted, row.input_shapes,
          row.output_shapes);
}

template <class Archive>
void serialize(Archive& archive, ChipPeak& chip) {
  archive(chip.cores, chip.frequency_mhz, chip.peak_tflops, chip.multiplies_fp32);
}

template <class Archive>
void serialize(Archive& archive, MfuShare& share) {
  archive(share.work, share.reason, share.kernels, share.duration, share.is_span, share.flops,
          share.rated, share.ideal, share.ideal_at_measured_clock, share.rated_at_measured_clock);
}

template <class Archive>
void serialize(Archive& archive, MfuWaste& waste) {
  archive(waste.op_type, waste.kernel, waste.input_shapes, EnumField{waste.type}, waste.count,
          waste.duration, waste.use, waste.wasted);
}

template <class Archive>
void serialize(Archive& archive, MfuSummary& summary) {
  archive(summary.chip, summary.device_time, summary.shares, summary.wastes);
}

}  // namespace mpa
