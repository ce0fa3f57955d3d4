// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/issues.h"
#include "trace_events.h"

namespace mpa::readers {

/// Spans that are written as two events, one for the beginning (ph B) and one for the end (ph E).
class BeginEnds {
 public:
  /// Keeps a copy of an event whose ph is B or E.
  void Add(const TraceEvent& event, Issues& issues, std::string_view file_name);
  void Append(BeginEnds&& later);

  /// Calls on_span(event) for each span as if it were one event (ph X), with the args of both. An
  /// end belongs to the innermost open beginning of its thread, of its name if it has one. Events
  /// of one time are in file order; where spans do not nest (streams), or the file is not in order,
  /// spans end before others begin. What remains alone is counted in `issues`.
  void ForEachSpan(Issues& issues, std::string_view file_name,
                   const std::function<void(const TraceEvent&)>& on_span);

 private:
  struct Event {
    TimeNs time = 0;
    bool is_end = false, has_name = false;
    std::string cat, name, pid, tid, ts;
    struct Arg {
      std::string key, value;
      bool escaped = false;
    };
    std::vector<Arg> args;
  };
  static std::vector<const Event*>::reverse_iterator FirstToEnd(std::vector<const Event*>& open,
                                                                TimeNs now);
  static std::vector<const Event*> InOrder(std::vector<const Event*> events);
  static void Give(const Event& begin, const Event& end,
                   const std::function<void(const TraceEvent&)>& on_span);

  std::vector<Event> events_;
};

}  // namespace mpa::readers
