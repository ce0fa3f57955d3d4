// SPDX-License-Identifier: Apache-2.0
// Pairs the events that begin and end a span.
#include "begin_ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "mpa/io/numbers.h"

namespace mpa::readers {

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
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<const Event*>> open;  // by thread
  const auto count_alone = [&](std::string_view what, const Event& event) {
    issues.Count(what, fmt::format("{}: \"{}\" at {} us", file_name, event.name, event.ts));
  };
  for (const Event& event : events_) {
    std::vector<const Event*>& stack = open[{IdFrom(event.pid), IdFrom(event.tid)}];
    if (!event.is_end) {
      stack.push_back(&event);
      continue;
    }
    auto begin = std::find_if(stack.rbegin(), stack.rend(), [&](const Event* candidate) {
      return !event.has_name || candidate->name == event.name;
    });
    if (begin == stack.rend()) {
      count_alone("end of a span left out, its beginning (ph B) is missing", event);
      continue;
    }
    Give(**begin, event, on_span);
    stack.erase(std::next(begin).base());
  }
  for (const auto& [thread, stack] : open) {
    for (const Event* begin : stack) {
      count_alone("span left out, its end (ph E) is missing", *begin);
    }
  }
}

}  // namespace mpa::readers
