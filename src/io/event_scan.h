// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "mpa/io/event_pieces.h"

namespace mpa::io {

inline constexpr std::size_t kNoPlace = std::string_view::npos;

/// White space of JSON.
constexpr bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
/// The position behind spaces, from `at`.
std::size_t SkipSpace(std::string_view text, std::size_t at);

/// Where the members of an object lead that begin at `at`.
struct MembersWalk {
  std::size_t events = kNoPlace;  ///< behind the '[' of a member "traceEvents"
  std::size_t end = kNoPlace;     ///< behind the '}' of the object, if no such member comes first
};
MembersWalk WalkMembers(std::string_view text, std::size_t at);
/// The same place behind the '[' of "traceEvents", whatever stands before it; kNoPlace if there is
/// none. Within valid strings there are no such quotes.
std::size_t FindEventsByName(std::string_view text);

/// The events of a text, whatever stands between them.
struct EventScan {
  struct Object {
    std::size_t begin, end;  ///< of an event that is not valid JSON: up to the next event
  };
  std::vector<Object> objects;
  std::vector<EventDamage> damages;  ///< by offset in the text
  std::size_t stopped = 0;           ///< where reading stopped; a whole event would begin there
  bool ended = false;                ///< the array has ended, and no event follows
};
/// `is_all`: the text is not continued elsewhere. Throws Error (kCorrupt) where a search for the
/// next event would take too long.
EventScan ScanEvents(std::string_view text, std::size_t at, bool is_all);

}  // namespace mpa::io
