// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/diagnosis/findings/advice.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/report/page.h"

namespace mpa {

// The mean step of each rank where there are several, the steps of the rank of `row`, which is
// shown for the reason `why`, and what the host did while its device was free.
std::vector<PageChart> AccountCharts(const Diagnosis& diagnosis, const AccountRow& row,
                                     const std::string& why);

// The longest wait as a timeline; kernels, the roofline and links. Without those of which the
// captures say nothing.
std::vector<PageSection> PictureSections(const Diagnosis& diagnosis);

}  // namespace mpa
