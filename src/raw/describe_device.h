// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "control_documents.h"
#include "mpa/raw/session.h"
#include "slices.h"

namespace mpa::raw {

/// The description of a device from its control files. Missing facts are counted and taken from the
/// control files of `other` (the host), from the names of the records or from the usual values of
/// the chip. `hertz` is set to the frequency of the device's counter; 0: unknown.
Device DescribeDevice(std::int64_t id, const SideDocuments& documents, const SideDocuments* other,
                      const DataFiles& records, std::int64_t& hertz, Issues& issues);

}  // namespace mpa::raw
