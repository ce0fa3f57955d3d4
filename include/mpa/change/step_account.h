// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/change/account_change.h"
#include "mpa/change/account_names.h"

namespace mpa {

/// Times by name and step, while a rank is gone through.
class StepTable {
 public:
  explicit StepTable(std::size_t steps) : steps_(steps) {}

  void Add(std::string_view name, std::size_t step, TimeNs time, std::int64_t calls = 1);
  /// The median of each name.
  TimesByName Medians() const;
  /// For each step the sum over the names that fit.
  template <typename Fits>
  std::vector<TimeNs> SumOf(Fits fits) const {
    std::vector<TimeNs> sums(steps_, 0);
    for (const auto& [name, of_name] : names_) {
      if (!fits(name)) continue;
      for (std::size_t step = 0; step < steps_; ++step) sums[step] += of_name.time[step];
    }
    return sums;
  }

 private:
  struct OfName {
    std::vector<TimeNs> time;
    std::vector<std::int64_t> calls;
  };
  std::size_t steps_;
  std::map<std::string, OfName, std::less<>> names_;
};

/// Where the time of the median step went: the median over the steps from `first` on of every part
/// and place, by the keys of account_names.h. Without `kernels`, which the account does not count.
/// `together`: all these steps count as one.
AccountTimes MedianAccount(const RankTrace& trace, const RankAccount& account, std::size_t first,
                           AccountNaming naming = {}, bool together = false);

}  // namespace mpa
