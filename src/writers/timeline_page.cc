// SPDX-License-Identifier: Apache-2.0
// A timeline as a page of HTML that needs nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "markup_text.h"
#include "mpa/base/time.h"
#include "mpa/report/amount.h"
#include "mpa/writers/pages.h"

namespace mpa {
namespace {

using writers::EscapedHtml;

// Pixels.
constexpr double kLeft = 150, kWidth = 1000, kRight = 20;
constexpr double kTop = 46, kLaneHeight = 30, kBarHeight = 22;
constexpr double kLetter = 6.6;

// Lanes of bars over a time axis, as an SVG element.
class Drawing {
 public:
  explicit Drawing(const Timeline& timeline) : timeline_(timeline) {
    for (const TimelineLane& lane : timeline.lanes) {
      BeginLane(lane.title);
      for (const TimelineSpan& span : lane.spans) AddBar(span);
    }
    for (const TimelineMark& mark : timeline.marks) AddMark(mark);
  }

  // Never smaller than its texts can be read: a narrow window scrolls it.
  std::string Svg() const {
    const double height = kTop + kLaneHeight * lanes_ + 26;
    return fmt::format(
               "<div style=\"overflow-x:auto\">\n"
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
               "style=\"min-width:{0:.0f}px\" font-family=\"sans-serif\" font-size=\"12\" "
               "role=\"img\">\n",
               kLeft + kWidth + kRight, height) +
           Axis() + body_ + marks_ + "</svg>\n</div>\n";
  }

 private:
  double X(TimeNs time) const {
    const auto length = static_cast<double>(std::max<TimeNs>(timeline_.end - timeline_.begin, 1));
    return kLeft + kWidth * static_cast<double>(time - timeline_.begin) / length;
  }

  void BeginLane(std::string_view title) {
    ++lanes_;
    body_ +=
        fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8,
                    kTop + kLaneHeight * lanes_ - kLaneHeight + 16, EscapedHtml(title));
  }

  std::string HintOf(const TimelineSpan& span) const {
    return fmt::format("{}: {} us, from {} to {} us", span.name, UsText(span.end - span.begin),
                       UsText(span.begin - timeline_.begin), UsText(span.end - timeline_.begin));
  }

  // Cut to the window, left out when it lies beyond.
  void AddBar(const TimelineSpan& span) {
    const TimeNs begin = std::max(span.begin, timeline_.begin);
    const TimeNs end = std::min(span.end, timeline_.end);
    if (end <= begin) return;
    const double x = X(begin);
    const double width = std::max(X(end) - x, 0.7);
    const double y = kTop + kLaneHeight * (lanes_ - 1);
    body_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\">"
        "<title>{}</title></rect>\n",
        x, y, width, kBarHeight, EscapedHtml(timeline_.kinds[span.kind].colour),
        EscapedHtml(HintOf(span)));
    if (static_cast<double>(span.label.size()) * kLetter < width - 4) {
      body_ += fmt::format(
          "<text x=\"{:.2f}\" y=\"{:.0f}\" text-anchor=\"middle\" "
          "pointer-events=\"none\">{}</text>\n",
          x + width / 2, y + 15, EscapedHtml(span.label));
    }
  }

  // A line through all lanes; dashed where the time is a guess.
  void AddMark(const TimelineMark& mark) {
    if (mark.time < timeline_.begin || mark.time > timeline_.end) return;
    const bool near_end = X(mark.time) > kLeft + kWidth * 0.8;
    marks_ += fmt::format(
        "<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.0f}\" y2=\"{2:.0f}\" stroke=\"#b00020\" "
        "stroke-width=\"1.5\"{7}/><text x=\"{3:.2f}\" y=\"{4:.0f}\" fill=\"#b00020\" "
        "text-anchor=\"{5}\">{6}</text>\n",
        X(mark.time), kTop - 6, kTop + kLaneHeight * lanes_, X(mark.time) + (near_end ? -4 : 4),
        kTop - 10, near_end ? "end" : "start", EscapedHtml(mark.label),
        mark.is_guess ? " stroke-dasharray=\"5 4\"" : "");
  }

  // A tick every 1, 2 or 5 times a power of ten, at most ten of them.
  std::string Axis() const {
    const TimeNs length = timeline_.end - timeline_.begin;
    TimeNs step = 1;
    for (int i = 0; length / step > 10; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    const double bottom = kTop + kLaneHeight * lanes_;
    std::string axis;
    for (TimeNs at = 0; at <= length; at += step) {
      axis += fmt::format(
          "<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.0f}\" y2=\"{2:.0f}\" stroke=\"#ddd\"/>"
          "<text x=\"{0:.2f}\" y=\"{3:.0f}\" text-anchor=\"middle\" fill=\"#555\">{4:g}</text>\n",
          X(timeline_.begin + at), kTop, bottom, bottom + 16, InUs(at));
    }
    return axis + fmt::format(
                      "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\" "
                      "fill=\"#555\">us</text>\n",
                      kLeft - 8, bottom + 16);
  }

  const Timeline& timeline_;
  int lanes_ = 0;
  std::string body_, marks_;
};

// What the colours mean that the table does not tell.
std::string LegendOf(const Timeline& timeline) {
  std::string legend = "<p>";
  for (const TimelineKind& kind : timeline.kinds) {
    if (!kind.cells.empty()) continue;
    legend += fmt::format("<span class=\"key\"><i style=\"background:{}\"></i>{}</span> ",
                          EscapedHtml(kind.colour), EscapedHtml(kind.meaning));
  }
  return legend + "the colours of the parts are in the table</p>\n";
}

std::string TableOf(const Timeline& timeline) {
  std::string table = "<table>\n<tr>";
  for (const std::string& header : timeline.headers) {
    table += fmt::format("<th>{}</th>", EscapedHtml(header));
  }
  table += "</tr>\n";
  for (const TimelineKind& kind : timeline.kinds) {
    if (kind.cells.empty()) continue;
    table += fmt::format("<tr><td><i style=\"background:{}\"></i>{}</td>", EscapedHtml(kind.colour),
                         EscapedHtml(kind.meaning));
    for (const std::string& cell : kind.cells)
      table += fmt::format("<td>{}</td>", EscapedHtml(cell));
    table += "</tr>\n";
  }
  return table + "</table>\n";
}

}  // namespace

std::string FormatPage(const Timeline& timeline) {
  constexpr std::string_view kStyle =
      "body{font:14px sans-serif;margin:1.5em;color:#222;background:#fff}"
      "table{border-collapse:collapse;margin:1em 0}td,th{padding:2px 10px;text-align:right}"
      "td:first-child,th:first-child,td:last-child,th:last-child{text-align:left}"
      "i{display:inline-block;width:1em;height:1em;margin-right:.5em;vertical-align:-2px}"
      ".key{white-space:nowrap;margin-right:1em}";
  const std::string body = fmt::format(
      "<h1>{}</h1>\n<p>{}</p>\n{}{}{}", EscapedHtml(timeline.title), EscapedHtml(timeline.text),
      Drawing(timeline).Svg(), LegendOf(timeline), TableOf(timeline));
  return writers::HtmlDocument("en", timeline.title, kStyle, body);
}

}  // namespace mpa
