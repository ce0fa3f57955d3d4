// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/issues.h"

/// Tables of msServiceProfiler, which are files of text or tables of one database. The names of
/// columns are the same but for the units, which the database leaves out.
namespace mpa::readers {

/// The rows of a table, as text.
class ServerRows {
 public:
  virtual ~ServerRows() = default;
  /// Moves to the next row; false at the end. Rows that are cut off are counted and left out.
  virtual bool Next(Issues& issues) = 0;
  /// Empty for a column that the table does not have, and for cells without a value.
  virtual std::string_view operator[](std::optional<std::size_t> column) const = 0;
  virtual std::string Place() const = 0;

  /// The column whose name before its unit is one of these, "start_time" of "start_time(ms)".
  std::optional<std::size_t> Find(std::initializer_list<std::string_view> names) const;
  std::string_view Header(std::size_t column) const { return headers_[column]; }
  /// True if a header states microseconds: releases of 2025 did, and for the whole table.
  bool InMicroseconds() const;

 protected:
  std::vector<std::string> headers_;
};

/// The rows of a file. Throws Error for one that cannot be read. With `max_bytes` only so much of
/// it is read.
std::unique_ptr<ServerRows> RowsOfFile(const std::filesystem::path& path,
                                       std::size_t max_bytes = std::string_view::npos);

/// A database with such tables.
class ServerDatabase {
 public:
  explicit ServerDatabase(const std::filesystem::path& path);
  ~ServerDatabase();
  ServerDatabase(const ServerDatabase&) = delete;
  ServerDatabase& operator=(const ServerDatabase&) = delete;

  /// The rows of a table with those of the columns that it has; null: there is no such table.
  std::unique_ptr<ServerRows> Rows(std::string_view table,
                                   std::span<const std::string_view> columns) const;

 private:
  struct Opened;
  std::unique_ptr<Opened> opened_;
};

/// A column of durations, in the unit of its header, or else that of the table: milliseconds, which
/// the database has, and whatever says nothing.
class DurationColumn {
 public:
  DurationColumn(const ServerRows& rows, std::initializer_list<std::string_view> names);
  explicit operator bool() const { return column_.has_value(); }
  std::optional<std::size_t> Column() const { return column_; }
  /// -1 where the cell holds none.
  TimeNs Read(const ServerRows& rows) const;

 private:
  std::optional<std::size_t> column_;
  int decimals_ = 6;
};

/// The point in time that the text states as a number since the epoch. Its magnitude says the unit:
/// some releases write microseconds below "start_time(ms)". Empty: it is none.
std::optional<TimeNs> TimeOfNumber(std::string_view text);
/// That of "2025-08-14 16:06:00:123456", as if it were UTC. Empty: it is none.
std::optional<TimeNs> TimeOfDate(std::string_view text);

/// The columns of a point in time, of which dates are local: `zone` is what they are ahead of UTC.
class TimeColumn {
 public:
  TimeColumn(const ServerRows& rows, std::initializer_list<std::string_view> numbers,
             std::initializer_list<std::string_view> dates, TimeNs zone);
  bool IsThere() const { return number_ || date_; }
  std::optional<TimeNs> Read(const ServerRows& rows) const;
  /// By how much the date of the row is ahead of its number; empty: it does not have both.
  std::optional<TimeNs> Ahead(const ServerRows& rows) const;

 private:
  std::optional<std::size_t> number_, date_;
  TimeNs zone_;
};

/// A whole number; -1 where the cell holds none, or a negative one.
std::int64_t CountIn(std::string_view cell);
std::int32_t SmallCount(std::int64_t number);
inline std::int32_t SmallCountIn(std::string_view cell) { return SmallCount(CountIn(cell)); }
/// A share of 0 to 1; -1 where the cell holds none.
double ShareIn(std::string_view cell);

}  // namespace mpa::readers
