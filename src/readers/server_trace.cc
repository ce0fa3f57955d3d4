// SPDX-License-Identifier: Apache-2.0
// chrome_tracing.json: the events of a server, as the parser of msServiceProfiler shows them.
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"
#include "server_events.h"
#include "trace_pieces.h"

namespace mpa::readers {
namespace {

// An event of a piece, with texts of its own: pieces are parsed side by side.
struct KeptEvent {
  std::string name, process;
  SpanTimes times{};
  std::vector<std::pair<std::string, std::string>> attributes;
};

struct ServerPiece {
  Issues issues;
  std::vector<KeptEvent> events;
  std::vector<std::pair<std::string, std::int32_t>> dp_ranks;  // of processes
};

// "host,dp3": the labels of a process.
std::int32_t DpRankIn(std::string_view labels) {
  const std::size_t at = labels.rfind("dp");
  const bool begins = at != std::string_view::npos && (at == 0 || labels[at - 1] == ',');
  return begins ? SmallCountIn(labels.substr(at + 2)) : -1;
}

// The trace also has what other profilers recorded, arrows and counters. Only events of the server
// have a date.
bool IsOfServer(const TraceEvent& event) {
  return (Is(event.ph, "X") || Is(event.ph, "I")) && event.FindArg("start_datetime") != nullptr;
}

void Keep(const TraceEvent& event, std::string_view file_name, ServerPiece& piece) {
  if (Is(event.ph, "M") && Is(event.name, "process_labels")) {
    const std::int32_t rank = DpRankIn(event.Arg("labels"));
    if (rank >= 0) piece.dp_ranks.emplace_back(event.pid, rank);
    return;
  }
  if (!IsOfServer(event)) return;
  const auto times = TimesOf(event, file_name, piece.issues);
  if (!times) return;
  KeptEvent kept{std::string(event.name), std::string(event.pid), *times, {}};
  for (const EventArg& arg : event.args) kept.attributes.emplace_back(arg.key, arg.value);
  piece.events.push_back(std::move(kept));
}

}  // namespace

void ReadServerTrace(const CaptureFile& file, const ServerRecords& records) {
  RankTrace& trace = records.trace;
  const std::string file_name = file.path.filename().string();
  ServerLog log(records, file_name);
  std::vector<EventArg> attributes;
  ReadPieces<ServerPiece>(
      file, trace.issues,
      [&](EventParser& parser, const io::EventPiece& piece, ServerPiece& kept) {
        return parser.Parse(piece, file_name, kept.issues,
                            [&](const TraceEvent& event) { Keep(event, file_name, kept); });
      },
      [&](ServerPiece& piece) {
        trace.issues.Merge(piece.issues);
        for (const auto& [process, rank] : piece.dp_ranks)
          log.SetDpRank(trace.strings.Intern(process), rank);
        for (const KeptEvent& event : piece.events) {
          attributes.clear();
          for (const auto& [key, value] : event.attributes)
            attributes.push_back({key, value, false});
          log.Add({.start = event.times.start,
                   .dur = event.times.dur,
                   .name = trace.strings.Intern(event.name),
                   .process = trace.strings.Intern(event.process)},
                  attributes);
        }
      });
  if (log.IsEmpty())
    Fail(ErrorKind::kCorrupt, "{}: no event of a server in the trace", file.path.string());
  log.Finish();
}

}  // namespace mpa::readers
