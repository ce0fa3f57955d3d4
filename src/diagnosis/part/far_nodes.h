// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/part/rank_graph.h"
#include "mpa/measure/thread_time.h"
#include "part_facts.h"

namespace mpa {

/// How much longer the threads of the stretches take because they run on another NUMA node than
/// before, where the same operators are slower.
void AddFarTimes(const RankTrace& trace, const ThreadTimes& threads,
                 const std::vector<HostStretch>& stretches, PartNames& names, RankDiagnosis& part);

}  // namespace mpa
