// SPDX-License-Identifier: Apache-2.0
#include "raw_counters.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "counter_builder.h"
#include "counter_names.h"
#include "mpa/raw/labels.h"

namespace mpa::readers {
namespace {

class RawCounters {
 public:
  RawCounters(const raw::Session& session, RankTrace& trace)
      : session_(session),
        texts_(trace.strings),
        several_(session.info.devices.size() > 1),
        builder_(trace) {}

  void Fill() {
    AddMemoryInUse();
    AddMemories();
    AddLinks();
    AddNetwork(session_.traffic.nic, kNic);
    AddNetwork(session_.traffic.roce, kRoce);
    AddChip();
    AddHost();
    builder_.Finish();
  }

 private:
  // Raw captures may hold several devices, whose counters are parts of their own.
  std::string Part(std::int64_t device, std::string_view part) const {
    if (!several_) return std::string(part);
    return part.empty() ? fmt::format("device {}", device)
                        : fmt::format("device {} {}", device, part);
  }

  void Add(const CounterInfo& info, std::int64_t device, std::string_view part, TimeNs time,
           double value) {
    builder_.Add(info, Part(device, part), time, value);
  }
  void Add(const CounterInfo& info, std::int64_t device, TimeNs time, std::int64_t value) {
    Add(info, device, "", time, static_cast<double>(value));
  }

  void AddMemoryInUse() {
    const raw::DeviceMemory& memory = session_.device_memory;
    for (std::size_t i = 0; i < memory.Size(); ++i) {
      const MemoryInUse& whose = memory.whole_device[i] != 0 ? kMemoryOfDevice : kMemoryOfProcess;
      Add(whose.ddr, memory.device[i], memory.time[i], memory.ddr[i]);
      Add(whose.hbm, memory.device[i], memory.time[i], memory.hbm[i]);
    }
    const raw::ModuleMemory& modules = session_.module_memory;
    for (std::size_t i = 0; i < modules.Size(); ++i) {
      if (modules.reserved[i] < 0) continue;
      const std::string_view name = raw::NameOf(raw::Modules(), modules.module[i]);
      Add(kModuleMemory, modules.device[i],
          name.empty() ? std::to_string(modules.module[i]) : std::string(name), modules.time[i],
          static_cast<double>(modules.reserved[i]));
    }
  }

  void AddMemories() {
    const raw::TrafficTables& traffic = session_.traffic;
    const raw::HbmTraffic& hbm = traffic.hbm;
    for (std::size_t i = 0; i < hbm.Size(); ++i) {
      Add(hbm.write[i] != 0 ? kHbm.write : kHbm.read, hbm.device[i], std::to_string(hbm.hbm[i]),
          hbm.time[i], static_cast<double>(hbm.rate[i]));
    }
    const raw::DdrTraffic& ddr = traffic.ddr;
    for (std::size_t i = 0; i < ddr.Size(); ++i) {
      Add(kDdr.read, ddr.device[i], ddr.time[i], ddr.read[i]);
      Add(kDdr.write, ddr.device[i], ddr.time[i], ddr.write[i]);
    }
    const raw::LlcTraffic& llc = traffic.llc;
    for (std::size_t i = 0; i < llc.Size(); ++i) {
      const bool writes = llc.write[i] != 0;
      const std::string cache = std::to_string(llc.llc[i]);
      Add(writes ? kLlcHits.write : kLlcHits.read, llc.device[i], cache, llc.time[i],
          kPercentOfShare * llc.hit_rate[i]);
      const CounterInfo& info = writes ? kLlc.write : kLlc.read;
      if (llc.rate[i] < 0) {
        builder_.AddUnknown(info, Part(llc.device[i], cache), llc.time[i]);
      } else {
        Add(info, llc.device[i], cache, llc.time[i], static_cast<double>(llc.rate[i]));
      }
    }
  }

  void AddLinks() {
    const raw::HccsTraffic& hccs = session_.traffic.hccs;
    for (std::size_t i = 0; i < hccs.Size(); ++i) {
      Add(kHccs.rx, hccs.device[i], hccs.time[i], hccs.rx[i]);
      Add(kHccs.tx, hccs.device[i], hccs.time[i], hccs.tx[i]);
    }
    // In the order of raw::PcieKind.
    constexpr const CounterInfo* kPcie[raw::kPcieKinds] = {
        &kPciePost.tx, &kPcieNonpost.tx, &kPcieCompletion.tx, &kPcieLatency,
        &kPciePost.rx, &kPcieNonpost.rx, &kPcieCompletion.rx};
    const raw::PcieTraffic& pcie = session_.traffic.pcie;
    for (std::size_t i = 0; i < pcie.Size(); ++i) {
      for (std::size_t kind = 0; kind < raw::kPcieKinds; ++kind)
        Add(*kPcie[kind], pcie.device[i], pcie.time[i], pcie.of[i][kind].avg);
    }
  }

  void AddChip() {
    const raw::TrafficTables& traffic = session_.traffic;
    const raw::QosTraffic& qos = traffic.qos;
    for (std::size_t i = 0; i < qos.Size(); ++i) {
      Add(kQos, qos.device[i], QosPart(texts_.View(qos.event[i]), qos.die[i]), qos.time[i],
          static_cast<double>(qos.rate[i]));
    }
    const raw::SioTraffic& sio = traffic.sio;
    for (std::size_t i = 0; i < sio.Size(); ++i) {
      for (std::size_t kind = 0; kind < raw::kSioKinds; ++kind)
        Add(kSio[kind], sio.device[i], texts_.View(sio.name[i]), sio.time[i],
            static_cast<double>(sio.rates[i][kind]));
    }
    const raw::AcceleratorUse& use = traffic.accelerators;
    for (std::size_t i = 0; i < use.Size(); ++i) {
      const auto add = [&](const CounterInfo& info, std::int64_t value) {
        Add(info, use.device[i], std::to_string(use.accelerator[i]), use.time[i],
            static_cast<double>(value));
      };
      add(kAccBandwidth.read, use.read[i]);
      add(kAccBandwidth.write, use.write[i]);
      add(kAccOutstanding.read, use.read_outstanding[i]);
      add(kAccOutstanding.write, use.write_outstanding[i]);
    }
    const raw::BandwidthLevels& levels = traffic.levels;
    for (std::size_t i = 0; i < levels.Size(); ++i) {
      Add(kL2BufferLevel, levels.device[i], levels.time[i], levels.l2_buffer[i]);
      Add(kMataLevel, levels.device[i], levels.time[i], levels.mata[i]);
    }
  }

  void AddHost() {
    // In the order of raw::HostUseKind.
    constexpr const CounterInfo* kUses[] = {&kCpuUsage,  &kMemoryUsage,  &kDiskUsage,   &kDiskRead,
                                            &kDiskWrite, &kNetworkUsage, &kNetworkSpeed};
    const raw::HostUse& host = session_.traffic.host;
    for (std::size_t i = 0; i < host.Size(); ++i) {
      const bool of_processor = host.kind[i] == raw::HostUseKind::kProcessor;
      const std::string part = !of_processor           ? std::string()
                               : host.processor[i] < 0 ? std::string("Avg")
                                                       : std::to_string(host.processor[i]);
      const CounterInfo& info = *kUses[static_cast<std::size_t>(host.kind[i])];
      if (host.value[i] < 0) {
        builder_.AddUnknown(info, part, host.time[i]);
      } else {
        builder_.Add(info, part, host.time[i], host.value[i]);
      }
    }
  }

  void AddNetwork(const raw::NetworkTraffic& network, const NetworkCounters& counters) {
    for (std::size_t i = 0; i < network.Size(); ++i) {
      AddDirection(network, i, network.rx[i], counters.rx);
      AddDirection(network, i, network.tx[i], counters.tx);
    }
  }

  void AddDirection(const raw::NetworkTraffic& network, std::size_t i,
                    const raw::PortDirection& direction, const PortCounters& counters) {
    const std::string port = Part(network.device[i], PortName(network.port[i]));
    const TimeNs time = network.time[i];
    const auto add = [&](const CounterInfo& info, double value) {
      builder_.Add(info, port, time, value);
    };
    const auto rate = [&](std::int64_t some) {
      return direction.packets > 0 ? kPercentOfShare * static_cast<double>(some) /
                                         static_cast<double>(direction.packets)
                                   : 0;
    };
    add(counters.bytes, direction.byte_rate);
    builder_.AddLimit(counters.bytes, port,
                      static_cast<double>(network.bandwidth[i]) * kBytesOfMb / kBitsOfByte);
    add(counters.share,
        kPercentOfShare * raw::ShareOfBandwidth(direction.byte_rate, network.bandwidth[i]));
    builder_.AddLimit(counters.share, port, kPercentOfShare);
    add(counters.packets, direction.packet_rate);
    add(counters.error_rate, rate(direction.errors));
    add(counters.dropped_rate, rate(direction.dropped));
    add(counters.errors, static_cast<double>(direction.errors));
    add(counters.dropped, static_cast<double>(direction.dropped));
  }

  const raw::Session& session_;
  const StringPool& texts_;  // which the rank has from the session
  const bool several_;
  CounterBuilder builder_;
};

}  // namespace

void FillCounters(const raw::Session& session, RankTrace& trace) {
  RawCounters(session, trace).Fill();
}

}  // namespace mpa::readers
