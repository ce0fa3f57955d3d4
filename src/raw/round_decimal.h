// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpa::raw {

/// `value` rounded to so many decimals from its exact binary value, halves to even: what printing
/// it with that precision shows.
double RoundDecimal(double value, int decimals);

}  // namespace mpa::raw
