// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/model/rank_trace.h"
#include "mpa/query/query.h"
#include "table_rows.h"
#include "tables.h"

namespace mpa::query {

/// The rows of tables that statements named.
using NamedRows = std::map<const TableInfo*, std::unique_ptr<const TableRows>>;

/// A rank that was read.
struct LoadedPart {
  std::size_t side = 0, position = 0;  ///< among the ranks of the side
  RankId rank{};
  std::string label{};  ///< of a rank without a number
  RankTrace trace{};
  NamedRows rows{};
};

/// The rows of a table that are of one rank.
struct TablePiece {
  const LoadedPart* part = nullptr;  ///< null: of the whole job
  const TableRows* rows = nullptr;
};

/// The captures that statements are about.
class Job {
 public:
  explicit Job(std::vector<QuerySide> sides) : sides_(std::move(sides)) {}

  const std::vector<QuerySide>& Sides() const { return sides_; }
  bool HasSides() const { return sides_.size() > 1; }
  /// Numbers of ranks; nothing: all of them.
  using Ranks = std::optional<std::set<std::int64_t>>;
  /// The ranks that a statement is about, which it says while it is prepared.
  void NameRanks(Ranks ranks) { named_ = std::move(ranks); }
  void NameRank(std::int64_t rank) {
    if (named_) named_->insert(rank);
  }
  /// Reads what is missing of these tables, of the ranks that were named, or all if none was.
  void Load(Tables needs);
  /// A statement that runs gets to this rank, or to all.
  void ReadRank(std::optional<std::int64_t> rank);
  const std::vector<std::unique_ptr<LoadedPart>>& Parts() const { return parts_; }
  /// The rows of a table, by side and rank; what is computed is computed now. They stay where they
  /// are while a statement runs, the list does not.
  const std::vector<TablePiece>& PiecesOf(const TableInfo& table);
  /// How many rows it has, without computing any; of one that is computed a guess.
  std::size_t GuessRows(const TableInfo& table) const;

  const std::vector<std::string>& Notes() const { return notes_; }
  bool IsPartial() const { return partial_; }
  void AddNotes(const std::vector<std::string>& notes, bool partial);

 private:
  void LoadSide(std::size_t side);
  bool IsRead(std::size_t side, std::size_t position) const;

  std::vector<QuerySide> sides_;
  Tables loaded_{};
  Ranks named_{}, loaded_ranks_{std::in_place};
  std::vector<std::unique_ptr<LoadedPart>> parts_;
  NamedRows rows_of_job_;
  std::map<const TableInfo*, std::vector<TablePiece>> pieces_;
  std::vector<std::string> notes_;
  bool partial_ = false;
};

}  // namespace mpa::query
