// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/communication_summary.h"

#include "mpa/base/enum_name.h"

namespace mpa {

std::string_view NameOf(LinkKind kind) {
  return EnumName<LinkKind::kSio>(kind, {"RDMA", "HCCS", "PCIE", "SDMA", "SIO"});
}

void CommunicationOp::Add(const CommunicationOp& other) {
  time.elapse += other.time.elapse;
  time.transit += other.time.transit;
  time.wait += other.time.wait;
  time.synchronization += other.time.synchronization;
  time.idle += other.time.idle;
  for (const auto& [kind, use] : other.links) {
    LinkUse& sum = links[kind];
    sum.megabytes += use.megabytes;
    sum.milliseconds += use.milliseconds;
    for (const auto& [size, packets] : use.sizes) {
      auto& [count, duration] = sum.sizes[size];
      count += packets.first;
      duration += packets.second;
    }
  }
}

}  // namespace mpa
