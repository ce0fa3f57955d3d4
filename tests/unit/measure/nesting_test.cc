// SPDX-License-Identifier: Apache-2.0
// Spans within spans, and which of them hold a point in time.
#include "mpa/measure/nesting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>

#include "mpa/measure/module_ranges.h"

namespace mpa {
namespace {

using Spans = std::vector<std::pair<TimeNs, TimeNs>>;  // start, end

Nesting NestingOf(const Spans& spans) {
  std::vector<NestSpan> listed;
  for (const auto& [begin, end] : spans) listed.push_back({begin, end, 0});
  return Nesting(listed);
}

// By its definition: of the spans that `holds` the one that begins last, and the shortest of those
// that begin together; of equal ones the last.
template <typename Holds>
std::int64_t Innermost(const Spans& spans, Holds holds) {
  std::int64_t found = Nesting::kNone;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!holds(spans[i].first, spans[i].second)) continue;
    const auto inner = [](const auto& span) { return std::pair{span.first, -span.second}; };
    if (found == Nesting::kNone ||
        inner(spans[i]) >= inner(spans[static_cast<std::size_t>(found)])) {
      found = static_cast<std::int64_t>(i);
    }
  }
  return found;
}

std::int64_t InnermostAround(const Spans& spans, TimeNs time) {
  return Innermost(spans, [&](TimeNs start, TimeNs end) { return start < time && time < end; });
}

// One that begins at the time goes before one that runs, and that before one that ends.
std::int64_t InnermostAt(const Spans& spans, TimeNs time) {
  const std::int64_t begins = Innermost(spans, [&](TimeNs start, TimeNs) { return start == time; });
  if (begins != Nesting::kNone) return begins;
  const std::int64_t runs = InnermostAround(spans, time);
  if (runs != Nesting::kNone) return runs;
  return Innermost(spans, [&](TimeNs, TimeNs end) { return end == time; });
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
      ASSERT_EQ(nesting.Find(0, time), InnermostAt(spans, time)) << round << ": " << time;
      ASSERT_EQ(nesting.FindAround(0, time), InnermostAround(spans, time)) << round << ": " << time;
    }
  }
}

// True if the span holds the item whole, but for what exporters round by.
bool Holds(const std::pair<TimeNs, TimeNs>& span, const std::pair<TimeNs, TimeNs>& item) {
  const TimeNs behind = std::max<TimeNs>(0, item.second - span.second);
  const TimeNs within = item.second - item.first - behind;
  return span.first <= item.first && behind <= within && behind <= 1000;
}

std::int64_t InnermostEnclosing(const Spans& spans, const std::pair<TimeNs, TimeNs>& item) {
  return Innermost(spans, [&](TimeNs start, TimeNs end) { return Holds({start, end}, item); });
}

// What is longer than another that begins with it comes before it, of equal ones the first.
bool ComesBefore(const Spans& spans, std::size_t one, std::size_t other) {
  return std::tuple{spans[one].first, -spans[one].second, one} <
         std::tuple{spans[other].first, -spans[other].second, other};
}

TEST(Nesting, FindsTheInnermostSpanAroundAnother) {
  std::mt19937 random(6);
  for (int round = 0; round < 300; ++round) {
    const TimeNs unit = round % 2 == 0 ? 1 : 400;  // so that rounding matters, or lengths do
    Spans spans;
    for (auto i = random() % 30; i > 0; --i) {
      const auto start = unit * static_cast<TimeNs>(random() % 12);
      spans.emplace_back(start, start + unit * static_cast<TimeNs>(random() % 12));
    }
    const Nesting nesting = NestingOf(spans);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const auto [start, end] = spans[i];
      ASSERT_EQ(nesting.FindEnclosing({start, end, 0}), InnermostEnclosing(spans, spans[i]))
          << round << ": " << i;
      std::int64_t parent = Nesting::kNone;
      for (std::size_t j = 0; j < spans.size(); ++j) {
        if (spans[j].second <= start || !ComesBefore(spans, j, i) || !Holds(spans[j], spans[i]))
          continue;
        if (parent == Nesting::kNone || ComesBefore(spans, static_cast<std::size_t>(parent), j))
          parent = static_cast<std::int64_t>(j);
      }
      ASSERT_EQ(nesting.Parent(i), parent) << round << ": " << i;
    }
  }
}

// A step ends at 1000 us, and 48 us of an operator lie across its end. The next step is not within
// the operator, nor is what runs in it.
TEST(Nesting, WhatOutlivesASpanIsNotWithinIt) {
  const std::vector<NestSpan> spans = {
      {0, 1'000'000, 0, true},          // 0: a step
      {960'000, 1'008'000, 0},          // 1: crosses its end
      {1'000'000, 2'000'000, 0, true},  // 2: the next step
      {1'002'000, 1'006'000, 0},        // 3: within the operator
      {1'007'000, 1'050'000, 0},        // 4: outlives it
      {1'010'000, 1'020'000, 0},        // 5: within that
      {1'100'000, 2'000'700, 0},        // 6: ends with the step, but for rounding
      {1'990'000, 2'000'700, 0},        // 7
  };
  const Nesting nesting(spans);
  std::vector<std::int64_t> parents;
  for (std::size_t i = 0; i < spans.size(); ++i) parents.push_back(nesting.Parent(i));
  EXPECT_EQ(parents, (std::vector<std::int64_t>{-1, -1, -1, 1, 2, 4, 2, 6}));
  EXPECT_EQ(nesting.Crossings(), 1);
  EXPECT_EQ(nesting.Find(0, 970'000), 1);
  EXPECT_EQ(nesting.Find(0, 1'001'000), 1);
  EXPECT_EQ(nesting.Find(0, 1'007'500), 4);
  EXPECT_EQ(nesting.Find(0, 1'060'000), 2);
  EXPECT_EQ(nesting.Find(0, 500'000), 0);
}

// By the definition: at each time the span that is open and began last, marks where none is.
TEST(Nesting, EachTimeIsInOneSpan) {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    std::vector<NestSpan> spans;
    Spans plain, marks;  // those of the other kind stay, without length
    for (auto i = random() % 20; i > 0; --i) {
      const auto start = static_cast<TimeNs>(random() % 40);
      const auto end = start + static_cast<TimeNs>(random() % (random() % 4 == 0 ? 50 : 8));
      const bool is_mark = random() % 5 == 0;
      spans.push_back({start, end, 0, is_mark});
      (is_mark ? marks : plain).emplace_back(start, end);
      (is_mark ? plain : marks).emplace_back(-9, -9);
    }
    TimeNs reached = std::numeric_limits<TimeNs>::max(), last = -1;
    for (const NestSpan& span : spans) {
      reached = std::min(reached, span.start);
      last = std::max(last, span.end);
    }
    const Nesting nesting(spans);
    nesting.VisitOpen(0, [&](std::int64_t span, TimeNs begin, TimeNs end) {
      ASSERT_EQ(begin, reached) << round;
      ASSERT_LT(begin, end) << round;
      for (TimeNs time = begin; time < end; ++time) {
        const auto open = [&](TimeNs from, TimeNs to) { return from <= time && time < to; };
        const std::int64_t of_plain = Innermost(plain, open);
        ASSERT_EQ(span, of_plain != Nesting::kNone ? of_plain : Innermost(marks, open)) << round;
      }
      reached = end;
    });
    if (!spans.empty()) {
      EXPECT_EQ(reached, last) << round;
    }
  }
}

// By the definition of NestPlace: the innermost module around the item, else the innermost in which
// it begins, which does not begin with it: then the item is around the module.
TEST(ModuleNest, PutsItemsWhereTheyBelong) {
  std::mt19937 random(7);
  const auto make = [&] {
    constexpr TimeNs kUnit = 10'000;  // beyond rounding
    const auto start = kUnit * static_cast<TimeNs>(random() % 12);
    return std::pair{start, start + kUnit * static_cast<TimeNs>(random() % 6)};
  };
  for (int round = 0; round < 300; ++round) {
    Spans modules;
    for (auto i = random() % 20; i > 0; --i) modules.push_back(make());
    std::vector<NestSpan> listed;
    for (const auto& [start, end] : modules) listed.push_back({start, end, 3});
    std::vector<NestSpan> items;
    for (int i = 0; i < 20; ++i) {
      const auto [start, end] = make();
      items.push_back({start, end, 3});
    }
    const ModuleNest nest = Nest(listed, items);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const NestSpan& item = items[i];
      const std::int64_t around = InnermostEnclosing(modules, {item.start, item.end});
      const std::int64_t begun_in = Innermost(modules, [&](TimeNs start, TimeNs end) {
        return std::pair{start, item.end} <= std::pair{item.start, end} && item.start < end;
      });
      const bool straddles = item.start < item.end && around != begun_in;
      ASSERT_EQ(nest.places[i].module,
                around != NestPlace::kNone || !straddles ? around : begun_in);
      ASSERT_EQ(nest.places[i].straddles, straddles) << round << ": " << i;
    }
  }
}

TEST(Nesting, KeepsSpansThatTouchApart) {
  const Nesting nesting = NestingOf({{0, 10}, {10, 20}, {10, 10}, {20, 20}, {20, 30}});
  EXPECT_EQ(nesting.Roots(), (std::vector<std::uint32_t>{0, 1, 4}));
  EXPECT_EQ(nesting.Parent(2), 1);
  EXPECT_EQ(nesting.Parent(3), 4);
}

TEST(Nesting, PutsNothingIntoSpansWithoutLength) {
  const Nesting nesting = NestingOf({{5, 5}, {5, 5}});
  EXPECT_EQ(nesting.Roots(), (std::vector<std::uint32_t>{0, 1}));
}

// A walk over all levels for each of the times would take minutes.
TEST(Nesting, FindsItAmongAHundredThousandLevels) {
  constexpr TimeNs kLevels = 100'000;
  Spans spans;
  for (TimeNs i = 0; i < kLevels; ++i) spans.emplace_back(i, 3 * kLevels - i);
  const Nesting nesting = NestingOf(spans);
  for (TimeNs i = 1; i < kLevels; ++i) {
    ASSERT_EQ(nesting.FindAround(0, 3 * kLevels - i), i - 1);
    ASSERT_EQ(nesting.Find(0, 3 * kLevels - i), i - 1);  // span i ends then
  }
}

TEST(Nesting, FindsItWhereAllBeginTogether) {
  constexpr TimeNs kSpans = 100'000;
  Spans spans;
  for (TimeNs i = 0; i < kSpans; ++i) spans.emplace_back(0, 2 * kSpans - i);
  const Nesting nesting = NestingOf(spans);
  for (TimeNs i = 1; i < kSpans; ++i) {
    ASSERT_EQ(nesting.FindAround(0, 0), Nesting::kNone);
    ASSERT_EQ(nesting.Find(0, 2 * kSpans - i), i - 1);
  }
}

}  // namespace
}  // namespace mpa
