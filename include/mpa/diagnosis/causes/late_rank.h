// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"

namespace mpa {

/// What a finding says a rank has too much of, and whose work says what is usual.
struct LateWork {
  std::size_t rank = 0;            ///< position
  std::vector<std::size_t> peers;  ///< positions, the rank among them
  std::vector<Leaf> leaves;        ///< of the host; none: kernels
  bool copies = false;             ///< copies to the device belong to it
};

/// How the work of a late rank becomes the lateness for which others wait. The excess is that of
/// the finding: what the rank does beyond the lower quartile of its peers, in the steps of the
/// finding.
LateRank ExplainLateRank(const Job& job, const LateWork& work, const FoundCause& finding);

/// When a rank of rank.late, which was not captured, came to the operations that waited for it.
void ExplainUncaptured(const Job& job, const FoundCause& finding, FindingChain& chain);

}  // namespace mpa
