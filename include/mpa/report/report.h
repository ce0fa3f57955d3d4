// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_state.h"
#include "mpa/report/cell.h"
#include "mpa/report/change_tree.h"
#include "mpa/report/chart.h"
#include "mpa/report/gate_report.h"
#include "mpa/report/page.h"
#include "mpa/report/screen_line.h"
#include "mpa/report/timeline.h"
#include "mpa/settings/differences.h"

/// What an analysis hands to the writers: plain values, no formatting.
namespace mpa {

/// How the values of a column are shown.
enum class Format {
  kGeneral,  ///< as it is, in bold type
  kText,     ///< as it is, in plain type
  kInteger,
  kDecimals2,
  kDecimals3,
  kDecimals4,
  kPercent,
  kGrowth,  ///< a share with its sign: "+5.8%"
};

/// What the whole numbers of a column are. Writers convert them; real numbers are already in the
/// unit that the column's name states.
enum class Unit { kNone, kNsShownAsMs, kNsShownAsUs };

/// Which side of a comparison a column belongs to.
enum class Side { kNeither, kBase, kComparison };

/// What a number says of how the row changed.
enum class ChangeRole : std::uint8_t {
  kNone,
  kDifference,  ///< the comparison minus the base: workbooks draw a bar of it
  kTotal,       ///< with its side: of two such columns, sheets without differences have one
};

/// How the workbook of a single rank shows a column, where that differs. The CSV files of
/// --export_type text have the title, too.
struct InWorkbook {
  enum class Shown : std::uint8_t { kAlways, kIfAny, kNever };  ///< kIfAny: a cell holds something
  std::string title{};                                          ///< empty: the column's name
  Shown shown = Shown::kAlways;
  Unit unit = Unit::kNone;  ///< of whole numbers; with another one, three decimals are shown
};

struct Column {
  std::string name;  ///< in databases; programs get it in snake case, with its side and unit
  Format format = Format::kGeneral;
  double width = 10;  ///< characters
  Side side = Side::kNeither;
  Unit unit = Unit::kNone;
  /// Decimals that documents for people keep of real numbers; programs get all of them.
  std::optional<int> decimals{};
  /// Growth is shown as a warning: a value above 1 (of kGrowth 0) in a row whose change matters.
  bool marks_growth = false;
  ChangeRole change{};
  /// Equal cells below each other are one in workbooks as the Python tool makes them, where the
  /// columns before are equal, too.
  bool merges_equal = false;
  std::string meaning{};  ///< one sentence for docs/output.md
  InWorkbook in_workbook{};
};

/// How much a row stands out: headings of a section, of a part of it, ordinary rows.
enum class Emphasis { kNone, kPart, kSection };

struct Row {
  std::vector<Cell> cells;
  Emphasis emphasis = Emphasis::kNone;
  int indent = 0;    ///< of the first cell
  RankIndex rank{};  ///< whose row it is, a position in Report::ranks
};

/// The rows of a sheet: stored, or made each time they are read, so that a long list takes no more
/// than what its rows are made of. Rows that are made do not stand out and are not indented.
/// Whatever changes rows stores all of them first.
class Rows {
 public:
  using value_type = Row;
  Rows() = default;
  Rows(std::vector<Row> rows) : rows_(std::move(rows)) {}  // as a list of rows is
  Rows(std::initializer_list<Row> rows) : rows_(rows) {}
  /// `make` is called by several threads at once. What it reads has to outlive the rows; see
  /// Report::sources.
  Rows(std::size_t count, std::function<Row(std::size_t)> make);

  std::size_t size() const { return make_ ? count_ : rows_.size(); }
  bool empty() const { return size() == 0; }
  bool AreMade() const { return make_ != nullptr; }
  /// The reference is valid until this thread has read three other rows.
  const Row& operator[](std::size_t i) const { return make_ ? Made(i) : rows_[i]; }
  Row& operator[](std::size_t i) { return Stored()[i]; }

  class Iterator {
   public:
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const Rows* rows, std::size_t i) : rows_(rows), i_(i) {}
    const Row& operator*() const { return (*rows_)[i_]; }
    const Row* operator->() const { return &(*rows_)[i_]; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    Iterator operator++(int) { return {rows_, i_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    const Rows* rows_ = nullptr;
    std::size_t i_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  auto begin() { return Stored().begin(); }
  auto end() { return Stored().end(); }

  Row& back() { return Stored().back(); }
  void reserve(std::size_t count) { Stored().reserve(count); }
  void clear() { Stored().clear(); }
  void push_back(Row row) { Stored().push_back(std::move(row)); }
  Row& emplace_back() { return Stored().emplace_back(); }

 private:
  const Row& Made(std::size_t i) const;
  std::vector<Row>& Stored();

  std::vector<Row> rows_;
  std::size_t count_ = 0;
  std::function<Row(std::size_t)> make_;
  std::uint64_t id_ = 0;  // of what makes the rows
};

/// A title over neighbouring columns.
struct Banner {
  std::size_t first_column = 0, last_column = 0;
  std::string text;
  Side side = Side::kNeither;
};

/// How a workbook shows a sheet: two sides compared, or results listed.
enum class Look { kComparison, kList };

/// Where workbooks of single ranks show a sheet that holds the rows of all ranks.
struct WorkbookPlace {
  std::string stem;   ///< of the file, before the rank: "operator_mfu_kernel"
  std::string sheet;  ///< its name there: "Sheet1"
};

/// The CSV file that --export_type text makes of a sheet, as the Python tool does: columns whose
/// names end in "Ns" are shown in another unit, and say so.
struct TextFile {
  std::string stem;  ///< "all_stats"; empty: none
  enum class Unit : std::uint8_t { kMicroseconds, kMilliseconds, kAsTheyAre } unit{};
  std::string without{};  ///< a column that the file does not have
};

struct Sheet {
  std::string name;
  std::string_view meaning{};  ///< what it is for, in English
  std::vector<Banner> banners;
  std::vector<Column> columns;
  Rows rows;
  Look look = Look::kComparison;
  WorkbookPlace of_rank{};  ///< without a stem: in no workbook of a rank
  TextFile text_file{};
  std::vector<Chart> charts{};  ///< of its rows; a sheet of which none was declared has none
  /// What the change of a row has to reach to matter, in the unit of its columns: see ChangeOf().
  /// Without it growth by 1 % matters.
  std::optional<double> least_change{};
};

/// The part of the base's step by which something has to change to matter.
inline constexpr double kPartThatMatters = 0.01;

/// By how much the comparison exceeds the base in the row: the first difference that it has, or
/// else that of the totals. Empty: the row does not tell.
std::optional<double> ChangeOf(const Sheet& sheet, const Row& row);

/// A column of a sheet with a row for each Item, and how to get its cell.
template <typename Item>
struct ColumnOf {
  Column column;
  Cell (*cell)(const Item& item);
};

/// The row of the item.
template <typename Item>
Row RowOf(const std::vector<ColumnOf<Item>>& columns, const Item& item, RankIndex rank) {
  Row row;
  row.rank = rank;
  row.cells.reserve(columns.size());
  for (const ColumnOf<Item>& column : columns) row.cells.push_back(column.cell(item));
  return row;
}

/// Appends a row for the item.
template <typename Item>
void AddRow(const std::vector<ColumnOf<Item>>& columns, const Item& item, RankIndex rank,
            Sheet& sheet) {
  sheet.rows.push_back(RowOf(columns, item, rank));
}

/// A column with what it means; workbooks show its name, or else the title.
Column NamedColumn(std::string_view name, Format format, double width, std::string_view meaning,
                   std::string_view title = {});

/// The name of a list, and what it is for, in English. Workbooks of recipes begin with both.
struct SheetTitle {
  std::string_view name, meaning;

  template <std::convertible_to<std::string_view> Text>
  SheetTitle(const Text& name, std::string_view meaning = {}) : name(name), meaning(meaning) {}
};

/// An empty list with these columns.
template <typename Item>
Sheet SheetOf(const SheetTitle& title, const std::vector<ColumnOf<Item>>& columns,
              TextFile text_file = {}) {
  Sheet sheet;
  sheet.name = title.name;
  sheet.meaning = title.meaning;
  sheet.look = Look::kList;
  sheet.text_file = std::move(text_file);
  for (const ColumnOf<Item>& column : columns) sheet.columns.push_back(column.column);
  return sheet;
}

/// A list that items are added to, each as a row.
template <typename Item>
class ItemSheet {
 public:
  ItemSheet(const SheetTitle& title, std::vector<ColumnOf<Item>> columns, TextFile text_file = {})
      : sheet(SheetOf(title, columns, std::move(text_file))), columns_(std::move(columns)) {}
  void Add(const Item& item, RankIndex rank = {}) { AddRow(columns_, item, rank, sheet); }
  const std::vector<ColumnOf<Item>>& Columns() const { return columns_; }

  Sheet sheet;

 private:
  std::vector<ColumnOf<Item>> columns_;
};

/// A list of items of which only those are kept: their rows are made when they are read. What items
/// point to has to be of the parts of a recipe, which live as long as the report.
template <typename Item>
class PartSheet {
 public:
  explicit PartSheet(ItemSheet<Item> list) : list_(std::move(list)) {}
  void Add(const Item& item, RankIndex rank) { items_.push_back({item, rank}); }
  Sheet Take() && {
    Sheet sheet = std::move(list_.sheet);
    const std::size_t count = items_.size();
    // Functions are copied with sheets, items are not.
    const auto items = std::make_shared<const std::vector<Kept>>(std::move(items_));
    sheet.rows = Rows(count, [items, columns = list_.Columns()](std::size_t i) {
      return RowOf(columns, (*items)[i].item, (*items)[i].rank);
    });
    return sheet;
  }

 private:
  struct Kept {
    Item item;
    RankIndex rank{};
  };
  ItemSheet<Item> list_;
  std::vector<Kept> items_;
};

/// A small table for the screen; its cells are text already.
struct ScreenTable {
  std::string title;
  std::vector<std::string> headers;
  std::vector<std::vector<std::string>> rows;  ///< of one cell: a line across the columns
  std::vector<std::string> heading{};          ///< lines above it
  bool plain =
      false;  ///< no borders and no title; numbers stand to the right, the first column left
};

/// How much a finding matters.
enum class Severity : std::uint8_t { kInfo, kWarn, kHigh };
/// "info", "warn", "high".
std::string_view NameOf(Severity severity);

/// Something that costs time, and what to do about it.
struct AdviceCard {
  std::string rule;  ///< stable: "non_contiguous_inputs"
  Severity severity = Severity::kWarn;
  RankId rank{};                     ///< -1: unknown
  std::string scope;                 ///< what it is about, such as a graph
  std::string owner;                 ///< whom to ask
  std::string text;                  ///< what was measured, and what to do
  std::optional<std::int64_t> gain;  ///< ns that a fix saves at most; empty: unknown
};

/// Takes a text piece by piece.
using TextSink = std::function<void(std::string_view)>;

/// A file of the form `text` that is not a table.
struct TextDocument {
  std::string file_name;  ///< "cluster_communication.json"
  std::string text{};
  /// Gives the text of a long document piece by piece, instead. What it reads has to outlive the
  /// document: parts of recipes do, and Report::sources.
  std::function<void(const TextSink&)> write{};
};

/// A row of a sheet of the report, and the cell in it that matters.
struct RowPlace {
  std::string sheet;
  std::size_t row = 0;  ///< a position in Sheet::rows
  std::size_t column = 0;
};

/// A small table of a summary, and a chart of it.
struct SummaryTable {
  Sheet table;  ///< its name is the title; the first column says what a row is
  /// Where the numbers of each row are, in a column of its own behind the others. Empty: there is
  /// no such column.
  std::vector<std::optional<RowPlace>> links{};
  std::string chart{};                 ///< the title of a bar chart; empty: none
  std::vector<std::size_t> charted{};  ///< the columns that it shows
  bool last_is_sum = false;            ///< the last row, which it does not show
  std::vector<Tint> tints{};           ///< what each row means, for the chart; empty: nothing
};

/// The first sheet of a workbook: the answer in words, and the numbers behind it. The facts of the
/// report follow the words.
struct WorkbookSummary {
  std::string name = "Summary";
  std::string title{};
  std::vector<std::string> lines{};  ///< the verdict first
  std::string link_header = "Where";
  std::vector<SummaryTable> tables{};
  std::vector<std::string> caveats{};  ///< below the tables
};

/// What a command found, for every format: each writer shows the parts that it can. Documents are
/// those of which a recipe alone knows the form.
struct Report {
  std::string preface;  ///< what to know before any number, for the screen; one of the notes
  std::vector<ScreenTable> screens;
  ScreenLines lines;  ///< the answer on the screen
  std::vector<Sheet> sheets;
  std::vector<RankId> ranks;                 ///< that rows belong to; -1: unknown
  AbsentRanks absent;                        ///< ranks of the job that were not analysed
  std::vector<PageChart> drawings;           ///< for pages, before those of the sheets
  std::vector<Timeline> timelines;           ///< if they were asked for
  std::vector<AdviceCard> advice_cards;      ///< the most important one first
  std::vector<PageFact> facts;               ///< what was analysed, for pages
  std::vector<std::string> story;            ///< what changed most, in few lines, for the screen
  std::optional<ComparedSettings> settings;  ///< of the two sides of a comparison
  ChangeNode change;                         ///< what the story is about; without children: nothing
  std::optional<WorkbookSummary> summary;    ///< for workbooks
  std::vector<std::shared_ptr<const void>> sources{};  ///< of rows that are made, and documents
  std::vector<std::string> notes;                      ///< what could not be computed, and why
  /// Those of the notes that matter to who asked for a sheet: it was not collected.
  std::vector<std::string> not_collected;
  bool as_reference = false;            ///< workbooks are laid out as the Python tool's
  bool partial = false;                 ///< captures had to be left out, which a note names
  std::optional<Page> page;             ///< for people, where PageOf() should not make it
  std::vector<TextDocument> documents;  ///< more files of --export_type text
  /// Of a gate: its verdict with what led to it. JUnit, OpenMetrics, annotations and the gate's own
  /// JSON and Markdown are about single metrics with their limits and runs, which lines for people
  /// do not hold.
  std::optional<GateReport> gate;
};

/// "  ... 3 more kinds".
std::string MoreText(std::size_t left_out, std::string_view noun);

/// Adds MoreText() to a list of which only some are shown; nothing if all are.
template <typename Line>
void AddMoreLine(std::size_t all, std::size_t shown, std::string_view noun,
                 std::vector<Line>& lines) {
  if (all > shown) lines.push_back(MoreText(all - shown, noun));
}

/// The value rounded to so many decimals, halves away from zero, never negative zero. Meant for
/// values that stand for decimal numbers: 2.155 is 2.16, although its double lies below.
double Rounded(double value, int decimals);

/// Rounded() as text with all its decimals: "2.160" for 2.16 and 3.
std::string Fixed(double value, int decimals);

/// comparison / base; 1 when both are 0, infinity when only `base` is. Whole numbers of the
/// smallest unit give the nearest ratio: 0.06 / 0.04 is not 1.5, 60 / 40 is.
double GrowthRatio(double base, double comparison);

}  // namespace mpa
