// SPDX-License-Identifier: Apache-2.0
// From the parts of a job to what comparisons tell of it.
#include "mpa/diagnosis/job_causes.h"

#include "diagnose.h"
#include "mpa/diagnosis/report/cause_text.h"

namespace mpa {

JobCauses CausesOf(const std::vector<RankPart>& parts, const AbsentRanks& absent) {
  return CausesIn(Diagnose(DiagnosedRanksOf(parts), {}, "", /*for_page=*/false, absent));
}

}  // namespace mpa
