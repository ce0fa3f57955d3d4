// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "load_rank.h"
#include "mpa/base/printable.h"
#include "mpa/raw/session.h"

namespace mpa {
namespace {

template <typename Visit>
void VisitTables(const RankTrace& trace, Visit visit) {
  visit("tracks", trace.tracks);
  visit("host_ops", trace.host_ops);
  visit("python_calls", trace.python_calls);
  visit("backward_links", trace.backward_links);
  visit("mstx", trace.mstx);
  visit("queued_work", trace.queued_work);
  visit("host_calls", trace.host_calls);
  visit("call_stamps", trace.call_stamps);
  visit("garbage_collections", trace.garbage_collections);
  visit("launches", trace.launches);
  visit("kernels", trace.kernels);
  visit("kernel_loads", trace.kernel_loads);
  visit("schedule_kernels", trace.schedule_kernels);
  visit("listed_collectives", trace.listed_collectives);
  visit("listed_kernels", trace.listed_kernels);
  visit("counter_values", trace.counter_values);
  visit("chips", trace.chips);
  visit("core_clocks", trace.core_clocks);
  visit("device_tasks", trace.device_tasks);
  visit("device_runs", trace.device_runs);
  visit("model_iterations", trace.model_iterations);
  visit("comm_groups", trace.comm_groups);
  visit("communications", trace.communications);
  visit("comm_tasks", trace.comm_tasks);
  visit("overlaps", trace.overlaps);
  visit("memory_samples", trace.memory_samples);
  visit("allocations", trace.allocations);
  visit("kernel_statistics", trace.kernel_statistics);
  visit("transfers", trace.transfers);
  visit("steps", trace.steps);
  visit("step_times", trace.step_times);
}

void AddRows(const char* name, std::size_t rows, std::string& text) {
  if (rows == 0) return;
  text += fmt::format("{}{} {} row{}", text.empty() ? "" : ", ", name, rows, rows == 1 ? "" : "s");
}

}  // namespace

std::vector<std::size_t> CountRows(const RankTrace& trace) {
  std::vector<std::size_t> rows;
  VisitTables(trace, [&](const char*, const auto& table) { rows.push_back(table.Size()); });
  return rows;
}

std::string AddedRows(const std::vector<std::size_t>& before, const RankTrace& trace) {
  std::string text;
  std::size_t table = 0;
  VisitTables(trace, [&](const char* name, const auto& rows) {
    const std::size_t old = before[table++];
    if (rows.Size() > old) AddRows(name, rows.Size() - old, text);
  });
  return text.empty() ? "no rows of its own, details of others" : text;
}

std::string SessionRows(const raw::Session& session) {
  std::string text;
  const auto add = [&](const char* name, const auto& table) { AddRows(name, table.Size(), text); };
  add("operators", session.ops);
  add("queue", session.queue);
  add("python_calls", session.python);
  add("garbage_collections", session.collections);
  add("allocations", session.allocations);
  add("steps", session.steps);
  add("host_calls", session.calls);
  add("tasks", session.tasks);
  add("kernels", session.kernels);
  add("copies", session.copies);
  add("ai_cpu", session.ai_cpu);
  add("collectives", session.collectives);
  add("collective_parts", session.parts);
  add("device_memory", session.device_memory);
  add("module_memory", session.module_memory);
  add("marks", session.marks);
  return text.empty() ? "no rows" : text;
}

// Times that are valid one by one, and impossible together.

namespace {

constexpr TimeNs kSecond = 1'000'000'000;
constexpr TimeNs kMicrosecond = 1'000;

struct Window {
  TimeNs begin = std::numeric_limits<TimeNs>::max();
  TimeNs end = std::numeric_limits<TimeNs>::min();

  template <typename Table>
  void Add(const Table& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      begin = std::min(begin, table.start[i]);
      end = std::max(end, table.start[i] + table.dur[i]);
    }
  }
  bool IsEmpty() const { return begin > end; }
};

std::string Seconds(TimeNs time) {
  return fmt::format("{}.{:03} s", time / kSecond, time % kSecond / 1'000'000);
}

void CheckWindow(RankTrace& trace) {
  Window work;
  work.Add(trace.kernels);
  work.Add(trace.device_tasks);
  work.Add(trace.communications);
  if (work.IsEmpty()) return;
  constexpr TimeNs kDay = 24 * 3600 * kSecond;
  if (work.end - work.begin > kDay) {
    trace.issues.Count("times of the device span more than a day, some of them are damaged",
                       fmt::format("{} to {}", Seconds(work.begin), Seconds(work.end)));
  }
  constexpr TimeNs kMargin = 60 * kSecond;
  if (trace.session_start < 0 || trace.session_end < trace.session_start) return;
  if (work.begin < trace.session_start - kMargin || work.end > trace.session_end + kMargin) {
    trace.issues.Count(
        "times of the device lie outside of the session, they are damaged",
        fmt::format("{} to {}, session {} to {}", Seconds(work.begin), Seconds(work.end),
                    Seconds(trace.session_start), Seconds(trace.session_end)));
  }
}

// Text captures list each kernel in a table and in the trace.
void CheckClocks(RankTrace& trace) {
  const Kernels& kernels = trace.kernels;
  if (trace.source != "text" || trace.device == DeviceKind::kGpu) return;
  if (kernels.Empty() || trace.device_tasks.Empty()) return;
  Window of_kernels, of_tasks;
  of_kernels.Add(kernels);
  of_tasks.Add(trace.device_tasks);
  if (of_kernels.end < of_tasks.begin || of_tasks.end < of_kernels.begin) {
    trace.issues.Count(
        "the clocks of kernel_details.csv and trace_view.json do not fit, operators have no "
        "kernels",
        fmt::format("{} and {}", Seconds(of_kernels.begin), Seconds(of_tasks.begin)));
    return;
  }
  std::vector<TimeNs> starts = trace.device_tasks.start;
  std::sort(starts.begin(), starts.end());
  std::size_t both = 0, found = 0;  // a trace that breaks off lacks the last ones
  for (const TimeNs start : kernels.start) {
    if (start < of_tasks.begin || start > of_tasks.end) continue;
    ++both;
    const auto task = std::lower_bound(starts.begin(), starts.end(), start - kMicrosecond);
    if (task != starts.end() && *task <= start + kMicrosecond) ++found;
  }
  constexpr std::size_t kEnough = 8;
  if (both < kEnough || 2 * found >= both) return;
  trace.issues.Count(
      "times of kernel_details.csv are not those of trace_view.json; a spreadsheet may have "
      "rounded "
      "them",
      fmt::format("{} of {} kernels are in both", found, both));
}

struct StreamWork {
  std::int64_t stream;
  TimeNs start, end;
  std::int64_t link;
  StringId name;
};

// Work on a stream of a GPU runs one after the other, but for what one graph launched.
void CheckStreams(RankTrace& trace) {
  if (trace.device != DeviceKind::kGpu) return;
  std::vector<StreamWork> works;
  const auto add = [&](const auto& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      works.push_back({table.stream[i], table.start[i], table.start[i] + table.dur[i],
                       table.link[i], table.name[i]});
    }
  };
  add(trace.kernels);
  add(trace.device_tasks);
  std::sort(works.begin(), works.end(), [](const StreamWork& a, const StreamWork& b) {
    return std::tie(a.stream, a.start, a.end) < std::tie(b.stream, b.start, b.end);
  });
  for (std::size_t i = 0; i + 1 < works.size(); ++i) {
    const StreamWork &work = works[i], &next = works[i + 1];
    const bool one_launch = work.link >= 0 && work.link == next.link;
    if (work.stream != next.stream || one_launch || work.end <= next.end + kMicrosecond) continue;
    trace.issues.Count("kernel runs on under its successor on the same stream, which is impossible",
                       fmt::format("\"{}\" at {} us", Printable(trace.strings.View(work.name)),
                                   work.start / kMicrosecond));
  }
}

}  // namespace

void CheckTimes(RankTrace& trace) {
  CheckWindow(trace);
  CheckClocks(trace);
  CheckStreams(trace);
}

}  // namespace mpa
