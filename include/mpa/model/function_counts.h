// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

namespace mpa {

/// Calls of functions of the program, with what the counters of the host's processor say of them.
/// -1: not counted.
template <template <typename> class Of>
struct FunctionCountFields {
  Of<TimeNs> start{}, dur{};
  Of<std::int64_t> process = Initially{-1};
  Of<std::int64_t> thread = Initially{-1};  ///< as the operating system numbers it: Tracks::tid
  Of<StringId> name{};
  Of<std::int64_t> cycles = Initially{-1};
  Of<std::int64_t> instructions = Initially{-1};
  Of<std::int64_t> misses = Initially{-1};  ///< of the last level cache
};
struct FunctionCounts : Table<FunctionCountFields> {};

}  // namespace mpa
