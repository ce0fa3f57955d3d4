// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/writers/pages.h"

namespace mpa {
namespace {

Timeline TwoSpans() {
  Timeline timeline;
  timeline.title = "Call 1";
  timeline.begin = 1000;
  timeline.end = 11'000;
  timeline.kinds = {{"#111111", "python", {"4.0", "-"}}, {"#222222", "kernel"}};
  timeline.headers = {"part", "us", "idle"};
  timeline.Lane("host");
  timeline.Add({0, 6000, 0, "python", "py"});
  timeline.Add({20'000, 21'000, 0, "later", ""});
  timeline.Lane("device");
  timeline.Add({6000, 11'000, 1, "MatMul", "MatMul"});
  return timeline;
}

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(TimelinePage, CutsSpansToTheWindowAndLeavesOutThoseBeyond) {
  const std::string page = FormatPage(TwoSpans());
  EXPECT_EQ(Count(page, "<rect"), 2u);
  // Half of the width of 1000 from the left edge of 150.
  EXPECT_NE(page.find("<rect x=\"150.00\" y=\"46\" width=\"500.00\""), std::string::npos) << page;
  EXPECT_NE(page.find("<rect x=\"650.00\" y=\"76\" width=\"500.00\""), std::string::npos) << page;
  EXPECT_NE(page.find("MatMul: 5.0 us, from 5.0 to 10.0 us"), std::string::npos) << page;
}

TEST(TimelinePage, KindsWithCellsAreInTheTable) {
  const std::string page = FormatPage(TwoSpans());
  EXPECT_NE(page.find("<th>part</th><th>us</th><th>idle</th>"), std::string::npos);
  EXPECT_NE(page.find("</i>python</td><td>4.0</td><td>-</td></tr>"), std::string::npos) << page;
  EXPECT_NE(page.find("</i>kernel</span>"), std::string::npos) << page;
}

TEST(TimelinePage, TextsCannotBecomeMarkup) {
  Timeline timeline = TwoSpans();
  timeline.title = "<a href=\"x\">&\n";
  timeline.lanes[0].spans[0].label = "<b>";
  const std::string page = FormatPage(timeline);
  EXPECT_NE(page.find("<h1>&lt;a href=&quot;x&quot;&gt;&amp;\\x0a</h1>"), std::string::npos)
      << page;
  EXPECT_EQ(page.find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace mpa
