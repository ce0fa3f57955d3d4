// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "load_rank.h"
#include "mpa/capture/capture.h"
#include "mpa/readers/reader.h"

namespace mpa {

/// The tables from which replays are explained; wanted of the rank itself, too, which may have
/// captured its graphs while it was profiled. None where the request asks for no operators.
Tables TablesOfGraphs(const ReadRequest& request);

/// Explains the replays of captured graphs in a rank that was read by the graphs captured in the
/// same trace, and by the graph captures among its files, which are read only where there are
/// replays. Notes say what matched. Throws Error when a file that the user named is unreadable.
void ExplainGraphs(const RankInput& input, const ReadRequest& request, LoadedRank& rank);

}  // namespace mpa
