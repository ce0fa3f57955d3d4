// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// Calls of the host's threads into the operating system and its libraries, and the locks they
/// hold.
namespace mpa {

/// Calls into the C library and the kernel: "futex", "pthread_mutex_lock", "ioctl". One may run
/// within another.
template <template <typename> class Of>
struct SystemCallFields {
  Of<TimeNs> start{}, dur{};
  Of<std::int64_t> process = Initially{-1};  ///< several may be recorded
  Of<std::int64_t> thread = Initially{-1};   ///< as the operating system numbers it: Tracks::tid
  Of<StringId> name{};
};
struct SystemCalls : Table<SystemCallFields> {};

/// How threads wait for a lock and hold it: Python's global interpreter lock.
template <template <typename> class Of>
struct LockUseFields {
  Of<TimeNs> start{}, dur{};
  Of<std::int64_t> process = Initially{-1};  ///< each has a lock of its own
  Of<std::int64_t> thread = Initially{-1};   ///< as of SystemCalls
  Of<StringId> lock{};                       ///< "GIL"
  Of<bool> is_held{};                        ///< else the thread waits for it
};
struct LockUses : Table<LockUseFields> {};

}  // namespace mpa
