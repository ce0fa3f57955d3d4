// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// What the device counted of its traffic, sampled: links to other chips and hosts, network ports,
/// memory and caches, and what the program used of the host. Samples of each device (and cache) are
/// in order of time; times are nanoseconds since the epoch.
namespace mpa::raw {

/// Links to other chips (hccs.data).
template <template <typename> class Of>
struct HccsTrafficFields {
  Of<TimeNs> time{};            ///< end of the interval that the rates are of
  Of<std::int64_t> tx{}, rx{};  ///< bytes per second
  Of<std::int64_t> device{};
};
struct HccsTraffic : Table<HccsTrafficFields> {};

/// What passes through PCIe, in the order of the records.
enum class PcieKind : std::uint8_t {
  kTxPost,
  kTxNonpost,
  kTxCompletion,
  kTxLatency,
  kRxPost,
  kRxNonpost,
  kRxCompletion,
};
inline constexpr std::size_t kPcieKinds = 7;

/// A rate of the link to the host between two samples.
struct PcieSpread {
  std::int64_t min = 0, max = 0, avg = 0;  ///< bytes per second; of kTxLatency ns
};
using PcieSpreads = std::array<PcieSpread, kPcieKinds>;

/// The link to the host (pcie.data).
template <template <typename> class Of>
struct PcieTrafficFields {
  Of<TimeNs> time{};
  Of<PcieSpreads> of{};  ///< by PcieKind
  Of<std::int64_t> device{};
};
struct PcieTraffic : Table<PcieTrafficFields> {};

/// What a network port received or sent.
struct PortDirection {
  double packet_rate = 0, byte_rate = 0;  ///< per second, as the driver says
  std::int64_t packets = 0, bytes = 0;    ///< since the driver started, like the next two
  std::int64_t errors = 0, dropped = 0;   ///< packets
};

/// Network ports (nic.data, roce.data).
template <template <typename> class Of>
struct NetworkTrafficFields {
  Of<TimeNs> time{};
  Of<std::int64_t> bandwidth{};  ///< of the port, in 2^20 bits per second; 0: it is down
  Of<PortDirection> rx{}, tx{};
  Of<std::int64_t> port{}, device{};
};
struct NetworkTraffic : Table<NetworkTrafficFields> {};

/// The share of `bandwidth` (as in NetworkTraffic) that `byte_rate` bytes per second take.
inline double ShareOfBandwidth(double byte_rate, std::int64_t bandwidth) {
  return bandwidth == 0 ? 0 : byte_rate * 8 / (static_cast<double>(bandwidth) * (1 << 20));
}

/// Memory on the chip (hbm.data).
template <template <typename> class Of>
struct HbmTrafficFields {
  Of<TimeNs> time{};  ///< end of the interval that the rate is of
  Of<std::int64_t> hbm{};
  Of<bool> write{};         ///< else read
  Of<std::int64_t> rate{};  ///< bytes per second
  Of<std::int64_t> device{};
};
struct HbmTraffic : Table<HbmTrafficFields> {};

/// Memory beside the chip, all controllers together (ddr.data).
template <template <typename> class Of>
struct DdrTrafficFields {
  Of<TimeNs> time{};                 ///< end of the interval that the rates are of
  Of<std::int64_t> read{}, write{};  ///< bytes per second
  Of<std::int64_t> device{};
};
struct DdrTraffic : Table<DdrTrafficFields> {};

/// The last cache before the memory (llc.data), by cache; one collection counts reads or writes.
template <template <typename> class Of>
struct LlcTrafficFields {
  Of<TimeNs> time{};
  Of<std::int64_t> llc{};
  Of<bool> write{};       ///< else read
  Of<double> hit_rate{};  ///< 0 to 1
  Of<std::int64_t> rate =
      Initially{-1};  ///< bytes per second since the sample before; -1 for the first
  Of<std::int64_t> device{};
};
struct LlcTraffic : Table<LlcTrafficFields> {};

/// What passes through the memory system by its quality of service (qos.data, and records of
/// stars_soc_profile.data).
template <template <typename> class Of>
struct QosTrafficFields {
  Of<TimeNs> time{};                     ///< end of the interval that the rate is of
  Of<StringId> event{};                  ///< "OTHERS", as sample.json names it
  Of<std::int64_t> die = Initially{-1};  ///< -1: not told
  Of<std::int64_t> rate{};               ///< bytes per second
  Of<std::int64_t> device{};
};
struct QosTraffic : Table<QosTrafficFields> {};

/// What passes through a channel between the dies of a chip: requests, responses, snoops and data
/// that are received, then those that are sent.
inline constexpr std::size_t kSioKinds = 8;
using SioRates = std::array<std::int64_t, kSioKinds>;

/// Channels between the dies of a chip (stars_soc_profile.data).
template <template <typename> class Of>
struct SioTrafficFields {
  Of<TimeNs> time{};     ///< end of the interval that the rates are of
  Of<StringId> name{};   ///< "die 0"
  Of<SioRates> rates{};  ///< bytes per second
  Of<std::int64_t> device{};
};
struct SioTraffic : Table<SioTrafficFields> {};

/// How much accelerators for pictures and random numbers read and write (stars_soc_profile.data):
/// levels without a unit.
template <template <typename> class Of>
struct AcceleratorUseFields {
  Of<TimeNs> time{};
  Of<std::int64_t> accelerator{};
  Of<std::int64_t> read{}, write{};                          ///< bandwidth
  Of<std::int64_t> read_outstanding{}, write_outstanding{};  ///< requests that are not answered yet
  Of<std::int64_t> device{};
};
struct AcceleratorUse : Table<AcceleratorUseFields> {};

/// Levels of bandwidth that the chip tells of itself (stars_soc_profile.data).
template <template <typename> class Of>
struct BandwidthLevelFields {
  Of<TimeNs> time{};
  Of<std::int64_t> l2_buffer{}, mata{};
  Of<std::int64_t> device{};
};
struct BandwidthLevels : Table<BandwidthLevelFields> {};

/// What the program uses of its machine.
enum class HostUseKind : std::uint8_t {
  kProcessor,  ///< percent of a processor
  kMemory,     ///< percent of the memory
  kDisk,       ///< percent of the time that the program waits for disks
  kDiskRead,   ///< bytes per second, like the next
  kDiskWrite,
  kNetwork,       ///< percent of what the cards move in one direction
  kNetworkSpeed,  ///< bytes per second, in both directions
};

/// Use of the machine (host_cpu.data, host_mem.data, host_disk.data, host_network.data).
template <template <typename> class Of>
struct HostUseFields {
  Of<TimeNs> time{};  ///< begin of the interval that the value is of
  Of<HostUseKind> kind{};
  Of<std::int64_t> processor = Initially{-1};  ///< of kProcessor; -1: the mean of all
  Of<double> value{};                          ///< -1: not told, so that the one before ends here
};
struct HostUse : Table<HostUseFields> {};

/// How tasks used the L2 cache (l2_cache.data), in the order of the records.
template <template <typename> class Of>
struct L2CacheUseFields {
  Of<std::int64_t> stream{}, task{};
  Of<StringId> name{};                   ///< of the kernel; empty: not known
  Of<double> hit_rate{}, victim_rate{};  ///< of all requests, with six decimals; 0 without any
  Of<std::int64_t> device{};
};
struct L2CacheUse : Table<L2CacheUseFields> {};

struct TrafficTables {
  HccsTraffic hccs;
  PcieTraffic pcie;
  NetworkTraffic nic, roce;
  HbmTraffic hbm;
  DdrTraffic ddr;
  LlcTraffic llc;
  QosTraffic qos;
  SioTraffic sio;
  AcceleratorUse accelerators;
  BandwidthLevels levels;
  HostUse host;

  bool Empty() const {
    return hccs.Empty() && pcie.Empty() && nic.Empty() && roce.Empty() && hbm.Empty() &&
           ddr.Empty() && llc.Empty() && qos.Empty() && sio.Empty() && accelerators.Empty() &&
           levels.Empty() && host.Empty();
  }
};

}  // namespace mpa::raw
