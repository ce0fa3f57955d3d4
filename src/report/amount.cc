// SPDX-License-Identifier: Apache-2.0
// Times and sizes as text.
#include "mpa/report/amount.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <span>

#include "mpa/base/time.h"

namespace mpa {
namespace {

struct UnitOf {
  std::string_view name;
  std::int64_t size;
};

constexpr UnitOf kTimes[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};
// Decimal, as sizes of transfers and bandwidths are; whoever counts in powers of two says MiB.
constexpr UnitOf kSizes[] = {{"GB", 1'000'000'000}, {"MB", 1'000'000}, {"kB", 1'000}, {"B", 1}};

double PowerOfTen(int exponent) { return std::pow(10.0, exponent); }

}  // namespace

std::string_view ProgramUnit(Quantity quantity) {
  switch (quantity) {
    case Quantity::kTime:
      return "ns";
    case Quantity::kBytes:
      return "bytes";
    case Quantity::kCount:
      break;
  }
  return "count";
}

AmountScale::AmountScale(Quantity quantity, std::int64_t largest) {
  if (quantity == Quantity::kCount) return;
  const std::span<const UnitOf> units =
      quantity == Quantity::kTime ? std::span<const UnitOf>(kTimes) : std::span(kSizes);
  const double size = std::abs(static_cast<double>(largest));
  // Ten seconds are still told in ms: that is the unit in which people talk of steps.
  const double reach = quantity == Quantity::kTime ? 10.0 : 1.0;
  std::size_t at = 0;
  while (at + 1 < units.size() &&
         size < static_cast<double>(units[at].size) * (at == 0 ? reach : 1.0)) {
    ++at;
  }
  unit_ = units[at].name;
  per_unit_ = units[at].size;
  const double shown = size / static_cast<double>(per_unit_);
  if (per_unit_ > 1) decimals_ = shown >= 100 ? 1 : shown >= 10 ? 2 : 3;
}

AmountScale AmountScale::ForPartsOf(std::int64_t whole) {
  // Steps are told in ms, whether they take 10 ms or 100 s.
  if (whole >= 100'000'000'000) return {"s", 1'000'000'000, 3};
  if (whole >= 1'000'000'000) return {"ms", 1'000'000, 2};
  if (whole >= 10'000'000) return {"ms", 1'000'000, 3};
  return {"us", 1'000, 2};
}

std::int64_t AmountScale::Rounded(std::int64_t value) const {
  return std::llround(static_cast<double>(value) / static_cast<double>(per_unit_) *
                      PowerOfTen(decimals_));
}

std::string AmountScale::Text(std::int64_t rounded) const {
  return fmt::format("{:.{}f}", static_cast<double>(rounded) / PowerOfTen(decimals_), decimals_);
}

std::string AmountScale::Signed(std::int64_t rounded) const {
  return (rounded < 0 ? "" : "+") + Text(rounded);
}

std::string AmountText(Quantity quantity, std::int64_t value) {
  const AmountScale scale(quantity, value);
  return fmt::format("{}{}{}", scale.Text(scale.Rounded(value)), scale.unit().empty() ? "" : " ",
                     scale.unit());
}

std::string MicrosecondsText(std::int64_t ns) {
  std::string text =
      fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns / 1000), std::abs(ns % 1000));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string UsText(std::int64_t ns) { return fmt::format("{:.1f}", InUs(ns)); }

std::string PercentText(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.1f} %", *ratio * 100) : "-";
}

std::string PlainNumber(double value) { return fmt::format("{:.6g}", value); }

}  // namespace mpa
