// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "mpa/measure/kernel_class.h"
#include "mpa/mfu/flops.h"
#include "operator_inputs.h"

namespace mpa {

/// The matrix work that an operator of PyTorch asks for.
struct OperatorProduct {
  Flops flops;
  TypeClass type = TypeClass::kUnknown;  ///< see OperatorInputs::TypeOf()
  KernelClass work = KernelClass::kMatmul;
};

/// By the inputs of the operator: products of matrices, convolutions, attention and their
/// gradients, of PyTorch and of the libraries that servers use. Empty for all others.
std::optional<OperatorProduct> ProductOf(std::string_view op, const OperatorTexts& texts);

/// The parts of ProductOf(), by kind; empty for operators of other kinds.
std::optional<OperatorProduct> ConvolutionOf(std::string_view op, const OperatorInputs& inputs);
std::optional<OperatorProduct> AttentionOf(std::string_view op, const OperatorInputs& inputs);

}  // namespace mpa
