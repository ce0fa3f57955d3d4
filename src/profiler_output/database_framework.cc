// SPDX-License-Identifier: Apache-2.0
// What the framework recorded, in a profiler database.
#include <optional>
#include <string>

#include "mpa/base/text.h"
#include "mpa/raw/labels.h"
#include "profiler_database.h"

namespace mpa::profiler_output {
namespace {

// The kinds of rows in PYTORCH_API, as ENUM_API_TYPE names them.
constexpr std::int64_t kApiOfOp = 50001, kApiOfQueue = 50002, kApiOfPython = 50003;

std::string EnqueueName(std::string_view work) {
  return work.empty() ? "Enqueue" : std::string("Enqueue@").append(work);
}

std::string DequeueName(std::string_view work) { return std::string("Dequeue@").append(work); }

// The call stacks of the operators. Equal ones are written once: most operators are called from
// the same places in every step.
class CallChains {
 public:
  explicit CallChains(DatabaseStrings& strings)
      : strings_(strings), ids_(strings.session().Size(), kNone) {}

  std::optional<std::int64_t> Id(StringId stack) {
    if (stack == StringId::kEmpty) return std::nullopt;
    std::int64_t& id = ids_[Index(stack)];
    if (id == kNone) {
      id = static_cast<std::int64_t>(stacks_.size());
      stacks_.push_back(stack);
    }
    return id;
  }

  void Write(DatabaseWriter& database) {
    if (stacks_.empty()) return;
    database.WriteTable(
        "PYTORCH_CALLCHAINS", "id INTEGER, stack INTEGER, stackDepth INTEGER",
        [&](TableWriter& table) {
          for (std::size_t id = 0; id < stacks_.size(); ++id) {
            std::int64_t depth = 0;
            for (const std::string_view frame : Split(strings_.View(stacks_[id]), ';')) {
              table.Add(id, strings_.Id(frame), depth++);
            }
          }
        });
  }

 private:
  static constexpr std::int64_t kNone = -1;

  DatabaseStrings& strings_;
  std::vector<std::int64_t> ids_;  ///< by number of the session's text
  std::vector<StringId> stacks_;
};

// The number of the connections of an operator; an entry of the queue has its row.
std::int64_t ConnectionsOfOp(const raw::Session& session, std::size_t op) {
  return static_cast<std::int64_t>(session.queue.Size() + op);
}

// A row of PYTORCH_API that is not an operator.
void AddRange(TimeNs start, TimeNs end, std::int64_t thread, std::optional<std::int64_t> connection,
              std::int64_t name, std::int64_t type, TableWriter& table) {
  constexpr std::nullopt_t kNull = std::nullopt;
  table.Add(start, end, thread, connection, name, kNull, kNull, kNull, kNull, kNull, type);
}

void AddPython(const raw::PythonCalls& calls, DatabaseStrings& strings, TableWriter& table) {
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    AddRange(calls.start[i], calls.End(i), GlobalThread(calls.process[i], calls.thread[i]),
             std::nullopt, strings.Id(calls.name[i]), kApiOfPython, table);
  }
}

void AddQueue(const raw::QueueRanges& queue, bool dequeue, DatabaseStrings& strings,
              TableWriter& table) {
  DerivedTexts names(strings, dequeue ? DequeueName : EnqueueName);
  for (std::size_t i = 0; i < queue.Size(); ++i) {
    if ((queue.dequeue[i] != 0) != dequeue) continue;
    AddRange(queue.start[i], queue.End(i), GlobalThread(queue.process[i], queue.thread[i]),
             static_cast<std::int64_t>(i), names.Id(queue.name[i]), kApiOfQueue, table);
  }
}

void AddOps(const raw::Session& session, const std::vector<OpConnection>& connections,
            DatabaseStrings& strings, CallChains& chains, TableWriter& table) {
  const raw::TorchOps& ops = session.ops;
  DerivedTexts lines(strings, raw::ListLines);
  const auto text = [&](StringId id) -> std::optional<std::int64_t> {
    if (id == StringId::kEmpty) return std::nullopt;
    return lines.Id(id);
  };
  auto next = connections.begin();
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    std::optional<std::int64_t> connection;
    for (; next != connections.end() && next->op <= static_cast<std::int64_t>(i); ++next) {
      connection = ConnectionsOfOp(session, i);
    }
    table.Add(ops.start[i], ops.End(i), GlobalThread(ops.process[i], ops.thread[i]), connection,
              strings.Id(ops.name[i]), ops.sequence[i], ops.forward_thread[i], text(ops.types[i]),
              text(ops.shapes[i]), chains.Id(ops.stack[i]), kApiOfOp);
  }
}

void WriteConnections(const raw::Session& session, const std::vector<OpConnection>& connections,
                      DatabaseWriter& database) {
  const raw::QueueRanges& queue = session.queue;
  if (queue.Empty() && connections.empty()) return;
  database.WriteTable(
      "CONNECTION_IDS", "id INTEGER, connectionId INTEGER", [&](TableWriter& table) {
        for (std::size_t i = 0; i < queue.Size(); ++i) {
          table.Add(i, QueueConnection(queue.correlation[i]));
        }
        for (const OpConnection& connection : connections) {
          table.Add(ConnectionsOfOp(session, static_cast<std::size_t>(connection.op)),
                    connection.connection);
        }
      });
}

void WriteApi(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database) {
  if (session.ops.Empty() && session.queue.Empty() && session.python.Empty()) return;
  const std::vector<OpConnection> connections = ConnectOps(session);
  CallChains chains(strings);
  database.WriteTable("PYTORCH_API",
                      "startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER,"
                      " name INTEGER, sequenceNumber INTEGER, fwdThreadId INTEGER,"
                      " inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER,"
                      " type INTEGER",
                      [&](TableWriter& table) {
                        AddPython(session.python, strings, table);
                        AddQueue(session.queue, false, strings, table);
                        AddQueue(session.queue, true, strings, table);
                        AddOps(session, connections, strings, chains, table);
                      });
  WriteConnections(session, connections, database);
  chains.Write(database);
}

void WriteCollections(const GarbageCollections& collections, DatabaseWriter& database) {
  database.WriteRows("GC_RECORD", "startNs INTEGER, endNs INTEGER, globalTid INTEGER", collections,
                     [&](std::size_t i, TableWriter& table) {
                       // The records do not say the thread; they are shown on the main one.
                       table.Add(collections.start[i], collections.start[i] + collections.dur[i],
                                 GlobalThread(collections.process[i], collections.process[i]));
                     });
}

void WriteSteps(const Steps& steps, DatabaseWriter& database) {
  database.WriteRows("STEP_TIME", "id INTEGER, startNs INTEGER, endNs INTEGER", steps,
                     [&](std::size_t i, TableWriter& table) {
                       table.Add(steps.id[i], steps.start[i], steps.end[i]);
                     });
}

}  // namespace

void WriteFramework(const raw::Session& session, DatabaseStrings& strings,
                    DatabaseWriter& database) {
  WriteApi(session, strings, database);
  WriteCollections(session.garbage_collections, database);
  WriteSteps(session.steps, database);
}

}  // namespace mpa::profiler_output
