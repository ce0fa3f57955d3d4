// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/report/page.h"
#include "mpa/report/timeline.h"

namespace mpa {

/// A page of HTML that needs nothing else: lanes over a time axis, and what the colours mean.
std::string FormatPage(const Timeline& timeline);

/// A page of HTML that needs nothing else.
std::string FormatPage(const Page& page);

}  // namespace mpa
