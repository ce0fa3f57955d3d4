// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/host_places.h"

#include <fmt/format.h>

#include <string_view>

#include "mpa/base/text.h"

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

bool IsOfLibrary(std::string_view frame) {
  return frame.starts_with("<") || frame.starts_with("torch/") ||
         ContainsAny(frame,
                     {"/torch/", "torch_npu/", "site-packages/", "dist-packages/", "lib/python"});
}

}  // namespace

std::string HostNameOf(const RankTrace& trace, PieceTable table, std::int32_t row) {
  const auto at = static_cast<std::size_t>(row);
  const auto name = [&](StringId text) { return std::string(trace.strings.View(text)); };
  switch (table) {
    case PieceTable::kHostOps:
      return name(trace.host_ops.name[at]);
    case PieceTable::kPythonCalls:
      return WithoutAddresses(trace.strings.View(trace.python_calls.name[at]));
    case PieceTable::kHostCalls:
      return name(trace.host_calls.name[at]);
    case PieceTable::kQueuedWork:
      return name(trace.queued_work.name[at]);
    case PieceTable::kMstx:
      return name(trace.mstx.message[at]);
    default:
      return "";
  }
}

CallSites::CallSites(const RankTrace& trace, const HostClock& clock)
    : trace_(trace), offset_(clock.offset), frames_(SpansOf(trace.python_calls)) {}

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
    default:
      return -1;
  }
}

std::string CallSites::Of(const Piece& piece) const {
  if (trace_.python_calls.Empty()) return "";
  const std::int32_t track = TrackOf(piece);
  if (track < 0) return "";
  std::int64_t frame = frames_.FindEnclosing({piece.begin + offset_, piece.end + offset_, track});
  std::string of_library;
  for (; frame != Nesting::kNone; frame = frames_.Parent(static_cast<std::size_t>(frame))) {
    const std::string_view name =
        trace_.strings.View(trace_.python_calls.name[static_cast<std::size_t>(frame)]);
    std::string line = LineOf(name);
    if (line.empty()) continue;
    if (!IsOfLibrary(name)) return line;
    if (of_library.empty()) of_library = std::move(line);
  }
  return of_library;
}

}  // namespace mpa
