// SPDX-License-Identifier: Apache-2.0
// analysis.db: sums per step, and what the collectives moved between the ranks.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/io/scratch_directory.h"
#include "mpa/raw/summaries.h"
#include "profiler_database.h"

namespace mpa::profiler_output {
namespace {

// Tables of MindSpore know neither steps nor types.
std::string Columns(const raw::Session& session, std::string columns) {
  return session.info.mindspore ? columns : columns + ", step TEXT, type TEXT";
}

// Adds a row, with step and type where the tables have them.
template <typename... Cells>
void AddRow(const raw::Session& session, std::string_view step, std::string_view type,
            TableWriter& table, const Cells&... cells) {
  if (session.info.mindspore) {
    table.Add(cells...);
  } else {
    table.Add(cells..., step, type);
  }
}

constexpr char kP2p[] = "p2p", kCollective[] = "collective";

void WriteStepTimes(const raw::Session& session, DatabaseWriter& database) {
  database.WriteTable(
      "StepTraceTime",
      "deviceId INTEGER, step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC,"
      " overlapped NUMERIC, communication NUMERIC, free NUMERIC, stage NUMERIC, bubble NUMERIC,"
      " communication_not_overlapped_and_exclude_receive NUMERIC, preparing NUMERIC",
      [&](TableWriter& table) {
        const auto us = [](double ns) { return ns / 1000; };
        for (const raw::StepTime& time : raw::StepTimes(session, raw::StepTimeForm::kDatabase)) {
          std::optional<std::int64_t> step;
          if (time.step >= 0) step = time.step;
          table.Add(time.device, step, us(time.computing), us(time.exposed_communication),
                    us(time.overlapped), us(time.communication), us(time.free), us(time.stage),
                    us(time.bubble), us(time.exposed_without_receive), us(time.preparing));
        }
      });
}

// Calls visit(step, type, op) for every operation; sums over operations have no group.
template <typename Visit>
void ForEachOp(const std::vector<CommunicationStep>& steps, Visit visit) {
  for (const CommunicationStep& step : steps) {
    for (const auto& [type, ops] : {std::pair{kP2p, &step.p2p}, {kCollective, &step.collective}}) {
      for (const CommunicationOp& op : *ops) {
        if (!op.group.empty()) visit(step.step, type, op);
      }
    }
  }
}

void WriteTimes(const raw::Session& session, const std::vector<CommunicationStep>& steps,
                DatabaseWriter& database) {
  database.WriteTable(
      "CommAnalyzerTime",
      Columns(session,
              "hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, elapse_time NUMERIC,"
              " transit_time NUMERIC, wait_time NUMERIC, synchronization_time NUMERIC,"
              " idle_time NUMERIC"),
      [&](TableWriter& table) {
        ForEachOp(steps, [&](const std::string& step, const char* type, const CommunicationOp& op) {
          const CommunicationTime& time = op.time;
          AddRow(session, step, type, table, op.name, op.group, time.start_us, time.elapse,
                 time.transit, time.wait, time.synchronization, time.idle);
        });
      });
}

// One row for each size of packets; one without size for a link that is a sum of others.
void AddLink(const raw::Session& session, std::string_view step, std::string_view type,
             const CommunicationOp& op, LinkKind kind, const LinkUse& use, TableWriter& table) {
  if (use.megabytes + use.milliseconds + use.bandwidth + use.large_packet_ratio == 0) return;
  const auto add = [&](double size, double count, double milliseconds) {
    AddRow(session, step, type, table, op.name, op.group, NameOf(kind), use.megabytes,
           use.milliseconds, use.bandwidth, use.large_packet_ratio, size, count, milliseconds);
  };
  for (const auto& [size, packets] : use.sizes) add(size, packets.first, packets.second);
  if (use.sizes.empty()) add(0, 0, 0);
}

void WriteBandwidths(const raw::Session& session, const std::vector<CommunicationStep>& steps,
                     DatabaseWriter& database) {
  database.WriteTable(
      "CommAnalyzerBandwidth",
      Columns(session,
              "hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC,"
              " transit_time NUMERIC, bandwidth NUMERIC, large_packet_ratio NUMERIC,"
              " package_size NUMERIC, count NUMERIC, total_duration NUMERIC"),
      [&](TableWriter& table) {
        ForEachOp(steps, [&](const std::string& step, const char* type, const CommunicationOp& op) {
          for (const auto& [kind, use] : op.links)
            AddLink(session, step, type, op, kind, use, table);
        });
      });
}

void WriteMatrix(const raw::Session& session, const std::vector<CommunicationStep>& steps,
                 DatabaseWriter& database) {
  database.WriteTable(
      "CommAnalyzerMatrix",
      Columns(session,
              "hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT,"
              " transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC,"
              " bandwidth NUMERIC") +
          (session.info.mindspore ? "" : ", op_name TEXT"),
      [&](TableWriter& table) {
        const auto add = [&](const CommunicationStep& step, const char* type,
                             const std::vector<MatrixEntry>& entries) {
          for (const MatrixEntry& entry : entries) {
            // The column holds the name alone, the group has its own.
            const std::string_view op = std::string_view(entry.op).substr(0, entry.op.find('@'));
            const auto row = [&](const auto&... more) {
              table.Add(entry.name, entry.group, entry.source, entry.destination, entry.transport,
                        entry.megabytes, entry.milliseconds, entry.bandwidth, more...);
            };
            session.info.mindspore ? row() : row(step.step, type, op);
          }
        };
        for (const CommunicationStep& step : steps) {
          add(step, kP2p, step.p2p_matrix);
          add(step, kCollective, step.collective_matrix);
        }
      });
}

}  // namespace

void WriteAnalysisDatabase(const raw::Session& session, const std::filesystem::path& path) {
  InContext(io::FinalName(path), [&] {
    DatabaseWriter database(path);
    if (!session.collectives.Empty()) {
      const std::vector<CommunicationStep> steps = raw::SummariseCommunication(session);
      WriteBandwidths(session, steps, database);
      WriteMatrix(session, steps, database);
      WriteTimes(session, steps, database);
    }
    if (!session.info.mindspore) WriteStepTimes(session, database);
    database.Finish();
  });
}

}  // namespace mpa::profiler_output
