// SPDX-License-Identifier: Apache-2.0
// Rows of the tables of msServiceProfiler, from text and from a database.
#include "server_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "csv_rows.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/io/sqlite.h"

namespace mpa::readers {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view BeforeUnit(std::string_view header) { return header.substr(0, header.find('(')); }

// What pandas and Python write for a value that is not there.
std::string_view ValueIn(std::string_view cell) {
  constexpr std::string_view kNone[] = {"N/A", "nan", "NaN", "None", "<NA>", "NaT"};
  return std::ranges::find(kNone, cell) == std::end(kNone) ? cell : std::string_view();
}

class TextRows : public ServerRows {
 public:
  TextRows(const std::filesystem::path& path, std::size_t max_bytes) : csv_(path, max_bytes) {
    headers_ = csv_.headers();
  }
  bool Next(Issues& issues) override { return NextRow(csv_, issues); }
  std::string_view operator[](std::optional<std::size_t> column) const override {
    return ValueIn(csv_[column]);
  }
  std::string Place() const override { return csv_.Place(); }

 private:
  io::CsvFile csv_;
};

class TableRows : public ServerRows {
 public:
  TableRows(io::Statement rows, std::string place, std::vector<std::string> columns)
      : rows_(std::move(rows)), place_(std::move(place)) {
    headers_ = std::move(columns);
    cells_.resize(headers_.size());
  }
  bool Next(Issues&) override {
    if (!rows_.Step()) return false;
    ++row_;
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] = Cell(static_cast<int>(i));
    return true;
  }
  std::string_view operator[](std::optional<std::size_t> column) const override {
    return column ? ValueIn(cells_[*column]) : std::string_view();
  }
  std::string Place() const override { return fmt::format("{}:{}", place_, row_); }

 private:
  // Real numbers with all of their digits: SQLite's own text of a time lacks the last ones.
  std::string Cell(int column) const {
    const std::string_view text = rows_.Text(column);
    const bool may_be_real = text.find('.') != std::string_view::npos &&
                             text.find_first_not_of("+-0123456789.eE") == std::string_view::npos;
    const double number = may_be_real ? rows_.row().RealOr(column, NAN) : NAN;
    return std::isfinite(number) ? fmt::format("{}", number) : std::string(text);
  }

  io::Statement rows_;
  std::string place_;
  std::vector<std::string> cells_;
  std::size_t row_ = 0;
};

}  // namespace

std::optional<std::size_t> ServerRows::Find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      if (BeforeUnit(headers_[i]) == name) return i;
    }
  }
  return std::nullopt;
}

bool ServerRows::InMicroseconds() const {
  return std::ranges::any_of(headers_, [](const std::string& header) {
    return header.find("(microsecond)") != std::string::npos ||
           header.find("(us)") != std::string::npos;
  });
}

std::unique_ptr<ServerRows> RowsOfFile(const std::filesystem::path& path, std::size_t max_bytes) {
  return std::make_unique<TextRows>(path, max_bytes);
}

struct ServerDatabase::Opened {
  explicit Opened(const std::filesystem::path& path)
      : database(path), name(path.filename().string()) {}
  io::Database database;
  std::string name;
};

ServerDatabase::ServerDatabase(const std::filesystem::path& path)
    : opened_(std::make_unique<Opened>(path)) {}
ServerDatabase::~ServerDatabase() = default;

std::unique_ptr<ServerRows> ServerDatabase::Rows(std::string_view table,
                                                 std::span<const std::string_view> columns) const {
  const io::Database& database = opened_->database;
  if (!database.HasTable(table)) return nullptr;
  std::vector<std::string> found;
  std::string list;
  for (const std::string_view column : columns) {
    if (!database.HasColumn(table, column)) continue;
    list += fmt::format("{}\"{}\"", found.empty() ? "" : ", ", column);
    found.emplace_back(column);
  }
  if (found.empty()) return nullptr;
  return std::make_unique<TableRows>(
      database.Query(fmt::format("SELECT {} FROM \"{}\"", list, table)),
      fmt::format("{}, {}", opened_->name, table), std::move(found));
}

DurationColumn::DurationColumn(const ServerRows& rows,
                               std::initializer_list<std::string_view> names)
    : column_(rows.Find(names)) {
  if (!column_) return;
  struct Unit {
    std::string_view in_header;
    int decimals;  // of ns
  };
  constexpr Unit kUnits[] = {
      {"(ms)", 6}, {"(us)", 3}, {"(microsecond)", 3}, {"(ns)", 0}, {"(s)", 9}};
  if (rows.InMicroseconds()) decimals_ = 3;
  for (const Unit& unit : kUnits) {
    if (rows.Header(*column_).find(unit.in_header) != std::string_view::npos)
      decimals_ = unit.decimals;
  }
}

TimeNs DurationColumn::Read(const ServerRows& rows) const {
  std::int64_t value = 0;
  if (!column_ || !io::ReadScaledDecimal(rows[column_], decimals_, value)) return -1;
  return IsDuration(value) ? value : -1;
}

std::optional<TimeNs> TimeOfNumber(std::string_view text) {
  // The least number of each unit, of the year 1973 in seconds, and how many decimals are ns.
  struct Unit {
    double least;
    int decimals;
  };
  constexpr Unit kUnits[] = {{1e17, 0}, {1e14, 3}, {1e11, 6}, {1e8, 9}};
  const std::optional<double> number = io::ParseReal(text);
  if (!number) return std::nullopt;
  for (const Unit& unit : kUnits) {
    std::int64_t value = 0;
    if (*number < unit.least) continue;
    if (io::ReadScaledDecimal(text, unit.decimals, value) && IsTime(value)) return value;
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<TimeNs> TimeOfDate(std::string_view text) {
  while (!text.empty() && kBlanks.find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  // "YYYY-MM-DD HH:MM:SS", and the parts of a second behind a colon or a point.
  constexpr std::string_view kForm = "0000-00-00 00:00:00";
  if (text.size() < kForm.size()) return std::nullopt;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool is_right = kForm[i] == '0'   ? is_digit(text[i])
                          : kForm[i] == ' ' ? text[i] == ' ' || text[i] == 'T'
                                            : text[i] == kForm[i];
    if (!is_right) return std::nullopt;
  }
  const auto part = [&](std::size_t at, std::size_t size) {
    std::int64_t value = 0;
    for (const char digit : text.substr(at, size)) value = 10 * value + (digit - '0');
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(part(0, 4))),
                                        std::chrono::month(static_cast<unsigned>(part(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(part(8, 2)))};
  if (!day.ok() || part(0, 4) < 1973 || part(0, 4) > 2095) return std::nullopt;
  std::int64_t ns = 0;
  if (text.size() > kForm.size()) {
    const char between = text[kForm.size()];
    const std::string_view digits = text.substr(kForm.size() + 1);
    if ((between != ':' && between != '.') || digits.empty() || digits.size() > 9 ||
        !std::ranges::all_of(digits, is_digit))
      return std::nullopt;
    ns = part(kForm.size() + 1, digits.size());
    for (std::size_t i = digits.size(); i < 9; ++i) ns *= 10;
  }
  const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  const std::int64_t seconds = ((days * 24 + part(11, 2)) * 60 + part(14, 2)) * 60 + part(17, 2);
  return seconds * 1'000'000'000 + ns;
}

TimeColumn::TimeColumn(const ServerRows& rows, std::initializer_list<std::string_view> numbers,
                       std::initializer_list<std::string_view> dates, TimeNs zone)
    : number_(rows.Find(numbers)), date_(rows.Find(dates)), zone_(zone) {}

std::optional<TimeNs> TimeColumn::Read(const ServerRows& rows) const {
  // The columns of some tables have the name of numbers, and dates in them.
  if (const auto number = TimeOfNumber(rows[number_])) return number;
  for (const auto column : {number_, date_}) {
    if (const auto date = TimeOfDate(rows[column])) return *date - zone_;
  }
  return std::nullopt;
}

std::optional<TimeNs> TimeColumn::Ahead(const ServerRows& rows) const {
  const auto number = TimeOfNumber(rows[number_]);
  const auto date = TimeOfDate(rows[date_]);
  if (!number || !date) return std::nullopt;
  return *date - *number;
}

std::int64_t CountIn(std::string_view cell) {
  const auto number = io::ParseReal(cell);
  constexpr double kMost = 1e15;
  return number && *number >= 0 && *number < kMost ? static_cast<std::int64_t>(*number) : -1;
}

std::int32_t SmallCount(std::int64_t number) {
  return number <= std::numeric_limits<std::int32_t>::max() ? static_cast<std::int32_t>(number)
                                                            : -1;
}

double ShareIn(std::string_view cell) {
  const auto number = io::ParseReal(cell);
  return number && *number >= 0 && *number <= 1 ? *number : -1;
}

}  // namespace mpa::readers
