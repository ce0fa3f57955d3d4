// SPDX-License-Identifier: Apache-2.0
// Workbooks.
#include <xlsxwriter.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "formats.h"
#include "mpa/base/error.h"
#include "mpa/base/parallel.h"
#include "mpa/io/scratch_directory.h"
#include "report_summary.h"
#include "sheet_values.h"
#include "xlsx_cells.h"
#include "xlsx_layout.h"
#include "xlsx_package.h"

namespace mpa::writers {
namespace {

/// Rows [first, last) of a sheet as a worksheet.
struct Part {
  const Sheet& sheet;
  const SheetStyles& styles;
  std::size_t first = 0, last = 0;
  std::string name;
  lxw_worksheet* worksheet = nullptr;
  Cuts cuts{};
};

lxw_row_t HeaderRows(const Sheet& sheet) { return sheet.banners.empty() ? 1 : 3; }

/// Where row `row` of the sheet stands in the worksheet.
lxw_row_t PlaceOf(const Part& part, std::size_t row) {
  return HeaderRows(part.sheet) + static_cast<lxw_row_t>(row - part.first);
}

void WriteHeaders(const Part& part, bool as_reference, CellWriter& cells) {
  const Sheet& sheet = part.sheet;
  for (std::size_t i = 0; i < sheet.banners.size(); ++i) {
    const Banner& banner = sheet.banners[i];
    lxw_format* style = part.styles.banners[i];
    if (banner.first_column != banner.last_column) {  // a cell alone cannot be merged
      Check(worksheet_merge_range(part.worksheet, 0, Col(banner.first_column), 0,
                                  Col(banner.last_column), "", style),
            "merging header cells");
    }
    cells.WriteText(banner.text, 0, banner.first_column, style);
  }
  const lxw_row_t row = HeaderRows(sheet) - 1;
  const std::vector<double> widths = as_reference ? std::vector<double>() : FittedWidths(sheet);
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
    worksheet_set_column(part.worksheet, Col(i), Col(i),
                         as_reference ? sheet.columns[i].width : widths[i], nullptr);
    cells.WriteText(sheet.columns[i].name, row, i, part.styles.headers[i]);
  }
  constexpr double kListHeaderHeight = 27;
  if (!as_reference) {
    worksheet_set_row(part.worksheet, row, HeaderHeight(sheet, widths), nullptr);
    const lxw_row_t last =
        part.last > part.first ? PlaceOf(part, part.last - 1) : HeaderRows(sheet) - 1;
    MakeReadable(part.worksheet, sheet, widths, {row, last});
  } else if (sheet.look == Look::kList) {
    worksheet_set_row(part.worksheet, row, kListHeaderHeight, nullptr);
  }
}

void WriteRow(const Part& part, std::size_t row, CellWriter& cells) {
  const Row& shown = part.sheet.rows[row];
  const std::vector<lxw_format*>& styles = part.styles.Data(shown);
  cells.BeginRow(shown);
  for (std::size_t i = 0; i < shown.cells.size(); ++i) {
    cells.Write(shown.cells[i], PlaceOf(part, row), i, styles[i]);
  }
}

// Makes one cell of equal ones below each other.
void MergeEqualCells(const Part& part, CellWriter& cells) {
  const Rows& rows = part.sheet.rows;
  for (std::size_t column = 0; column < part.sheet.columns.size(); ++column) {
    if (!part.sheet.columns[column].merges_equal) continue;
    const auto same = [&](std::size_t a, std::size_t b) {
      return std::equal(rows[a].cells.begin(),
                        rows[a].cells.begin() + static_cast<std::ptrdiff_t>(column) + 1,
                        rows[b].cells.begin());
    };
    for (std::size_t from = part.first; from < part.last;) {
      std::size_t to = from + 1;
      while (to < part.last && same(from, to)) ++to;
      if (to - from > 1) {
        lxw_format* style = part.styles.Data(rows[from])[column];
        Check(worksheet_merge_range(part.worksheet, PlaceOf(part, from), Col(column),
                                    PlaceOf(part, to - 1), Col(column), "", style),
              "merging cells");
        cells.Write(rows[from].cells[column], PlaceOf(part, from), column, style);
      }
      from = to;
    }
  }
}

/// Makes the worksheets of a sheet: one, or more if it has more rows than one can hold.
void AddParts(const Sheet& sheet, lxw_workbook* workbook, Styles& styles,
              const WorkbookLimits& limits, std::vector<Part>& parts) {
  const std::size_t room = limits.rows - HeaderRows(sheet);
  const SheetStyles& styles_of_sheet = styles.For(sheet);
  int count = 0;
  for (std::size_t first = 0; count == 0 || first < sheet.rows.size(); first += room) {
    Part& part = parts.emplace_back(
        Part{sheet, styles_of_sheet, first, std::min(sheet.rows.size(), first + room), sheet.name});
    const std::string number = ++count > 1 ? fmt::format(" ({})", count) : "";
    part.name = FitName(part.name, kMaxSheetName - number.size()) + number;
    if (workbook_validate_sheet_name(workbook, part.name.c_str()) != LXW_NO_ERROR) {
      Fail(ErrorKind::kInternal, "bad sheet name '{}'", part.name);
    }
    part.worksheet = workbook_add_worksheet(workbook, part.name.c_str());
    if (part.worksheet == nullptr) {
      Fail(ErrorKind::kOutput, "no temporary file for '{}'", part.name);
    }
  }
}

/// What had to be done to the parts of a sheet.
void AppendNotesOfSheet(std::span<const Part> parts, const WorkbookLimits& limits,
                        std::vector<std::string>& notes) {
  const Sheet& sheet = parts[0].sheet;
  if (parts.size() > 1) {
    notes.push_back(
        fmt::format("{}: {} rows are more than a sheet of a workbook holds; they continue on {}",
                    sheet.name, WithThousands(std::to_string(sheet.rows.size())),
                    parts.size() == 2 ? parts[1].name
                                      : fmt::format("{} (2) to ({})", sheet.name, parts.size())));
  }
  Cuts cuts;
  for (const Part& part : parts) {
    cuts.Add({part.cuts.count, part.name + '!' + part.cuts.first});
  }
  if (cuts.count > 0) {
    notes.push_back(fmt::format(
        "{}: {} {} longer than the {} characters that a cell of a workbook holds, and cut there;"
        " the first is {}",
        sheet.name, WithThousands(std::to_string(cuts.count)),
        cuts.count == 1 ? "text is" : "texts are", WithThousands(std::to_string(limits.characters)),
        cuts.first));
  }
}

void AppendNotes(std::span<const Part> parts, const WorkbookLimits& limits,
                 std::vector<std::string>& notes) {
  while (!parts.empty()) {
    std::size_t count = 1;
    while (count < parts.size() && &parts[count].sheet == &parts[0].sheet) ++count;
    AppendNotesOfSheet(parts.first(count), limits, notes);
    parts = parts.subspan(count);
  }
}

/// Some rows of a part.
struct Block {
  std::size_t part = 0;
  std::size_t first = 0, last = 0;
  ZipPiece rows{};
  Cuts cuts{};
};

std::vector<Block> BlocksOf(const std::vector<Part>& parts) {
  constexpr std::size_t kRows = 256;  // some 500 KB
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t row = parts[i].first; row < parts[i].last; row += kRows) {
      blocks.push_back({i, row, std::min(row + kRows, parts[i].last)});
    }
  }
  return blocks;
}

/// The worksheets of a workbook, and what fills them.
class WorkbookWriter {
 public:
  /// `streams`: rows go past the library.
  WorkbookWriter(lxw_workbook* workbook, std::string title, bool streams, bool as_reference,
                 const WorkbookLimits& limits)
      : workbook_(workbook),
        title_(std::move(title)),
        streams_(streams),
        as_reference_(as_reference),
        limits_(limits),
        styles_(workbook, as_reference) {}

  /// Writes the sheets of the report behind its summary; notes what had to be done to them.
  void Write(const Report& report, std::vector<std::string>& notes) {
    const std::optional<WorkbookSummary> summary =
        report.summary || as_reference_ ? report.summary : SummaryOf(report, title_);
    if (!summary) {
      Write(report.sheets, notes);
      return;
    }
    lxw_worksheet* first = workbook_add_worksheet(workbook_, summary->name.c_str());
    if (first == nullptr) Fail(ErrorKind::kOutput, "no temporary file for the summary");
    rows_.emplace_back();  // the library has its rows
    const std::vector<Part> parts = Write(report.sheets, notes);
    WriteSummary(
        *summary, report.facts, workbook_, first, styles_, limits_,
        [&](const RowPlace& place) -> std::optional<CellPlace> {
          for (const Part& part : parts) {
            if (part.sheet.name == place.sheet && place.row >= part.first && place.row < part.last)
              return CellPlace{part.name, PlaceOf(part, place.row), Col(place.column)};
          }
          return std::nullopt;
        });
  }

  /// Writes the sheets, one behind the other; notes what had to be done to them.
  std::vector<Part> Write(const std::vector<Sheet>& sheets, std::vector<std::string>& notes) {
    std::vector<Part> parts;
    for (const Sheet& sheet : sheets) AddParts(sheet, workbook_, styles_, limits_, parts);
    for (Part& part : parts) {
      LibraryCells sink(part.worksheet);
      CellWriter cells(part.sheet, part.styles, limits_, as_reference_, sink);
      WriteHeaders(part, as_reference_, cells);
      if (!streams_) {
        for (std::size_t row = part.first; row < part.last; ++row) {
          const int height = HeightOf(part.sheet, part.sheet.rows[row], as_reference_);
          if (height > 0) worksheet_set_row(part.worksheet, PlaceOf(part, row), height, nullptr);
          WriteRow(part, row, cells);
        }
        if (as_reference_) MergeEqualCells(part, cells);
      }
      part.cuts = cells.cuts();
    }
    if (streams_) WriteBlocks(parts);
    AppendNotes(parts, limits_, notes);
    return parts;
  }

  /// The rows of all worksheets if they stream, compressed.
  const std::vector<std::vector<ZipPiece>>& rows() const { return rows_; }

 private:
  void WriteBlocks(std::vector<Part>& parts) {
    std::vector<Block> blocks = BlocksOf(parts);
    ParallelFor(blocks.size(), [&](std::size_t i) {
      Block& block = blocks[i];
      const Part& part = parts[block.part];
      XmlCells sink;
      CellWriter cells(part.sheet, part.styles, limits_, as_reference_, sink);
      for (std::size_t row = block.first; row < block.last; ++row) {
        sink.BeginRow(PlaceOf(part, row),
                      HeightOf(part.sheet, part.sheet.rows[row], as_reference_));
        WriteRow(part, row, cells);
        sink.EndRow();
      }
      block.rows = Deflated(sink.xml(), /*last=*/false);
      block.cuts = cells.cuts();
    });
    const std::size_t first = rows_.size();
    rows_.resize(first + parts.size());
    for (Block& block : blocks) {
      Part& part = parts[block.part];
      rows_[first + block.part].push_back(std::move(block.rows));
      part.cuts.Add(block.cuts);
      // The library tells readers how large a worksheet is, and has not seen these rows.
      part.worksheet->dim_rowmax = PlaceOf(part, block.last - 1);
    }
  }

  lxw_workbook* workbook_;
  std::string title_;  // of the summary, where the report has none
  bool streams_, as_reference_;
  const WorkbookLimits& limits_;
  Styles styles_;
  std::vector<std::vector<ZipPiece>> rows_;
};

void WriteSheets(const Report& report, WorkbookWriter& writer, std::vector<std::string>& notes) {
  writer.Write(report, notes);
  std::vector<std::string> all = report.notes;
  all.insert(all.end(), notes.begin(), notes.end());
  if (all.empty()) return;
  std::vector<std::string> of_the_notes;  // nobody needs
  writer.Write({NotesSheet(all)}, of_the_notes);
}

/// The library also overlooks when there is no room for the rest, which is small.
void CheckRoom(const std::filesystem::path& directory) {
  constexpr std::uintmax_t kMegabyte = 1000000;
  std::error_code unknown;
  const std::uintmax_t available = std::filesystem::space(directory, unknown).available;
  if (!unknown && available < kMegabyte) {
    Fail(ErrorKind::kOutput, "No space left on device: {}: less than 1 MB for the workbook",
         io::FinalName(directory));
  }
}

}  // namespace

void WriteXlsxFile(const Report& report, const std::filesystem::path& path,
                   std::vector<std::string>& notes, const WorkbookLimits& limits) {
  // The library's own small files are made where the workbook will be: /tmp may be full.
  const io::ScratchDirectory scratch(path.parent_path());
  std::string directory = scratch.path().string();
  lxw_workbook_options options{};
  // Cells over several rows need all of them at hand.
  const bool streams =
      !report.as_reference || std::ranges::none_of(report.sheets, [](const Sheet& sheet) {
        return std::ranges::any_of(sheet.columns,
                                   [](const Column& column) { return column.merges_equal; });
      });
  options.constant_memory = streams ? LXW_TRUE : LXW_FALSE;
  options.tmpdir = directory.data();
  const std::filesystem::path closed = streams ? scratch.path() / "frame.xlsx" : path;
  lxw_workbook* workbook = workbook_new_opt(closed.c_str(), &options);
  if (workbook == nullptr) Fail(ErrorKind::kResource, "no memory for a workbook");
  WorkbookWriter writer(workbook, TitleOfFile(path), streams, report.as_reference, limits);
  try {
    WriteSheets(report, writer, notes);
    CheckRoom(directory);
  } catch (...) {
    lxw_workbook_free(workbook);
    throw;
  }
  Check(workbook_close(workbook), "writing the workbook");
  if (streams) {
    PackWorkbook(closed, writer.rows(), path);
  } else {
    RequireWhole(path);
  }
}

}  // namespace mpa::writers
