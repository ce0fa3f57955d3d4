// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/io/database_writer.h"
#include "mpa/model/string_pool.h"
#include "mpa/raw/session.h"

namespace mpa::profiler_output {

using io::DatabaseWriter;
using io::TableWriter;

/// The table STRING_IDS in the making: texts of the session keep their numbers there, texts made
/// for the database get numbers after those. Only texts that were asked for are written.
class DatabaseStrings {
 public:
  explicit DatabaseStrings(const StringPool& session) : session_(session), used_(session.Size()) {}

  std::int64_t Id(StringId text) {
    used_[Index(text)] = 1;
    return static_cast<std::int64_t>(Index(text));
  }
  std::int64_t Id(std::string_view made) {
    if (made.empty()) return Id(StringId::kEmpty);
    return static_cast<std::int64_t>(session_.Size() + Index(made_.Intern(made)));
  }
  std::string_view View(StringId text) const { return session_.View(text); }
  const StringPool& session() const { return session_; }

  void Write(DatabaseWriter& database) const;

 private:
  const StringPool& session_;
  std::vector<std::uint8_t> used_;  ///< by number of the session's text
  StringPool made_;
};

/// Texts that are made of texts of the session, each made once.
class DerivedTexts {
 public:
  using Make = std::string (*)(std::string_view);

  DerivedTexts(DatabaseStrings& strings, Make make)
      : strings_(strings), make_(make), ids_(strings.session().Size(), kNotMade) {}

  std::int64_t Id(StringId source) {
    std::int64_t& id = ids_[Index(source)];
    if (id == kNotMade) id = strings_.Id(make_(strings_.View(source)));
    return id;
  }

 private:
  static constexpr std::int64_t kNotMade = -1;

  DatabaseStrings& strings_;
  Make make_;
  std::vector<std::int64_t> ids_;
};

// ascend_pytorch_profiler_<rank>.db, by groups of tables. A table without rows is left out.

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
void WriteTraffic(const raw::TrafficTables& traffic, DatabaseStrings& strings,
                  DatabaseWriter& database);

/// QOS, SIO, ACC_PMU, SOC_BANDWIDTH_LEVEL, CPU_USAGE, HOST_*_USAGE.
void WriteChipAndHost(const raw::TrafficTables& traffic, DatabaseStrings& strings,
                      DatabaseWriter& database);

// The numbers by which the tables of a profiler database find each other: connectionId. Host calls
// have the lowest numbers; framework and marks have ranges of their own.

/// That of a host call: the number of its row in Session.calls and one, because readers take 0 for
/// no connection.
std::int64_t CallConnection(std::size_t call);

/// That of a device task: of the call that launched it. All tasks handed over outside of any call
/// share one number; -1: no host record.
std::int64_t TaskConnection(const raw::Session& session, std::size_t task);

/// That of a mark, on both sides.
std::int64_t MarkConnection(std::int64_t mark_id);

/// That of the two sides of an entry of the task queue.
std::int64_t QueueConnection(std::int64_t correlation);

struct OpConnection {
  std::int32_t op = -1;  ///< row in TorchOps
  std::int64_t connection = 0;
};

/// What operators are connected with: the launches in their queue entries, marks that they set, and
/// their counterparts of the other pass. By operator, without duplicates.
std::vector<OpConnection> ConnectOps(const raw::Session& session);

/// Process and thread in one number, as the columns globalTid have them.
inline std::int64_t GlobalThread(std::int64_t process, std::int64_t thread) {
  constexpr std::uint64_t kLow = 0xFFFFFFFF;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(process) << 32 |
                                   (static_cast<std::uint64_t>(thread) & kLow));
}

/// analysis.db: how the steps went, and what the collectives moved.
void WriteAnalysisDatabase(const raw::Session& session, const std::filesystem::path& path);

}  // namespace mpa::profiler_output
