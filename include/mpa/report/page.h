// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/report/cell.h"
#include "mpa/report/palette.h"
#include "mpa/report/timeline.h"

/// What a page for people says, from top to bottom: texts, no markup. Writers give it a form.
namespace mpa {

/// The rows that are seen are drawn, however many there are.
struct PageTable {
  std::string title{};  ///< the table is folded below it; empty: it is always seen
  std::vector<std::string> headers{};
  std::vector<std::vector<std::string>> rows{};
  std::vector<std::size_t> numbers{};  ///< columns that stand to the right
  /// What each row is a part of: the row above with a lower level.
  std::vector<int> levels{};
  /// The cells as programs read them, which are sorted by and copied. Empty: the texts.
  std::vector<std::vector<Cell>> values{};
};

/// A column of a chart: a value for each of its labels. NaN: none.
struct PageSeries {
  std::string name{};
  std::vector<double> values{};
  Tint tint{};
  std::size_t shade = 0;                    ///< of Tint::kMemory and kDataType: which of them
  bool is_line = false;                     ///< over areas, which it is no part of
  std::vector<std::vector<double>> dots{};  ///< of kDots: several values for each label
};

/// A place on the lower axis that matters.
struct PageMark {
  double at = 0;
  std::string label{};
};

/// What values of kScatter reach at most: the lower of `most` and `slope` x place; 0: no limit.
struct PageRoof {
  std::string name{};
  double most = 0, slope = 0;
};

/// A frame of a flame graph, within `parent`, which comes before it; -1: it is within none.
struct PageFrame {
  std::int32_t parent = -1;
  std::size_t label = 0;  ///< position in PageChart::labels
  Tint tint{};            ///< what the device did, where the frame is its work
};

/// A drawing. Its numbers can be read as a table, too.
struct PageChart {
  enum class Kind : std::uint8_t {
    kBars,       ///< for each label, of all series side by side
    kStacked,    ///< of all series one behind the other: parts of a whole
    kBoxes,      ///< five series: the least, the quartiles, the most
    kHeat,       ///< a cell for each label and series; NaN: no cell
    kWaterfall,  ///< one series: a total, changes, and the total that they lead to
    kDots,       ///< see PageSeries::dots
    kAreas,      ///< series one above the other, over `at`
    kFlame,      ///< one series: of each of `frames` the value without those within it
    kScatter,    ///< a dot for each label at `at` and the value of one series; see `roofs`
    kLines,      ///< each series a line over `at`
    kHistogram,  ///< counts between each of `at` and the next, one more than there are; see `marks`
    kDistribution,  ///< of more labels than rows can hold: the values of each series in their order
    kTimeline,
  };
  Kind kind{};
  std::string title{};  ///< one sentence: what it shows
  std::string note{};   ///< what it does not show
  std::string unit{};   ///< of the values
  std::string label{};  ///< what the labels are
  std::vector<std::string> labels{};
  std::vector<PageSeries> series{};
  bool own_scale = false;  ///< of kHeat: each series has a scale of its own
  // Of kAreas, kLines and kScatter the places of the values, of kHistogram the edges of its bins.
  std::vector<double> at{};
  std::string unit_of_places{};
  std::vector<PageMark> marks{};  ///< of kHistogram what lies outside
  // Of kDots, for each label: a limit, and a band that is noise; with what they are.
  std::vector<std::optional<double>> limits{};
  std::vector<std::optional<std::pair<double, double>>> bands{};
  std::string limit{}, band{};
  // Of kScatter.
  std::vector<PageSeries> beside{};  ///< more about each label; the first is the size of its dot
  std::vector<PageRoof> roofs{};
  std::vector<PageFrame> frames{};  ///< of kFlame, which share labels
  std::optional<Timeline> timeline{};
};

/// A finding.
struct PageCard {
  std::string severity;  ///< "critical", "high", "medium", "low" or "info": how the card looks
  std::string label{};   ///< what people read of it
  std::string title{}, gain{}, facts{}, advice{};
  PageTable places{};     ///< that show it
  std::optional<PageChart> around{};    ///< one of the places
  std::vector<std::string> commands{};  ///< tell more about it
};

struct PageSection {
  std::string heading{};
  std::vector<std::string> lines{};   ///< in letters of one width
  std::string folded{};               ///< what the lines are, which are folded below it
  std::vector<std::string> points{};  ///< a list
  std::vector<PageChart> charts{};
  std::vector<PageTable> tables{};
  std::vector<PageCard> cards{};
};

/// Something that was analysed: "ranks", "0-7".
struct PageFact {
  std::string name, value;
};

struct Page {
  std::string title{};
  std::vector<std::string> lead{};  ///< the first paragraph is the answer, the others are details
  std::vector<PageFact> facts{};
  std::vector<PageSection> sections{};
};

}  // namespace mpa
