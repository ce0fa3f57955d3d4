// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/gate/run_summary.h"

namespace mpa::gate {

/// Times by name and step, while a rank is gone through.
class StepTable {
 public:
  explicit StepTable(std::size_t steps) : steps_(steps) {}

  void Add(std::string_view name, std::size_t step, TimeNs time, std::int64_t calls = 1);
  /// The median of each name.
  TimesByName Medians() const;
  /// For each step the sum over the names that fit.
  std::vector<TimeNs> SumOf(std::string_view pattern) const;

 private:
  struct OfName {
    std::vector<TimeNs> time;
    std::vector<std::int64_t> calls;
  };
  std::size_t steps_;
  std::map<std::string, OfName, std::less<>> names_;
};

}  // namespace mpa::gate
