// SPDX-License-Identifier: Apache-2.0
// Whether the threads of a rank ran when they could, what kept them, and the interrupts beside
// them.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/time.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/screen_list.h"
#include "part.h"

namespace mpa::recipes::host_threads {
namespace {

// What records the scheduler.
constexpr const char* kHowToRecord =
    "while the profiler runs: trace-cmd record -C mono_raw -e sched -e irq; put the text of"
    " trace-cmd report -t into the capture as trace.txt";

RankThreads MapHostThreads(const RankTrace& trace, const RecipeArguments&) {
  return ThreadsOf(trace);
}

void CheckThreads(const RankThreads& part) {
  const auto require = [](bool holds) {
    if (!holds) Fail(ErrorKind::kCorrupt, "a thread has impossible times");
  };
  require(IsDuration(part.end - part.begin));
  for (const ThreadRow& row : part.threads) {
    for (const TimeNs time : {row.running, row.preempted, row.woken, row.interrupted, row.sleeping,
                              row.uninterruptible, row.unknown, row.by_time})
      require(IsDuration(time));
  }
  for (const InterruptRow& row : part.interrupts)
    require(IsDuration(row.time) && IsDuration(row.longest) && IsDuration(row.of_threads));
}

using Ranks = std::vector<OfRank<RankThreads>>;
using ThreadItem = RowOfRank<ThreadRow>;
using InterruptItem = RowOfRank<InterruptRow>;

template <auto kTime>
auto NsColumn(std::string_view name, std::string_view meaning) {
  return CountColumn<&ThreadItem::row, kTime>(name, 18, meaning);
}

SheetColumns<ThreadItem> ThreadColumns() {
  return {
      CountColumn<&ThreadItem::rank, kRank>("rankId", 10, "The rank."),
      CountColumn<&ThreadItem::row, &ThreadRow::thread>("threadId", 12,
                                                        "The thread, as the profile numbers it."),
      TextColumn<&ThreadItem::row, &ThreadRow::name>("thread", 20,
                                                     "What the operating system calls the thread."),
      CountColumn<&ThreadItem::row, &ThreadRow::launches>(
          "launches", 10, "1 for a thread that launched device work."),
      NsColumn<&ThreadRow::running>("running(ns)", "Time in which it ran, in ns."),
      NsColumn<&ThreadRow::preempted>(
          "preempted(ns)", "Time in which it could run and another one had its core, in ns."),
      NsColumn<&ThreadRow::woken>("woken(ns)", "Time from being woken to having a core, in ns."),
      NsColumn<&ThreadRow::interrupted>("interrupted(ns)",
                                        "Time of interrupts while it had the core, in ns."),
      NsColumn<&ThreadRow::sleeping>("sleeping(ns)", "Time in which it slept, in ns."),
      NsColumn<&ThreadRow::uninterruptible>(
          "uninterruptible(ns)",
          "Time in which it slept in the kernel (files, locks of drivers), in ns."),
      NsColumn<&ThreadRow::unknown>("unknown(ns)", "Time in which its state is not known, in ns."),
      CountColumn<&ThreadItem::row, &ThreadRow::given>(
          "given", 10, "How often it gave its core away: it slept."),
      CountColumn<&ThreadItem::row, &ThreadRow::taken>("taken", 10,
                                                       "How often its core was taken from it."),
      CountColumn<&ThreadItem::row, &ThreadRow::moves>("moves", 10,
                                                       "How often it went on at another core."),
      CountColumn<&ThreadItem::row, &ThreadRow::far_moves, kIfKnown>(
          "farMoves", 10,
          "How often it went on at a core of another NUMA node; empty where nodes are not known."),
      CountColumn<&ThreadItem::row, &ThreadRow::cores>("cores", 10, "Cores on which it ran."),
      TextColumn<&ThreadItem::row, &ThreadRow::by>(
          "by", 20,
          "What held it up longest: a thread or an interrupt; empty where nothing did, or the"
          " core was idle."),
      NsColumn<&ThreadRow::by_time>("by(ns)", "Time of what held it up longest, in ns.")};
}

SheetColumns<InterruptItem> InterruptColumns() {
  return {
      CountColumn<&InterruptItem::rank, kRank>("rankId", 10, "The rank."),
      CountColumn<&InterruptItem::row, &InterruptRow::core>("core", 10, "The core."),
      TextColumn<&InterruptItem::row, &InterruptRow::name>("interrupt", 24,
                                                           "Name of the interrupt."),
      CountColumn<&InterruptItem::row, &InterruptRow::soft>(
          "soft", 8, "1 for work that an interrupt left for later (softirq)."),
      CountColumn<&InterruptItem::row, &InterruptRow::count>("count", 10, "Number of interrupts."),
      CountColumn<&InterruptItem::row, &InterruptRow::time>("time(ns)", 16,
                                                            "Time of all these interrupts, in ns."),
      CountColumn<&InterruptItem::row, &InterruptRow::longest>(
          "longest(ns)", 16, "Time of the longest interrupt, in ns."),
      CountColumn<&InterruptItem::row, &InterruptRow::of_threads>(
          "ofThreads(ns)", 16,
          "Time of those that came while a thread of the rank's process had the core, in ns.")};
}

const ThreadRow* MostHeld(const RankThreads& part) {
  const ThreadRow* most = nullptr;
  for (const ThreadRow& row : part.threads) {
    if (row.launches && (most == nullptr || row.HeldUp() > most->HeldUp())) most = &row;
  }
  return most;
}

void AddVerdict(const Ranks& ranks, ScreenLines& lines) {
  const OfRank<RankThreads>* worst = nullptr;
  const ThreadRow* held = nullptr;
  for (const OfRank<RankThreads>& rank : ranks) {
    const ThreadRow* row = MostHeld(rank.part);
    if (row == nullptr || (held != nullptr && row->HeldUp() <= held->HeldUp())) continue;
    worst = &rank;
    held = row;
  }
  if (held == nullptr) return;
  const double share = PercentOf(held->HeldUp(), worst->part.end - worst->part.begin);
  if (held->HeldUp() == 0)
    return AddSentence(Say("threads that launch ran whenever they could"), lines);
  std::string by = held->by.empty() ? "" : Say(", most of it behind {}", Printable(held->by));
  AddSentence(Say("{} ({}) of {} could run and did not for {:.1f} ms ({:.1f} % of the time){}",
                  Printable(held->name), held->thread, RankText(worst->rank), InMs(held->HeldUp()),
                  share, by),
              lines);
}

void AddThreadLines(const Ranks& ranks, Detail detail, ScreenLines& lines) {
  struct Shown {
    RankId rank{};
    const ThreadRow* row = nullptr;
  };
  std::vector<Shown> shown;
  for (const auto& [rank, part] : ranks) {
    for (const ThreadRow& row : part.threads) shown.push_back({rank, &row});
  }
  StableSort(shown, [](const Shown& a, const Shown& b) {
    return std::pair{a.row->launches, a.row->HeldUp()} >
           std::pair{b.row->launches, b.row->HeldUp()};
  });
  constexpr std::size_t kUsual = 8;
  if (detail != Detail::kAll) shown.resize(std::min(shown.size(), kUsual));
  const ScreenList list(
      2, {ScreenText(Say("name"), 15), ScreenNumber(Say("thread"), 9), ScreenNumber(Say("rank"), 5),
          ScreenMs(Say("running ms"), 11), ScreenMs(Say("held up ms"), 11),
          ScreenNumber(Say("taken"), 6), ScreenNumber(Say("moves"), 6), ScreenText(Say("behind"))});
  lines.push_back(list.Heading());
  for (const Shown& one : shown) {
    const ThreadRow& row = *one.row;
    lines.push_back(list.Line(row.name, row.thread, RankCell(one.rank), row.running, row.HeldUp(),
                              row.taken, row.moves, row.by));
  }
}

void AddInterruptLines(const Ranks& ranks, ScreenLines& lines) {
  const InterruptRow* most = nullptr;
  RankId of{};
  for (const auto& [rank, part] : ranks) {
    for (const InterruptRow& row : part.interrupts) {
      if (row.of_threads == 0 || (most != nullptr && row.of_threads <= most->of_threads)) continue;
      most = &row;
      of = rank;
    }
  }
  if (most == nullptr) return;
  AddSentence(
      Say("interrupts: {} on core {} took {:.1f} ms of threads of {}, {} in all",
          Printable(most->name), most->core, InMs(most->of_threads), RankText(of), most->count),
      lines);
}

void ReduceHostThreads(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                       Report& report) {
  if (wanted.sheets) {
    ItemSheet threads({"HostThreads", ToTranslate("What the threads of each rank did")},
                      ThreadColumns());
    threads.sheet.charts = {LargestBars(
        "Threads that could run and did not", {"thread", "threadId", "rankId"},
        {{"preempted(ns)", Tint::kWait}, {"woken(ns)", Tint::kFree}, {"interrupted(ns)"}},
        Measured::kNs)};
    AddRowsOfRanks(ranks, &RankThreads::threads, std::move(threads), report);
    PartSheet<InterruptItem> list(
        {{"HostInterrupts", ToTranslate("Interrupts of each core")}, InterruptColumns()});
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      for (const InterruptRow& row : ranks[rank].part.interrupts)
        list.Add({ranks[rank].rank, &row}, rank);
    }
    report.sheets.push_back(std::move(list).Take());
  }
  const bool any = std::ranges::any_of(
      ranks, [](const OfRank<RankThreads>& rank) { return !rank.part.threads.empty(); });
  if (!any) {
    report.notes.push_back(
        Say("no trace of the operating system's scheduler (ftrace, perf sched) fits the captures:"
            " what their threads waited for is unknown; {}",
            Translated(kHowToRecord)));
  }
  if (wanted.screen == Detail::kNone || !any) return;
  AddVerdict(ranks, report.lines);
  AddThreadLines(ranks, wanted.screen, report.lines);
  AddInterruptLines(ranks, report.lines);
}

Verdict JudgeHostThreads(const RankFacts& facts) {
  return JudgeReadable(facts).LeaveApart(
      !facts.scheduler_traces, "no trace of the operating system's scheduler", kHowToRecord);
}

}  // namespace

Recipe HostThreads() {
  return MakeRecipe<MapHostThreads, ReduceHostThreads, CheckThreads>(
      {.name = "host_threads",
       .folder = "HostThreads",
       .summary = "whether the threads of each rank ran when they could, and what kept them",
       .needs = Tables::kThreadStates | Tables::kHostOps | Tables::kHostCalls |
                Tables::kQueuedWork | Tables::kLaunches,
       .can_run = JudgeHostThreads});
}

}  // namespace mpa::recipes::host_threads
