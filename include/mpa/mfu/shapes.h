// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mpa {

/// The dimensions of a tensor; none for an optional tensor that the operator was not given.
using Shape = std::vector<std::int64_t>;
using Shapes = std::vector<Shape>;

/// `shapes` without the quotes that captures keep around them.
std::string_view WithoutQuotes(std::string_view shapes);

/// Shapes as captures write them: "32,4096;4096,4096;;4096", in quotes or not. An absent tensor
/// keeps its position. Empty for `N/A`, an empty text, and text that is not a list of shapes (a
/// negative dimension, a number beyond 64 bits, a letter).
Shapes ParseShapes(std::string_view text);

/// Data types or formats as captures write them: "FLOAT16;DT_BF16;" or "FORMAT_ND;NCHW", in capital
/// letters without DT_ and FORMAT_; an absent tensor keeps its position. Empty for `N/A` and an
/// empty text.
std::vector<std::string> ParseTensorNames(std::string_view text);

/// What a capture says about the tensors of a kernel.
struct KernelTensors {
  Shapes inputs, outputs;
  std::vector<std::string> input_formats, output_formats;  // may be shorter than the shapes

  static KernelTensors Parse(std::string_view input_shapes, std::string_view input_formats,
                             std::string_view output_shapes, std::string_view output_formats);

  /// False for a position behind the end, too.
  bool HasInput(std::size_t i) const { return i < inputs.size() && !inputs[i].empty(); }
  bool HasOutput(std::size_t i) const { return i < outputs.size() && !outputs[i].empty(); }
  /// Empty when unknown.
  std::string_view InputFormat(std::size_t i) const {
    return i < input_formats.size() ? std::string_view(input_formats[i]) : std::string_view();
  }
  std::string_view OutputFormat(std::size_t i) const {
    return i < output_formats.size() ? std::string_view(output_formats[i]) : std::string_view();
  }
};

}  // namespace mpa
