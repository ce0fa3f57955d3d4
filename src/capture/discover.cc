// SPDX-License-Identifier: Apache-2.0
// Finds captures below a directory.
#include <algorithm>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "file_checks.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/capture/capture.h"
#include "scan_rank.h"
#include "server_files.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

bool LooksLikeCapture(const fs::path& directory) {
  const std::string name = directory.filename().string();
  constexpr std::string_view kMsprof = "PROF_";
  const bool msprof = name.starts_with(kMsprof) && name.size() > kMsprof.size() &&
                      name[kMsprof.size()] >= '0' && name[kMsprof.size()] <= '9';
  return msprof || name.ends_with("_ascend_pt") || name.ends_with("_ascend_ms") ||
         name == kOutputDirectory || name == kMsprofOutput ||
         IsDirectory(directory / kOutputDirectory) || HoldsRawData(directory);
}

// A trace file among other files: a directory may contain any JSON, so the events decide.
bool IsLooseKinetoTrace(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".pt.trace.json") || name.ends_with(".pt.trace.json.gz")) return true;
  if (!name.ends_with(".json") && !name.ends_with(".json.gz")) return false;
  try {
    const TraceLook look = LookAtTrace(path);
    if (!look.writer.empty()) return false;
    return look.is_kineto.value_or(!look.is_array) && (look.has_events || look.is_kineto);
  } catch (const Error&) {
    return false;  // unreadable, so it is not known to be a trace
  }
}

void CheckFiles(RankInput& rank) {
  MarkLinksOut(rank);
  WarnIfForeign(rank);
}

void AddUnreadable(const fs::path& path, const Error& error, Discovery& found) {
  Discovery::Unusable unusable{{}, error.what()};
  unusable.rank.path = path;
  found.unusable.push_back(std::move(unusable));
}

void Add(const fs::path& path, const OpenOptions& options, Discovery& found) {
  try {
    ScannedRank scanned = ScanRank(path, options);
    if (scanned.problem.empty()) {
      if (!options.force) CheckFiles(scanned.rank);
      found.ranks.push_back(std::move(scanned.rank));
    } else {
      found.unusable.push_back({std::move(scanned.rank), std::move(scanned.problem)});
    }
  } catch (const Error& error) {
    AddUnreadable(path, error, found);
  }
}

void AddServer(const fs::path& path, const OpenOptions& options, Discovery& found) {
  try {
    std::optional<RankInput> server = ScanServer(path);
    if (!server) return;
    server->follow_links = options.force;
    if (!options.force) CheckFiles(*server);
    found.servers.push_back(std::move(*server));
  } catch (const Error& error) {
    AddUnreadable(path, error, found);
  }
}

bool IsCapture(const fs::path& path) {
  if (IsDirectory(path)) return LooksLikeCapture(path);
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) &&
         (IsProfilerDb(path) || IsLooseKinetoTrace(path) || IsMemorySnapshot(path));
}

// The captures below the directory `top`.
class Walk {
 public:
  Walk(const fs::path& top, const OpenOptions& options, Discovery& found)
      : top_(top), options_(options), found_(found) {}

  void Look(const fs::path& directory, int levels) {
    try {
      bool has_server_tables = false;
      for (const fs::path& entry : Entries(directory)) {
        std::error_code ignored;
        has_server_tables = has_server_tables || IsServerTable(entry);
        if (fs::is_symlink(entry, ignored)) {
          LookAtLink(entry);
        } else if (IsOfGraphs(entry)) {
          continue;
        } else if (IsCapture(entry)) {
          Add(entry, options_, found_);
          if (IsDirectory(entry)) AddServer(entry, options_, found_);
        } else if (levels > 1 && IsDirectory(entry)) {
          Look(entry, levels - 1);
        }
      }
      if (has_server_tables) AddServer(directory, options_, found_);
    } catch (const Error& error) {
      AddUnreadable(directory, error, found_);
    }
  }

 private:
  // The capture of graphs tells about replays in other traces, and is of no rank of the job.
  bool IsOfGraphs(const fs::path& entry) const {
    if (entry.filename() == kGraphCaptures) return IsDirectory(entry);
    if (options_.graph_capture.empty()) return false;
    std::error_code ignored;
    return fs::equivalent(entry, options_.graph_capture, ignored);
  }

  void LookAtLink(const fs::path& link) {
    std::error_code error;
    const fs::path target = fs::canonical(link, error);
    // Paths below the directory are found without the link.
    if (error || IsWithin(target, top_) || !IsCapture(link)) return;
    if (options_.force) {
      Add(target, options_, found_);
    } else {
      AddUnreadable(link,
                    Error(ErrorKind::kInput, Say("{}: leads out of the directory, to {};"
                                                 " --force follows such links",
                                                 link.string(), target.string())),
                    found_);
    }
  }

  const fs::path& top_;
  const OpenOptions& options_;
  Discovery& found_;
};

// Absolute and without symbolic links; throws for a path that does not exist.
fs::path Resolve(const fs::path& path) {
  CheckReadable(path);
  return fs::canonical(path);
}

}  // namespace

const CaptureFile* RankInput::Find(FileKind file_kind) const {
  const auto found = std::ranges::find(files, file_kind, &CaptureFile::kind);
  return found == files.end() ? nullptr : &*found;
}

const CaptureFile* RankInput::FindKineto() const {
  const CaptureFile* of_gpu = Find(FileKind::kKinetoTrace);
  return of_gpu != nullptr ? of_gpu : Find(FileKind::kNpuKinetoTrace);
}

std::string Discovery::Unusable::Text() const {
  const std::string path = rank.path.string();
  return reason.starts_with(path) ? reason : fmt::format("{}: {}", path, reason);
}

namespace {

// Of what holds records of a server alone; null for anything else.
const char* ProblemOfServer(const fs::path& path, bool has_servers) {
  if (has_servers || IsServerTable(path)) return kServerProblem;
  if (IsDeviceRecord(path)) return kDeviceRecordProblem;
  if (!IsDirectory(path)) return nullptr;
  return std::ranges::any_of(Entries(path), IsDeviceRecord) ? kDeviceRecordProblem : nullptr;
}

}  // namespace

RankInput OpenRank(const fs::path& path, const OpenOptions& options) {
  const fs::path resolved = Resolve(path);
  CheckGraphCapture(options);
  ScannedRank scanned = ScanRank(resolved, options);
  if (!scanned.problem.empty()) {
    Discovery found;
    if (IsDirectory(resolved))
      found = Discover(resolved, options);
    else
      AddServer(resolved, options, found);
    if (found.ranks.size() == 1 && found.unusable.empty()) {
      scanned = {std::move(found.ranks.front()), ""};
    } else if (found.ranks.empty() && options.servers && !found.servers.empty()) {
      scanned = {JoinServers(std::move(found.servers), resolved), ""};
    } else if (found.ranks.empty()) {
      const char* problem = ProblemOfServer(resolved, !found.servers.empty());
      if (problem != nullptr) scanned.problem = Translated(problem);
    }
  }
  if (!scanned.problem.empty()) {
    Fail(ErrorKind::kInput, "{}: {}", resolved.string(), scanned.problem);
  }
  RankInput& rank = scanned.rank;
  if (!options.force) CheckFiles(rank);
  AddHostWaitFilesBeside({&rank, 1});
  // What a trace of torch.profiler says of its rank may be at its end, and nobody asks for it here.
  if (!IsKineto(rank.kind)) NameRanks({&rank, 1});
  if (!rank.info_problem.empty()) {
    LogWarning("{}; the collection settings stay unknown", rank.info_problem);
  }
  if (rank.info && !rank.info->rank_problem.empty()) LogWarning("{}", rank.info->rank_problem);
  if (!rank.rank_conflict.empty()) LogWarning("{}", rank.rank_conflict);
  if (rank.msprof && !rank.msprof->earlier.empty()) {
    LogWarning("{}: exported several times; the last export is read, {} is not", rank.path.string(),
               rank.msprof->earlier.front().filename().string());
  }
  for (const fs::path& unread : rank.unread_databases) {
    LogWarning("{}: several databases; reading {} and not {}", unread.parent_path().string(),
               rank.files.front().path.filename().string(), unread.filename().string());
  }
  return std::move(scanned.rank);
}

namespace {

// A capture, or those below a directory.
void DiscoverIn(const fs::path& resolved, const OpenOptions& options, Discovery& found) {
  const bool single = !fs::is_directory(resolved) || LooksLikeCapture(resolved);
  const std::size_t before = found.ranks.size() + found.unusable.size();
  const std::size_t servers_before = found.servers.size();
  if (single)
    AddServer(resolved, options, found);
  else
    Walk(resolved, options, found).Look(resolved, 3);
  if (found.ranks.size() + found.unusable.size() > before) return;
  const bool has_servers = found.servers.size() > servers_before;
  const char* problem =
      LooksLikeCapture(resolved) ? nullptr : ProblemOfServer(resolved, has_servers);
  if (problem != nullptr)
    AddUnreadable(resolved, Error(ErrorKind::kInput, std::string(Translated(problem))), found);
  else
    Add(resolved, options, found);
}

}  // namespace

Discovery Discover(const fs::path& path, const OpenOptions& options) {
  const fs::path resolved = Resolve(path);
  CheckGraphCapture(options);
  Discovery found;
  const bool of_chosen = !options.chosen.paths.empty() && resolved == options.chosen.top;
  if (of_chosen) {
    for (const fs::path& chosen : options.chosen.paths) DiscoverIn(chosen, options, found);
    // One of them may be above another.
    std::set<fs::path> ranks, unusable;
    std::erase_if(found.ranks,
                  [&](const RankInput& rank) { return !ranks.insert(rank.path).second; });
    std::erase_if(found.unusable, [&](const Discovery::Unusable& one) {
      return !unusable.insert(one.rank.path).second;
    });
  } else {
    DiscoverIn(resolved, options, found);
  }
  KeepMostComplete(found.servers);
  AddHostWaitFilesBeside(found.ranks);
  JoinMemorySnapshots(found.ranks);
  return found;
}

ChosenCaptures Together(const std::vector<fs::path>& paths) {
  ChosenCaptures chosen;
  for (const fs::path& path : paths) {
    fs::path resolved = Resolve(path);
    if (std::ranges::find(chosen.paths, resolved) == chosen.paths.end())
      chosen.paths.push_back(std::move(resolved));
  }
  chosen.top = chosen.paths.front();
  for (const fs::path& path : chosen.paths) {
    const auto differ = std::ranges::mismatch(chosen.top, path).in1;
    fs::path common;
    for (auto part = chosen.top.begin(); part != differ; ++part) common /= *part;
    chosen.top = std::move(common);
  }
  return chosen;
}

}  // namespace mpa
