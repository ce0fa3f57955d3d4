// SPDX-License-Identifier: Apache-2.0
// Cutting of traces: pieces of any size give the events that one exact cut of the whole gives. Of a
// broken trace the parser takes more in some pieces than in others.
#include "mpa/io/event_pieces.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "fuzz/fuzzing.h"
#include "readers/trace_events.h"

namespace mpa::test {
namespace {

// What a taker makes of the pieces; nothing when the trace cannot be used.
std::string EventsOf(const std::filesystem::path& path, std::size_t piece_bytes) {
  std::string events;
  const bool usable = Try(path.filename().string(), [&] {
    io::EventPieces pieces(path, piece_bytes);
    io::EventPiece piece;
    readers::EventParser parser;
    Issues issues;
    while (pieces.Next(piece)) {
      std::string of_piece;
      const auto note = [&](const readers::TraceEvent& event) {
        of_piece += fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", event.ph, event.cat, event.name,
                                event.pid, event.tid, event.ts, event.dur, event.id);
        for (const readers::EventArg& arg : event.args) {
          of_piece += fmt::format("|{}={}", arg.key, arg.value);
        }
        of_piece += '\n';
      };
      if (parser.Parse(piece, "trace", issues, note)) {
        events += of_piece;
      } else {
        pieces.CutExactly(piece.number(), piece.offset());
      }
    }
    if (pieces.cut_off_at() != std::string_view::npos) events += "cut off";
    for (const std::string& line : issues.Lines()) events += line;
  });
  return usable ? events : "";
}

}  // namespace

std::vector<Target> Targets() {
  static const Scratch scratch;
  const auto compare = [](std::string_view input) {
    if (input.empty()) return;
    constexpr std::size_t kWhole = std::size_t{1} << 20;
    const std::size_t piece_bytes = 16 + 8 * static_cast<unsigned char>(input[0]);
    const auto path = scratch.Write("trace.json", input.substr(1));
    const std::string whole = EventsOf(path, kWhole);
    const std::string pieces = EventsOf(path, piece_bytes);
    if (pieces != whole && nlohmann::json::accept(input.substr(1))) {
      Die(fmt::format("in pieces:\n{}\nas a whole:\n{}", pieces, whole));
    }
  };
  const std::string piece_bytes(1, '\x08');
  return {
      {"pieces",
       {piece_bytes + Captured("gpu_base.json"),
        piece_bytes + Captured("head_hard_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"),
        piece_bytes + R"([{"name":"a},{\"","args":{"x":[{"y":1},{"z":2}]}},{"ts":"1"}])",
        piece_bytes + R"([{"ph":"X,"ts":1},,{"ph":"i"}],[{"ph":"B"}{"ph":"E"}], "x"][{"ts":2}])"},
       compare}};
}

}  // namespace mpa::test
