// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mpa/report/cell.h"

/// Lines of screens, which documents for programs hold with the numbers that they state.
namespace mpa {

/// A number as a line shows it: of "rank 6 arrived 75.13 ms late" 75.13, "ms" and 6.
struct StatedNumber {
  std::string name{};  ///< the column of a list; of "step 10" "step"; empty: the line says no name
  double value = 0;    ///< rounded as it is shown, in `unit`
  std::string unit{};  ///< "ms", "%"; empty: a count, or a number without unit
  Cell rank{};         ///< whose it is, as RankCell() has it; empty: not of one rank
};

/// A line of a screen. Lists know their numbers by their columns; of other lines they are read from
/// the text, as it is written for people.
class ScreenLine {
 public:
  ScreenLine(std::string text) : text_(std::move(text)) {}  // as lines are texts
  ScreenLine(const char* text) : text_(text) {}
  ScreenLine(std::string text, std::vector<StatedNumber> numbers)
      : text_(std::move(text)), numbers_(std::move(numbers)) {}

  operator const std::string&() const { return text_; }
  const std::string& Text() const { return text_; }
  /// In order of the text.
  std::vector<StatedNumber> Numbers() const;

  bool operator==(const ScreenLine& other) const { return text_ == other.text_; }

 private:
  std::string text_;
  std::optional<std::vector<StatedNumber>> numbers_;
};

using ScreenLines = std::vector<ScreenLine>;

/// The texts of the lines, and lines of texts.
std::vector<std::string> TextsOf(const ScreenLines& lines);
ScreenLines ScreenLinesOf(const std::vector<std::string>& texts);

/// Adds a sentence in as many lines as it needs; those behind the first are indented by two blanks.
void AddSentence(std::string_view sentence, ScreenLines& lines);

/// Takes the first sentence of a screen from its lines: a line was broken where the first word of
/// the next one had no room. Of a screen of several groups of captures, each below its name and a
/// colon, that of each group with the name: "level0: ...". None where the first line is a row of a
/// list.
std::vector<std::string> TakeVerdicts(std::vector<std::string>& lines);

/// The numbers that a text for people states. Parts of names and shapes are none, nor are ranks: a
/// rank says whose a number is where it stands before it as the subject ("rank 6 ...", "...: rank 6
/// ..."), or right behind it ("2.5 ms on rank 0", "(rank 0)").
std::vector<StatedNumber> NumbersIn(std::string_view text);

/// The only rank that the text names; empty: none, or several.
Cell OnlyRankIn(std::string_view text);

/// The unit that is a word of the text, such as a heading: "total ms" is of "ms". Empty: none.
std::string_view UnitIn(std::string_view text);

/// What a line is about: of its numbers the first with a unit other than "%", or else the first one
/// that is not a name ("step 10"), or else the first.
const StatedNumber* LeadingOf(const std::vector<StatedNumber>& numbers);

}  // namespace mpa
