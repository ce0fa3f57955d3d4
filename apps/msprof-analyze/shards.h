// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent.h"
#include "command.h"
#include "mpa/pipeline/parts.h"
#include "mpi_job.h"

/// Several processes that share the ranks of a job.
namespace mpa {

/// --shard, --local, --fresh and --mpi.
struct ShardOptions {
  std::string shard;
  bool local = false, fresh = false, mpi = false;

  void AddTo(const OptionAdder& add);
};

/// What a process does for others, too.
struct Sharing {
  ShardRequest request;
  std::string launcher{};  ///< "srun"; empty: the command line names the share
  std::string run{};       ///< of the launcher; empty: unknown, and nobody merges
  bool by_mpi = false;     ///< parts go to process 0, which merges
};

/// The share that the command line names, or the launcher. `output`: of -o, where parts go that are
/// merged by another command; `standard`: where results go without it. Empty: the process reads all
/// ranks. Throws Error (kUsage).
std::optional<Sharing> SharingOf(const ShardOptions& options, const std::string& output,
                                 const std::filesystem::path& standard);

/// Condenses the share. One process of those that a launcher started also calls `merge`. Gives the
/// exit code.
int RunShard(const std::vector<RecipeRun>& runs, const ClusterRequest& request,
             const Sharing& sharing, Agent& agent, const MergeParts& merge);

/// The condensed ranks of all shares, for `merge`. What is lost makes them partial, and is among
/// the notes.
std::vector<MappedRanks> MappedShares(const std::vector<RecipeRun>& runs,
                                      const ClusterRequest& request, const Sharing& sharing,
                                      const std::vector<std::string>& lost);

}  // namespace mpa
