// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mpa::recipes::commop {

/// A communication operator, as a mark of the communication library describes it.
struct MarkedOperator {
  std::string type;       ///< "hcom_allReduce_"
  std::string group;      ///< "host%eth_0"
  std::string data_type;  ///< in capitals, "FP16"
  std::string count;      ///< of elements
  std::int64_t stream = -1;
};

/// Reads {"streamId": ..., "count": ..., "dataType": ..., "groupName": ..., "opName": ...}, also
/// with its quotes escaped, and the older comm:HcclAllReduce,<group>,<type>,<count>. Empty for
/// other messages; `broken` is set for a message that begins like one of them but is malformed.
std::optional<MarkedOperator> ParseMarkedOperator(std::string_view message, bool& broken);

}  // namespace mpa::recipes::commop
