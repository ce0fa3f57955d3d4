// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>

#include "mpa/base/language.h"
#include "mpa/promises/promise.h"
#include "support/files.h"

namespace mpa {
namespace {

const KeptPromise& Of(const std::vector<KeptPromise>& judged, Promise promise) {
  return *std::ranges::find_if(
      judged, [&](const KeptPromise& kept) { return kept.rule->promise == promise; });
}

TEST(Promises, AreListedOnceEachInTheOrderOfTheEnum) {
  std::set<std::string_view> names;
  std::size_t number = 0;
  for (const PromiseRule& rule : AllPromises()) {
    EXPECT_EQ(static_cast<std::size_t>(rule.promise), number++) << rule.name;
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_FALSE(rule.breaches.empty()) << rule.name;
  }
  EXPECT_EQ(number, static_cast<std::size_t>(Promise::kCommunicationRecorded) + 1);
}

// What was counted is in English, what people read is not, and the mend is that of the same breach.
TEST(Promises, SayTheirBreachesInChinese) {
  for (const PromiseRule& rule : AllPromises()) {
    for (const Breach& breach : rule.breaches) {
      Issues issues;
      issues.Count(rule.promise, breach.says, "x.csv:1");
      const std::string_view mend = MendOf(rule, issues.Lines(rule.promise).front());
      SetLanguage(Language::kChinese);
      const std::string line = issues.Lines(rule.promise).front();
      const std::string_view mend_in_chinese = MendOf(rule, line);
      SetLanguage(Language::kEnglish);
      EXPECT_EQ(line.find(breach.says), std::string::npos) << line;
      EXPECT_NE(line.find("x.csv:1"), std::string::npos) << line;
      EXPECT_EQ(mend_in_chinese, mend) << line;
    }
  }
}

TEST(Promises, LaunchesWithoutWorkAreCountedOnce) {
  RankTrace trace;
  trace.launches.Append({.link = 0, .host_time = 1'000'000});
  for (const TimeNs time : {2'000'000, 5'500'000}) {
    trace.unanswered_launches.Append({.time = time, .track = 0});
  }
  CheckPromises(Tables::kNone, trace);
  ASSERT_EQ(trace.issues.Lines(Promise::kLaunchesHaveWork).size(), 1u);
  EXPECT_NE(trace.issues.Lines()[0].find("2 of 3 launches, within 3.500 ms"), std::string::npos)
      << trace.issues.Lines()[0];
}

// Steps of 10 ms with 100 ms between them, in the middle half of which something may run.
TEST(Promises, GapsBetweenStepsAreToldUnlessSomethingRunsInTheirMiddle) {
  constexpr TimeNs kMs = 1'000'000;
  constexpr std::int32_t kSteps = 20;
  std::mt19937 random(3);
  for (int run = 0; run < 50; ++run) {
    RankTrace trace;
    trace.source = "text";
    trace.tracks.Append({});
    for (std::int32_t step = 0; step < kSteps; ++step) {
      const TimeNs begin = step * 110 * kMs;
      trace.steps.Append({.id = step, .start = begin, .end = begin + 10 * kMs});
      trace.host_ops.Append({.start = begin, .dur = kMs, .track = 0});
    }
    for (int i = 0; i < 12; ++i) {
      const TimeNs start = static_cast<TimeNs>(random() % (kSteps * 110)) * kMs;
      const TimeNs dur =
          static_cast<TimeNs>(random() % 4 == 0 ? random() % 400 : random() % 9) * kMs;
      if (i % 2 == 0)
        trace.kernels.Append({.start = start, .dur = dur});
      else
        trace.python_calls.Append({.start = start, .dur = dur, .track = 0});
    }
    std::size_t silent = 0;
    for (std::int32_t step = 1; step < kSteps; ++step) {
      const TimeNs from = step * 110 * kMs - 75 * kMs, to = step * 110 * kMs - 25 * kMs;
      const auto runs = [&](const auto& table) {
        for (std::size_t i = 0; i < table.Size(); ++i) {
          if (table.start[i] < to && table.start[i] + table.dur[i] > from) return true;
        }
        return false;
      };
      if (!runs(trace.kernels) && !runs(trace.python_calls)) ++silent;
    }
    CheckPromises(Tables::kHostOps | Tables::kKernels | Tables::kCommunications, trace);
    const std::vector<std::string> lines = trace.issues.Lines(Promise::kStepsFollow);
    ASSERT_EQ(lines.size(), silent == 0 ? 0u : 1u);
    if (silent > 1) {
      EXPECT_NE(lines[0].find(std::to_string(silent)), std::string::npos) << lines[0];
    }
  }
}

TEST(Promises, AreKeptBrokenOrNotChecked) {
  RankTrace trace;
  trace.source = "text";
  trace.kernels.Append({.start = 1, .dur = 1});
  trace.issues.Count(Promise::kOneDevice, "work of another device", "x.json");
  const std::vector<KeptPromise> judged = JudgePromises(trace);
  EXPECT_EQ(Of(judged, Promise::kReadable).kept, Kept::kKept);
  EXPECT_EQ(Of(judged, Promise::kOneDevice).kept, Kept::kBroken);
  EXPECT_EQ(Of(judged, Promise::kOneDevice).lines,
            std::vector<std::string>{"work of another device (x.json)"});
  // It has no launch, so nothing says whether launches have work.
  EXPECT_EQ(Of(judged, Promise::kLaunchesHaveWork).kept, Kept::kNotChecked);
  const bool has_streams = std::ranges::any_of(judged, [](const KeptPromise& kept) {
    return kept.rule->promise == Promise::kStreamsInOrder;
  });
  EXPECT_FALSE(has_streams) << "only Kineto's traces promise it";
}

TEST(Promises, TheMendIsThatOfTheMessage) {
  const PromiseRule& rule = AllPromises()[static_cast<std::size_t>(Promise::kStepsFollow)];
  EXPECT_EQ(MendOf(rule, "steps overlap, their times are wrong or belong to several runs (x)"),
            "give each collection alone");
  const PromiseRule& readable = AllPromises()[static_cast<std::size_t>(Promise::kReadable)];
  EXPECT_EQ(MendOf(readable, "allocation left out, invalid size (operator_memory.csv:4)"),
            "parse again");
}

// docs/broken-input.md has the list.

std::string FormatNames(Formats formats) {
  static constexpr std::pair<Formats, const char*> kNames[] = {
      {Formats::kNpuText, "text"},
      {Formats::kDatabase, "database"},
      {Formats::kRaw, "raw"},
      {Formats::kKineto, "torch.profiler"}};
  if (formats == Formats::kAll) return "all";
  std::string names;
  for (const auto& [format, name] : kNames) {
    if ((static_cast<unsigned>(formats) & static_cast<unsigned>(format)) == 0) continue;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

std::string Spaced(std::string_view name) {
  std::string spaced(name);
  std::ranges::replace(spaced, '_', ' ');
  return spaced;
}

std::string Listed() {
  static constexpr const char* kConsequences[] = {"left out", "unknown", "told"};
  std::string text =
      "| Promise | What a whole capture keeps | Formats | Numbers, where it is broken |\n"
      "|---|---|---|---|\n";
  for (const PromiseRule& rule : AllPromises()) {
    text += "| " + Spaced(rule.name) + " | " + std::string(rule.says) + " | " +
            FormatNames(rule.formats) + " | " +
            kConsequences[static_cast<std::size_t>(rule.consequence)] + " |\n";
  }
  text += "\n| Promise | Problem | Message | What to do |\n|---|---|---|---|\n";
  for (const PromiseRule& rule : AllPromises()) {
    std::string name = Spaced(rule.name);
    for (const Breach& breach : rule.breaches) {
      text += "| " + name + " | " + std::string(breach.problem) + " | `" +
              std::string(breach.says) + " (" + std::string(breach.place) + ")` | " +
              std::string(breach.mend) + " |\n";
      name.clear();
    }
  }
  return text;
}

TEST(Promises, AreDocumented) {
  const std::filesystem::path page =
      std::filesystem::path(MPA_SOURCE_DIR) / "docs" / "broken-input.md";
  const std::string text = test::ReadAll(page);
  const std::string begin = "<!-- promises: begin -->\n", end = "<!-- promises: end -->\n";
  const std::size_t from = text.find(begin), to = text.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const std::string wanted =
      text.substr(0, from) + begin + "\n" + Listed() + "\n" + text.substr(to);
  if (std::getenv("MPA_UPDATE_DOCS") != nullptr) {
    std::ofstream(page) << wanted;
    return;
  }
  EXPECT_EQ(text, wanted) << "MPA_UPDATE_DOCS=1 writes docs/broken-input.md anew";
}

}  // namespace
}  // namespace mpa
