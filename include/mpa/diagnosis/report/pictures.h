// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/measure/intervals.h"
#include "mpa/report/timeline.h"

namespace mpa {

/// What a page draws of a job: kernels, links, and the wait for another rank that took longest.
JobPictures PicturesOf(const Job& job);

/// The operation for whose last member another one waited longest, in the counted steps: host, task
/// queue, streams and communication of both. Empty: no rank waited for another.
std::optional<Timeline> LongestWait(const Job& job);

/// Around the first place of each of the first findings, by their keys: its rank, and one beside
/// it. Findings without a place on a captured rank have none.
std::vector<std::pair<std::string, Timeline>> PlacesOf(const Job& job,
                                                       const std::vector<Finding>& findings);

/// What is shown of a place: as much before and behind the event as it takes, but enough to see
/// what it stands between.
Interval WindowAround(TimeNs begin, TimeNs dur);

}  // namespace mpa
