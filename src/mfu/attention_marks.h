// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/measure/nesting.h"
#include "mpa/measure/op_tree.h"
#include "mpa/mfu/attention_args.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

struct AttentionMarks {
  std::vector<AttentionArgs> args;
  std::vector<std::int64_t> of_op;  ///< for each of AllOpWork::ops its arguments, -1: none
};

/// The arguments of attention operators, from the marks of the domain flash_attn_args. A mark
/// belongs to the next operator of its threads that launches an attention kernel; of several marks
/// the last one counts. The gradient has the arguments of the operator of the forward pass that it
/// belongs to.
AttentionMarks FindAttentionMarks(const RankTrace& trace, const ThreadGroups& groups,
                                  const AllOpWork& work);

}  // namespace mpa
