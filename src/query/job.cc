// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/interruption.h"
#include "mpa/base/notes.h"
#include "mpa/base/text.h"
#include "mpa/model/step_selection.h"
#include "mpa/pipeline/find_ranks.h"
#include "mpa/pipeline/visit_ranks.h"

namespace mpa::query {
namespace {

// Of a GPU the work of steps before the capture is left out, which steps and launches tell; counts
// must not depend on what else a statement names.
constexpr Tables kDeviceTables =
    Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications | Tables::kHostOps;

Tables NeededOf(const FoundRanks& found, Tables needs) {
  const bool has_gpu = std::ranges::any_of(
      found.ranks, [](const FoundRank& rank) { return IsKineto(rank.input.kind); });
  return has_gpu && Intersects(needs, kDeviceTables) ? needs | kStepTables : needs;
}

// Records of servers are no ranks: only who names their tables gets them, where there are any.
FoundRanks Find(const ClusterRequest& request, Tables needs) {
  if (Intersects(needs, Tables::kServer)) {
    OpenOptions open = request.open;
    open.servers = true;
    try {
      return FindRanks(request.directory, request.ranks, open, GroupsTaken::kServers);
    } catch (const Error& error) {
      if (!IsBadInput(error)) throw;
    }
  }
  return FindRanks(request.directory, request.ranks, request.open);
}

// A cell of most columns, and a text with its place in the pool.
constexpr std::int64_t kBytesOfCell = 8, kBytesOfText = 150;

std::int64_t BytesOf(const RankTrace& trace) {
  std::int64_t bytes = kBytesOfText * static_cast<std::int64_t>(trace.strings.Size());
  for (const TableInfo& table : AllTables()) {
    if (table.stored == nullptr) continue;
    const auto cells = std::ranges::count_if(
        table.columns, [](const TableColumn& column) { return column.cell != nullptr; });
    bytes += kBytesOfCell * cells * static_cast<std::int64_t>(table.rows(table.stored(trace)));
  }
  return bytes;
}

std::int64_t BytesOf(const RankInput& input) {
  std::int64_t bytes = 0;
  for (const CaptureFile& file : input.files) bytes += file.bytes;
  return bytes;
}

// Refuses a job that would not fit into memory: its first ranks tell how much the others keep.
class Room {
 public:
  Room(std::int64_t limit, const std::vector<std::unique_ptr<LoadedPart>>& there,
       const std::vector<FoundRanks>& sides)
      : limit_(limit) {
    for (const auto& part : there) there_ += BytesOf(part->trace);
    for (const FoundRanks& found : sides) {
      ranks_ += found.ranks.size();
      for (const FoundRank& rank : found.ranks) files_ += BytesOf(rank.input);
    }
  }

  /// Throws Error (kResource). May be called for several ranks at once.
  void Take(const RankInput& input, const RankTrace& trace) {
    const std::lock_guard lock(mutex_);
    kept_ += BytesOf(trace);
    read_ += BytesOf(input);
    const double share = static_cast<double>(files_) / static_cast<double>(std::max(read_, kOne));
    const double needed =
        static_cast<double>(there_) + static_cast<double>(kept_) * std::max(share, 1.0);
    if (limit_ <= 0 || needed <= static_cast<double>(limit_)) return;
    Fail(ErrorKind::kResource,
         "the tables of {} take about {:.1f} MB of memory, {:.1f} MB may be used; name fewer tables"
         " in the statement, or fewer ranks (WHERE rank = 0, --rank_list), or raise --memory_limit",
         Counted(static_cast<std::int64_t>(ranks_), "rank"), needed / 1e6,
         static_cast<double>(limit_) / 1e6);
  }

 private:
  static constexpr std::int64_t kOne = 1;

  const std::int64_t limit_;
  std::size_t ranks_ = 0;
  std::int64_t there_ = 0, files_ = 0, read_ = 0, kept_ = 0;  // bytes
  std::mutex mutex_;
};

}  // namespace

void Job::AddNotes(const std::vector<std::string>& notes, bool partial) {
  AppendNew(notes, notes_);
  partial_ = partial_ || partial;
}

bool Job::IsRead(std::size_t side, RankId rank) const {
  return std::ranges::any_of(
      parts_, [&](const auto& part) { return part->side == side && part->rank == rank; });
}

std::vector<FoundRanks> Job::Unread(Tables needs, const Ranks& ranks) const {
  std::vector<FoundRanks> sides;
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    FoundRanks& found = sides.emplace_back(Find(sides_[side].captures, needs));
    std::erase_if(found.ranks, [&](const FoundRank& rank) {
      return (ranks && !ranks->contains(rank.rank.Number())) || IsRead(side, rank.rank);
    });
  }
  return sides;
}

void Job::Load(Tables needs) {
  const bool has_tables = (needs & loaded_) == needs;
  const bool has_ranks =
      !loaded_ranks_ || (named_ && std::ranges::includes(*loaded_ranks_, *named_));
  if (!parts_.empty() && has_tables && has_ranks) return;
  needs = needs | loaded_;
  Ranks ranks = named_;
  if (!loaded_ranks_)
    ranks.reset();
  else if (ranks)
    ranks->insert(loaded_ranks_->begin(), loaded_ranks_->end());
  pieces_.clear();
  if (!has_tables) {
    parts_.clear();
    notes_.clear();
    partial_ = false;
    loaded_ = {};
    loaded_ranks_.emplace();
  }
  const std::vector<FoundRanks> sides = Unread(needs, ranks);
  Room room(sides_.front().captures.memory_bytes, parts_, sides);
  std::vector<std::unique_ptr<LoadedPart>> parts;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    const FoundRanks& found = sides[side];
    if (found.ranks.empty()) {
      AddNotes(found.notes, found.partial);
      continue;
    }
    std::vector<std::unique_ptr<LoadedPart>> of_side(found.ranks.size());
    const VisitedRanks visited =
        VisitRanks(found, sides_[side].captures, NeededOf(found, needs),
                   [&](std::size_t position, RankId rank, RankTrace& trace) {
                     if (WasInterrupted()) Fail(ErrorKind::kResource, "the statement was stopped");
                     room.Take(found.ranks[position].input, trace);
                     of_side[position] = std::make_unique<LoadedPart>(
                         LoadedPart{.side = side,
                                    .rank = rank,
                                    .label = rank.IsNumber() ? "" : RankName(rank),
                                    .trace = std::move(trace)});
                   });
    AddNotes(visited.notes, visited.partial);
    for (auto& part : of_side) {
      if (part) parts.push_back(std::move(part));
    }
  }
  // Only what was read as a whole counts as read.
  std::ranges::move(parts, std::back_inserter(parts_));
  std::ranges::stable_sort(parts_, {},
                           [](const auto& part) { return std::pair(part->side, part->rank); });
  loaded_ = needs;
  loaded_ranks_ = std::move(ranks);
}

const std::vector<TablePiece>& Job::PiecesOf(const TableInfo& table) {
  const auto [found, is_new] = pieces_.try_emplace(&table);
  std::vector<TablePiece>& pieces = found->second;
  if (!is_new) return pieces;
  if (!table.IsOfRank()) {
    static const RankTrace none;
    pieces.push_back({nullptr, std::make_unique<TableRows>(table, none, table.make_of_job(*this))});
    return pieces;
  }
  for (const auto& part : parts_) {
    pieces.push_back(
        {part.get(), std::make_unique<TableRows>(table, part->trace,
                                                 table.make ? table.make(part->trace) : nullptr)});
  }
  return pieces;
}

std::size_t Job::GuessRows(const TableInfo& table) const {
  if (table.stored == nullptr) return 1000;
  std::size_t rows = 0;
  for (const auto& part : parts_) rows += table.rows(table.stored(part->trace));
  return rows;
}

}  // namespace mpa::query
