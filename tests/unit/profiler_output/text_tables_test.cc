// SPDX-License-Identifier: Apache-2.0
// The tables of text files from sessions that are filled by hand.
#include <gtest/gtest.h>

#include <limits>

#include "mpa/base/error.h"
#include "mpa/profiler_output/profiler_output.h"
#include "support/files.h"

namespace mpa::profiler_output {
namespace {

using raw::Session;

constexpr TimeNs kTablesBegin = 1'772'000'000'000'000'000;

/// A device of a STARS chip with one step and one kernel of each kind of value.
class TextTables : public testing::Test {
 protected:
  TextTables() {
    session_.info.level = 1;
    session_.info.devices.emplace_back();
    session_.info.devices[0].generation = raw::Generation::kStars;
  }

  StringId Id(std::string_view text) { return session_.strings.Intern(text); }

  void AddKernel(TimeNs start, double dur, std::string_view type, std::string_view core,
                 std::int64_t context = raw::kNoContext) {
    const auto row = static_cast<std::int32_t>(session_.kernels.Size());
    const auto task = static_cast<std::int32_t>(session_.tasks.Size());
    session_.tasks.Append({{.start = kTablesBegin + start,
                            .task_id = 100 + row,
                            .stream = 2,
                            .dur_rest = dur,
                            .model = raw::kNoModel},
                           {.end = kTablesBegin + start + static_cast<TimeNs>(dur),
                            .host_type = Id("KERNEL_AICORE"),
                            .device_type = Id("AI_CORE"),
                            .function = Id("te_add"),
                            .context = context,
                            .kind = raw::TaskKind::kKernel,
                            .detail = row}});
    session_.kernels.Append({{.name = Id("aclnnAdd"),
                              .op_type = Id(type),
                              .core = Id(core),
                              .state = Id("dynamic"),
                              .input_shapes = Id("\"2,3;4\""),
                              .input_types = Id("FLOAT;INT64"),
                              .input_formats = Id("ND;ND"),
                              .output_shapes = Id("\"2\""),
                              .output_types = Id("FLOAT"),
                              .output_formats = Id("ND"),
                              .hf32 = Id("NO"),
                              .blocks = 48,
                              .mix_blocks = 2},
                             {.task = task, .attributes = Id("N/A")}});
  }

  void AddCollective(TimeNs start, TimeNs end) {
    session_.collectives.Append({.start = kTablesBegin + start,
                                 .end = kTablesBegin + end,
                                 .dur = static_cast<double>(end - start),
                                 .name = Id("hcom_send__814_0_1"),
                                 .op_type = Id("hcom_send_"),
                                 .group_name = Id("pp_group")});
  }

  std::string Written(std::string_view file) {
    WriteText(session_, directory_.path());
    const std::filesystem::path path = directory_ / file;
    return std::filesystem::exists(path) ? test::ReadAll(path) : "no file";
  }

  Session session_;
  test::TempDir directory_;
};

TEST_F(TextTables, NothingRecordedMeansNoFiles) {
  WriteText(session_, directory_.path());
  EXPECT_TRUE(directory_.Names().empty());
}

TEST_F(TextTables, KernelsAndCollectivesInOrderOfStart) {
  session_.steps.Append({.id = 5,
                         .start = kTablesBegin,
                         .end = kTablesBegin + 900,
                         .device_start = kTablesBegin + 1000,
                         .device_end = kTablesBegin + 9000});
  AddKernel(1000, 500, "Add", "AI_VECTOR_CORE");
  AddKernel(9500, 40, "FlashAttention", "MIX_AIC", 0);
  AddCollective(1200, 7240);
  EXPECT_EQ(
      Written("kernel_details.csv"),
      "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,"
      "Start Time(us),Duration(us),Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,"
      "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
      "Output Formats,Context ID\r\n"
      "5,0,4294967295,100,2,aclnnAdd,Add,dynamic,AI_VECTOR_CORE,1772000000000001.000\t,0.500,0,48,"
      "2,NO,\"\"\"2,3;4\"\"\",FLOAT;INT64,ND;ND,\"\"\"2\"\"\",FLOAT,ND,N/A\r\n"
      // It begins while the kernel runs: no wait.
      "5,0,4294967295,N/A,N/A,hcom_send__814_0_1,hcom_send_,N/A,COMMUNICATION,"
      "1772000000000001.200\t,6.040,0.000000,0,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\r\n"
      // Behind the last step.
      ",0,4294967295,101,2,aclnnAdd,FlashAttention,dynamic,MIX_AIC,1772000000000009.500\t,0.040,"
      "2.260000,48,2,NO,\"\"\"2,3;4\"\"\",FLOAT;INT64,ND;ND,\"\"\"2\"\"\",FLOAT,ND,0\r\n");
}

// The first row of a device has a plain 0.
TEST_F(TextTables, AKernelWaitsForThoseOfItsOwnDeviceOnly) {
  for (const auto& [start, device] : {std::pair{1000, 0}, {2000, 0}, {7000, 1}, {8000, 1}}) {
    AddKernel(start, 500, "Add", "AI_VECTOR_CORE");
    session_.tasks.device.back() = device;
  }
  const std::string table = Written("kernel_details.csv");
  std::vector<std::string> waits;
  for (std::size_t at = table.find("\t,0.500,"); at != std::string::npos;
       at = table.find("\t,0.500,", at + 1)) {
    const std::size_t begin = at + std::string_view("\t,0.500,").size();
    waits.push_back(table.substr(begin, table.find(',', begin) - begin));
  }
  EXPECT_EQ(waits, (std::vector<std::string>{"0", "0.500000", "0", "0.500000"}));
}

TEST_F(TextTables, Level0LeavesOutWhatItDidNotRecord) {
  session_.info.level = 0;
  AddKernel(1000, 500, "N/A", "N/A");
  EXPECT_EQ(Written("kernel_details.csv"),
            "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
            "Block Num,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
            "Output Data Types,Output Formats\r\n"
            "0,aclnnAdd,N/A,N/A,1772000000000001.000\t,0.500,0,48,\"\"\"2,3;4\"\"\",FLOAT;INT64,"
            "ND;ND,\"\"\"2\"\"\",FLOAT,ND\r\n");
  EXPECT_EQ(Written("op_statistic.csv"), "no file");
  EXPECT_EQ(Written("api_statistic.csv"), "no file");
}

TEST_F(TextTables, ChipsWithoutMixedCoresLackTheirColumns) {
  session_.info.devices[0].generation = raw::Generation::kHwts;
  AddKernel(1000, 500, "Add", "AI_CORE");
  const std::string text = Written("kernel_details.csv");
  EXPECT_EQ(text.find("Mix Block Num"), std::string::npos);
  EXPECT_EQ(text.find("Context ID"), std::string::npos);
  EXPECT_TRUE(
      text.ends_with("48,NO,\"\"\"2,3;4\"\"\",FLOAT;INT64,ND;ND,\"\"\"2\"\"\",FLOAT,ND\r\n"));
}

TEST_F(TextTables, CountersHaveUnitsAndTheirOwnForms) {
  AddKernel(1000, 500, "Add", "AI_CORE");
  AddKernel(2000, 500, "Add", "AI_CPU");
  session_.counters.names = {"aicore_time", "aic_total_cycles", "aic_mac_ratio",
                             "cube_utilization"};
  session_.counters.values = {69780, 2763288, 0.5134, std::numeric_limits<double>::quiet_NaN(),
                              0,     0,       0,      91.5};
  session_.kernels.counters[0] = 1;
  const std::string text = Written("kernel_details.csv");
  EXPECT_NE(text.find(",Context ID,aicore_time(us),aic_total_cycles,aic_mac_ratio,"
                      "cube_utilization(%)\r\n"),
            std::string::npos);
  EXPECT_NE(text.find(",ND,N/A,0.0,0,0.0,91.500\r\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with(",ND,N/A,N/A,N/A,N/A,N/A\r\n")) << "no record of the second kernel";
  session_.kernels.counters[0] = 0;
  EXPECT_NE(Written("kernel_details.csv").find(",ND,N/A,69.78,2763288,0.513,N/A\r\n"),
            std::string::npos);
}

TEST_F(TextTables, PiecesOfCollectivesAreNoKernels) {
  AddKernel(1000, 500, "Add", "AI_CORE");
  AddKernel(2000, 500, "hcom_allReduce_", "HCCL_AI_CPU");
  EXPECT_EQ(Written("kernel_details.csv").find("HCCL_AI_CPU"), std::string::npos);
  EXPECT_EQ(Written("op_statistic.csv").find("HCCL_AI_CPU"), std::string::npos);
}

TEST_F(TextTables, OpStatisticSumsByTypeAndCore) {
  AddKernel(1000, 500, "Add", "AI_CORE");
  AddKernel(2000, 501, "Add", "AI_CORE");
  AddKernel(3000, 502, "Add", "AI_CORE");
  AddKernel(4000, 4000, "Mul", "AI_CORE");
  AddKernel(9000, 1, "Mul", "AI_CPU");
  // 1503 / 5504 = 27.307 %; the mean 501 is whole, (500 + 501) / 2 would be cut off.
  EXPECT_EQ(Written("op_statistic.csv"),
            "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),"
            "Max Time(us),Ratio(%)\r\n"
            "0,Mul,AI_CORE,1,4,4,4,4,72.674\r\n"
            "0,Add,AI_CORE,3,1.503,0.5,0.501,0.502,27.307\r\n"
            "0,Mul,AI_CPU,1,0.001,0.001,0.001,0.001,0.018\r\n");
}

TEST_F(TextTables, OpStatisticCutsMeansOfWholeNanoseconds) {
  AddKernel(1000, 500, "Add", "AI_CORE");
  AddKernel(2000, 501, "Add", "AI_CORE");
  AddKernel(3000, 500.5, "Sub", "AI_CORE");
  AddKernel(4000, 501.5, "Sub", "AI_CORE");
  const std::string text = Written("op_statistic.csv");
  EXPECT_NE(text.find("Add,AI_CORE,2,1.001,0.5,0.5,0.501,"), std::string::npos) << text;
  EXPECT_NE(text.find("Sub,AI_CORE,2,1.002,"), std::string::npos) << text;
}

TEST_F(TextTables, ApiStatisticByNameAndLevel) {
  const auto add = [&](raw::Level level, std::string_view name, std::string_view item, TimeNs dur) {
    session_.calls.Append({{.start = kTablesBegin, .dur = dur, .name = Id(name), .item = Id(item)},
                           {.level = level}});
  };
  add(raw::Level::kNode, "launch", "aclnnAdd", 4000);
  add(raw::Level::kRuntime, "KernelLaunch", "", 1000);
  add(raw::Level::kRuntime, "KernelLaunch", "", 2000);
  add(raw::Level::kRuntime, "KernelLaunch", "", 4500);
  add(raw::Level::kCommunication, "master", "Memcpy", 2500);
  // Variance: mean 2.5, squares 2.25 + 0.25 + 4 = 6.5, by three.
  EXPECT_EQ(Written("api_statistic.csv"),
            "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\r\n"
            "host,runtime,KernelLaunch,7.5,3,2.5,1,4.5,2.167\r\n"
            "host,communication,Memcpy,2.5,1,2.5,2.5,2.5,0\r\n"
            "host,node,launch,4,1,4,4,4,0\r\n");
}

TEST_F(TextTables, TaskTimeShowsOneTaskOfAGroup) {
  AddKernel(1000, 500, "Add", "AI_CORE");
  const auto add = [&](TimeNs start, std::string_view device_type, std::int64_t context) {
    session_.tasks.Append({{.start = kTablesBegin + start, .dur = 20, .task_id = 7, .stream = 5},
                           {.end = kTablesBegin + start + 20,
                            .host_type = Id("FFTS_PLUS"),
                            .device_type = Id(device_type),
                            .context = context,
                            .group = context == raw::kNoContext}});
  };
  add(2000, "PLACE_HOLDER_SQE", raw::kNoContext);
  add(2010, "SDMA", 0);
  add(2020, "Notify Wait", 1);
  EXPECT_EQ(Written("task_time.csv"),
            "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
            "task_stop(us)\r\n"
            "0,te_add,AI_CORE,2,100,0.500,1772000000000001.000\t,1772000000000001.500\t\r\n"
            "0,N/A,SDMA,5,7,0.020,1772000000000002.010\t,1772000000000002.030\t\r\n");
}

TEST_F(TextTables, OperatorsWithTheirListsALineEach) {
  session_.ops.Append({{.start = kTablesBegin, .dur = 9000, .name = Id("ProfilerStep#5")}, {}});
  session_.ops.Append({{.start = kTablesBegin + 1000,
                        .dur = 2500,
                        .name = Id("aten::add"),
                        .shapes = Id("2,3;4"),
                        .stack = Id("a.py(1): f;b.py(2): g")},
                       {.parent = 0}});
  EXPECT_EQ(Written("operator_details.csv"),
            "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),"
            "Device Self Duration(us),Device Total Duration(us),"
            "Device Self Duration With AICore(us),Device Total Duration With AICore(us)\r\n"
            "aten::add,\"2,3;\r\n4\",\"a.py(1): f;\r\nb.py(2): g\",2.5,2.5,0,0,0,0\r\n");
}

TEST_F(TextTables, ModuleMemoryByModuleAndTime) {
  session_.module_memory.Append({.time = kTablesBegin + 2000, .module = 3, .reserved = 7 << 20});
  session_.module_memory.Append(
      {.time = kTablesBegin, .module = 7, .reserved = 3 << 19, .device = 1});
  session_.module_memory.Append({.time = kTablesBegin + 1000, .module = 3, .reserved = 0});
  EXPECT_EQ(Written("npu_module_mem.csv"),
            "Device_id,Component,Timestamp(us),Total Reserved(MB),Device\r\n"
            "0,HCCL,1772000000000001.000\t,0.0,NPU:0\r\n"
            "0,HCCL,1772000000000002.000\t,7.0,NPU:0\r\n"
            "1,RUNTIME,1772000000000000.000\t,1.5,NPU:1\r\n");
}

TEST_F(TextTables, AFileThatCannotBeWrittenIsNamed) {
  AddKernel(1000, 500, "Add", "AI_CORE");
  try {
    WriteText(session_, directory_ / "nowhere");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutput);
    EXPECT_NE(std::string(error.what()).find("nowhere"), std::string::npos);
  }
}

}  // namespace
}  // namespace mpa::profiler_output
