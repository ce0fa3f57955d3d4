// SPDX-License-Identifier: Apache-2.0
// The ranks of a job, each once.
#include "mpa/pipeline/find_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/parallel.h"
#include "mpa/io/numbers.h"
#include "unread_records.h"

namespace mpa {
namespace {

// What GPU traces say of themselves. An unreadable one is reported by its reader.
void ReadGpuFacts(std::vector<RankInput>& inputs) {
  ParallelFor(inputs.size(), [&](std::size_t i) {
    const CaptureFile* trace = inputs[i].Find(FileKind::kKinetoTrace);
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

// Seconds since the epoch, in the time zone of the host; empty where the name has no time.
std::optional<std::int64_t> SecondsOf(const std::string& stamp) {
  constexpr std::size_t kMilliseconds = 13, kDate = 14;
  const auto number = [&](std::size_t at, std::size_t digits) {
    return io::ParseInt(std::string_view(stamp).substr(at, digits)).value_or(-1);
  };
  if (stamp.size() == kMilliseconds) return number(0, kMilliseconds) / 1000;
  if (stamp.size() < kDate) return std::nullopt;
  const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(number(0, 4))),
                                        std::chrono::month(static_cast<unsigned>(number(4, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(6, 2)))};
  if (!day.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  return ((days * 24 + number(8, 2)) * 60 + number(10, 2)) * 60 + number(12, 2);
}

// Ranks of one job are captured within minutes. What is days apart belongs to another job, and the
// latest one counts. Hosts may be of time zones that are 26 hours apart.
std::vector<FoundRank> LatestJob(std::vector<FoundRank> ranks, FoundRanks& result) {
  constexpr std::int64_t kApart = 26 * 3600;
  std::vector<std::int64_t> times;
  for (const FoundRank& rank : ranks) {
    const auto time = SecondsOf(TimeStampOf(rank.input.path));
    if (!time) return ranks;
    times.push_back(*time);
  }
  std::vector<std::int64_t> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  std::int64_t begin = sorted.empty() ? 0 : sorted.front();
  std::size_t jobs = 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] - sorted[i - 1] <= kApart) continue;
    begin = sorted[i];
    ++jobs;
  }
  if (jobs == 1) return ranks;
  std::vector<FoundRank> latest;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (times[i] >= begin) {
      latest.push_back(std::move(ranks[i]));
      continue;
    }
    result.notes.push_back(
        fmt::format("{}: left out, it was captured days before others and belongs to another job; "
                    "give one job at a time",
                    ranks[i].input.path.string()));
  }
  result.partial = true;
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
    if (input.info && !input.info->rank_problem.empty()) {
      result.notes.push_back(input.info->rank_problem);
    }
    if (!input.info_problem.empty()) {
      result.notes.push_back(input.info_problem + "; the collection settings stay unknown");
    }
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
  result.ranks = LatestJob(LatestOfEach(std::move(found), result), result);
  std::vector<const RankInput*> inputs;
  for (const FoundRank& rank : result.ranks) inputs.push_back(&rank.input);
  NoteUnreadRecords(inputs, result.notes);
  return result;
}

}  // namespace mpa
