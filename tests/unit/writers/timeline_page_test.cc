// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/writers/writers.h"
#include "support/failures.h"
#include "support/html.h"

namespace mpa {
namespace {

Timeline TwoSpans() {
  Timeline timeline;
  timeline.title = "Call 1";
  timeline.begin = 1000;
  timeline.end = 11'000;
  timeline.kinds = {{"var(--t1)", "python", {"4.0", "-"}}, {"var(--compute)", "kernel"}};
  timeline.headers = {"part", "us", "idle"};
  timeline.Lane("host");
  timeline.Add({0, 6000, 0, "python", "py"});
  timeline.Add({20'000, 21'000, 0, "later", ""});
  timeline.Lane("device");
  timeline.Add({6000, 11'000, 1, "MatMul", "MatMul"});
  timeline.marks = {{7000, "first kernel", true}, {12'000, "too late", false}};
  timeline.arrows = {{0, 1, 2000, 6000, "waits"}};
  return timeline;
}

TEST(TimelinePage, LeavesOutSpansBeyondTheWindow) {
  const std::string page = FormatPage(TwoSpans());
  test::ExpectWellFormed(page);
  // In us from the begin of the window.
  EXPECT_HAS_TEXT(page, R"({"title":"host","spans":[[-1,6,0,"python","py"]]})");
  EXPECT_HAS_TEXT(page, R"({"title":"device","spans":[[5,5,1,"MatMul","MatMul"]]})");
  EXPECT_HAS_TEXT(page, R"("end":10,)");
  EXPECT_HAS_TEXT(page, R"("marks":[{"at":6,"label":"first kernel","guess":true}])");
  EXPECT_HAS_TEXT(page, R"("arrows":[{"from":0,"to":1,"at":1,"until":5,"label":"waits"}])");
}

TEST(TimelinePage, KindsWithCellsAreInTheTable) {
  const std::string page = FormatPage(TwoSpans());
  EXPECT_HAS_TEXT(page, R"("headers":["part", "us", "idle"],"numbers":[1])");
  EXPECT_HAS_TEXT(page, R"("columns":[["python"],["4.0"],["-"]])");
  EXPECT_HAS_TEXT(page, R"x({"colour":"var(--compute)","meaning":"kernel"})x");
}

TEST(TimelinePage, TextsCannotBecomeMarkup) {
  Timeline timeline = TwoSpans();
  timeline.title = "<a href=\"x\">&\n";
  timeline.lanes[0].spans[0].label = "</script><b>";
  const std::string page = FormatPage(timeline);
  EXPECT_HAS_TEXT(page, "<h1>&lt;a href=&quot;x&quot;&gt;&amp;\\x0a</h1>");
  EXPECT_HAS_TEXT(page, R"("\u003c/script>\u003cb>")");
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
}

}  // namespace
}  // namespace mpa
