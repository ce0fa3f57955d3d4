// SPDX-License-Identifier: Apache-2.0
// Traces of the operating system's scheduler: whatever they say, the states of a thread follow each
// other without gaps and add up to any stretch of time.
#include "readers/scheduler_events.h"

#include <map>

#include "fuzz/fuzzing.h"
#include "mpa/measure/thread_time.h"
#include "readers/scheduler_states.h"

namespace mpa::test {
namespace {

constexpr const char* kFtrace =
    "# tracer: nop\n# entries-in-buffer/entries-written: 7/9   #P:4\n"
    "<idle>-0 [000] d... 1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120"
    " prev_state=R ==> next_comm=main next_pid=77 next_prio=120\n"
    "main-77 (  70) [000] d... 1.000100: sched_switch: prev_comm=main prev_pid=77 prev_prio=120"
    " prev_state=R+ ==> next_comm=hog next_pid=99 next_prio=120\n"
    "hog-99 [000] d.h. 1.000200: irq_handler_entry: irq=31 name=cq_update_irq\n"
    "hog-99 [000] d.h. 1.000210: irq_handler_exit: irq=31 ret=handled\n"
    "CPU:1 [LOST 5 EVENTS]\n"
    "help-78 [001] d... 1.000250: sched_migrate_task: comm=main pid=77 prio=120 orig_cpu=0"
    " dest_cpu=1\n"
    "hog-99 [000] d... 1.000400: sched_switch: prev_comm=hog prev_pid=99 prev_prio=120"
    " prev_state=S ==> next_comm=main next_pid=77 next_prio=120\n"
    "main-77 [000] ..s. 1.000450: softirq_entry: vec=3 [action=NET_RX]\n"
    "main-77 [000] ..s. 1.000460: softirq_exit: vec=3 [action=NET_RX]\n"
    "main-77 [000] d... 1.000600: sched_switch: prev_comm=main prev_pid=77 prev_prio=120"
    " prev_state=X ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";
constexpr const char* kReport =
    "cpus=2\n"
    "  main-77 [001] 15501.395489: sched_switch:         main:77 [120] R ==> bash:11215 [120]\n"
    "  bash-11215 [001] 15501.395500: sched_wakeup:         main:77 [120] CPU:001\n"
    "  bash-11215 [001] 15501.395600: sched_switch:         bash:11215 [120] S ==> main:77 [120]\n";
constexpr const char* kPerf =
    "# reference time: 2026-11-29 23:24:52.5 = 1795994692.5 (TOD) = 15714.25 (monotonic_raw)\n"
    "# node0 cpu list : 0-1,4\n# nrcpus online : 2\n"
    "  main    77/77 [000] 15476.354150773:  sched:sched_waking: comm=main pid=77 prio=0"
    " target_cpu=000\n"
    "  main    77 [000] 15476.3541: PERF_RECORD_LOST lost 12\n";

void CheckStates(const RankTrace& trace) {
  const ThreadStates& states = trace.thread_states;
  std::map<std::int64_t, TimeNs> ends;
  for (std::size_t i = 0; i < states.Size(); ++i) {
    if (states.dur[i] <= 0) Die("a state takes no time");
    const auto [end, is_new] = ends.try_emplace(states.thread[i], states.start[i]);
    if (!is_new && end->second > states.start[i]) Die("states of a thread overlap");
    end->second = states.start[i] + states.dur[i];
  }
  const ThreadTimes threads(trace);
  for (const std::int64_t thread : threads.Threads()) {
    const Interval stretch{states.start[0], states.start[0] + 1'000'000};
    TimeNs sum = 0;
    for (const TimeNs time : threads.Of(thread, stretch).times) sum += time;
    if (sum != stretch.end - stretch.begin) Die("what a thread did does not add up");
    TimeNs held = 0;
    for (const HoldUp& hold : threads.HoldUps(thread, -1, stretch)) held += hold.time;
    if (held != threads.Of(thread, stretch).HeldUp()) Die("what held up a thread does not add up");
  }
}

}  // namespace

std::vector<Target> Targets() {
  return {{"trace.txt", {kFtrace, kReport, kPerf}, [](std::string_view content) {
             Issues issues;
             const readers::SchedulerEvents events =
                 readers::ReadSchedulerEvents(content, "trace.txt", issues);
             RankTrace trace;
             AddThreadStates(events, {{77, 77}, {78, 78}, {0, 1}}, 0, trace);
             CheckStates(trace);
           }}};
}

}  // namespace mpa::test
