// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/capture/capture.h"
#include "mpa/model/rank_trace.h"
#include "mpa/readers/reader.h"

namespace mpa {

struct LoadedRank {
  RankTrace trace;
  std::vector<std::string> notes;  ///< files that are missing, rows that were left out
  bool partial = false;            ///< something was there but broken
};

/// True when the input is at fault, so that the other ranks can still be read; not when there is no
/// room or no memory.
inline bool IsBadInput(const Error& error) {
  return error.kind() == ErrorKind::kInput || error.kind() == ErrorKind::kCorrupt;
}

/// The number of the rank as its settings, the name of its database or its raw data say; -1:
/// unknown.
std::int64_t RankNumberOf(const RankInput& input);

/// True where the trace is missing and `needs` has tables that only the trace fills.
bool LacksTimeline(const RankTrace& trace, Tables needs);
/// Throws Error (kInput) then, with the path of the capture.
void RequireTimeline(const RankTrace& trace, Tables needs, const RankInput& input);

/// Reads the wanted tables of a rank, ties device work to its launches and keeps only `step` if
/// one is given. A broken side file costs its table, not the rank; the trace or database itself
/// must be readable, or Error is thrown.
LoadedRank LoadRank(const RankInput& input, const ReadRequest& request,
                    std::optional<std::int32_t> step);

}  // namespace mpa
