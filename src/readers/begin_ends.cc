// SPDX-License-Identifier: Apache-2.0
// Pairs the events that begin and end a span.
#include "begin_ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"
#include "mpa/model/step_bounds.h"

namespace mpa::readers {
namespace {

// Work of a stream, whose spans follow each other. NPU traces give it no category.
bool IsOfDevice(std::string_view category) {
  return category.empty() || StartsWithIgnoringCase(category, "gpu_mem") ||
         EqualsIgnoringCase(category, "kernel") || StartsWithIgnoringCase(category, "mem");
}

}  // namespace

void BeginEnds::Add(const TraceEvent& event, Issues& issues, std::string_view file_name) {
  const auto time = io::NsFromMicros(event.ts);
  if (!time) {
    issues.Count(kInvalidTimes, fmt::format("{}: \"{}\"", file_name, event.name));
    return;
  }
  Event& kept = events_.emplace_back();
  kept.time = *time;
  kept.is_end = event.ph == "E";
  kept.cat = event.cat;
  kept.name = event.name;
  kept.has_name = event.name.data() != nullptr;
  kept.pid = event.pid;
  kept.tid = event.tid;
  kept.ts = event.ts;
  for (const EventArg& arg : event.args) {
    kept.args.push_back({std::string(arg.key), std::string(arg.value), arg.escaped});
  }
}

void BeginEnds::Append(BeginEnds&& later) {
  events_.insert(events_.end(), std::make_move_iterator(later.events_.begin()),
                 std::make_move_iterator(later.events_.end()));
}

void BeginEnds::Give(const Event& begin, const Event& end,
                     const std::function<void(const TraceEvent&)>& on_span) {
  const TimeNs dur = end.time - begin.time;
  const std::string micros = fmt::format("{}.{:03}", dur / 1000, dur % 1000);
  TraceEvent span;
  span.ph = "X";
  span.cat = begin.cat;
  if (begin.has_name) span.name = begin.name;
  span.pid = begin.pid;
  span.tid = begin.tid;
  span.ts = begin.ts;
  span.dur = micros;
  for (const Event* event : {&begin, &end}) {
    for (const Event::Arg& arg : event->args)
      span.args.push_back({arg.key, arg.value, arg.escaped});
  }
  on_span(span);
}

void BeginEnds::ForEachSpan(Issues& issues, std::string_view file_name,
                            const std::function<void(const TraceEvent&)>& on_span) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<const Event*>> threads;
  for (const Event& event : events_) {
    threads[{IdFrom(event.pid), IdFrom(event.tid)}].push_back(&event);
  }
  const auto count_alone = [&](std::string_view what, const Event& event) {
    issues.Count(what, Say("{}: \"{}\" at {} us", file_name, Printable(event.name), event.ts));
  };
  for (auto& [thread, events] : threads) {
    std::vector<const Event*> open;
    for (const Event* event : InOrder(std::move(events))) {
      if (!event->is_end) {
        open.push_back(event);
        continue;
      }
      const auto begin =
          std::find_if(FirstToEnd(open, event->time), open.rend(), [&](const Event* candidate) {
            return !event->has_name || candidate->name == event->name;
          });
      if (begin == open.rend()) {
        count_alone("end of a span left out, its beginning (ph B) is missing", *event);
        continue;
      }
      Give(**begin, *event, on_span);
      open.erase(std::next(begin).base());
    }
    for (const Event* begin : open) {
      count_alone("span left out, its end (ph E) is missing", *begin);
    }
  }
}

// A step does not lie within a step: where one has just begun, what ends is of the one before.
std::vector<const BeginEnds::Event*>::reverse_iterator BeginEnds::FirstToEnd(
    std::vector<const Event*>& open, TimeNs now) {
  const auto is_step = [](const Event* event) { return IsProfilerStep(event->name); };
  const auto step = std::find_if(open.rbegin(), open.rend(), is_step);
  if (step == open.rend() || (*step)->time != now) return open.rbegin();
  const auto before = std::next(step);
  return std::any_of(before, open.rend(), is_step) ? before : open.rbegin();
}

// Where spans do not nest, or the file is not in the order of time, those that run end before
// others begin.
std::vector<const BeginEnds::Event*> BeginEnds::InOrder(std::vector<const Event*> events) {
  const auto earlier = [](const Event* a, const Event* b) { return a->time < b->time; };
  const bool nests = std::ranges::none_of(
      events, [](const Event* event) { return !event->is_end && IsOfDevice(event->cat); });
  const bool in_order = std::ranges::is_sorted(events, earlier);
  std::ranges::stable_sort(events, earlier);
  if (nests && in_order) return events;
  std::vector<const Event*> ordered;
  std::size_t open = 0;
  for (auto at = events.begin(); at != events.end();) {
    const auto next = std::upper_bound(at, events.end(), *at, earlier);
    const auto begins =
        std::stable_partition(at, next, [](const Event* event) { return event->is_end; });
    const auto ends = static_cast<std::size_t>(begins - at);
    const auto of_running = at + static_cast<std::ptrdiff_t>(std::min(open, ends));
    ordered.insert(ordered.end(), at, of_running);
    ordered.insert(ordered.end(), begins, next);
    ordered.insert(ordered.end(), of_running, begins);  // of spans without a duration
    const std::size_t begun = open + static_cast<std::size_t>(next - begins);
    open = begun - std::min(begun, ends);
    at = next;
  }
  return ordered;
}

}  // namespace mpa::readers
