// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/actions.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "diagnosis/made_diagnosis.h"

namespace mpa {
namespace {

TEST(Actions, EveryFindingHasOne) {
  for (const CatalogueEntry& entry : Catalogue()) {
    EXPECT_FALSE(ActionsOf(entry.id).empty()) << entry.id;
    EXPECT_LE(ActionsOf(entry.id).size(), 2u) << entry.id;
  }
  EXPECT_TRUE(ActionsOf("no.such").empty());
}

TEST(Actions, SettingsAreThoseOfTheAdvice) {
  for (const CatalogueEntry& entry : Catalogue()) {
    for (const Action& action : ActionsOf(entry.id)) {
      if (action.what != "set_env") continue;
      const auto variable = std::get<std::string_view>(action.args.at(0).second);
      EXPECT_NE(entry.advice.english.find(variable), std::string_view::npos) << entry.id;
    }
  }
}

TEST(Actions, NameTheRanks) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("rank.late", 8'000'000)};
  diagnosis.findings[0].ranks = {5};
  const auto document = nlohmann::json::parse(DiagnosisJson(diagnosis, {}));
  EXPECT_EQ(document["findings"][0]["actions"], nlohmann::json::parse(R"([{"what": "capture", "args":
      {"level": "Level1", "warmup_steps": 1, "active_steps": 3, "ranks": [5]}}])"));
}

TEST(Actions, AFindingNamesWhatItHides) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("rank.late", 8'000'000), MadeFinding("host.h2d", 7'000'000)};
  diagnosis.findings[1].after = {"rank.late"};
  const auto document = nlohmann::json::parse(DiagnosisJson(diagnosis, {}));
  EXPECT_EQ(document["findings"][0]["hides"], nlohmann::json({"host.h2d"}));
  EXPECT_EQ(document["findings"][1]["hides"], nlohmann::json::array());
  EXPECT_EQ(document["findings"][1]["after"], nlohmann::json({"rank.late"}));
}

}  // namespace
}  // namespace mpa
