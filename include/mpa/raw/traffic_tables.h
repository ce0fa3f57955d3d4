// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table_base.h"

/// What the device counted of its traffic, sampled: links to other chips and hosts, network ports,
/// memory and caches. Samples of each device (and cache) are in order of time; times are
/// nanoseconds since the epoch.
namespace mpa::raw {

/// Links to other chips (hccs.data).
struct HccsTraffic : TableBase<HccsTraffic> {
  struct Row {
    TimeNs time = 0;              ///< end of the interval that the rates are of
    std::int64_t tx = 0, rx = 0;  ///< bytes per second
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<std::int64_t> tx, rx, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.tx, t.rx, t.device);
  }
};

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

/// The link to the host (pcie.data).
struct PcieTraffic : TableBase<PcieTraffic> {
  struct Spread {
    std::int64_t min = 0, max = 0, avg = 0;  ///< bytes per second; of kTxLatency ns
  };
  using Spreads = std::array<Spread, kPcieKinds>;
  struct Row {
    TimeNs time = 0;
    Spreads of{};  ///< by PcieKind
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<Spreads> of;
  std::vector<std::int64_t> device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.of, t.device);
  }
};

/// Network ports (nic.data, roce.data).
struct NetworkTraffic : TableBase<NetworkTraffic> {
  struct Direction {
    double packet_rate = 0, byte_rate = 0;  ///< per second, as the driver says
    std::int64_t packets = 0, bytes = 0;    ///< since the driver started, like the next two
    std::int64_t errors = 0, dropped = 0;   ///< packets
  };
  struct Row {
    TimeNs time = 0;
    std::int64_t bandwidth = 0;  ///< of the port, in 2^20 bits per second; 0: it is down
    Direction rx{}, tx{};
    std::int64_t port = 0;
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<std::int64_t> bandwidth;
  std::vector<Direction> rx, tx;
  std::vector<std::int64_t> port, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.bandwidth, t.rx, t.tx, t.port, t.device);
  }
};

/// The share of `bandwidth` (as in NetworkTraffic) that `byte_rate` bytes per second take.
inline double ShareOfBandwidth(double byte_rate, std::int64_t bandwidth) {
  return bandwidth == 0 ? 0 : byte_rate * 8 / (static_cast<double>(bandwidth) * (1 << 20));
}

/// Memory on the chip (hbm.data).
struct HbmTraffic : TableBase<HbmTraffic> {
  struct Row {
    TimeNs time = 0;  ///< end of the interval that the rate is of
    std::int64_t hbm = 0;
    bool write = false;     ///< else read
    std::int64_t rate = 0;  ///< bytes per second
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<std::int64_t> hbm;
  std::vector<std::uint8_t> write;
  std::vector<std::int64_t> rate, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.hbm, t.write, t.rate, t.device);
  }
};

/// Memory beside the chip, all controllers together (ddr.data).
struct DdrTraffic : TableBase<DdrTraffic> {
  struct Row {
    TimeNs time = 0;                   ///< end of the interval that the rates are of
    std::int64_t read = 0, write = 0;  ///< bytes per second
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<std::int64_t> read, write, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.read, t.write, t.device);
  }
};

/// The last cache before the memory (llc.data), by cache; one collection counts reads or writes.
struct LlcTraffic : TableBase<LlcTraffic> {
  struct Row {
    TimeNs time = 0;
    std::int64_t llc = 0;
    bool write = false;      ///< else read
    double hit_rate = 0;     ///< 0 to 1
    std::int64_t rate = -1;  ///< bytes per second since the sample before; -1: there is none
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<std::int64_t> llc;
  std::vector<std::uint8_t> write;
  std::vector<double> hit_rate;
  std::vector<std::int64_t> rate, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.llc, t.write, t.hit_rate, t.rate, t.device);
  }
};

/// How tasks used the L2 cache (l2_cache.data), in the order of the records.
struct L2CacheUse : TableBase<L2CacheUse> {
  struct Row {
    std::int64_t stream = 0, task = 0;
    StringId name{};                       ///< of the kernel; empty: not known
    double hit_rate = 0, victim_rate = 0;  ///< of all requests, with six decimals; 0 without any
    std::int64_t device = 0;
  };
  std::vector<std::int64_t> stream, task;
  std::vector<StringId> name;
  std::vector<double> hit_rate, victim_rate;
  std::vector<std::int64_t> device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.stream, t.task, t.name, t.hit_rate, t.victim_rate, t.device);
  }
};

struct Traffic {
  HccsTraffic hccs;
  PcieTraffic pcie;
  NetworkTraffic nic, roce;
  HbmTraffic hbm;
  DdrTraffic ddr;
  LlcTraffic llc;

  bool Empty() const {
    return hccs.Empty() && pcie.Empty() && nic.Empty() && roce.Empty() && hbm.Empty() &&
           ddr.Empty() && llc.Empty();
  }
};

}  // namespace mpa::raw
