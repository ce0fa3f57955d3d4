// SPDX-License-Identifier: Apache-2.0
#include "call_names.h"

#include "mpa/raw/enumerations.h"

namespace mpa::profiler_output {

std::string_view LevelName(raw::Level level) {
  return raw::NameOf(raw::ApiLevels(), static_cast<std::int64_t>(level));
}

std::string_view AclMode(std::uint32_t type) {
  switch (type >> 16) {
    case 1:
      return "ACL_OP";
    case 2:
      return "ACL_MODEL";
    case 3:
      return "ACL_RTS";
    case 4:
      return "ACL_OTHERS";
    case 5:
      return "ACL_NN";
    case 6:
      return "ASCENDC";
    case 7:
      return "HOST_HCCL";
    case 9:
      return "ACL_DVPP";
    case 10:
      return "ACL_GRAPH";
    case 11:
      return "ACL_ATB";
    case 12:
      return "HIXL";
    default:
      return "";
  }
}

}  // namespace mpa::profiler_output
