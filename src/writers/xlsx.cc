// SPDX-License-Identifier: Apache-2.0
// Workbooks.
#include <xlsxwriter.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "formats.h"
#include "mpa/base/error.h"
#include "mpa/base/parallel.h"
#include "mpa/io/output_file.h"
#include "sheet_values.h"
#include "xlsx_package.h"
#include "xlsx_styles.h"
#include "xlsx_text.h"

namespace mpa::writers {
namespace {

void Check(lxw_error error, const char* doing) {
  if (error != LXW_NO_ERROR) Fail(ErrorKind::kOutput, "{}: {}", doing, lxw_strerror(error));
}

/// Texts of a sheet that had to be cut.
struct Cuts {
  std::size_t count = 0;
  std::string first;  ///< where: "C17"
};

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

/// Fills a worksheet.
class PartWriter {
 public:
  PartWriter(Part& part, const WorkbookLimits& limits)
      : part_(part),
        sheet_(part.sheet),
        styles_(part.styles),
        worksheet_(part.worksheet),
        limits_(limits) {}

  void Write() {
    WriteHeaders();
    for (std::size_t i = part_.first; i < part_.last; ++i, ++row_) {
      const Row& row = sheet_.rows[i];
      const std::vector<lxw_format*>& styles = styles_.Data(row);
      for (std::size_t j = 0; j < row.cells.size(); ++j) WriteCell(row.cells[j], j, styles[j]);
    }
    MergeEqualCells();
  }

 private:
  void WriteHeaders() {
    for (std::size_t i = 0; i < sheet_.banners.size(); ++i) {
      WriteBanner(sheet_.banners[i], styles_.banners[i]);
    }
    row_ = HeaderRows(sheet_) - 1;
    for (std::size_t i = 0; i < sheet_.columns.size(); ++i) {
      worksheet_set_column(worksheet_, Col(i), Col(i), sheet_.columns[i].width, nullptr);
      WriteText(i, sheet_.columns[i].name, styles_.headers[i]);
    }
    constexpr double kListHeaderHeight = 27;
    if (sheet_.look == Look::kList) worksheet_set_row(worksheet_, row_, kListHeaderHeight, nullptr);
    ++row_;
  }

  // Makes one cell of equal ones below each other.
  void MergeEqualCells() {
    for (std::size_t column = 0; column < sheet_.columns.size(); ++column) {
      if (!sheet_.columns[column].merges_equal) continue;
      const auto same = [&](std::size_t a, std::size_t b) {
        return std::equal(sheet_.rows[a].cells.begin(),
                          sheet_.rows[a].cells.begin() + static_cast<std::ptrdiff_t>(column) + 1,
                          sheet_.rows[b].cells.begin());
      };
      for (std::size_t from = part_.first; from < part_.last;) {
        std::size_t to = from + 1;
        while (to < part_.last && same(from, to)) ++to;
        if (to - from > 1) MergeCells(column, from, to - 1);
        from = to;
      }
    }
  }

  void MergeCells(std::size_t column, std::size_t first, std::size_t last) {
    const auto place = [&](std::size_t row) {
      return HeaderRows(sheet_) + static_cast<lxw_row_t>(row - part_.first);
    };
    const Row& shown = sheet_.rows[first];
    lxw_format* style = styles_.Data(shown)[column];
    Check(worksheet_merge_range(worksheet_, place(first), Col(column), place(last), Col(column), "",
                                style),
          "merging cells");
    row_ = place(first);
    WriteCell(shown.cells[column], column, style);
  }

  void WriteBanner(const Banner& banner, lxw_format* style) {
    if (banner.first_column != banner.last_column) {  // a cell alone cannot be merged
      Check(worksheet_merge_range(worksheet_, 0, Col(banner.first_column), 0,
                                  Col(banner.last_column), "", style),
            "merging header cells");
    }
    WriteText(banner.first_column, banner.text, style);
  }

  void WriteCell(const Cell& cell, std::size_t index, lxw_format* style) {
    if (const auto* text = std::get_if<std::string>(&cell)) {
      WriteText(index, *text, style);
    } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
      WriteNumber(index, InShownUnit(sheet_.columns[index].unit, *whole), style);
    } else if (const auto* real = std::get_if<double>(&cell)) {
      WriteNumber(index, *real, style);
    } else {
      Check(worksheet_write_blank(worksheet_, row_, Col(index), style), "writing a cell");
    }
  }

  void WriteText(std::size_t index, const std::string& text, lxw_format* style) {
    if (IsPlain(text, limits_.characters)) {
      WriteFitted(index, text, style);
      return;
    }
    const CellText fitted = FitCell(text, limits_.characters);
    if (fitted.cut && part_.cuts.count++ == 0) part_.cuts.first = PlaceOf(index);
    WriteFitted(index, fitted.text, style);
  }

  void WriteFitted(std::size_t index, const std::string& text, lxw_format* style) {
    // Always as text: what a capture contains must never run as a formula.
    Check(worksheet_write_string(worksheet_, row_, Col(index), text.c_str(), style),
          "writing a cell");
  }

  void WriteNumber(std::size_t index, double value, lxw_format* style) {
    const bool grown = sheet_.columns[index].marks_growth && value > 1;
    if (grown) style = styles_.growth;
    if (grown && std::isinf(value)) {
      WriteText(index, "INF", style);
    } else if (!std::isfinite(value)) {
      Check(worksheet_write_blank(worksheet_, row_, Col(index), style), "writing a cell");
    } else {
      Check(worksheet_write_number(worksheet_, row_, Col(index), value, style), "writing a cell");
    }
  }

  std::string PlaceOf(std::size_t index) const {
    std::array<char, LXW_MAX_CELL_NAME_LENGTH> name{};
    lxw_rowcol_to_cell(name.data(), row_, Col(index));
    return name.data();
  }

  static lxw_col_t Col(std::size_t column) { return static_cast<lxw_col_t>(column); }

  Part& part_;
  const Sheet& sheet_;
  const SheetStyles& styles_;
  lxw_worksheet* worksheet_;
  const WorkbookLimits& limits_;
  lxw_row_t row_ = 0;
};

/// Makes the worksheets of a sheet: one, or more if it has more rows than one can hold.
std::vector<Part> AddParts(const Sheet& sheet, lxw_workbook* workbook, Styles& styles,
                           const WorkbookLimits& limits) {
  const std::size_t room = limits.rows - HeaderRows(sheet);
  const SheetStyles& its_styles = styles.For(sheet);
  std::vector<Part> parts;
  for (std::size_t first = 0; parts.empty() || first < sheet.rows.size(); first += room) {
    Part& part = parts.emplace_back(
        Part{sheet, its_styles, first, std::min(sheet.rows.size(), first + room), sheet.name});
    if (parts.size() > 1) part.name += fmt::format(" ({})", parts.size());
    if (workbook_validate_sheet_name(workbook, part.name.c_str()) != LXW_NO_ERROR) {
      Fail(ErrorKind::kInternal, "bad sheet name '{}'", part.name);
    }
    part.worksheet = workbook_add_worksheet(workbook, part.name.c_str());
    if (part.worksheet == nullptr) {
      Fail(ErrorKind::kOutput, "no temporary file for '{}'", part.name);
    }
  }
  return parts;
}

/// What had to be done to a sheet.
void AppendNotes(const std::vector<Part>& parts, const WorkbookLimits& limits,
                 std::vector<std::string>& notes) {
  const Sheet& sheet = parts[0].sheet;
  if (parts.size() > 1) {
    notes.push_back(
        fmt::format("{}: {} rows are more than a sheet of a workbook holds; they continue on {}",
                    sheet.name, WithThousands(std::to_string(sheet.rows.size())),
                    parts.size() == 2 ? parts[1].name
                                      : fmt::format("{} (2) to ({})", sheet.name, parts.size())));
  }
  std::size_t cuts = 0;
  std::string first;
  for (const Part& part : parts) {
    if (cuts == 0 && part.cuts.count > 0) first = part.name + '!' + part.cuts.first;
    cuts += part.cuts.count;
  }
  if (cuts > 0) {
    notes.push_back(fmt::format(
        "{}: {} {} longer than the {} characters that a cell of a workbook holds, and cut there; "
        "the first is {}",
        sheet.name, WithThousands(std::to_string(cuts)), cuts == 1 ? "text is" : "texts are",
        WithThousands(std::to_string(limits.characters)), first));
  }
}

/// Takes the file with the rows away from a worksheet, and compresses them. The library would copy
/// and compress one worksheet after the other, and overlook that a copy could not be written.
std::vector<ZipPiece> TakeRows(lxw_worksheet* worksheet) {
  lxw_worksheet_write_single_row(worksheet);  // the last one is still in memory
  std::FILE* nothing = std::fopen("/dev/null", "r");
  if (nothing == nullptr) Fail(ErrorKind::kResource, "/dev/null: {}", std::strerror(errno));
  const FilePointer rows(std::exchange(worksheet->optimize_tmpfile, nothing));
  if (std::fflush(rows.get()) != 0 || std::ferror(rows.get()) != 0) {
    Fail(ErrorKind::kOutput, "writing the workbook: no room for the rows of '{}'", worksheet->name);
  }
  return CompressRows(rows.get());
}

/// The worksheets of a workbook, and what fills them.
class WorkbookWriter {
 public:
  /// `streams`: rows go to a file of each worksheet as they come.
  WorkbookWriter(lxw_workbook* workbook, bool streams, const WorkbookLimits& limits)
      : workbook_(workbook), streams_(streams), limits_(limits), styles_(workbook) {}

  /// Writes the sheets, one behind the other; notes what had to be done to them.
  void Write(const std::vector<Sheet>& sheets, std::vector<std::string>& notes) {
    std::vector<std::vector<Part>> parts_of;
    std::vector<Part*> parts;
    for (const Sheet& sheet : sheets) {
      parts_of.push_back(AddParts(sheet, workbook_, styles_, limits_));
      for (Part& part : parts_of.back()) parts.push_back(&part);
    }
    const std::size_t first = rows_.size();
    rows_.resize(first + parts.size());
    const auto write = [&](std::size_t i) {
      PartWriter(*parts[i], limits_).Write();
      if (streams_) rows_[first + i] = TakeRows(parts[i]->worksheet);
    };
    // With a file for the rows of each, worksheets have nothing in common that writing changes:
    // styles have their numbers, texts are not shared.
    if (streams_) {
      ParallelFor(parts.size(), write);
    } else {
      for (std::size_t i = 0; i < parts.size(); ++i) write(i);
    }
    for (const std::vector<Part>& sheet_parts : parts_of) AppendNotes(sheet_parts, limits_, notes);
  }

  /// The rows of all worksheets if they stream, compressed.
  const std::vector<std::vector<ZipPiece>>& rows() const { return rows_; }

 private:
  lxw_workbook* workbook_;
  bool streams_;
  const WorkbookLimits& limits_;
  Styles styles_;
  std::vector<std::vector<ZipPiece>> rows_;
};

void WriteSheets(const Report& report, WorkbookWriter& writer, std::vector<std::string>& notes) {
  writer.Write(report.sheets, notes);
  std::vector<std::string> all = report.notes;
  all.insert(all.end(), notes.begin(), notes.end());
  if (all.empty()) return;
  std::vector<std::string> of_the_notes;  // nobody needs
  writer.Write({NotesSheet(all)}, of_the_notes);
}

/// The library overlooks, too, when there is no room for the rest, which is small.
void CheckRoom(const std::filesystem::path& directory) {
  constexpr std::uintmax_t kMegabyte = 1000000;
  std::error_code unknown;
  const std::uintmax_t available = std::filesystem::space(directory, unknown).available;
  if (!unknown && available < kMegabyte) {
    Fail(ErrorKind::kOutput, "writing the workbook: less than 1 MB is left in {}",
         directory.string());
  }
}

}  // namespace

void WriteXlsxFile(const Report& report, const std::filesystem::path& path,
                   std::vector<std::string>& notes, const WorkbookLimits& limits) {
  // Rows go to a file as they come. That file is made where the workbook will be: it can be larger
  // than what a machine has room for in /tmp.
  std::string directory = path.parent_path().string();
  if (directory.empty()) directory = ".";
  lxw_workbook_options options{};
  // Cells over several rows need all of them at hand.
  const bool streams =
      std::none_of(report.sheets.begin(), report.sheets.end(), [](const Sheet& sheet) {
        return std::any_of(sheet.columns.begin(), sheet.columns.end(),
                           [](const Column& column) { return column.merges_equal; });
      });
  options.constant_memory = streams ? LXW_TRUE : LXW_FALSE;
  options.tmpdir = directory.data();
  const io::OutputFile frame(path);
  const std::filesystem::path& closed = streams ? frame.temporary_path() : path;
  lxw_workbook* workbook = workbook_new_opt(closed.c_str(), &options);
  if (workbook == nullptr) Fail(ErrorKind::kResource, "no memory for a workbook");
  WorkbookWriter writer(workbook, streams, limits);
  try {
    WriteSheets(report, writer, notes);
    CheckRoom(directory);
  } catch (...) {
    lxw_workbook_free(workbook);
    throw;
  }
  Check(workbook_close(workbook), "writing the workbook");
  if (streams) PackWorkbook(frame.temporary_path(), writer.rows(), path);
}

}  // namespace mpa::writers
