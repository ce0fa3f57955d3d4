// SPDX-License-Identifier: Apache-2.0
#include "call_names.h"

#include "mpa/raw/enumerations.h"

namespace mpa::profiler_output {

std::string_view LevelName(raw::Level level) {
  return raw::NameOf(raw::ApiLevels(), static_cast<std::int64_t>(level));
}

std::string_view LevelPrefix(raw::Level level) {
  switch (level) {
    case raw::Level::kAcl:
      return "AscendCL";
    case raw::Level::kModel:
      return "Model";
    case raw::Level::kNode:
      return "Node";
    case raw::Level::kCommunication:
      return "Communication";
    case raw::Level::kRuntime:
      return "Runtime";
    default:
      return "Api";
  }
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

StringId CallName(const raw::HostCalls& calls, std::size_t call) {
  const bool is_piece = calls.level[call] == raw::Level::kCommunication;
  return is_piece && calls.item[call] != StringId::kEmpty ? calls.item[call] : calls.name[call];
}

}  // namespace mpa::profiler_output
