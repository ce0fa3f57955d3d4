// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"
#include "server_rows.h"

/// The tables of msServiceProfiler, one function each. `zone` is what their dates are ahead of UTC.
namespace mpa::readers {

/// Where the rows of a table go, and what they have in common.
struct ServerRecords {
  RankTrace& trace;
  TimeNs zone = 0;
  StringId instance{};
};

void ReadServerRequests(ServerRows& rows, const ServerRecords& records);
/// What servers that prefill told those that decode: adds to the requests.
void ReadServerHandovers(ServerRows& rows, const ServerRecords& records);
/// Also adds to the requests what batches tell of them.
void ReadServerBatches(ServerRows& rows, const ServerRecords& records);
void ReadServerForwards(ServerRows& rows, const ServerRecords& records);
void ReadServerSpans(ServerRows& rows, const ServerRecords& records);
/// Tokens that were guessed ahead, if the batches do not have them.
void ReadServerGuesses(ServerRows& rows, const ServerRecords& records);
void ReadServerCache(ServerRows& rows, const ServerRecords& records);
void ReadServerStatus(ServerRows& rows, const ServerRecords& records);
void ReadServerNodes(ServerRows& rows, const ServerRecords& records);
void ReadServerTransfers(ServerRows& rows, const ServerRecords& records);

}  // namespace mpa::readers
