// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpa/diagnosis/findings/advice.h"
#include "mpa/diagnosis/findings/diagnosis.h"

// What the screen of a diagnosis says above and below its findings.
namespace mpa {

// The capture, where its step goes, who is late; of a step without findings what bounds it.
std::vector<std::string> AccountLines(const Diagnosis& diagnosis);

// Of a screen that shows the first `shown` findings: causes that findings cover, how many findings
// are left, what only looks guilty, and what could not be judged.
std::vector<std::string> LinesBelowFindings(const Diagnosis& diagnosis, std::size_t shown);

}  // namespace mpa
