// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace mpa {

/// Bytes of one element of a data type as HCCL ("BFP16") or the operators ("DT_BF16" without DT_)
/// call it; 0 for one that is not known.
std::int64_t BytesOfElement(std::string_view data_type);

}  // namespace mpa
