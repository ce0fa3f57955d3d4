// SPDX-License-Identifier: Apache-2.0
// A page as HTML that needs nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "markup_text.h"
#include "mpa/writers/pages.h"

namespace mpa {
namespace {

using writers::EscapedHtml;

// Colours of the pieces of a bar; the next ones begin again.
constexpr std::size_t kColours = 6;

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark;--text:#1c2024;--dim:#60646c;--page:#fff;--card:#f5f6f8;"
    "--line:#d9dce1;--c0:#3e63dd;--c1:#e5484d;--c2:#ab4aba;--c3:#f76b15;--c4:#0d9488;--c5:#a3a8b3;"
    "--critical:#c62a2f;--high:#c4500a;--medium:#8f6400;--low:#3e63dd;--info:#60646c}"
    "@media(prefers-color-scheme:dark){:root{--text:#edeef0;--dim:#b0b4ba;--page:#111113;"
    "--card:#1b1c1f;--line:#363a3f;"
    "--critical:#ff9592;--high:#ffa057;--medium:#ffca16;--low:#9eb1ff;--info:#b0b4ba}}"
    "body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;padding:1.5em;max-width:60em;"
    "color:var(--text);background:var(--page)}"
    "h1{font-size:1.5em;margin:0;overflow-wrap:anywhere}h2{font-size:1.15em;margin:1.8em 0 .6em}"
    "p{margin:.3em 0}ul{margin:.3em 0;padding-left:1.4em}.dim{color:var(--dim)}"
    "pre{font:13px/1.45 ui-monospace,monospace;margin:.5em 0}"
    ".bar{display:flex;height:1.8em;border-radius:4px;overflow:hidden;margin:.8em 0 .4em}"
    ".bar div{min-width:1px}"
    ".key{display:flex;flex-wrap:wrap;gap:.2em 1.4em}"
    ".key i{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.4em}"
    "article{background:var(--card);border-left:4px solid var(--edge);border-radius:4px;"
    "padding:.7em 1em;margin:.7em 0}"
    "article h3{display:flex;flex-wrap:wrap;gap:.2em .8em;margin:0;font-size:1em}"
    ".gain{margin-left:auto}.severity{color:var(--edge)}"
    "table{border-collapse:collapse;font-size:.9em;margin:.5em 0}"
    "td,th{text-align:left;padding:.15em 1em .15em 0;border-bottom:1px solid var(--line);"
    "overflow-wrap:anywhere;white-space:pre-wrap}"
    "td.n,th.n{text-align:right;white-space:nowrap}summary{cursor:pointer;color:var(--dim)}"
    ".scroll{overflow-x:auto}";

class PageWriter {
 public:
  explicit PageWriter(const Page& page) : page_(page) {}

  std::string Write() && {
    Add("<h1>{}</h1>\n", EscapedHtml(page_.title));
    for (std::size_t i = 0; i < page_.lead.size(); ++i) {
      Add("<p{}>{}</p>\n", i == 0 ? "" : " class=\"dim\"", EscapedHtml(page_.lead[i]));
    }
    for (const PageSection& section : page_.sections) AddSection(section);
    return writers::HtmlDocument(page_.language, page_.title, kStyle, body_);
  }

 private:
  template <typename... Values>
  void Add(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(body_), form, std::forward<Values>(values)...);
  }

  void AddSection(const PageSection& section) {
    if (!section.heading.empty()) Add("<h2>{}</h2>\n", EscapedHtml(section.heading));
    if (!section.lines.empty()) {
      Add("<div class=\"scroll\"><pre>");
      for (const std::string& line : section.lines) Add("{}\n", EscapedHtml(line));
      Add("</pre></div>\n");
    }
    if (!section.points.empty()) {
      Add("<ul>\n");
      for (const std::string& point : section.points) Add("<li>{}</li>\n", EscapedHtml(point));
      Add("</ul>\n");
    }
    if (!section.bar.empty()) AddBar(section.bar);
    for (const PageTable& table : section.tables) AddTable(table);
    for (std::size_t i = 0; i < section.cards.size(); ++i) AddCard(section.cards[i]);
  }

  void AddBar(const std::vector<PageShare>& shares) {
    std::string bar, key;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (shares[i].time <= 0) continue;
      const std::string text = EscapedHtml(shares[i].text);
      bar += fmt::format("<div style=\"flex:{} 0 0;background:var(--c{})\" title=\"{}\"></div>",
                         shares[i].time, i % kColours, text);
      key +=
          fmt::format("<span><i style=\"background:var(--c{})\"></i>{}</span>", i % kColours, text);
    }
    Add("<div class=\"bar\">{}</div>\n<div class=\"key\">{}</div>\n", bar, key);
  }

  void AddRow(const PageTable& table, const std::vector<std::string>& cells, std::string_view tag) {
    Add("<tr>");
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool number = std::ranges::find(table.numbers, i) != table.numbers.end();
      Add("<{0}{1}>{2}</{0}>", tag, number ? " class=\"n\"" : "", EscapedHtml(cells[i]));
    }
    Add("</tr>\n");
  }

  void AddTable(const PageTable& table) {
    if (table.rows.empty()) return;
    if (!table.title.empty()) Add("<details><summary>{}</summary>\n", EscapedHtml(table.title));
    Add("<div class=\"scroll\"><table>\n");
    if (!table.headers.empty()) AddRow(table, table.headers, "th");
    for (const std::vector<std::string>& row : table.rows) AddRow(table, row, "td");
    Add("</table></div>{}\n", table.title.empty() ? "" : "</details>");
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

  const Page& page_;
  std::size_t cards_ = 0;  // are numbered through all sections
  std::string body_;
};

}  // namespace

std::string FormatPage(const Page& page) { return PageWriter(page).Write(); }

}  // namespace mpa
