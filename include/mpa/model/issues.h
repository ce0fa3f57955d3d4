// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mpa {

/// Rows that had to be left out while a rank was read, counted by what was wrong with them. A file
/// that cannot be used at all throws an Error instead.
class Issues {
 public:
  /// `what` completes the sentence "<n> rows left out: ..."; `place` is kept for the first one.
  void Count(std::string_view what, std::string_view place);
  void Merge(const Issues& later);

  bool Empty() const { return counts_.empty(); }
  /// One line per kind, in alphabetical order: "3 rows left out: bad time (first: x.csv:812)".
  std::vector<std::string> Lines() const;

 private:
  struct Entry {
    std::int64_t count = 0;
    std::string first_place;
  };
  std::map<std::string, Entry, std::less<>> counts_;
};

}  // namespace mpa
