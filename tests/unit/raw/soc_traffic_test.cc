// SPDX-License-Identifier: Apache-2.0
// What the chip tells of itself and the program uses of its machine: single records and lines, and
// broken ones. tests/cli/run_hardware.py computes whole captures a second time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "raw/made_capture.h"
#include "raw/stages.h"
#include "support/files.h"
#include "support/hostile_bytes.h"

namespace mpa::raw {
namespace {

using test::Put;
using Lines = std::vector<std::string>;

// A device count is 20 ns and was 0 at the epoch 0, as the monotonic clock of the host was.
class ChipAndHost : public testing::Test {
 protected:
  ChipAndHost() {
    side_.clock.device_hertz = 50'000'000;
    side_.begin = 0;
    device_.generation = Generation::kStars;
    device_.qos_events = {"OTHERS", "AIC"};
    setup_ = {.processors = 4,
              .ticks_per_second = 100,
              .memory_kb = 1'000'000,
              .disk_hertz = 10,
              .cards = {{"eth0", 1000.0}}};
  }

  void ReadChip() {
    session_ = {};
    ReadSocTraffic(DataFiles(directory_.path()), side_, device_, session_);
  }
  void ReadHost() {
    session_ = {};
    ReadHostUse(DataFiles(directory_.path()), side_, setup_, session_);
  }
  Lines Issues() const { return session_.issues.Lines(); }

  // "kind processor time value".
  Lines HostRows() const {
    Lines rows;
    const HostUse& host = session_.traffic.host;
    for (std::size_t i = 0; i < host.Size(); ++i)
      rows.push_back(fmt::format("{} {} {} {:g}", static_cast<int>(host.kind[i]), host.processor[i],
                                 host.time[i], host.value[i]));
    return rows;
  }

  static std::string Soc(std::uint16_t kind, std::uint64_t count) {
    std::string record(64, '\0');
    Put(record, 0, kind);
    Put(record, 2, std::uint16_t{0x6BD3});
    Put(record, 8, count);
    return record;
  }
  static std::string Sio(std::uint64_t count, std::uint32_t bytes) {
    std::string record = Soc(25, count);
    Put(record, 18, std::uint16_t{1});
    Put(record, 32, bytes);
    return record;
  }

  test::TempDir directory_;
  Side side_;
  Device device_;
  HostSetup setup_;
  Session session_;
};

TEST_F(ChipAndHost, ChannelsOfDiesAreBytesSinceTheSampleBefore) {
  directory_.Write("stars_soc_profile.data.0.slice_0",
                   Sio(150, 9) + Sio(100, 7) + Sio(150, 5) + Soc(29, 160));
  ReadChip();
  EXPECT_EQ(session_.traffic.sio.time, (std::vector<TimeNs>{3000}));
  EXPECT_EQ(session_.traffic.sio.rates[0][0], 9'000'000) << "9 bytes in 1 us";
  EXPECT_EQ(session_.strings.View(session_.traffic.sio.name[0]), "die 1");
  EXPECT_EQ(
      Issues(),
      Lines{"sample left out, it has the time of the one before it (stars_soc_profile.data)"});
}

TEST_F(ChipAndHost, QosOfADieHasEightValues) {
  std::string record = Soc(24 | 1 << 10, 100);
  Put(record, 24, std::uint32_t{77});
  Put(record, 32, std::uint32_t{3});
  Put(record, 36, std::uint32_t{4});
  directory_.Write("stars_soc_profile.data.0.slice_0", record);
  ReadChip();
  const QosTraffic& qos = session_.traffic.qos;
  EXPECT_EQ(qos.rate, (std::vector<std::int64_t>{3 << 20, 4 << 20}));
  EXPECT_EQ(qos.die, (std::vector<std::int64_t>{1, 1}));
}

TEST_F(ChipAndHost, ThreadsWithOddNamesAreCountedAtTheirProcessor) {
  const auto stat = [](int thread, const char* name, int user) {
    std::string line = std::to_string(thread) + " (" + name + ") S";
    for (int field = 3; field < 52; ++field)
      line += field == 13 ? " " + std::to_string(user) : field == 38 ? " 2" : " 0";
    return line + "\n";
  };
  directory_.Write("host_cpu.data.slice_0", "time 1000\n10.00 1\n" + stat(7, "a) (b", 100) +
                                                stat(8, "c", 5) + "time 2000\n11.00 1\n" +
                                                stat(7, "a) (b", 150) + stat(9, "new", 90) +
                                                "time x\n12.00 1\n");
  ReadHost();
  EXPECT_EQ(HostRows(), (Lines{"0 2 1000 50", "0 -1 1000 12.5"}));
  EXPECT_EQ(Issues(), Lines{"line left out, its columns are not those of its kind (host_cpu.data,"
                            " line 9)"});
}

TEST_F(ChipAndHost, LinesOfMemoryDisksAndNetwork) {
  directory_.Write("host_mem.data.slice_0", "100 9 2500\n200 9 5000 1\n300 9\n");
  directory_.Write("host_disk.data.slice_0",
                   "start_time 500\nTIME TID PRIO USER READ WRITE\n"
                   "1 2 be/4 root 1.50 K/s 2.00 B/s 0.00 % 7.5 % python\n"
                   "1 2 be/4 root 1.00 M/s 2.00 B/s ?unavailable?\n"
                   "1 2 be/4 root 1.00 X/s 2.00 B/s 0.00 % 7.5 % python\n");
  directory_.Write("host_network.data.slice_0",
                   "time 0\neth0: 100 0 0 0 0 0 0 0 50 0 0 0\nlo: 9 0 0 0 0 0 0 0 9 0 0 0\n"
                   "time 1000000000\neth0: 400 0 0 0 0 0 0 0 250 0 0 0\n"
                   "time 2000000000\neth0: 0 0 0 0 0 0 0 0 0 0 0 0\n");
  ReadHost();
  EXPECT_EQ(HostRows(), (Lines{"1 -1 100 2", "3 -1 500 1536", "4 -1 500 2", "2 -1 500 7.5",
                               "3 -1 100000500 1.04858e+06", "4 -1 100000500 2",
                               "2 -1 100000500 -1", "5 -1 0 50", "6 -1 0 500"}));
  EXPECT_EQ(Issues().size(), 1u) << "a line without pages, and one of an unknown unit";
}

TEST_F(ChipAndHost, BrokenFilesAreSurvived) {
  std::string chip;
  for (std::uint16_t kind = 24; kind < 30; ++kind)
    chip += Soc(kind, 100u * kind) + Soc(kind, 100u * kind + 50);
  const std::string cpu =
      "time 1000\n10.00 1\n7 (a) S 0 0 0 0 0 0 0 0 0 0 5 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
      " 0"
      " 0 0 0 2 0\ntime 2000\n11.00 1\n";
  const std::vector<std::pair<std::string, std::string>> files = {
      {"qos.data.0.slice_0", std::string(128, '\1')},
      {"stars_soc_profile.data.0.slice_0", chip},
      {"host_cpu.data.slice_0", cpu + cpu},
      {"host_mem.data.slice_0", "1000 9 2500\n2000 9 5000 1\n"},
      {"host_disk.data.slice_0",
       "start_time 500\n1 2 be/4 root 1.50 K/s 2.00 B/s 0.00 % 7.5 % p\n"},
      {"host_network.data.slice_0", "time 0\neth0: 1 0 0 0 0 0 0 0 5 0 0 0\ntime 9\n"}};
  for (const auto& [name, bytes] : files) {
    const bool is_text = name.starts_with("host");
    const auto records = is_text ? test::TextRecords(bytes) : test::FixedRecords(bytes, 64);
    std::vector<test::HostileVariant> variants = test::HostileVariants(bytes, records);
    if (is_text) {
      for (auto& variant : test::HostileTexts(bytes)) variants.push_back(std::move(variant));
    }
    for (const test::HostileVariant& variant : variants) {
      SCOPED_TRACE(name + ": " + variant.name);
      directory_.Write(name, variant.bytes);
      is_text ? ReadHost() : ReadChip();
    }
    directory_.Write(name, bytes);
  }
}

}  // namespace
}  // namespace mpa::raw
