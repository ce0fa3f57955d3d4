// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steps.h"
#include "sums.h"

/// The files that the Python tool makes of text captures.
namespace mpa::communication {

TextDocument GroupDocument(const std::vector<Group>& groups);
TextDocument TimeDocument(const OpSums& sums, const std::vector<Group>& groups);
TextDocument MatrixDocument(const LinkSums& sums, const std::vector<Group>& groups);
TextDocument StepDocument(const std::vector<StepTraceRow>& rows, bool with_indices);

}  // namespace mpa::communication
