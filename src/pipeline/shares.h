// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpa/capture/capture.h"
#include "mpa/pipeline/parts.h"

namespace mpa {

/// A file of a capture, by which a change is noticed.
struct SourceFile {
  std::string name;  ///< from the capture on
  std::int64_t bytes = 0;
  /// In ns, on the clock of its file system: of its content, and of that or anything else, which
  /// copies and touch(1) cannot set.
  std::int64_t changed = 0, status_changed = 0;
  std::uint64_t inode = 0;

  bool operator==(const SourceFile&) const = default;
};

/// All files that may be read of a capture, in order of their names.
std::vector<SourceFile> SourcesOf(const RankInput& input);
std::int64_t BytesOf(const std::vector<SourceFile>& sources);

/// The positions of a share, ascending: the largest rank goes to the share that has least so far.
/// All shares together have each position once.
std::vector<std::size_t> PositionsOf(const Shard& shard, const std::vector<std::int64_t>& bytes);

/// False for a capture on a file system of the network.
bool IsOnThisMachine(const RankInput& input);

}  // namespace mpa
