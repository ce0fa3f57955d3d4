// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "mpa/capture/capture.h"
#include "mpa/io/json_cut.h"
#include "mpa/model/issues.h"

namespace mpa::readers {

/// One event of a Chrome trace. Numbers are the text of the file, texts are unescaped; members that
/// the event lacks are empty.
struct TraceEvent {
  std::string_view ph, cat, name;
  std::string_view pid, tid, ts, dur, id;
  std::string_view args;  ///< the JSON text of the object; valid as long as the file's text
};

/// Calls on_event for every event of a piece made by io::CutEventArray. The event's texts, but for
/// args, are valid during the call only. An event that is not valid JSON is counted in `issues` and
/// left out.
void ForEachEvent(std::string_view piece, std::string_view file_name, Issues& issues,
                  const std::function<void(const TraceEvent&)>& on_event);

/// Calls on_member(key, value) for each member of a JSON object that is a text, a number or an
/// array: the value as its text, of an array the JSON. Broken JSON ends the walk.
void ForEachMember(std::string_view object,
                   const std::function<void(std::string_view, std::string_view)>& on_member);

/// The text of one member, empty when the object has none of the name.
std::string MemberText(std::string_view object, std::string_view name);

/// Process, thread and flow ids are numbers or texts; a text that is no number becomes a negative
/// number that only this text has. An absent id is 0, as the format defines.
std::int64_t IdFrom(std::string_view text);

/// A piece is cut at this size: large enough to keep workers busy, small enough to bound memory.
inline constexpr std::size_t kPieceBytes = std::size_t{16} << 20;

/// Cuts the events of a trace; an unfinished one (the writer was killed) is counted in `issues`.
/// Throws Error (kCorrupt) that names the file when there is no event array.
io::CutArray CutEvents(const CaptureFile& file, std::string_view text, Issues& issues);

}  // namespace mpa::readers
