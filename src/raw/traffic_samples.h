// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "control_files.h"
#include "mpa/raw/session.h"
#include "slices.h"

/// Device files that are lines of text: a header, then samples of columns between blanks.
namespace mpa::raw {

using Columns = std::span<const std::string_view>;

/// Calls read(columns) for each sample in the slices of `stem`. Lines for which it returns false,
/// and a last line that does not end, are counted. The first line is skipped where the beginning of
/// the data was removed.
void ForEachSampleLine(const DataFiles& files, std::string_view stem, Issues& issues,
                       const std::function<bool(Columns)>& read);

/// "176168:476067240" (seconds and nanoseconds) or nanoseconds alone; nothing for other text.
std::optional<std::int64_t> DeviceTime(std::string_view text);

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
