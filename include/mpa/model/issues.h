// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mpa {

/// The issue of a trace whose file ends too early.
inline constexpr std::string_view kTraceBreaksOff =
    "the trace breaks off, the end of the run is missing";

/// Rows that had to be left out while a rank was read, counted by what was wrong with them. A file
/// that cannot be used at all throws an Error instead.
class Issues {
 public:
  /// `what` names the problem as a whole phrase; `place` is kept for the first one.
  void Count(std::string_view what, std::string_view place);
  void Merge(const Issues& later);

  bool Empty() const { return counts_.empty(); }
  bool Contains(std::string_view what) const { return counts_.contains(what); }
  /// One line per kind, in alphabetical order: "kernel left out, ..., 3 times (first: x.csv:812)".
  std::vector<std::string> Lines() const;

 private:
  struct Entry {
    std::int64_t count = 0;
    std::string first_place;
  };
  std::map<std::string, Entry, std::less<>> counts_;
};

}  // namespace mpa
