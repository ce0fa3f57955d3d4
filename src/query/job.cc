// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/interruption.h"
#include "mpa/base/notes.h"
#include "mpa/base/text.h"
#include "mpa/model/step_selection.h"
#include "mpa/pipeline/find_ranks.h"
#include "mpa/pipeline/history.h"
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
  // Recipes that answer for a table find the captures that they need themselves.
  return FindRanks(request.directory, request.ranks, request.open,
                   needs == Tables::kNone ? GroupsTaken::kJoined : GroupsTaken::kOne);
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
       const std::vector<FoundRank>& ranks)
      : limit_(limit) {
    for (const auto& part : there) there_ += BytesOf(part->trace);
    ranks_ = there.size() + ranks.size();
    for (const FoundRank& rank : ranks) files_ += BytesOf(rank.input);
  }

  /// Throws Error (kResource). May be called for several ranks at once.
  void Take(const RankInput& input, const RankTrace& trace) {
    const std::lock_guard lock(mutex_);
    kept_ += BytesOf(trace);
    read_ += BytesOf(input);
    const double share =
        static_cast<double>(files_) / static_cast<double>(std::max<std::int64_t>(read_, 1));
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

bool Job::IsRead(std::size_t side, std::size_t position) const {
  return std::ranges::any_of(
      parts_, [&](const auto& part) { return part->side == side && part->position == position; });
}

void Job::Load(Tables needs) {
  if (named_ && named_->empty()) named_.reset();
  const bool has_tables = (needs & loaded_) == needs;
  const bool has_ranks =
      !loaded_ranks_ || (named_ && std::ranges::includes(*loaded_ranks_, *named_));
  if (!parts_.empty() && has_tables && has_ranks) return;
  loaded_ = loaded_ | needs;
  if (loaded_ranks_ && named_)
    loaded_ranks_->insert(named_->begin(), named_->end());
  else
    loaded_ranks_.reset();
  pieces_.clear();
  if (!has_tables) {
    parts_.clear();
    rows_of_job_.clear();
    notes_.clear();
    partial_ = false;
  }
  try {
    for (std::size_t side = 0; side < sides_.size(); ++side) LoadSide(side);
  } catch (...) {
    parts_.clear();  // so that the next statement reads what this one did not get
    loaded_ranks_.emplace();
    throw;
  }
  std::ranges::sort(parts_, {},
                    [](const auto& part) { return std::pair(part->side, part->position); });
}

void Job::LoadSide(std::size_t side) {
  const ClusterRequest& request = sides_[side].captures;
  if (IsHistoryFile(request.directory)) {
    if (loaded_ == Tables::kNone) return;
    Fail(ErrorKind::kInput, "{}: a history of gates, whose only table is run: .schema run",
         request.directory.string());
  }
  FoundRanks found = Find(request, loaded_);
  const Tables needed = NeededOf(found, loaded_);
  std::vector<FoundRank> missing;
  std::vector<std::unique_ptr<LoadedPart>> parts;
  for (std::size_t position = 0; position < found.ranks.size(); ++position) {
    const RankId rank = found.ranks[position].rank;
    if ((loaded_ranks_ && !loaded_ranks_->contains(rank.Number())) || IsRead(side, position))
      continue;
    missing.push_back(found.ranks[position]);
    parts.push_back(
        std::make_unique<LoadedPart>(LoadedPart{.side = side,
                                                .position = position,
                                                .rank = rank,
                                                .label = rank.IsNumber() ? "" : RankName(rank)}));
  }
  if (missing.empty()) return AddNotes(found.notes, found.partial);
  found.ranks = std::move(missing);
  std::vector<char> is_read(parts.size());
  Room room(request.memory_bytes, parts_, found.ranks);
  const VisitedRanks visited =
      VisitRanks(found, request, needed, [&](std::size_t position, RankId, RankTrace& trace) {
        if (WasInterrupted()) Fail(ErrorKind::kResource, "the statement was stopped");
        room.Take(found.ranks[position].input, trace);
        parts[position]->trace = std::move(trace);
        is_read[position] = 1;
      });
  AddNotes(visited.notes, visited.partial);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (is_read[i] != 0) parts_.push_back(std::move(parts[i]));
  }
}

void Job::ReadRank(std::optional<std::int64_t> rank) {
  if (!loaded_ranks_ || (rank && loaded_ranks_->contains(*rank))) return;
  NameRanks(rank ? Ranks({*rank}) : std::nullopt);
  Load(Tables::kNone);
}

const std::vector<TablePiece>& Job::PiecesOf(const TableInfo& table) {
  const auto [found, is_new] = pieces_.try_emplace(&table);
  std::vector<TablePiece>& pieces = found->second;
  if (!is_new) return pieces;
  if (!table.IsOfRank()) {
    static const RankTrace none;
    auto& rows = rows_of_job_[&table];
    if (!rows) rows = std::make_unique<TableRows>(table, none, table.make_of_job(*this));
    pieces.push_back({nullptr, rows.get()});
    return pieces;
  }
  for (const auto& part : parts_) {
    auto& rows = part->rows[&table];
    if (!rows) {
      rows = std::make_unique<TableRows>(table, part->trace,
                                         table.make ? table.make(part->trace) : nullptr);
    }
    pieces.push_back({part.get(), rows.get()});
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
