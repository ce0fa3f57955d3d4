// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "call.h"
#include "head_part.h"
#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/report/amount.h"
#include "mpa/report/screen_list.h"

namespace mpa::head {
namespace {

constexpr std::size_t kMaxGraphs = 8;
constexpr std::size_t kMaxAdvice = 8;

// Without decimals from a tenth of a second on, to fit into the columns.
std::string Us(MaybeNs time) {
  if (!time) return "-";
  constexpr TimeNs kLong = 100'000'000;
  return fmt::format("{:.{}f}", InUs(*time), *time < kLong ? 1 : 0);
}

// As many lines as there is room for; the others are counted.
class BoundedLines {
 public:
  explicit BoundedLines(std::size_t room) : room_(room) {}

  // Whole, or counted with all that follow it.
  void Add(const ScreenLine& line) {
    std::vector<std::string> lines = Wrapped(line.Text(), 6);
    if (left_out_ > 0 || lines_.size() + lines.size() > room_) {
      left_out_ += lines.size();
      return;
    }
    if (lines.size() == 1) {
      lines_.push_back(line);
    } else {
      std::move(lines.begin(), lines.end(), std::back_inserter(lines_));
    }
  }

  ScreenLines Take() {
    if (left_out_ > 0) lines_.push_back(Say("  ... {} more lines with -v", left_out_));
    return std::move(lines_);
  }

 private:
  std::size_t room_, left_out_ = 0;
  ScreenLines lines_;
};

std::string GainText(const AdviceRow& row) {
  if (!row.gain) return "";
  const bool per_step = row.exposed_per_step && !row.is_compilation;
  return per_step ? Say(", a fix saves up to {} us in a step", Us(row.exposed_per_step))
                  : Say(", a fix saves up to {} us in all", Us(row.gain));
}

std::string CaptureText(const CaptureFacts& facts) {
  return facts.level.empty() ? Say("{} capture", facts.source)
                             : Say("{} capture, {}", facts.source, facts.level);
}

std::string ThreadList(const std::vector<std::int64_t>& threads) {
  constexpr std::size_t kMax = 5;
  if (threads.empty()) return "";
  return fmt::format(
      " ({}{})",
      fmt::join(threads.begin(),
                threads.begin() + static_cast<std::ptrdiff_t>(std::min(kMax, threads.size())),
                ", "),
      threads.size() > kMax ? ", ..." : "");
}

// A rank without heads: what was looked for, and in what.
void SayThatThereIsNone(std::string_view rank, const CaptureFacts& facts, BoundedLines& lines) {
  lines.Add(Say("{}: no compiled graph was called, or the capture has no events of it", rank));
  lines.Add(
      Say("  looked for: npu_fx_compiler inference, cache_compiler inference,"
          " TorchNpuGraphBase::Run, ExecuteGraph, RunGraph, RunGraphWithStreamAsync,"
          " acl_graph_replay, fx_run_eagerly; of CANN Model@ModelExecute,"
          " AscendCL@aclmdlRIExecuteAsync"));
  lines.Add(
      Say("  the capture ({}) has {} framework events on {} threads{}, {} calls of CANN, {} kernels"
          " and collectives, {} steps",
          CaptureText(facts), facts.framework_events, facts.threads.size(),
          ThreadList(facts.threads), facts.runtime_calls, facts.device_runs, facts.steps));
  if (facts.runtime_calls == 0) {
    lines.Add(
        Say("  without CANN calls (text captures of Level0 have none) graphs replayed by a serving"
            " framework cannot be seen"));
  }
  lines.Add(Say("  only the thread that started the profiler, and those it started, are recorded"));
}

// What a rank's heads cost: the answer in a few sentences, and the numbers behind it.
class HeadText {
 public:
  HeadText(const HeadPart& part, BoundedLines& lines) : part_(part), lines_(lines) {
    for (const Call& call : part.calls) {
      if (!call.Counts() || call.phase != part.phase || call.step < 0) continue;
      steps_.emplace(call.track, call.step);
    }
  }

  void Answer(std::string_view rank) {
    const SummaryRow* head = Find(Measure::kHead);
    if (head == nullptr) {
      Say("{}: {} graph calls are known from the runtime only: when they start, but not what took"
          " the time before",
          rank, part_.calls.size());
      return;
    }
    const std::string time = Us(PerStep(head->spread.sum, head->spread.count));
    const std::string share =
        head->share_of_step ? mpa::Say(" ({} of it)", PercentText(head->share_of_step)) : "";
    const std::string idle = Us(PerStep(head->exposed_sum, head->spread.count));
    if (steps_.empty()) {
      Say("{}: {} calls of graphs, p50 of the head {} us; for each call the head takes {} us{} and"
          " the device is idle for {} us of it",
          rank, head->spread.count, Us(head->spread.p50), time, share, idle);
    } else {
      Say("{}: {} calls of graphs, p50 of the head {} us; for each step the head takes {} us{} and"
          " the device is idle for {} us of it",
          rank, head->spread.count, Us(head->spread.p50), time, share, idle);
    }
    Shares(head->spread.count);
    Compilations();
    First();
  }

  void Tell(std::string_view policy) {
    Summary();
    Notes();
    Graphs();
    Header(policy);
    Advice();
    Children();
  }

 private:
  template <typename... Args>
  void Say(fmt::format_string<Args...> format, Args&&... args) {
    lines_.Add(mpa::Say(format, std::forward<Args>(args)...));
  }

  // Of the calls of the shown phase.
  const SummaryRow* Find(Measure measure) const {
    return FindRow(part_.summary, part_.phase, measure);
  }

  // For each step, or without steps for each call.
  MaybeNs PerStep(MaybeNs sum, std::int64_t calls) const {
    const auto parts = steps_.empty() ? calls : static_cast<std::int64_t>(steps_.size());
    return sum && parts > 0 ? MaybeNs(*sum / parts) : std::nullopt;
  }

  // The rule that can gain most, with what it can in all graphs.
  void First() {
    if (part_.advice.empty()) return;
    AdviceRow first = part_.advice.front();
    std::size_t graphs = 1;
    for (std::size_t i = 1; i < part_.advice.size(); ++i) {
      const AdviceRow& row = part_.advice[i];
      if (row.rule != first.rule || !row.gain) continue;
      ++graphs;
      first.gain = first.gain.value_or(0) + *row.gain;
      if (first.exposed_per_step) *first.exposed_per_step += row.exposed_per_step.value_or(0);
    }
    Say("  first: {}{}{}: {}", Translated(first.owner), GainText(first),
        graphs > 1 ? mpa::Say(" with {} graphs", graphs) : "", first.text);
  }

  // The share of each owner, in the order of the parts; only the advice is ordered by gain.
  void Shares(std::int64_t calls) {
    std::vector<std::string> shares;
    for (const Measure part : kParts) {
      const SummaryRow* row = Find(part);
      if (row == nullptr) continue;
      shares.push_back(fmt::format(
          "{} {}{}", Translated(InfoOf(part).title), Us(PerStep(row->spread.sum, calls)),
          row->exposed_sum ? fmt::format(" ({})", Us(PerStep(row->exposed_sum, calls))) : ""));
    }
    if (steps_.empty())
      Say("  us for each call (device idle): {}", fmt::join(shares, ", "));
    else
      Say("  us for each step (device idle): {}", fmt::join(shares, ", "));
  }

  // What the numbers of steady calls leave out.
  void Compilations() {
    if (part_.phase == Phase::kCompile) return;
    if (const SummaryRow* found = FindRow(part_.summary, Phase::kCompile, Measure::kCompile)) {
      const SummaryRow& row = *found;
      const std::string idle =
          row.exposed_sum
              ? mpa::Say(", the device is idle for {:.1f} ms of it", InMs(*row.exposed_sum))
              : "";
      if (row.spread.count == 1) {
        Say("  not in these numbers: 1 call that compiles or loads a graph, {:.1f} ms{}",
            InMs(row.spread.sum), idle);
      } else {
        Say("  not in these numbers: {} calls that compile or load a graph, {:.1f} ms{}",
            row.spread.count, InMs(row.spread.sum), idle);
      }
    }
  }

  void Header(std::string_view policy) {
    std::map<std::string_view, std::int64_t> engines;
    std::int64_t steady = 0, compile = 0;
    for (const Call& call : part_.calls) {
      ++engines[NameOf(call.engine)];
      if (call.KnowsHead()) ++(call.phase == Phase::kSteady ? steady : compile);
    }
    std::vector<std::string> mix;
    mix.reserve(engines.size());
    for (const auto& [engine, count] : engines) mix.push_back(fmt::format("{} {}", engine, count));
    Say("  {}; engines: {}; calls: {} steady, {} compile; steps: {}; policy: {}; shown: {} calls",
        CaptureText(part_.facts), fmt::join(mix, ", "), steady, compile, part_.facts.steps, policy,
        Translated(NameOf(part_.phase)));
  }

  void Summary() {
    const SummaryRow* head = Find(Measure::kHead);
    if (head == nullptr) return;
    const ScreenList list(2,
                          {ScreenText("us", 23), ScreenNumber("mean", 8), ScreenNumber("p50", 8),
                           ScreenNumber("p90", 8), ScreenNumber("max", 8), ScreenRatio("share", 8),
                           ScreenNumber(steps_.empty() ? "idle/call" : "idle/step", 9)});
    lines_.Add(list.Heading());
    const auto line = [&](Measure measure, std::string_view title) {
      const SummaryRow* row = Find(measure);
      if (row == nullptr) return;
      const CallSpread& spread = row->spread;
      lines_.Add(list.Line(Translated(title), Us(spread.mean), Us(spread.p50), Us(spread.p90),
                           Us(spread.max), row->share,
                           Us(PerStep(row->exposed_sum, head->spread.count))));
    };
    for (const Measure part : kParts) {
      line(part, InfoOf(part).title);
      if (part == Measure::kPlatform) line(Measure::kPlatformWait, "  of it waiting");
      if (part == Measure::kServing) line(Measure::kServingWait, "  of it waiting");
      if (part == Measure::kDynamo) line(Measure::kLookup, "  of it lookup");
      if (part == Measure::kGe) {
        line(Measure::kGeExec, "  of it GE");
        line(Measure::kEpilogueCpp, "  of it epilogue C++");
        line(Measure::kEpiloguePy, "  of it epilogue python");
      }
    }
    line(Measure::kHead, "head");
    line(Measure::kFirstKernelLatency, "graph to first kernel");
  }

  void Graphs() {
    struct Graph {
      const SummaryRow* row;
      TimeNs sum;
    };
    std::vector<Graph> graphs;
    for (const SummaryRow& row : part_.summary) {
      if (row.scope == "all" || row.phase != part_.phase || row.measure != Measure::kHead) continue;
      graphs.push_back({&row, row.spread.sum});
    }
    if (graphs.empty()) return;
    StableSort(graphs, std::greater(), &Graph::sum);
    const ScreenList list(
        2, {ScreenName("graph", 24), ScreenNumber("calls", 7), ScreenNumber("/step", 8, 1),
            ScreenNumber("p50 us", 8), ScreenNumber("p90 us", 9), ScreenRatio("of head", 8),
            ScreenNumber("idle us", 8)});
    lines_.Add(list.Heading());
    for (std::size_t i = 0; i < std::min(kMaxGraphs, graphs.size()); ++i) {
      const SummaryRow& row = *graphs[i].row;
      const auto count = static_cast<double>(row.spread.count);
      lines_.Add(
          list.Line(row.scope, row.spread.count,
                    steps_.empty() ? Cell() : Cell(count / static_cast<double>(steps_.size())),
                    Us(row.spread.p50), Us(row.spread.p90), ShareOfAll(row), Us(row.exposed_sum)));
    }
    if (graphs.size() > kMaxGraphs) Say("  ... {} more graphs", graphs.size() - kMaxGraphs);
  }

  std::optional<double> ShareOfAll(const SummaryRow& row) const {
    const SummaryRow* all = Find(Measure::kHead);
    if (all == nullptr || all->spread.sum == 0) return std::nullopt;
    return static_cast<double>(row.spread.sum) / static_cast<double>(all->spread.sum);
  }

  // The longest of each segment on one line; "unattributed" is time without an event.
  void Children() {
    constexpr std::size_t kMax = 4;
    std::map<Measure, std::vector<std::string>> longest;
    for (const ChildRow& row : part_.children) {
      if (row.scope != "all" || row.total == 0 || row.kind.starts_with("of_which")) continue;
      std::vector<std::string>& texts = longest[row.part];
      if (texts.size() == kMax) continue;
      texts.push_back(
          fmt::format("{}{} {}{}", row.kind == kUnattributed ? Translated("unattributed ") : "",
                      row.name, Us(row.total / row.calls),
                      row.count > row.calls ? fmt::format(" (n {})", row.count / row.calls) : ""));
    }
    for (const auto& [part, texts] : longest) {
      Say("  in {:<13} us/call: {}", NameOf(part), fmt::join(texts, ", "));
    }
  }

  void Advice() {
    for (std::size_t i = 0; i < std::min(kMaxAdvice, part_.advice.size()); ++i) {
      const AdviceRow& row = part_.advice[i];
      Say("  [{}] {}: {} ({}{}): {}", Translated(NameOf(row.severity)), Words(row.rule), row.scope,
          Counted(row.calls, "call"), GainText(row), row.text);
      Say("      ask: {}", Translated(row.owner));
    }
    if (part_.advice.size() > kMaxAdvice) {
      Say("  ... {} more in HEAD_ADVICE", part_.advice.size() - kMaxAdvice);
    }
  }

  // "non_contiguous_inputs" for people, where it is of words that they read.
  static std::string Words(std::string_view rule) {
    std::string words(rule);
    if (CurrentLanguage() != Language::kEnglish) return words;
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
  }

  void Notes() {
    for (const FlagInfo& info : kFlags) {
      const auto count =
          std::ranges::count_if(part_.calls, [&](const Call& call) { return call.Has(info.flag); });
      if (count > 0) Say("  {}: {}", Counted(count, "call"), Translated(info.meaning));
    }
    const auto guessed = std::ranges::count_if(
        part_.calls, [](const Call& call) { return call.kernel_source == KernelSource::kTime; });
    if (guessed > 0) {
      Say("  {} first kernels were guessed by time alone", guessed);
    }
    const bool has_ge =
        std::ranges::any_of(part_.calls, [](const Call& call) { return !call.Replays(); });
    if (has_ge && !part_.facts.has_ge_api)
      Say("  InferShape/Tiling not collected; msprof needs --ge-api");
    if (part_.facts.crossings > 0) {
      Say("  {} framework events end after the event in which they begin; they do not count as part"
          " of it",
          part_.facts.crossings);
    }
    if (part_.facts.too_deep > 0) {
      Say("  {} framework events nested in more than {} others, which no program does, were left"
          " out",
          part_.facts.too_deep, HostForest::kMaxLevels);
    }
    if (!part_.advice.empty()) Say("  thresholds of the advice are proposals, see --thresholds");
  }

  const HeadPart& part_;
  BoundedLines& lines_;
  std::set<std::pair<std::int32_t, std::int32_t>> steps_;  // with shown calls, by thread
};

}  // namespace

ScreenLines HeadScreen(const HeadPart& part, std::string_view rank, std::string_view policy,
                       std::size_t room, const ScreenLines& spread) {
  BoundedLines lines(room - 1);
  HeadText text(part, lines);
  if (part.calls.empty()) {
    SayThatThereIsNone(rank, part.facts, lines);
  } else {
    text.Answer(rank);
  }
  for (const ScreenLine& line : spread) lines.Add(line);
  if (!part.calls.empty()) text.Tell(policy);
  return lines.Take();
}

}  // namespace mpa::head
