// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "mpa/mfu/chip_peak.h"
#include "mpa/mfu/shapes.h"

namespace mpa {

/// The texts in which traces of GPUs have the inputs of an operator of PyTorch.
struct OperatorTexts {
  std::string_view shapes;       ///< "[[32, 64], [64, 8], []]"
  std::string_view types = {};   ///< "['c10::BFloat16', 'c10::BFloat16', 'Scalar']"
  std::string_view values = {};  ///< of scalars and lists of them: "['', '', '1']"
};

/// The same, read. Refers to the texts.
class OperatorInputs {
 public:
  explicit OperatorInputs(const OperatorTexts& texts);

  /// Null unless the input is a tensor whose shape was recorded.
  const Shape* Tensor(std::size_t input) const;
  /// The type in which a tensor is multiplied. FP16, FP8 and INT8 alone, whose rates to each other
  /// are those of GPUs, too.
  TypeClass TypeOf(std::size_t input) const;
  bool IsScalar(std::size_t input) const { return At(types_, input) == "Scalar"; }
  /// Empty where the value was not recorded, or is of another kind.
  std::optional<bool> Flag(std::size_t input) const;
  std::optional<std::int64_t> Number(std::size_t input) const;
  std::optional<std::vector<std::int64_t>> Numbers(std::size_t input) const;
  std::optional<std::vector<bool>> Flags(std::size_t input) const;

 private:
  using Texts = std::vector<std::string_view>;

  static std::string_view At(const Texts& texts, std::size_t i) {
    return i < texts.size() ? texts[i] : std::string_view();
  }

  Shapes shapes_;
  Texts types_, values_;
};

}  // namespace mpa
