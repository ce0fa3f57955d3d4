// SPDX-License-Identifier: Apache-2.0
// Tables and charts of a page as the script on it reads them.
#include "page_data.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <unordered_map>

#include "markup_text.h"
#include "mpa/base/time.h"
#include "mpa/report/amount.h"

namespace mpa::writers {
namespace {

std::string Number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

template <typename Values, typename Format>
std::string List(const Values& values, Format format) {
  std::string list;
  for (const auto& value : values) {
    if (!list.empty()) list += ',';
    list += format(value);
  }
  return '[' + list + ']';
}

std::string Numbers(const std::vector<double>& values) { return List(values, Number); }

// A column with few different texts has each of them once: {"of":[texts],"at":[numbers]}.
std::string ColumnTexts(const PageTable& table, std::size_t column) {
  static const std::string kEmpty;
  const auto cell = [&](const std::vector<std::string>& row) -> const std::string& {
    return column < row.size() ? row[column] : kEmpty;
  };
  std::unordered_map<std::string_view, std::size_t> places;
  std::vector<std::string_view> texts;
  for (const auto& row : table.rows) {
    if (places.try_emplace(cell(row), texts.size()).second) texts.push_back(cell(row));
  }
  const auto quoted = [](std::string_view text) { return Quoted(text); };
  if (2 * texts.size() > table.rows.size())
    return List(table.rows, [&](const auto& row) { return Quoted(cell(row)); });
  return fmt::format(
      "{{\"of\":{},\"at\":{}}}", List(texts, quoted),
      List(table.rows, [&](const auto& row) { return std::to_string(places.at(cell(row))); }));
}

std::string_view KindOf(const PageChart& chart) {
  constexpr std::string_view kNames[] = {"bars", "stacked", "boxes", "heat",    "waterfall",
                                         "dots", "areas",   "flame", "scatter", "timeline"};
  return kNames[static_cast<std::size_t>(chart.kind)];
}

std::string SeriesOf(const PageSeries& series) {
  std::string text =
      fmt::format("{{\"name\":{},\"values\":{}", Quoted(series.name), Numbers(series.values));
  if (series.tint != Tint::kNone) text += fmt::format(",\"tint\":\"{}\"", NameOf(series.tint));
  if (series.is_line) text += ",\"line\":true";
  if (!series.dots.empty()) text += fmt::format(",\"dots\":{}", List(series.dots, Numbers));
  return text + '}';
}

std::string MarkOf(const PageMark& mark) {
  return fmt::format("{{\"at\":{},\"label\":{}}}", Number(mark.at), Quoted(mark.label));
}

// Times are in us from the begin of the window; spans that lie beyond it are left out.
std::string TimelineOf(const Timeline& timeline) {
  const auto us = [&](TimeNs time) { return fmt::format("{}", InUs(time - timeline.begin)); };
  const auto span = [&](const TimelineSpan& one) {
    return fmt::format("[{},{},{},{},{}]", us(one.begin), InUs(one.end - one.begin), one.kind,
                       Quoted(one.name), Quoted(one.label));
  };
  const auto lane = [&](const TimelineLane& one) {
    std::vector<TimelineSpan> seen;
    for (const TimelineSpan& each : one.spans) {
      if (each.begin < timeline.end && each.end > timeline.begin) seen.push_back(each);
    }
    return fmt::format("{{\"title\":{},\"spans\":{}}}", Quoted(one.title), List(seen, span));
  };
  const auto kind = [](const TimelineKind& one) {
    return fmt::format("{{\"colour\":{},\"meaning\":{}}}", Quoted(one.colour), Quoted(one.meaning));
  };
  std::vector<TimelineMark> marks;
  for (const TimelineMark& mark : timeline.marks) {
    if (mark.time >= timeline.begin && mark.time <= timeline.end) marks.push_back(mark);
  }
  const auto mark = [&](const TimelineMark& one) {
    return fmt::format("{{\"at\":{},\"label\":{},\"guess\":{}}}", us(one.time), Quoted(one.label),
                       one.is_guess);
  };
  const auto arrow = [&](const TimelineArrow& one) {
    return fmt::format("{{\"from\":{},\"to\":{},\"at\":{},\"until\":{},\"label\":{}}}", one.from,
                       one.to, us(one.begin), us(one.end), Quoted(one.label));
  };
  return fmt::format(",\"begin\":0,\"end\":{},\"lanes\":{},\"kinds\":{},\"marks\":{},\"arrows\":{}",
                     us(timeline.end), List(timeline.lanes, lane), List(timeline.kinds, kind),
                     List(marks, mark), List(timeline.arrows, arrow));
}

std::string ChartOf(const PageChart& chart) {
  std::string text = fmt::format("{{\"kind\":\"{}\",\"title\":{},\"unit\":{}", KindOf(chart),
                                 Quoted(chart.title), Quoted(chart.unit));
  if (!chart.label.empty()) text += ",\"label\":" + Quoted(chart.label);
  if (chart.kind == PageChart::Kind::kAreas) {
    text += fmt::format(",\"at\":{},\"unit_x\":{},\"marks\":{}", Numbers(chart.at),
                        Quoted(chart.unit_of_places), List(chart.marks, MarkOf));
  } else if (chart.kind != PageChart::Kind::kTimeline) {
    text += ",\"labels\":" + List(chart.labels, [](const auto& label) { return Quoted(label); });
  }
  if (chart.kind == PageChart::Kind::kScatter) {
    text +=
        fmt::format(",\"at\":{},\"unit_x\":{},\"beside\":{},\"roofs\":{}", Numbers(chart.at),
                    Quoted(chart.unit_of_places), List(chart.beside, SeriesOf),
                    List(chart.roofs, [](const PageRoof& roof) {
                      return fmt::format("{{\"name\":{},\"most\":{},\"slope\":{}}}",
                                         Quoted(roof.name), Number(roof.most), Number(roof.slope));
                    }));
  }
  if (chart.kind == PageChart::Kind::kFlame) {
    text += fmt::format(",\"frames\":{}", List(chart.frames, [](const PageFrame& frame) {
                          return fmt::format("[{},{}]", frame.parent, frame.label);
                        }));
  }
  text += ",\"series\":" + List(chart.series, SeriesOf);
  if (chart.kind == PageChart::Kind::kDots) {
    text += fmt::format(
        ",\"limits\":{},\"bands\":{},\"limit\":{},\"band\":{}",
        List(chart.limits, [](const auto& limit) { return limit ? Number(*limit) : "null"; }),
        List(chart.bands,
             [](const auto& band) {
               return band ? fmt::format("[{},{}]", Number(band->first), Number(band->second))
                           : "null";
             }),
        Quoted(chart.limit), Quoted(chart.band));
  }
  if (chart.timeline) text += TimelineOf(*chart.timeline);
  return text + '}';
}

}  // namespace

std::size_t PageData::Add(const PageTable& table) {
  std::vector<std::size_t> columns(table.headers.size());
  for (const auto& row : table.rows) columns.resize(std::max(columns.size(), row.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = i;
  std::vector<std::string> headers = table.headers;
  headers.resize(columns.size());
  if (table_count_ > 0) tables_ += ",\n";
  tables_ += fmt::format("{{\"title\":{},\"headers\":{},\"numbers\":{},\"columns\":{}}}",
                         Quoted(table.title), QuotedList(headers),
                         List(table.numbers, [](std::size_t i) { return std::to_string(i); }),
                         List(columns, [&](std::size_t i) { return ColumnTexts(table, i); }));
  return table_count_++;
}

std::size_t PageData::Add(const PageChart& chart) {
  if (chart_count_ > 0) charts_ += ",\n";
  charts_ += ChartOf(chart);
  return chart_count_++;
}

// Texts of a capture may hold "</script>".
std::string PageData::Json() const {
  return Escaped(fmt::format("{{\"tables\":[{}],\n\"charts\":[{}]}}", tables_, charts_),
                 {{'<', "\\u003c"}});
}

}  // namespace mpa::writers
