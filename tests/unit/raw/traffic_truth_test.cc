// SPDX-License-Identifier: Apache-2.0
// Traffic of generated captures: as the records have it, and what the files show of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "mpa/profiler_output/profiler_output.h"
#include "mpa/raw/session.h"
#include "raw/database_rows.h"
#include "raw/raw_captures.h"
#include "support/files.h"

namespace mpa::raw {
namespace {

using Lines = std::vector<std::string>;
using nlohmann::json;

constexpr double kMebibyte = 1 << 20;

std::string NumberText(const json& value) { return std::to_string(value.get<std::int64_t>()); }

std::string Join(const json& values) {
  std::string joined;
  for (const json& value : values) joined += "|" + NumberText(value);
  return joined;
}

std::string Time(const json& sample) { return NumberText(sample.at("time_ns")); }

/// With three decimals, halves away from zero, and without zeros behind the first decimal.
std::string Rounded(double value) {
  std::string text = fmt::format("{:.3f}", std::round(value * 1000) / 1000);
  while (text.ends_with('0') && text[text.size() - 2] != '.') text.pop_back();
  return text;
}

std::string Megabytes(double bytes) { return Rounded(bytes / kMebibyte); }

class Traffic : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto captures = test::GeneratedRawCaptures(GetParam());
    MPA_NEED_GENERATED(captures);
    truth_ = captures.front().truth;
    device_ = NumberText(truth_.at("device"));
    session_ = ReadSession(captures.front().path, Parts::kCann | Parts::kTraffic);
  }

  const json& Planted(const char* kind) const {
    const json& planted = truth_.at(kind);
    EXPECT_FALSE(planted.empty());
    return planted;
  }

  /// Written files have the lines of the header, then these, without the number of the device.
  void ExpectTable(const std::string& file, const std::string& header, const Lines& rows) {
    profiler_output::WriteText(session_, directory_.path());
    std::string expected = "Device_id," + header + "\r\n";
    for (const std::string& row : rows) expected += device_ + "," + row + "\r\n";
    EXPECT_EQ(test::ReadAll(directory_ / file), expected);
  }

  Lines DatabaseTable(const std::string& sql) {
    profiler_output::WriteDatabases(session_, directory_.path());
    for (const std::string& name : directory_.Names()) {
      if (name.starts_with("ascend_pytorch_profiler")) {
        return test::DatabaseRows(directory_ / name, sql);
      }
    }
    return {};
  }

  /// The counters of a process of the timeline: "time name {series}".
  Lines Counters(const std::string& process) {
    profiler_output::WriteText(session_, directory_.path());
    const json events = json::parse(test::ReadAll(directory_ / "trace_view.json"));
    json number;
    for (const json& event : events) {
      if (event["name"] == "process_name" && event["args"]["name"] == process) {
        number = event["pid"];
      }
    }
    Lines lines;
    for (const json& event : events) {
      if (event.value("ph", "") != "C" || event["pid"] != number) continue;
      lines.push_back(fmt::format("{} {} {}", event["ts"].get<std::string>(),
                                  event["name"].get<std::string>(), event["args"].dump()));
    }
    return lines;
  }

  static std::string Counter(const json& sample, const std::string& name, const json& series) {
    const auto ns = sample.at("time_ns").get<TimeNs>();
    return fmt::format("{}.{:03} {} {}", ns / 1000, ns % 1000, name, series.dump());
  }

  /// The truth as a number of three decimals.
  static json Shown(double value) { return json::parse(Rounded(value)); }
  static json ShownMegabytes(const json& bytes) { return Shown(bytes.get<double>() / kMebibyte); }

  json truth_;
  std::string device_;
  Session session_;
  test::TempDir directory_;
};

TEST_P(Traffic, IsReadWithoutComplaints) { EXPECT_EQ(session_.issues.Lines(), Lines{}); }

TEST_P(Traffic, OfLinksToOtherChips) {
  Lines rows, counters;
  double tx = 0, rx = 0;
  std::vector<double> all_tx, all_rx;
  for (const json& sample : Planted("hccs")) {
    rows.push_back(device_ + "|" + Time(sample) + Join({sample["tx"], sample["rx"]}));
    counters.push_back(Counter(sample, "Rx", {{"Rx(MB/s)", ShownMegabytes(sample["rx"])}}));
    counters.push_back(Counter(sample, "Tx", {{"Tx(MB/s)", ShownMegabytes(sample["tx"])}}));
    all_tx.push_back(sample["tx"]);
    all_rx.push_back(sample["rx"]);
    tx += all_tx.back();
    rx += all_rx.back();
  }
  EXPECT_EQ(DatabaseTable("SELECT deviceId, timestampNs, txThroughput, rxThroughput FROM HCCS"),
            rows);
  EXPECT_EQ(Counters("HCCS"), counters);
  const auto row = [](const std::string& mode, const std::vector<double>& all, double sum) {
    return fmt::format("{},{},{},{}", mode, Megabytes(*std::max_element(all.begin(), all.end())),
                       Megabytes(*std::min_element(all.begin(), all.end())),
                       Megabytes(sum / static_cast<double>(all.size())));
  };
  ExpectTable("hccs.csv", "Mode,Max,Min,Average",
              {row("Tx (MB/s)", all_tx, tx), row("Rx (MB/s)", all_rx, rx)});
}

TEST_P(Traffic, OfTheLinkToTheHost) {
  Lines rows, counters;
  std::vector<std::vector<double>> means(7, std::vector<double>(3));  // kind, min max avg
  const json& planted = Planted("pcie");
  const bool last_only = GetParam() != "hwts";  // 910B counts from the start
  for (const json& sample : planted) {
    const json& of = sample["of"];
    std::string values;
    for (const json& kind : of) values += Join(kind);
    rows.push_back(device_ + "|" + Time(sample) + values);
    const auto average = [&](std::size_t kind, double unit) -> json {
      return of[kind][2].get<double>() / unit;
    };
    const auto pair = [&](const char* name, std::size_t tx, std::size_t rx) {
      counters.push_back(
          Counter(sample, name, {{"Tx", average(tx, kMebibyte)}, {"Rx", average(rx, kMebibyte)}}));
    };
    pair("PCIe_cpl", 2, 6);
    pair("PCIe_nonpost", 1, 5);
    counters.push_back(
        Counter(sample, "PCIe_nonpost_latency", {{"Tx", average(3, 1000)}, {"Rx", 0.0}}));
    pair("PCIe_post", 0, 4);
    for (std::size_t i = 0; i < 21; ++i) {
      const double value = of[i / 3][i % 3].get<double>();
      double& mean = means[i / 3][i % 3];
      mean = last_only ? value : mean + value / static_cast<double>(planted.size());
    }
  }
  EXPECT_EQ(DatabaseTable("SELECT * FROM PCIE"), rows);
  EXPECT_EQ(Counters("PCIe"), counters);
  const Lines modes = {"Tx_p_avg(MB/s)",     "Tx_np_avg(MB/s)", "Tx_cpl_avg(MB/s)",
                       "Tx_latency_avg(us)", "Rx_p_avg(MB/s)",  "Rx_np_avg(MB/s)",
                       "Rx_cpl_avg(MB/s)"};
  Lines table;
  for (std::size_t kind = 0; kind < modes.size(); ++kind) {
    std::string row = modes[kind];
    for (const double value : means[kind])
      row += "," + Rounded(value / (kind == 3 ? 1000 : kMebibyte));
    table.push_back(row);
  }
  ExpectTable("pcie.csv", "Mode,Min,Max,Avg", table);
}

struct PortSums {
  double samples = 0;
  json first, last;
  std::vector<double> bytes = {0, 0}, packets = {0, 0};
};

// The columns of a direction: share of the bandwidth, packets per second, errors, drops in percent.
std::string DirectionCells(const PortSums& port, std::size_t at, const char* direction) {
  const json &from = port.first[direction], &to = port.last[direction];
  const auto growth = [&](std::size_t column) {
    return to[column].get<double>() - from[column].get<double>();
  };
  const double bits = 8 * port.bytes[at] / port.samples;
  return fmt::format("{},{},{},{}",
                     Rounded(100 * bits / (port.last["bandwidth"].get<double>() * kMebibyte)),
                     Rounded(port.packets[at] / port.samples), Rounded(100 * growth(4) / growth(2)),
                     Rounded(100 * growth(5) / growth(2)));
}

TEST_P(Traffic, OfNetworkPorts) {
  for (const auto& [kind, process] : {std::pair{"nic", "NIC"}, {"roce", "RoCE"}}) {
    SCOPED_TRACE(kind);
    Lines rows, counters;
    std::map<std::int64_t, PortSums> ports;
    for (const json& sample : Planted(kind)) {
      rows.push_back(device_ + "|" + Time(sample) + "|" +
                     std::to_string(sample["bandwidth"].get<std::int64_t>() * 1024 * 1024) +
                     Join(sample["rx"]) + Join(sample["tx"]) + "|" + NumberText(sample["port"]));
      PortSums& port = ports[sample["port"].get<std::int64_t>()];
      if (port.samples++ == 0) port.first = sample;
      port.last = sample;
      std::size_t at = 0;
      for (const auto& [direction, name] : {std::pair{"rx", "Rx"}, {"tx", "Tx"}}) {
        const json& values = sample[direction];
        const auto of_packets = [&](std::size_t column) -> json {
          return values[column].get<double>() / values[2].get<double>();
        };
        const std::string series(name);
        const double bits = 8 * values[1].get<double>();
        counters.push_back(
            Counter(sample, "Port " + NumberText(sample["port"]) + "/" + series,
                    {{series + " Dropped Rate", of_packets(5)},
                     {series + " Error Rate", of_packets(4)},
                     {series + " Packets", values[0].get<double>()},
                     {series + " Bandwidth Efficiency",
                      Shown(bits / (sample["bandwidth"].get<double>() * kMebibyte))}}));
        port.packets[at] += values[0].get<double>();
        port.bytes[at++] += values[1].get<double>();
      }
    }
    EXPECT_EQ(DatabaseTable(fmt::format("SELECT * FROM {}", kind)), rows);
    EXPECT_EQ(Counters(process), counters);
    Lines table;
    for (const auto& [number, port] : ports) {
      const auto ns = port.last["time_ns"].get<TimeNs>();
      table.push_back(fmt::format("{}.{:03}\t,200000.0,{},{},{}", ns / 1000, ns % 1000,
                                  DirectionCells(port, 0, "rx"), DirectionCells(port, 1, "tx"),
                                  number));
    }
    ExpectTable(std::string(kind) + ".csv",
                "Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,"
                "rxError rate(%),rxDropped rate(%),Tx Bandwidth efficiency(%),txPacket/s,"
                "txError rate(%),txDropped rate(%),funcId",
                table);
  }
}

TEST_P(Traffic, OfHbm) {
  Lines rows, counters;
  for (const json& sample : Planted("hbm")) {
    const bool write = sample["write"];
    const std::string kind = write ? "Write" : "Read";
    rows.push_back(device_ + "|" + Time(sample) + Join({sample["rate"], sample["hbm"]}) +
                   (write ? "|write" : "|read"));
    counters.push_back(Counter(sample, "HBM " + NumberText(sample["hbm"]) + "/" + kind,
                               {{kind + "(MB/s)", sample["rate"].get<double>() / kMebibyte}}));
  }
  EXPECT_EQ(DatabaseTable("SELECT deviceId, timestampNs, bandwidth, hbmId, value FROM HBM JOIN"
                          " STRING_IDS ON id = type ORDER BY HBM.rowid"),
            rows);
  EXPECT_EQ(Counters("HBM"), counters);
}

TEST_P(Traffic, OfDdr) {
  Lines rows, counters;
  for (const json& sample : Planted("ddr")) {
    rows.push_back(device_ + "|" + Time(sample) + Join({sample["read"], sample["write"]}));
    counters.push_back(
        Counter(sample, "DDR/Read", {{"Read(MB/s)", ShownMegabytes(sample["read"])}}));
    counters.push_back(
        Counter(sample, "DDR/Write", {{"Write(MB/s)", ShownMegabytes(sample["write"])}}));
  }
  EXPECT_EQ(DatabaseTable("SELECT deviceId, timestampNs, read, write FROM DDR"), rows);
  EXPECT_EQ(Counters("DDR"), counters);
}

TEST_P(Traffic, OfCaches) {
  Lines rows, counters;
  std::vector<json> planted = Planted("llc");
  std::stable_sort(planted.begin(), planted.end(),
                   [](const json& a, const json& b) { return a["llc"] < b["llc"]; });
  for (const json& sample : planted) {
    const double hit_rate = sample["hits"].get<double>() / sample["all"].get<double>();
    const bool known = sample["rate"] != -1;
    rows.push_back(fmt::format("{}|{}|{}|{:.6f}|{}|read", device_, NumberText(sample["llc"]),
                               Time(sample), 100 * hit_rate,
                               known ? NumberText(sample["rate"]) : "NULL"));
    const std::string name = "LLC " + NumberText(sample["llc"]) + " Read/";
    counters.push_back(Counter(sample, name + "Hit Rate", {{"Hit Rate(%)", Shown(hit_rate)}}));
    if (!known) continue;
    counters.push_back(Counter(sample, name + "Throughput",
                               {{"Throughput(MB/s)", ShownMegabytes(sample["rate"])}}));
  }
  EXPECT_EQ(DatabaseTable("SELECT deviceId, llcId, timestampNs, printf('%.6f', hitRate),"
                          " throughput, value FROM LLC JOIN STRING_IDS ON id = mode"
                          " ORDER BY LLC.rowid"),
            rows);
  EXPECT_EQ(Counters("LLC"), counters);
}

TEST_P(Traffic, OfKernelsThroughTheL2Cache) {
  const auto share = [](const json& some, const json& all) {
    std::string text = fmt::format("{:.6f}", some.get<double>() / all.get<double>());
    while (text.ends_with('0') && text[text.size() - 2] != '.') text.pop_back();
    return text;
  };
  Lines rows;
  for (const json& record : Planted("l2_cache")) {
    rows.push_back(fmt::format(
        "{},{},{},{},{}", NumberText(record["stream"]), NumberText(record["task"]),
        GetParam() == "hwts" ? share(record["hits"], record["requests"]) : "N/A",
        share(record["victims"], record["requests"]), record["name"].get<std::string>()));
  }
  ExpectTable("l2_cache.csv", "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name", rows);
}

INSTANTIATE_TEST_SUITE_P(Generated, Traffic, testing::Values("stars", "stars_odd_clock", "hwts"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace mpa::raw
