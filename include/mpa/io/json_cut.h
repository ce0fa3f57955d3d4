// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace mpa::io {

/// An event array of a Chrome trace, cut between events.
struct CutArray {
  /// Runs of whole objects, separated by commas, without the brackets of the array. Views into the
  /// text that was cut.
  std::vector<std::string_view> pieces;
  /// Offset of the first byte behind the last whole object when the array has no end: the writer
  /// was killed, or the copy broke off. npos when the array is complete.
  std::size_t cut_off_at = std::string_view::npos;
};

/// Cuts the array of objects in `text` (the document is the array itself, or an object with an
/// array member "traceEvents") into pieces of at least `piece_bytes`. Throws Error (kCorrupt) when
/// there is no such array, or something other than objects in it.
CutArray CutEventArray(std::string_view text, std::size_t piece_bytes);

/// The whole objects of a piece, one by one; for the rare piece that does not parse as a whole.
std::vector<std::string_view> SplitObjects(std::string_view piece);

}  // namespace mpa::io
