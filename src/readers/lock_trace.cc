// SPDX-License-Identifier: Apache-2.0
// GIL_<process>_rank_<rank>.json: how threads waited for the lock of Python's interpreter and gave
// it back (gil_tracer), and what gil_tracer makes of it, which also says when they held it.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/io/numbers.h"
#include "mpa/readers/reader.h"
#include "trace_builder.h"
#include "trace_pieces.h"

namespace mpa::readers {
namespace {

enum class LockEvent : std::uint8_t { kTake, kHold, kDrop };

// An event with its thread.
struct LockRow {
  std::int64_t process = -1, thread = -1;
  TimeNs start = 0;
  LockEvent kind{};
  TimeNs dur = 0;

  auto operator<=>(const LockRow&) const = default;
};

struct LockFragment {
  Issues issues;
  std::vector<LockRow> rows;
};

class LockFiller {
 public:
  LockFiller(LockFragment& fragment, std::string_view file_name)
      : fragment_(fragment), file_name_(file_name) {}

  void operator()(const TraceEvent& event) {
    if (Is(event.ph, "M")) return;  // names for the viewer
    const auto kind = KindOf(event.name);
    if (!kind) {
      return fragment_.issues.Count(Promise::kCategoriesKnown,
                                    "event left out, it is none of take_gil, hold_gil and drop_gil",
                                    Place(event));
    }
    const auto thread = io::ParseInt(event.tid);
    if (!thread) {
      return fragment_.issues.Count("use of a lock left out, its thread is not a number",
                                    Place(event));
    }
    const auto times = TimesOf(event, *kind);
    if (!times) return;
    fragment_.rows.push_back(
        {io::ParseInt(event.pid).value_or(-1), *thread, times->start, *kind, times->dur});
  }

 private:
  // Giving the lock back is a moment; how long that takes is of no matter.
  std::optional<SpanTimes> TimesOf(const TraceEvent& event, LockEvent kind) {
    const auto start = io::NsFromMicros(event.ts);
    if (kind == LockEvent::kDrop && start && event.dur.empty()) return SpanTimes{*start, 0};
    return readers::TimesOf(event, file_name_, fragment_.issues);
  }

  static std::optional<LockEvent> KindOf(std::string_view name) {
    if (Is(name, "take_gil")) return LockEvent::kTake;
    if (Is(name, "hold_gil")) return LockEvent::kHold;
    if (Is(name, "drop_gil")) return LockEvent::kDrop;
    return std::nullopt;
  }

  std::string Place(const TraceEvent& event) const {
    return Say("{}: \"{}\" at {} us", file_name_, Printable(event.name), Printable(event.ts));
  }

  LockFragment& fragment_;
  std::string_view file_name_;
};

// A thread holds the lock from when it got it until it gives it back. `rows`: of one thread, in
// order of time.
void Append(std::span<const LockRow> rows, StringId lock, RankTrace& trace) {
  const bool says_when_held =
      std::ranges::any_of(rows, [](const LockRow& row) { return row.kind == LockEvent::kHold; });
  const auto append = [&](const LockRow& row, TimeNs start, TimeNs end, bool is_held) {
    trace.lock_uses.Append({.start = start,
                            .dur = end - start,
                            .process = row.process,
                            .thread = row.thread,
                            .lock = lock,
                            .is_held = is_held});
  };
  const LockRow* taken = nullptr;
  for (const LockRow& row : rows) {
    if (row.kind == LockEvent::kHold) append(row, row.start, row.start + row.dur, true);
    if (row.kind == LockEvent::kDrop && taken != nullptr && !says_when_held) {
      const TimeNs got = taken->start + taken->dur;
      if (row.start > got) append(row, got, row.start, true);
    }
    if (row.kind == LockEvent::kTake) append(row, row.start, row.start + row.dur, false);
    if (row.kind != LockEvent::kHold) taken = row.kind == LockEvent::kTake ? &row : nullptr;
  }
}

void ReadLockTrace(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  const std::string file_name = file.path.filename().string();
  std::vector<LockRow> rows;
  ReadPieces<LockFragment>(
      file, trace.issues,
      [&](EventParser& parser, const io::EventPiece& piece, LockFragment& fragment) {
        LockFiller filler(fragment, file_name);
        return parser.Parse(piece, file_name, fragment.issues, std::ref(filler));
      },
      [&](LockFragment& fragment) {
        trace.issues.Merge(fragment.issues);
        AppendAll(fragment.rows, rows);
      });
  std::ranges::sort(rows);
  const StringId lock = trace.strings.Intern("GIL");
  for (auto first = rows.begin(); first != rows.end();) {
    const auto next = std::find_if(first, rows.end(), [&](const LockRow& row) {
      return std::pair{row.process, row.thread} != std::pair{first->process, first->thread};
    });
    Append({first, next}, lock, trace);
    first = next;
  }
}

}  // namespace

Reader LockTrace() {
  return {"gil_tracer's log", FileKind::kLockTrace, Tables::kSystemCalls, ReadLockTrace};
}

}  // namespace mpa::readers
