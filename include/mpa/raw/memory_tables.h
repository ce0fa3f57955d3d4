// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table_base.h"

/// Memory of the devices (PROF_*).
namespace mpa::raw {

/// Memory of the device in use, sampled (npu_mem.data).
struct DeviceMemory : TableBase<DeviceMemory> {
  struct Row {
    TimeNs time = 0;
    bool whole_device = false;      ///< of all processes; else of this one ("APP")
    std::int64_t ddr = 0, hbm = 0;  ///< bytes
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<std::uint8_t> whole_device;
  std::vector<std::int64_t> ddr, hbm, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.whole_device, t.ddr, t.hbm, t.device);
  }
};

/// Memory that the parts of CANN reserved, sampled (npu_module_mem.data).
struct ModuleMemory : TableBase<ModuleMemory> {
  struct Row {
    TimeNs time = 0;
    std::int64_t module = -1;
    std::int64_t reserved = 0;  ///< bytes; -1: beyond what the record holds
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<std::int64_t> module, reserved, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.module, t.reserved, t.device);
  }
};

/// Memory that operators of CANN took and gave back (task_memory_info).
struct OpMemory : TableBase<OpMemory> {
  struct Row {
    TimeNs time = 0;
    StringId name{};
    std::uint64_t address = 0;
    std::int64_t bytes = 0;                    ///< negative: given back
    std::int64_t allocated = 0, reserved = 0;  ///< bytes in all, after it
    std::int64_t thread = -1;
    std::int64_t device = 0;
    std::int64_t device_type = 20;
  };
  std::vector<TimeNs> time;
  std::vector<StringId> name;
  std::vector<std::uint64_t> address;
  std::vector<std::int64_t> bytes, allocated, reserved, thread, device, device_type;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.name, t.address, t.bytes, t.allocated, t.reserved, t.thread, t.device,
                    t.device_type);
  }
};

}  // namespace mpa::raw
