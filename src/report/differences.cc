// SPDX-License-Identifier: Apache-2.0
// Differences and ratios, rounded the same way in every sheet.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "mpa/report/report.h"

namespace mpa {
// On the exact value of the double, as printf rounds; x * 100 would round twice.
double Rounded(double value, int decimals) {
  if (!std::isfinite(value)) return value;
  char text[400];  // enough for any finite double
  (void)std::snprintf(text, sizeof(text), "%.*f", decimals, value);
  const double rounded = std::strtod(text, nullptr);
  return rounded == 0 ? 0.0 : rounded;
}

double DiffRatio(double base, double comparison) {
  if (base == 0) return comparison == 0 ? 1.0 : std::numeric_limits<double>::infinity();
  return Rounded(comparison / base, 4);
}

double DiffRounded(double base, double comparison) { return Rounded(comparison - base, 2); }

}  // namespace mpa
