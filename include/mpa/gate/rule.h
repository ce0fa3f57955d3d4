// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mpa/gate/metric.h"

namespace mpa::gate {

/// How much a metric may grow. With both a share and an amount, growth has to exceed both to count.
struct Limit {
  std::optional<double> percent;       ///< of the base
  std::optional<std::int64_t> amount;  ///< ns or bytes

  friend bool operator==(const Limit&, const Limit&) = default;
};

/// What has to hold of one metric.
struct Rule {
  Metric metric;
  Limit limit;
  /// Growth below these never counts; what is empty is taken from the settings of the gate.
  std::optional<std::int64_t> min_abs;  ///< ns or bytes
  std::optional<double> min_share;      ///< percent of the step

  friend bool operator==(const Rule&, const Rule&) = default;
};

/// "step_time>+3%", "comm_exposed>+5%&+200us", "peak_memory>+256MB". Throws Error (kUsage) that
/// names the place.
Rule ParseRule(std::string_view text);

/// The part behind '>': "+5%&+200us". Throws Error (kUsage).
Limit ParseLimit(std::string_view text, Quantity quantity);

/// "5 % and 200.0 us", as reports show it.
std::string LimitText(const Limit& limit, Quantity quantity);

/// "200us" in ns (ns, us, ms, s) or "256MB" in bytes (B, KB, MB, GB; a KB is 1024 B), with or
/// without '+'. Empty for anything else.
std::optional<std::int64_t> ParseAmount(std::string_view text, Quantity quantity);

/// "0.5%" or "0.5"; empty for anything but a number of at least 0.
std::optional<double> ParsePercent(std::string_view text);

}  // namespace mpa::gate
