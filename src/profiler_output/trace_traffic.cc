// SPDX-License-Identifier: Apache-2.0
// What the timeline shows of the traffic of a device: links, network ports, memory, caches.
#include "trace_view.h"

namespace mpa::profiler_output {
namespace {

Rounded Megabytes(std::int64_t bytes) { return {static_cast<double>(bytes) / kBytesPerMegabyte}; }

/// A row of each device, and put(i, place, out) for each sample of `samples`.
template <typename Samples, typename PutSample>
void WriteSamples(const TraceSource& source, const Samples& samples, std::string_view name,
                  Layer layer, ChunkedFile& file, PutSample put) {
  file.Write(DeviceRows(source, samples.device, name, layer));
  file.WriteRows(samples.Size(), [&](std::size_t i, std::string& out) {
    put(i, TracePlace{source.Process(layer, samples.device[i]), 0, samples.time[i]}, out);
  });
}

void WriteDdr(const TraceSource& source, ChunkedFile& file) {
  const raw::DdrTraffic& ddr = source.session.traffic.ddr;
  WriteSamples(source, ddr, "DDR", Layer::kDdr, file,
               [&](std::size_t i, const TracePlace& place, std::string& out) {
                 PutCounter(out, "DDR/Read", place, "Read(MB/s)", Megabytes(ddr.read[i]));
                 PutCounter(out, "DDR/Write", place, "Write(MB/s)", Megabytes(ddr.write[i]));
               });
}

void WriteHccs(const TraceSource& source, ChunkedFile& file) {
  const raw::HccsTraffic& hccs = source.session.traffic.hccs;
  WriteSamples(source, hccs, "HCCS", Layer::kHccs, file,
               [&](std::size_t i, const TracePlace& place, std::string& out) {
                 PutCounter(out, "Rx", place, "Rx(MB/s)", Megabytes(hccs.rx[i]));
                 PutCounter(out, "Tx", place, "Tx(MB/s)", Megabytes(hccs.tx[i]));
               });
}

/// Rates of errors are of all packets since the driver started.
double Rate(std::int64_t some, std::int64_t all) {
  return all == 0 ? 0 : static_cast<double>(some) / static_cast<double>(all);
}

void PutDirection(const raw::PortDirection& direction, std::int64_t bandwidth,
                  std::string_view name, std::int64_t port, const TracePlace& place,
                  std::string& out) {
  const auto series = [&](std::string_view what) { return std::string(name) + std::string(what); };
  PutCounter(out, "Port " + std::to_string(port) + "/" + std::string(name), place,
             series(" Dropped Rate"), Decimal{Rate(direction.dropped, direction.packets)},
             series(" Error Rate"), Decimal{Rate(direction.errors, direction.packets)},
             series(" Packets"), Decimal{direction.packet_rate}, series(" Bandwidth Efficiency"),
             Rounded{raw::ShareOfBandwidth(direction.byte_rate, bandwidth)});
}

void WriteNetwork(const TraceSource& source, const raw::NetworkTraffic& network,
                  std::string_view name, Layer layer, ChunkedFile& file) {
  WriteSamples(source, network, name, layer, file,
               [&](std::size_t i, const TracePlace& place, std::string& out) {
                 const std::int64_t bandwidth = network.bandwidth[i], port = network.port[i];
                 PutDirection(network.rx[i], bandwidth, "Rx", port, place, out);
                 PutDirection(network.tx[i], bandwidth, "Tx", port, place, out);
               });
}

void WritePcie(const TraceSource& source, ChunkedFile& file) {
  using Kind = raw::PcieKind;
  const raw::PcieTraffic& pcie = source.session.traffic.pcie;
  WriteSamples(source, pcie, "PCIe", Layer::kPcie, file,
               [&](std::size_t i, const TracePlace& place, std::string& out) {
                 const auto mean = [&](Kind kind, double unit) {
                   const auto& spread = pcie.of[i][static_cast<std::size_t>(kind)];
                   return Decimal{static_cast<double>(spread.avg) / unit};
                 };
                 const auto put = [&](std::string_view name, Kind tx, Kind rx) {
                   PutCounter(out, name, place, "Tx", mean(tx, kBytesPerMegabyte), "Rx",
                              mean(rx, kBytesPerMegabyte));
                 };
                 put("PCIe_cpl", Kind::kTxCompletion, Kind::kRxCompletion);
                 put("PCIe_nonpost", Kind::kTxNonpost, Kind::kRxNonpost);
                 PutCounter(out, "PCIe_nonpost_latency", place, "Tx", mean(Kind::kTxLatency, 1000),
                            "Rx", Decimal{0});
                 put("PCIe_post", Kind::kTxPost, Kind::kRxPost);
               });
}

void WriteHbm(const TraceSource& source, ChunkedFile& file) {
  const raw::HbmTraffic& hbm = source.session.traffic.hbm;
  WriteSamples(source, hbm, "HBM", Layer::kHbm, file,
               [&](std::size_t i, const TracePlace& place, std::string& out) {
                 const std::string kind = hbm.write[i] != 0 ? "Write" : "Read";
                 PutCounter(out, "HBM " + std::to_string(hbm.hbm[i]) + "/" + kind, place,
                            kind + "(MB/s)",
                            Decimal{static_cast<double>(hbm.rate[i]) / kBytesPerMegabyte});
               });
}

void WriteLlc(const TraceSource& source, ChunkedFile& file) {
  const raw::LlcTraffic& llc = source.session.traffic.llc;
  WriteSamples(
      source, llc, "LLC", Layer::kLlc, file,
      [&](std::size_t i, const TracePlace& place, std::string& out) {
        const std::string name =
            "LLC " + std::to_string(llc.llc[i]) + (llc.write[i] != 0 ? " Write/" : " Read/");
        PutCounter(out, name + "Hit Rate", place, "Hit Rate(%)", Rounded{llc.hit_rate[i]});
        if (llc.rate[i] < 0) return;
        PutCounter(out, name + "Throughput", place, "Throughput(MB/s)", Megabytes(llc.rate[i]));
      });
}

}  // namespace

void WriteTrafficEvents(const TraceSource& source, ChunkedFile& file) {
  const raw::Traffic& traffic = source.session.traffic;
  WriteDdr(source, file);
  WriteHccs(source, file);
  WriteNetwork(source, traffic.nic, "NIC", Layer::kNic, file);
  WriteNetwork(source, traffic.roce, "RoCE", Layer::kRoce, file);
  WritePcie(source, file);
  WriteHbm(source, file);
  WriteLlc(source, file);
}

}  // namespace mpa::profiler_output
