// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "database_strings.h"
#include "database_writer.h"
#include "mpa/raw/session.h"

/// ascend_pytorch_profiler_<rank>.db, by groups of tables. A table without rows is left out.
namespace mpa::profiler_output {

void WriteProfilerDatabase(const raw::Session& session, const std::filesystem::path& path);

/// META_DATA, SESSION_TIME_INFO, HOST_INFO, NPU_INFO, RANK_DEVICE_MAP, ENUM_*.
void WriteEnvironment(const raw::Session& session, DatabaseWriter& database);

/// CANN_API, TASK, COMPUTE_TASK_INFO, TASK_PMU_INFO, MEMCPY_INFO, MSTX_EVENTS, AICORE_FREQ,
/// OVERLAP_ANALYSIS.
void WriteCann(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database);

/// COMMUNICATION_OP, COMMUNICATION_TASK_INFO.
void WriteCollectives(const raw::Session& session, DatabaseStrings& strings,
                      DatabaseWriter& database);

/// PYTORCH_API, CONNECTION_IDS, PYTORCH_CALLCHAINS, GC_RECORD, STEP_TIME.
void WriteFramework(const raw::Session& session, DatabaseStrings& strings,
                    DatabaseWriter& database);

/// NPU_MEM, NPU_MODULE_MEM, NPU_OP_MEM, MEMORY_RECORD, OP_MEMORY.
void WriteMemory(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database);

/// HCCS, PCIE, NIC, ROCE, HBM, DDR, LLC.
void WriteTraffic(const raw::Traffic& traffic, DatabaseStrings& strings, DatabaseWriter& database);

/// Process and thread in one number, as the columns globalTid have them.
inline std::int64_t GlobalThread(std::int64_t process, std::int64_t thread) {
  constexpr std::uint64_t kLow = 0xFFFFFFFF;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(process) << 32 |
                                   (static_cast<std::uint64_t>(thread) & kLow));
}

}  // namespace mpa::profiler_output
