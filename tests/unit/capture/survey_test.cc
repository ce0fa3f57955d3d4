// SPDX-License-Identifier: Apache-2.0
#include "mpa/capture/survey.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>

#include "mpa/base/error.h"
#include "mpa/pipeline/analyzer_checks.h"
#include "support/files.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

const std::string kOutputFolder = "ASCEND_PROFILER_OUTPUT/";

// A directory of captures, removed at the end of the test.
class SurveyTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }

  void WriteDb(const std::string& name, const char* sql) const {
    fs::create_directories((root_ / name).parent_path());
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((root_ / name).c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  // A complete Level1 text capture.
  void WriteText(const std::string& capture) const {
    Write(capture + kOutputFolder + "trace_view.json", R"([{"name":"a"}])"
                                                       "\n");
    Write(capture + kOutputFolder + "kernel_details.csv",
          "Name,Type,Accelerator Core,Start Time(us),Duration(us),aic_mac_time(us)\n"
          "mm,MatMulV2,AI_CORE,1,2,1\n");
    Write(capture + kOutputFolder + "step_trace_time.csv", "Step,Communication\n5,1.5\n6,1.5\n");
    Write(capture + kOutputFolder + "memory_record.csv",
          "Component,Total Reserved(MB),Device Type\nPTA,1,NPU:3\n");
    Write(capture + kOutputFolder + "communication.json",
          R"({"step5":{"collective":{"allReduce":{}}}})");
  }

  static std::string Info(const std::string& common, const std::string& rest) {
    return R"({"config":{"common_config":{"activities":["ProfilerActivity.CPU",)"
           R"("ProfilerActivity.NPU"])" +
           common + R"(},"experimental_config":{"_profiler_level":"Level1"}})" + rest + "}";
  }

  Survey Look(const std::string& name = "") const {
    return SurveyCaptures(root_ / name, {.force = true});
  }
  RankFacts LookAtOne(const std::string& name) const {
    const Survey survey = Look(name);
    EXPECT_EQ(survey.ranks.size(), 1u);
    return survey.ranks.at(0);
  }

  const test::TempDir directory_;
  const fs::path root_ = directory_.path();
};

bool Has(const std::vector<Warning>& warnings, const std::string& id) {
  return std::any_of(warnings.begin(), warnings.end(),
                     [&](const Warning& warning) { return warning.id == id; });
}

Verdict Overall(const RankFacts& facts) { return AllAnalyzerChecks().at(0).can_run(facts); }

bool Lacks(const Verdict& verdict, const std::string& words) {
  return std::any_of(verdict.lacks.begin(), verdict.lacks.end(), [&](const Lack& lack) {
    return lack.reason.find(words) != std::string::npos ||
           lack.setting.find(words) != std::string::npos;
  });
}

TEST_F(SurveyTest, ReadsACompleteTextCapture) {
  WriteText("w_12_20260225061520123_ascend_pt/");
  Write("w_12_20260225061520123_ascend_pt/profiler_info_3.json",
        Info("", R"(,"rank_id":"3","end_info":{},"cann_version":"8.3","torch_npu_version":"2.6")"));
  const RankFacts facts = LookAtOne("");
  EXPECT_EQ(facts.kind, CaptureKind::kNpuText);
  EXPECT_EQ(facts.rank, 3);
  EXPECT_EQ(facts.devices, std::vector<std::int64_t>{3});
  EXPECT_EQ(facts.host, "w");
  EXPECT_EQ(facts.framework, "PyTorch");
  EXPECT_EQ(facts.cann_version, "8.3");
  EXPECT_EQ(facts.torch_npu_version, "2.6");
  EXPECT_EQ(facts.steps, (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(facts.complete, Recorded::kYes);
  EXPECT_EQ(facts.recorded.counters, Recorded::kYes);
  EXPECT_EQ(Overall(facts).ability, Ability::kCanRun);
  EXPECT_TRUE(facts.warnings.empty());
}

TEST_F(SurveyTest, AByteOrderMarkIsNoCut) {
  WriteText("a_ascend_pt/");
  const std::string trace = std::string("a_ascend_pt/") + kOutputFolder + "/trace_view.json";
  Write(trace, "\xEF\xBB\xBF[{\"ph\": \"M\"}]");
  EXPECT_EQ(LookAtOne("").complete, Recorded::kYes);
}

TEST_F(SurveyTest, TellsWhetherTheChipIsKnown) {
  WriteText("a_ascend_pt/");
  const auto judge = [](const RankFacts& facts) {
    for (const AnalyzerCheck& check : AllAnalyzerChecks()) {
      if (check.name == std::string_view("cluster: operator_mfu")) return check.can_run(facts);
    }
    return Verdict();
  };
  const RankFacts without = LookAtOne("");
  EXPECT_EQ(without.recorded.chip, Recorded::kNo);
  EXPECT_TRUE(Lacks(judge(without), "--peak_tflops"));
  Write("a_ascend_pt/PROF_1/device_0/info.json.0", R"({"DeviceInfo": [{"ai_core_num": 20}]})");
  const RankFacts with = LookAtOne("");
  EXPECT_EQ(with.recorded.chip, Recorded::kYes);
  EXPECT_EQ(judge(with).ability, Ability::kCanRun);
}

TEST_F(SurveyTest, NamesWhatLevel0Lacks) {
  WriteText("a_ascend_pt/");
  fs::remove(root_ / "a_ascend_pt" / kOutputFolder / "communication.json");
  fs::remove(root_ / "a_ascend_pt" / kOutputFolder / "memory_record.csv");
  Write("a_ascend_pt/" + kOutputFolder + "kernel_details.csv",
        "Name,Type,Accelerator Core\nmm,N/A,N/A\n");
  Write("a_ascend_pt/profiler_info_0.json",
        R"({"config":{"experimental_config":{"_profiler_level":"Level0"}},"end_info":{}})");
  const Verdict verdict = Overall(LookAtOne("a_ascend_pt"));
  EXPECT_EQ(verdict.ability, Ability::kRunsWithLess);
  EXPECT_TRUE(Lacks(verdict, "breakdown"));
  EXPECT_TRUE(Lacks(verdict, "aic_metrics=PipeUtilization"));
  EXPECT_TRUE(Lacks(verdict, "waiting inside communication"));
  EXPECT_TRUE(Lacks(verdict, "communication.json"));
  EXPECT_TRUE(Lacks(verdict, "profile_memory=True"));
}

TEST_F(SurveyTest, DoesNotMissCommunicationWhereThereIsNone) {
  WriteText("a_ascend_pt/");
  fs::remove(root_ / "a_ascend_pt" / kOutputFolder / "communication.json");
  Write("a_ascend_pt/" + kOutputFolder + "step_trace_time.csv", "Step,Communication\n5,0\n");
  EXPECT_EQ(Overall(LookAtOne("a_ascend_pt")).ability, Ability::kCanRun);
}

TEST_F(SurveyTest, SeesThatATraceIsCutOffBehindAnEvent) {
  WriteText("a_ascend_pt/");
  Write("a_ascend_pt/" + kOutputFolder + "trace_view.json", R"([{"name":"a"},{"name":"b"})");
  const RankFacts facts = LookAtOne("a_ascend_pt");
  EXPECT_EQ(facts.complete, Recorded::kNo);
  EXPECT_TRUE(Lacks(Overall(facts), "breaks off"));
}

TEST_F(SurveyTest, WarnsOfMisleadingSettings) {
  WriteText("a_ascend_pt/");
  Write("a_ascend_pt/profiler_info_0.json",
        Info(R"(,"with_stack":true,"record_shapes":true,"schedule":{"warmup":0,"active":4})", ""));
  const RankFacts facts = LookAtOne("a_ascend_pt");
  for (const char* id : {"no_warmup", "steps_missing", "stacks_inflate_host_time",
                         "details_inflate_host_time", "not_stopped"}) {
    EXPECT_TRUE(Has(facts.warnings, id)) << id;
  }
}

TEST_F(SurveyTest, TellsThatOneStepIsMissing) {
  WriteText("a_ascend_pt/");  // two steps
  for (const int active : {1, 2, 3}) {
    Write("a_ascend_pt/profiler_info_0.json",
          Info(fmt::format(R"(,"schedule":{{"skip_first":10,"wait":1,"warmup":4,"active":{}}})",
                           active),
               ""));
    const std::vector<Warning> warnings = LookAtOne("a_ascend_pt").warnings;
    EXPECT_EQ(Has(warnings, "steps_missing"), active == 3);
    EXPECT_FALSE(Has(warnings, "no_warmup"));
    for (const Warning& warning : warnings) {
      if (warning.id != "steps_missing") continue;
      EXPECT_EQ(warning.text, "3 active steps were scheduled, 2 are in the capture");
      EXPECT_NE(warning.advice.find("at least 18 iterations"), std::string::npos);
    }
  }
}

TEST_F(SurveyTest, ReadsTheConfigurationOfDynamicProfiling) {
  WriteText("a_ascend_pt/");
  Write("profiler_config.json",
        R"({"activities":["CPU","NPU"],"with_stack":true,"active":2,"warmup":0,)"
        R"("experimental_config":{"profiler_level":"Level2","aic_metrics":"PipeUtilization"}})");
  const RankFacts facts = LookAtOne("");
  ASSERT_TRUE(facts.settings);
  EXPECT_EQ(facts.settings->level, "Level2");
  EXPECT_EQ(facts.settings->aic_metrics, "PipeUtilization");
  EXPECT_TRUE(facts.settings->HasActivity("ProfilerActivity.NPU"));
  EXPECT_TRUE(Has(facts.warnings, "no_warmup"));
  EXPECT_FALSE(Has(facts.warnings, "not_stopped"));
  EXPECT_FALSE(facts.rank);
}

TEST_F(SurveyTest, TakesTheFrameworkFromTheNameOfTheCapture) {
  WriteText("a_ascend_ms/");
  Write("a_ascend_ms/profiler_info_0.json", Info("", ""));
  EXPECT_EQ(LookAtOne("").framework, "MindSpore");
}

TEST_F(SurveyTest, TakesTheRankFromTheFileName) {
  WriteText("a_ascend_pt/");
  Write("a_ascend_pt/profiler_info_7.json", Info("", ""));
  EXPECT_EQ(LookAtOne("").rank, 7);
  Write("a_ascend_pt/profiler_info_7.json", Info("", R"(,"rank_id":9)"));
  EXPECT_EQ(LookAtOne("").rank, 7);
  EXPECT_TRUE(Has(LookAtOne("").warnings, "rank_contradicts_name"));
}

TEST_F(SurveyTest, MinusOneIsNoRank) {
  WriteText("a_ascend_pt/");
  Write("a_ascend_pt/profiler_info.json", Info("", R"(,"rank_id":-1)"));
  EXPECT_FALSE(LookAtOne("").rank);
}

TEST_F(SurveyTest, ReportsUnclearRanksWithTheirPaths) {
  for (const char* capture : {"a_ascend_pt/", "b_ascend_pt/", "c_ascend_pt/"}) WriteText(capture);
  Write("a_ascend_pt/profiler_info_1.json", Info("", ""));
  Write("b_ascend_pt/profiler_info_1.json", Info("", ""));
  const Survey survey = Look();
  ASSERT_EQ(survey.warnings.size(), 2u);
  EXPECT_EQ(survey.warnings[0].id, "rank_claimed_twice");
  const fs::path root = fs::canonical(root_);
  EXPECT_EQ(survey.warnings[0].paths,
            (std::vector<fs::path>{root / "a_ascend_pt", root / "b_ascend_pt"}));
  EXPECT_EQ(survey.warnings[1].id, "rank_unknown");
  EXPECT_EQ(survey.warnings[1].paths, std::vector<fs::path>{root / "c_ascend_pt"});
}

TEST_F(SurveyTest, BrokenSettingsAreAWarning) {
  WriteText("a_ascend_pt/");
  for (const char* text : {"{\"config\":", "[]", "{\"config\":[1],\"rank_id\":{}}", "\xff\xfe"}) {
    Write("a_ascend_pt/profiler_info_0.json", text);
    EXPECT_EQ(Overall(LookAtOne("")).ability, Ability::kCanRun) << text;
  }
  EXPECT_TRUE(Has(LookAtOne("").warnings, "broken_settings"));
}

TEST_F(SurveyTest, ReadsADatabase) {
  WriteDb("a_ascend_pt/" + kOutputFolder + "ascend_pytorch_profiler_2.db", R"(
      CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
      INSERT INTO STRING_IDS VALUES (1, 'MatMulV2'), (2, 'KERNEL_AICORE'), (3, 'N/A');
      CREATE TABLE TASK (globalTaskId INTEGER, taskType INTEGER);
      INSERT INTO TASK VALUES (1, 2);
      CREATE TABLE COMPUTE_TASK_INFO (globalTaskId INTEGER, opType INTEGER, taskType INTEGER);
      INSERT INTO COMPUTE_TASK_INFO VALUES (1, 3, 3);
      CREATE TABLE COMMUNICATION_OP (opId INTEGER);
      CREATE TABLE STEP_TIME (id INTEGER); INSERT INTO STEP_TIME VALUES (8), (9);
      CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
      INSERT INTO RANK_DEVICE_MAP VALUES (2, 6);
      CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT); INSERT INTO HOST_INFO VALUES ('1', 'h');
      CREATE TABLE NPU_INFO (id INTEGER, name TEXT); INSERT INTO NPU_INFO VALUES (6, 'Ascend910B');
      CREATE TABLE MSTX_EVENTS (startNs INTEGER); INSERT INTO MSTX_EVENTS VALUES (1);)");
  const RankFacts facts = LookAtOne("");
  EXPECT_EQ(facts.kind, CaptureKind::kNpuDb);
  EXPECT_EQ(facts.rank, 2);
  EXPECT_EQ(facts.devices, std::vector<std::int64_t>{6});
  EXPECT_EQ(facts.device_name, "Ascend910B");
  EXPECT_EQ(facts.host, "h");
  EXPECT_EQ(facts.steps, (std::vector<std::int64_t>{8, 9}));
  EXPECT_EQ(facts.complete, Recorded::kYes);
  EXPECT_EQ(facts.recorded.kernel_types, Recorded::kNo);
  EXPECT_EQ(facts.recorded.kernel_cores, Recorded::kYes);
  EXPECT_EQ(facts.recorded.communication, Recorded::kNo);
  EXPECT_EQ(facts.recorded.mstx, Recorded::kYes);
  EXPECT_FALSE(Lacks(Overall(facts), "bandwidth"));
}

TEST_F(SurveyTest, ADatabaseWithoutDeviceTablesCannotBeUsed) {
  WriteDb("a_ascend_pt/" + kOutputFolder + "ascend_pytorch_profiler_0.db",
          "CREATE TABLE PYTORCH_API (name INTEGER); INSERT INTO PYTORCH_API VALUES (1);");
  EXPECT_EQ(Overall(LookAtOne("")).ability, Ability::kCannotRun);
}

TEST_F(SurveyTest, ABrokenDatabaseIsAProblemOfItsRank) {
  Write("a_ascend_pt/" + kOutputFolder + "ascend_pytorch_profiler_0.db",
        "this is no database at all");
  WriteText("b_ascend_pt/");
  const Survey survey = Look();
  ASSERT_EQ(survey.ranks.size(), 2u);
  EXPECT_FALSE(survey.ranks[0].problem.empty());
  EXPECT_EQ(Overall(survey.ranks[0]).ability, Ability::kCannotRun);
  EXPECT_EQ(Overall(survey.ranks[1]).ability, Ability::kCanRun);
}

TEST_F(SurveyTest, TellsWhatARawCaptureHolds) {
  const std::string capture = "a_ascend_pt/", msprof = capture + "PROF_000001_2_ABC/";
  Write(capture + "profiler_info_0.json", Info("", R"(,"end_info":{})"));
  Write(capture + "FRAMEWORK/torch.op_range", "");
  Write(msprof + "host/info.json",
        R"({"hostname":"node-7","cannVersion":"8.3.RC1","platform_version":"5"})");
  Write(msprof + "host/end_info", "{}");
  Write(msprof + "host/data/aging.additional.hccl_info.slice_0", std::string(256, 'x'));
  Write(msprof + "device_4/end_info.4", "{}");
  Write(msprof + "device_4/info.json.4", "{");
  // Records of devices may begin in one slice and end in the next.
  Write(msprof + "device_4/data/stars_soc.data.4.slice_0", std::string(50, 'x'));
  Write(msprof + "device_4/data/stars_soc.data.4.slice_1", std::string(78, 'x'));
  const RankFacts facts = LookAtOne("");
  EXPECT_EQ(facts.kind, CaptureKind::kNpuRaw);
  EXPECT_EQ(facts.rank, 0);
  EXPECT_EQ(facts.host, "node-7");
  EXPECT_EQ(facts.cann_version, "8.3.RC1");
  EXPECT_EQ(facts.devices, std::vector<std::int64_t>{4});
  EXPECT_EQ(facts.complete, Recorded::kYes);
  EXPECT_EQ(facts.recorded.device_tasks, Recorded::kYes);
  EXPECT_EQ(facts.recorded.communication_tasks, Recorded::kYes);
  EXPECT_EQ(facts.recorded.bandwidths, Recorded::kYes) << "bytes and times are those of the tasks";
  EXPECT_EQ(facts.recorded.counters, Recorded::kNo);
  EXPECT_EQ(facts.recorded.host_ops, Recorded::kYes);
  EXPECT_TRUE(Has(facts.warnings, "broken_file"));
  EXPECT_FALSE(Has(facts.warnings, "cut_records"));
  EXPECT_FALSE(Has(facts.warnings, "half_parsed"));
  EXPECT_FALSE(Has(facts.warnings, "experimental"));
  EXPECT_EQ(Overall(facts).ability, Ability::kRunsWithLess);
}

TEST_F(SurveyTest, NamesTheRawFilesThatBreakOff) {
  const std::string capture = "a_ascend_pt/", msprof = capture + "PROF_000001_2_ABC/";
  const std::string record(
      "\x02\x00\x03\x00\x00\x00"
      "abc",
      9);  // type 2, 3 bytes
  Write(capture + "FRAMEWORK/torch.op_mark", record + record.substr(0, 8));
  Write(capture + "FRAMEWORK/torch.gc_record", std::string(48, 'x'));
  Write(msprof + "host/data/aging.api_event.data.slice_0", std::string(80, 'x'));
  Write(msprof + "host/data/aging.api_event.data.slice_1", std::string(79, 'x'));
  Write(msprof + "device_4/data/ts_track.data.4.slice_0", std::string(41, 'x'));
  const RankFacts facts = LookAtOne("");
  EXPECT_EQ(facts.complete, Recorded::kNo);
  ASSERT_TRUE(Has(facts.warnings, "cut_records"));
  std::vector<std::string> names;
  for (const Warning& warning : facts.warnings) {
    if (warning.id != "cut_records") continue;
    for (const fs::path& path : warning.paths) names.push_back(path.filename().string());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"ts_track.data.4.slice_0",
                                             "aging.api_event.data.slice_1", "torch.op_mark"}));
}

TEST_F(SurveyTest, TellsThatParsingWasBegunButNotFinished) {
  Write("a_ascend_pt/FRAMEWORK/torch.gc_record", std::string(24, 'x'));
  Write("a_ascend_pt/" + kOutputFolder + "kernel_details.csv", "Name\n");
  const RankFacts facts = LookAtOne("");
  EXPECT_EQ(facts.kind, CaptureKind::kNpuRaw);
  EXPECT_TRUE(Has(facts.warnings, "half_parsed"));
}

TEST_F(SurveyTest, PointsToTheRawDataOfResultsThatBreakOff) {
  WriteText("a_ascend_pt/");
  Write("a_ascend_pt/" + kOutputFolder + "trace_view.json", R"([{"name":"a"},{"na)");
  Write("a_ascend_pt/FRAMEWORK/torch.gc_record", std::string(24, 'x'));
  const RankFacts facts = LookAtOne("");
  EXPECT_EQ(facts.kind, CaptureKind::kNpuText);
  EXPECT_EQ(facts.complete, Recorded::kNo);
  EXPECT_TRUE(Has(facts.warnings, "half_parsed"));
}

TEST_F(SurveyTest, CallsTheReadingOfUntriedChipsExperimental) {
  const std::string device = "PROF_000001_2_ABC/device_0/";
  Write(device + "info.json.0", R"({"platform_version":"15"})");
  Write(device + "data/stars_soc.data.0.slice_0", std::string(64, 'x'));
  EXPECT_TRUE(Has(LookAtOne("").warnings, "experimental"));
}

TEST_F(SurveyTest, FindsGpuTracesAmongOtherFiles) {
  Write("r1.pt.trace.json",
        R"({"deviceProperties":[{"name":"A100"}],"distributedInfo":{"rank":1},"traceEvents":[]})");
  Write("result.json", R"({"loss": 1})");
  const RankFacts facts = LookAtOne("");
  EXPECT_EQ(facts.kind, CaptureKind::kGpu);
  EXPECT_EQ(facts.rank, 1);
  EXPECT_EQ(facts.device_name, "A100");
}

// Only the events of GPU traces tell what was recorded.
TEST_F(SurveyTest, TryingReadsTheEvents) {
  const auto kernel = R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1,"dur":2})";
  const auto op = R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":2})";
  const auto recorded = [&](const std::string& events) {
    Write("trace.json", R"({"traceEvents":[)" + events + "]}");
    std::vector<RankFacts> ranks = {LookAtOne("trace.json")};
    TryCaptures({}, {.force = true}, ranks);
    return ranks.front();
  };
  const RankFacts host = recorded(op);
  EXPECT_EQ(host.recorded.device_tasks, Recorded::kNo);
  EXPECT_EQ(host.recorded.host_ops, Recorded::kYes);
  EXPECT_EQ(Overall(host).ability, Ability::kCannotRun);
  EXPECT_TRUE(Lacks(Overall(host), "no device activity"));
  const RankFacts device = recorded(kernel);
  EXPECT_EQ(device.recorded.device_tasks, Recorded::kYes);
  EXPECT_EQ(device.recorded.host_ops, Recorded::kNo);
  EXPECT_EQ(device.recorded.communication, Recorded::kNo);
  EXPECT_EQ(device.recorded.op_memory, Recorded::kNo);
}

// The ends of a trace show some of it; what may be in between stays unknown, and so does what
// depends on it.
TEST_F(SurveyTest, NamesWhatOnlyTheEventsTell) {
  const auto op = R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":2})";
  const auto kernel = R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1,"dur":2})";
  const std::string gap(std::size_t{300} << 10, ' ');
  const auto overall = [&](const std::string& end) {
    Write("trace.json",
          R"({"traceEvents":[)" + std::string(op) + "," + gap + kernel + "," + gap + end + "]}");
    const RankFacts facts = LookAtOne("trace.json");
    EXPECT_EQ(facts.recorded.host_ops, Recorded::kYes);
    EXPECT_EQ(facts.recorded.stacks, Recorded::kUnknown);
    return JudgeCaptures({facts}).front().verdicts.front();
  };
  const Verdict hidden = overall(op);
  EXPECT_EQ(hidden.ability, Ability::kMayRun);
  EXPECT_TRUE(Lacks(hidden, "only the events show device work"));
  const Verdict seen = overall(kernel);
  EXPECT_EQ(seen.ability, Ability::kRunsWithLess);
  EXPECT_TRUE(Lacks(seen, "only the events show memory"));
}

TEST_F(SurveyTest, AnEmptyListOfCollectivesIsNone) {
  WriteText("a_ascend_pt/");
  Write("a_ascend_pt/" + kOutputFolder + "communication.json",
        R"({"step5":{"p2p":{},"collective":{}}})");
  Write("a_ascend_pt/" + kOutputFolder + "step_trace_time.csv", "Step,Communication\n5,0\n");
  Write("a_ascend_pt/" + kOutputFolder + "operator_memory.csv", "Name,Size(KB)\n");
  const RankFacts facts = LookAtOne("");
  EXPECT_EQ(facts.recorded.communication, Recorded::kNo);
  EXPECT_EQ(facts.recorded.bandwidths, Recorded::kNo);
  EXPECT_EQ(facts.recorded.op_memory, Recorded::kNo);
}

TEST_F(SurveyTest, TellsTheSizeOfTheJob) {
  const std::string groups =
      R"({"a":{"global_ranks":[0,1]},"b":{"global_ranks":[1,5]},"c":{"global_ranks":[-1]}})";
  WriteText("a_ascend_pt/");
  EXPECT_FALSE(LookAtOne("a_ascend_pt").world_size);
  Write("a_ascend_pt/profiler_metadata.json", R"({"parallel_group_info":)" + groups + "}");
  EXPECT_EQ(LookAtOne("a_ascend_pt").world_size, 3);
  Write("trace.json", R"({"distributedInfo":{"world_size":8},"traceEvents":[]})");
  EXPECT_EQ(LookAtOne("trace.json").world_size, 8);
  WriteDb("b_ascend_pt/" + kOutputFolder + "ascend_pytorch_profiler_2.db",
          ("CREATE TABLE META_DATA (name TEXT, value TEXT);"
           "INSERT INTO META_DATA VALUES ('parallel_group_info', '" +
           groups + "')")
              .c_str());
  EXPECT_EQ(LookAtOne("b_ascend_pt").world_size, 3);
}

TEST_F(SurveyTest, NothingUsableIsAReportAndAMissingPathAnError) {
  Write("notes.txt", "x");
  EXPECT_EQ(Overall(LookAtOne("")).ability, Ability::kCannotRun);
  EXPECT_THROW(Look("missing"), Error);
}

}  // namespace
}  // namespace mpa
