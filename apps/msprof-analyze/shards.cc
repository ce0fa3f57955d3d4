// SPDX-License-Identifier: Apache-2.0
#include "shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>

#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/progress.h"
#include "mpa/io/numbers.h"
#include "mpa/io/output_file.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMachines = "Several machines";
constexpr std::size_t kMaxShards = 1'000'000;

// A program that starts the processes of a job, and the variables in which it numbers them.
struct Launcher {
  const char *name, *number, *count;
  std::vector<const char*> run;  // these tell one run from the next
  // Sets the variables for nothing but what it starts itself; scripts inherit those of others.
  bool is_certain;
};

const std::vector<Launcher>& Launchers() {
  // Slurm sets SLURM_NTASKS in batch scripts, too; SLURM_STEP_NUM_TASKS only in what srun starts.
  // Open MPI comes first: its mpirun starts a daemon on each machine by srun, whose variables the
  // processes inherit.
  static const std::vector<Launcher> launchers = {
      {"mpirun",
       "OMPI_COMM_WORLD_RANK",
       "OMPI_COMM_WORLD_SIZE",
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"},
       true},
      {"srun",
       "SLURM_PROCID",
       "SLURM_STEP_NUM_TASKS",
       {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"},
       true},
      {"mpirun", "PMI_RANK", "PMI_SIZE", {"PMI_JOBID"}, true},
      {"torchrun",
       "RANK",
       "WORLD_SIZE",
       {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"},
       false}};
  return launchers;
}

std::optional<Shard> ShardOf(const std::string& number, const std::string& count) {
  const auto first = io::ParseInt(number), second = io::ParseInt(count);
  if (!first || !second || *first < 0 || *first >= *second ||
      static_cast<std::size_t>(*second) > kMaxShards)
    return std::nullopt;
  return Shard{static_cast<std::size_t>(*first), static_cast<std::size_t>(*second)};
}

// In a file name.
std::string RunOf(const Launcher& launcher) {
  std::string run;
  for (const char* name : launcher.run) {
    const std::string value = Variable(name);
    if (!value.empty()) run += "_" + value;
  }
  if (run.empty()) return "";
  std::ranges::replace_if(
      run, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return launcher.name + run;
}

std::optional<Sharing> SharingOfLauncher(bool asked) {
  for (const Launcher& launcher : Launchers()) {
    if (!launcher.is_certain && !asked) continue;
    const auto shard = ShardOf(Variable(launcher.number), Variable(launcher.count));
    if (!shard) continue;
    if (shard->count == 1 && !asked) {
      if (std::string_view(launcher.name) == "mpirun") break;  // what follows is of its daemon
      continue;
    }
    return Sharing{{.shard = *shard}, launcher.name, RunOf(launcher)};
  }
  if (!asked) return std::nullopt;
  Fail(ErrorKind::kUsage,
       "--shard auto: this process was not started by srun, mpirun or torchrun; give --shard I/N,"
       " where I is 0 to N-1");
}

std::string EndingOfMarks(const Shard& shard) { return fmt::format("-of-{}.done", shard.count); }

fs::path MarkOf(const Sharing& sharing, std::size_t number) {
  return sharing.request.directory /
         fmt::format("{}.{}{}", sharing.run, number, EndingOfMarks(sharing.request.shard));
}

fs::path ClaimOf(const Sharing& sharing) {
  return sharing.request.directory / fmt::format("{}.merging", sharing.run);
}

Sharing SharingOfMpi(const ShardOptions& options) {
  if (!options.shard.empty())
    Fail(ErrorKind::kUsage, "--mpi asks MPI for the share of each process; leave --shard out");
  const Sharing sharing{{.shard = ShareOfMpi()}, "MPI", "", true};
  const auto launched = SharingOfLauncher(false);
  if (sharing.request.shard.count == 1 && launched) {
    Fail(ErrorKind::kUsage,
         "--mpi: {} started {} processes, but MPI knows of only one; srun needs --mpi=pmix",
         launched->launcher, launched->request.shard.count);
  }
  return sharing;
}

// Makes the parts and says where they are.
WrittenShard Condense(const std::vector<RecipeRun>& runs, const ClusterRequest& request,
                      const Sharing& sharing) {
  const fs::path& target = sharing.request.directory;
  const Shard& shard = sharing.request.shard;
  if (!sharing.launcher.empty()) {
    if (sharing.by_mpi)
      LogNotice("{}: share {} of {}", sharing.launcher, shard.number, shard.count);
    else
      LogNotice("{}: share {} of {}; --shard off reads all ranks", sharing.launcher, shard.number,
                shard.count);
  }
  InContext("-o", [&] { io::PrepareOutputDirectory(target); });
  if (!sharing.run.empty()) {
    std::error_code ignored;
    fs::remove(MarkOf(sharing, shard.number), ignored);
    fs::remove(ClaimOf(sharing), ignored);  // of an earlier run: this one is not done
  }
  WrittenShard written = WriteShard(runs, request, sharing.request);
  ClearProgressLine();
  LogNotes(written.notes);
  if (written.kept == 0)
    LogNotice("the parts of {} ranks are in {}", written.ranks, target.string());
  else
    LogNotice("the parts of {} ranks are in {}; {} were up to date", written.ranks, target.string(),
              written.kept);
  return written;
}

// Tells the other processes of the launcher that this one is done. True for one of them: it merges
// the parts.
bool IsLastOf(const Sharing& sharing) {
  const Shard& shard = sharing.request.shard;
  io::ReplaceText(MarkOf(sharing, shard.number), "");
  // Of a listing: clients of NFS remember for a while that a name was not there.
  const auto is_mark = [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return name.starts_with(sharing.run + ".") && name.ends_with(EndingOfMarks(shard));
  };
  std::error_code ignored;
  const fs::directory_iterator entries(sharing.request.directory, ignored);
  const auto done = static_cast<std::size_t>(std::count_if(begin(entries), end(entries), is_mark));
  // Two may see that all are done. Who makes the file merges; file systems without locks do that,
  // too. It stays, for those that look when the marks are gone.
  std::FILE* claim = done < shard.count ? nullptr : std::fopen(ClaimOf(sharing).c_str(), "wx");
  if (claim != nullptr) {
    (void)std::fclose(claim);
    return true;
  }
  if (fs::exists(ClaimOf(sharing), ignored)) {
    LogNotice("all shares are done; another process merges them");
  } else {
    LogNotice("{} of {} shares are done; the last one merges", done, shard.count);
  }
  return false;
}

// Forgets what the processes told each other.
void EndSharing(const Sharing& sharing) {
  std::error_code ignored;
  for (std::size_t i = 0; i < sharing.request.shard.count; ++i)
    fs::remove(MarkOf(sharing, i), ignored);
  for (const auto& entry : fs::directory_iterator(sharing.request.directory, ignored)) {
    const fs::path& path = entry.path();  // of earlier runs
    if (path.extension() == ClaimOf(sharing).extension() && path != ClaimOf(sharing))
      fs::remove(path, ignored);
  }
}

}  // namespace

void ShardOptions::AddTo(const OptionAdder& add) {
  add("--shard", shard,
      "Condense share I (0 to N-1) of N of the ranks into parts in -o; 'merge' puts them together."
      " auto: the share of this process of srun, mpirun or torchrun; off: all ranks [default: auto"
      " under srun and mpirun]",
      "I/N", kMachines);
  add.Flag("--local", local, "Instead of a share, take the ranks on disks of this machine",
           kMachines);
  add.Flag("--fresh", fresh, "Also remake parts whose captures have not changed", kMachines);
  add.Flag(
      "--mpi", mpi,
      "Under mpirun: each process makes its parts in its own -o and sends them to process 0, which"
      " merges; needs a program that was built with MPI",
      kMachines);
}

std::optional<Sharing> SharingOf(const ShardOptions& options, const std::string& output,
                                 const fs::path& standard) {
  std::optional<Sharing> sharing;
  if (options.mpi) {
    sharing = SharingOfMpi(options);
  } else if (options.shard.empty() || options.shard == "auto") {
    sharing = SharingOfLauncher(!options.shard.empty());
  } else if (options.shard != "off") {
    const std::size_t slash = options.shard.find('/');
    const auto shard = slash == std::string::npos ? std::nullopt
                                                  : ShardOf(options.shard.substr(0, slash),
                                                            options.shard.substr(slash + 1));
    if (!shard) {
      Fail(ErrorKind::kUsage, "--shard {}: give I/N, where I is 0 to N-1, or auto, or off",
           options.shard);
    }
    sharing = Sharing{{.shard = *shard}};
  } else if (options.local) {
    Fail(ErrorKind::kUsage, "--local has no effect with --shard off; leave one out");
  }
  if (!sharing && options.local) sharing = Sharing{};
  if (!sharing && options.fresh)
    Fail(ErrorKind::kUsage, "--fresh has no effect without --shard; give --shard I/N");
  if (!sharing) return std::nullopt;
  if (sharing->launcher.empty() && output.empty())
    Fail(ErrorKind::kUsage, "--shard needs -o, the directory for the parts");
  const fs::path below = output.empty() ? standard : fs::path(ExpandHome(output));
  sharing->request.directory = fs::absolute(below).lexically_normal();
  if (!sharing->launcher.empty()) sharing->request.directory /= "parts";
  sharing->request.local = options.local;
  sharing->request.fresh = options.fresh;
  return sharing;
}

int RunShard(const std::vector<RecipeRun>& runs, const ClusterRequest& request,
             const Sharing& sharing, Agent& agent, const MergeParts& merge) {
  if (sharing.by_mpi) {
    const auto make = [&] {
      WrittenShard written = Condense(runs, request, sharing);
      // A part that arrives without its list would be of no use to the others either.
      written.files.insert(written.files.begin(), written.lists.begin(), written.lists.end());
      return written.files;
    };
    return RunMpiJob(sharing.request.directory, make, merge);
  }
  const WrittenShard written = Condense(runs, request, sharing);
  const int exit_code = written.partial ? kExitPartial : 0;
  const std::string next =
      fmt::format("msprof-analyze merge {}", sharing.request.directory.string());
  if (sharing.launcher.empty()) {
    agent.Answer().next = next;
    agent.Wrote(written.files);
    return exit_code;
  }
  if (sharing.run.empty()) {
    LogNotice("when all shares are done: {}", next);
    return exit_code;
  }
  if (!IsLastOf(sharing)) return exit_code;
  const int of_all = merge({});
  EndSharing(sharing);
  return of_all;
}

std::vector<MappedRanks> MappedShares(const std::vector<RecipeRun>& runs,
                                      const ClusterRequest& request, const Sharing& sharing,
                                      const std::vector<std::string>& lost) {
  std::vector<PartSelection> wanted;
  for (const RecipeRun& run : runs) wanted.push_back({run.recipe, run.arguments, request.step});
  std::vector<MappedRanks> mapped;
  for (PartSet& set : ReadParts({sharing.request.directory}, wanted, request.reduce_bytes)) {
    mapped.push_back(std::move(set.mapped));
    MappedRanks& ranks = mapped.back();
    ranks.notes.insert(ranks.notes.begin(), lost.begin(), lost.end());
    ranks.partial = ranks.partial || !lost.empty();
  }
  return mapped;
}

}  // namespace mpa
