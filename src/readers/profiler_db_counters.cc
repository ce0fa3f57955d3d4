// SPDX-License-Identifier: Apache-2.0
// Counters in a profiler database: memories, links, network ports, accelerators, and the use of the
// host. Rates are bytes per second there, memory is bytes.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "counter_builder.h"
#include "counter_names.h"
#include "mpa/base/language.h"
#include "profiler_db_tables.h"

namespace mpa::readers {
namespace {

// Where the columns that Scan() asks for begin: behind the time and the device.
constexpr int kFirst = 2;

class CounterTables {
 public:
  explicit CounterTables(DbInput& input) : input_(input), builder_(input.trace) {
    const std::int64_t known = input.own_device.value_or(input.trace.device_id);
    if (known >= 0) device_ = known;
  }

  void Read() {
    ReadMemories();
    ReadMemoryInUse();
    ReadLevels();
    ReadLinks();
    ReadPcie();
    ReadNetwork("NIC", kNic);
    ReadNetwork("ROCE", kRoce);
    ReadNetworkDevice();
    ReadHost();
    builder_.Finish();
  }

 private:
  // Calls add(row, time) with the rows of the table that are of the device. Tables without a device
  // are of the host.
  template <typename Visit>
  void Scan(const char* table, const std::string& columns, Visit add, bool of_host = false) {
    const std::string all =
        of_host ? "timestampNs, NULL, " + columns : "timestampNs, deviceId, " + columns;
    if (!input_.database.HasTable(table)) return;
    const auto read = [&](const io::Row& row) {
      if (!of_host && !IsOfDevice(row.Int(1))) return;
      const auto time = row.Int(0);
      if (!time) {
        CountRow(input_, "sample of a counter left out, it has no time", table);
        return;
      }
      add(row, *time);
    };
    ReadTables(input_, [&] { ScanTable(input_.database, table, all, read); });
  }

  // Without a known device that of the first row is read.
  bool IsOfDevice(std::optional<std::int64_t> device) {
    if (!device) return true;
    if (!device_) device_ = device;
    return *device == *device_;
  }

  // NULL is unknown. What is not a number is a value that no counter can have.
  void Add(const CounterInfo& info, std::string_view part, TimeNs time, const io::Row& row,
           int column, double scale = 1) {
    if (row.IsNull(column)) {
      builder_.AddUnknown(info, part, time);
      return;
    }
    const double value = row.RealOr(column, std::numeric_limits<double>::quiet_NaN());
    builder_.Add(info, part, time, value * scale);
  }

  // "read" or "write".
  const CounterInfo* Of(const ReadAndWrite& both, const io::Row& row, int column) {
    const std::string_view text = input_.trace.strings.View(input_.strings.Text(row, column));
    if (text == "read") return &both.read;
    if (text == "write") return &both.write;
    CountRow(input_, "sample of a counter left out, it is neither read nor write", both.read.group);
    return nullptr;
  }

  static std::string Number(const io::Row& row, int column) {
    return std::string(row.Text(column));
  }

  void ReadMemories() {
    Scan("HBM", "hbmId, type, bandwidth", [&](const io::Row& row, TimeNs time) {
      const CounterInfo* info = Of(kHbm, row, kFirst + 1);
      if (info != nullptr) Add(*info, Number(row, kFirst), time, row, kFirst + 2);
    });
    Scan("DDR", "read, write", [&](const io::Row& row, TimeNs time) {
      Add(kDdr.read, "", time, row, kFirst);
      Add(kDdr.write, "", time, row, kFirst + 1);
    });
    Scan("LLC", "llcId, mode, throughput, hitRate", [&](const io::Row& row, TimeNs time) {
      const CounterInfo* info = Of(kLlc, row, kFirst + 1);
      if (info == nullptr) return;
      const std::string cache = Number(row, kFirst);
      Add(*info, cache, time, row, kFirst + 2);
      Add(info == &kLlc.read ? kLlcHits.read : kLlcHits.write, cache, time, row, kFirst + 3);
    });
  }

  void ReadMemoryInUse() {
    Scan("NPU_MEM", "type, ddr, hbm", [&](const io::Row& row, TimeNs time) {
      const std::string_view whose = input_.trace.strings.View(input_.strings.Text(row, kFirst));
      if (whose != "app" && whose != "device") {
        CountRow(input_, "memory left out, neither of the process nor of the device", "NPU_MEM");
        return;
      }
      const MemoryInUse& memory = whose == "app" ? kMemoryOfProcess : kMemoryOfDevice;
      Add(memory.ddr, "", time, row, kFirst + 1);
      Add(memory.hbm, "", time, row, kFirst + 2);
    });
    const std::map<std::int64_t, std::string> modules =
        NamesOfNumbers(input_.database, "ENUM_MODULE");
    Scan("NPU_MODULE_MEM", "moduleId, totalReserved", [&](const io::Row& row, TimeNs time) {
      const auto name = modules.find(row.IntOr(kFirst, -1));
      Add(kModuleMemory, name != modules.end() ? name->second : Number(row, kFirst), time, row,
          kFirst + 1);
    });
  }

  void ReadLevels() {
    Scan("SOC_BANDWIDTH_LEVEL", "l2BufferBwLevel, mataBwLevel",
         [&](const io::Row& row, TimeNs time) {
           Add(kL2BufferLevel, "", time, row, kFirst);
           Add(kMataLevel, "", time, row, kFirst + 1);
         });
    Scan("ACC_PMU", "accId, readBwLevel, writeBwLevel, readOstLevel, writeOstLevel",
         [&](const io::Row& row, TimeNs time) {
           const std::string accelerator = Number(row, kFirst);
           int column = kFirst;
           for (const CounterInfo* info : {&kAccBandwidth.read, &kAccBandwidth.write,
                                           &kAccOutstanding.read, &kAccOutstanding.write}) {
             Add(*info, accelerator, time, row, ++column);
           }
         });
  }

  void ReadLinks() {
    Scan("QOS", "eventName, bandwidth, dieId?", [&](const io::Row& row, TimeNs time) {
      std::string_view event = input_.trace.strings.View(input_.strings.Text(row, kFirst));
      constexpr std::string_view kPrefix = "QoS ";
      if (event.starts_with(kPrefix)) event.remove_prefix(kPrefix.size());
      const std::int64_t die = row.IntOr(kFirst + 2, -1);
      Add(kQos, QosPart(event, die), time, row, kFirst + 1);
    });
    Scan("HCCS", "rxThroughput, txThroughput", [&](const io::Row& row, TimeNs time) {
      Add(kHccs.rx, "", time, row, kFirst);
      Add(kHccs.tx, "", time, row, kFirst + 1);
    });
    Scan("UB", "portId, rxUdmaBind, txUdmaBind", [&](const io::Row& row, TimeNs time) {
      // The only rates of databases that are megabytes.
      const std::string port = PortName(row.IntOr(kFirst, -1));
      Add(kUb.rx, port, time, row, kFirst + 1, kBytesOfMb);
      Add(kUb.tx, port, time, row, kFirst + 2, kBytesOfMb);
    });
    Scan("SIO", "name, rxReq, rxRsp, rxSnp, rxDat, txReq, txRsp, txSnp, txDat",
         [&](const io::Row& row, TimeNs time) {
           const std::string die(input_.trace.strings.View(input_.strings.Text(row, kFirst)));
           int column = kFirst;
           for (const CounterInfo& info : kSio) Add(info, die, time, row, ++column);
         });
  }

  void ReadPcie() {
    Scan("PCIE",
         "txPostAvg, txNonpostAvg, txCplAvg, txNonpostLatencyAvg, rxPostAvg, rxNonpostAvg,"
         " rxCplAvg",
         [&](const io::Row& row, TimeNs time) {
           int column = kFirst;
           for (const CounterInfo* info :
                {&kPciePost.tx, &kPcieNonpost.tx, &kPcieCompletion.tx, &kPcieLatency, &kPciePost.rx,
                 &kPcieNonpost.rx, &kPcieCompletion.rx}) {
             Add(*info, "", time, row, column++);
           }
         });
  }

  void ReadNetwork(const char* table, const NetworkCounters& network) {
    constexpr int kBandwidth = kFirst + 1, kRx = kFirst + 2, kTx = kFirst + 7;
    Scan(table,
         "funcId, bandwidth, rxByteRate, rxPacketRate, rxPackets, rxErrors, rxDropped, txByteRate,"
         " txPacketRate, txPackets, txErrors, txDropped",
         [&](const io::Row& row, TimeNs time) {
           const std::string port = PortName(row.IntOr(kFirst, -1));
           const double bandwidth = row.RealOr(kBandwidth, 0);
           AddDirection(network.rx, port, bandwidth, time, row, kRx);
           AddDirection(network.tx, port, bandwidth, time, row, kTx);
         });
  }

  void AddDirection(const PortCounters& counters, std::string_view port, double bandwidth,
                    TimeNs time, const io::Row& row, int first) {
    // The column is called bytes per second, but it is what the driver says of the port: bits.
    Add(counters.bytes, port, time, row, first);
    builder_.AddLimit(counters.bytes, port, bandwidth / kBitsOfByte);
    const double bytes = row.RealOr(first, -1);
    if (bytes >= 0)
      builder_.Add(counters.share, port, time,
                   bandwidth > 0 ? kPercentOfShare * kBitsOfByte * bytes / bandwidth : 0);
    builder_.AddLimit(counters.share, port, kPercentOfShare);
    Add(counters.packets, port, time, row, first + 1);
    const double packets = row.RealOr(first + 2, 0);
    const auto rate = [&](const CounterInfo& info, int column) {
      const double some = row.RealOr(column, -1);
      if (some >= 0)
        builder_.Add(info, port, time, packets > 0 ? kPercentOfShare * some / packets : 0);
    };
    rate(counters.error_rate, first + 3);
    rate(counters.dropped_rate, first + 4);
    Add(counters.errors, port, time, row, first + 3);
    Add(counters.dropped, port, time, row, first + 4);
  }

  void ReadNetworkDevice() {
    std::string columns;
    for (const CounterInfo& info : kNetworkDevice) {
      columns += columns.empty() ? "" : ", ";
      columns += info.name;
      columns += '?';
    }
    Scan("NETDEV_STATS", columns, [&](const io::Row& row, TimeNs time) {
      int column = kFirst;
      for (const CounterInfo& info : kNetworkDevice) Add(info, "", time, row, column++);
    });
  }

  void ReadHost() {
    constexpr bool kOfHost = true;
    Scan(
        "CPU_USAGE", "cpuId, usage",
        [&](const io::Row& row, TimeNs time) {
          Add(kCpuUsage, Number(row, kFirst), time, row, kFirst + 1);
        },
        kOfHost);
    Scan(
        "HOST_MEM_USAGE", "usage",
        [&](const io::Row& row, TimeNs time) { Add(kMemoryUsage, "", time, row, kFirst); },
        kOfHost);
    Scan(
        "HOST_DISK_USAGE", "usage, readRate, writeRate",
        [&](const io::Row& row, TimeNs time) {
          Add(kDiskUsage, "", time, row, kFirst);
          Add(kDiskRead, "", time, row, kFirst + 1);
          Add(kDiskWrite, "", time, row, kFirst + 2);
        },
        kOfHost);
    Scan(
        "HOST_NETWORK_USAGE", "usage, speed",
        [&](const io::Row& row, TimeNs time) {
          Add(kNetworkUsage, "", time, row, kFirst);
          Add(kNetworkSpeed, "", time, row, kFirst + 1);
        },
        kOfHost);
  }

  DbInput& input_;
  CounterBuilder builder_;
  std::optional<std::int64_t> device_;
};

}  // namespace

void ReadHardwareCounters(DbInput& input) { CounterTables(input).Read(); }

}  // namespace mpa::readers
