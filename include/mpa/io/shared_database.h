// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mpa/io/rows.h"

struct sqlite3;

namespace mpa::io {

/// A database that processes add to and read at the same time: each waits up to a minute for the
/// others. What is done between the constructor and Commit() happens at once or not at all. Errors
/// are of kind kCorrupt for a file that is no database or a damaged one, else kOutput for
/// kAppend and kInput for kRead; they name the file.
class SharedDatabase {
 public:
  enum class Access : std::uint8_t { kRead, kAppend };
  using Values = std::vector<std::variant<std::int64_t, std::string_view>>;

  /// kAppend makes a file that is not there.
  SharedDatabase(const std::filesystem::path& path, Access access);
  ~SharedDatabase();
  SharedDatabase(const SharedDatabase&) = delete;
  SharedDatabase& operator=(const SharedDatabase&) = delete;

  /// Runs one statement with a value for each '?', and calls `visit` with each row.
  void Run(const char* sql, const Values& values = {},
           const std::function<void(const Row& row)>& visit = {});
  /// The number in the first cell of the first row; 0: there is none.
  std::int64_t Number(const char* sql, const Values& values = {});
  void Commit();

 private:
  [[noreturn]] void FailWith(int status) const;

  std::string name_;
  Access access_;
  sqlite3* database_ = nullptr;
};

}  // namespace mpa::io
