// SPDX-License-Identifier: Apache-2.0
#include "svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/base/printable.h"

namespace mpa::head {
namespace {

// Pixels.
constexpr double kLeft = 150, kWidth = 1000, kRight = 20;
constexpr double kTop = 46, kLaneHeight = 30, kBarHeight = 22;
constexpr double kLetter = 6.6;

}  // namespace

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string UsText(TimeNs time) { return fmt::format("{:.1f}", static_cast<double>(time) / 1e3); }

double TimeChart::X(TimeNs time) const {
  const auto length = static_cast<double>(std::max<TimeNs>(window_.end - window_.begin, 1));
  return kLeft + kWidth * static_cast<double>(time - window_.begin) / length;
}

void TimeChart::Lane(std::string_view title) {
  ++lanes_;
  body_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8,
                       kTop + kLaneHeight * lanes_ - kLaneHeight + 16, Escaped(title));
}

void TimeChart::Bar(const Interval& time, std::string_view colour, std::string_view label,
                    std::string_view hint) {
  const TimeNs begin = std::max(time.begin, window_.begin);
  const TimeNs end = std::min(time.end, window_.end);
  if (end <= begin) return;
  const double x = X(begin);
  const double width = std::max(X(end) - x, 0.7);
  const double y = kTop + kLaneHeight * (lanes_ - 1);
  body_ += fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\">"
      "<title>{}</title></rect>\n",
      x, y, width, kBarHeight, colour, Escaped(hint));
  if (static_cast<double>(label.size()) * kLetter < width - 4) {
    body_ += fmt::format(
        "<text x=\"{:.2f}\" y=\"{:.0f}\" text-anchor=\"middle\" "
        "pointer-events=\"none\">{}</text>\n",
        x + width / 2, y + 15, Escaped(label));
  }
}

void TimeChart::Mark(TimeNs time, std::string_view label, bool is_guess) {
  if (time < window_.begin || time > window_.end) return;
  const bool near_end = X(time) > kLeft + kWidth * 0.8;
  marks_ += fmt::format(
      "<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.0f}\" y2=\"{2:.0f}\" stroke=\"#b00020\" "
      "stroke-width=\"1.5\"{7}/><text x=\"{3:.2f}\" y=\"{4:.0f}\" fill=\"#b00020\" "
      "text-anchor=\"{5}\">{6}</text>\n",
      X(time), kTop - 6, kTop + kLaneHeight * lanes_, X(time) + (near_end ? -4 : 4), kTop - 10,
      near_end ? "end" : "start", Escaped(label), is_guess ? " stroke-dasharray=\"5 4\"" : "");
}

// A tick every 1, 2 or 5 times a power of ten, at most ten of them.
std::string TimeChart::Axis() const {
  const TimeNs length = window_.end - window_.begin;
  TimeNs step = 1;
  for (int i = 0; length / step > 10; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  const double bottom = kTop + kLaneHeight * lanes_;
  std::string axis;
  for (TimeNs at = 0; at <= length; at += step) {
    axis += fmt::format(
        "<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.0f}\" y2=\"{2:.0f}\" stroke=\"#ddd\"/>"
        "<text x=\"{0:.2f}\" y=\"{3:.0f}\" text-anchor=\"middle\" fill=\"#555\">{4:g}</text>\n",
        X(window_.begin + at), kTop, bottom, bottom + 16, static_cast<double>(at) / 1e3);
  }
  return axis + fmt::format(
                    "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\" "
                    "fill=\"#555\">us</text>\n",
                    kLeft - 8, bottom + 16);
}

std::string TimeChart::Svg() const {
  const double height = kTop + kLaneHeight * lanes_ + 26;
  return fmt::format(
             "<div style=\"overflow-x:auto\">\n"
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
             "style=\"min-width:{0:.0f}px\" font-family=\"sans-serif\" font-size=\"12\" "
             "role=\"img\">\n",
             kLeft + kWidth + kRight, height) +
         Axis() + body_ + marks_ + "</svg>\n</div>\n";
}

}  // namespace mpa::head
