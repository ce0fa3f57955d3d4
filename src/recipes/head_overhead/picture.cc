// SPDX-License-Identifier: Apache-2.0
// One call of a graph as a picture.
#include "picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "parts.h"
#include "segments.h"
#include "svg.h"

namespace mpa::head {
namespace {

constexpr std::string_view kColours[kSegments] = {"#f4a261", "#e9c46a", "#8ecae6", "#219ebc",
                                                  "#90be6d"};
constexpr std::string_view kBusyColour = "#555e68";
constexpr std::string_view kKernelColour = "#8d99ae";
constexpr std::string_view kEventColour = "#cfd8dc";
constexpr std::string_view kRuntimeColour = "#d8c9e8";
constexpr std::string_view kMarkColour = "#b00020";
constexpr std::size_t kMostBars = 3000;   // of a lane: more are no picture
constexpr std::size_t kMostStreams = 12;  // likewise

std::string Hint(std::string_view name, const Interval& time, TimeNs origin) {
  return fmt::format("{}: {} us, from {} to {} us", name, UsText(time.end - time.begin),
                     UsText(time.begin - origin), UsText(time.end - origin));
}

class Picture {
 public:
  Picture(const RankTrace& trace, const HeadAnalysis& analysis, std::size_t number)
      : trace_(trace),
        a_(analysis),
        number_(number),
        call_(analysis.calls[number]),
        window_(Window()),
        chart_(window_) {}

  std::string Page() {
    AddSegments();
    AddEvents();
    AddRuntime();
    AddDevice();
    if (call_.first_kernel) {
      chart_.Mark(*call_.first_kernel, Guessed() ? "first kernel (a guess)" : "first kernel",
                  Guessed());
    }
    const std::string title =
        fmt::format("Call {} of {}{}", number_, a_.graphs[call_.graph],
                    trace_.rank >= 0 ? fmt::format(", rank {}", trace_.rank) : "");
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n<title>{0}</title>\n"
        "<style>body{{font:14px sans-serif;margin:1.5em;color:#222;background:#fff}}"
        "table{{border-collapse:collapse;margin:1em 0}}td,th{{padding:2px 10px;text-align:right}}"
        "td:first-child,th:first-child,td:last-child,th:last-child{{text-align:left}}"
        "i{{display:inline-block;width:1em;height:1em;margin-right:.5em;vertical-align:-2px}}"
        ".key{{white-space:nowrap;margin-right:1em}}"
        "</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p>{1}</p>\n{2}{3}{4}</body>\n</html>\n",
        Escaped(title), Escaped(Sentence()), chart_.Svg(), Legend(), Table());
  }

 private:
  Interval Window() const {
    const TimeNs end = std::max(call_.t4, call_.first_kernel.value_or(call_.t4));
    return {call_.w0, end + std::max<TimeNs>((end - call_.w0) / 20, 1)};
  }

  bool Guessed() const { return call_.kernel_source == KernelSource::kTime; }

  std::string Sentence() const {
    std::string text = trace_.capture.empty() ? "" : fmt::format("Capture {}. ", trace_.capture);
    text += fmt::format("{}, {}, thread {}", NameOf(call_.engine), NameOf(call_.phase), call_.tid);
    if (call_.step >= 0) text += fmt::format(", step {}", call_.step);
    text += fmt::format(": the head takes {} us", UsText(call_.Head()));
    if (call_.idle) {
      text += fmt::format("; the device is idle for {} us before its first kernel",
                          UsText(*call_.idle));
    }
    text += '.';
    if (Guessed()) {
      text +=
          " Which kernel is its first is a guess by time alone, and so is how long the device "
          "waits for it.";
    }
    for (int bit = 0; bit < kFlags; ++bit) {
      const auto flag = static_cast<Flag>(1u << bit);
      if (call_.Has(flag)) text += fmt::format(" Note: {}.", MeaningOf(flag));
    }
    return text;
  }

  void AddSegments() {
    chart_.Lane("who has the time");
    for (const Segment segment : kAllSegments) {
      if (const auto span = SpanOf(call_, segment)) {
        const std::string_view title = PartOf(call_, segment).title;
        chart_.Bar(*span, kColours[Index(segment)], title, Hint(title, *span, call_.w0));
      }
    }
  }

  // The framework's events, a lane for each of the outer levels of nesting.
  void AddEvents() {
    constexpr std::size_t kLevels = 4;
    const std::int64_t first = a_.forest.FirstFrom(call_.track, call_.w0);
    std::vector<std::vector<std::int64_t>> levels(kLevels);
    std::vector<std::int64_t> open;
    for (std::int64_t at = first; at < a_.forest.EndOf(call_.track); ++at) {
      const HostNode& node = a_.forest.At(at);
      if (node.start >= call_.t4) break;
      while (!open.empty() && a_.forest.At(open.back()).subtree_end <= at) open.pop_back();
      if (open.size() < kLevels && levels[open.size()].size() < kMostBars) {
        levels[open.size()].push_back(at);
      }
      open.push_back(at);
    }
    for (std::size_t level = 0; level < kLevels; ++level) {
      if (levels[level].empty()) continue;
      chart_.Lane(level == 0 ? "framework" : "");
      for (const std::int64_t at : levels[level]) {
        const HostNode& node = a_.forest.At(at);
        const std::string_view name = trace_.strings.View(node.name);
        chart_.Bar({node.start, node.end}, kEventColour, name,
                   Hint(name, {node.start, node.end}, call_.w0));
      }
    }
  }

  void AddRuntime() {
    const auto rows = a_.runtime.Starting(call_.track, call_.w0, window_.end);
    if (rows.empty()) return;
    chart_.Lane("CANN");
    std::size_t bars = 0;
    ForEachOutermost(a_.runtime, rows, [&](std::size_t row) {
      if (++bars > kMostBars) return;
      const std::string_view name = trace_.strings.View(a_.runtime.Table().name[row]);
      const Interval time{a_.runtime.Start(row), a_.runtime.End(row)};
      chart_.Bar(time, kRuntimeColour, name, Hint(name, time, call_.w0));
    });
  }

  void AddDevice() {
    const DeviceTimeline* device = a_.devices.Of(call_.pid);
    if (device == nullptr) return;
    const Intervals busy = Intersection(device->Busy(), {window_});
    chart_.Lane("device busy");
    for (std::size_t i = 0; i < std::min(busy.size(), kMostBars); ++i) {
      chart_.Bar(busy[i], kBusyColour, "", Hint("busy", busy[i], call_.w0));
    }
    AddStreams(*device);
    if (!call_.first_kernel) return;
    chart_.Lane(Guessed() ? "waits for (guess)" : "device waits for");
    for (const Segment segment : kAllSegments) {
      const auto span = SpanOf(call_, segment);
      const std::string_view title = PartOf(call_, segment).title;
      if (!span) continue;
      const Interval until{span->begin, std::min(span->end, *call_.first_kernel)};
      if (until.end <= until.begin) continue;
      for (const Interval& idle : Difference({until}, busy)) {
        chart_.Bar(idle, kColours[Index(segment)], title,
                   Hint(fmt::format("idle, {}", title), idle, call_.w0));
      }
    }
  }

  // What each stream runs; collectives, which take several, have a lane of their own.
  void AddStreams(const DeviceTimeline& device) {
    constexpr std::int64_t kCommunication = std::numeric_limits<std::int64_t>::max();
    std::map<std::int64_t, std::vector<const DeviceTimeline::Run*>> streams;
    for (const DeviceTimeline::Run& run : device.Runs()) {
      if (run.start >= window_.end) break;
      if (run.end > window_.begin) {
        streams[run.is_collective ? kCommunication : run.stream].push_back(&run);
      }
    }
    std::size_t lanes = 0;
    for (const auto& [stream, runs] : streams) {
      if (++lanes > kMostStreams) {
        chart_.Lane(fmt::format("{} more streams", streams.size() - kMostStreams));
        return;
      }
      chart_.Lane(stream == kCommunication ? "communication"
                  : stream >= 0            ? fmt::format("stream {}", stream)
                                           : "stream unknown");
      for (std::size_t i = 0; i < std::min(runs.size(), kMostBars); ++i) {
        const std::string_view name = trace_.strings.View(runs[i]->name);
        const Interval time{runs[i]->start, runs[i]->end};
        chart_.Bar(time, kKernelColour, name, Hint(name, time, call_.w0));
      }
    }
  }

  // What the colours mean that the table of the parts does not tell.
  std::string Legend() const {
    std::string legend = "<p>";
    const auto entry = [&](std::string_view colour, std::string_view meaning) {
      legend += fmt::format("<span class=\"key\"><i style=\"background:{}\"></i>{}</span> ", colour,
                            meaning);
    };
    entry(kEventColour, "event of the framework");
    entry(kRuntimeColour, "call of CANN");
    entry(kBusyColour, "the device works, on any stream");
    entry(kKernelColour, "kernel of a stream, or a collective");
    entry(kMarkColour, Guessed() ? "start of the first kernel, dashed: a guess by time alone"
                                 : "start of the first kernel");
    return legend + "the colours of the parts are in the table</p>\n";
  }

  std::string Table() const {
    std::string rows;
    for (const Segment segment : kAllSegments) {
      const Part& part = PartOf(call_, segment);
      const auto cell = [](MaybeNs time) { return time ? UsText(*time) : std::string("-"); };
      rows += fmt::format(
          "<tr><td><i style=\"background:{}\"></i>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
          kColours[Index(segment)], part.title, cell(call_.Of(segment)),
          cell(call_.ExposedOf(segment)), part.owner);
    }
    return "<table>\n<tr><th>part</th><th>us</th><th>device idle, us</th><th>owner</th></tr>\n" +
           rows + "</table>\n";
  }

  const RankTrace& trace_;
  const HeadAnalysis& a_;
  std::size_t number_;
  const Call& call_;
  Interval window_;
  TimeChart chart_;
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

std::string PictureOf(const RankTrace& trace, const HeadAnalysis& analysis, std::size_t call) {
  return analysis.calls[call].KnowsHead() ? Picture(trace, analysis, call).Page() : std::string();
}

}  // namespace mpa::head
