// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "control_files.h"
#include "mpa/raw/session.h"
#include "slices.h"

/// What devices count of their traffic.
namespace mpa::raw {

// ReadSession() calls these for Parts::kTraffic, once for each device, in their order. They add
// rows to session.traffic, without those from before the collection.

/// hccs.data, pcie.data, nic.data and roce.data.
void ReadLinkTraffic(const DataFiles& files, const Side& side, const Device& device,
                     Session& session);

/// hbm.data, ddr.data and llc.data.
void ReadMemoryTraffic(const DataFiles& files, const Side& side, const Device& device,
                       Session& session);

/// Fills session.l2_cache from l2_cache.data. Needs the kernels, for their names.
void ReadL2Cache(const DataFiles& files, const Device& device, Session& session);

/// `amount` in `duration` (positive) as a rate per second, rounded down.
inline std::int64_t PerSecond(std::int64_t amount, TimeNs duration) {
  constexpr Int128 kSecond = 1'000'000'000, kMost = std::int64_t{1} << 62;
  const Int128 rate = amount * kSecond / duration;
  return static_cast<std::int64_t>(rate < kMost ? rate : kMost);
}

}  // namespace mpa::raw
