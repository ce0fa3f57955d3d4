// SPDX-License-Identifier: Apache-2.0
// The ranks of a job, each once.
#include "mpa/pipeline/find_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/parallel.h"
#include "unread_records.h"

namespace mpa {
namespace {

// What traces of torch.profiler say of themselves. An unreadable one is reported by its reader.
void ReadGpuFacts(std::vector<RankInput>& inputs) {
  ParallelFor(inputs.size(), [&](std::size_t i) {
    const CaptureFile* trace = inputs[i].FindKineto();
    if (trace == nullptr) return;
    try {
      inputs[i].gpu = ReadGpuTraceFacts(trace->path);
    } catch (const Error& error) {
      Log(LogLevel::kDebug, "{}; its rank is unknown", error.what());
    }
  });
}

// The time of the capture: "20250109153804000" of "<worker>_20250109153804000_ascend_pt",
// "1694128201545", milliseconds since the epoch, of "<worker>.1694128201545.pt.trace.json".
std::string TimeStampOf(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  std::string latest;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find_first_of("_.", at), name.size());
    const std::string field = name.substr(at, end - at);
    constexpr std::size_t kDigits = 13;  // process ids are shorter
    if (field.size() >= kDigits && field.find_first_not_of("0123456789") == std::string::npos) {
      latest = field;
    }
    at = end + 1;
  }
  return latest;
}

// Of several captures of one rank the latest one counts.
std::vector<FoundRank> LatestOfEach(std::vector<FoundRank> found, FoundRanks& result) {
  std::stable_sort(found.begin(), found.end(), [](const FoundRank& a, const FoundRank& b) {
    return std::pair{a.rank, TimeStampOf(a.input.path)} <
           std::pair{b.rank, TimeStampOf(b.input.path)};
  });
  std::vector<FoundRank> latest;
  for (FoundRank& next : found) {
    if (next.rank >= 0 && !latest.empty() && latest.back().rank == next.rank) {
      result.partial = true;
      result.notes.push_back(fmt::format("rank {}: {} is left out, because {} is later", next.rank,
                                         latest.back().input.path.string(),
                                         next.input.path.string()));
      latest.back() = std::move(next);
    } else {
      latest.push_back(std::move(next));
    }
  }
  return latest;
}

}  // namespace

FoundRanks FindRanks(const std::filesystem::path& directory,
                     const std::optional<std::set<std::int64_t>>& wanted,
                     const OpenOptions& options) {
  FoundRanks result;
  Discovery discovery = Discover(directory, options);
  for (const Discovery::Unusable& unusable : discovery.unusable) {
    result.notes.push_back(fmt::format("{}; it is left out", unusable.Told()));
    result.partial = true;
  }
  ReadGpuFacts(discovery.ranks);
  std::vector<FoundRank> found;
  std::set<std::int64_t> seen;
  for (RankInput& input : discovery.ranks) {
    const std::int64_t rank = RankNumberOf(input);
    seen.insert(rank);
    if (wanted && !wanted->contains(rank)) continue;
    found.push_back({rank, std::move(input)});
  }
  if (wanted) {
    for (const std::int64_t rank : *wanted) {
      if (!seen.contains(rank)) {
        result.notes.push_back(fmt::format("rank {} not found in {}", rank, directory.string()));
        result.partial = true;
      }
    }
  }
  if (found.empty()) {
    if (discovery.ranks.empty() && discovery.unusable.size() == 1) {
      Fail(ErrorKind::kInput, "{}", discovery.unusable.front().Told());
    }
    Fail(ErrorKind::kInput, "{}: no readable capture; see why with 'msprof-analyze check {}'",
         directory.string(), directory.string());
  }
  result.ranks = LatestOfEach(std::move(found), result);
  std::vector<const RankInput*> inputs;
  for (const FoundRank& rank : result.ranks) inputs.push_back(&rank.input);
  NoteUnreadRecords(inputs, result.notes);
  return result;
}

}  // namespace mpa
