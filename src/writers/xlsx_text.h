// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mpa::writers {

/// The beginning of `text` that has at most `limit` UTF-16 units, which Excel counts.
std::string FitName(std::string_view text, std::size_t limit);

/// True of most texts: FitCell() would give them back as they are. Quick.
bool IsPlain(std::string_view text, std::size_t limit);

struct CellText {
  std::string text;
  bool cut = false;
};

/// `text` as a cell of a workbook can hold it: nothing that breaks the XML or that Excel would take
/// for an escape of its own, and at most `limit` characters, the way Excel counts them (those
/// beyond U+FFFF twice). A longer text is cut between characters and ends in a mark with its
/// length.
CellText FitCell(std::string_view text, std::size_t limit);

}  // namespace mpa::writers
