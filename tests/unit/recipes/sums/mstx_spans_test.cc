// SPDX-License-Identifier: Apache-2.0
#include "recipes/sums/mstx_spans.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mpa/model/step_selection.h"
#include "support/rank_builder.h"

namespace mpa::recipes::mstx {
namespace {

using Texts = std::vector<std::string>;

// "step/name cann device framework" of each span.
Texts SpanTexts(const MarkedSpans& part) {
  Texts texts;
  const auto text = [](const std::optional<TimeNs>& time) {
    return time ? std::to_string(*time) : "-";
  };
  for (const MarkedSpan& span : part.spans) {
    texts.push_back(fmt::format("{}/{} {} {} {}", span.step, part.names[span.name], span.cann,
                                text(span.device), text(span.framework)));
  }
  return texts;
}

class Marks : public test::RankBuilder {
 public:
  void Add(std::string_view domain, std::string_view message, TimeNs start, TimeNs end,
           std::int32_t track, std::int64_t link, TimeNs device = -1, TimeNs device_dur = -1) {
    Mstx(domain, message, start, end, track);
    trace.mstx.link.back() = link;
    trace.mstx.device_start.back() = device;
    trace.mstx.device_dur.back() = device_dur;
  }
};

TEST(MarkedSpans, PairsMarksOfAThreadAndDomain) {
  Marks rank;
  const std::int32_t a = rank.Thread(5), b = rank.Thread(6);
  rank.Launch(1, 90, a);
  rank.Launch(2, 170, a);
  rank.Add("d", "x_start", 100, 100, a, 1, 1000);
  rank.Add("d", "x_start", 120, 120, b, -1);
  rank.Add("d", "x_start", 130, 130, a, 3);
  rank.Add("d", "x_stop", 150, 150, a, 4);
  rank.Add("d", "x_stop", 180, 180, a, 2, 1700);
  rank.Add("e", "x_stop", 190, 190, b, -1);
  const MarkedSpans part = FindMarkedSpans(rank.trace, false);
  // The inner pair first ended; the outer one has both sides on the device and two operators.
  EXPECT_EQ(SpanTexts(part), (Texts{"0/x 80 700 80", "0/x 20 - -"}));
  EXPECT_EQ(part.unpaired, 2);
  EXPECT_EQ(part.unpaired_mark, "x_stop");
}

TEST(MarkedSpans, TakesTheTimeOfTheOperatorThatQueuedTheMark) {
  Marks rank;
  const std::int32_t main = rank.Thread(5), queue = rank.Thread(6);
  rank.Queued(10, main, 100, 110, queue);
  rank.Queued(40, main, 200, 210, queue);
  rank.Add("d", "x_start", 105, 105, queue, 7);
  rank.Add("d", "x_stop", 205, 205, queue, 8);
  EXPECT_EQ(SpanTexts(FindMarkedSpans(rank.trace, false)), Texts{"0/x 100 - 30"});
}

TEST(MarkedSpans, NestsRangesOfAThreadAndDomain) {
  Marks rank;
  const std::int32_t a = rank.Thread(5), b = rank.Thread(6);
  rank.Add("d", "step", 100, 900, a, 1, 1000, 50);
  rank.Add("d", "fwd", 100, 300, a, 2);
  rank.Add("d", "fwd", 400, 500, a, 3);
  rank.Add("d", "late", 880, 980, a, 4);   // ends behind the step
  rank.Add("d", "other", 200, 210, b, 5);  // another thread
  rank.Add("e", "else", 200, 210, a, 6);   // another domain
  rank.Add("d", "host", 600, 610, a, -1);
  EXPECT_EQ(SpanTexts(FindMarkedSpans(rank.trace, false)),
            (Texts{"0/step 800 50 0", "0/step::fwd 200 - 0", "0/other 10 - 0", "0/else 10 - 0",
                   "0/step::fwd 100 - 0", "0/late 100 - 0"}));
  EXPECT_EQ(FindMarkedSpans(rank.trace, false).left_out, 1);
  const MarkedSpans all = FindMarkedSpans(rank.trace, true);
  EXPECT_EQ(SpanTexts(all)[5], "0/step::host 10 - 0");
  EXPECT_EQ(all.left_out, 0);
}

TEST(MarkedSpans, AStepHasWhatBeginsInItWithTheSameNames) {
  Marks rank;
  const std::int32_t a = rank.Thread(5);
  rank.Step(1, 0, 100);
  rank.Step(2, 100, 200);
  rank.Add("d", "run", 50, 190, a, 1);
  rank.Add("d", "fwd", 110, 120, a, 2);
  rank.Add("d", "end", 250, 260, a, 3);
  const MarkedSpans all = FindMarkedSpans(rank.trace, false);
  EXPECT_EQ(SpanTexts(all), (Texts{"1/run 140 - 0", "2/run::fwd 10 - 0", "0/end 10 - 0"}));
  EXPECT_EQ(all.outside, 1);
  SelectStep(rank.trace, 2);
  const MarkedSpans one = FindMarkedSpans(rank.trace, false);
  EXPECT_EQ(SpanTexts(one), Texts{"2/run::fwd 10 - 0"});
  EXPECT_EQ(one.outside, 0);
}

// Names do not grow with the square of the depth.
TEST(MarkedSpans, DeepRangesHaveShortNames) {
  Marks rank;
  const std::int32_t a = rank.Thread(5);
  for (int i = 0; i < 1000; ++i) rank.Add("d", "r", i, 5000 - i, a, 1);
  const MarkedSpans part = FindMarkedSpans(rank.trace, false);
  EXPECT_EQ(part.names.size(), 100u);
  EXPECT_EQ(part.names[part.spans.back().name], "r");
}

}  // namespace
}  // namespace mpa::recipes::mstx
