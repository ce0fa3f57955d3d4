// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

/// The names behind the numbers of the records, as the profiler's tables ENUM_* list them.
namespace mpa::raw {

struct NamedNumber {
  std::int64_t number;
  std::string_view name;
};

/// The text of a list of names, for kNumbered.
template <std::size_t kSize>
struct NameList {
  constexpr NameList(const char (&list)[kSize]) { std::copy_n(list, kSize, text); }
  char text[kSize]{};
};

template <NameList kList>
consteval auto NumberNames() {
  std::string_view rest(kList.text);
  std::array<NamedNumber, std::count(kList.text, std::end(kList.text), ',') + 1> names{};
  std::int64_t number = 0;
  for (NamedNumber& entry : names) {
    std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(name.size() + 2, rest.size()));  // the blank behind the comma, too
    if (const std::size_t colon = name.find(": "); colon != std::string_view::npos) {
      number = 0;
      for (const char digit : name.substr(0, colon)) number = 10 * number + (digit - '0');
      name.remove_prefix(colon + 2);
    }
    entry = {number++, name};
  }
  return names;
}

/// Names in order of their numbers, written as "0: FLOAT, FLOAT16, 6: INT16": a name without a
/// number has the next one.
template <NameList kList>
inline constexpr auto kNumbered = NumberNames<kList>();

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
