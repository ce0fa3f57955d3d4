// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/measure/accounting.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// What a row of a table of the host is called, in every run alike: "aten::item", "train.py(90): f".
std::string HostNameOf(const RankTrace& trace, PieceTable table, std::int32_t row);

/// The lines of the program behind what the host does.
class CallSites {
 public:
  /// Refers to the rank, which must outlive it. `clock` as in its account.
  CallSites(const RankTrace& trace, const HostClock& clock);
  /// "train.py:90": the innermost Python function of the program itself around the piece, or of a
  /// library where there is none. Empty: the capture does not tell, or the piece is of no thread.
  std::string Of(const Piece& piece) const;

 private:
  std::int32_t TrackOf(const Piece& piece) const;

  const RankTrace& trace_;
  TimeNs offset_;
  Nesting frames_;
};

}  // namespace mpa
