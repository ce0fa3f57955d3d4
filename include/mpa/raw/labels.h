// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/raw/session.h"

/// The names that the profiler's timeline and tables use. Tasks, kernels and calls are given by
/// their rows in the tables of the session.
namespace mpa::raw {

/// The name of a task: that of its kernel, otherwise its type.
StringId TaskName(const Session& session, std::size_t task);

/// The type of a task in tables: the core of its kernel if it is recorded, otherwise the type in
/// the host record or, if the host record has none, in the device record.
StringId TaskType(const Session& session, std::size_t task);

/// The same on the timeline, where copies have the type in the device record, except on HWTS chips.
StringId TimelineTaskType(const Session& session, std::size_t task);

/// True for a capture of HWTS chips.
bool IsHwts(const Session& session);

/// True for a copy between memories.
bool IsCopy(const Session& session, std::size_t task);

/// For each collective the task at which the arrow from its operator ends: the first copy that it
/// makes; -1: none, the arrow ends at the collective itself.
std::vector<std::int32_t> FirstCopiesOfCollectives(const Session& session);

/// False for pieces of collectives and of caches that run as kernels; kernel_details.csv leaves
/// them out.
bool IsListedKernel(const Session& session, std::size_t kernel);

/// False for counters that cannot occur on their kind of core ("aiv_mac_ratio"); kernel_details.csv
/// leaves them out.
bool IsListedCounter(std::string_view name);

/// The name of a call: of a piece of a collective its item, else its own.
StringId CallName(const HostCalls& calls, std::size_t call);

/// Lists of the framework are shown one entry a line: ";" becomes ";" CR LF.
std::string ListLines(std::string_view list);

/// "AscendCL", "Node", "Communication": before the "@" of a call on the timeline.
std::string_view LevelPrefix(Level level);

// The names behind the numbers of the records, as the profiler's tables ENUM_* list them.

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
