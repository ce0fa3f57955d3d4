// SPDX-License-Identifier: Apache-2.0
// CSV files: lines from the CSV library, cells by our own splitter, because the library fixes the
// columns at compile time and ours vary.
#include "mpa/io/csv_file.h"

#include <csv.h>

#include <algorithm>

#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"

namespace mpa::io {

struct CsvFile::Lines {
  Lines(const std::filesystem::path& path, std::size_t max_bytes)
      : name(path.string()),
        content(path),
        reader(path.filename().string(), content.text().data(),
               content.text().data() + std::min(content.text().size(), max_bytes)) {}

  // The next line without its end, or null; the library's exceptions become ours.
  const char* Next() {
    try {
      return reader.next_line();
    } catch (const ::io::error::line_length_limit_exceeded&) {
      Fail(ErrorKind::kCorrupt, "{}:{}: the line is longer than 16 MiB", name,
           reader.get_file_line());
    }
  }

  std::string name;
  InputText content;
  ::io::LineReader reader;
};

namespace {

// Limit for a row whose cells contain line ends. A longer row lost a quote, and the table is
// unusable.
constexpr std::size_t kMaxRow = std::size_t{1} << 20;

// Limit for the columns of a row; a table of the profiler has dozens.
constexpr std::size_t kMaxCells = 10'000;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// True when `line`, which begins inside a quoted cell, ends inside one. A quote opens a cell at its
// beginning only; elsewhere it is a letter.
bool EndsInQuotes(std::string_view line) {
  bool in_quotes = true;
  bool at_begin = false;
  bool just_closed = false;  // a quote right after a closing one continues the cell
  for (const char c : line) {
    const bool opens = c == '"' && !in_quotes && (at_begin || just_closed);
    just_closed = c == '"' && in_quotes;
    at_begin = !in_quotes && !opens && (c == ',' || (at_begin && IsBlank(c)));
    in_quotes = opens || (in_quotes && !just_closed);
  }
  return in_quotes;
}

}  // namespace

CsvFile::CsvFile(const std::filesystem::path& path, std::size_t max_bytes)
    : path_(path), lines_(std::make_unique<Lines>(path, max_bytes)) {
  if (!Next())
    Fail(ErrorKind::kInput, "{}: the file is empty, it has no header line", path.string());
  headers_.assign(cells_.begin(), cells_.begin() + static_cast<std::ptrdiff_t>(cell_count_));
}

CsvFile::~CsvFile() = default;

std::optional<std::size_t> CsvFile::Find(std::string_view name) const {
  for (std::size_t i = 0; i < headers_.size(); ++i) {
    if (headers_[i] == name) return i;
  }
  return std::nullopt;
}

std::size_t CsvFile::Require(std::string_view name) const {
  const std::optional<std::size_t> column = Find(name);
  if (!column) Fail(ErrorKind::kCorrupt, "{}: the column \"{}\" is missing", path_.string(), name);
  return *column;
}

bool CsvFile::Next() {
  const char* line = lines_->Next();
  while (line != nullptr && *line == '\0') line = lines_->Next();  // blank lines hold no row
  if (line == nullptr) return false;
  row_ = line;
  row_line_ = lines_->reader.get_file_line();
  if (SplitRow()) return true;
  for (bool open = true; open && (line = lines_->Next()) != nullptr;) {
    row_ += '\n';
    row_ += line;
    open = EndsInQuotes(line);
    if (row_.size() > kMaxRow) {
      Fail(ErrorKind::kCorrupt, "{}: a cell begins with a quote and does not end", Place());
    }
  }
  SplitRow();
  return true;
}

// False when the row ends inside a quoted cell.
bool CsvFile::SplitRow() {
  cell_count_ = 0;
  const std::string_view row = row_;
  const bool has_quotes = row.find('"') != std::string_view::npos;
  bool open = false;
  for (std::size_t at = 0; at <= row.size();) {
    if (cell_count_ == cells_.size()) {
      if (cell_count_ == kMaxCells) {
        Fail(ErrorKind::kCorrupt, "{}: more than {} cells in a row", Place(), kMaxCells);
      }
      cells_.emplace_back();
      unquoted_.emplace_back();
    }
    std::string_view& cell = cells_[cell_count_];
    std::size_t end = std::min(row.find(',', at), row.size());
    cell = row.substr(at, end - at);
    if (has_quotes && cell.find('"') != std::string_view::npos) {
      end = UnquoteCell(at, unquoted_[cell_count_], open);
      cell = unquoted_[cell_count_];
    }
    ++cell_count_;
    at = end + 1;  // behind the comma
  }
  return !open;
}

// Returns where the cell from `at` ends.
std::size_t CsvFile::UnquoteCell(std::size_t at, std::string& cell, bool& in_quotes) const {
  cell.clear();
  in_quotes = false;
  bool at_begin = true;
  for (; at < row_.size() && (in_quotes || row_[at] != ','); ++at) {
    if (row_[at] != '"' || (!in_quotes && !at_begin)) {
      cell += row_[at];
    } else if (in_quotes && at + 1 < row_.size() && row_[at + 1] == '"') {
      cell += '"';
      ++at;
    } else {
      in_quotes = !in_quotes;
    }
    at_begin = at_begin && IsBlank(row_[at]);
  }
  return at;
}

std::string_view CsvFile::operator[](std::optional<std::size_t> column) const {
  if (!column || *column >= cell_count_) return {};
  return Trim(cells_[*column]);
}

bool CsvFile::IsHeader() const {
  return cell_count_ == headers_.size() &&
         std::equal(headers_.begin(), headers_.end(), cells_.begin());
}

std::string CsvFile::Place() const {
  return fmt::format("{}:{}", path_.filename().string(), row_line_);
}

}  // namespace mpa::io
