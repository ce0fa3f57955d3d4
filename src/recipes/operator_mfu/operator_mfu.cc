// SPDX-License-Identifier: Apache-2.0
#include "operator_mfu.h"

#include <algorithm>
#include <tuple>

namespace mpa {
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
  std::stable_sort(listed.begin(), listed.end(),
                   [&](std::size_t a, std::size_t b) { return place(a) < place(b); });

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
                                        : std::string(trace.strings.View(kernels.op_type[row]));
    listing.input_shapes = RecordedShapes(trace, kernels.shapes[row]);
    listing.output_shapes = RecordedShapes(trace, kernels.output_shapes[row]);
  }
  return rows;
}

}  // namespace mpa
