// SPDX-License-Identifier: Apache-2.0
// Collectives and their pieces in a profiler database.
#include <span>

#include "connections.h"
#include "mpa/raw/enumerations.h"
#include "profiler_database.h"

namespace mpa::profiler_output {
namespace {

// The number under which a database lists what was recorded as `number`.
std::int64_t Listed(std::span<const raw::NamedNumber> names, std::int64_t number) {
  constexpr std::int64_t kNoPlane = 65534, kInvalid = 65535;
  if (number < 0) return kNoPlane;
  return raw::NameOf(names, number).empty() ? kInvalid : number;
}

void WriteOperations(const raw::Collectives& collectives, DatabaseStrings& strings,
                     DatabaseWriter& database) {
  if (collectives.Empty()) return;
  database.WriteTable(
      "COMMUNICATION_OP",
      "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, "
      "opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, "
      "algType INTEGER, count NUMERIC, opType INTEGER, deviceId INTEGER, rankSize INTEGER",
      [&](TableWriter& table) {
        for (std::size_t i = 0; i < collectives.Size(); ++i) {
          table.Add(
              strings.Id(collectives.name[i]), collectives.start[i], collectives.end[i],
              CallConnection(static_cast<std::size_t>(collectives.call[i])),
              strings.Id(collectives.group_name[i]), i, collectives.relay[i], collectives.retry[i],
              Listed(raw::CommunicationDataTypes(), collectives.data_type[i]),
              strings.Id(collectives.algorithm[i]), collectives.count[i],
              strings.Id(collectives.op_type[i]), collectives.device[i], collectives.rank_size[i]);
        }
      });
}

void WritePieces(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database) {
  const raw::CollectiveParts& parts = session.parts;
  const raw::Collectives& collectives = session.collectives;
  if (parts.Empty()) return;
  database.WriteTable(
      "COMMUNICATION_TASK_INFO",
      "name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, groupName INTEGER, "
      "notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, dstRank INTEGER, "
      "transportType INTEGER, size INTEGER, dataType INTEGER, linkType INTEGER, opId INTEGER, "
      "isMaster INTEGER, bandwidth NUMERIC",
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
