// SPDX-License-Identifier: Apache-2.0
// Host calls, device tasks and what they are, in a profiler database.
#include <algorithm>
#include <cmath>
#include <span>

#include "mpa/raw/labels.h"
#include "profiler_database.h"

namespace mpa::profiler_output {
namespace {

constexpr char kNotApplicable[] = "N/A";
// In columns of 32 bits: does not apply.
constexpr std::int64_t kNotConnected = 0xFFFFFFFF;

void WriteCalls(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database) {
  const raw::HostCalls& calls = session.calls;
  database.WriteRows("CANN_API",
                     "startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,"
                     " connectionId INTEGER PRIMARY KEY, name INTEGER",
                     calls, [&](std::size_t i, TableWriter& table) {
                       // Pieces of a collective are distinguished by their item; all are named
                       // "master" or "slave".
                       const bool is_piece = calls.level[i] == raw::Level::kCommunication;
                       table.Add(
                           calls.start[i], calls.End(i), static_cast<std::int64_t>(calls.level[i]),
                           GlobalThread(session.info.process, calls.thread[i]), CallConnection(i),
                           strings.Id(is_piece ? calls.item[i] : calls.name[i]));
                     });
}

// What the host calls a task, unless it is a group whose device part says more.
StringId ShownType(const raw::Session& session, std::size_t task) {
  const StringId host = session.tasks.host_type[task];
  const bool says_little = host == StringId::kEmpty || session.strings.View(host) == "FFTS_PLUS";
  return says_little ? session.tasks.device_type[task] : host;
}

void WriteTasks(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database) {
  const raw::Tasks& tasks = session.tasks;
  const raw::Marks& marks = session.marks;
  const bool has_marks =
      std::ranges::any_of(marks.device_start, [](TimeNs start) { return start >= 0; });
  if (tasks.Empty() && !has_marks) return;
  database.WriteTable(
      "TASK",
      "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER,"
      " globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER,"
      " streamId INTEGER, taskId INTEGER, modelId INTEGER",
      [&](TableWriter& table) {
        for (std::size_t i = 0; i < tasks.Size(); ++i) {
          table.Add(tasks.start[i], tasks.end[i], tasks.device[i], TaskConnection(session, i), i,
                    session.info.process, strings.Id(ShownType(session, i)), tasks.context[i],
                    tasks.stream[i], tasks.task_id[i], tasks.model[i]);
        }
        for (std::size_t i = 0; i < marks.Size(); ++i) {
          if (marks.device_start[i] < 0) continue;
          table.Add(marks.device_start[i], marks.device_start[i] + marks.device_dur[i],
                    marks.device[i], MarkConnection(marks.mark_id[i]), tasks.Size() + i,
                    session.info.process, strings.Id("MsTx"), kNotConnected, marks.device_stream[i],
                    marks.device_task[i], kNotConnected);
        }
      });
  database.CreateIndex("TaskIndex", "TASK", "startNs,globalTaskId");
}

// Kernels that only schedule collectives have a table of their own. Not seen in real data.
bool IsScheduler(const raw::Session& session, std::size_t kernel) {
  return session.strings.View(session.kernels.name[kernel]).ends_with("AicpuKernel") ||
         raw::SchedulesCollectives(session, kernel);
}

void WriteKernel(const raw::Kernels& kernels, std::size_t row, DatabaseStrings& strings,
                 TableWriter& table) {
  const auto text = [&](const std::vector<StringId>& column) { return strings.Id(column[row]); };
  const std::int64_t not_recorded = strings.Id(kNotApplicable);
  // Without attributes the column is empty, whatever the kernel's other texts say then.
  const bool has_attributes = strings.View(kernels.attributes[row]) != kNotApplicable;
  table.Add(text(kernels.name), kernels.task[row], kernels.blocks[row], kernels.mix_blocks[row],
            text(kernels.core), text(kernels.op_type), text(kernels.input_formats),
            text(kernels.input_types), text(kernels.input_shapes), text(kernels.output_formats),
            text(kernels.output_types), text(kernels.output_shapes),
            has_attributes ? text(kernels.attributes) : strings.Id(StringId::kEmpty),
            text(kernels.state), text(kernels.hf32), not_recorded, not_recorded);
}

void WriteKernels(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database) {
  const raw::Kernels& kernels = session.kernels;
  std::vector<std::size_t> computing, scheduling;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    if (kernels.task[i] < 0) continue;
    (IsScheduler(session, i) ? scheduling : computing).push_back(i);
  }
  if (!computing.empty()) {
    database.WriteTable(
        "COMPUTE_TASK_INFO",
        "name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum INTEGER,"
        " taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER,"
        " inputShapes INTEGER, outputFormats INTEGER, outputDataTypes INTEGER,"
        " outputShapes INTEGER, attrInfo INTEGER, opState INTEGER, hf32Eligible INTEGER,"
        " gridDim INTEGER, blockDim INTEGER",
        [&](TableWriter& table) {
          for (const std::size_t row : computing) WriteKernel(kernels, row, strings, table);
        });
  }
  if (!scheduling.empty()) {
    database.WriteTable(
        "COMMUNICATION_SCHEDULE_TASK_INFO",
        "name INTEGER, globalTaskId INTEGER PRIMARY KEY, taskType INTEGER, opType INTEGER",
        [&](TableWriter& table) {
          for (const std::size_t row : scheduling) {
            table.Add(strings.Id(kernels.name[row]), kernels.task[row],
                      strings.Id(kernels.core[row]), strings.Id(kernels.op_type[row]));
          }
        });
  }
}

// The database names the total times of the two kinds of cores alike, the other tables do not.
std::string_view CounterName(std::string_view name, bool by_core) {
  if (by_core && name == "aicore_time") return "aic_total_time";
  if (by_core && name == "aiv_time") return "aiv_total_time";
  return name;
}

struct Metric {
  std::size_t column;
  std::int64_t name;
};

std::vector<Metric> Metrics(const raw::Counters& counters, DatabaseStrings& strings) {
  const bool by_core = std::ranges::any_of(
      counters.names, [](const auto& name) { return name.starts_with("aiv_"); });
  std::vector<Metric> metrics;
  for (std::size_t i = 0; i < counters.names.size(); ++i) {
    // It is derived from the others and only in the table of kernels.
    if (counters.names[i] == "cube_utilization") continue;
    metrics.push_back({i, strings.Id(CounterName(counters.names[i], by_core))});
  }
  return metrics;
}

void WriteCounters(const raw::Session& session, DatabaseStrings& strings,
                   DatabaseWriter& database) {
  const raw::Counters& counters = session.counters;
  const raw::Kernels& kernels = session.kernels;
  if (counters.Size() == 0) return;
  const std::size_t width = counters.names.size();
  const std::vector<Metric> metrics = Metrics(counters, strings);
  database.WriteTable(
      "TASK_PMU_INFO", "globalTaskId INTEGER, name INTEGER, value NUMERIC",
      [&](TableWriter& table) {
        for (std::size_t i = 0; i < kernels.Size(); ++i) {
          if (kernels.counters[i] < 0 || kernels.task[i] < 0) continue;
          const double* values =
              &counters.values[static_cast<std::size_t>(kernels.counters[i]) * width];
          for (const Metric& metric : metrics) {
            if (std::isnan(values[metric.column])) continue;
            table.Add(kernels.task[i], metric.name, values[metric.column]);
          }
        }
      });
}

void WriteCopies(const raw::Session& session, DatabaseWriter& database) {
  const raw::Tasks& tasks = session.tasks;
  std::vector<std::size_t> copies;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (raw::IsCopy(session, i)) copies.push_back(i);
  }
  if (copies.empty()) return;
  database.WriteTable("MEMCPY_INFO", "globalTaskId NUMERIC, size NUMERIC, memcpyOperation NUMERIC",
                      [&](TableWriter& table) {
                        for (const std::size_t i : copies) {
                          table.Add(i, tasks.copy_bytes[i], tasks.copy_direction[i]);
                        }
                      });
}

void WriteMarks(const raw::Marks& marks, DatabaseStrings& strings, DatabaseWriter& database) {
  database.WriteRows(
      "MSTX_EVENTS",
      "startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,"
      " message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER,"
      " connectionId INTEGER",
      marks, [&](std::size_t i, TableWriter& table) {
        const std::int64_t thread = GlobalThread(marks.process[i], marks.thread[i]);
        table.Add(marks.start[i], marks.End(i), marks.event_type[i], kNotConnected, kNotConnected,
                  strings.Id(marks.message[i]), thread, thread, strings.Id(marks.domain[i]),
                  MarkConnection(marks.mark_id[i]));
      });
}

void WriteCoreClocks(const CoreClocks& clocks, DatabaseWriter& database) {
  database.WriteRows("AICORE_FREQ",
                     "deviceId INTEGER, timestampNs NUMERIC, freq INTEGER, dieId NUMERIC", clocks,
                     [&](std::size_t i, TableWriter& table) {
                       table.Add(clocks.device[i], clocks.start[i], clocks.mhz[i], -1);
                     });
}

void WriteOverlaps(const Overlaps& overlaps, DatabaseWriter& database) {
  database.WriteRows(
      "OVERLAP_ANALYSIS",
      "id INTEGER PRIMARY KEY, deviceId INTEGER, startNs NUMERIC, endNs NUMERIC, type INTEGER",
      overlaps, [&](std::size_t i, TableWriter& table) {
        table.Add(i, overlaps.device[i], overlaps.start[i], overlaps.start[i] + overlaps.dur[i],
                  static_cast<std::int64_t>(overlaps.activity[i]));
      });
}

}  // namespace

void WriteCann(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database) {
  WriteCalls(session, strings, database);
  WriteTasks(session, strings, database);
  WriteKernels(session, strings, database);
  WriteCounters(session, strings, database);
  WriteCopies(session, database);
  WriteMarks(session.marks, strings, database);
  WriteCoreClocks(session.core_clocks, database);
  WriteOverlaps(session.overlaps, database);
}

// Collectives and their pieces in a profiler database.

namespace {

// The number under which a database lists what was recorded as `number`.
std::int64_t Listed(std::span<const raw::NamedNumber> names, std::int64_t number) {
  constexpr std::int64_t kNoPlane = 65534, kInvalid = 65535;
  if (number < 0) return kNoPlane;
  return raw::NameOf(names, number).empty() ? kInvalid : number;
}

void WriteOperations(const raw::Collectives& collectives, DatabaseStrings& strings,
                     DatabaseWriter& database) {
  database.WriteRows(
      "COMMUNICATION_OP",
      "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER,"
      " opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER,"
      " algType INTEGER, count NUMERIC, opType INTEGER, deviceId INTEGER, rankSize INTEGER",
      collectives, [&](std::size_t i, TableWriter& table) {
        table.Add(
            strings.Id(collectives.name[i]), collectives.start[i], collectives.end[i],
            CallConnection(static_cast<std::size_t>(collectives.call[i])),
            strings.Id(collectives.group_name[i]), i, collectives.relay[i], collectives.retry[i],
            Listed(raw::CommunicationDataTypes(), collectives.data_type[i]),
            strings.Id(collectives.algorithm[i]), collectives.count[i],
            strings.Id(collectives.op_type[i]), collectives.device[i], collectives.rank_size[i]);
      });
}

void WritePieces(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database) {
  const raw::CollectiveParts& parts = session.parts;
  const raw::Collectives& collectives = session.collectives;
  if (parts.Empty()) return;
  database.WriteTable(
      "COMMUNICATION_TASK_INFO",
      "name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, groupName INTEGER,"
      " notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, dstRank INTEGER,"
      " transportType INTEGER, size INTEGER, dataType INTEGER, linkType INTEGER, opId INTEGER,"
      " isMaster INTEGER, bandwidth NUMERIC",
      [&](TableWriter& table) {
        for (std::size_t i = 0; i < parts.Size(); ++i) {
          const std::int32_t op = parts.collective[i];
          if (op < 0) continue;
          table.Add(strings.Id(collectives.name[op]), parts.task[i], strings.Id(parts.name[i]),
                    parts.plane[i], strings.Id(collectives.group_name[op]), parts.notify[i],
                    Listed(raw::RdmaTypes(), parts.rdma[i]), parts.local_rank[i],
                    parts.remote_rank[i], Listed(raw::TransportTypes(), parts.transport[i]),
                    parts.bytes[i], Listed(raw::CommunicationDataTypes(), parts.data_type[i]),
                    Listed(raw::LinkTypes(), parts.link[i]), op, parts.master[i],
                    parts.bandwidth[i]);
        }
      });
  database.CreateIndex("CommunicationTaskIndex", "COMMUNICATION_TASK_INFO", "globalTaskId");
}

}  // namespace

void WriteCollectives(const raw::Session& session, DatabaseStrings& strings,
                      DatabaseWriter& database) {
  WriteOperations(session.collectives, strings, database);
  WritePieces(session, strings, database);
}

}  // namespace mpa::profiler_output
