// SPDX-License-Identifier: Apache-2.0
// Samples of links, network ports, memory and caches, record by record; broken ones are counted.
#include <gtest/gtest.h>

#include "raw/made_capture.h"
#include "raw/stages.h"
#include "support/files.h"

namespace mpa::raw {
namespace {

using test::Put;
using Lines = std::vector<std::string>;

// The device's monotonic clock read 1 s at the epoch 0; the collection began there.
class TrafficSamples : public testing::Test {
 protected:
  TrafficSamples() {
    side_.clock.device_monotonic = 1'000'000'000;
    side_.begin = 0;
    device_.platform = 5;
    device_.generation = Generation::kStars;
    device_.llc_mode = "read";
  }

  void ReadLinks() { ReadLinkTraffic(DataFiles(directory_.path()), side_, device_, session_); }
  void ReadMemories() { ReadMemoryTraffic(DataFiles(directory_.path()), side_, device_, session_); }
  Lines Issues() const { return session_.issues.Lines(); }
  void Write(const std::string& file, const std::string& bytes, int slice = 0) {
    directory_.Write(file + ".data.0.slice_" + std::to_string(slice), bytes);
  }

  test::TempDir directory_;
  Side side_;
  Device device_;
  Session session_;
};

TEST_F(TrafficSamples, OfHccsAreGrowthPerSecond) {
  Write("hccs", "time tx rx\n1:000000000 100 0\n1:500000000 1100 7\n2:000000000 1100 8\n");
  ReadLinks();
  const HccsTraffic& hccs = session_.traffic.hccs;
  EXPECT_EQ(hccs.time, (std::vector<TimeNs>{500'000'000, 1'000'000'000}));
  EXPECT_EQ(hccs.tx, (std::vector<std::int64_t>{2000, 0}));
  EXPECT_EQ(hccs.rx, (std::vector<std::int64_t>{14, 2}));
  EXPECT_EQ(Issues(), Lines{});
}

TEST_F(TrafficSamples, FromBeforeTheCollectionCountForTheFirstIntervalOnly) {
  Write("hccs", "0:500000000 0 0\n0:900000000 4 0\n1:000000000 14 0\n");
  ReadLinks();
  EXPECT_EQ(session_.traffic.hccs.time, (std::vector<TimeNs>{0}));
  EXPECT_EQ(session_.traffic.hccs.tx, (std::vector<std::int64_t>{100}));
}

TEST_F(TrafficSamples, LinesMayBeInTwoSlices) {
  Write("hccs", "1:000000000 0 0\n1:5000", 0);
  Write("hccs", "00000 50 10\n", 1);
  ReadLinks();
  EXPECT_EQ(session_.traffic.hccs.tx, (std::vector<std::int64_t>{100}));
  EXPECT_EQ(Issues(), Lines{});
}

TEST_F(TrafficSamples, WithoutTheirBeginningStartWithTheNextLine) {
  Write("hccs", "1:000000000 9 9\n1:100000000 0 0\n1:200000000 1 1\n", 3);
  ReadLinks();
  EXPECT_EQ(session_.traffic.hccs.tx, (std::vector<std::int64_t>{10}));
  EXPECT_EQ(Issues(), Lines{});
}

TEST_F(TrafficSamples, ThatAreCutOffAreNotBelieved) {
  Write("hccs", "1:000000000 0 0\n1:500000000 100 0\n2:000000000 200 1");  // of 12345?
  ReadLinks();
  EXPECT_EQ(session_.traffic.hccs.tx, (std::vector<std::int64_t>{200}));
  EXPECT_EQ(Issues(), Lines{"file cut off inside a line, read up to there (hccs.data)"});
}

TEST_F(TrafficSamples, OfCountersThatRunBackwardsAreCounted) {
  Write("hccs", "1:000000000 100 0\n1:500000000 50 0\n2:000000000 60 0\n");
  ReadLinks();
  EXPECT_EQ(session_.traffic.hccs.time, (std::vector<TimeNs>{1'000'000'000}));
  EXPECT_EQ(session_.traffic.hccs.tx, (std::vector<std::int64_t>{20}));
  EXPECT_EQ(Issues(), Lines{"sample left out, its counters run backwards (hccs.data)"});
}

TEST_F(TrafficSamples, OfOneTimeAreCounted) {
  Write("hccs", "1:000000000 0 0\n1:000000000 50 0\n2:000000000 150 0\n");
  ReadLinks();
  EXPECT_EQ(session_.traffic.hccs.tx, (std::vector<std::int64_t>{100}));
  EXPECT_EQ(Issues(), Lines{"sample left out, it has the time of the one before it (hccs.data)"});
}

TEST_F(TrafficSamples, OfOtherColumnsAreCountedWithTheirLine) {
  Write("hccs",
        "time tx rx\n1:000000000 0 0\n1:1 5\n1:2 x 5\n-1:5 1 1\n1:1234567890 1 1\n"
        "1:5 1 1 1\n99999999999999999999 1 1\n2:000000000 -1 0\n");
  ReadLinks();
  EXPECT_TRUE(session_.traffic.hccs.Empty());
  EXPECT_EQ(Issues(), Lines{"line left out, its columns are not those of its kind, 7 times"
                            " (first: hccs.data, line 3)"});
}

TEST_F(TrafficSamples, NeedTheClockOfTheDevice) {
  side_.clock.device_monotonic = 0;
  Write("hccs", "1:000000000 0 0\n2:000000000 5 5\n");
  Write("pcie", std::string(96, '\0'));
  ReadLinks();
  EXPECT_TRUE(session_.traffic.Empty());
  EXPECT_EQ(
      Issues(),
      Lines{"samples left out, the start of their clock is unknown, 2 times (first: hccs.data)"});
}

std::string Pcie(std::uint64_t ns, const std::vector<std::uint32_t>& values) {
  std::string record(96, '\0');
  Put(record, 0, 1'000'000'000 + ns);
  for (std::size_t i = 0; i < values.size(); ++i) Put(record, 12 + 4 * i, values[i]);
  return record;
}

TEST_F(TrafficSamples, OfPcieHoldMoreThan32BitsOfBytesPerSecond) {
  std::vector<std::uint32_t> values(21, 5);
  values[2] = 20'000;  // bytes per microsecond
  values[9] = 3, values[10] = 900, values[11] = 40;
  Write("pcie", Pcie(70, std::vector<std::uint32_t>(21, 1)) + Pcie(30, values));
  ReadLinks();
  const PcieTraffic& pcie = session_.traffic.pcie;
  EXPECT_EQ(pcie.time, (std::vector<TimeNs>{30, 70}));
  EXPECT_EQ(pcie.of[0][0].avg, 20'000'000'000);
  EXPECT_EQ(pcie.of[0][6].max, 5'000'000);
  const auto& latency = pcie.of[0][static_cast<std::size_t>(PcieKind::kTxLatency)];
  EXPECT_EQ(latency.min, 3);
  EXPECT_EQ(latency.max, 900);
  EXPECT_EQ(latency.avg, 40);
}

TEST_F(TrafficSamples, OfPcieWithoutTrafficAreZero) {
  std::vector<std::uint32_t> idle(21, 0);
  idle[0] = 0xFFFFF;
  Write("pcie", Pcie(10, idle));
  ReadLinks();
  ASSERT_EQ(session_.traffic.pcie.Size(), 1u);
  EXPECT_EQ(session_.traffic.pcie.of[0][0].min, 0);
  EXPECT_EQ(Issues(), Lines{});
}

TEST_F(TrafficSamples, OfPcieThatContradictThemselvesAreCounted) {
  std::vector<std::uint32_t> odd(21, 0);
  odd[3] = 10, odd[4] = 9;
  std::string never = Pcie(10, {});
  Put(never, 0, ~std::uint64_t{0});
  Write("pcie", Pcie(10, odd) + never + Pcie(20, {}) + "cut");
  ReadLinks();
  EXPECT_EQ(session_.traffic.pcie.time, (std::vector<TimeNs>{20}));
  EXPECT_EQ(Issues(),
            (Lines{"file cut off inside a record, read up to there (pcie.data)",
                   "sample left out, its values are invalid, 2 times (first: pcie.data)"}));
}

constexpr const char* kPort = " 100 2.5 1000 10 20 1 0 3 4000 5 6 0 0";

TEST_F(TrafficSamples, OfPortsHaveThreeForms) {
  Write("nic", std::string("Time bandwidth rxPacket/s\n1:000000001") + kPort + "\n1:000000002" +
                   kPort + " 7\n1:000000003" + kPort + " 8 1\n");
  Write("roce", "1:000000004" + std::string(kPort) + " 1\n");
  ReadLinks();
  const NetworkTraffic& nic = session_.traffic.nic;
  EXPECT_EQ(nic.time, (std::vector<TimeNs>{1, 2, 3}));
  EXPECT_EQ(nic.port, (std::vector<std::int64_t>{0, 7, 8}));
  EXPECT_EQ(nic.bandwidth[0], 100);
  EXPECT_EQ(nic.rx[0].packet_rate, 2.5);
  EXPECT_EQ(nic.rx[0].byte_rate, 1000);
  EXPECT_EQ(nic.rx[0].packets, 10);
  EXPECT_EQ(nic.rx[0].bytes, 20);
  EXPECT_EQ(nic.rx[0].errors, 1);
  EXPECT_EQ(nic.tx[0].packet_rate, 3);
  EXPECT_EQ(nic.tx[0].bytes, 6);
  EXPECT_EQ(session_.traffic.roce.port, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(Issues(), Lines{});
}

TEST_F(TrafficSamples, OfPortsThatCannotBeAreCounted) {
  Write("nic",
        "1:000000001" + std::string(kPort) +
            "\n1:000000002 100 2.5 1000 9 20 1 0 3 4 5 6 0 0"
            "\n1:000000003 0 2.5 1000 11 20 1 0 3 4000 5 6 0 0\n"
            "1:000000004 0 0 0 11 20 1 0 0 0 5 6 0 0\n1:000000005 100 -1 1 1 1 1 1 1 1 1 1 1 1\n"
            "1:000000006 100 1 1 1 1 1\n");
  ReadLinks();
  // The port that is down is shown.
  EXPECT_EQ(session_.traffic.nic.time, (std::vector<TimeNs>{1, 4}));
  EXPECT_EQ(Issues(), (Lines{"line left out, its columns are not those of its kind, 2 times"
                             " (first: nic.data, line 5)",
                             "sample left out, it has traffic but no bandwidth (nic.data)",
                             "sample left out, its counters run backwards (nic.data)"}));
}

std::string Hbm(std::uint64_t micros, std::uint64_t count, std::uint32_t event, std::uint32_t id) {
  std::string record(24, '\0');
  Put(record, 0, micros);
  Put(record, 8, count);
  Put(record, 16, event);
  Put(record, 20, id);
  return record;
}

TEST_F(TrafficSamples, OfHbmAre32BytesACountSinceTheOneBefore) {
  Write("hbm", Hbm(10, 9, 0, 0) + Hbm(10, 9, 1, 0) + Hbm(30, 100, 1, 0) + Hbm(30, 10, 0, 0) +
                   Hbm(30, 5, 0, 1));
  ReadMemories();
  const HbmTraffic& hbm = session_.traffic.hbm;
  EXPECT_EQ(hbm.time, (std::vector<TimeNs>{30'000, 30'000}));
  EXPECT_EQ(hbm.write, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(hbm.rate, (std::vector<std::int64_t>{16'000'000, 160'000'000}));  // 320 B in 20 us
  EXPECT_EQ(Issues(), Lines{});
}

TEST_F(TrafficSamples, OfHbmInVersion2HaveEpochTimes) {
  device_.record_version = "2.0";
  std::string bytes;
  for (const std::uint64_t ns : {1000, 3000}) {
    std::string record(32, '\0');
    Put(record, 8, std::uint32_t{1});
    Put(record, 12, std::uint32_t{3});
    Put(record, 16, std::uint64_t{2});
    Put(record, 24, ns);
    bytes += record;
  }
  Write("hbm", bytes);
  ReadMemories();
  EXPECT_EQ(session_.traffic.hbm.time, (std::vector<TimeNs>{3000}));
  EXPECT_EQ(session_.traffic.hbm.hbm, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(session_.traffic.hbm.rate, (std::vector<std::int64_t>{32'000'000}));
}

TEST_F(TrafficSamples, OfHbmThatMakeNoSenseAreCounted) {
  Write("hbm", Hbm(10, 9, 0, 0) + Hbm(10, 9, 0, 0) + Hbm(20, ~std::uint64_t{0}, 0, 0) +
                   Hbm(~std::uint64_t{0}, 1, 0, 0) + Hbm(20, 1, 0, 0x01000000));
  ReadMemories();
  EXPECT_TRUE(session_.traffic.hbm.Empty());
  EXPECT_EQ(Issues(),
            (Lines{"sample left out, it has the time of the one before it (hbm.data)",
                   "sample left out, its values are invalid, 3 times (first: hbm.data)"}));
}

std::string Ddr(std::uint32_t micros, std::uint32_t count, std::uint32_t event, std::uint32_t id,
                std::uint32_t master = 0xFFFFFFFF) {
  std::string record(20, '\0');
  const std::uint32_t values[] = {micros, count, event, id, master};
  for (std::size_t i = 0; i < 5; ++i) Put(record, 4 * i, values[i]);
  return record;
}

TEST_F(TrafficSamples, OfDdrAreTheSumOfItsControllers) {
  Write("ddr", Ddr(10, 3, 0, 0) + Ddr(10, 4, 0, 1) + Ddr(10, 5, 1, 0) + Ddr(10, 99, 0, 0, 2) +
                   Ddr(30, 10, 0, 0));
  ReadMemories();
  const DdrTraffic& ddr = session_.traffic.ddr;
  EXPECT_EQ(ddr.time, (std::vector<TimeNs>{10'000, 30'000}));
  EXPECT_EQ(ddr.read, (std::vector<std::int64_t>{11'200'000, 8'000'000}));  // 7 * 16 B in 10 us
  EXPECT_EQ(ddr.write, (std::vector<std::int64_t>{8'000'000, 0}));
}

TEST_F(TrafficSamples, OfDdrThatMakeNoSenseAreCounted) {
  Write("ddr", Ddr(10, 7, 0, 5 << 20) + Ddr(10, 7, 1 << 20, 0) + "cut");
  ReadMemories();
  EXPECT_TRUE(session_.traffic.ddr.Empty());
  EXPECT_EQ(Issues(),
            (Lines{"file cut off inside a record, read up to there (ddr.data)",
                   "sample left out, its values are invalid, 2 times (first: ddr.data)"}));
}

TEST_F(TrafficSamples, OfDdrAreTwiceAsWideOnOlderChips) {
  device_.platform = 1;
  device_.generation = Generation::kHwts;
  Write("ddr", Ddr(10, 7, 0, 0));
  ReadMemories();
  EXPECT_EQ(session_.traffic.ddr.read, (std::vector<std::int64_t>{22'400'000}));
}

std::string Llc(std::uint64_t micros, std::uint32_t id, const std::vector<std::uint64_t>& counts,
                const std::vector<std::uint32_t>& events = {0x00, 0x01, 0x02, 0x13, 0x20, 0x22,
                                                            0x34, 0x36}) {
  std::string records;
  for (std::size_t i = 0; i < counts.size(); ++i) records += Hbm(micros, counts[i], events[i], id);
  return records;
}

TEST_F(TrafficSamples, OfCachesHaveHitsAndTraffic) {
  Write("llc", Llc(10, 1, {1, 1, 1, 1, 4, 1, 4, 1}) + Llc(20, 1, {2, 3, 1, 2, 10, 0, 10, 4}) +
                   Llc(20, 0, {9, 9, 9, 9, 0, 9, 0, 9}));
  ReadMemories();
  const LlcTraffic& llc = session_.traffic.llc;
  EXPECT_EQ(llc.llc, (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(llc.time, (std::vector<TimeNs>{20'000, 10'000, 20'000}));
  EXPECT_EQ(llc.hit_rate, (std::vector<double>{0, 0.5, 0.35}));             // none asked, 7 / 20
  EXPECT_EQ(llc.rate, (std::vector<std::int64_t>{-1, -1, 2'048'000'000}));  // 5 * 4096 B in 10 us
  EXPECT_EQ(Issues(), Lines{});
}

TEST_F(TrafficSamples, OfCachesMayCountWrites) {
  device_.llc_mode = "write";
  Write("llc",
        Llc(10, 0, {1, 1, 1, 1, 4, 1, 4, 1}, {0x00, 0x01, 0x03, 0x14, 0x21, 0x23, 0x35, 0x37}));
  ReadMemories();
  EXPECT_EQ(session_.traffic.llc.write, (std::vector<std::uint8_t>{1}));
  EXPECT_EQ(session_.traffic.llc.hit_rate, (std::vector<double>{0.5}));
}

TEST_F(TrafficSamples, OfCachesWithoutAllCountersAreCounted) {
  Write("llc", Llc(10, 0, {1, 1, 1, 1, 1, 1, 1}) + Llc(20, 0, {1}, {0x77}) + Llc(20, 1000, {1}));
  ReadMemories();
  EXPECT_TRUE(session_.traffic.llc.Empty());
  EXPECT_EQ(Issues(), (Lines{"sample left out, its values are invalid, 2 times (first: llc.data)",
                             "sample left out, some of its counters are missing (llc.data)"}));
}

TEST_F(TrafficSamples, OfCachesNeedToSayWhatTheyCount) {
  device_.llc_mode = "capacity";
  Write("llc", Llc(10, 0, {1, 1, 1, 1, 1, 1, 1, 1}));
  ReadMemories();
  EXPECT_EQ(
      Issues(),
      Lines{"samples left out, llc_profiling of sample.json is neither read nor write (llc.data)"});
}

std::string L2(std::uint16_t stream, std::uint16_t task, const std::vector<std::uint64_t>& counts) {
  std::string record(72, '\0');
  Put(record, 2, stream);
  Put(record, 4, task);
  for (std::size_t i = 0; i < counts.size(); ++i) Put(record, 8 + 8 * i, counts[i]);
  return record;
}

class L2Cache : public TrafficSamples {
 protected:
  L2Cache() { device_.l2_events = {0x9C, 0xFB, 0xFC, 0x90, 0x91}; }

  void AddKernel(std::int64_t stream, std::int64_t task, TimeNs start, std::string_view name) {
    session_.kernels.Append({{.name = session_.strings.Intern(name)},
                             {.task = static_cast<std::int32_t>(session_.tasks.Size())}});
    session_.tasks.Append(
        {{.start = start, .task_id = task, .stream = stream}, {.end = start + 1}});
  }
  void Read() { ReadL2Cache(DataFiles(directory_.path()), device_, session_); }
  std::string Name(std::size_t row) {
    return std::string(session_.strings.View(session_.l2_cache.name[row]));
  }
};

TEST_F(L2Cache, RatesAreOfAllRequests) {
  Write("l2_cache", L2(3, 8, {5, 60, 40, 20, 30}) + L2(3, 9, {}));
  Read();
  EXPECT_EQ(session_.l2_cache.stream, (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(session_.l2_cache.task, (std::vector<std::int64_t>{8, 9}));
  EXPECT_EQ(session_.l2_cache.hit_rate, (std::vector<double>{0.5, 0}));
  EXPECT_EQ(session_.l2_cache.victim_rate, (std::vector<double>{0.05, 0}));
}

TEST_F(L2Cache, KernelsOfOneNumberAreNamedInTheirOrder) {
  AddKernel(3, 8, 200, "later");
  AddKernel(3, 8, 100, "earlier");
  AddKernel(3, 9, 300, "other");
  Write("l2_cache", L2(3, 8, {}) + L2(3, 8, {}) + L2(3, 8, {}) + L2(4, 9, {}));
  Read();
  EXPECT_EQ(Name(0), "");  // of a kernel from before the collection
  EXPECT_EQ(Name(1), "earlier");
  EXPECT_EQ(Name(2), "later");
  EXPECT_EQ(Name(3), "");
}

TEST_F(L2Cache, NeedsTheEventsOfTheChip) {
  device_.l2_events = {0x9C, 0xFB};
  Write("l2_cache", L2(3, 8, {}));
  Read();
  EXPECT_TRUE(session_.l2_cache.Empty());
  EXPECT_EQ(Issues(), Lines{"counters of the L2 cache left out, the events of the chip are not"
                            " among those in sample.json (l2CacheTaskProfilingEvents)"
                            " (l2_cache.data)"});
}

}  // namespace
}  // namespace mpa::raw
