// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "mpa/base/enum_name.h"
#include "mpa/base/language.h"
#include "mpa/base/parallel.h"
#include "mpa/capture/capture.h"
#include "mpa/io/event_pieces.h"
#include "mpa/model/issues.h"
#include "trace_events.h"

namespace mpa::readers {

/// The size of a piece: large enough for the cost of each piece, small enough for the caches.
inline constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

/// What is wrong with a trace, as a phrase.
constexpr std::string_view NameOf(io::EventDamage::Kind kind) {
  return EnumName<io::EventDamage::kBrokenMembers>(
      kind,
      {"comma without an event in the trace",
       "NUL bytes in place of text in the trace, events may be lost; copy it again",
       "text left out, it is not an event; reading went on at the next one",
       "events behind the end of the trace were read, too",
       "text behind the end of the trace was left out",
       "what stands before the events is not valid JSON: rank and settings may be unknown, events"
       " were read; correct it"});
}

/// Reads a trace in pieces, in parallel: parse(parser, piece, fragment) puts what a piece holds
/// into a new Fragment (false: not valid as a whole, see EventParser), join(fragment) gets the
/// fragments one after the other, in file order. An unfinished trace (the writer was killed) is
/// counted in `issues`. Throws Error (kCorrupt) that names the file when there is no event array.
template <typename Fragment, typename Parse, typename Join>
void ReadPieces(const CaptureFile& file, Issues& issues, Parse parse, Join join) {
  struct Worker {
    io::EventPiece piece;
    EventParser parser;
  };
  constexpr std::size_t kPiecesAtOnce = 32;  // then idle workers of other loops may join
  io::EventPieces pieces(file.path, kPieceBytes);
  std::mutex mutex;
  std::vector<std::unique_ptr<Worker>> idle;
  std::map<std::size_t, Fragment> parsed;  // and waiting for earlier ones
  std::size_t joined = 0;
  std::optional<std::pair<std::size_t, std::size_t>> wrong_cut;  // number and offset

  const auto borrow = [&]() -> std::unique_ptr<Worker> {
    const std::lock_guard lock(mutex);
    if (wrong_cut) return nullptr;
    if (idle.empty()) return std::make_unique<Worker>();
    std::unique_ptr<Worker> worker = std::move(idle.back());
    idle.pop_back();
    return worker;
  };
  const auto read_one = [&](std::size_t) {
    std::unique_ptr<Worker> worker = borrow();
    if (!worker || !pieces.Next(worker->piece)) return;
    const std::size_t number = worker->piece.number();
    Fragment fragment;
    const bool valid = parse(worker->parser, worker->piece, fragment);
    const std::lock_guard lock(mutex);
    if (valid) {
      parsed.emplace(number, std::move(fragment));
      for (auto next = parsed.find(joined); next != parsed.end(); next = parsed.find(joined)) {
        join(next->second);
        parsed.erase(next);
        ++joined;
      }
    } else if (!wrong_cut || number < wrong_cut->first) {
      wrong_cut = {number, worker->piece.offset()};
    }
    idle.push_back(std::move(worker));
  };
  while (!pieces.ended() || wrong_cut) {
    if (wrong_cut) {
      pieces.CutExactly(wrong_cut->first, wrong_cut->second);
      parsed.clear();
      wrong_cut.reset();
    }
    ParallelFor(kPiecesAtOnce, read_one);
  }
  for (const io::EventDamage& damage : pieces.damages()) {
    issues.Count(NameOf(damage.kind), Say("{}: byte {}", file.path.filename().string(), damage.at));
  }
  if (pieces.cut_off_at() != std::string_view::npos) {
    issues.Count(Promise::kFileIsWhole, kTraceBreaksOff,
                 Say("{}: byte {}", file.path.filename().string(), pieces.cut_off_at()));
  }
}

}  // namespace mpa::readers
