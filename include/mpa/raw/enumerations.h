// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// The names behind the numbers of the records, as the profiler's tables ENUM_* list them.
namespace mpa::raw {

struct NamedNumber {
  std::int64_t number;
  std::string_view name;
};

std::span<const NamedNumber> CommunicationDataTypes();  ///< ENUM_HCCL_DATA_TYPE
std::span<const NamedNumber> LinkTypes();               ///< ENUM_HCCL_LINK_TYPE
std::span<const NamedNumber> TransportTypes();          ///< ENUM_HCCL_TRANSPORT_TYPE
std::span<const NamedNumber> RdmaTypes();               ///< ENUM_HCCL_RDMA_TYPE
std::span<const NamedNumber> CopyDirections();          ///< ENUM_MEMCPY_OPERATION
std::span<const NamedNumber> Modules();                 ///< ENUM_MODULE
std::span<const NamedNumber> ApiLevels();               ///< ENUM_API_TYPE
std::span<const NamedNumber> MarkTypes();               ///< ENUM_MSTX_EVENT_TYPE
std::span<const NamedNumber> ActivityTypes();           ///< ENUM_OVERLAP_ANALYSIS_TYPE

/// The name of a number; empty when the table lacks it.
std::string_view NameOf(std::span<const NamedNumber> table, std::int64_t number);

}  // namespace mpa::raw
