// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "mpa/mfu/chip_peak.h"
#include "mpa/mfu/flops.h"

namespace mpa {

/// A product of matrices that an operator of PyTorch asks for.
struct OperatorProduct {
  Flops flops;
  /// FP16 or INT8, whose rates to each other are those of GPUs, too; unknown for other types.
  TypeClass type = TypeClass::kUnknown;
};

/// By the shapes and types of the operator's inputs as traces of GPUs have them: "[[32, 64], [64,
/// 8], []]", "['c10::BFloat16', 'c10::BFloat16', '']". Empty for operators that are no product of
/// two matrices or batches of such.
std::optional<OperatorProduct> ProductOf(std::string_view op, std::string_view shapes,
                                         std::string_view types);

}  // namespace mpa
