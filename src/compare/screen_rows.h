// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpa/report/amount.h"
#include "overall.h"

namespace mpa {

/// The rows of a table on the screen with a value of each side, their difference and its share of
/// the base, in lines of one width.
class ScreenRows {
 public:
  explicit ScreenRows(std::size_t width);

  std::size_t NameWidth() const { return name_width_; }

  /// The values are shown on the scale; a long name loses its middle.
  void Add(const AmountScale& scale, const std::string& name, int level, const OverallValue& base,
           const OverallValue& comparison);
  /// The rows that matter: with too many the lowest level goes, then the smallest rows of the next.
  std::vector<std::vector<std::string>> Take(const char* sheet);
  /// A line without numbers: "(12 more in KernelCompare)".
  static std::vector<std::string> MoreRow(std::size_t more, std::string_view sheet);

 private:
  struct Entry {
    std::vector<std::string> cells;
    int level = 0;
    TimeNs size = 0;
  };
  std::size_t name_width_;
  std::vector<Entry> rows_;
};

/// Names the columns of such rows; `what` is the title of the first.
void SetHeaders(std::string what, ScreenTable& table);

}  // namespace mpa
