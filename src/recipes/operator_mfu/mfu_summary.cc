// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/measure/activities.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/model/step_bounds.h"
#include "part.h"

namespace mpa {
namespace {

// Of a GPU, whose kernels have none.
std::string_view TypeOf(KernelClass work) {
  switch (work) {
    case KernelClass::kAttention:
      return "Attention";
    case KernelClass::kConvolution:
      return "Convolution";
    case KernelClass::kGroupedMatmul:
      return "GroupedMatMul";
    default:
      return "MatMul";
  }
}

std::string_view TypeOf(const RankTrace& trace, const KernelMfu& mfu, std::size_t row) {
  return IsMatrixWork(mfu.work) ? TypeOf(mfu.work) : trace.strings.View(trace.kernels.op_type[row]);
}

StringId ShapesOf(const RankTrace& trace, const KernelMfu& mfu, std::size_t row) {
  return mfu.counted_op >= 0 ? trace.host_ops.shapes[static_cast<std::size_t>(mfu.counted_op)]
                             : trace.kernels.shapes[row];
}

std::string_view KindOf(KernelClass work) {
  switch (work) {
    case KernelClass::kAttention:
      return ToTranslate("attention");
    case KernelClass::kConvolution:
      return ToTranslate("convolutions");
    default:
      return ToTranslate("matrix products");
  }
}

std::string_view KindOf(const KernelMfu& mfu, std::string_view op_type) {
  if (IsMatrixWork(mfu.work)) return KindOf(mfu.work);
  if (FlopsFamilyOf(op_type) == FlopsFamily::kNone) return ToTranslate("other recorded work");
  return KindOf(ClassOfType(op_type));
}

void Add(const KernelMfu& kernel, TimeNs dur, MfuShare& share) {
  ++share.kernels;
  share.duration += dur;
  if (!kernel.flops.Known()) return;
  share.flops += static_cast<double>(kernel.flops.count);
  if (kernel.use.gap == PeakGap::kNoChip) share.reason = Text(kernel.use.gap);
  if (!kernel.use.Known()) return;
  const auto time = static_cast<double>(dur);
  share.rated += dur;
  share.ideal += kernel.use.ratio * time;
  if (kernel.use_of_measured_clock) {
    share.rated_at_measured_clock += dur;
    share.ideal_at_measured_clock += *kernel.use_of_measured_clock * time;
  }
}

class Summary {
 public:
  Summary(const RankTrace& trace, const RankMfu& mfu, const ChipPeak& chip)
      : trace_(trace), mfu_(mfu) {
    summary_.chip = chip;
  }

  MfuSummary Make() && {
    MfuShare counted, uncounted;
    counted.work = ToTranslate("counted matrix work");
    uncounted.work = ToTranslate("matrix work not counted");
    std::map<std::string_view, MfuShare> kinds;
    std::map<std::pair<std::string_view, std::string_view>, MfuShare> unknown;
    for (std::size_t row = 0; row < mfu_.kernels.size(); ++row) {
      const KernelMfu& kernel = mfu_.kernels[row];
      const TimeNs dur = trace_.kernels.dur[row];
      summary_.device_time += dur;
      if (kernel.flops.Known()) {
        Add(kernel, dur, counted);
        Add(kernel, dur, kinds[KindOf(kernel, Type(row))]);
        if (kernel.use.Known()) {
          AddWaste(row);
        } else if (kernel.use.gap != PeakGap::kNoChip) {  // that concerns all of them
          Add(kernel, dur, unknown[{Type(row), Text(kernel.use.gap)}]);
        }
      } else if (kernel.flops.gap != FlopsGap::kUnknownOperator &&
                 kernel.flops.gap != FlopsGap::kNotMatrixWork) {
        Add(kernel, dur, uncounted);
        Add(kernel, dur, unknown[{Type(row), Text(kernel.flops.gap)}]);
      }
    }
    if (counted.kernels > 0) {
      summary_.shares.push_back(Step());
      summary_.shares.push_back(std::move(counted));
    }
    if (uncounted.kernels > 0) summary_.shares.push_back(std::move(uncounted));
    for (auto& [kind, share] : kinds) {
      share.work = kind;
      summary_.shares.push_back(std::move(share));
    }
    for (auto& [key, share] : unknown) {
      share.work = key.first;
      share.reason = key.second;
      summary_.shares.push_back(std::move(share));
    }
    RankWastes();
    return std::move(summary_);
  }

 private:
  // The matrix work of all steps by their wall time.
  MfuShare Step() const {
    const Kernels& kernels = trace_.kernels;
    const StepBounds bounds(trace_, kAsRecorded);
    const bool has_steps = bounds.Count() > 0;
    MfuShare share;
    share.work = has_steps ? kStepWork : ToTranslate("device span");
    share.is_span = true;
    for (std::size_t row = 0; row < mfu_.kernels.size(); ++row) {
      if (!mfu_.kernels[row].flops.Known()) continue;
      if (has_steps && !bounds.OfDeviceWork(kernels.link[row], kernels.start[row])) continue;
      Add(mfu_.kernels[row], kernels.dur[row], share);
    }
    share.duration = 0;
    for (std::size_t step = 0; step < bounds.Count(); ++step) {
      share.duration += bounds.DeviceFinish(step) - bounds.DeviceBegin(step);
    }
    if (!has_steps) {
      const Interval span = DeviceSpan(trace_);
      share.duration = std::max<TimeNs>(span.end - span.begin, 0);
    }
    const bool all_at_clock = share.rated_at_measured_clock == share.rated;
    if (share.rated > 0) share.rated = share.duration;
    share.rated_at_measured_clock = all_at_clock ? share.rated : 0;
    return share;
  }

  std::string_view Type(std::size_t row) const { return TypeOf(trace_, mfu_.kernels[row], row); }

  struct Waste {
    std::size_t row = 0;  // of the first of the kernels
    std::int64_t count = 0;
    TimeNs duration = 0;
    double ideal = 0;
  };

  void AddWaste(std::size_t row) {
    const Kernels& kernels = trace_.kernels;
    const auto [found, is_new] = wastes_.try_emplace(
        {kernels.op_type[row], ShapesOf(trace_, mfu_.kernels[row], row), mfu_.kernels[row].type},
        Waste{.row = row});
    Waste& waste = found->second;
    ++waste.count;
    waste.duration += kernels.dur[row];
    waste.ideal += mfu_.kernels[row].use.ratio * static_cast<double>(kernels.dur[row]);
  }

  void RankWastes() {
    const Kernels& kernels = trace_.kernels;
    for (const auto& [key, waste] : wastes_) {
      const auto time = static_cast<double>(waste.duration);
      MfuWaste listed{.op_type = std::string(Type(waste.row)),
                      .kernel = std::string(trace_.strings.View(kernels.name[waste.row])),
                      .input_shapes = std::string(WithoutQuotes(trace_.strings.View(
                          ShapesOf(trace_, mfu_.kernels[waste.row], waste.row)))),
                      .type = mfu_.kernels[waste.row].type,
                      .count = waste.count,
                      .duration = waste.duration,
                      .use = waste.ideal / time,
                      .wasted = std::llround(time - waste.ideal)};
      if (listed.wasted > 0) summary_.wastes.push_back(std::move(listed));
    }
    constexpr std::size_t kMax = 10;
    StableSort(summary_.wastes, [](const MfuWaste& a, const MfuWaste& b) {
      return std::tie(b.wasted, a.op_type, a.input_shapes) <
             std::tie(a.wasted, b.op_type, b.input_shapes);
    });
    if (summary_.wastes.size() > kMax) summary_.wastes.resize(kMax);
  }

  const RankTrace& trace_;
  const RankMfu& mfu_;
  std::map<std::tuple<StringId, StringId, TypeClass>, Waste> wastes_;
  MfuSummary summary_;
};

}  // namespace

std::optional<double> MfuShare::Tflops() const {
  if (flops <= 0 || duration <= 0) return std::nullopt;
  return flops / static_cast<double>(duration) / 1e3;
}

std::optional<double> MfuShare::Use() const {
  return rated > 0 ? std::optional(ideal / static_cast<double>(rated)) : std::nullopt;
}

std::optional<double> MfuShare::UseOfMeasuredClock() const {
  if (rated_at_measured_clock <= 0) return std::nullopt;
  return ideal_at_measured_clock / static_cast<double>(rated_at_measured_clock);
}

std::optional<double> MfuSummary::ShareOfTime(const MfuShare& share) const {
  if (share.is_span) return std::nullopt;
  if (device_time <= 0) return 0;
  return static_cast<double>(share.duration) / static_cast<double>(device_time);
}

MfuSummary SummariseMfu(const RankTrace& trace, const RankMfu& mfu, const ChipPeak& chip) {
  return Summary(trace, mfu, chip).Make();
}

namespace {

// Empty where the capture says that they were not recorded.
std::string_view RecordedShapes(const RankTrace& trace, StringId text) {
  const std::string_view shapes = trace.strings.View(text);
  return shapes == "N/A" ? std::string_view() : WithoutQuotes(shapes);
}

// A kernel of a range is listed if its tensors are known, or its operations are.
bool IsListed(const RankTrace& trace, const KernelMfu& mfu, std::size_t row) {
  if (mfu.flops.Known()) return true;
  if (mfu.range < 0) return mfu.flops.gap != FlopsGap::kUnknownOperator;
  return !RecordedShapes(trace, trace.kernels.shapes[row]).empty();
}

}  // namespace

std::string_view OperatorMfuRow::Reason() const {
  return mfu.flops.Known() ? Text(mfu.use.gap) : Text(mfu.flops.gap);
}

std::vector<OperatorMfuRow> OperatorMfuRows(const RankTrace& trace, const RankMfu& mfu) {
  const Kernels& kernels = trace.kernels;
  std::vector<std::size_t> listed;
  for (std::size_t row = 0; row < kernels.Size(); ++row) {
    if (IsListed(trace, mfu.kernels[row], row)) listed.push_back(row);
  }
  const auto place = [&](std::size_t row) {
    const KernelMfu& kernel = mfu.kernels[row];
    const TimeNs op_start = kernel.op >= 0
                                ? trace.host_ops.start[static_cast<std::size_t>(kernel.op)]
                                : kernels.start[row];
    return std::tuple(kernel.range < 0, op_start, kernels.start[row]);
  };
  StableSort(listed, [&](std::size_t a, std::size_t b) { return place(a) < place(b); });

  std::vector<OperatorMfuRow> rows;
  for (const std::size_t row : listed) {
    const KernelMfu& kernel = mfu.kernels[row];
    OperatorMfuRow& listing = rows.emplace_back();
    if (kernel.op >= 0) {
      listing.op = trace.strings.View(trace.host_ops.name[static_cast<std::size_t>(kernel.op)]);
    }
    listing.kernel = trace.strings.View(kernels.name[row]);
    listing.start = kernels.start[row];
    listing.dur = kernels.dur[row];
    listing.mfu = kernel;
    listing.counted = kernel.range >= 0 ? mfu.ranges[static_cast<std::size_t>(kernel.range)].name
                                        : std::string(TypeOf(trace, kernel, row));
    listing.input_shapes = RecordedShapes(trace, ShapesOf(trace, kernel, row));
    listing.output_shapes = RecordedShapes(trace, kernels.output_shapes[row]);
  }
  return rows;
}

}  // namespace mpa
