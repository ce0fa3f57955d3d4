// SPDX-License-Identifier: Apache-2.0
// Spans within spans, and which of them hold a point in time.
#include "mpa/measure/nesting.h"

#include <gtest/gtest.h>

#include <random>

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

// Of those that come before the item, if any do, and last until its end.
std::int64_t InnermostEnclosing(const Spans& spans, const std::pair<TimeNs, TimeNs>& item) {
  return Innermost(
      spans, [&](TimeNs start, TimeNs end) { return start <= item.first && item.second <= end; });
}

TEST(Nesting, FindsTheInnermostSpanAroundAnother) {
  std::mt19937 random(6);
  for (int round = 0; round < 300; ++round) {
    Spans spans;
    for (auto i = random() % 30; i > 0; --i) {
      const auto start = static_cast<TimeNs>(random() % 12);
      spans.emplace_back(start, start + static_cast<TimeNs>(random() % 6));
    }
    const Nesting nesting = NestingOf(spans);
    const std::vector<std::int64_t> enclosing = nesting.Enclosing();
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const auto [start, end] = spans[i];
      ASSERT_EQ(nesting.FindEnclosing({start, end, 0}), InnermostEnclosing(spans, spans[i]))
          << round << ": " << i;
      Spans others = spans;  // only equal ones that come before it
      for (std::size_t j = i; j < spans.size(); ++j) {
        if (spans[j] == spans[i]) others[j] = {-1, -1};
      }
      ASSERT_EQ(enclosing[i], InnermostEnclosing(others, spans[i])) << round << ": " << i;
    }
  }
}

// 10..30 outlasts 0..20 by 10: 25 is within it only where overhangs count.
TEST(Nesting, CutsOverhangsIfAsked) {
  const std::vector<NestSpan> spans = {{0, 20, 0}, {10, 30, 0}, {25, 26, 0}};
  EXPECT_EQ(Nesting(spans).Parent(2), 1);
  EXPECT_EQ(Nesting(spans).At(1).end, 30);
  const Nesting cut(spans, Overhang::kCut);
  EXPECT_EQ(cut.Parent(1), 0);
  EXPECT_EQ(cut.At(1).end, 20);
  EXPECT_EQ(cut.Parent(2), Nesting::kNone);
}

// By the definition of NestPlace: the innermost module around the item, else the innermost in which
// it begins, which does not begin with it: then the item is around the module.
TEST(ModuleNest, PutsItemsWhereTheyBelong) {
  std::mt19937 random(7);
  const auto make = [&] {
    const auto start = static_cast<TimeNs>(random() % 12);
    return std::pair{start, start + static_cast<TimeNs>(random() % 6)};
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
