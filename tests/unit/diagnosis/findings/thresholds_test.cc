// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>

#include "diagnosis/findings/documented.h"
#include "diagnosis/made_diagnosis.h"
#include "mpa/diagnosis/catalogue.h"
#include "support/failures.h"

namespace mpa {
namespace {

TEST(Thresholds, ListsEveryThresholdOnce) {
  std::set<std::string> names;
  std::set<const Threshold*> places;
  for (const RuleEntry& entry : RuleList()) {
    names.insert(std::string(entry.of) + "/" + std::string(entry.threshold->name));
    places.insert(entry.threshold);
    EXPECT_FALSE(entry.threshold->meaning.empty());
    EXPECT_GE(entry.threshold->usual, entry.threshold->least) << entry.threshold->name;
    EXPECT_LE(entry.threshold->usual, entry.threshold->most) << entry.threshold->name;
  }
  EXPECT_EQ(names.size(), RuleList().size());
  EXPECT_EQ(places.size(), RuleList().size());
}

TEST(Thresholds, IsDocumented) {
  std::string table = "| Finding | Rule | Default | Meaning |\n|---|---|---|---|\n";
  for (const RuleEntry& entry : RuleList()) {
    const double usual = entry.threshold->usual;
    std::string meaning(entry.threshold->meaning);
    meaning.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(meaning.front())));
    table += fmt::format(
        "| `{}` | `{}` | {} | {} |\n", entry.of, entry.threshold->name,
        usual == std::floor(usual) ? fmt::format("{}", Whole(usual)) : fmt::format("{}", usual),
        meaning);
  }
  test::ExpectDocumented("thresholds", table);
}

TEST(Thresholds, ReadsWhatItPrints) {
  Thresholds thresholds;
  SetRule("link.slow", "bandwidth_ratio", 0.55, thresholds);
  SetRule("rank", "peers", 7, thresholds);
  const std::string text = ThresholdsText(thresholds);
  const Thresholds read = ParseThresholds(text);
  EXPECT_EQ(read[RuleNamed("link.slow", "bandwidth_ratio")], 0.55);
  EXPECT_EQ(read[RuleNamed("rank", "peers")], 7);
  EXPECT_EQ(ThresholdsText(read), text);
}

TEST(Thresholds, KeepsWhatAFileLeavesOut) {
  const Thresholds thresholds =
      ParseThresholds(R"({"schema": "mpa.rules/1", "all": {"least_share": 0.5}})");
  EXPECT_EQ(thresholds[RuleNamed("all", "least_share")], 0.5);
  EXPECT_EQ(thresholds[RuleNamed("all", "fault_share")],
            Thresholds()[RuleNamed("all", "fault_share")]);
}

TEST(Thresholds, NamesWhatIsWrong) {
  const auto failure = [](const std::string& inner) -> std::string {
    return test::ErrorOf([&] { ParseThresholds(R"({"schema": "mpa.rules/1", )" + inner + "}"); })
        .what();
  };
  EXPECT_EQ(failure(R"("link.slow": {"bandwith": 1})"),
            "link.slow: unknown rule 'bandwith'; available: bandwidth_ratio, least_bytes, share,"
            " members, card_gbs, card_share, port_gbs, port_share, port_bytes");
  EXPECT_EQ(failure(R"("link.fast": {})"),
            "no rules for 'link.fast'; 'advisor --print_rules' lists all");
  EXPECT_EQ(failure(R"("link.slow": 3)"), "link.slow: give an object of rules");
  EXPECT_EQ(failure(R"("link.slow": {"bandwidth_ratio": 1.01})"),
            "link.slow: bandwidth_ratio: give a number from 0 to 1");
  EXPECT_EQ(failure(R"("link.slow": {"bandwidth_ratio": -0.1})"),
            "link.slow: bandwidth_ratio: give a number from 0 to 1");
  EXPECT_EQ(failure(R"("link.slow": {"bandwidth_ratio": "0.5"})"),
            "link.slow: bandwidth_ratio: give a number from 0 to 1");
  EXPECT_EQ(failure(R"("comm.retransmit": {"ratio": 4.9})"),
            "comm.retransmit: ratio: give a number from 5 to 1000000")
      << "shorter tasks are not kept";
  for (const char* text : {"[]", "{}", "3", R"({"schema": "mpa.rules/2"})", R"({"schema": 1})"}) {
    EXPECT_HAS_TEXT(test::ErrorOf([&] { ParseThresholds(text); }).what(), "not a rule file");
  }
}

TEST(Thresholds, DecideTheSeverity) {
  Diagnosis diagnosis = MadeDiagnosis();
  const Finding finding = MadeFinding("host.gc", 15'000'000);
  EXPECT_EQ(ImpactOf(diagnosis, finding), Impact::kHigh);
  SetRule("all", "critical_share", 0.15, diagnosis.thresholds);
  EXPECT_EQ(ImpactOf(diagnosis, finding), Impact::kCritical);
  SetRule("all", "critical_share", 0.16, diagnosis.thresholds);
  SetRule("all", "high_share", 0.16, diagnosis.thresholds);
  EXPECT_EQ(ImpactOf(diagnosis, finding), Impact::kMedium);
}

}  // namespace
}  // namespace mpa
