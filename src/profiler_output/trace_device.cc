// SPDX-License-Identifier: Apache-2.0
// Devices on the timeline: tasks, the arrows to them, activity, frequency, memory and traffic.
#include <set>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/raw/labels.h"
#include "trace_events.h"

namespace mpa::profiler_output {
namespace {

void PutCopy(const raw::Session& session, std::size_t task, std::string& out) {
  if (IsLevel0(session)) return;
  const std::int64_t bytes = session.tasks.copy_bytes[task];
  const std::string_view operation =
      raw::NameOf(raw::CopyDirections(), session.tasks.copy_direction[task]);
  const double dur = session.tasks.Exact(task);
  Put(out, R"-(, "size(B)": )-", bytes, R"-(, "bandwidth(GB/s)": )-",
      Decimal{dur > 0 ? static_cast<double>(bytes) / dur : 0}, R"(, "operation": ")",
      operation.empty() ? "other" : operation, "\"");
}

/// True for calls that record events or wait for them.
bool IsEvent(const raw::Session& session, std::int32_t call) {
  return call >= 0 && IsOneOf(session.strings.View(session.calls.name[call]),
                              {"aclrtRecordEvent", "aclrtStreamWaitEvent"});
}

void PutTask(const TraceSource& source, std::size_t task, std::string& out) {
  const raw::Session& session = source.session;
  const raw::Tasks& tasks = session.tasks;
  if (tasks.group[task] != 0) return;
  const bool is_copy = raw::IsCopy(session, task);
  const TracePlace place = source.TaskPlace(task);
  BeginSlice(out, "", place, tasks.Exact(task), source.texts[raw::TaskName(session, task)]);
  Put(out, R"("Model Id": )", tasks.model[task], R"(, "Task Type": ")",
      source.texts[raw::TimelineTaskType(session, task)], R"(", "Physic Stream Id": )",
      tasks.stream[task], R"(, "Task Id": )", tasks.task_id[task], R"(, "Batch Id": )",
      tasks.batch[task], R"(, "Subtask Id": )", tasks.context[task], R"(, "connection_id": )",
      source.Connection(tasks.call[task]));
  if (is_copy) PutCopy(session, task, out);
  out += "}}";
  if (is_copy || tasks.kind[task] == raw::TaskKind::kKernel || IsEvent(session, tasks.call[task])) {
    PutLaunchArrow(out, 'f', source.Connection(tasks.call[task]), place);
  }
}

/// Names of the devices and their streams.
std::string Streams(const TraceSource& source) {
  const raw::Tasks& tasks = source.session.tasks;
  std::set<std::pair<std::int64_t, std::int64_t>> streams;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (tasks.group[i] == 0) streams.emplace(tasks.device[i], tasks.stream[i]);
  }
  const raw::Marks& marks = source.session.marks;
  for (std::size_t i = 0; i < marks.Size(); ++i) {
    if (marks.device_start[i] >= 0) streams.emplace(marks.device[i], marks.device_stream[i]);
  }
  std::string out;
  std::int64_t named = -1;
  for (const auto& [device, stream] : streams) {
    const std::uint64_t process = source.Process(Layer::kHardware, device);
    if (device != named) {
      PutProcess(out, process, "Ascend Hardware", DeviceLabel(device), Layer::kHardware);
    }
    named = device;
    PutThread(out, process, stream, "Stream " + std::to_string(stream), stream);
  }
  return out;
}

}  // namespace

void WriteHardwareEvents(const TraceSource& source, ChunkedFile& file) {
  file.Write(Streams(source));
  file.WriteRows(source.session.tasks.Size(),
                 [&](std::size_t i, std::string& out) { PutTask(source, i, out); });
}

void WriteDeviceArrows(const TraceSource& source, ChunkedFile& file) {
  const raw::Session& session = source.session;
  const raw::DeviceLinks& links = session.links;
  const std::vector<std::int32_t> first_copy = raw::FirstCopiesOfCollectives(session);
  const auto put = [&](std::size_t i, std::string& out) {
    const auto op = static_cast<std::size_t>(links.op[i]);
    const TracePlace from{static_cast<std::uint64_t>(session.ops.process[op]),
                          session.ops.thread[op], session.ops.start[op]};
    const std::int32_t collective = links.collective[i];
    const std::int32_t task =
        collective < 0 ? links.task[i] : first_copy[static_cast<std::size_t>(collective)];
    const TracePlace to = task >= 0 ? source.TaskPlace(static_cast<std::size_t>(task))
                                    : source.CollectivePlace(static_cast<std::size_t>(collective));
    PutArrow(out, 's', "torch_to_npu", "async_npu", from, to.time);
    PutArrow(out, 'f', "torch_to_npu", "async_npu", to, to.time);
  };
  file.WriteRows(links.Size(), [&](std::size_t i, std::string& out) { put(i, out); });
}

// What the timeline shows of a device as a whole: its activity, core frequency and memory.

namespace {

constexpr std::string_view kActivityNames[] = {"Computing", "Communication",
                                               "Communication(Not Overlapped)", "Free"};

void PutMemory(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::DeviceMemory& memory = source.session.device_memory;
  const TracePlace place{source.Process(Layer::kMemory, memory.device[i]), 0, memory.time[i]};
  const std::string whose = memory.whole_device[i] != 0 ? "Device/" : "APP/";
  const auto ddr = static_cast<double>(memory.ddr[i]);
  const auto hbm = static_cast<double>(memory.hbm[i]);
  PutCounter(out, whose + "DDR", place, "KB", Decimal{ddr / kBytesPerKilobyte});
  PutCounter(out, whose + "HBM", place, "KB", Decimal{hbm / kBytesPerKilobyte});
  PutCounter(out, whose + "Memory", place, "KB", Decimal{(ddr + hbm) / kBytesPerKilobyte});
}

}  // namespace

void WriteActivityEvents(const TraceSource& source, ChunkedFile& file) {
  const Overlaps& activities = source.session.overlaps;
  std::string names = DeviceRows(source, activities.device, "Overlap Analysis", Layer::kActivities);
  for (const std::int64_t device : Distinct(activities.device)) {
    const std::uint64_t process = source.Process(Layer::kActivities, device);
    for (std::size_t i = 0; i < std::size(kActivityNames); ++i) {
      const auto thread = static_cast<std::int64_t>(i);
      PutThread(names, process, thread, kActivityNames[i], thread);
    }
  }
  file.Write(names);
  file.WriteRows(activities.Size(), [&](std::size_t i, std::string& out) {
    const auto activity = static_cast<std::size_t>(activities.activity[i]);
    const TracePlace place{source.Process(Layer::kActivities, activities.device[i]),
                           static_cast<std::int64_t>(activity), activities.start[i]};
    BeginSlice(out, "", place, activities.dur[i], kActivityNames[activity]);
    out += "}}";
  });
}

void WriteCounterEvents(const TraceSource& source, ChunkedFile& file) {
  const raw::Session& session = source.session;
  const CoreClocks& clocks = session.core_clocks;
  file.Write(DeviceRows(source, clocks.device, "AI Core Freq", Layer::kCoreFrequency));
  file.WriteRows(clocks.Size(), [&](std::size_t i, std::string& out) {
    const TracePlace place{source.Process(Layer::kCoreFrequency, clocks.device[i]), 0,
                           clocks.start[i]};
    PutCounter(out, "AI Core Freq", place, "MHz", clocks.mhz[i]);
  });
  file.Write(DeviceRows(source, session.device_memory.device, "NPU MEM", Layer::kMemory));
  file.WriteRows(session.device_memory.Size(),
                 [&](std::size_t i, std::string& out) { PutMemory(source, i, out); });
}

// What the timeline shows of the traffic of a device: links, network ports, memory, caches.

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
  const raw::TrafficTables& traffic = source.session.traffic;
  WriteDdr(source, file);
  WriteHccs(source, file);
  WriteNetwork(source, traffic.nic, "NIC", Layer::kNic, file);
  WriteNetwork(source, traffic.roce, "RoCE", Layer::kRoce, file);
  WritePcie(source, file);
  WriteHbm(source, file);
  WriteLlc(source, file);
}

// Collectives and their pieces on the timeline: a row for each group, below it one for each plane.

namespace {

std::string_view NameOr(std::span<const raw::NamedNumber> names, std::int64_t number) {
  const std::string_view name = raw::NameOf(names, number);
  return name.empty() ? "INVALID_TYPE" : name;
}

std::string GroupNames(const TraceSource& source) {
  const raw::Session& session = source.session;
  std::string out;
  for (std::size_t i = 0; i < source.groups.size(); ++i) {
    const GroupRow& group = source.groups[i];
    const std::uint64_t process = source.Process(Layer::kCommunication, group.device);
    if (i == 0 || source.groups[i - 1].device != group.device) {
      PutProcess(out, process, "Communication", DeviceLabel(group.device), Layer::kCommunication);
    }
    const std::string_view name = session.strings.View(group.name);
    PutThread(out, process, group.thread,
              name.empty() || name == kNone ? "Communication"
                                            : "Group " + std::string(name) + " Communication",
              group.thread);
    for (const std::int64_t plane : group.planes) {
      const std::int64_t thread = group.thread + 1 + plane;
      PutThread(out, process, thread, "Plane " + std::to_string(plane), thread);
    }
  }
  return out;
}

void PutPart(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::Session& session = source.session;
  const raw::CollectiveParts& parts = session.parts;
  if (parts.collective[i] < 0 || parts.plane[i] < 0) return;
  const auto task = static_cast<std::size_t>(parts.task[i]);
  TracePlace place = source.CollectivePlace(static_cast<std::size_t>(parts.collective[i]));
  place.thread += 1 + parts.plane[i];
  place.time = session.tasks.start[task];
  const std::string_view name = source.texts[parts.name[i]];
  BeginSlice(out, "", place, session.tasks.Exact(task), name);
  Put(out, R"("notify_id": ")", parts.notify[i], R"-(", "duration estimated(us)": )-",
      Decimal{parts.estimated[i]}, R"(, "stream id": )", session.tasks.stream[task],
      R"(, "task id": )", session.tasks.task_id[task], R"(, "context id": )",
      session.tasks.context[task], R"(, "task type": ")", name, R"(", "src rank": )",
      parts.local_rank[i], R"(, "dst rank": )", parts.remote_rank[i], R"(, "transport type": ")",
      NameOr(raw::TransportTypes(), parts.transport[i]), R"-(", "size(Byte)": )-", parts.bytes[i],
      R"(, "data type": ")", NameOr(raw::CommunicationDataTypes(), parts.data_type[i]),
      R"(", "link type": ")", NameOr(raw::LinkTypes(), parts.link[i]),
      R"-(", "bandwidth(GB/s)": )-", Decimal{parts.bandwidth[i] / 1e9}, R"(, "model id": )",
      session.tasks.model[task], "}}");
}

void PutCollective(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::Collectives& collectives = source.session.collectives;
  const TracePlace place = source.CollectivePlace(i);
  const std::uint64_t connection = source.Connection(collectives.call[i]);
  BeginSlice(out, "", place, collectives.end[i] - collectives.start[i],
             source.texts[collectives.name[i]]);
  Put(out, R"("rank_size": )", collectives.rank_size[i], R"(, "connection_id": )", connection,
      R"(, "model id": )", collectives.model[i], R"(, "data_type": ")",
      NameOr(raw::CommunicationDataTypes(), collectives.data_type[i]), R"(", "alg_type": ")",
      source.texts[collectives.algorithm[i]], R"(", "count": )", collectives.count[i],
      R"(, "relay": ")", collectives.relay[i] == 1 ? "yes" : "no", R"(", "retry": ")",
      collectives.retry[i] == 1 ? "yes" : "no", R"("}})");
  PutLaunchArrow(out, 'f', connection, place);
}

}  // namespace

void WriteCommunicationEvents(const TraceSource& source, ChunkedFile& file) {
  const raw::Session& session = source.session;
  file.Write(GroupNames(source));
  const bool level0 = IsLevel0(session);
  file.WriteRows(level0 ? 0 : session.parts.Size(),
                 [&](std::size_t i, std::string& out) { PutPart(source, i, out); });
  file.WriteRows(session.collectives.Size(),
                 [&](std::size_t i, std::string& out) { PutCollective(source, i, out); });
}

}  // namespace mpa::profiler_output
