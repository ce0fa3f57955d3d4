// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// Memory of the devices (PROF_*).
namespace mpa::raw {

/// Memory of the device in use, sampled (npu_mem.data).
template <template <typename> class Of>
struct DeviceMemoryFields {
  Of<TimeNs> time{};
  Of<bool> whole_device{};        ///< of all processes; else of this one ("APP")
  Of<std::int64_t> ddr{}, hbm{};  ///< bytes
  Of<std::int64_t> device{};
};
struct DeviceMemory : Table<DeviceMemoryFields> {};

/// Memory that the parts of CANN reserved, sampled (npu_module_mem.data).
template <template <typename> class Of>
struct ModuleMemoryFields {
  Of<TimeNs> time{};
  Of<std::int64_t> module = Initially{-1};
  Of<std::int64_t> reserved{};  ///< bytes; -1: beyond what the record holds
  Of<std::int64_t> device{};
};
struct ModuleMemory : Table<ModuleMemoryFields> {};

/// Memory that operators of CANN took and gave back (task_memory_info).
template <template <typename> class Of>
struct OpMemoryFields {
  Of<TimeNs> time{};
  Of<StringId> name{};
  Of<std::uint64_t> address{};
  Of<std::int64_t> bytes{};                  ///< negative: given back
  Of<std::int64_t> allocated{}, reserved{};  ///< bytes in all, after it
  Of<std::int64_t> thread = Initially{-1};
  Of<std::int64_t> device{};
  Of<std::int64_t> device_type = Initially{20};
};
struct OpMemory : Table<OpMemoryFields> {};

}  // namespace mpa::raw
