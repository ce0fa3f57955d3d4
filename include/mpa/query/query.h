// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/rank.h"
#include "mpa/pipeline/cluster.h"
#include "mpa/report/cell.h"

/// SQL over captures: the tables of the store, and what analyses make of them, as SQLite sees them
/// without a copy.
namespace mpa {

/// Captures that a query reads. The name is what the column `side` says; empty: there is one side.
struct QuerySide {
  std::string name;
  ClusterRequest captures;
};

struct QueryLimits {
  std::size_t rows = 1000;  ///< of the answer; what is beyond is not worked out
  double seconds = 30;
};

struct QueryColumn {
  std::string name;
  std::string unit{}, meaning{};  ///< of a column of a table; empty: it is worked out, or a number
};

struct QueryAnswer {
  std::vector<QueryColumn> columns;
  std::vector<std::vector<Cell>> rows;  ///< without a value: not recorded
  bool truncated = false;               ///< there are more rows
  bool partial = false;                 ///< ranks or parts of them had to be left out
  std::set<RankId> ranks;               ///< that were read
  std::vector<std::string> notes;
};

/// A statement names what is not there, and something near it is.
struct Misspelt : Error {
  Misspelt(std::string message, std::string wrong, std::string right)
      : Error(ErrorKind::kUsage, std::move(message)),
        wrong(std::move(wrong)),
        right(std::move(right)) {}

  std::string wrong, right;
  std::string corrected{};  ///< the statement with such names replaced; empty: it would fail, too
};

namespace query {
class Job;
}

/// The captures of one job, or of two, and what was read of them. Statements that are asked later
/// read only what those before did not. One thread at a time may use it.
class QueryJob {
 public:
  explicit QueryJob(std::vector<QuerySide> sides);
  ~QueryJob();
  QueryJob(const QueryJob&) = delete;
  QueryJob& operator=(const QueryJob&) = delete;

  /// Answers one statement that reads. Throws Error: kUsage for one that is wrong, or does more
  /// than read; kResource for one that takes too long or too much memory; kInput without captures.
  QueryAnswer Run(const std::string& sql, const QueryLimits& limits = {});

  /// The tables that have rows: name, rows, what it is about.
  QueryAnswer Tables();

  /// Writes all tables that have rows as a database, with indices on times and links.
  void Export(const std::filesystem::path& file);

 private:
  std::unique_ptr<query::Job> job_;
};

/// What a statement can name: a JSON document, and a page of docs/.
std::string SchemaJson();
std::string SchemaPage();
/// The columns of a table, or what a view selects; without a name the tables and views. Throws
/// Misspelt, or Error (kUsage).
QueryAnswer SchemaOf(const std::string& table);

/// What the word that ends at `cursor` can become, sorted: from its begin.
struct Completions {
  std::size_t begin = 0;
  std::vector<std::string> words{};
};
Completions CompleteStatement(std::string_view text, std::size_t cursor);

}  // namespace mpa
