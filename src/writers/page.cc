// SPDX-License-Identifier: Apache-2.0
// A page as HTML that needs nothing else: its texts, and what a script draws its tables and charts
// from.
#include "mpa/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "embedded/writers.h"
#include "markup_text.h"
#include "mpa/base/enum_name.h"
#include "mpa/base/language.h"
#include "mpa/base/packed.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/report/amount.h"
#include "mpa/report/palette.h"
#include "mpa/writers/writers.h"

namespace mpa {
namespace {

using writers::Escaped;
using writers::EscapedHtml;
using writers::Quoted;
using writers::QuotedList;

// Tables and charts of a page as the script on it reads them.

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

// Of few different cells each stands there once: {"of":[cells],"at":[numbers]}.
std::string ColumnOf(const std::vector<std::string>& cells) {
  std::unordered_map<std::string_view, std::size_t> places;
  std::vector<std::string_view> different;
  for (const std::string& cell : cells) {
    if (places.try_emplace(cell, different.size()).second) different.push_back(cell);
  }
  const auto as_it_is = [](std::string_view cell) { return cell; };
  if (2 * different.size() > cells.size()) return List(cells, as_it_is);
  return fmt::format(
      "{{\"of\":{},\"at\":{}}}", List(different, as_it_is),
      List(cells, [&](const auto& cell) { return std::to_string(places.at(cell)); }));
}

std::string ColumnTexts(const PageTable& table, std::size_t column) {
  std::vector<std::string> texts;
  for (const auto& row : table.rows)
    texts.push_back(Quoted(column < row.size() ? std::string_view(row[column]) : ""));
  return ColumnOf(texts);
}

// null where the text says the same, but for commas and zeros; "" where there is no number.
std::string ValueBeside(const std::string& text, const Cell& value) {
  if (std::holds_alternative<std::string>(value)) return "null";
  std::string plain = text;
  std::erase(plain, ',');
  if (const auto* real = std::get_if<double>(&value))
    return WholeNumber<double>(plain) == *real ? "null" : fmt::format("{}", *real);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    constexpr std::int64_t kExact = std::int64_t{1} << 53;  // of the numbers of a script
    const std::string digits = std::to_string(*whole);
    if (digits == plain) return "null";
    return *whole > kExact || *whole < -kExact ? Quoted(digits) : digits;
  }
  return text.empty() ? "null" : "\"\"";
}

// Of the columns whose texts do not say all: {"2":[1.23456,null,""]}.
std::string ValuesOf(const PageTable& table, std::size_t columns) {
  std::string list;
  for (std::size_t column = 0; column < columns; ++column) {
    std::vector<std::string> values;
    for (std::size_t row = 0; row < table.values.size(); ++row) {
      if (column < table.values[row].size())
        values.push_back(ValueBeside(table.rows[row][column], table.values[row][column]));
    }
    if (std::ranges::all_of(values, [](const auto& value) { return value == "null"; })) continue;
    if (!list.empty()) list += ',';
    list += fmt::format("\"{}\":{}", column, ColumnOf(values));
  }
  return '{' + list + '}';
}

std::string_view KindOf(const PageChart& chart) {
  return EnumName<PageChart::Kind::kTimeline>(
      chart.kind, {"bars", "stacked", "boxes", "heat", "waterfall", "dots", "areas", "flame",
                   "scatter", "lines", "histogram", "distribution", "timeline"});
}

// A text that charts and timelines declare; labels and series have the names of columns.
std::string Word(std::string_view text) { return Quoted(Translated(text)); }

std::string SeriesOf(const PageSeries& series) {
  std::string text =
      fmt::format("{{\"name\":{},\"values\":{}", Quoted(series.name), Numbers(series.values));
  if (series.tint != Tint::kNone)
    text += fmt::format(",\"tint\":\"{}\"", NameOf(series.tint, series.shade));
  if (series.is_line) text += ",\"line\":true";
  if (!series.dots.empty()) text += fmt::format(",\"dots\":{}", List(series.dots, Numbers));
  return text + '}';
}

std::string MarkOf(const PageMark& mark) {
  return fmt::format("{{\"at\":{},\"label\":{}}}", Number(mark.at), Quoted(mark.label));
}

// Times are in `unit` from the begin of the window; spans that lie beyond it are left out.
std::string TimelineOf(const Timeline& timeline, std::string_view unit) {
  const double ns = unit == "s" ? 1e9 : unit == "ms" ? 1e6 : 1e3;
  const auto length = [&](TimeNs time) {
    return fmt::format("{}", static_cast<double>(time) / ns);
  };
  const auto at = [&](TimeNs time) { return length(time - timeline.begin); };
  const auto span = [&](const TimelineSpan& one) {
    return fmt::format("[{},{},{},{},{}]", at(one.begin), length(one.end - one.begin), one.kind,
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
    return fmt::format("{{\"colour\":{},\"meaning\":{}}}", Quoted(one.colour), Word(one.meaning));
  };
  std::vector<TimelineMark> marks;
  for (const TimelineMark& mark : timeline.marks) {
    if (mark.time >= timeline.begin && mark.time <= timeline.end) marks.push_back(mark);
  }
  const auto mark = [&](const TimelineMark& one) {
    return fmt::format("{{\"at\":{},\"label\":{},\"guess\":{}}}", at(one.time), Quoted(one.label),
                       one.is_guess);
  };
  const auto arrow = [&](const TimelineArrow& one) {
    return fmt::format("{{\"from\":{},\"to\":{},\"at\":{},\"until\":{},\"label\":{}}}", one.from,
                       one.to, at(one.begin), at(one.end), Quoted(one.label));
  };
  return fmt::format(",\"begin\":0,\"end\":{},\"lanes\":{},\"kinds\":{},\"marks\":{},\"arrows\":{}",
                     at(timeline.end), List(timeline.lanes, lane), List(timeline.kinds, kind),
                     List(marks, mark), List(timeline.arrows, arrow));
}

std::string ChartOf(const PageChart& chart) {
  std::string text = fmt::format("{{\"kind\":\"{}\",\"title\":{},\"unit\":{}", KindOf(chart),
                                 Word(chart.title), Word(chart.unit));
  if (!chart.label.empty()) text += ",\"label\":" + Quoted(chart.label);
  if (chart.own_scale) text += ",\"own_scale\":true";
  if (chart.kind == PageChart::Kind::kHeat && !chart.unit_of_places.empty())
    text += ",\"across\":" + Quoted(chart.unit_of_places);
  using enum PageChart::Kind;
  if (chart.kind == kAreas || chart.kind == kLines || chart.kind == kHistogram) {
    text += fmt::format(",\"at\":{},\"unit_x\":{},\"marks\":{}", Numbers(chart.at),
                        Word(chart.unit_of_places), List(chart.marks, MarkOf));
  } else if (chart.kind != kTimeline) {
    text += ",\"labels\":" + List(chart.labels, [](const auto& label) { return Quoted(label); });
  }
  if (chart.kind == kScatter) {
    text +=
        fmt::format(",\"at\":{},\"unit_x\":{},\"beside\":{},\"roofs\":{}", Numbers(chart.at),
                    Word(chart.unit_of_places), List(chart.beside, SeriesOf),
                    List(chart.roofs, [](const PageRoof& roof) {
                      return fmt::format("{{\"name\":{},\"most\":{},\"slope\":{}}}",
                                         Quoted(roof.name), Number(roof.most), Number(roof.slope));
                    }));
  }
  if (chart.kind == kFlame) {
    text += fmt::format(",\"frames\":{}", List(chart.frames, [](const PageFrame& frame) {
                          const std::string tint = NameOf(frame.tint);
                          return tint.empty() ? fmt::format("[{},{}]", frame.parent, frame.label)
                                              : fmt::format("[{},{},\"{}\"]", frame.parent,
                                                            frame.label, tint);
                        }));
  }
  text += ",\"series\":" + List(chart.series, SeriesOf);
  if (chart.kind == kDots) {
    text += fmt::format(
        ",\"limits\":{},\"limit\":{}",
        List(chart.limits, [](const auto& limit) { return limit ? Number(*limit) : "null"; }),
        Word(chart.limit));
  }
  // Lines may have one for each place, as dots have for each label.
  if (!chart.bands.empty()) {
    const auto edges = [](const auto& band) {
      return band ? fmt::format("[{},{}]", Number(band->first), Number(band->second)) : "null";
    };
    text += fmt::format(",\"bands\":{},\"band\":{}", List(chart.bands, edges), Word(chart.band));
  }
  if (chart.timeline) text += TimelineOf(*chart.timeline, chart.unit);
  return text + '}';
}
/// What the script of a page draws, as a JSON document that may stand within HTML.
class PageData {
 public:
  /// Return the number by which the page refers to it.
  std::size_t Add(const PageTable& table) {
    std::vector<std::size_t> columns(table.headers.size());
    for (const auto& row : table.rows) columns.resize(std::max(columns.size(), row.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = i;
    std::vector<std::string> headers = table.headers;
    headers.resize(columns.size());
    if (table_count_ > 0) tables_ += ",\n";
    tables_ += fmt::format("{{\"title\":{},\"headers\":{},\"numbers\":{},\"columns\":{}",
                           Quoted(table.title), QuotedList(headers),
                           List(table.numbers, [](std::size_t i) { return std::to_string(i); }),
                           List(columns, [&](std::size_t i) { return ColumnTexts(table, i); }));
    if (!table.values.empty()) tables_ += ",\"values\":" + ValuesOf(table, columns.size());
    if (!table.levels.empty())
      tables_ += ",\"levels\":" + List(table.levels, [](int of) { return std::to_string(of); });
    tables_ += '}';
    return table_count_++;
  }
  std::size_t Add(const PageChart& chart) {
    if (chart_count_ > 0) charts_ += ",\n";
    charts_ += ChartOf(chart);
    return chart_count_++;
  }
  bool Empty() const { return table_count_ + chart_count_ == 0; }
  // Texts of a capture may hold "</script>".
  std::string Json() const {
    return Escaped(fmt::format("{{\"tables\":[{}],\n\"charts\":[{}]}}", tables_, charts_),
                   {{'<', "\\u003c"}});
  }

 private:
  std::string tables_, charts_;
  std::size_t table_count_ = 0, chart_count_ = 0;
};

constexpr std::string_view kScripts[] = {embedded::kPageCells,      embedded::kPageTables,
                                         embedded::kPageDrawing,    embedded::kPageCharts,
                                         embedded::kPageManyCharts, embedded::kPageOverCharts,
                                         embedded::kPageFlame,      embedded::kPageScript};

// The Chinese of what the scripts say("..."), as a JSON object.
std::string TextsOfScripts() {
  constexpr std::string_view kCall = "say(\"";
  std::map<std::string_view, std::string_view> texts;
  for (const std::string_view script : kScripts) {
    for (std::size_t at = 0; (at = script.find(kCall, at)) != std::string_view::npos;) {
      at += kCall.size();
      const std::string_view text = script.substr(at, script.find('"', at) - at);
      texts.emplace(text, Translated(text));
    }
  }
  std::string list;
  for (const auto& [english, chinese] : texts)
    list += fmt::format("{}{}:{}", list.empty() ? "" : ",", Quoted(english), Quoted(chinese));
  return '{' + list + '}';
}

class PageWriter {
 public:
  explicit PageWriter(const Page& page) : page_(page) {}

  std::string Write() && {
    Add("<main>\n<h1>{}</h1>\n", EscapedHtml(page_.title));
    for (std::size_t i = 0; i < page_.lead.size(); ++i) {
      Add("<p class=\"{}\">{}</p>\n", i == 0 ? "answer" : "dim", EscapedHtml(page_.lead[i]));
    }
    AddFacts();
    for (const PageSection& section : page_.sections) AddSection(section);
    Add("</main>\n");
    if (!data_.Empty()) AddScripts();
    return writers::HtmlDocument(page_.title, PaletteStyle().append(embedded::kPageStyle), body_);
  }

 private:
  template <typename... Values>
  void Add(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(body_), form, std::forward<Values>(values)...);
  }

  void AddFacts() {
    if (page_.facts.empty()) return;
    Add("<dl>\n");
    for (const PageFact& fact : page_.facts)
      Add("<div><dt>{}</dt><dd>{}</dd></div>\n", EscapedHtml(fact.name), EscapedHtml(fact.value));
    Add("</dl>\n");
  }

  void AddSection(const PageSection& section) {
    Add("<section>\n");
    if (!section.heading.empty()) Add("<h2>{}</h2>\n", EscapedHtml(Translated(section.heading)));
    if (!section.lines.empty()) {
      if (!section.folded.empty())
        Add("<details><summary>{}</summary>", EscapedHtml(section.folded));
      Add("<div class=\"scroll\"><pre>");
      for (const std::string& line : section.lines) Add("{}\n", EscapedHtml(line));
      Add("</pre></div>{}\n", section.folded.empty() ? "" : "</details>");
    }
    if (!section.points.empty()) {
      Add("<ul>");
      for (const std::string& point : section.points) Add("<li>{}</li>\n", EscapedHtml(point));
      Add("</ul>\n");
    }
    for (const PageChart& chart : section.charts) {
      Add("<figure data-chart=\"{}\"><figcaption>{}</figcaption>", data_.Add(chart),
          EscapedHtml(Translated(chart.title)));
      if (!chart.note.empty()) Add("<p class=\"dim\">{}</p>", EscapedHtml(chart.note));
      Add("</figure>\n");
    }
    for (const PageTable& table : section.tables) AddTable(table);
    for (const PageCard& card : section.cards) AddCard(card);
    Add("</section>\n");
  }

  void AddTable(const PageTable& table) {
    if (table.rows.empty()) return;
    const std::size_t number = data_.Add(table);
    if (table.title.empty()) {
      Add("<div data-table=\"{}\"></div>\n", number);
    } else {
      Add("<details><summary>{}</summary><div data-table=\"{}\"></div></details>\n",
          EscapedHtml(table.title), number);
    }
  }

  void AddCard(const PageCard& card) {
    Add("<article style=\"--edge:var(--{})\">\n<h3><span>{}</span><span"
        " class=\"severity\">{}</span>",
        EscapedHtml(card.severity), ++cards_, EscapedHtml(card.label));
    Add("<span>{}</span><span class=\"gain\">{}</span></h3>\n", EscapedHtml(card.title),
        EscapedHtml(card.gain));
    if (!card.facts.empty()) Add("<p>{}</p>\n", EscapedHtml(card.facts));
    if (!card.advice.empty()) Add("<p><b>&rarr; {}</b></p>\n", EscapedHtml(card.advice));
    AddTable(card.places);
    if (card.around) {
      Add("<details><summary>{}</summary><figure data-chart=\"{}\"><figcaption>{}</figcaption>"
          "</figure></details>\n",
          EscapedHtml(Translated("Timeline around the longest")), data_.Add(*card.around),
          EscapedHtml(card.around->title));
    }
    for (const std::string& command : card.commands)
      Add("<p class=\"dim\"><code>{}</code></p>\n", EscapedHtml(command));
    Add("</article>\n");
  }

  void AddScripts() {
    Add("<noscript><p>{}</p></noscript>\n", Translated("Tables and charts need JavaScript."));
    Add("<script type=\"application/json\" id=\"data\">{}</script>\n", data_.Json());
    if (CurrentLanguage() == Language::kChinese) {
      Add("<script type=\"application/json\" id=\"texts\">{}</script>\n", TextsOfScripts());
    }
    Add("<script type=\"text/plain\" id=\"licence-of-d3\">\n{}</script>\n", embedded::kD3Licence);
    Add("<script>{}</script>\n", Unpacked(embedded::kD3).value());
    for (const std::string_view script : kScripts) Add("<script>{}</script>\n", script);
  }

  const Page& page_;
  std::size_t cards_ = 0;  // are numbered through all sections
  PageData data_;
  std::string body_;
};

}  // namespace

std::string FormatPage(const Page& page) { return PageWriter(page).Write(); }

// A timeline as a page.

std::string FormatPage(const Timeline& timeline) {
  Page page{.title = timeline.title, .lead = {timeline.text}};
  PageSection section;
  section.charts.push_back({.kind = PageChart::Kind::kTimeline,
                            .title = Say("The host and the device over time"),
                            .unit = "us",
                            .timeline = timeline});
  PageTable kinds{.headers = timeline.headers};
  for (const TimelineKind& kind : timeline.kinds) {
    if (kind.cells.empty()) continue;
    std::vector<std::string>& row = kinds.rows.emplace_back();
    row.push_back(kind.meaning);
    row.insert(row.end(), kind.cells.begin(), kind.cells.end());
  }
  for (std::size_t i = 1; i + 1 < kinds.headers.size(); ++i) kinds.numbers.push_back(i);
  section.tables.push_back(std::move(kinds));
  page.sections.push_back(std::move(section));
  return FormatPage(page);
}

}  // namespace mpa
