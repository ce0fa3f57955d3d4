// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "control_documents.h"
#include "mpa/raw/session.h"
#include "slices.h"

namespace mpa::raw {

/// What a device is, as its control files say; what they do not say is taken from those of `other`
/// (the host), from the names of the records or is usual for the chip, and counted. `hertz` is set
/// to the frequency of the device's counter; 0: not known.
Device DescribeDevice(std::int64_t id, const SideDocuments& documents, const SideDocuments* other,
                      const DataFiles& records, std::int64_t& hertz, Issues& issues);

}  // namespace mpa::raw
