// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

namespace raw {
struct Session;
}

/// The number of rows of every table, always in the same order.
std::vector<std::size_t> CountRows(const RankTrace& trace);

/// "host_ops 1234 rows, kernels 1 row": what was added since `before` was counted. Says so when
/// there is nothing.
std::string AddedRows(const std::vector<std::size_t>& before, const RankTrace& trace);

/// The same of all that a raw session holds.
std::string SessionRows(const raw::Session& session);

/// Counts what is impossible in the times of a rank's device work in trace.issues: times that span
/// more than a day or lie outside of the session, kernels of a table that the trace has at other
/// times, and kernels that run on under their successors on one stream.
void CheckTimes(RankTrace& trace);

}  // namespace mpa
