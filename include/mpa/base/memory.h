// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpa {

/// Bytes of memory that this process may have: the machine's, or less where its container, its
/// control group or ulimit say so.
std::int64_t MemoryOfProcess();

/// What work that can do with less takes at most, unless somebody says otherwise: half of
/// MemoryOfProcess(), but no more than 4 GiB.
std::int64_t UsualMemory();

/// Keeps freed memory for what comes next instead of giving it back to the system at once: the
/// tables of one rank take the room of those before. A fresh page costs more than the value put
/// into it.
void KeepFreedMemory();

/// From now on the program ends, as when the machine has no more (see PrepareForEnds), rather than
/// take more than `bytes` for its data. What it needs without any, and mapped inputs, do not count.
/// The last call counts.
void LimitMemory(std::int64_t bytes);

}  // namespace mpa
