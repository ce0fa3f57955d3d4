// SPDX-License-Identifier: Apache-2.0
// Convolutions of PyTorch by the inputs of their operators.
#include <algorithm>

#include "flops_families.h"
#include "operator_products.h"

namespace mpa {
namespace {

using Numbers = std::vector<std::int64_t>;

// One of the three products of a convolution: it, and the gradients of its input and filter, have
// the same number of operations. `result` are the positions that multiply with the whole filter:
// the output, of a transposed convolution the input.
Flops OneProduct(const Shape* filter, const Shape* result) {
  if (filter == nullptr || result == nullptr) return flops::Unknown(FlopsGap::kNoShapes);
  if (filter->size() != result->size()) return flops::Unknown(FlopsGap::kMismatch);
  // How large the image is does not matter.
  KernelTensors tensors;
  tensors.inputs = {*result, *filter};
  tensors.outputs = {*result};
  return FlopsOf("Conv2D", tensors);
}

// One number for each dimension, or one for all.
std::int64_t NumberOf(const Numbers& numbers, std::size_t dimension) {
  return numbers.size() == 1 ? numbers[0] : numbers[dimension];
}

// The output by the rule of PyTorch's Conv2d:
// (image + 2 padding - dilation (filter - 1) - 1) / stride + 1 along each dimension.
std::optional<Shape> OutputOf(const Shape& image, const Shape& filter, const Numbers& stride,
                              const Numbers& padding, const Numbers& dilation) {
  const std::size_t rank = image.size();
  if (rank < 3 || filter.size() != rank) return std::nullopt;
  const bool fits = std::ranges::all_of(
      std::vector{&stride, &padding, &dilation},
      [&](const Numbers* list) { return list->size() == 1 || list->size() == rank - 2; });
  if (!fits) return std::nullopt;
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  Shape output = {image[0], filter[0]};
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const std::int64_t step = NumberOf(stride, i), gap = NumberOf(dilation, i),
                       border = NumberOf(padding, i), size = image[i + 2], window = filter[i + 2];
    for (const std::int64_t number : {step, gap, border, size, window}) {
      if (number < 0 || number > kMost) return std::nullopt;
    }
    if (step == 0 || window == 0) return std::nullopt;
    Checked room = Checked(size) + Checked(2) * border - Checked(gap) * (window - 1) - 1;
    if (!room.Fits() || room.Value() < 0) return std::nullopt;
    output.push_back(room.Value() / step + 1);
  }
  return output;
}

// aten::convolution(input, weight, bias, stride, padding, dilation, transposed, ...)
Flops Forward(const OperatorInputs& inputs) {
  const Shape* const image = inputs.Tensor(0);
  const Shape* const filter = inputs.Tensor(1);
  if (image == nullptr || filter == nullptr) return flops::Unknown(FlopsGap::kNoShapes);
  const auto stride = inputs.Numbers(3), padding = inputs.Numbers(4), dilation = inputs.Numbers(5);
  const auto transposed = inputs.Flag(6);
  if (!stride || !padding || !dilation || !transposed) return flops::Unknown(FlopsGap::kNoValues);
  if (*transposed) return OneProduct(filter, image);
  const auto output = OutputOf(*image, *filter, *stride, *padding, *dilation);
  return output ? OneProduct(filter, &*output) : flops::Unknown(FlopsGap::kMismatch);
}

// aten::convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation,
// transposed, output_padding, groups, output_mask): the mask says which of the gradients of input,
// weight and bias are asked for; that of the bias is a sum.
Flops Backward(const OperatorInputs& inputs) {
  const auto transposed = inputs.Flag(7);
  const auto mask = inputs.Flags(10);
  if (inputs.Tensor(2) == nullptr) return flops::Unknown(FlopsGap::kNoShapes);
  if (!transposed || !mask || mask->size() < 2) return flops::Unknown(FlopsGap::kNoValues);
  const Flops one = OneProduct(inputs.Tensor(2), inputs.Tensor(*transposed ? 1 : 0));
  const int gradients = ((*mask)[0] ? 1 : 0) + ((*mask)[1] ? 1 : 0);
  return one.Known() ? flops::Counted(Checked(gradients) * one.count) : one;
}

}  // namespace

std::optional<OperatorProduct> ConvolutionOf(std::string_view op, const OperatorInputs& inputs) {
  OperatorProduct product;
  product.work = KernelClass::kConvolution;
  if (op == "aten::convolution") {
    product.flops = Forward(inputs);
    product.type = inputs.TypeOf(0);
  } else if (op == "aten::convolution_backward") {
    product.flops = Backward(inputs);
    product.type = inputs.TypeOf(2);
  } else if (op == "aten::cudnn_convolution_backward_input" ||
             op == "aten::cudnn_convolution_backward") {
    // Of PyTorch before 1.11: (size, grad_output, weight, ...) within (input, grad_output, weight,
    // ...). What the outer one launches beside the inner one is the gradient of the weight, whose
    // own operator has not the weight's shape.
    product.flops = OneProduct(inputs.Tensor(2), inputs.Tensor(1));
    product.type = inputs.TypeOf(2);
  } else {
    return std::nullopt;
  }
  return product;
}

}  // namespace mpa
