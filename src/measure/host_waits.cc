// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/host_waits.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <tuple>

#include "mpa/base/text.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

// Without what symbols of libraries have behind them: "read@GLIBC_2.17".
std::string_view FunctionOf(std::string_view name) { return name.substr(0, name.find('@')); }

bool StartsWithAny(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view one) { return text.starts_with(one); });
}

// When threads begin work of their own; functions of Python are open in threads that only wait.
class Beginnings {
 public:
  explicit Beginnings(const RankTrace& trace) {
    const auto add = [&](const std::vector<TimeNs>& starts,
                         const std::vector<std::int32_t>& tracks) {
      for (std::size_t i = 0; i < starts.size(); ++i) all_.emplace_back(starts[i], tracks[i]);
    };
    add(trace.queued_work.queued, trace.queued_work.queued_track);
    add(trace.queued_work.start, trace.queued_work.track);
    add(trace.host_calls.start, trace.host_calls.track);
    NamedClasses<bool> marks(trace.strings, IsStepMark);
    const HostOps& ops = trace.host_ops;
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      if (ops.replayed[i] == 0 && !marks.Of(ops.name[i]))
        all_.emplace_back(ops.start[i], ops.track[i]);
    }
    std::ranges::sort(all_);
  }

  bool AnyElsewhere(const HostWait& wait) const {
    auto at = std::ranges::lower_bound(
        all_, std::pair{wait.begin, std::numeric_limits<std::int32_t>::min()});
    // The thread itself begins nothing then, so that the first ones tell.
    for (; at != all_.end() && at->first < wait.end; ++at) {
      if (at->second != wait.track) return true;
    }
    return false;
  }

 private:
  std::vector<std::pair<TimeNs, std::int32_t>> all_;
};

// By thread, in order of time; of those that begin together the longest first.
void Sort(std::vector<HostWait>& waits) {
  std::ranges::sort(waits, {}, [](const HostWait& wait) {
    return std::tuple{wait.track, wait.begin, -wait.end, wait.table, wait.row};
  });
}

void DropInnerOnes(std::vector<HostWait>& waits) {
  std::int32_t track = -1;
  TimeNs outer_end = 0;
  std::erase_if(waits, [&](const HostWait& wait) {
    if (wait.track == track && wait.begin < outer_end) return true;
    track = wait.track;
    outer_end = wait.end;
    return false;
  });
}

}  // namespace

TimeCategory ClassOfSystemCall(std::string_view name) {
  const bool locks = StartsWithAny(
      FunctionOf(name), {"pthread_mutex_", "pthread_rwlock_", "pthread_spin_", "pthread_cond_",
                         "pthread_barrier_", "pthread_join", "sem_"});
  return locks ? TimeCategory::kLock : TimeCategory::kSystemCall;
}

bool MayWaitForWork(std::string_view name) {
  const std::string_view function = FunctionOf(name);
  return StartsWithAny(function, {"pthread_cond_", "pthread_barrier_", "pthread_join", "sem_",
                                  "futex", "poll", "ppoll", "select", "pselect", "epoll_",
                                  "eventfd_read", "accept", "recv", "msgrcv", "mq_", "wait",
                                  "sigwait", "sigtimedwait", "rt_sigtimedwait"}) ||
         function == "read";
}

SystemThreads::SystemThreads(const Tracks& tracks) {
  for (std::size_t i = 0; i < tracks.Size(); ++i)
    tracks_.try_emplace({tracks.tid[i], tracks.pid[i]}, static_cast<std::int32_t>(i));
}

std::int32_t SystemThreads::TrackOf(std::int64_t process, std::int64_t thread) const {
  const auto first = tracks_.lower_bound(
      {thread, process < 0 ? std::numeric_limits<std::int64_t>::min() : process});
  if (first == tracks_.end() || first->first.first != thread) return -1;
  return process < 0 || first->first.second == process ? first->second : -1;
}

std::vector<HostWait> FindHostWaits(const RankTrace& trace) {
  std::vector<HostWait> waits;
  if (trace.system_calls.Empty() && trace.lock_uses.Empty()) return waits;
  const SystemThreads threads(trace.tracks);
  const auto add = [&](const auto& table, std::size_t row, TimeCategory category, PieceTable of) {
    const std::int32_t track = threads.TrackOf(table.process[row], table.thread[row]);
    if (track < 0) return;
    waits.push_back({table.start[row], table.start[row] + table.dur[row], track, category, of,
                     static_cast<std::int32_t>(row)});
  };
  const SystemCalls& calls = trace.system_calls;
  NamedClasses<TimeCategory> classes(trace.strings, ClassOfSystemCall);
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    if (calls.dur[i] >= kSlowSystemCall)
      add(calls, i, classes.Of(calls.name[i]), PieceTable::kSystemCalls);
  }
  Sort(waits);
  DropInnerOnes(waits);
  NamedClasses<bool> may_wait(trace.strings, MayWaitForWork);
  const auto is_doubtful = [&](const HostWait& wait) {
    return may_wait.Of(calls.name[static_cast<std::size_t>(wait.row)]);
  };
  if (std::ranges::any_of(waits, is_doubtful)) {
    const Beginnings beginnings(trace);
    std::erase_if(waits, [&](const HostWait& wait) {
      return is_doubtful(wait) && beginnings.AnyElsewhere(wait);
    });
  }
  const LockUses& locks = trace.lock_uses;
  for (std::size_t i = 0; i < locks.Size(); ++i) {
    if (locks.is_held[i] == 0 && locks.dur[i] >= kLongGilWait)
      add(locks, i, TimeCategory::kGil, PieceTable::kLockUses);
  }
  return waits;
}

}  // namespace mpa
