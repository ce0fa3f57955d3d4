// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace mpa::readers {

/// True for a collective, or a piece of one, that a capture lists among the kernels; the capture
/// has the complete collectives elsewhere. At Level0 the core is not recorded, but the name is.
inline bool IsCollectiveKernel(std::string_view core, std::string_view name) {
  return core == "HCCL" || core == "COMMUNICATION" || name.starts_with("hcom_");
}

}  // namespace mpa::readers
