// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "mpa/pipeline/parts.h"
#include "printing.h"

/// Several processes that share the ranks of a job.
namespace mpa {

/// --shard, --local and --fresh.
struct ShardOptions {
  std::string shard;
  bool local = false, fresh = false;

  void AddTo(const OptionAdder& add);
};

/// What a process does for others, too.
struct Sharing {
  ShardRequest request;
  std::string launcher{};  ///< "srun"; empty: the command line names the share
  std::string run{};       ///< of the launcher; empty: unknown, and nobody merges
};

/// The share that the command line names, or the launcher. `output`: of -o, where parts go that are
/// merged by another command; `standard`: where results go without it. Empty: the process reads all
/// ranks. Throws Error (kUsage).
std::optional<Sharing> SharingOf(const ShardOptions& options, const std::string& output,
                                 const std::filesystem::path& standard);

/// Condenses the share. Gives the exit code.
int RunShard(const std::vector<RecipeRun>& runs, const ClusterRequest& request,
             const Sharing& sharing, const Agent& agent);

/// Tells the other processes of the launcher that this one is done. True for one of them: it merges
/// the parts.
bool IsLastOf(const Sharing& sharing);
/// Forgets what the processes told each other.
void EndSharing(const Sharing& sharing);

}  // namespace mpa
