// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/measure/accounting.h"
#include "mpa/measure/host_waits.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// True for a frame of a library or of Python itself: "/usr/lib/python3/queue.py(90): get".
bool IsOfLibrary(std::string_view frame);

/// False where the capture has no call stack of a call.
inline bool HasStack(const RankTrace& trace, StringId stack) {
  return stack != StringId::kEmpty && trace.strings.View(stack) != "N/A";
}

/// The recorded name of a row of a table of the host; empty for tables without names.
StringId HostTextOf(const RankTrace& trace, PieceTable table, std::int32_t row);

/// What a row of a table of the host is called, in every run alike: "aten::item", "train.py(90):
/// f".
std::string HostNameOf(const RankTrace& trace, PieceTable table, std::int32_t row);

/// What the line of the program behind a piece is known by: many pieces have the same.
struct CallSite {
  StringId function{};  ///< the innermost one of the program itself
  StringId of_library{};
  StringId stack{};  ///< of the innermost operator that has one
  bool stack_is_inner = false;

  friend bool operator==(const CallSite&, const CallSite&) = default;
};

/// The lines of the program behind what the host does.
class CallSites {
 public:
  /// Refers to the rank, which must outlive it. `clock` as in its account.
  CallSites(const RankTrace& trace, const HostClock& clock);
  /// "train.py:90": the innermost line of the program itself that is open around the piece, or of a
  /// library where there is none. The call stack of an operator says which line runs, a Python
  /// function only where it begins; so the stack counts, unless the function is within the
  /// operator. Empty: the capture does not tell, or the piece is of no thread.
  std::string Of(const Piece& piece) const { return Line(Find(piece)); }
  /// The same around a time of a thread, in host time.
  std::string At(const NestSpan& span) const { return Line(FindAt(span)); }
  /// Of() in two steps: many pieces have the same site, whose line is made once.
  CallSite Find(const Piece& piece) const;
  std::string Line(const CallSite& site) const;
  /// False: neither functions nor stacks are recorded.
  bool Known() const { return !trace_.python_calls.Empty() || ops_.has_value(); }
  /// The operators of the host by what is within what; null: none has a call stack.
  const Nesting* Ops() const { return ops_ ? &*ops_ : nullptr; }

 private:
  CallSite FindAt(const NestSpan& span) const;
  std::int32_t TrackOf(const Piece& piece) const;
  void FindFrames();
  void FindStacks();

  const RankTrace& trace_;
  TimeNs offset_;
  SystemThreads threads_;
  Nesting frames_;
  std::optional<Nesting> ops_;  // of captures with call stacks
  // By row, of it and all around it: the innermost with a line of the program itself and with one
  // of a library, of operators the innermost with a stack; -1: none. Nests may be thousands deep.
  std::vector<std::int32_t> own_frame_, library_frame_, op_with_stack_;
};

/// Operators are issued from many lines of a program; what holds it up is at one.
inline bool IsIssuing(TimeCategory category) {
  return category == TimeCategory::kDispatchOp || category == TimeCategory::kDispatchCann;
}

/// What the host did in a piece of free time, and where: "aten::item at train.py:90". Empty: it did
/// nothing, or nothing but the step is recorded.
std::string HostPlaceOf(const RankTrace& trace, const CallSites& sites, const Piece& piece);

}  // namespace mpa
