// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpa/model/hardware_counters.h"

/// The counters that captures hold. A reader of any format names them by these, so that the same
/// counter has the same name and unit everywhere.
namespace mpa::readers {

struct CounterInfo {
  std::string_view group, name, unit;
  CounterKind kind{};
  bool of_host = false;
};

namespace counter_names {

inline constexpr std::string_view kRateUnit = "B/s", kPercent = "%", kBytes = "B",
                                  kPackets = "packets", kPacketRate = "packets/s";

constexpr CounterInfo Rate(std::string_view group, std::string_view name,
                           std::string_view unit = kRateUnit) {
  return {group, name, unit, CounterKind::kRate};
}
constexpr CounterInfo Level(std::string_view group, std::string_view name, std::string_view unit) {
  return {group, name, unit, CounterKind::kLevel};
}
constexpr CounterInfo Total(std::string_view group, std::string_view name, std::string_view unit) {
  return {group, name, unit, CounterKind::kTotal};
}
// A mean over the time that begins with the sample, which therefore holds until the next.
constexpr CounterInfo OfHost(std::string_view group, std::string_view name,
                             std::string_view unit = kPercent) {
  return {group, name, unit, CounterKind::kLevel, true};
}

}  // namespace counter_names

/// What moves in two directions.
struct ReadAndWrite {
  CounterInfo read, write;
};
struct Directions {
  CounterInfo rx, tx;
};

inline constexpr ReadAndWrite kHbm{counter_names::Rate("HBM", "read"),
                                   counter_names::Rate("HBM", "write")};
inline constexpr ReadAndWrite kDdr{counter_names::Rate("DDR", "read"),
                                   counter_names::Rate("DDR", "write")};
inline constexpr ReadAndWrite kLlc{counter_names::Rate("LLC", "read"),
                                   counter_names::Rate("LLC", "write")};
inline constexpr ReadAndWrite kLlcHits{
    counter_names::Rate("LLC", "read hit rate", counter_names::kPercent),
    counter_names::Rate("LLC", "write hit rate", counter_names::kPercent)};

/// Memory in use: by the process, and of the whole device.
struct MemoryInUse {
  CounterInfo ddr, hbm;
};
inline constexpr MemoryInUse kMemoryOfProcess{
    counter_names::Level("NPU MEM", "process DDR", counter_names::kBytes),
    counter_names::Level("NPU MEM", "process HBM", counter_names::kBytes)};
inline constexpr MemoryInUse kMemoryOfDevice{
    counter_names::Level("NPU MEM", "device DDR", counter_names::kBytes),
    counter_names::Level("NPU MEM", "device HBM", counter_names::kBytes)};
inline constexpr CounterInfo kModuleMemory =
    counter_names::Level("NPU module memory", "reserved", counter_names::kBytes);

inline constexpr CounterInfo kL2BufferLevel =
    counter_names::Level("Stars Soc Info", "L2 buffer bandwidth level", "");
inline constexpr CounterInfo kMataLevel =
    counter_names::Level("Stars Soc Info", "mata bandwidth level", "");

/// Accelerators for pictures and random numbers.
inline constexpr ReadAndWrite kAccBandwidth{
    counter_names::Level("Acc PMU", "read bandwidth level", ""),
    counter_names::Level("Acc PMU", "write bandwidth level", "")};
inline constexpr ReadAndWrite kAccOutstanding{
    counter_names::Level("Acc PMU", "read outstanding level", ""),
    counter_names::Level("Acc PMU", "write outstanding level", "")};

inline constexpr CounterInfo kQos = counter_names::Rate("QoS", "bandwidth");
inline constexpr Directions kHccs{counter_names::Rate("HCCS", "rx"),
                                  counter_names::Rate("HCCS", "tx")};
inline constexpr Directions kUb{counter_names::Rate("UB", "rx"), counter_names::Rate("UB", "tx")};

inline constexpr Directions kPciePost{counter_names::Rate("PCIe", "rx post"),
                                      counter_names::Rate("PCIe", "tx post")};
inline constexpr Directions kPcieNonpost{counter_names::Rate("PCIe", "rx nonpost"),
                                         counter_names::Rate("PCIe", "tx nonpost")};
inline constexpr Directions kPcieCompletion{counter_names::Rate("PCIe", "rx completion"),
                                            counter_names::Rate("PCIe", "tx completion")};
inline constexpr CounterInfo kPcieLatency = counter_names::Rate("PCIe", "tx nonpost latency", "ns");

/// One direction of a network port. The rates of errors are of all packets since the driver
/// started.
struct PortCounters {
  CounterInfo bytes, share, packets, error_rate, dropped_rate, errors, dropped;
};
struct NetworkCounters {
  PortCounters rx, tx;
};
constexpr NetworkCounters NetworkCountersOf(std::string_view group) {
  using namespace counter_names;
  return {
      {Rate(group, "rx"), Rate(group, "rx share", kPercent), Rate(group, "rx packets", kPacketRate),
       Level(group, "rx error rate", kPercent), Level(group, "rx dropped rate", kPercent),
       Total(group, "rx errors", kPackets), Total(group, "rx dropped", kPackets)},
      {Rate(group, "tx"), Rate(group, "tx share", kPercent), Rate(group, "tx packets", kPacketRate),
       Level(group, "tx error rate", kPercent), Level(group, "tx dropped rate", kPercent),
       Total(group, "tx errors", kPackets), Total(group, "tx dropped", kPackets)}};
}
inline constexpr NetworkCounters kNic = NetworkCountersOf("NIC");
inline constexpr NetworkCounters kRoce = NetworkCountersOf("RoCE");

/// What the network device of a host counts, by the columns of databases.
inline constexpr CounterInfo kNetworkDevice[] = {
    counter_names::Total("Network device", "macTxPfcPkt", counter_names::kPackets),
    counter_names::Total("Network device", "macRxPfcPkt", counter_names::kPackets),
    counter_names::Total("Network device", "macTxByte", counter_names::kBytes),
    counter_names::Rate("Network device", "macTxBandwidth"),
    counter_names::Total("Network device", "macRxByte", counter_names::kBytes),
    counter_names::Rate("Network device", "macRxBandwidth"),
    counter_names::Total("Network device", "macTxBadByte", counter_names::kBytes),
    counter_names::Total("Network device", "macRxBadByte", counter_names::kBytes),
    counter_names::Total("Network device", "roceTxPkt", counter_names::kPackets),
    counter_names::Total("Network device", "roceRxPkt", counter_names::kPackets),
    counter_names::Total("Network device", "roceTxErrPkt", counter_names::kPackets),
    counter_names::Total("Network device", "roceRxErrPkt", counter_names::kPackets),
    counter_names::Total("Network device", "roceTxCnpPkt", counter_names::kPackets),
    counter_names::Total("Network device", "roceRxCnpPkt", counter_names::kPackets),
    counter_names::Total("Network device", "roceNewPktRty", counter_names::kPackets),
    counter_names::Total("Network device", "nicTxByte", counter_names::kBytes),
    counter_names::Rate("Network device", "nicTxBandwidth"),
    counter_names::Total("Network device", "nicRxByte", counter_names::kBytes),
    counter_names::Rate("Network device", "nicRxBandwidth")};

/// Channels between the dies of a chip.
inline constexpr CounterInfo kSio[] = {
    counter_names::Rate("SIO", "rx request"), counter_names::Rate("SIO", "rx response"),
    counter_names::Rate("SIO", "rx snoop"),   counter_names::Rate("SIO", "rx data"),
    counter_names::Rate("SIO", "tx request"), counter_names::Rate("SIO", "tx response"),
    counter_names::Rate("SIO", "tx snoop"),   counter_names::Rate("SIO", "tx data")};

inline constexpr CounterInfo kCpuUsage = counter_names::OfHost("CPU Usage", "usage");
inline constexpr CounterInfo kMemoryUsage = counter_names::OfHost("Memory Usage", "usage");
inline constexpr CounterInfo kDiskUsage = counter_names::OfHost("Disk Usage", "usage");
inline constexpr CounterInfo kDiskRead =
    counter_names::OfHost("Disk Usage", "read", counter_names::kRateUnit);
inline constexpr CounterInfo kDiskWrite =
    counter_names::OfHost("Disk Usage", "write", counter_names::kRateUnit);
inline constexpr CounterInfo kNetworkUsage = counter_names::OfHost("Network Usage", "usage");
inline constexpr CounterInfo kNetworkSpeed =
    counter_names::OfHost("Network Usage", "speed", counter_names::kRateUnit);

}  // namespace mpa::readers
