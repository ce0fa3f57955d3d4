// SPDX-License-Identifier: Apache-2.0
// A timeline as a page.
#include <string>
#include <utility>
#include <vector>

#include "mpa/writers/pages.h"

namespace mpa {

std::string FormatPage(const Timeline& timeline) {
  Page page{.title = timeline.title, .lead = {timeline.text}};
  PageSection section;
  section.charts.push_back({.kind = PageChart::Kind::kTimeline,
                            .title = "The wheel, a drag, and the keys + - and arrows zoom.",
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
