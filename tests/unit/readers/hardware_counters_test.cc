// SPDX-License-Identifier: Apache-2.0
// Counters of memories, links and the host, from databases and traces.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/files.h"
#include "support/profiler_db.h"
#include "support/reading.h"

namespace mpa {
namespace {

using Lines = std::vector<std::string>;

// "HBM/0/read [B/s] 10+5=7.5" of each sample.
Lines Shown(const RankTrace& trace) {
  Lines lines;
  const Counters& counters = trace.counters;
  const CounterSamples& samples = trace.counter_samples;
  for (std::size_t i = 0; i < samples.Size(); ++i) {
    const auto row = static_cast<std::size_t>(samples.counter[i]);
    const auto text = [&](StringId id) { return trace.strings.View(id); };
    lines.push_back(fmt::format("{}/{}/{} [{}] {}+{}={}", text(counters.group[row]),
                                text(counters.part[row]), text(counters.name[row]),
                                text(counters.unit[row]), samples.start[i], samples.dur[i],
                                samples.value[i]));
  }
  return lines;
}

RankTrace CountersOfDb(const std::string& sql) {
  const test::TempDir dir;
  const std::string all =
      std::string(test::kStrings) + test::kTasks +
      "INSERT INTO STRING_IDS VALUES (1, 'read'), (2, 'write'), (3, 'app'), (4, 'device'),"
      " (5, 'QoS OTHERS'), (6, 'die 1'), (7, 'copy');" +
      sql;
  return test::ReadFile(FileKind::kProfilerDb,
                        test::BuildDatabase(dir / "ascend_pytorch_profiler_0.db", all),
                        {Tables::kCounters, ""});
}

// Processes of the program with the number 3 on the device 0; the last bits are the device.
std::string Process(int number, std::string_view name) {
  return fmt::format(
      R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":"{}"}}}},)",
      (3 << 10) + (number << 5), name);
}

RankTrace CountersOfEvents(const std::string& events) {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kTraceView,
                        dir.Write("trace_view.json", "[" + events + R"({"ph":"M","pid":1}])"),
                        {Tables::kCounters, ""});
}

std::string Event(int process, std::string_view name, std::string_view us, std::string_view args) {
  return fmt::format(R"({{"ph":"C","name":"{}","pid":{},"tid":0,"ts":"{}","args":{{{}}}}},)", name,
                     (3 << 10) + (process << 5), us, args);
}

constexpr const char* kHbm =
    "CREATE TABLE HBM (deviceId INTEGER, timestampNs INTEGER, bandwidth NUMERIC, hbmId INTEGER,"
    " type INTEGER);";

TEST(HardwareCounters, RatesAreOfTheTimeSinceTheSampleBefore) {
  const RankTrace trace = CountersOfDb(std::string(kHbm) + R"(
      INSERT INTO HBM VALUES (0, 30, 300, 10, 1), (0, 10, 100, 10, 1), (0, 10, 5, 2, 2),
          (0, 60, 7, 2, 2);)");
  EXPECT_EQ(Shown(trace), (Lines{"HBM/2/write [B/s] 10+0=5", "HBM/2/write [B/s] 10+50=7",
                                 "HBM/10/read [B/s] 10+0=100", "HBM/10/read [B/s] 10+20=300"}));
  EXPECT_EQ(trace.counters.kind[0], CounterKind::kRate);
  EXPECT_TRUE(trace.issues.Empty());
}

TEST(HardwareCounters, LevelsHoldUntilTheNextSample) {
  const RankTrace trace = CountersOfDb(R"(
      CREATE TABLE NPU_MEM (type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER,
          deviceId INTEGER);
      INSERT INTO NPU_MEM VALUES (3, 0, 1024, 10, 0), (3, NULL, 2048, 30, 0),
          (4, 1, 4096, 40, 0);)");
  EXPECT_EQ(Shown(trace),
            (Lines{"NPU MEM//device DDR [B] 40+0=1", "NPU MEM//device HBM [B] 40+0=4096",
                   "NPU MEM//process DDR [B] 10+20=0", "NPU MEM//process HBM [B] 10+20=1024",
                   "NPU MEM//process HBM [B] 30+0=2048"}));
}

// 800 Mbit/s are 100 MB/s, as captures count: 100 x 2^20 bytes.
TEST(HardwareCounters, PortsHaveTheLimitThatTheDriverTells) {
  const RankTrace trace = CountersOfDb(R"(
      CREATE TABLE ROCE (deviceId INTEGER, timestampNs INTEGER, bandwidth INTEGER,
          rxPacketRate NUMERIC, rxByteRate NUMERIC, rxPackets INTEGER, rxBytes INTEGER,
          rxErrors INTEGER, rxDropped INTEGER, txPacketRate NUMERIC, txByteRate NUMERIC,
          txPackets INTEGER, txBytes INTEGER, txErrors INTEGER, txDropped INTEGER,
          funcId INTEGER);
      INSERT INTO ROCE VALUES (0, 10, 838860800, 4, 52428800, 200, 0, 1, 4, 5, 0, 0, 0, 0, 0,
          3);)");
  EXPECT_EQ(
      Shown(trace),
      (Lines{"RoCE/port 3/rx [B/s] 10+0=52428800", "RoCE/port 3/rx dropped [packets] 10+0=4",
             "RoCE/port 3/rx dropped rate [%] 10+0=2", "RoCE/port 3/rx error rate [%] 10+0=0.5",
             "RoCE/port 3/rx errors [packets] 10+0=1", "RoCE/port 3/rx packets [packets/s] 10+0=4",
             "RoCE/port 3/rx share [%] 10+0=50", "RoCE/port 3/tx [B/s] 10+0=0",
             "RoCE/port 3/tx dropped [packets] 10+0=0", "RoCE/port 3/tx dropped rate [%] 10+0=0",
             "RoCE/port 3/tx error rate [%] 10+0=0", "RoCE/port 3/tx errors [packets] 10+0=0",
             "RoCE/port 3/tx packets [packets/s] 10+0=5", "RoCE/port 3/tx share [%] 10+0=0"}));
  EXPECT_EQ(trace.counters.limit[0], 104857600);
  EXPECT_EQ(trace.counters.limit[6], 100);
  EXPECT_EQ(trace.counters.limit[1], -1);
}

TEST(HardwareCounters, SamplesOfOtherDevicesAreLeftOut) {
  const RankTrace trace = CountersOfDb(std::string(kHbm) + R"(
      CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
      INSERT INTO RANK_DEVICE_MAP VALUES (0, 1);
      INSERT INTO HBM VALUES (0, 10, 1, 0, 1), (1, 20, 2, 0, 1);)");
  EXPECT_EQ(Shown(trace), Lines{"HBM/0/read [B/s] 20+0=2"});
}

TEST(HardwareCounters, BrokenSamplesAreCounted) {
  const RankTrace trace = CountersOfDb(std::string(kHbm) + R"(
      INSERT INTO HBM VALUES (0, 10, -1, 0, 1), (0, NULL, 1, 0, 1), (0, 20, 'x', 0, 1),
          (0, 30, 1e300, 0, 1), (0, 9223372036854775807, 1, 0, 1), (0, 40, 1, 0, 7),
          (0, 50, NULL, 0, 1), (0, 60, 6, 0, 1);)");
  EXPECT_EQ(Shown(trace), Lines{"HBM/0/read [B/s] 50+10=6"});
  const auto lines = trace.issues.Lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[0].find("4"), std::string::npos) << lines[0];
}

TEST(HardwareCounters, ATableWithoutAColumnIsLeftOutAndSaidSo) {
  const RankTrace trace = CountersOfDb(
      "CREATE TABLE DDR (deviceId INTEGER, timestampNs INTEGER, read NUMERIC);"
      "INSERT INTO DDR VALUES (0, 1, 2);");
  EXPECT_TRUE(trace.counters.Empty());
  EXPECT_FALSE(trace.issues.Empty());
}

// The same numbers as a database has them and as a trace has them.
TEST(HardwareCounters, TracesAndDatabasesGiveTheSameCounters) {
  const RankTrace db = CountersOfDb(std::string(kHbm) + R"(
      CREATE TABLE LLC (deviceId INTEGER, llcId INTEGER, timestampNs INTEGER, hitRate REAL,
          throughput INTEGER, mode INTEGER);
      CREATE TABLE NPU_MEM (type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER,
          deviceId INTEGER);
      CREATE TABLE QOS (deviceId INTEGER, eventName NUMERIC, bandwidth NUMERIC,
          timestampNs NUMERIC, dieId NUMERIC);
      CREATE TABLE SIO (deviceId NUMERIC, name NUMERIC, timestampNs NUMERIC, rxReq NUMERIC,
          rxRsp NUMERIC, rxSnp NUMERIC, rxDat NUMERIC, txReq NUMERIC, txRsp NUMERIC,
          txSnp NUMERIC, txDat NUMERIC);
      CREATE TABLE PCIE (deviceId INTEGER, timestampNs INTEGER, txPostAvg, txNonpostAvg, txCplAvg,
          txNonpostLatencyAvg, rxPostAvg, rxNonpostAvg, rxCplAvg);
      CREATE TABLE ACC_PMU (accId INTEGER, readBwLevel INTEGER, writeBwLevel INTEGER,
          readOstLevel INTEGER, writeOstLevel INTEGER, timestampNs NUMERIC, deviceId INTEGER);
      CREATE TABLE SOC_BANDWIDTH_LEVEL (l2BufferBwLevel INTEGER, mataBwLevel INTEGER,
          timestampNs NUMERIC, deviceId INTEGER);
      CREATE TABLE HCCS (deviceId INTEGER, timestampNs INTEGER, txThroughput NUMERIC,
          rxThroughput NUMERIC);
      CREATE TABLE CPU_USAGE (timestampNs NUMERIC, cpuId NUMERIC, usage NUMERIC);
      CREATE TABLE HOST_MEM_USAGE (timestampNs NUMERIC, usage NUMERIC);
      INSERT INTO HBM VALUES (0, 1000, 1048576, 0, 1), (0, 2000, 3145728, 0, 2);
      INSERT INTO LLC VALUES (0, 1, 1000, 75, 2097152, 1);
      INSERT INTO NPU_MEM VALUES (3, 0, 4096, 1000, 0);
      INSERT INTO QOS VALUES (0, 5, 7340032, 1000, -1);
      INSERT INTO SIO VALUES (0, 6, 1000, 1048576, 0, 0, 2097152, 0, 0, 0, 0);
      INSERT INTO PCIE VALUES (0, 1000, 1048576, 2097152, 3145728, 1500, 4194304, 5242880, 6291456);
      INSERT INTO ACC_PMU VALUES (4, 1, 2, 3, 5, 1000, 0);
      INSERT INTO SOC_BANDWIDTH_LEVEL VALUES (1, 2, 1000, 0);
      INSERT INTO HCCS VALUES (0, 1000, 1048576, 2097152);
      INSERT INTO CPU_USAGE VALUES (1000, 11, 12.5);
      INSERT INTO HOST_MEM_USAGE VALUES (1000, 40);)");
  const RankTrace text = CountersOfEvents(
      Process(1, "HBM") + Process(2, "LLC") + Process(3, "NPU MEM") + Process(4, "QoS") +
      Process(5, "SIO") + Process(6, "PCIe") + Process(7, "Acc PMU") +
      Process(8, "Stars Soc Info") + Process(9, "HCCS") + Process(10, "CPU Usage") +
      Process(11, "Memory Usage") + Event(1, "HBM 0/Write", "2", R"-("Write(MB/s)":3)-") +
      Event(1, "HBM 0/Read", "1", R"-("Read(MB/s)":1)-") +
      Event(2, "LLC 1 Read/Throughput", "1", R"-("Throughput(MB/s)":2.0)-") +
      Event(2, "LLC 1 Read/Hit Rate", "1", R"-("Hit Rate(%)":0.75)-") +
      Event(3, "APP/HBM", "1", R"-("KB":4)-") + Event(3, "APP/DDR", "1", R"-("KB":0)-") +
      Event(3, "APP/Memory", "1", R"-("KB":4)-") + Event(4, "QoS OTHERS", "1", R"-("value":7)-") +
      Event(5, "req_rx", "1", R"-("die 1":1)-") + Event(5, "rsp_rx", "1", R"-("die 1":0)-") +
      Event(5, "snp_rx", "1", R"-("die 1":0)-") + Event(5, "dat_rx", "1", R"-("die 1":2)-") +
      Event(5, "req_tx", "1", R"-("die 1":0)-") + Event(5, "rsp_tx", "1", R"-("die 1":0)-") +
      Event(5, "snp_tx", "1", R"-("die 1":0)-") + Event(5, "dat_tx", "1", R"-("die 1":0)-") +
      Event(6, "PCIe_post", "1", R"-("Tx":1,"Rx":4)-") +
      Event(6, "PCIe_nonpost", "1", R"-("Tx":2,"Rx":5)-") +
      Event(6, "PCIe_cpl", "1", R"-("Tx":3,"Rx":6)-") +
      Event(6, "PCIe_nonpost_latency", "1", R"-("Tx":1.5,"Rx":0)-") +
      Event(7, "read_bandwidth", "1", R"-("value":1,"acc_id":4)-") +
      Event(7, "write_band_width", "1", R"-("value":2,"acc_id":4)-") +
      Event(7, "read_ost", "1", R"-("value":3,"acc_id":4)-") +
      Event(7, "write_ost", "1", R"-("value":5,"acc_id":4)-") +
      Event(8, "L2 Buffer Bw Level", "1", R"-("L2 Buffer Bw Level":1)-") +
      Event(8, "Mata Bw Level", "1", R"-("Mata Bw Level":2)-") +
      Event(9, "Tx", "1", R"-("Tx(MB/s)":1)-") + Event(9, "Rx", "1", R"-("Rx(MB/s)":2)-") +
      Event(10, "CPU 11", "1", R"-("Usage(%)":12.5)-") +
      Event(11, "Memory Usage", "1", R"-("Usage(%)":40)-"));
  EXPECT_EQ(Shown(text), Shown(db));
  EXPECT_EQ(text.counters.kind, db.counters.kind);
  EXPECT_EQ(text.counters.of_host, db.counters.of_host);
  EXPECT_TRUE(text.issues.Empty());
  EXPECT_EQ(Shown(db).size(), 32u);
}

TEST(HardwareCounters, EventsOfOtherDevicesAndBrokenOnesDoNotCount) {
  const std::string hardware = Process(0, "Ascend Hardware");
  // The device in the lowest bits is another one.
  const std::string other =
      R"-({"ph":"M","name":"process_name","pid":3105,"tid":0,"args":{"name":"HBM"}},)-"
      R"-({"ph":"C","name":"HBM 0/Read","pid":3105,"tid":0,"ts":"1","args":{"Read(MB/s)":9}},)-"
      R"-({"ph":"X","name":"a","pid":3072,"tid":1,"ts":"1","dur":1,"args":{"Task Type":"x"}},)-";
  const RankTrace trace = CountersOfEvents(hardware + Process(1, "HBM") + other +
                                           Event(1, "HBM 0/Read", "1", R"-("Read(MB/s)":1)-") +
                                           Event(1, "HBM 0/Read", "2", R"-("Read(MB/s)":"x")-") +
                                           Event(1, "HBM 0/Read", "", R"-("Read(MB/s)":1)-") +
                                           Event(1, "HBM 0/Read", "3", R"-("Read(MB/s)":-1)-") +
                                           Event(1, "HBM 0", "3", R"-("Read(MB/s)":1)-"));
  EXPECT_EQ(Shown(trace), Lines{"HBM/0/read [B/s] 1000+0=1048576"});
  EXPECT_FALSE(trace.issues.Empty());
}

TEST(HardwareCounters, ReadsTheMemoryOfModules) {
  const test::TempDir dir;
  const RankTrace trace = test::ReadFile(
      FileKind::kHardwareTable, dir.Write("npu_module_mem.csv",
                                          "Component,Timestamp(us),Total Reserved(MB),Device\n"
                                          "HCCL,1.5\t,404.0625,NPU:0\nHCCL,2.5\t,1.0,NPU:0\n"
                                          "HCCL,3.5\t,1.0,NPU:1\nFMK,x,1.0,NPU:0\n"));
  EXPECT_EQ(Shown(trace), (Lines{"NPU module memory/HCCL/reserved [B] 1500+1000=423690240",
                                 "NPU module memory/HCCL/reserved [B] 2500+0=1048576"}));
  EXPECT_EQ(trace.issues.Lines().size(), 1u);
}

}  // namespace
}  // namespace mpa
