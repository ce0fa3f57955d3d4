// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/host_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

// "train.py:90" of "/home/me/train.py(90): step"; empty for frames without a line.
std::string LineOf(std::string_view frame) {
  constexpr std::string_view kOpens = ".py(";
  const std::size_t opens = frame.find(kOpens);
  if (opens == std::string_view::npos) return "";
  const std::size_t number = opens + kOpens.size();
  const std::size_t closes = frame.find(')', number);
  if (closes == std::string_view::npos || closes == number) return "";
  std::string_view file = frame.substr(0, number - 1);
  file.remove_prefix(file.find_last_of("/\\") + 1);
  return fmt::format("{}:{}", file, frame.substr(number, closes - number));
}

// Python shortens paths by the directories of its search path: modules of the standard library have
// no directory of their own left.
bool IsOfPython(std::string_view frame) {
  constexpr std::string_view kModules[] = {
      "multiprocessing/", "concurrent/",   "asyncio/",      "importlib/",     "threading.py(",
      "contextlib.py(",   "functools.py(", "queue.py(",     "runpy.py(",      "pickle.py(",
      "copy.py(",         "socket.py(",    "selectors.py(", "subprocess.py(", "weakref.py("};
  return std::ranges::any_of(kModules,
                             [&](std::string_view module) { return frame.starts_with(module); });
}

}  // namespace

bool IsOfLibrary(std::string_view frame) {
  return frame.starts_with("<") || frame.starts_with("torch/") || IsOfPython(frame) ||
         ContainsAny(frame,
                     {"/torch/", "torch_npu/", "site-packages/", "dist-packages/", "lib/python"});
}

namespace {

// A line of the program itself, and of a library.
struct Lines {
  std::string own, of_library;

  // True once the line of the program is known. Frames come from the inner to the outer ones.
  bool Add(std::string_view frame) {
    std::string line = LineOf(frame);
    if (line.empty()) return false;
    const bool is_own = !IsOfLibrary(frame);
    std::string& kept = is_own ? own : of_library;
    if (kept.empty()) kept = std::move(line);
    return is_own;
  }
};

Lines LinesOfStack(std::string_view stack) {
  Lines lines;
  while (!stack.empty()) {
    const std::size_t end = std::min(stack.find(';'), stack.size());
    std::string_view frame = stack.substr(0, end);
    frame.remove_prefix(std::min(frame.find_first_not_of(" \r\n"), frame.size()));
    if (lines.Add(frame)) break;
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return lines;
}

}  // namespace

StringId HostTextOf(const RankTrace& trace, PieceTable table, std::int32_t row) {
  const auto at = static_cast<std::size_t>(row);
  switch (table) {
    case PieceTable::kHostOps:
      return trace.host_ops.name[at];
    case PieceTable::kPythonCalls:
      return trace.python_calls.name[at];
    case PieceTable::kHostCalls:
      return trace.host_calls.name[at];
    case PieceTable::kQueuedWork:
      return trace.queued_work.name[at];
    case PieceTable::kMstx:
      return trace.mstx.message[at];
    case PieceTable::kSystemCalls:
      return trace.system_calls.name[at];
    case PieceTable::kLockUses:
      return trace.lock_uses.lock[at];
    default:
      return StringId::kEmpty;
  }
}

std::string HostNameOf(const RankTrace& trace, PieceTable table, std::int32_t row) {
  const std::string_view text = trace.strings.View(HostTextOf(trace, table, row));
  return table == PieceTable::kPythonCalls ? WithoutAddresses(text) : std::string(text);
}

CallSites::CallSites(const RankTrace& trace, const HostClock& clock)
    : trace_(trace),
      offset_(clock.offset),
      threads_(trace.tracks),
      frames_(SpansOf(trace.python_calls)) {
  const auto& stacks = trace.host_ops.stack;
  const bool has_any =
      std::ranges::any_of(stacks, [&](StringId stack) { return HasStack(trace, stack); });
  FindFrames();
  if (!has_any) return;
  ops_.emplace(OpSpans(trace));
  FindStacks();
}

std::int32_t CallSites::TrackOf(const Piece& piece) const {
  const auto row = static_cast<std::size_t>(piece.row);
  switch (piece.table) {
    case PieceTable::kHostOps:
      return trace_.host_ops.track[row];
    case PieceTable::kPythonCalls:
      return trace_.python_calls.track[row];
    case PieceTable::kHostCalls:
      return trace_.host_calls.track[row];
    case PieceTable::kQueuedWork:
      return trace_.queued_work.queued_track[row];
    case PieceTable::kSystemCalls:
      return threads_.TrackOf(trace_.system_calls.process[row], trace_.system_calls.thread[row]);
    case PieceTable::kLockUses:
      return threads_.TrackOf(trace_.lock_uses.process[row], trace_.lock_uses.thread[row]);
    default:
      return -1;
  }
}

CallSite CallSites::Find(const Piece& piece) const {
  return FindAt({piece.begin + offset_, piece.end + offset_, TrackOf(piece)});
}

void CallSites::FindFrames() {
  enum class LineKind : std::uint8_t { kNotLookedAt, kNone, kOwn, kOfLibrary };
  std::unordered_map<StringId, LineKind> kinds;
  const auto& names = trace_.python_calls.name;
  own_frame_.assign(names.size(), -1);
  library_frame_.assign(names.size(), -1);
  for (const std::uint32_t row : frames_.InOrder()) {  // outer ones first
    if (const std::int64_t outer = frames_.Parent(row); outer != Nesting::kNone) {
      own_frame_[row] = own_frame_[static_cast<std::size_t>(outer)];
      library_frame_[row] = library_frame_[static_cast<std::size_t>(outer)];
    }
    LineKind& kind = kinds[names[row]];
    if (kind == LineKind::kNotLookedAt) {
      const std::string_view frame = trace_.strings.View(names[row]);
      kind = LineOf(frame).empty() ? LineKind::kNone
             : IsOfLibrary(frame)  ? LineKind::kOfLibrary
                                   : LineKind::kOwn;
    }
    if (kind == LineKind::kOwn) own_frame_[row] = static_cast<std::int32_t>(row);
    if (kind == LineKind::kOfLibrary) library_frame_[row] = static_cast<std::int32_t>(row);
  }
  frames_.ForgetTrees();
}

void CallSites::FindStacks() {
  const HostOps& ops = trace_.host_ops;
  NamedClasses marks(trace_.strings, IsStepMark);
  op_with_stack_.assign(ops.Size(), -1);
  for (const std::uint32_t row : ops_->InOrder()) {
    if (const std::int64_t outer = ops_->Parent(row); outer != Nesting::kNone)
      op_with_stack_[row] = op_with_stack_[static_cast<std::size_t>(outer)];
    // The mark of a step is around everything.
    if (HasStack(trace_, ops.stack[row]) && !marks.Of(ops.name[row]))
      op_with_stack_[row] = static_cast<std::int32_t>(row);
  }
}

CallSite CallSites::FindAt(const NestSpan& span) const {
  if (span.track < 0) return {};
  const auto of = [](const std::vector<std::int32_t>& of_row, std::int64_t row) {
    return row == Nesting::kNone ? std::int64_t{-1} : of_row[static_cast<std::size_t>(row)];
  };
  const auto text_of = [](const auto& texts, std::int64_t row) {
    return row < 0 ? StringId::kEmpty : texts[static_cast<std::size_t>(row)];
  };
  const std::int64_t innermost = frames_.FindEnclosing(span);
  const std::int64_t frame = of(own_frame_, innermost);
  const std::int64_t op = ops_ ? of(op_with_stack_, ops_->FindEnclosing(span)) : -1;
  return {.function = text_of(trace_.python_calls.name, frame),
          .of_library = text_of(trace_.python_calls.name, of(library_frame_, innermost)),
          .stack = text_of(trace_.host_ops.stack, op),
          .stack_is_inner =
              op >= 0 && (frame < 0 || ops_->At(static_cast<std::size_t>(op)).start >=
                                           frames_.At(static_cast<std::size_t>(frame)).start)};
}

std::string CallSites::Line(const CallSite& site) const {
  const Lines of_frames = {LineOf(trace_.strings.View(site.function)),
                           LineOf(trace_.strings.View(site.of_library))};
  const Lines of_stack = LinesOfStack(trace_.strings.View(site.stack));
  const Lines& inner = site.stack_is_inner ? of_stack : of_frames;
  const Lines& outer = site.stack_is_inner ? of_frames : of_stack;
  for (const std::string* line : {&inner.own, &outer.own, &inner.of_library}) {
    if (!line->empty()) return *line;
  }
  return outer.of_library;
}

std::string HostPlaceOf(const RankTrace& trace, const CallSites& sites, const Piece& piece) {
  std::string place = HostNameOf(trace, piece.table, piece.row);
  if (IsStepMark(place)) return "";
  if (place.empty() || IsIssuing(piece.category)) return place;
  if (const std::string site = sites.Of(piece); !site.empty()) place += " at " + site;
  return place;
}

}  // namespace mpa
