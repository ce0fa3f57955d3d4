// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpa/raw/session.h"

/// The numbers by which the tables of a profiler database find each other: connectionId. Host
/// calls have the lowest numbers; framework and marks have ranges of their own.
namespace mpa::profiler_output {

/// That of a host call: the number of its row in Session.calls and one, because readers take 0 for
/// no connection.
std::int64_t CallConnection(std::size_t call);

/// That of a device task: of the call that launched it. All tasks handed over outside of any call
/// share one number; -1: no host record.
std::int64_t TaskConnection(const raw::Session& session, std::size_t task);

/// That of a mark, on both sides.
std::int64_t MarkConnection(std::int64_t mark_id);

/// That of the two sides of an entry of the task queue.
std::int64_t QueueConnection(std::int64_t correlation);

struct OpConnection {
  std::int32_t op = -1;  ///< row in TorchOps
  std::int64_t connection = 0;
};

/// What operators are connected with: the launches in their queue entries, marks that they set, and
/// their counterparts of the other pass. By operator, without duplicates.
std::vector<OpConnection> ConnectOps(const raw::Session& session);

}  // namespace mpa::profiler_output
