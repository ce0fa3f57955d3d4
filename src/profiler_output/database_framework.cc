// SPDX-License-Identifier: Apache-2.0
// What the framework recorded, in a profiler database.
#include <optional>
#include <string>
#include <utility>

#include "connections.h"
#include "profiler_database.h"

namespace mpa::profiler_output {
namespace {

// The parts of a recorded text are on lines of their own in the database.
std::string OnLines(std::string_view text) {
  std::string lines;
  lines.reserve(text.size() + text.size() / 4);
  for (const char c : text) {
    lines += c;
    if (c == ';') lines += "\r\n";
  }
  return lines;
}

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
    TableWriter table =
        database.CreateTable("PYTORCH_CALLCHAINS", "id INTEGER, stack INTEGER, stackDepth INTEGER");
    for (std::size_t id = 0; id < stacks_.size(); ++id) {
      std::string_view rest = strings_.View(stacks_[id]);
      for (std::int64_t depth = 0;; ++depth) {
        const std::size_t end = rest.find(';');
        table.Add(id, strings_.Id(rest.substr(0, end)), depth);
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
      }
    }
  }

 private:
  static constexpr std::int64_t kNone = -1;

  DatabaseStrings& strings_;
  std::vector<std::int64_t> ids_;  ///< by number of the session's text
  std::vector<StringId> stacks_;
};

// The rows of PYTORCH_API. An entry of the queue has its row as the number of its connections, an
// operator its row after those.
class ApiWriter {
 public:
  ApiWriter(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database)
      : session_(session),
        strings_(strings),
        chains_(strings),
        table_(database.CreateTable(
            "PYTORCH_API",
            "startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, "
            "sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, "
            "inputShapes INTEGER, callchainId INTEGER, type INTEGER")) {}

  void WritePython() {
    const raw::PythonCalls& calls = session_.python;
    for (std::size_t i = 0; i < calls.Size(); ++i) {
      AddPlain(calls.start[i], calls.end[i], GlobalThread(calls.process[i], calls.thread[i]),
               std::nullopt, strings_.Id(calls.name[i]), kApiOfPython);
    }
  }

  void WriteQueue(bool dequeue) {
    const raw::QueueRanges& queue = session_.queue;
    DerivedTexts names(strings_, dequeue ? DequeueName : EnqueueName);
    for (std::size_t i = 0; i < queue.Size(); ++i) {
      if ((queue.dequeue[i] != 0) != dequeue) continue;
      AddPlain(queue.start[i], queue.end[i], GlobalThread(queue.process[i], queue.thread[i]),
               static_cast<std::int64_t>(i), names.Id(queue.name[i]), kApiOfQueue);
    }
  }

  void WriteOps(const std::vector<OpConnection>& connections) {
    const raw::TorchOps& ops = session_.ops;
    DerivedTexts lines(strings_, OnLines);
    const auto text = [&](StringId id) -> std::optional<std::int64_t> {
      if (id == StringId::kEmpty) return std::nullopt;
      return lines.Id(id);
    };
    auto next = connections.begin();
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      std::optional<std::int64_t> connection;
      for (; next != connections.end() && next->op <= static_cast<std::int64_t>(i); ++next) {
        connection = OpNumber(i);
      }
      table_.Add(Digits(ops.start[i]), Digits(ops.end[i]),
                 GlobalThread(ops.process[i], ops.thread[i]), connection, strings_.Id(ops.name[i]),
                 ops.sequence[i], ops.forward_thread[i], text(ops.types[i]), text(ops.shapes[i]),
                 chains_.Id(ops.stack[i]), kApiOfOp);
    }
  }

  void WriteConnections(const std::vector<OpConnection>& connections, DatabaseWriter& database) {
    const raw::QueueRanges& queue = session_.queue;
    if (queue.Empty() && connections.empty()) return;
    TableWriter table = database.CreateTable("CONNECTION_IDS", "id INTEGER, connectionId INTEGER");
    for (std::size_t i = 0; i < queue.Size(); ++i) {
      table.Add(i, QueueConnection(queue.correlation[i]));
    }
    for (const OpConnection& connection : connections) {
      table.Add(OpNumber(static_cast<std::size_t>(connection.op)), connection.connection);
    }
  }

  void WriteCallChains(DatabaseWriter& database) { chains_.Write(database); }

 private:
  std::int64_t OpNumber(std::size_t op) const {
    return static_cast<std::int64_t>(session_.queue.Size() + op);
  }

  void AddPlain(TimeNs start, TimeNs end, std::int64_t thread,
                std::optional<std::int64_t> connection, std::int64_t name, std::int64_t type) {
    constexpr std::nullopt_t kNull = std::nullopt;
    table_.Add(Digits(start), Digits(end), thread, connection, name, kNull, kNull, kNull, kNull,
               kNull, type);
  }

  const raw::Session& session_;
  DatabaseStrings& strings_;
  CallChains chains_;
  TableWriter table_;
};

void WriteApi(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database) {
  if (session.ops.Empty() && session.queue.Empty() && session.python.Empty()) return;
  const std::vector<OpConnection> connections = ConnectOps(session);
  ApiWriter api(session, strings, database);
  api.WritePython();
  api.WriteQueue(false);
  api.WriteQueue(true);
  api.WriteOps(connections);
  api.WriteConnections(connections, database);
  api.WriteCallChains(database);
}

void WriteCollections(const raw::Collections& collections, DatabaseWriter& database) {
  if (collections.Empty()) return;
  TableWriter table =
      database.CreateTable("GC_RECORD", "startNs INTEGER, endNs INTEGER, globalTid INTEGER");
  for (std::size_t i = 0; i < collections.Size(); ++i) {
    // The records do not say the thread; they are shown on the main one.
    table.Add(collections.start[i], collections.end[i],
              GlobalThread(collections.process[i], collections.process[i]));
  }
}

void WriteSteps(const raw::Steps& steps, DatabaseWriter& database) {
  if (steps.Empty()) return;
  TableWriter table =
      database.CreateTable("STEP_TIME", "id INTEGER, startNs INTEGER, endNs INTEGER");
  for (std::size_t i = 0; i < steps.Size(); ++i) {
    table.Add(steps.id[i], steps.start[i], steps.end[i]);
  }
}

}  // namespace

void WriteFramework(const raw::Session& session, DatabaseStrings& strings,
                    DatabaseWriter& database) {
  WriteApi(session, strings, database);
  WriteCollections(session.collections, database);
  WriteSteps(session.steps, database);
}

}  // namespace mpa::profiler_output
