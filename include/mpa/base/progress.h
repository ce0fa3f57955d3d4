// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpa {

/// Bytes that the work at hand is going to read, shown on stderr as one rewritten line, at most ten
/// times a second and only on a terminal. Process-wide; both functions may be called from any
/// thread.
void AddProgressTotal(std::int64_t bytes);
void AddProgress(std::int64_t bytes);

/// Removes the progress line, if one is shown; the log calls it before it writes.
void ClearProgressLine();

}  // namespace mpa
