// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>

#include "mpa/base/rows_by.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/time_category.h"
#include "part.h"

namespace mpa::recipes::memory_timeline {
namespace {

void Sort(std::vector<Event>& events) { StableSort(events, {}, &Event::time); }

// The change of a level from one time to the next.
class Steps {
 public:
  Steps(Category category, std::vector<Event>& events) : category_(category), events_(events) {}
  void Set(TimeNs time, std::int64_t level) {
    if (level != level_) events_.push_back({time, level - level_, category_});
    level_ = level;
  }

 private:
  Category category_;
  std::vector<Event>& events_;
  std::int64_t level_ = 0;
};

// What the totals have beyond the allocations of the framework, by total; those without allocated
// bytes are left out.
struct Beyond {
  std::vector<TimeNs> times;
  std::vector<std::int64_t> bytes;
};

Beyond BeyondAllocations(const std::vector<Life>& lives, const MemoryTotals& totals) {
  std::vector<Event> listed;
  for (const Life& life : lives) {
    if (life.of_runtime) continue;
    listed.push_back({life.begin, life.bytes, {}});
    if (life.end != kNever) listed.push_back({life.end, -life.bytes, {}});
  }
  Sort(listed);
  Beyond beyond;
  std::int64_t held = 0;
  std::size_t next = 0;
  for (const MemoryTotals::Total& total : totals.All()) {
    for (; next < listed.size() && listed[next].time <= total.time; ++next)
      held += listed[next].bytes;
    if (total.allocated < 0) continue;
    beyond.times.push_back(total.time);
    beyond.bytes.push_back(total.allocated - held);
  }
  return beyond;
}

constexpr std::array kListedRoles = {TensorRole::kParameter, TensorRole::kOptimizerState,
                                     TensorRole::kGradient};

// What the framework listed of the memory from before the capture.
class ListedBefore {
 public:
  explicit ListedBefore(const Allocations& rows) : rows_(rows) {
    for (std::size_t row = 0; row < rows.Size(); ++row) {
      if (rows.role[row] != TensorRole::kNotListed && rows.allocated[row] <= 0)
        listed_.push_back(row);
    }
    StableSort(listed_, {}, [&](std::size_t row) { return End(row); });
    for (const std::size_t row : listed_) Change(row, rows_.bytes[row]);
  }

  /// The bytes of each of kListedRoles. The times must never decrease.
  const std::array<std::int64_t, kListedRoles.size()>& At(TimeNs time) {
    for (; next_ < listed_.size() && End(listed_[next_]) <= time; ++next_)
      Change(listed_[next_], -rows_.bytes[listed_[next_]]);
    return held_;
  }

 private:
  TimeNs End(std::size_t row) const {
    return rows_.released[row] > 0 ? rows_.released[row] : kNever;
  }
  void Change(std::size_t row, std::int64_t bytes) {
    const auto role = std::ranges::find(kListedRoles, rows_.role[row]);
    held_[static_cast<std::size_t>(role - kListedRoles.begin())] += bytes;
  }

  const Allocations& rows_;
  std::vector<std::size_t> listed_;  // in order of their releases
  std::size_t next_ = 0;
  std::array<std::int64_t, kListedRoles.size()> held_{};
};

void AddBeyond(const Allocations& rows, const Beyond& beyond, std::vector<Event>& events) {
  if (beyond.times.empty()) return;
  std::vector<std::int64_t> most = beyond.bytes;  // from here on
  for (std::size_t i = most.size() - 1; i > 0; --i) most[i - 1] = std::max(most[i - 1], most[i]);
  const std::int64_t first = std::max<std::int64_t>(beyond.bytes.front(), 0);
  std::vector<Steps> listed;
  for (const TensorRole role : kListedRoles) listed.emplace_back(CategoryOf(role), events);
  Steps before(Category::kBefore, events), unlisted(Category::kUnknown, events);
  ListedBefore listed_before(rows);
  for (std::size_t i = 0; i < most.size(); ++i) {
    const std::int64_t kept = std::clamp<std::int64_t>(most[i], 0, first);
    const TimeNs time = i == 0 ? -1 : beyond.times[i];
    const auto& held = listed_before.At(beyond.times[i]);
    std::int64_t rest = kept;  // what is listed beyond it was released
    for (std::size_t role = 0; role < held.size(); ++role) {
      const std::int64_t level = std::min(held[role], rest);
      listed[role].Set(time, level);
      rest -= level;
    }
    before.Set(time, rest);
    unlisted.Set(time, std::max<std::int64_t>(beyond.bytes[i] - kept, 0));
  }
}

// Without totals only the allocations tell that were released in the capture, or listed.
void AddEarlier(const Allocations& rows, std::vector<Event>& events) {
  for (std::size_t row = 0; row < rows.Size(); ++row) {
    const bool is_listed = rows.role[row] != TensorRole::kNotListed;
    const bool is_released = rows.released[row] > 0;
    if (rows.allocated[row] > 0 || (!is_released && !is_listed)) continue;
    const Category category = CategoryOf(rows.role[row]);
    events.push_back({-1, rows.bytes[row], category});
    if (is_released) events.push_back({rows.released[row], -rows.bytes[row], category});
  }
}

std::size_t PositionAt(const std::vector<TimeNs>& times, TimeNs time) {
  return static_cast<std::size_t>(std::ranges::upper_bound(times, time) - times.begin());
}

}  // namespace

std::int64_t Level::Allocated() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

std::vector<Event> EventsOf(const RankTrace& trace, const std::vector<Life>& lives,
                            const MemoryTotals& totals) {
  std::vector<Event> events;
  if (totals.HasAllocated()) {
    AddBeyond(trace.allocations, BeyondAllocations(lives, totals), events);
  } else {
    AddEarlier(trace.allocations, events);
  }
  for (const Life& life : lives) {
    events.push_back({life.begin, life.bytes, life.category});
    if (life.end != kNever) events.push_back({life.end, -life.bytes, life.category});
  }
  Sort(events);
  return events;
}

// The estimate of what was allocated before the capture.

namespace {

// What the names of operators say about the training.
struct Training {
  int states = 0;            ///< of the optimizer, each as large as the parameters; 0: none ran
  bool has_buckets = false;  ///< data parallel training keeps a copy of the gradients
};

Training TrainingOf(const RankTrace& trace) {
  Training training;
  NamedClasses<bool> has_two_states(trace.strings, [](std::string_view name) {
    return ContainsAny(name, {"Adam", "adam", "Lamb", "LAMB", "Adadelta"});
  });
  NamedClasses<bool> is_optimizer(
      trace.strings, [](std::string_view name) { return name.starts_with("Optimizer.step#"); });
  NamedClasses<bool> is_reducer(
      trace.strings, [](std::string_view name) { return ContainsAny(name, {"reducer::"}); });
  for (const StringId name : trace.host_ops.name) {
    training.has_buckets = training.has_buckets || is_reducer.Of(name);
    if (is_optimizer.Of(name))
      training.states = std::max(training.states, has_two_states.Of(name) ? 2 : 1);
  }
  return training;
}

}  // namespace

void EstimateBefore(const RankTrace& trace, std::vector<Event>& events) {
  std::array<std::int64_t, kCategories> held{};
  std::int64_t gradients = 0;  // most of one time
  for (const Event& event : events) {
    held[static_cast<std::size_t>(event.category)] += event.bytes;
    gradients = std::max(gradients, held[static_cast<std::size_t>(Category::kGradient)]);
  }
  const auto first = std::ranges::find_if(events, [](const Event& event) {
    return event.time < 0 && event.category == Category::kBefore;
  });
  std::int64_t rest = held[static_cast<std::size_t>(Category::kBefore)];  // never released
  if (gradients <= 0 || rest <= 0 || first == events.end()) return;
  std::vector<Event> estimates;
  const auto claim = [&](Category category, std::int64_t bytes) {
    const std::int64_t claimed = std::clamp<std::int64_t>(bytes, 0, rest);
    if (claimed > 0) estimates.push_back({-1, claimed, category});
    rest -= claimed;
    first->bytes -= claimed;
  };
  const auto in_capture = [&](Category category) {
    return held[static_cast<std::size_t>(category)];
  };
  const Training training = TrainingOf(trace);
  claim(Category::kParameterEstimate, gradients - in_capture(Category::kParameter));
  if (training.has_buckets) claim(Category::kGradientEstimate, gradients);
  // An optimizer of one state may run without it, as SGD without momentum.
  const std::int64_t states = training.states * gradients - in_capture(Category::kOptimizerState);
  if (training.states > 1 || rest >= states - states / 10) claim(Category::kStateEstimate, states);
  if (first->bytes == 0) events.erase(first);
  events.insert(events.begin(), estimates.begin(), estimates.end());
}

std::vector<Event> CutTo(const Window& window, const std::vector<Event>& events) {
  std::array<std::int64_t, kCategories> held{};
  std::vector<Event> within;
  for (const Event& event : events) {
    if (event.time < window.begin) {
      held[static_cast<std::size_t>(event.category)] += event.bytes;
    } else if (event.time <= window.end) {
      within.push_back(event);
    }
  }
  std::vector<Event> cut;
  for (std::size_t i = 0; i < kCategories; ++i) {
    if (held[i] != 0) cut.push_back({-1, held[i], static_cast<Category>(i)});
  }
  cut.insert(cut.end(), within.begin(), within.end());
  return cut;
}

std::int64_t Curve::At(TimeNs time) const {
  const std::size_t behind = PositionAt(times, time);
  return behind == 0 ? 0 : bytes[behind - 1];
}

std::optional<std::size_t> Curve::PeakWithin(const Window& window) const {
  std::size_t first = PositionAt(times, window.begin);
  if (first > 0) --first;  // what is held at the begin
  const std::size_t behind = PositionAt(times, window.end);
  if (first >= behind) return std::nullopt;
  const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(first);
  const auto to = bytes.begin() + static_cast<std::ptrdiff_t>(behind);
  return static_cast<std::size_t>(std::max_element(from, to) - bytes.begin());
}

Curve CurveOf(const std::vector<Event>& events, TimeNs begin) {
  Curve curve;
  std::int64_t held = 0;
  for (const Event& event : events) {
    held += event.bytes;
    const TimeNs time = std::max(event.time, begin);
    if (curve.times.empty() || curve.times.back() != time) {
      curve.times.push_back(time);
      curve.bytes.push_back(held);
    } else {
      curve.bytes.back() = held;
    }
  }
  return curve;
}

std::vector<Level> LevelsAt(const std::vector<std::size_t>& positions, const Curve& curve,
                            const std::vector<Event>& events, const MemoryTotals& totals) {
  std::vector<Level> levels;
  std::array<std::int64_t, kCategories> held{};
  std::size_t next = 0;
  for (const std::size_t position : positions) {
    const TimeNs time = curve.times[position];
    for (; next < events.size() && events[next].time <= time; ++next)
      held[static_cast<std::size_t>(events[next].category)] += events[next].bytes;
    levels.push_back({.time = time, .bytes = held, .reserved = totals.ReservedAt(time)});
  }
  return levels;
}

std::vector<std::size_t> Thinned(const Curve& curve, std::size_t most) {
  std::vector<std::size_t> kept;
  const std::size_t points = curve.times.size();
  if (points == 0) return kept;
  const TimeNs begin = curve.times.front();
  const TimeNs length = curve.times.back() - begin + 1;
  const auto part_of = [&](std::size_t point) {
    const auto since = static_cast<double>(curve.times[point] - begin);
    return static_cast<std::size_t>(since / static_cast<double>(length) *
                                    static_cast<double>(most));
  };
  for (std::size_t point = 0; point < points; ++point) {
    if (points <= most || kept.empty() || part_of(point) != part_of(kept.back())) {
      kept.push_back(point);
    } else if (curve.bytes[point] > curve.bytes[kept.back()]) {
      kept.back() = point;
    }
  }
  return kept;
}

}  // namespace mpa::recipes::memory_timeline
