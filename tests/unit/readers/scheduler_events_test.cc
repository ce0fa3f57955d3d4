// SPDX-License-Identifier: Apache-2.0
#include "readers/scheduler_events.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "mpa/measure/thread_time.h"
#include "readers/scheduler_line.h"
#include "readers/scheduler_states.h"

namespace mpa {
namespace {

using readers::LineOutcome;
using readers::OwnThreads;
using readers::ReadSchedulerLine;
using readers::SchedulerEvents;
using readers::SchedulerKind;
using readers::SchedulerLine;

constexpr TimeNs kUs = 1000, kMs = 1'000'000;

SchedulerLine LineOf(std::string_view text) {
  SchedulerLine line;
  EXPECT_EQ(ReadSchedulerLine(text, line), LineOutcome::kEvent) << text;
  return line;
}

LineOutcome OutcomeOf(std::string_view text) {
  SchedulerLine line;
  return ReadSchedulerLine(text, line);
}

TEST(SchedulerLine, SwitchesOfAllFormsAreAlike) {
  for (
      const std::string_view text :
      {"  my thread-1-77   [003] d..2. 15501.395489: sched_switch: prev_comm=my thread-1"
       " prev_pid=77"
       " prev_prio=120 prev_state=R+ ==> next_comm=CSD 4 next_pid=4711 next_prio=120",
       "  my thread-1-77   ( 70) [003] d..2 15501.395489: sched_switch: prev_comm=my thread-1"
       " prev_pid=77 prev_prio=120 prev_state=R ==> next_comm=CSD 4 next_pid=4711 next_prio=120",
       "  my thread-1-77    [003] 15501.395489000: sched_switch:         my thread-1:77 [120] R ==>"
       " CSD 4:4711 [120]",
       "  my thread-1    70/77    [003] 15501.395489: sched:sched_switch: prev_comm=my thread-1"
       " prev_pid=77 prev_prio=120 prev_state=R ==> next_comm=CSD 4 next_pid=4711 next_prio=120",
       "my thread-1    77 [003] 15501.395489:       sched:sched_switch: prev_comm=my thread-1"
       " prev_pid=77 prev_prio=120 prev_state=R ==> next_comm=CSD 4 next_pid=4711 next_prio=120"}) {
    const SchedulerLine line = LineOf(text);
    EXPECT_EQ(line.kind, SchedulerKind::kSwitch);
    EXPECT_EQ(line.time, 15'501'395'489'000);
    EXPECT_EQ(line.core, 3);
    EXPECT_EQ(line.current.id, 77);
    EXPECT_EQ(line.current.name, "my thread-1");
    EXPECT_EQ(line.state, 'R');
    EXPECT_EQ(line.other.id, 4711);
    EXPECT_EQ(line.other.name, "CSD 4");
  }
}

TEST(SchedulerLine, ProcessesAreKnownWhereTheLineTellsThem) {
  EXPECT_EQ(LineOf("a-77 ( 70) [000] d... 1.5: sched_wakeup: comm=b pid=8 prio=120 target_cpu=002")
                .current.process,
            70);
  EXPECT_EQ(LineOf("a 70/77 [000] 1.5: sched:sched_wakeup: comm=b pid=8 prio=120 target_cpu=002")
                .current.process,
            70);
  EXPECT_EQ(LineOf("a-77 (-----) [000] d... 1.5: sched_wakeup: comm=b pid=8 prio=120"
                   " target_cpu=002")
                .current.process,
            -1);
}

TEST(SchedulerLine, OtherEventsHaveTheirFields) {
  const SchedulerLine wakeup =
      LineOf("a-1 [000] 2.000001: sched_wakeup:         b:8 [120] CPU:012");
  EXPECT_EQ(wakeup.kind, SchedulerKind::kWakeup);
  EXPECT_EQ(wakeup.other.id, 8);
  EXPECT_EQ(wakeup.target, 12);
  const SchedulerLine migration =
      LineOf("a-1 [000] d... 2.0: sched_migrate_task: comm=b pid=8 prio=120 orig_cpu=0 dest_cpu=5");
  EXPECT_EQ(migration.kind, SchedulerKind::kMigrate);
  EXPECT_EQ(migration.target, 5);
  const SchedulerLine begin =
      LineOf("a-1 [000] d.h. 2.0: irq_handler_entry: irq=31 name=sq_send_trigger_irq");
  EXPECT_EQ(begin.kind, SchedulerKind::kInterruptBegin);
  EXPECT_EQ(begin.interrupt, "sq_send_trigger_irq");
  EXPECT_EQ(begin.number, 31);
  EXPECT_EQ(LineOf("a-1 [000] d.h. 2.0: irq_handler_exit: irq=31 ret=handled").kind,
            SchedulerKind::kInterruptEnd);
  const SchedulerLine soft =
      LineOf("<idle>-0 [000] ..s. 2.0: softirq_entry: vec=3 [action=NET_RX]");
  EXPECT_EQ(soft.kind, SchedulerKind::kSoftBegin);
  EXPECT_EQ(soft.interrupt, "NET_RX");
  const SchedulerLine lost = LineOf("CPU:2 [LOST 123 EVENTS]");
  EXPECT_EQ(lost.kind, SchedulerKind::kLost);
  EXPECT_EQ(lost.core, 2);
  EXPECT_EQ(lost.lost, 123);
  EXPECT_EQ(LineOf("CPU:7 [5 EVENTS DROPPED]").lost, 5);
}

TEST(SchedulerLine, WhatIsNoSuchEventIsPassedOverAndWhatIsBrokenIsToldApart) {
  for (const std::string_view text :
       {"", "# tracer: nop", "cpus=2", "\tffffffff8112ab schedule ([kernel.kallsyms])",
        "a-1 [000] d... 2.0: sched_stat_runtime: comm=a pid=1 runtime=5 [ns]"})
    EXPECT_EQ(OutcomeOf(text), LineOutcome::kOther) << text;
  for (const std::string_view text :
       {"a-1 [000] d... 2.0: sched_switch: prev_comm=a prev_pid=1 prev_prio=1",
        "a-1 [000] d... 2.0: sched_wakeup: comm=b pid=", "a-1 [00x] 2.0: sched_switch: x",
        "a-1 [000] d... 99999999999.0: sched_switch: prev_comm=a prev_pid=1 prev_prio=120"
        " prev_state=S ==> next_comm=b next_pid=2 next_prio=120",
        "a-1 [000] d.h. 2.0: irq_handler_entry: irq=x", "CPU:x [LOST 1 EVENTS]"})
    EXPECT_EQ(OutcomeOf(text), LineOutcome::kBroken) << text;
}

// The main thread 77 and its helper 78 on cores 0 and 1; 99 is of another process.
constexpr std::string_view kSwitches =
    "# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:4\n"
    "<idle>-0 [000] d... 1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120"
    " prev_state=R ==> next_comm=main next_pid=77 next_prio=120\n"
    "main-77 [000] d... 1.000100: sched_switch: prev_comm=main prev_pid=77 prev_prio=120"
    " prev_state=R ==> next_comm=hog next_pid=99 next_prio=120\n"
    "hog-99 [000] d... 1.000400: sched_switch: prev_comm=hog prev_pid=99 prev_prio=120"
    " prev_state=S ==> next_comm=kworker/0:1 next_pid=5 next_prio=120\n"
    "kworker/0:1-5 [000] d... 1.000450: sched_switch: prev_comm=kworker/0:1 prev_pid=5"
    " prev_prio=120 prev_state=I ==> next_comm=main next_pid=77 next_prio=120\n"
    "main-77 [000] d.h. 1.000500: irq_handler_entry: irq=31 name=sq_send_trigger_irq\n"
    "main-77 [000] d.h. 1.000530: irq_handler_exit: irq=31 ret=handled\n"
    "main-77 [000] d... 1.000600: sched_switch: prev_comm=main prev_pid=77 prev_prio=120"
    " prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
    "help-78 [001] d... 1.000900: sched_waking: comm=main pid=77 prio=120 target_cpu=000\n"
    "help-78 [001] d... 1.000901: sched_wakeup: comm=main pid=77 prio=120 target_cpu=000\n"
    "main-77 [000] d... 1.000950: sched_migrate_task: comm=main pid=77 prio=120 orig_cpu=0"
    " dest_cpu=1\n"
    "help-78 [001] d... 1.001000: sched_switch: prev_comm=help prev_pid=78 prev_prio=120"
    " prev_state=D ==> next_comm=main next_pid=77 next_prio=120\n"
    "main-77 [001] d... 1.002000: sched_switch: prev_comm=main prev_pid=77 prev_prio=120"
    " prev_state=X ==> next_comm=swapper/1 next_pid=0 next_prio=120\n";

struct ReadRank {
  RankTrace trace;
  Issues issues;
  SchedulerEvents events;
};

ReadRank ReadWhole(std::string_view text, const OwnThreads& own, TimeNs offset = 0) {
  ReadRank read;
  read.events = readers::ReadSchedulerEvents(text, "trace.txt", read.issues);
  AddThreadStates(read.events, own, offset, read.trace);
  return read;
}

TEST(ThreadTimes, StatesAddUpToTheStretchAndNameWhoHadTheCore) {
  const ReadRank read = ReadWhole(kSwitches, {{77, 77}, {78, 78}});
  EXPECT_TRUE(read.issues.Empty());
  EXPECT_EQ(read.events.cores, 4);
  const ThreadTimes threads(read.trace);
  const TimeNs begin = 1'000'000'000;
  const ThreadAccount time = threads.Of(77, {begin, begin + 2 * kMs});
  EXPECT_EQ(time.Of(ThreadDoing::kRunning), (100 + 50 + 70 + 1000) * kUs);
  EXPECT_EQ(time.Of(ThreadDoing::kPreempted), 350 * kUs);
  EXPECT_EQ(time.Of(ThreadDoing::kInterrupted), 30 * kUs);
  EXPECT_EQ(time.Of(ThreadDoing::kSleeping), 300 * kUs);
  EXPECT_EQ(time.Of(ThreadDoing::kWoken), 100 * kUs);
  TimeNs sum = 0;
  for (const TimeNs part : time.times) sum += part;
  EXPECT_EQ(sum, 2 * kMs);
  EXPECT_EQ(time.taken, 1);
  EXPECT_EQ(time.given, 1);
  EXPECT_EQ(time.moves, 1);
  EXPECT_EQ(time.far_moves, 0);
  const std::vector<HoldUp> holds = threads.HoldUps(77, -1, {begin, begin + 2 * kMs});
  ASSERT_EQ(holds.size(), 5u);
  EXPECT_EQ(read.trace.strings.View(holds[0].by), "hog");
  EXPECT_EQ(holds[0].time, 300 * kUs);
  EXPECT_EQ(holds[0].by_thread, 99);
  EXPECT_FALSE(holds[0].by_own);
  // Before it migrated it waited for an idle core, then for the helper.
  const auto woken = [&](std::string_view by) {
    for (const HoldUp& hold : holds) {
      if (hold.doing == ThreadDoing::kWoken && read.trace.strings.View(hold.by) == by) return hold;
    }
    return HoldUp{};
  };
  EXPECT_EQ(woken("").time, 50 * kUs);
  EXPECT_EQ(woken("help").time, 50 * kUs);
  EXPECT_TRUE(woken("help").by_own);
}

TEST(ThreadTimes, ASleepingThreadIsHeldUpByWhatHoldsUpTheOneItWaitsFor) {
  const ReadRank read = ReadWhole(kSwitches, {{77, 77}, {78, 78}});
  const ThreadTimes threads(read.trace);
  const TimeNs begin = 1'000'000'000;
  // Nothing is known of 78 until it wakes 77.
  const std::vector<HoldUp> holds = threads.HoldUps(78, 77, {begin, begin + 500 * kUs});
  ASSERT_FALSE(holds.empty());
  EXPECT_EQ(holds[0].thread, 77);
  EXPECT_EQ(holds[0].time, 300 * kUs);
}

TEST(ThreadTimes, BeforeTheFirstEventNothingIsKnown) {
  const ReadRank read = ReadWhole(kSwitches, {{77, 77}}, 5 * kMs);
  const ThreadTimes threads(read.trace);
  const TimeNs begin = 1'000'000'000;
  const ThreadAccount time = threads.Of(77, {begin, begin + 10 * kMs});
  EXPECT_EQ(time.Of(ThreadDoing::kUnknown), 5 * kMs + 3 * kMs);
  EXPECT_EQ(threads.Of(4, {begin, begin + kMs}).Of(ThreadDoing::kUnknown), kMs);
}

TEST(ThreadTimes, WhatIsBeyondLostEventsIsUnknown) {
  std::string text(kSwitches);
  const std::string_view wakes = "help-78 [001] d... 1.001000: sched_switch";
  text.insert(text.find(wakes), "CPU:0 [LOST 17 EVENTS]\n");
  text +=
      "x-9 [000] d... 1.003000: sched_switch: prev_comm=x prev_pid=9 prev_prio=120"
      " prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";
  const ReadRank read = ReadWhole(text, {{77, 77}});
  ASSERT_EQ(read.issues.Lines().size(), 1u);
  EXPECT_NE(read.issues.Lines()[0].find("17 events"), std::string::npos);
  const ThreadTimes threads(read.trace);
  const TimeNs begin = 1'000'000'000;
  const ThreadAccount time = threads.Of(77, {begin, begin + 2 * kMs});
  // The last event of core 0 before the mark is the migration at 950 us; 77 runs from 1000 us on.
  EXPECT_EQ(time.Of(ThreadDoing::kUnknown), 50 * kUs);
  EXPECT_EQ(time.Of(ThreadDoing::kWoken), 50 * kUs);
}

TEST(ThreadTimes, OnACoreThatWasNotRecordedAThreadMayRun) {
  std::string text(kSwitches);
  const std::string_view moves = "dest_cpu=1\n";
  text.replace(text.find(moves), moves.size(), "dest_cpu=3\n");
  const ReadRank read = ReadWhole(text, {{77, 77}});
  const TimeNs begin = 1'000'000'000;
  const ThreadAccount time = ThreadTimes(read.trace).Of(77, {begin, begin + 2 * kMs});
  EXPECT_EQ(time.Of(ThreadDoing::kWoken), 50 * kUs);
  EXPECT_EQ(time.Of(ThreadDoing::kUnknown), 50 * kUs);
}

TEST(ThreadTimes, OfAFullBufferTheBeginOfEachCoreIsUnknown) {
  std::string text(kSwitches);
  text.replace(text.find("9/9"), 3, "9/90");
  const ReadRank read = ReadWhole(text, {{77, 77}});
  ASSERT_EQ(read.issues.Lines().size(), 1u);
  EXPECT_NE(read.issues.Lines()[0].find("81 of its events"), std::string::npos);
  // Core 1 has its first event at 900 us: until then 77 may have been there when it did not run.
  const ThreadTimes threads(read.trace);
  const TimeNs begin = 1'000'000'000;
  EXPECT_EQ(threads.Of(77, {begin + 600 * kUs, begin + 900 * kUs}).Of(ThreadDoing::kUnknown),
            300 * kUs);
}

TEST(SchedulerEvents, BrokenLinesAreCountedAndACutFileIsNamed) {
  std::string text(kSwitches);
  text +=
      "main-77 [001] d... 1.003: sched_switch: prev_comm=main\nmain-77 [001] d... 1.0030:"
      " sched_switch: prev_c";
  const ReadRank read = ReadWhole(text, {});
  ASSERT_EQ(read.issues.Lines().size(), 2u);
  EXPECT_TRUE(read.issues.Breaks(Promise::kFileIsWhole));
}

TEST(SchedulerEvents, PerfSaysTheWayToTheEpochAndTheNodes) {
  Issues issues;
  const SchedulerEvents events = readers::ReadSchedulerEvents(
      "# nrcpus online : 8\n# node0 cpu list : 0-1,4\n# node1 cpu list : 2-3\n"
      "# reference time: 2026-11-29 23:24:52.5 = 1795994692.500000 (TOD) = 15714.250000000"
      " (monotonic_raw)\n",
      "sched.txt", issues);
  ASSERT_TRUE(events.to_epoch.has_value());
  EXPECT_EQ(*events.to_epoch, 1'795'994'692'500'000'000 - 15'714'250'000'000);
  EXPECT_EQ(events.cores, 8);
  EXPECT_EQ(events.node_of.at(4), 0);
  EXPECT_EQ(events.node_of.at(2), 1);
}

TEST(ThreadTimes, MovesToAnotherNodeAreCounted) {
  std::string text = "# node0 cpu list : 0\n# node1 cpu list : 1\n";
  text += kSwitches.substr(kSwitches.find("<idle>"));
  const ReadRank read = ReadWhole(text, {{77, 77}});
  const TimeNs begin = 1'000'000'000;
  EXPECT_EQ(ThreadTimes(read.trace).Of(77, {begin, begin + 2 * kMs}).far_moves, 1);
}

}  // namespace
}  // namespace mpa
