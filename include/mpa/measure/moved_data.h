// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpa/model/rank_trace.h"

/// Which tasks of collectives move data.
namespace mpa {

/// True for an RDMASend of data. It may also send a signal of some bytes; databases tell which.
bool SendsPayload(const RankTrace& trace, std::size_t task);

/// True for the task of a collective that moves data between devices: a copy, also one that
/// reduces, unless it stays on its chip, and an RDMASend of data. Nothing of 64 bytes or less is
/// data.
bool MovesData(const RankTrace& trace, std::size_t task);

/// True for a size that is no whole number of the lines of 512 bytes that engines move. What fits
/// into a line is never odd.
bool IsOddSize(std::int64_t bytes);

}  // namespace mpa
