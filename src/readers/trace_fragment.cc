// SPDX-License-Identifier: Apache-2.0
#include "trace_fragment.h"

#include <fmt/format.h>

#include "mpa/base/text.h"
#include "mpa/io/numbers.h"
#include "trace_events.h"

namespace mpa::readers {
namespace {

// Sorts one event into the fragment; events that nothing reads are dropped.
class FragmentFiller {
 public:
  FragmentFiller(TraceFragment& fragment, const ReadRequest& request, std::string_view file_name)
      : fragment_(fragment), request_(request), file_name_(file_name) {}

  void operator()(const TraceEvent& event) {
    if (event.ph == "M") {
      fragment_.metadata.push_back(
          {IdFrom(event.pid), IdFrom(event.tid), fragment_.strings.Intern(event.name), event.args});
    } else if (event.ph == "X") {
      AddSpan(event);
    } else if (event.ph == "s" || event.ph == "f") {
      AddFlow(event);
    } else if (event.ph == "C" && event.name == "AI Core Freq" && Wanted(Tables::kCoreClocks)) {
      AddCoreClock(event);
    }
  }

 private:
  enum class Kind { kDevice, kHostOp, kPython, kDemand, kWork, kGarbage, kUnread };

  Kind KindOf(std::string_view category) const {
    if (category.empty()) return Kind::kDevice;
    if (EqualsIgnoringCase(category, "cpu_op")) return Kind::kHostOp;
    if (EqualsIgnoringCase(category, "python_function")) {
      return Wanted(Tables::kPythonCalls) ? Kind::kPython : Kind::kUnread;
    }
    if (EqualsIgnoringCase(category, "gc")) {
      return Wanted(Tables::kGarbageCollections) ? Kind::kGarbage : Kind::kUnread;
    }
    if (!Wanted(Tables::kQueuedWork)) return Kind::kUnread;
    if (EqualsIgnoringCase(category, "enqueue")) return Kind::kDemand;
    return EqualsIgnoringCase(category, "dequeue") ? Kind::kWork : Kind::kUnread;
  }

  bool Wanted(Tables tables) const { return Overlap(request_.wanted, tables); }

  void AddSpan(const TraceEvent& event) {
    const Kind kind = KindOf(event.cat);
    if (kind == Kind::kUnread) return;
    const auto start = io::NsFromMicros(event.ts);
    const auto dur = event.dur.empty() ? 0 : io::NsFromMicros(event.dur);
    if (!start || !dur || !IsDuration(*dur)) {
      fragment_.issues.Count("event left out, its start or duration is no time",
                             fmt::format("{}: \"{}\"", file_name_, event.name));
      return;
    }
    const StringId name = fragment_.strings.Intern(event.name);
    const std::int64_t pid = IdFrom(event.pid);
    const std::int64_t tid = IdFrom(event.tid);
    if (kind == Kind::kHostOp) {
      fragment_.host.push_back({*start, *dur, name, pid, tid});
      if (Wanted(Tables::kOpDetails)) ReadOpArgs(event.args, fragment_.host.back());
    } else if (kind == Kind::kPython) {
      fragment_.python.push_back({*start, *dur, name, pid, tid});
    } else if (kind == Kind::kDevice) {
      fragment_.device.push_back(
          {*start, *dur, name, pid, tid, event.args, io::MicrosBeyondNs(event.dur)});
    } else if (kind == Kind::kGarbage) {
      fragment_.garbage_collections.Append({.start = *start, .dur = *dur});
    } else {
      AddQueueEvent(event, {0, kind == Kind::kWork, *start, *dur, pid, tid, name});
    }
  }

  void ReadOpArgs(std::string_view args, HostEvent& op) {
    op.shapes = op.types = op.stack = fragment_.strings.Intern(kNotRecorded);
    ForEachMember(args, [&](std::string_view key, std::string_view value) {
      if (key == "Input Dims") op.shapes = fragment_.strings.Intern(value);
      if (key == "Input type") op.types = fragment_.strings.Intern(value);
      if (key == "Call stack") op.stack = fragment_.strings.Intern(value);
    });
  }

  void AddQueueEvent(const TraceEvent& event, QueueEvent queued) {
    bool has_id = false;
    ForEachMember(event.args, [&](std::string_view key, std::string_view value) {
      if (key != "correlation_id") return;
      queued.id = IdFrom(value);
      has_id = true;
    });
    if (has_id) fragment_.queue.push_back(queued);
  }

  void AddFlow(const TraceEvent& event) {
    const bool is_end = event.ph == "f";
    const bool is_launch = EqualsIgnoringCase(event.cat, "async_npu");
    const bool is_backward = !is_launch && EqualsIgnoringCase(event.cat, "fwdbwd");
    const bool is_runtime = !is_launch && !is_backward && Wanted(kRuntimeTables) &&
                            EqualsIgnoringCase(event.cat, "hosttodevice");
    if (!is_launch && !is_backward && !is_runtime) return;
    if (is_backward && is_end) fragment_.backward_tid = IdFrom(event.tid);
    const auto time = io::NsFromMicros(event.ts);
    if (!time || (is_backward && !Wanted(Tables::kBackwardLinks))) return;
    (is_launch     ? fragment_.flows
     : is_backward ? fragment_.backward_flows
                   : fragment_.runtime_flows)
        .push_back({IdFrom(event.id), is_end, *time, IdFrom(event.pid), IdFrom(event.tid)});
  }

  void AddCoreClock(const TraceEvent& event) {
    const auto time = io::NsFromMicros(event.ts);
    const auto mhz = io::ParseInt(MemberText(event.args, "MHz"));
    if (time && mhz && *mhz > 0) fragment_.core_clocks.Append({.start = *time, .mhz = *mhz});
  }

  TraceFragment& fragment_;
  const ReadRequest& request_;
  std::string_view file_name_;
};

}  // namespace

void FillFragment(std::string_view piece, const ReadRequest& request, std::string_view file_name,
                  TraceFragment& fragment) {
  ForEachEvent(piece, file_name, fragment.issues, FragmentFiller(fragment, request, file_name));
}

}  // namespace mpa::readers
