// SPDX-License-Identifier: Apache-2.0
#include "python_tool.h"

namespace mpa {

std::span<const std::string_view> CommandsOfPythonToolOnly() {
  static constexpr std::string_view kCommands[] = {"advisor", "auto-completion"};
  return kCommands;
}

std::span<const std::string_view> ModesOfPythonToolOnly() {
  static constexpr std::string_view kModes[] = {
      "calibrate_npu_gpu", "ep_load_balance", "export_summary", "mstx2commop",
      "mstx_sum",          "p2p_pairing",     "pp_chart"};
  return kModes;
}

}  // namespace mpa
