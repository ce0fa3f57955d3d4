// SPDX-License-Identifier: Apache-2.0
#include "cause.h"

#include <fmt/format.h>

namespace mpa {

Cause NewCause(const Job& job, std::string_view id, std::string_view place) {
  Cause cause;
  const CatalogueEntry& entry = EntryOf(id);
  cause.finding.id = id;
  cause.finding.key = place.empty() ? std::string(id) : fmt::format("{}/{}", id, place);
  cause.finding.kind = entry.kind;
  cause.finding.steps = job.CountedIds();
  cause.finding.confidence = job.CountedSteps() >= 3 ? Certainty::kHigh : Certainty::kMedium;
  cause.what_if.opportunity = entry.kind == FindingKind::kOpportunity;
  return cause;
}

TimeNs PerStep(const Job& job, TimeNs time) {
  return time / static_cast<TimeNs>(std::max<std::size_t>(1, job.CountedSteps()));
}

}  // namespace mpa
