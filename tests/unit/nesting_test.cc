// SPDX-License-Identifier: Apache-2.0
// Spans within spans, and which of them hold a point in time.
#include "analysis/nesting.h"

#include <gtest/gtest.h>

#include <random>

namespace mpa {
namespace {

using Spans = std::vector<std::pair<TimeNs, TimeNs>>;  // start, end

Nesting NestingOf(const Spans& spans) {
  std::vector<TimeNs> start, dur;
  for (const auto& [begin, end] : spans) {
    start.push_back(begin);
    dur.push_back(end - begin);
  }
  return Nesting(start, dur, std::vector<std::int32_t>(spans.size(), 0));
}

// By its definition: of the spans that hold the time the one that begins last, and the shortest of
// those that begin together; of equal ones the last.
std::int64_t Innermost(const Spans& spans, TimeNs time, bool around) {
  std::int64_t found = Nesting::kNone;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const auto& [start, end] = spans[i];
    if (around ? start >= time || end <= time : start > time || end < time) continue;
    const auto inner = [](const auto& span) { return std::pair{span.first, -span.second}; };
    if (found == Nesting::kNone ||
        inner(spans[i]) >= inner(spans[static_cast<std::size_t>(found)])) {
      found = static_cast<std::int64_t>(i);
    }
  }
  return found;
}

TEST(Nesting, FindsTheInnermostSpanAroundATime) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Spans spans;
    for (auto i = random() % 40; i > 0; --i) {
      const auto start = static_cast<TimeNs>(random() % 50);
      const auto dur = static_cast<TimeNs>(random() % (random() % 4 == 0 ? 60 : 8));
      spans.emplace_back(start, start + dur);
    }
    const Nesting nesting = NestingOf(spans);
    for (TimeNs time = -1; time < 120; ++time) {
      ASSERT_EQ(nesting.Find(0, time), Innermost(spans, time, false)) << round << ": " << time;
      ASSERT_EQ(nesting.FindAround(0, time), Innermost(spans, time, true)) << round << ": " << time;
    }
  }
}

// A walk over all levels for each of the times would take minutes.
TEST(Nesting, FindsItAmongAHundredThousandLevels) {
  constexpr TimeNs kLevels = 100'000;
  Spans spans;
  for (TimeNs i = 0; i < kLevels; ++i) spans.emplace_back(i, 3 * kLevels - i);
  const Nesting nesting = NestingOf(spans);
  for (TimeNs i = 1; i < kLevels; ++i) {
    ASSERT_EQ(nesting.FindAround(0, 3 * kLevels - i), i - 1);
    ASSERT_EQ(nesting.Find(0, 3 * kLevels - i), i);
  }
}

TEST(Nesting, FindsItWhereAllBeginTogether) {
  constexpr TimeNs kSpans = 100'000;
  Spans spans;
  for (TimeNs i = 0; i < kSpans; ++i) spans.emplace_back(0, 2 * kSpans - i);
  const Nesting nesting = NestingOf(spans);
  for (TimeNs i = 1; i < kSpans; ++i) {
    ASSERT_EQ(nesting.FindAround(0, 0), Nesting::kNone);
    ASSERT_EQ(nesting.Find(0, 2 * kSpans - i), i);
  }
}

}  // namespace
}  // namespace mpa
