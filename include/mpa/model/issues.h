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

/// What a whole capture keeps. promises/promise.h has the list of what each says.
enum class Promise : std::uint8_t {
  kReadable,
  kFileIsWhole,
  kColumnsThere,
  kOnceEach,
  kLaunchesHaveWork,
  kWorkHasLaunch,
  kWorkAfterLaunch,
  kOneLaunchOneNumber,
  kArrowsHaveEnds,
  kReferences,
  kTablesAgree,
  kOneDevice,
  kOwnRun,
  kTimesPossible,
  kStreamsInOrder,
  kStepsFollow,
  kCategoriesKnown,
  kGroupsPossible,
  kCommunicationRecorded,
};

/// Promises that a rank's capture breaks: rows that had to be left out and numbers that are wrong
/// or unknown, counted by what was wrong with them. A file that cannot be used at all throws an
/// Error instead.
class Issues {
 public:
  /// `what` names the problem as a whole phrase; `place` is kept for the first one.
  void Count(Promise broken, std::string_view what, std::string_view place);
  /// The same of a record that cannot be read.
  void Count(std::string_view what, std::string_view place) {
    Count(Promise::kReadable, what, place);
  }
  void Merge(const Issues& later);

  bool Empty() const { return counts_.empty(); }
  bool Contains(std::string_view what) const { return counts_.contains(what); }
  bool Breaks(Promise promise) const;
  /// One line per kind, in alphabetical order: "kernel left out, ..., 3 times (first: x.csv:812)".
  std::vector<std::string> Lines() const;
  /// The same of one promise.
  std::vector<std::string> Lines(Promise promise) const;

 private:
  struct Entry {
    Promise promise = Promise::kReadable;
    std::int64_t count = 0;
    std::string first_place;
  };
  static std::string Line(std::string_view what, const Entry& entry);

  std::map<std::string, Entry, std::less<>> counts_;
};

}  // namespace mpa
