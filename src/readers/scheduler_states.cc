// SPDX-License-Identifier: Apache-2.0
// What threads did, from the events of the scheduler.
#include "scheduler_states.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "mpa/measure/intervals.h"

namespace mpa::readers {
namespace {

// Who runs on a core.
struct Occupant {
  std::int32_t thread = -1;  // -1: not known yet
  StringId name{};
};

struct Thread {
  std::int64_t id = -1;  // as the profile numbers it
  StringId name{};
  bool seen = false;
  ThreadState state{};
  TimeNs since = 0;
  std::int32_t core = -1;
  std::vector<ThreadStates::Row> rows;
};

struct OpenInterrupt {
  SchedulerKind kind{};
  std::int32_t number = -1;
  TimeNs since = 0;
  StringId name{};
};

struct Core {
  Occupant runs;
  std::vector<Thread*> waiting;  // of the process, for this core
  std::vector<OpenInterrupt> interrupts;
  bool was_recorded = false;
  bool was_used = false;  // by the process
};

bool Waits(ThreadState state) {
  return state == ThreadState::kPreempted || state == ThreadState::kWoken;
}

class StateMaker {
 public:
  StateMaker(const SchedulerEvents& events, const OwnThreads& own, TimeNs offset, RankTrace& trace)
      : events_(events), offset_(offset), trace_(trace), cores_(kMostCores) {
    for (const auto& [number, id] : own) threads_[number].id = id;
    for (std::uint32_t name = 0; name < events.names.Size(); ++name)
      names_.push_back(trace.strings.Intern(events.names.View(StringId{name})));
    for (const SchedulerEvent& event : events.events) At(event.core).was_recorded = true;
    std::vector<Interval> lost;
    std::map<std::int32_t, std::vector<Interval>> of_core;
    for (const LostEvents& one : events.lost) {
      lost.push_back({one.begin, one.end});
      of_core[one.core].push_back({one.begin, one.end});
    }
    lost_ = Union(std::move(lost));
    for (auto& [core, times] : of_core) lost_of_core_[core] = Union(std::move(times));
  }

  void Make() {
    for (const SchedulerEvent& event : events_.events) {
      PassLost(event.time);
      Take(event);
    }
    for (auto& [number, thread] : threads_) {
      if (thread.seen) Close(thread, events_.End());
      for (const ThreadStates::Row& row : thread.rows) {
        trace_.thread_states.Append(row);
        if (row.state == ThreadState::kRunning && row.core >= 0) At(row.core).was_used = true;
      }
    }
    std::ranges::stable_sort(interrupts_, {}, &Interrupts::Row::start);
    for (const Interrupts::Row& row : interrupts_) {
      if (At(row.core).was_used) trace_.interrupts.Append(row);
    }
  }

 private:
  Core& At(std::int32_t core) { return cores_[static_cast<std::size_t>(core)]; }
  StringId NameOf(StringId of_events) const { return names_[Index(of_events)]; }
  Thread* OwnOf(std::int32_t number) {
    const auto found = threads_.find(number);
    return found == threads_.end() ? nullptr : &found->second;
  }

  bool IsLost(TimeNs time) const {
    return next_lost_ < lost_.size() && lost_[next_lost_].begin <= time &&
           time < lost_[next_lost_].end;
  }

  // What a thread did while events of any core were lost is known only while it ran on another.
  void PassLost(TimeNs time) {
    while (next_lost_ < lost_.size() && lost_[next_lost_].begin <= time) {
      if (!lost_began_) {
        lost_began_ = true;
        const TimeNs begin = lost_[next_lost_].begin;
        for (auto& [number, thread] : threads_) {
          const bool runs_elsewhere =
              thread.state == ThreadState::kRunning && !LosesCore(thread.core, lost_[next_lost_]);
          if (thread.seen && !runs_elsewhere) Change(thread, begin, ThreadState::kUnknown, -1);
        }
      }
      if (time < lost_[next_lost_].end) return;
      ++next_lost_;
      lost_began_ = false;
    }
  }

  bool LosesCore(std::int32_t core, const Interval& within) const {
    const auto found = lost_of_core_.find(core);
    return found != lost_of_core_.end() && Touches(found->second, within);
  }

  // Whose event it is runs on the core, also before the first switch there.
  void NoteCurrent(const SchedulerEvent& event) {
    Core& core = At(event.core);
    const bool names_it =
        event.kind == SchedulerKind::kWakeup || event.kind == SchedulerKind::kMigrate;
    if (core.runs.thread >= 0 || !names_it) return;
    core.runs = {event.current, event.current_name};
    Thread* thread = OwnOf(event.current);
    if (thread == nullptr || thread->seen) return;
    thread->name = NameOf(event.current_name);
    Change(*thread, event.time, ThreadState::kRunning, event.core);
  }

  void Take(const SchedulerEvent& event) {
    NoteCurrent(event);
    switch (event.kind) {
      case SchedulerKind::kSwitch:
        return TakeSwitch(event);
      case SchedulerKind::kWakeup:
        return TakeWakeup(event);
      case SchedulerKind::kMigrate:
        return TakeMigration(event);
      case SchedulerKind::kInterruptBegin:
      case SchedulerKind::kSoftBegin:
        At(event.core)
            .interrupts.push_back({event.kind, event.target, event.time, NameOf(event.other_name)});
        return;
      case SchedulerKind::kInterruptEnd:
        return EndInterrupt(event, SchedulerKind::kInterruptBegin);
      case SchedulerKind::kSoftEnd:
        return EndInterrupt(event, SchedulerKind::kSoftBegin);
      case SchedulerKind::kLost:
        return;
    }
  }

  void TakeSwitch(const SchedulerEvent& event) {
    Core& core = At(event.core);
    Thread* before = OwnOf(event.current);
    Thread* after = OwnOf(event.other);
    // The thread that ran here according to earlier events left without one.
    if (core.runs.thread >= 0 && core.runs.thread != event.current) {
      Thread* lost = OwnOf(core.runs.thread);
      if (lost != nullptr && lost->seen && lost->state == ThreadState::kRunning &&
          lost->core == event.core) {
        lost->state = ThreadState::kUnknown;
        Change(*lost, event.time, ThreadState::kUnknown, -1);
      }
    }
    CutWaits(core, after, event.time);
    if (after != nullptr) {
      after->name = NameOf(event.other_name);
      Change(*after, event.time, ThreadState::kRunning, event.core);
    }
    core.runs = {event.other, event.other_name};
    if (before == nullptr || before == after) return;
    before->name = NameOf(event.current_name);
    constexpr char kEnded[] = {'X', 'Z', 'x'};
    if (std::ranges::find(kEnded, event.state) != std::end(kEnded)) {
      if (before->seen) Close(*before, event.time);
      Leave(*before);
      before->seen = false;
      return;
    }
    Change(*before, event.time, IsLost(event.time) ? ThreadState::kUnknown : StateOf(event.state),
           event.core);
  }

  // Where many wait for a core, each switch would cut all of their waits: beyond so many pieces the
  // one who has the core at the end stands for all who had it.
  void CutWaits(const Core& core, const Thread* after, TimeNs time) {
    constexpr std::size_t kCutsOfEvent = 2;
    if (cuts_ > kCutsOfEvent * events_.events.size()) return;
    cuts_ += core.waiting.size();
    for (Thread* waiting : core.waiting) {
      if (waiting != after) Close(*waiting, time);
    }
  }

  static ThreadState StateOf(char state) {
    if (state == 'R') return ThreadState::kPreempted;
    return state == 'D' ? ThreadState::kUninterruptible : ThreadState::kSleeping;
  }

  void TakeWakeup(const SchedulerEvent& event) {
    Thread* thread = OwnOf(event.other);
    if (thread == nullptr) return;
    thread->name = NameOf(event.other_name);
    const bool runs =
        thread->seen && (thread->state == ThreadState::kRunning || Waits(thread->state));
    if (runs) return;  // it was about to sleep, or is woken already
    waker_ = {event.current, event.current_name};
    Change(*thread, event.time, ThreadState::kWoken, event.target);
    waker_ = {};
  }

  void TakeMigration(const SchedulerEvent& event) {
    Thread* thread = OwnOf(event.other);
    if (thread == nullptr || !thread->seen || !Waits(thread->state)) return;
    Change(*thread, event.time, thread->state, event.target);
  }

  void EndInterrupt(const SchedulerEvent& event, SchedulerKind begin) {
    std::vector<OpenInterrupt>& open = At(event.core).interrupts;
    const auto found = std::find_if(open.rbegin(), open.rend(), [&](const OpenInterrupt& one) {
      return one.kind == begin && one.number == event.target;
    });
    if (found == open.rend()) return;  // it began before the trace did
    const OpenInterrupt one = *found;
    open.erase(std::next(found).base(), open.end());
    if (LosesCore(event.core, {one.since, event.time})) return;
    const Thread* thread = OwnOf(At(event.core).runs.thread);
    interrupts_.push_back({.start = one.since + offset_,
                           .dur = event.time - one.since,
                           .core = event.core,
                           .name = one.name,
                           .soft = begin == SchedulerKind::kSoftBegin,
                           .thread = thread != nullptr ? thread->id : -1});
  }

  void Leave(Thread& thread) {
    if (Waits(thread.state) && thread.core >= 0) std::erase(At(thread.core).waiting, &thread);
  }

  void Change(Thread& thread, TimeNs time, ThreadState state, std::int32_t core) {
    // Traces may be of some cores only: on another one it may run without an event.
    if (Waits(state) && core >= 0 && !At(core).was_recorded) state = ThreadState::kUnknown;
    if (thread.seen) {
      Close(thread, time);
      Leave(thread);
    }
    thread.seen = true;
    thread.state = state;
    thread.since = time;
    thread.core = core;
    if (Waits(state) && core >= 0) At(core).waiting.push_back(&thread);
  }

  // Ends the state, or the piece of it, at `time`.
  void Close(Thread& thread, TimeNs time) {
    const TimeNs since = std::exchange(thread.since, time);
    if (time <= since) return;
    Occupant by = waker_;
    if (Waits(thread.state)) by = thread.core >= 0 ? At(thread.core).runs : Occupant{};
    if (thread.state == ThreadState::kRunning || thread.state == ThreadState::kUnknown) by = {};
    const auto node = events_.node_of.find(thread.core);
    thread.rows.push_back({.start = since + offset_,
                           .dur = time - since,
                           .thread = thread.id,
                           .name = thread.name,
                           .state = thread.state,
                           .core = thread.core,
                           .node = node == events_.node_of.end() ? -1 : node->second,
                           .by = by.thread > 0 ? NameOf(by.name) : StringId::kEmpty,
                           .by_thread = by.thread,
                           .by_own = OwnOf(by.thread) != nullptr});
  }

  const SchedulerEvents& events_;
  const TimeNs offset_;
  RankTrace& trace_;
  std::vector<StringId> names_;  // by name of the events
  std::map<std::int32_t, Thread> threads_;
  std::vector<Core> cores_;
  Intervals lost_;  // of any core
  std::map<std::int32_t, Intervals> lost_of_core_;
  std::size_t next_lost_ = 0;
  bool lost_began_ = false;
  std::size_t cuts_ = 0;  // of waits
  Occupant waker_;        // of the wakeup at hand
  std::vector<Interrupts::Row> interrupts_;
};

}  // namespace

void AddThreadStates(const SchedulerEvents& events, const OwnThreads& own, TimeNs offset,
                     RankTrace& trace) {
  StateMaker(events, own, offset, trace).Make();
}

}  // namespace mpa::readers
