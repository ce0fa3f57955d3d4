// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "diagnosis/made_diagnosis.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

using DiagnosisDocument = nlohmann::json;

DiagnosisDocument DocumentOf(const Diagnosis& diagnosis, const DiagnosisJsonOptions& options) {
  return DiagnosisDocument::parse(DiagnosisJson(diagnosis, options));
}

// Three findings with two places each, two accounts, notes and what could not be judged.
Diagnosis FullDiagnosis() {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.accounting.push_back(diagnosis.accounting[0]);
  diagnosis.accounting[1].rank = 1;
  for (const std::string_view id : {"host.h2d", "host.sync", "op.format"}) {
    Finding finding = MadeFinding(id, 8'000'000);
    finding.evidence.push_back(finding.evidence[0]);
    diagnosis.findings.push_back(std::move(finding));
  }
  diagnosis.innocent_calls = {{"aclrtSynchronizeStream", 91'700'000, "host.sync"}};
  diagnosis.not_judged = {{&kHostGc, "gc_detect_threshold", "set it to 1"}};
  diagnosis.notes = {"a note"};
  return diagnosis;
}

TEST(DiagnosisJson, NamesAllWhoCanFixIt) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("rank.late_compute", 8'000'000)};
  EXPECT_EQ(DocumentOf(diagnosis, {})["findings"][0]["owner"],
            DiagnosisDocument({"hardware", "operator", "data"}));
}

TEST(DiagnosisJson, HoldsAllOfIt) {
  const DiagnosisDocument document = DocumentOf(FullDiagnosis(), {});
  EXPECT_EQ(document["findings"].size(), 3u);
  EXPECT_EQ(document["accounting"].size(), 2u);
  EXPECT_EQ(document["omitted"], DiagnosisDocument({{"findings", 0}, {"evidence", 0}}));
  const DiagnosisDocument& first = document["findings"][0];
  EXPECT_EQ(first["gain_ns"], 8'000'000);
  EXPECT_DOUBLE_EQ(first["share"].get<double>(), 0.08);
  EXPECT_EQ(first["severity"], "medium");
  EXPECT_EQ(first["evidence"].size(), 2u);
  EXPECT_EQ(first["evidence"][0]["start_ns"], 7);
  EXPECT_FALSE(first["evidence"][0].contains("peer"));
}

TEST(DiagnosisJson, PlacesHaveLinesAndOperations) {
  Diagnosis diagnosis = FullDiagnosis();
  diagnosis.findings[0].evidence[0].line = "train.py:90";
  diagnosis.findings[0].evidence[1].op = "hcom_allReduce__1_0";
  diagnosis.innocent_calls[0].line = "train.py:95";
  const DiagnosisDocument document = DocumentOf(diagnosis, {});
  const DiagnosisDocument& places = document["findings"][0]["evidence"];
  EXPECT_EQ(places[0]["source_line"], "train.py:90");
  EXPECT_FALSE(places[0].contains("op"));
  EXPECT_EQ(places[1]["op"], "hcom_allReduce__1_0");
  EXPECT_FALSE(places[1].contains("source_line"));
  EXPECT_EQ(document["not_causes"][0]["source_line"], "train.py:95");
}

TEST(DiagnosisJson, ListsWhatFindingsHide) {
  Diagnosis diagnosis = FullDiagnosis();
  EXPECT_FALSE(DocumentOf(diagnosis, {}).contains("hidden"));
  diagnosis.hidden = {MadeFinding("host.gc", 0)};
  diagnosis.hidden[0].alone = 13'000'000;
  diagnosis.hidden[0].ranks = {3};
  diagnosis.hidden[0].after = {"host.h2d"};
  const DiagnosisDocument hidden = DocumentOf(diagnosis, {})["hidden"];
  ASSERT_EQ(hidden.size(), 1u);
  EXPECT_EQ(hidden[0]["key"], "host.gc");
  EXPECT_EQ(hidden[0]["kind"], "fault");
  EXPECT_EQ(hidden[0]["alone_ns"], 13'000'000);
  EXPECT_EQ(hidden[0]["ranks"], DiagnosisDocument({3}));
  EXPECT_EQ(hidden[0]["behind"], DiagnosisDocument({"host.h2d"}));
  const DiagnosisDocument cut = DocumentOf(diagnosis, {.max_chars = 1200});
  EXPECT_FALSE(cut.contains("hidden"));
  EXPECT_EQ(cut["omitted"]["hidden"], 1);
}

TEST(DiagnosisJson, HoldsTheChainOfWhatIsExplained) {
  Diagnosis diagnosis = FullDiagnosis();
  EXPECT_FALSE(DocumentOf(diagnosis, {})["findings"][0].contains("chain"));
  FindingChain chain;
  chain.late.emplace();
  chain.late->categories = {{"free.python", 5, 2}};
  chain.late->explained = Explained::kMainly;
  for (std::int64_t rank = 0; rank < 100; ++rank) chain.late->waiting.push_back({rank, 4});
  chain.path = {{-1, "hcom_allReduce__1_0", 8}};
  for (std::int32_t step = 0; step < 30; ++step) chain.stalls.push_back({step, 2, 9, 4});
  diagnosis.findings[0].chain = chain;
  const DiagnosisDocument json = DocumentOf(diagnosis, {})["findings"][0]["chain"];
  EXPECT_EQ(json["late"]["leaves"][0]["excess_ns"], 3);
  EXPECT_EQ(json["late"]["explained"], "mainly");
  EXPECT_EQ(json["late"]["waiting"].size(), 16u);
  EXPECT_EQ(json["late"]["waiting_ranks"], 100);
  EXPECT_FALSE(json["late"].contains("divergence"));
  EXPECT_EQ(json["stalls"].size(), 30u) << "all of them";
  EXPECT_EQ(json["stalls"][29],
            DiagnosisDocument({{"step", 29}, {"rank", 2}, {"late_ns", 9}, {"next_ns", 4}}));
  EXPECT_FALSE(json.contains("arrivals"));
  EXPECT_TRUE(json["critical_path"][0]["rank"].is_null());
  chain.late->divergence = Divergence{.rank = 3,
                                      .peer = 1,
                                      .step = 10,
                                      .kernel = "MatMulV3",
                                      .shapes = "",
                                      .op = "aten::mm",
                                      .line = "a.py:7",
                                      .behind = 2,
                                      .until = "all",
                                      .late = 4};
  diagnosis.findings[0].chain = chain;
  const DiagnosisDocument divergence =
      DocumentOf(diagnosis, {})["findings"][0]["chain"]["late"]["divergence"];
  EXPECT_EQ(divergence["op"], "aten::mm");
  EXPECT_EQ(divergence["source_line"], "a.py:7");
}

TEST(DiagnosisJson, TitlesNameTheRanks) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("rank.late", 8'000'000)};
  diagnosis.findings[0].ranks = {5};
  EXPECT_EQ(DocumentOf(diagnosis, {})["findings"][0]["text"]["title"],
            "collectives wait for rank 5");
}

TEST(DiagnosisJson, CutsTheLeastUsefulFirst) {
  const Diagnosis diagnosis = FullDiagnosis();
  const std::size_t whole = DiagnosisJson(diagnosis, {.max_chars = 1'000'000}).size();
  // What is left when the document has to be shorter by a byte, again and again.
  std::vector<std::string> order;
  std::size_t size = whole;
  DiagnosisDocument before = DocumentOf(diagnosis, {.max_chars = whole});
  while (size > 600) {
    const std::string text = DiagnosisJson(diagnosis, {.max_chars = size - 1});
    ASSERT_LT(text.size(), size);
    size = text.size();
    const DiagnosisDocument after = DiagnosisDocument::parse(text);
    for (const char* what : {"evidence", "accounting", "notes", "skipped", "metrics", "findings"}) {
      const int more = after["omitted"].value(what, 0) - before["omitted"].value(what, 0);
      if (more > 0 && (order.empty() || order.back() != what)) order.emplace_back(what);
    }
    for (const DiagnosisDocument& finding : after["findings"]) {
      EXPECT_TRUE(finding.contains("id") && finding.contains("key") && finding.contains("gain_ns"));
      EXPECT_FALSE(finding["text"]["advice"].get<std::string>().empty());
    }
    before = after;
  }
  // A finding that goes takes its last place with it.
  EXPECT_EQ(order, (std::vector<std::string>{"evidence", "accounting", "notes", "skipped",
                                             "metrics", "evidence", "findings", "evidence",
                                             "findings", "evidence", "findings"}));
}

TEST(DiagnosisJson, CountsWhatItLeavesOut) {
  const DiagnosisDocument one = DocumentOf(FullDiagnosis(), {.findings = 1, .evidence = 1});
  // One of the two places of the finding that stays, and both of the two that go.
  EXPECT_EQ(one["omitted"], DiagnosisDocument({{"findings", 2}, {"evidence", 5}}));
}

// However large and wild the diagnosis is: it parses, and is no longer than was asked.
TEST(DiagnosisJson, FitsWhateverComes) {
  Diagnosis diagnosis = FullDiagnosis();
  for (std::int64_t rank = 2; rank < 1000; ++rank) diagnosis.ranks.push_back(rank);
  for (std::int32_t step = 0; step < 1000; ++step) diagnosis.steps.push_back(step);
  const std::string wild = "\x01\xff\"\\" + std::string(300, '\x02') + "\xe2\x80\xae";
  diagnosis.level = wild;
  for (int i = 0; i < 20; ++i) diagnosis.settings[wild + std::to_string(i)] = wild;
  for (int i = 0; i < 20; ++i) {
    Finding finding = MadeFinding("rank.late", 8'000'000);
    finding.ranks = diagnosis.ranks;
    finding.evidence[0].name = wild;
    diagnosis.findings.push_back(std::move(finding));
  }
  diagnosis.innocent_calls.assign(30, {wild, 1, ""});
  for (std::size_t most = 600; most < 40'000; most += 7013) {
    const std::string text = DiagnosisJson(diagnosis, {.max_chars = most});
    EXPECT_LE(text.size(), most);
    const DiagnosisDocument document = DiagnosisDocument::parse(text);
    EXPECT_EQ(document["findings"].size() + document["omitted"]["findings"].get<std::size_t>(),
              23u);
    EXPECT_EQ(document["step_ns"], 100'000'000);
  }
}

TEST(DiagnosisJson, PersistenceNeedsThreeSteps) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.h2d", 8'000'000)};
  const auto class_of = [&](std::vector<std::int32_t> steps, std::vector<std::int32_t> seen) {
    diagnosis.steps = std::move(steps);
    diagnosis.findings[0].steps = std::move(seen);
    return DocumentOf(diagnosis, {})["findings"][0]["persistence"]["class"].get<std::string>();
  };
  EXPECT_EQ(class_of({1, 2}, {1, 2}), "unknown");
  EXPECT_EQ(class_of({1, 2, 3, 4, 5}, {1, 2, 3}), "systematic");
  EXPECT_EQ(class_of({1, 2, 3, 4, 5}, {1, 2}), "intermittent");
  EXPECT_EQ(class_of({1, 2, 3}, {2}), "one-off");
}

}  // namespace
}  // namespace mpa
