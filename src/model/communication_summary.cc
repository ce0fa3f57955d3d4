// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/communication_summary.h"

namespace mpa {

std::string_view NameOf(LinkKind kind) {
  constexpr std::string_view kNames[] = {"RDMA", "HCCS", "PCIE", "SDMA", "SIO"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace mpa
