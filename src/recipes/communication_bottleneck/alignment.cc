// SPDX-License-Identifier: Apache-2.0
#include "alignment.h"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace mpa::bottleneck {
namespace {

// The events of the fast rank by name, each name from the last one back.
class FastEvents {
 public:
  FastEvents(const PackedEvents& packed, TimeNs end) : events_(packed.EndingBy(end)) {
    const std::vector<std::string>& names = packed.Names();
    places_.resize(names.size());
    for (std::size_t i = 0; i < events_.size(); ++i) places_[events_[i].name].push_back(i);
    for (std::size_t i = 0; i < names.size(); ++i) number_of_.try_emplace(names[i], i);
    passed_ = events_.size();
  }

  // The last event of the name before the one that was found last; null when there is none.
  const Event* LastOf(std::string_view name) {
    const auto number = number_of_.find(name);
    if (number == number_of_.end()) return nullptr;
    std::vector<std::size_t>& places = places_[number->second];
    while (!places.empty() && places.back() >= passed_) places.pop_back();
    if (places.empty()) return nullptr;
    passed_ = places.back();
    return &events_[passed_];
  }

 private:
  std::vector<Event> events_;
  std::unordered_map<std::string_view, std::size_t> number_of_;
  std::vector<std::vector<std::size_t>> places_;  // by name, ascending
  std::size_t passed_ = 0;
};

}  // namespace

std::optional<Lags> FindLags(const PackedEvents& slow, TimeNs slow_end, const PackedEvents& fast,
                             TimeNs fast_end, TimeNs shift, TimeNs together) {
  FastEvents others(fast, fast_end);
  const std::vector<Event> events = slow.EndingBy(slow_end);
  std::optional<Lags> lags;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    const std::string& name = slow.Names()[event->name];
    const Event* const other = others.LastOf(name);
    if (other == nullptr) continue;
    const TimeNs start = event->start - other->start + shift;
    const TimeNs duration = event->dur - other->dur;
    if (!lags) lags = Lags{{name, duration}, {name, start}};
    if (duration > lags->duration.diff) lags->duration = {name, duration};
    if (start > lags->start.diff) lags->start = {name, start};
    if (start < together) return lags;
  }
  return std::nullopt;
}

}  // namespace mpa::bottleneck
