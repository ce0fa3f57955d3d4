// SPDX-License-Identifier: Apache-2.0
// A trace of the operating system's scheduler: trace.txt of ftrace, the report of trace-cmd, the
// text of perf script. It is joined to the profile by thread and clock; where either is not known,
// nothing is.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "monotonic_clock.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/capture/scheduler_files.h"
#include "mpa/io/input_text.h"
#include "mpa/measure/intervals.h"
#include "mpa/readers/reader.h"
#include "scheduler_events.h"
#include "scheduler_process.h"
#include "scheduler_states.h"

namespace mpa::readers {
namespace {

namespace fs = std::filesystem;

// The vendor's tool records by the clock of which the control files say the way to the epoch.
std::optional<TimeNs> OffsetOf(const fs::path& path, const SchedulerEvents& events,
                               const RankTrace& trace) {
  return events.to_epoch ? events.to_epoch : MonotonicToEpoch(trace, path);
}

// When a thread is certain to run, because it begins to do something that the profile recorded.
struct Moment {
  std::int64_t thread = -1;
  TimeNs time = 0;
};

std::vector<Moment> MomentsOf(const RankTrace& trace) {
  std::vector<Moment> moments;
  const auto add = [&](const auto& start, const auto& track) {
    for (std::size_t i = 0; i < start.size(); ++i) {
      const auto row = static_cast<std::size_t>(track[i]);
      if (track[i] >= 0 && row < trace.tracks.Size())
        moments.push_back({trace.tracks.tid[row], start[i]});
    }
  };
  add(trace.host_ops.start, trace.host_ops.track);
  add(trace.host_calls.start, trace.host_calls.track);
  add(trace.queued_work.start, trace.queued_work.track);
  return moments;
}

// The profiler reads the clock a little before or after the thread is there.
constexpr TimeNs kTolerance = 20'000;

// When each thread ran, with the tolerance, and when its state is known.
struct KnownTimes {
  std::map<std::int64_t, Intervals> running, known;
};

KnownTimes TimesOf(const ThreadStates& states) {
  std::map<std::int64_t, std::vector<Interval>> running, known;
  for (std::size_t i = 0; i < states.Size(); ++i) {
    const TimeNs begin = states.start[i], end = begin + states.dur[i];
    if (states.state[i] != ThreadState::kUnknown) known[states.thread[i]].push_back({begin, end});
    if (states.state[i] == ThreadState::kRunning)
      running[states.thread[i]].push_back({begin - kTolerance, end + kTolerance});
  }
  KnownTimes times;
  for (auto& [thread, of] : running) times.running[thread] = Union(std::move(of));
  for (auto& [thread, of] : known) times.known[thread] = Union(std::move(of));
  return times;
}

enum class Fit : std::uint8_t { kFits, kOtherTime, kOtherClock };

Fit FitOf(const RankTrace& trace) {
  constexpr std::int64_t kEnough = 20;  // fewer moments prove nothing against it
  constexpr double kLeastShare = 0.9;
  KnownTimes times = TimesOf(trace.thread_states);
  std::int64_t moments = 0, running = 0;
  for (const Moment& moment : MomentsOf(trace)) {
    if (!Contains(times.known[moment.thread], moment.time)) continue;
    ++moments;
    running += Contains(times.running[moment.thread], moment.time) ? 1 : 0;
  }
  if (moments == 0) return Fit::kOtherTime;
  const bool fits = moments < kEnough ||
                    static_cast<double>(running) >= kLeastShare * static_cast<double>(moments);
  return fits ? Fit::kFits : Fit::kOtherClock;
}

bool Overlaps(const ThreadStates& states, const Interval& time) {
  for (std::size_t i = 0; i < states.Size(); ++i) {
    if (states.start[i] < time.end && time.begin < states.start[i] + states.dur[i]) return true;
  }
  return false;
}

void Read(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  const io::InputText text(file.path);
  if (text.text().starts_with(kTraceCmdData)) {
    LogWarning("{}: not read as it is; make a text of it: trace-cmd report -t {} > trace.txt",
               file.path.string(), file.path.filename().string());
    return;
  }
  if (text.text().starts_with(kPerfData)) {
    LogWarning(
        "{}: not read as it is; make a text of it: perf script --ns --header -i {} >"
        " sched.txt",
        file.path.string(), file.path.filename().string());
    return;
  }
  const std::string name = file.path.filename().string();
  Issues issues;
  const SchedulerEvents events = ReadSchedulerEvents(text.text(), name, issues);
  if (events.events.empty()) {
    LogWarning("{}: no event of the scheduler in it; it is not used", file.path.string());
    return;
  }
  const auto offset = OffsetOf(file.path, events, trace);
  if (!offset) {
    WarnOfUnknownClock(file.path);
    return;
  }
  if (Overlaps(trace.thread_states, {events.Begin() + *offset, events.End() + *offset})) {
    LogWarning("{}: not used, another trace of the scheduler covers the same time",
               file.path.string());
    return;
  }
  const OwnThreads own = FindOwnThreads(file.path, events, trace);
  RankTrace found;
  AddThreadStates(events, own, *offset, found);
  if (found.thread_states.Empty()) {
    LogWarning(
        "{}: not used, no thread of the rank's process is in it; in a container record"
        " pid_mapping.json, too (trace_record.py --NSpid)",
        file.path.string());
    return;
  }
  std::swap(found.thread_states, trace.thread_states);
  const Fit fit = FitOf(trace);
  std::swap(found.thread_states, trace.thread_states);
  if (fit == Fit::kOtherTime) {
    LogWarning("{}: not used, it was recorded at another time than the capture",
               file.path.string());
    return;
  }
  if (fit == Fit::kOtherClock) {
    LogWarning(
        "{}: not used, by its clock threads do not run when the profile recorded them; record"
        " with the clock mono_raw",
        file.path.string());
    return;
  }
  std::vector<StringId> texts;
  for (std::uint32_t id = 0; id < found.strings.Size(); ++id)
    texts.push_back(trace.strings.Intern(found.strings.View(StringId{id})));
  struct Texts {
    const std::vector<StringId>& ids;
    StringId operator[](StringId id) const { return ids[Index(id)]; }
  } const ids{texts};
  trace.thread_states.AppendAll(found.thread_states, ids);
  trace.interrupts.AppendAll(found.interrupts, ids);
  if (events.cores > 0) trace.machine_cores = events.cores;
  trace.issues.Merge(issues);
}

}  // namespace

Reader SchedulerTrace() {
  return {"scheduler trace", FileKind::kSchedulerTrace, Tables::kThreadStates, Read};
}

}  // namespace mpa::readers
