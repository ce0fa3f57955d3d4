// SPDX-License-Identifier: Apache-2.0
#include "step_tables.h"

#include "mpa/gate/metric.h"
#include "mpa/measure/quantiles.h"

namespace mpa::gate {

void StepTable::Add(std::string_view name, std::size_t step, TimeNs time, std::int64_t calls) {
  auto found = names_.find(name);
  if (found == names_.end()) {
    found = names_.emplace(name, OfName{}).first;
    found->second.time.resize(steps_);
    found->second.calls.resize(steps_);
  }
  found->second.time[step] += time;
  found->second.calls[step] += calls;
}

TimesByName StepTable::Medians() const {
  TimesByName medians;
  for (const auto& [name, of_name] : names_) {
    medians[name] = {Median(of_name.time), Median(of_name.calls)};
  }
  return medians;
}

std::vector<TimeNs> StepTable::SumOf(std::string_view pattern) const {
  std::vector<TimeNs> sums(steps_, 0);
  for (const auto& [name, of_name] : names_) {
    if (!FitsPattern(pattern, name)) continue;
    for (std::size_t step = 0; step < steps_; ++step) sums[step] += of_name.time[step];
  }
  return sums;
}

}  // namespace mpa::gate
