// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mpa/base/first_seen.h"
#include "mpa/measure/durations.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// What an operation does, in the word that HCCL and NCCL share: "allreduce" for
/// hcom_allReduce__271_0_1, hcom_allReduce_, ncclDevKernel_AllReduce_Sum_f32_RING_LL(...) and
/// cross_device_reduce_1stage.
/// Other names up to their first '_', in lower case.
std::string CollectiveKind(std::string_view name);

/// The same of a row of the communications; "N/A" where the capture names neither type nor
/// operation.
std::string CollectiveKindOf(const RankTrace& trace, std::size_t row);

/// The operator's type as databases record it, "hcom_allReduce_" for hcom_allReduce__271_0_1; of
/// GPUs the kind. Empty for names of another form.
std::string OperatorTypeOf(const RankTrace& trace, std::size_t row);

/// True for operators between two ranks, or several such at once (batchSendRecv): they are no
/// collectives of their group.
bool IsPointToPoint(const RankTrace& trace, std::size_t row);

/// "host%eth_0" for "Group host%eth_0 Communication", as traces name the group.
std::string_view BareGroupName(std::string_view name);

/// The operations of one kind, and the tasks that they were made of by the name of the task.
struct Collective {
  Durations calls;
  FirstSeen<std::string_view, Durations> tasks;
};

/// The communication of a rank by kind, in order of start.
FirstSeen<std::string, Collective> SumCollectives(const RankTrace& trace);

}  // namespace mpa
