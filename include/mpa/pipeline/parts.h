// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mpa/pipeline/cluster.h"

/// Jobs that several processes condense, on one machine or many, and one puts together. What
/// recipes make of a rank is a file, which appears as a whole or not at all.
namespace mpa {

/// One of the shares of a job: `number` is 0 to count - 1.
struct Shard {
  std::size_t number = 0, count = 1;
};

struct ShardRequest {
  std::filesystem::path directory{};  ///< for the parts
  Shard shard{};
  /// Instead of the share the ranks whose files lie on a disk of this machine.
  bool local = false;
  bool fresh = false;  ///< makes parts again although their captures have not changed
};

struct WrittenShard {
  std::vector<std::filesystem::path> files;  ///< the parts
  std::vector<std::filesystem::path> lists;  ///< of the ranks of all shares
  std::size_t ranks = 0;                     ///< of the share
  std::size_t kept = 0;  ///< of these, ranks whose parts were there and up to date
  std::vector<std::string> notes;
  bool partial = false;  ///< ranks or parts of them had to be left out
};

/// Condenses a share of the ranks; shares have about as many bytes to read. A part is named
/// `<recipe>.rank<N>-<capture>.<version>.<arguments>.part`, or `capture<N>` in place of `rank<N>`
/// where the capture states no rank, and is kept while size, time and inode of the files of its
/// capture are the same. A file `.job` beside the parts lists the ranks of all shares. Throws
/// Error.
WrittenShard WriteShard(const std::vector<RecipeRun>& runs, const ClusterRequest& request,
                        const ShardRequest& shard);

/// Which parts to read.
struct PartSelection {
  const Recipe* recipe = nullptr;
  /// With these arguments and of this step; empty: whatever they are.
  std::optional<RecipeArguments> arguments{};
  std::optional<std::int32_t> step{};
};

/// Parts of one recipe with one set of arguments.
struct PartSet {
  const Recipe* recipe = nullptr;
  RecipeArguments arguments;
  std::optional<std::int32_t> step;
  bool of_text = false;  ///< the captures were text
  MappedRanks mapped;    ///< the same that MapRanks() gives of all ranks
};

/// Reads the parts of these recipes, loose and packed, in the order in which the command that made
/// them named them; recipes without parts are left out. Ranks whose part is missing, damaged or of
/// another version of the program, and parts of no rank of the job, are named in the notes; a rank
/// without a part makes its set partial. Throws Error (kInput) without any part, for two parts of
/// one rank, and for a recipe whose parts have different arguments or lack the list of the ranks of
/// all shares. `reduce_bytes`: see ClusterRequest.
std::vector<PartSet> ReadParts(const std::vector<std::filesystem::path>& directories,
                               const std::vector<PartSelection>& wanted,
                               std::int64_t reduce_bytes = 0);

struct PackedParts {
  std::filesystem::path file{};
  std::size_t parts = 0;
  std::vector<std::string> notes{};  ///< what had to be left out
};

/// Packs the parts of these recipes and the lists of their ranks into one file in `output`, which
/// ReadParts() takes for them. Parts that are damaged or of another version are left out. Throws
/// Error as ReadParts() does, and (kOutput).
PackedParts PackParts(const std::vector<std::filesystem::path>& directories,
                      const std::vector<PartSelection>& wanted,
                      const std::filesystem::path& output);

}  // namespace mpa
