// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/capture/capture.h"
#include "mpa/capture/record_kinds.h"

/// The contents of captures, determined from names, sizes, metadata documents and small tables. No
/// event is read, so a survey takes milliseconds whatever the size of the captures.
namespace mpa {

/// kUnknown: the answer needs the events.
enum class Recorded { kUnknown, kNo, kYes };

/// What was recorded on a rank.
struct Contents {
  Recorded device_tasks{};         ///< any work of the device
  Recorded kernels{};              ///< compute kernels, each by its name
  Recorded kernel_types{};         ///< operator types: MatMulV2, Add, ...
  Recorded kernel_cores{};         ///< cube or vector core
  Recorded counters{};             ///< hardware counters of kernels
  Recorded l2_cache{};             ///< how kernels used the L2 cache
  Recorded op_attributes{};        ///< attributes of operators
  Recorded communication{};        ///< collectives
  Recorded groups{};               ///< the groups of collectives
  Recorded communication_tasks{};  ///< the transfers and waits inside collectives
  Recorded bandwidths{};           ///< bytes and times per link, as analyzers read them
  Recorded host_ops{};             ///< operators of the framework
  Recorded stacks{};               ///< call stacks of operators
  Recorded memory{};               ///< device memory over time
  Recorded op_memory{};            ///< allocations of operators
  Recorded mstx{};                 ///< ranges and marks set by the user
  Recorded chip{};                 ///< cores and clock of the device
  Recorded hardware{};             ///< counters of memories, links and the host over time
};

/// Something that a capture may hold, as programs and people call it.
struct RecordedContent {
  Recorded Contents::*state;
  const char *key, *words;
  bool of_events = false;  ///< in text captures and traces, only the events may show it
};
inline constexpr RecordedContent kRecordedContents[] = {
    {&Contents::device_tasks, "device_tasks", "device work", true},
    {&Contents::kernels, "kernels", "compute kernels"},
    {&Contents::kernel_types, "kernel_types", "operator types"},
    {&Contents::kernel_cores, "kernel_cores", "core types"},
    {&Contents::counters, "counters", "counters"},
    {&Contents::l2_cache, "l2_cache", "L2 cache"},
    {&Contents::op_attributes, "operator_attributes", "attributes"},
    {&Contents::communication, "communication", "communication", true},
    {&Contents::communication_tasks, "communication_tasks", "communication tasks"},
    {&Contents::bandwidths, "bandwidths", "bandwidths"},
    {&Contents::host_ops, "host_operators", "host operators", true},
    {&Contents::stacks, "stacks", "stacks", true},
    {&Contents::memory, "memory", "memory", true},
    {&Contents::op_memory, "operator_memory", "memory of operators", true},
    {&Contents::mstx, "mstx", "mstx", true},
    {&Contents::chip, "chip", "chip"},
    {&Contents::hardware, "hardware", "counters of the hardware", true}};

/// Something about the collection that makes the capture misleading or incomplete.
struct Warning {
  std::string id;    ///< stable name, "no_warmup"
  std::string text;  ///< a description of the problem
  std::string advice;
  std::vector<std::filesystem::path> paths;  ///< the captures concerned, if they are named
};

/// Everything known about the capture of one rank. Texts are empty where the capture does not say.
struct RankFacts {
  std::filesystem::path path;
  CaptureKind kind{};
  bool single_file = false;                ///< a trace or database was given without its directory
  bool tables_alone = false;               ///< there is neither a trace nor a database
  std::string problem;                     ///< why the events cannot be read; empty when they can
  std::optional<std::int64_t> rank;        ///< its number in the job
  RankId id{};                             ///< for RankName(), also without a number
  std::optional<std::int64_t> world_size;  ///< ranks of the whole job
  std::int64_t bytes = 0;                  ///< size of the files that are read

  std::string framework, torch_npu_version, cann_version;
  std::string host, device_name;
  std::vector<std::int64_t> devices;

  std::optional<ProfilerInfo> settings;
  RecordedSettings all_settings;                   ///< with the environment, versions and metadata
  std::optional<std::vector<std::int64_t>> steps;  ///< empty: unknown
  Recorded complete{};                             ///< kNo: the data is cut off
  Recorded stopped{};                              ///< kNo: the profiler was not stopped properly
  Contents recorded;
  bool kernel_sums = false;                ///< op_statistic.csv is there
  bool snapshots = false;                  ///< memory snapshots are there
  bool scheduler_traces = false;           ///< of the operating system
  RecordInventory records;                 ///< of a raw capture
  std::vector<std::string> unread_tables;  ///< of a database, those with rows; of msprof
  std::vector<std::string> server_tables;  ///< of a server's records: "request", "batch"
  std::vector<Warning> warnings;
};

/// The captures below a path.
struct Survey {
  std::filesystem::path path;
  std::vector<RankFacts> ranks;    ///< by rank, then path; those without a rank come last
  std::vector<RankFacts> servers;  ///< records of servers' requests, which are no ranks
  std::vector<Warning> warnings;   ///< warnings about the captures as a whole
};

/// Surveys one capture that OpenRank() found.
RankFacts SurveyRank(RankInput input);

/// Surveys what Discover() finds. Broken documents and databases become warnings or problems of
/// their rank. Throws Error (kInput) when `path` does not exist.
Survey SurveyCaptures(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace mpa
