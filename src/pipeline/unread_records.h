// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/capture/capture.h"

namespace mpa {

/// Adds one line that names the kinds of records in raw captures that are not read, and files of
/// unknown kinds; none when there are none. What is missing by that in the results is counted by
/// the readers.
void NoteUnreadRecords(const std::vector<const RankInput*>& inputs,
                       std::vector<std::string>& notes);

}  // namespace mpa
