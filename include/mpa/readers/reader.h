// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "mpa/capture/capture.h"
#include "mpa/measure/kernel_masks.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// The request to a reader.
struct ReadRequest {
  /// Tables outside this set may be left empty. Of kHostCalls without any but kSteps the threads
  /// and connections may be missing.
  Tables wanted{};
  std::string gpu_flow_cat;  ///< category of a GPU trace's launch flows; empty: the usual ones
  KernelMasks masks{};       ///< which kernels of a GPU trace communicate
};

/// Parses one kind of file into the tables of a RankTrace. Invalid rows are counted in
/// trace.issues; an invalid file throws an Error.
struct Reader {
  std::string_view name;
  FileKind reads{};
  Tables fills{};
  void (*read)(const CaptureFile& file, const ReadRequest& request, RankTrace& trace);
};

/// Every reader, in the order in which they run on a rank: a later one may build on the tables of
/// an earlier one (the names of communication groups on the groups).
const std::vector<Reader>& AllReaders();

}  // namespace mpa
