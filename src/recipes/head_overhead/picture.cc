// SPDX-License-Identifier: Apache-2.0
// One call of a graph as a picture.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "call.h"
#include "head_part.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/report/amount.h"

namespace mpa::head {
namespace {

// What a span is; those before are the parts of the head.
enum SpanKind : std::size_t { kEvent = kPartsOfCall, kRuntime, kBusy, kKernel, kMark };

constexpr std::string_view kColours[] = {
    "var(--t1)", "var(--t6)", "var(--t4)",      "var(--t3)",      "var(--t2)",   "var(--t7)",
    "var(--t5)", "var(--t0)", "var(--compute)", "var(--compute)", "var(--worse)"};
constexpr std::size_t kMaxBars = 3000;   // of a lane: more cannot be seen
constexpr std::size_t kMaxStreams = 12;  // likewise

class Picture {
 public:
  Picture(const HeadAnalysis& analysis, std::size_t number)
      : trace_(analysis.trace),
        a_(analysis),
        number_(number),
        call_(analysis.calls[number]),
        window_(Window()) {}

  Timeline Draw() {
    picture_.title = trace_.rank >= 0 ? Say("Call {} of {}, rank {}", number_, call_.graph,
                                            RankName(trace_.rank))
                                      : Say("Call {} of {}", number_, call_.graph);
    picture_.text = Sentence();
    picture_.begin = window_.begin;
    picture_.end = window_.end;
    AddKinds();
    AddParts();
    AddEvents();
    AddRuntime();
    AddDevice();
    if (call_.first_kernel) {
      picture_.marks.push_back(
          {*call_.first_kernel,
           std::string(Translated(Guessed() ? "first kernel (a guess)" : "first kernel")),
           Guessed()});
    }
    return std::move(picture_);
  }

 private:
  Interval Window() const {
    const TimeNs end = std::max(call_.end, call_.first_kernel.value_or(call_.end));
    return {call_.frontend_begin, end + std::max<TimeNs>((end - call_.frontend_begin) / 20, 1)};
  }

  bool Guessed() const { return call_.kernel_source == KernelSource::kTime; }

  std::string Sentence() const {
    std::string text = trace_.capture.empty() ? "" : Say("Capture {}. ", trace_.capture);
    text +=
        Say("{}, {}, thread {}", NameOf(call_.engine), Translated(NameOf(call_.phase)), call_.tid);
    if (call_.step >= 0) text += Say(", step {}", call_.step);
    text += Say(": the head takes {} us", UsText(call_.Head()));
    if (const MaybeNs idle = call_.IdleOf(Measure::kHead)) {
      text += Say("; the device is idle for {} us before its first kernel", UsText(*idle));
    }
    text += Say(".");
    if (Guessed()) {
      text += Say(
          " The first kernel, and so how long the device waits for it, is guessed by time alone.");
    }
    for (const FlagInfo& info : kFlags) {
      if (call_.Has(info.flag)) text += Say(" Note: {}.", Translated(info.meaning));
    }
    return text;
  }

  void AddParts() {
    picture_.Lane(Say("who has the time"));
    for (std::size_t kind = 0; kind < kPartsOfCall; ++kind) {
      const Measure part = call_.Parts()[kind];
      const auto spans = SpansOf(a_, call_, part);
      if (!spans) continue;
      for (const Interval& span : *spans) Add(span, kind, Translated(InfoOf(part).title));
    }
  }

  // The framework's events, a lane for each of the outer levels of nesting.
  void AddEvents() {
    constexpr std::size_t kLevels = 4;
    const std::int64_t first = a_.forest.FirstFrom(call_.track, call_.frontend_begin);
    std::vector<std::vector<std::int64_t>> levels(kLevels);
    std::vector<std::int64_t> open;
    for (std::int64_t at = first; at < a_.forest.EndOf(call_.track); ++at) {
      const HostNode& node = a_.forest.At(at);
      if (node.start >= call_.end) break;
      while (!open.empty() && a_.forest.At(open.back()).subtree_end <= at) open.pop_back();
      if (open.size() < kLevels && levels[open.size()].size() < kMaxBars) {
        levels[open.size()].push_back(at);
      }
      open.push_back(at);
    }
    for (std::size_t level = 0; level < kLevels; ++level) {
      if (levels[level].empty()) continue;
      picture_.Lane(level == 0 ? Say("framework") : "");
      for (const std::int64_t at : levels[level]) {
        const HostNode& node = a_.forest.At(at);
        Add({node.start, node.end}, kEvent, trace_.strings.View(node.name));
      }
    }
  }

  void AddRuntime() {
    const auto rows = a_.runtime.Starting(call_.track, {call_.frontend_begin, window_.end});
    if (rows.empty()) return;
    picture_.Lane("CANN");
    std::size_t bars = 0;
    ForEachOutermost(a_.runtime, rows, [&](std::size_t row) {
      if (++bars > kMaxBars) return;
      Add(a_.runtime.Span(row), kRuntime, trace_.strings.View(a_.runtime.Table().name[row]));
    });
  }

  void AddDevice() {
    const DeviceTimeline* device = a_.devices.Of(call_.pid);
    if (device == nullptr) return;
    const Intervals busy = Intersection(device->Busy(), {window_});
    picture_.Lane(Say("device busy"));
    for (std::size_t i = 0; i < std::min(busy.size(), kMaxBars); ++i) {
      picture_.Add({busy[i].begin, busy[i].end, kBusy, Say("busy"), ""});
    }
    AddStreams(*device);
    if (!call_.first_kernel) return;
    picture_.Lane(std::string(Translated(Guessed() ? "waits for (guess)" : "device waits for")));
    for (std::size_t kind = 0; kind < kPartsOfCall; ++kind) {
      const Measure part = call_.Parts()[kind];
      const auto spans = SpansOf(a_, call_, part);
      const std::string_view title = Translated(InfoOf(part).title);
      if (!spans) continue;
      const Intervals before = Intersection(
          *spans, {{std::min(call_.frontend_begin, *call_.first_kernel), *call_.first_kernel}});
      for (const Interval& idle : Difference(before, busy)) {
        picture_.Add({idle.begin, idle.end, kind, Say("idle, {}", title), std::string(title)});
      }
    }
  }

  // What each stream runs; collectives, which take several, have a lane of their own.
  void AddStreams(const DeviceTimeline& device) {
    constexpr std::int64_t kCommunication = std::numeric_limits<std::int64_t>::max();
    std::map<std::int64_t, std::vector<const DeviceTimeline::Run*>> streams;
    for (const DeviceTimeline::Run& run : device.Runs()) {
      if (run.start >= window_.end) break;
      if (run.End() > window_.begin) {
        streams[run.is_collective ? kCommunication : run.stream].push_back(&run);
      }
    }
    std::size_t lanes = 0;
    for (const auto& [stream, runs] : streams) {
      if (++lanes > kMaxStreams) {
        picture_.Lane(Say("{} more streams", streams.size() - kMaxStreams));
        return;
      }
      picture_.Lane(stream == kCommunication ? Say("communication")
                    : stream >= 0            ? Say("stream {}", stream)
                                             : Say("stream unknown"));
      for (std::size_t i = 0; i < std::min(runs.size(), kMaxBars); ++i) {
        Add({runs[i]->start, runs[i]->End()}, kKernel, trace_.strings.View(runs[i]->name));
      }
    }
  }

  void AddKind(std::size_t kind, std::string_view meaning, std::vector<std::string> cells = {}) {
    picture_.kinds.push_back(
        {std::string(kColours[kind]), std::string(Translated(meaning)), std::move(cells)});
  }

  // Parts are in the table with their times, the others in the legend.
  void AddKinds() {
    picture_.headers = {Say("part"), "us", Say("device idle, us"), Say("owner")};
    const auto cell = [](MaybeNs time) { return time ? UsText(*time) : std::string("-"); };
    for (std::size_t kind = 0; kind < kPartsOfCall; ++kind) {
      const Measure part = call_.Parts()[kind];
      AddKind(kind, InfoOf(part).title,
              {cell(call_.Of(part)), cell(call_.IdleOf(part)),
               std::string(Translated(InfoOf(part).owner))});
    }
    AddKind(kEvent, "event of the framework");
    AddKind(kRuntime, "call of CANN");
    AddKind(kBusy, "the device works, on any stream");
    AddKind(kKernel, "kernel of a stream, or a collective");
    AddKind(kMark, Translated(Guessed() ? "start of the first kernel, dashed: a guess by time alone"
                                        : "start of the first kernel"));
  }

  void Add(const Interval& time, std::size_t kind, std::string_view label) {
    if (time.end <= time.begin) return;
    picture_.Add({time.begin, time.end, kind, std::string(label), std::string(label)});
  }

  const RankTrace& trace_;
  const HeadAnalysis& a_;
  std::size_t number_;
  const Call& call_;
  Interval window_;
  Timeline picture_;
};

}  // namespace

std::optional<std::size_t> CallToPicture(const std::vector<Call>& calls,
                                         const std::vector<Scope>& scopes, Phase phase) {
  std::optional<std::size_t> chosen;
  TimeNs most = -1;
  for (std::size_t scope = 1; scope < scopes.size(); ++scope) {
    TimeNs sum = 0;
    std::optional<std::size_t> largest;
    for (const std::size_t i : scopes[scope].calls) {
      if (calls[i].phase != phase) continue;
      sum += calls[i].Head();
      if (!largest || calls[i].Head() > calls[*largest].Head()) largest = i;
    }
    if (!largest || sum <= most) continue;
    most = sum;
    chosen = largest;
  }
  return chosen;
}

std::optional<Timeline> PictureOf(const HeadAnalysis& analysis, std::size_t call) {
  if (!analysis.calls[call].KnowsHead()) return std::nullopt;
  return Picture(analysis, call).Draw();
}

}  // namespace mpa::head
