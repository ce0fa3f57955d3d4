// SPDX-License-Identifier: Apache-2.0
#include "python_tool.h"

namespace mpa {

std::span<const std::string_view> CommandsOfPythonToolOnly() {
  static constexpr std::string_view kCommands[] = {"auto-completion"};
  return kCommands;
}

}  // namespace mpa
