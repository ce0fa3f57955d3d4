// SPDX-License-Identifier: Apache-2.0
// A page as HTML that needs nothing else: its texts, and what a script draws its tables and charts
// from.
#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "embedded/writers.h"
#include "markup_text.h"
#include "mpa/writers/pages.h"
#include "page_data.h"

namespace mpa {
namespace {

using writers::EscapedHtml;

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
    return writers::HtmlDocument(page_.language, page_.title, embedded::kPageStyle, body_);
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
      Add("<dt>{}</dt><dd>{}</dd>\n", EscapedHtml(fact.name), EscapedHtml(fact.value));
    Add("</dl>\n");
  }

  void AddSection(const PageSection& section) {
    Add("<section>\n");
    if (!section.heading.empty()) Add("<h2>{}</h2>\n", EscapedHtml(section.heading));
    if (!section.lines.empty()) {
      Add("<div class=\"scroll\"><pre>");
      for (const std::string& line : section.lines) Add("{}\n", EscapedHtml(line));
      Add("</pre></div>\n");
    }
    if (!section.points.empty()) {
      Add("<ul>");
      for (const std::string& point : section.points) Add("<li>{}</li>\n", EscapedHtml(point));
      Add("</ul>\n");
    }
    for (const PageChart& chart : section.charts) {
      Add("<figure data-chart=\"{}\"><figcaption>{}</figcaption>", data_.Add(chart),
          EscapedHtml(chart.title));
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
    Add("<article style=\"--edge:var(--{})\">\n<h3><span>{}</span><span "
        "class=\"severity\">{}</span>",
        EscapedHtml(card.severity), ++cards_, EscapedHtml(card.label));
    Add("<span>{}</span><span class=\"gain\">{}</span></h3>\n", EscapedHtml(card.title),
        EscapedHtml(card.gain));
    if (!card.facts.empty()) Add("<p>{}</p>\n", EscapedHtml(card.facts));
    if (!card.advice.empty()) Add("<p><b>&rarr; {}</b></p>\n", EscapedHtml(card.advice));
    AddTable(card.places);
    if (!card.command.empty()) {
      Add("<p class=\"dim\"><code>{}</code></p>\n", EscapedHtml(card.command));
    }
    Add("</article>\n");
  }

  void AddScripts() {
    Add("<noscript><p>Tables and charts need JavaScript.</p></noscript>\n");
    Add("<script type=\"application/json\" id=\"data\">{}</script>\n", data_.Json());
    Add("<script type=\"text/plain\" id=\"licence-of-d3\">\n{}</script>\n", embedded::kD3Licence);
    Add("<script>{}</script>\n<script>{}</script>\n", embedded::kD3, embedded::kPageScript);
  }

  const Page& page_;
  std::size_t cards_ = 0;  // are numbered through all sections
  writers::PageData data_;
  std::string body_;
};

}  // namespace

std::string FormatPage(const Page& page) { return PageWriter(page).Write(); }

}  // namespace mpa
