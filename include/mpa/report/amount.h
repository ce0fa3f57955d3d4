// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mpa {

/// What the whole numbers of a measured value are.
enum class Quantity : std::uint8_t {
  kTime,  ///< ns
  kBytes,
  kCount,
};

/// The unit of such whole numbers, for programs: "ns", "bytes", "count".
std::string_view ProgramUnit(Quantity quantity);

/// Values of one line in one unit with the same decimals, so that what is printed adds up when the
/// rounded values do.
class AmountScale {
 public:
  /// Chosen so that `largest` is no small fraction of the unit and shows four digits.
  AmountScale(Quantity quantity, std::int64_t largest);
  /// For a time of so many ns, its parts and how they changed: a part of 0.01 % still shows.
  static AmountScale ForPartsOf(std::int64_t whole);

  /// In steps of the last decimal that is shown.
  std::int64_t Rounded(std::int64_t value) const;
  /// "412.3" for what Rounded() gave; Signed() is "+15.2".
  std::string Text(std::int64_t rounded) const;
  std::string Signed(std::int64_t rounded) const;
  /// "ms"; of counts empty.
  std::string_view unit() const { return unit_; }

 private:
  AmountScale(std::string_view unit, std::int64_t per_unit, int decimals)
      : unit_(unit), per_unit_(per_unit), decimals_(decimals) {}

  std::string_view unit_;
  std::int64_t per_unit_ = 1;
  int decimals_ = 0;
};

/// A value alone, with its unit: "15.20 ms".
std::string AmountText(Quantity quantity, std::int64_t value);

/// Microseconds with all digits of the nanoseconds, none lost to a double: "1736410576409657.78".
std::string MicrosecondsText(std::int64_t ns);

/// Microseconds with one decimal, for pictures: "12.3".
std::string UsText(std::int64_t ns);

/// "35.7 %" of 0.357; "-" where it is not known.
std::string PercentText(const std::optional<double>& ratio);

/// Percent without needless zeros: "3", "4.5", "0.25".
std::string PlainNumber(double value);

}  // namespace mpa
