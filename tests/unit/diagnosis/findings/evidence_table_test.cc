// SPDX-License-Identifier: Apache-2.0
// What each finding needs, looks at and is refuted by: it is declared, documented and tested.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/findings/documented.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "diagnosis/waiting_host.h"
#include "mpa/diagnosis/catalogue.h"
#include "mpa/diagnosis/causes/variables.h"
#include "support/in_chinese.h"

namespace mpa {
namespace {

std::string Remedy(const FindingType& finding) {
  std::string text;
  std::set<std::string_view> told;
  for (const auto* parts : {&finding.advice.parts, &finding.advice.of_gpu}) {
    for (const AdvicePart& part : *parts) {
      if (!told.insert(part.text).second) continue;
      text += (text.empty() ? "" : "; ") + std::string(part.text);
    }
  }
  return text.empty() ? "the recommended value" : text;
}

std::string Needs(const FindingType& finding) {
  std::string text;
  std::set<std::string_view> told;
  for (const Record record : finding.needs) {
    const std::string_view words = WordsOf(record, false);
    if (told.insert(words).second) text += (text.empty() ? "" : "; ") + std::string(words);
  }
  return text;
}

std::string TitleInTable(const FindingType& finding) {
  std::string title(finding.title);
  if (const std::size_t at = title.find("{}"); at != std::string::npos)
    title.replace(at, 2, "a rank");
  return title;
}

std::string FindingTable() {
  std::string text =
      "| Finding | Says | Needs | Looks at | Is not said where | What to do |\n"
      "|---|---|---|---|---|---|\n";
  for (const FindingType* finding : Catalogue()) {
    text += "| `" + std::string(finding->id) + "` | " + TitleInTable(*finding) + " | " +
            Needs(*finding) + " | " + std::string(finding->looked_at) + " | " +
            std::string(finding->refuted_by) + " | " + Remedy(*finding) + " |\n";
  }
  return text;
}

TEST(FindingTable, EveryFindingSaysWhatItLooksAtAndWhatRefutesIt) {
  for (const FindingType* finding : Catalogue()) {
    EXPECT_FALSE(finding->looked_at.empty()) << finding->id;
    EXPECT_FALSE(finding->refuted_by.empty()) << finding->id;
  }
}

TEST(FindingTable, HasChineseForEveryText) {
  for (const FindingType* finding : Catalogue()) {
    std::vector<std::string_view> texts = {finding->title, finding->looked_at, finding->refuted_by,
                                           finding->problem};
    for (const auto* parts : {&finding->advice.parts, &finding->advice.of_gpu}) {
      for (const AdvicePart& part : *parts) texts.push_back(part.text);
    }
    for (const Record record : finding->needs) {
      for (const bool on_gpu : {false, true}) texts.push_back(WordsOf(record, on_gpu));
    }
    for (const std::string_view text : texts) EXPECT_TRUE(HasChinese(text)) << text;
  }
  for (const Variable& variable : Variables()) {
    EXPECT_TRUE(HasChinese(variable.advice)) << variable.advice;
    EXPECT_TRUE(HasChinese(CostsOf(variable))) << variable.name;
  }
  for (std::size_t category = 0; category < kTimeCategories; ++category) {
    const std::string_view title = TitleOf(static_cast<TimeCategory>(category));
    EXPECT_TRUE(HasChinese(title) || title == "AI CPU") << title;
  }
}

TEST(FindingTable, IsDocumented) { test::ExpectDocumented("findings", FindingTable()); }

// A job that shows the symptom. With `refuted`, it also shows what speaks against the cause.
using Refutation = Diagnosis (*)(bool refuted);

Diagnosis WithRules(const RankDiagnosis& part, std::string_view of, std::string_view rule,
                    double value) {
  Thresholds thresholds;
  SetRule(of, rule, value, thresholds);
  return DiagnoseJob({part}, thresholds);
}

// Where the device has to wait as well, the wait of the host costs nothing.
Diagnosis HostWaits(TimeCategory category, bool device_waits) {
  return WithRules(WaitingHost(category, device_waits), "host.sync", "usual_calls", 0);
}

// Three ranks that meet in a collective. One takes 10 ms more, or all do.
Diagnosis OneOrAll(TimeCategory category, bool all) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 3; ++rank) {
    const TimeNs more = rank == 2 || all ? 10 * kMs : 0, wait = rank == 2 || all ? 0 : 10 * kMs;
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step();
      const bool is_kernel = category == TimeCategory::kMatmul;
      builder.Host(is_kernel ? TimeCategory::kDispatchOp : category, kMs + (is_kernel ? 0 : more));
      builder.Kernel("MatMulV3", 20 * kMs + (is_kernel ? more : 0));
      builder.Collective("hcom_allReduce__1_" + std::to_string(step), kMs + wait);
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

// One of sixteen equal layers in each step has a product that takes 4 ms more; where its tensors
// are larger, its neighbours take longer as well.
Diagnosis OneLongKernel(bool larger) {
  return DiagnoseJob({ThreeSteps([&](PartBuilder& step) {
    for (int layer = 0; layer < 16; ++layer) {
      const bool is_long = layer == 8;
      const TimeNs vector = is_long && larger ? 400 * kUs : 100 * kUs;
      step.Kernel("LayerNorm", vector, TimeCategory::kVector)
          .Kernel("MatMulV3", is_long ? 5 * kMs : kMs)
          .Kernel("Gelu", vector, TimeCategory::kVector);
      for (const char* type : {"LayerNorm", "MatMulV3", "Gelu"})
        step.Kind(type).shapes = step.NameOf("");
    }
  })});
}

template <typename Set>
Diagnosis Products(Set set) {
  return DiagnoseJob({ThreeSteps([&](PartBuilder& step) {
    step.Kernel("MatMulV3", kMs);
    set(step.Kind("MatMulV3"));
  })});
}

const std::map<std::string_view, Refutation>& Refutations() {
  static const std::map<std::string_view, Refutation> all = {
      {"rank.late_compute", {[](bool no) { return OneOrAll(TimeCategory::kMatmul, no); }}},
      {"rank.late_host", {[](bool no) { return OneOrAll(TimeCategory::kDispatchOp, no); }}},
      {"rank.late_input", {[](bool no) { return OneOrAll(TimeCategory::kDataLoader, no); }}},
      {"host.h2d", {[](bool no) { return HostWaits(TimeCategory::kHostCopy, no); }}},
      {"host.sync", {[](bool no) { return HostWaits(TimeCategory::kExplicitSync, no); }}},
      {"host.memory", {[](bool no) { return HostWaits(TimeCategory::kMemory, no); }}},
      {"host.gc", {[](bool no) {
         PartBuilder builder;
         for (int step = 0; step < 3; ++step) {
           builder.Step();
           for (int kernel = 0; kernel < 3; ++kernel) {
             if (kernel == step) {  // at another place of each step
               builder.Host(TimeCategory::kHostIdle, 20 * kMs);
               if (!no) {
                 builder.Part().gaps.push_back(
                     {static_cast<std::uint32_t>(builder.Part().graph.edges.size() - 1),
                      builder.Now() - 20 * kMs, 20 * kMs});
               }
             }
             builder.Host(TimeCategory::kDispatchOp, 10 * kUs);
             builder.Kernel("MatMulV3", 15 * kMs);
           }
         }
         builder.Part().knows_garbage = no;  // recorded, and there is none
         return DiagnoseJob({builder.Build()});
       }}},
      {"host.python", {[](bool no) {
         RankDiagnosis part = ThreeSteps([&](PartBuilder& step) {
           step.Host(no ? TimeCategory::kHostIdle : TimeCategory::kPython, 10 * kMs)
               .Kernel("MatMulV3", 10 * kMs);
         });
         if (no) part.has_host_ops = part.has_stacks = false;
         return DiagnoseJob({part});
       }}},
      {"host.unrecorded", {[](bool no) {
         return DiagnoseJob({ThreeSteps([&](PartBuilder& step) {
           step.Host(no ? TimeCategory::kDispatchOp : TimeCategory::kHostIdle, 10 * kMs)
               .Kernel("MatMulV3", 10 * kMs);
         })});
       }}},
      {"op.variance/MatMulV3", {OneLongKernel}},
      {"op.slow/MatMulV3", {[](bool no) {
         return Products([&](KernelKind& kind) { kind.least = no ? 600 * kUs : 240 * kUs; });
       }}},
      {"op.fp32",
       {[](bool no) { return Products([&](KernelKind& kind) { kind.multiplies_fp32 = !no; }); }}},
      {"op.reformulate/NonZero", {[](bool no) {
         return DiagnoseJob({ThreeSteps([&](PartBuilder& step) {
           step.Kernel("MatMulV3", 9 * kMs).Kernel("NonZero", kMs, TimeCategory::kVector);
           step.Kind("NonZero").on_vector_cores = !no;
         })});
       }}},
  };
  return all;
}

// Findings without such a job, and why.
const std::map<std::string_view, std::string_view>& WithoutRefutation() {
  static const std::map<std::string_view, std::string_view> reasons = {
      {"host.aclop", "a call of aclop is the fact itself"},
      {"host.graph_missed", "steps that ran without the graph are the fact itself"},
      {"op.format", "kernels that convert are the fact itself; the host's time is never theirs"},
  };
  return reasons;
}

std::string_view IdIn(std::string_view key) { return key.substr(0, key.find('/')); }

TEST(Refutation, EveryFindingHasOne) {
  std::set<std::string_view> refuted, known;
  for (const auto& [key, job] : Refutations()) refuted.insert(IdIn(key));
  for (const auto& [id, test] : RefutingTests()) refuted.insert(id);
  for (const auto& [id, reason] : WithoutRefutation()) refuted.insert(id);
  for (const FindingType* finding : Catalogue()) {
    known.insert(finding->id);
    EXPECT_TRUE(refuted.contains(finding->id)) << finding->id << ": add a job that refutes it";
  }
  EXPECT_EQ(refuted, known);
}

TEST(Refutation, TheTestsThatHaveOneAreThere) {
  std::set<std::string> tests;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int suite = 0; suite < all.total_test_suite_count(); ++suite) {
    const testing::TestSuite& of = *all.GetTestSuite(suite);
    for (int test = 0; test < of.total_test_count(); ++test)
      tests.insert(std::string(of.name()) + "." + of.GetTestInfo(test)->name());
  }
  for (const auto& [id, test] : RefutingTests())
    EXPECT_TRUE(tests.contains(std::string(test))) << test;
}

TEST(Refutation, SilencesTheFinding) {
  for (const auto& row : Refutations()) {
    const std::string_view key = row.first;  // clang 14 takes no binding into a lambda
    const Refutation job = row.second;
    const auto is_said = [&](const Diagnosis& diagnosis) {
      for (const Finding& finding : diagnosis.findings) {
        if (finding.key == key || (IdIn(key) == key && finding.type->id == key)) return true;
      }
      return false;
    };
    EXPECT_TRUE(is_said(job(false))) << key << " where nothing speaks against it";
    EXPECT_FALSE(is_said(job(true))) << key;
  }
}

}  // namespace
}  // namespace mpa
