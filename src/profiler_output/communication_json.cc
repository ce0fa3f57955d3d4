// SPDX-License-Identifier: Apache-2.0
// communication.json and communication_matrix.json: what the collectives of each step moved.
#include <optional>

#include "mpa/raw/summaries.h"
#include "trace_events.h"

namespace mpa::profiler_output {
namespace {

/// An object of a JSON document, appended to a text from its bracket to its end.
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  ~JsonObject() { out_ += '}'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  /// The name of the next member; the value is to be appended to the result.
  template <typename... Parts>
  std::string& Key(const Parts&... name) {
    out_ += first_ ? "\"" : ", \"";
    first_ = false;
    (AppendPart(name), ...);
    return out_ += "\": ";
  }
  void Number(std::string_view name, double value) {
    Key(name);
    if (value == 0) {
      out_ += '0';
    } else {
      Put(out_, Decimal{value});
    }
  }
  void Text(std::string_view name, std::string_view text) {
    Key(name) += '"';
    AppendEscaped(out_, text);
    out_ += '"';
  }

 private:
  void AppendPart(std::string_view text) { AppendEscaped(out_, text); }
  template <typename Number>
  void AppendPart(const Number& number) {
    Put(out_, number);
  }

  std::string& out_;
  bool first_ = true;
};

/// The totals of a step have no start and no rates.
bool IsTotal(const CommunicationOp& op) { return op.group.empty(); }

void PutOpTimes(const CommunicationOp& op, std::string& out) {
  const CommunicationTime& time = op.time;
  JsonObject times(out);
  if (!IsTotal(op)) times.Number("Start Timestamp(us)", time.start_us);
  times.Number("Elapse Time(ms)", time.elapse);
  times.Number("Transit Time(ms)", time.transit);
  times.Number("Wait Time(ms)", time.wait);
  times.Number("Synchronization Time(ms)", time.synchronization);
  times.Number("Idle Time(ms)", time.idle);
  times.Number("Wait Time Ratio", time.wait_ratio);
  times.Number("Synchronization Time Ratio", time.synchronization_ratio);
}

void PutLink(const LinkUse& use, bool is_total, std::string& out) {
  JsonObject link(out);
  link.Number("Transit Size(MB)", use.megabytes);
  link.Number("Transit Time(ms)", use.milliseconds);
  if (!is_total) {
    link.Number("Bandwidth(GB/s)", use.bandwidth);
    link.Number("Large Packet Ratio", use.large_packet_ratio);
  }
  JsonObject sizes(link.Key("Size Distribution"));
  for (const auto& [megabytes, packets] : use.sizes) {
    Put(sizes.Key(Decimal{megabytes}), "[", RoundedShort{packets.first}, ", ",
        Decimal{packets.second}, "]");
  }
}

void PutOps(const std::vector<CommunicationOp>& ops, std::string& out) {
  JsonObject all(out);
  for (const CommunicationOp& op : ops) {
    if (IsTotal(op)) {
      all.Key("Total Op Info");
    } else {
      all.Key(op.name, "@", op.group);
    }
    JsonObject members(out);
    PutOpTimes(op, members.Key("Communication Time Info"));
    JsonObject links(members.Key("Communication Bandwidth Info"));
    for (const LinkKind kind : kAllLinkKinds) {
      const auto use = op.links.find(kind);
      PutLink(use == op.links.end() ? LinkUse{} : use->second, IsTotal(op),
              links.Key(NameOf(kind)));
    }
  }
}

void PutMatrix(const std::vector<MatrixEntry>& entries, std::string& out) {
  JsonObject ops(out);
  std::optional<JsonObject> pairs;  // of the operation at hand
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const MatrixEntry& entry = entries[i];
    if (i == 0 || entry.name != entries[i - 1].name || entry.group != entries[i - 1].group) {
      pairs.reset();
      pairs.emplace(ops.Key(entry.name, "@", entry.group));
    }
    JsonObject pair(pairs->Key(entry.source, "-", entry.destination));
    pair.Text("Transport Type", entry.transport);
    pair.Number("Transit Size(MB)", entry.megabytes);
    pair.Number("Transit Time(ms)", entry.milliseconds);
    pair.Number("Bandwidth(GB/s)", entry.bandwidth);
    if (!entry.op.empty()) pair.Text("Op Name", entry.op);
  }
}

/// Writes a document with a member for each step, whose value has the members "p2p" and
/// "collective"; `put` appends those.
template <typename PutSteps>
void WriteSteps(const raw::Session& session, const std::filesystem::path& path, PutSteps put) {
  if (session.collectives.Empty()) return;
  const std::vector<CommunicationStep> steps = raw::SummariseCommunication(session);
  std::string text;
  {
    JsonObject document(text);
    for (const CommunicationStep& step : steps) {
      JsonObject kinds(document.Key(step.step));
      put(step, kinds);
    }
  }
  io::WriteText(path, text);
}

}  // namespace

void WriteCommunication(const raw::Session& session, const std::filesystem::path& path) {
  WriteSteps(session, path, [](const CommunicationStep& step, JsonObject& kinds) {
    PutOps(step.p2p, kinds.Key("p2p"));
    PutOps(step.collective, kinds.Key("collective"));
  });
}

void WriteCommunicationMatrix(const raw::Session& session, const std::filesystem::path& path) {
  WriteSteps(session, path, [](const CommunicationStep& step, JsonObject& kinds) {
    PutMatrix(step.p2p_matrix, kinds.Key("p2p"));
    PutMatrix(step.collective_matrix, kinds.Key("collective"));
  });
}

}  // namespace mpa::profiler_output
