// SPDX-License-Identifier: Apache-2.0
// A recipe over all ranks of a job.
#include "mpa/pipeline/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/parallel.h"
#include "mpa/capture/profiler_info.h"

namespace mpa {
namespace {

struct FoundRank {
  std::int64_t rank = -1;
  RankInput input;
};

std::int64_t RankOf(const RankInput& input) {
  if (input.info && input.info->rank) return *input.info->rank;
  if (const CaptureFile* database = input.Find(FileKind::kProfilerDb)) {
    return NumberInName(database->path).value_or(-1);
  }
  return -1;
}

// "20250109153804000" of "<worker>_20250109153804000_ascend_pt": the time of the capture.
std::string TimeStampOf(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  std::string latest;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    const std::string field = name.substr(at, end - at);
    constexpr std::size_t kDigits = 14;  // to the second at least
    if (field.size() >= kDigits && field.find_first_not_of("0123456789") == std::string::npos) {
      latest = field;
    }
    at = end + 1;
  }
  return latest;
}

// Of several captures of one rank the latest one counts.
std::vector<FoundRank> LatestOfEach(std::vector<FoundRank> found, std::vector<std::string>& notes) {
  std::stable_sort(found.begin(), found.end(), [](const FoundRank& a, const FoundRank& b) {
    return std::pair{a.rank, TimeStampOf(a.input.path)} <
           std::pair{b.rank, TimeStampOf(b.input.path)};
  });
  std::vector<FoundRank> latest;
  for (FoundRank& next : found) {
    if (next.rank >= 0 && !latest.empty() && latest.back().rank == next.rank) {
      notes.push_back(fmt::format("rank {}: {} is left out, {} is later", next.rank,
                                  latest.back().input.path.string(), next.input.path.string()));
      latest.back() = std::move(next);
    } else {
      latest.push_back(std::move(next));
    }
  }
  return latest;
}

std::vector<FoundRank> FindRanks(const ClusterRequest& request, std::vector<std::string>& notes,
                                 bool& partial) {
  Discovery discovery = Discover(request.directory, request.force);
  for (const Discovery::Unusable& unusable : discovery.unusable) {
    notes.push_back(fmt::format("{}; it is left out", unusable.reason));
    partial = true;
  }
  std::vector<FoundRank> found;
  std::set<std::int64_t> seen;
  for (RankInput& input : discovery.ranks) {
    const std::int64_t rank = RankOf(input);
    seen.insert(rank);
    if (request.ranks && !request.ranks->contains(rank)) continue;
    found.push_back({rank, std::move(input)});
  }
  if (request.ranks) {
    for (const std::int64_t rank : *request.ranks) {
      if (!seen.contains(rank)) {
        notes.push_back(fmt::format("there is no rank {} in {}", rank, request.directory.string()));
        partial = true;
      }
    }
  }
  if (found.empty()) {
    Fail(ErrorKind::kInput,
         "{}: no capture that can be read is there; see what is with 'msprof-analyze check -d {}'",
         request.directory.string(), request.directory.string());
  }
  return LatestOfEach(std::move(found), notes);
}

// Lets ranks into memory as long as there is room; one is always let in.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::int64_t bytes) : bytes_(bytes) {}

  void Take(std::int64_t bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return bytes_ <= 0 || taken_ == 0 || taken_ + bytes <= bytes_; });
    taken_ += bytes;
  }
  void GiveBack(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    taken_ -= bytes;
    changed_.notify_all();
  }

 private:
  const std::int64_t bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t taken_ = 0;
};

// What a rank takes in memory at most: a trace is mapped whole and joined from fragments, of a
// database only the columns that are needed are kept.
std::int64_t MemoryOf(const RankInput& input) {
  std::int64_t bytes = 0;
  for (const CaptureFile& file : input.files) {
    const bool packed = file.path.extension() == ".gz";
    bytes += file.kind == FileKind::kProfilerDb ? file.bytes : file.bytes * (packed ? 15 : 2);
  }
  return bytes;
}

struct MappedRank {
  std::any part;
  std::vector<std::string> notes;
  bool partial = false, failed = false;
};

MappedRank MapRank(const Recipe& recipe, const ClusterRequest& request, const RankInput& input) {
  MappedRank mapped;
  try {
    Tables wanted = recipe.needs;
    if (request.step) wanted = wanted | Tables::kSteps;
    RecipeArguments arguments = request.arguments;
    if (request.step && recipe.cuts_steps) arguments["step_id"] = std::to_string(*request.step);
    LoadedRank loaded =
        LoadRank(input, {wanted, ""}, recipe.cuts_steps ? std::nullopt : request.step);
    mapped.part =
        InContext(input.path.string(), [&] { return recipe.map(loaded.trace, arguments); });
    mapped.notes = std::move(loaded.notes);
    mapped.partial = loaded.partial;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kResource || error.kind() == ErrorKind::kUsage) throw;
    mapped.notes.push_back(fmt::format("{}; the rank is left out", error.what()));
    mapped.failed = true;
  }
  return mapped;
}

}  // namespace

ClusterOutcome RunRecipe(const Recipe& recipe, const ClusterRequest& request) {
  ClusterOutcome outcome;
  std::vector<std::string> notes;
  const std::vector<FoundRank> ranks = FindRanks(request, notes, outcome.partial);
  std::vector<MappedRank> mapped(ranks.size());
  MemoryBudget budget(request.memory_bytes);
  ParallelFor(ranks.size(), [&](std::size_t i) {
    const std::int64_t bytes = MemoryOf(ranks[i].input);
    budget.Take(bytes);
    try {
      mapped[i] = MapRank(recipe, request, ranks[i].input);
    } catch (...) {
      budget.GiveBack(bytes);
      throw;
    }
    budget.GiveBack(bytes);
  });

  std::vector<RankPart> parts;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    notes.insert(notes.end(), mapped[i].notes.begin(), mapped[i].notes.end());
    outcome.partial = outcome.partial || mapped[i].partial || mapped[i].failed;
    if (!mapped[i].failed) parts.push_back({ranks[i].rank, std::move(mapped[i].part)});
  }
  if (parts.empty()) Fail(ErrorKind::kInput, "no rank could be read: {}", notes.back());
  outcome.result = recipe.reduce(parts, request.arguments);
  notes.insert(notes.end(), outcome.result.notes.begin(), outcome.result.notes.end());
  outcome.result.notes = std::move(notes);
  return outcome;
}

}  // namespace mpa
