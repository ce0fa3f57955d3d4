// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "mpa/raw/enumerations.h"

/// The names behind the numbers in the description of operators, in order of the numbers.
namespace mpa::raw {

std::span<const NamedNumber> TensorTypes();
std::span<const NamedNumber> TensorFormats();
/// What an operator runs on: "AI_CORE", "MIX_AIC".
std::span<const NamedNumber> CoreTypes();

}  // namespace mpa::raw
