// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpa {

/// A 64-bit number that remembers when a calculation with it left 64 bits.
class Checked {
 public:
  constexpr Checked(std::int64_t value) : value_(value) {}  // NOLINT: numbers mix with it freely

  constexpr bool Fits() const { return fits_; }
  /// Meaningless unless Fits().
  constexpr std::int64_t Value() const { return value_; }

  friend constexpr Checked operator*(Checked a, Checked b) {
    Checked result(0);
    const bool left = __builtin_mul_overflow(a.value_, b.value_, &result.value_);
    result.fits_ = a.fits_ && b.fits_ && !left;
    return result;
  }
  friend constexpr Checked operator+(Checked a, Checked b) {
    Checked result(0);
    const bool left = __builtin_add_overflow(a.value_, b.value_, &result.value_);
    result.fits_ = a.fits_ && b.fits_ && !left;
    return result;
  }
  friend constexpr Checked operator-(Checked a, Checked b) {
    Checked result(0);
    const bool left = __builtin_sub_overflow(a.value_, b.value_, &result.value_);
    result.fits_ = a.fits_ && b.fits_ && !left;
    return result;
  }

 private:
  std::int64_t value_;
  bool fits_ = true;
};

}  // namespace mpa
