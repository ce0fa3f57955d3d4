// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/findings/advice.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/report/page.h"

namespace mpa {

// The steps of the rank of `row`, the mean step of each rank where there are several, and what the
// host did while the device of `row` was free.
std::vector<PageChart> AccountCharts(const Diagnosis& diagnosis, const AccountRow& row);

// The longest wait as a timeline; kernels, the roofline and links. Without those of which the
// captures say nothing.
std::vector<PageSection> PictureSections(const Diagnosis& diagnosis);

}  // namespace mpa
