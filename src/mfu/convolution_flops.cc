// SPDX-License-Identifier: Apache-2.0
// Operations of convolutions and their gradients.
#include <algorithm>
#include <optional>

#include "flops_families.h"
#include "mpa/base/text.h"

namespace mpa::flops {
namespace {

struct Operand {
  const Shape* shape = nullptr;
  std::string_view format;
};

// What the formula needs: the input (or its gradient), the filter and the output of the forward
// pass, whichever of them the kernel reads or writes.
struct Operands {
  Operand image, filter, result;
  std::int64_t channels = 0;  // of the result, told by the bias; 0 when it is not
};

std::optional<Operands> FindOperands(const KernelTensors& tensors, FlopsFamily family) {
  const auto input = [&](std::size_t i) -> Operand {
    return {tensors.HasInput(i) ? &tensors.inputs[i] : nullptr, tensors.InputFormat(i)};
  };
  const Operand output{tensors.HasOutput(0) ? &tensors.outputs[0] : nullptr,
                       tensors.OutputFormat(0)};
  // Gradients are told the size of what they compute by a tensor, but for the types with a D.
  const auto is_size = [&](std::size_t i) {
    return tensors.HasInput(i) && tensors.inputs[i].size() == 1;
  };
  Operands found;
  if (family == FlopsFamily::kConvolution) {
    found = {.image = input(0), .filter = input(1), .result = output};
    if (is_size(2)) found.channels = tensors.inputs[2][0];
  } else if (family == FlopsFamily::kConvolutionInput) {
    const std::size_t first = is_size(0) ? 1 : 0;
    found = {.image = output, .filter = input(first), .result = input(first + 1)};
  } else {
    found = {.image = input(0), .filter = output, .result = input(is_size(1) ? 2 : 1)};
  }
  for (const Operand* operand : {&found.image, &found.filter, &found.result}) {
    if (operand->shape == nullptr) return std::nullopt;
  }
  return found;
}

// The channels of NC1HWC0 (n, c1, h, w, c0) and NDC1HWC0 (n, d, c1, h, w, c0), rounded up to c0.
std::int64_t TiledChannels(const Shape& shape) {
  return shape[shape.size() == 6 ? 2 : 1] * shape.back();
}

bool IsTiledImage(const Operand& operand, std::size_t filter_rank) {
  const std::size_t rank = operand.shape->size();
  if (operand.format.empty()) return rank == 6 || (rank == 5 && filter_rank == 4);
  return (operand.format == "NC1HWC0" && rank == 5) || (operand.format == "NDC1HWC0" && rank == 6);
}

bool IsTiledFilter(const Operand& operand) {
  return operand.shape->size() == 4 && (operand.format.empty() || operand.format == "FRACTAL_Z" ||
                                        operand.format == "FRACTAL_Z_3D");
}

// Filter in FRACTAL_Z: (c1 h w, n1, n0, c0), channels of both sides rounded up to whole tiles. CANN
// development guide for Ascend C operators, "data layout formats".
Flops Tiled(const Operands& operands) {
  const Shape& filter = *operands.filter.shape;
  const Shape& result = *operands.result.shape;
  const std::int64_t image_channels = TiledChannels(*operands.image.shape);
  const std::int64_t inner = filter[0] * filter[3];
  std::int64_t channels = std::min(filter[1] * filter[2], TiledChannels(result));
  if (image_channels == 0 || inner % image_channels != 0) return Unknown(FlopsGap::kMismatch);
  if (operands.channels > 0) channels = std::min(channels, operands.channels);
  if (TiledChannels(result) == 0) return Counted(0, true);
  return Counted(Checked(2) * (Elements(result) / TiledChannels(result)) * channels * inner, true);
}

// Where the output channels stand in a filter; empty for other formats.
std::optional<std::size_t> FilterOutputs(const Operand& filter) {
  if (IsOneOf(filter.format, {"", "ND", "NCHW", "NHWC", "NCDHW", "NDHWC"})) return 0;
  if (IsOneOf(filter.format, {"HWCN", "DHWCN"})) return filter.shape->size() - 1;
  return std::nullopt;
}

// Where the channels stand in an image; empty for other formats.
std::optional<std::size_t> Channels(const Operand& image) {
  if (IsOneOf(image.format, {"", "ND", "NCHW", "NCDHW"})) return 1;
  if (IsOneOf(image.format, {"NHWC", "NDHWC"})) return image.shape->size() - 1;
  return std::nullopt;
}

Flops Plain(const Operands& operands) {
  const Shape& filter = *operands.filter.shape;
  const Shape& result = *operands.result.shape;
  const std::size_t rank = filter.size();
  const auto outputs = FilterOutputs(operands.filter);
  const auto channels = Channels(operands.result);
  if (rank < 3 || rank > 5 || result.size() != rank || operands.image.shape->size() != rank ||
      !outputs || !channels || !Channels(operands.image)) {
    return Unknown(FlopsGap::kUnsupportedLayout);
  }
  if (filter[*outputs] != result[*channels]) return Unknown(FlopsGap::kMismatch);
  if (filter[*outputs] == 0) return Counted(0);
  // The filter has the input channels of one group, so that groups are counted as they should.
  return Counted(Checked(2) * Elements(result) * (Elements(filter) / filter[*outputs]));
}

}  // namespace

Flops Convolution(const KernelTensors& tensors, FlopsFamily family) {
  const std::optional<Operands> operands = FindOperands(tensors, family);
  if (!operands) return Unknown(FlopsGap::kNoShapes);
  const std::size_t filter_rank = operands->filter.shape->size();
  const bool tiled_image = IsTiledImage(operands->image, filter_rank);
  if (tiled_image != IsTiledImage(operands->result, filter_rank)) {
    return Unknown(FlopsGap::kUnsupportedLayout);
  }
  if (!tiled_image) return Plain(*operands);
  return IsTiledFilter(operands->filter) ? Tiled(*operands) : Unknown(FlopsGap::kUnsupportedLayout);
}

}  // namespace mpa::flops
