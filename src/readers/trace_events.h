// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/io/event_pieces.h"
#include "mpa/model/issues.h"
#include "mpa/model/string_pool.h"

namespace mpa::readers {

/// Whether `text` is `word`: whole numbers are compared, where views call memcmp, which shows in
/// the keys of millions of events.
template <std::size_t kSize>
bool Is(std::string_view text, const char (&word)[kSize]) {
  return text.size() == kSize - 1 && std::memcmp(text.data(), word, kSize - 1) == 0;
}

/// A member of an event's args that is a text, a number or an array.
struct EventArg {
  std::string_view key;
  /// Of a string the contents between the quotes, of an array its JSON.
  std::string_view value;
  bool escaped = false;  ///< the value is a text with escapes
};

/// One event of a Chrome trace. Numbers are the text of the file, texts but those of args are
/// unescaped; members that the event lacks are empty and have no data(), texts of no length have.
struct TraceEvent {
  std::string_view ph, cat, name;
  std::string_view pid, tid, ts, dur;
  std::string_view id;  ///< also of an id2, which says whether it is local to a process
  std::vector<EventArg> args;

  /// The last arg of that name; null when the event has none.
  const EventArg* FindArg(std::string_view key) const;
  /// Its value, or nothing; escapes are left as they are.
  std::string_view Arg(std::string_view key) const;
};

inline constexpr std::string_view kInvalidTimes = "event left out, invalid start or duration";

/// When a span ran.
struct SpanTimes {
  TimeNs start, dur;
};
/// The times of a span that has a name; empty for one that cannot be used, which is counted. A
/// duration that is not there is unknown, not 0.
std::optional<SpanTimes> TimesOf(const TraceEvent& event, std::string_view file_name,
                                 Issues& issues);

/// Parses the pieces of a trace, one after the other.
class EventParser {
 public:
  EventParser();
  ~EventParser();

  /// Calls on_event for every event of the piece; the event's texts are valid during the call. An
  /// event that is not valid JSON is counted in `issues` and left out. Returns false when the cut
  /// was guessed and the piece is not valid as a whole; some events may have been given by then.
  bool Parse(const io::EventPiece& piece, std::string_view file_name, Issues& issues,
             const std::function<void(const TraceEvent&)>& on_event);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Texts of a pool, also those with escapes: what was unescaped once is found by how it is written.
/// Call stacks are long, full of escapes, and repeat with every step.
class EscapedTexts {
 public:
  explicit EscapedTexts(StringPool& pool) : pool_(pool) {}
  StringId Intern(const EventArg& arg);

 private:
  StringPool& pool_;
  StringPool written_;             // with the escapes
  std::vector<StringId> meaning_;  // of the written texts
};

/// A whole number, also where an exporter writes it as 6.0.
std::optional<std::int64_t> NumberFrom(std::string_view text);

/// Process, thread and flow ids are numbers or texts; a text that is not a number becomes a
/// negative number that is unique to this text. An absent id is 0, as the format defines.
std::int64_t IdFrom(std::string_view text);

}  // namespace mpa::readers
