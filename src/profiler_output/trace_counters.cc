// SPDX-License-Identifier: Apache-2.0
// What the timeline shows of a device as a whole: its activity, core frequency and memory.
#include "trace_view.h"

namespace mpa::profiler_output {
namespace {

constexpr std::string_view kActivityNames[] = {"Computing", "Communication",
                                               "Communication(Not Overlapped)", "Free"};

void PutMemory(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::DeviceMemory& memory = source.session.device_memory;
  const TracePlace place{
      TraceProcess(source.session.info.process, Layer::kMemory, memory.device[i]), 0,
      memory.time[i]};
  const std::string whose = memory.whole_device[i] != 0 ? "Device/" : "APP/";
  const auto ddr = static_cast<double>(memory.ddr[i]);
  const auto hbm = static_cast<double>(memory.hbm[i]);
  PutCounter(out, whose + "DDR", place, "KB", Decimal{ddr / kBytesPerKilobyte});
  PutCounter(out, whose + "HBM", place, "KB", Decimal{hbm / kBytesPerKilobyte});
  PutCounter(out, whose + "Memory", place, "KB", Decimal{(ddr + hbm) / kBytesPerKilobyte});
}

}  // namespace

void WriteActivityEvents(const TraceSource& source, ChunkedFile& file) {
  const raw::Session& session = source.session;
  const raw::Activities& activities = session.activities;
  std::string names =
      DeviceRows(session, activities.device, "Overlap Analysis", Layer::kActivities);
  for (const std::int64_t device : Distinct(activities.device)) {
    const std::uint64_t process = TraceProcess(session.info.process, Layer::kActivities, device);
    for (std::size_t i = 0; i < std::size(kActivityNames); ++i) {
      const auto thread = static_cast<std::int64_t>(i);
      PutThread(names, process, thread, kActivityNames[i], thread);
    }
  }
  file.Write(names);
  file.WriteRows(activities.Size(), [&](std::size_t begin, std::size_t end, std::string& out) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto activity = static_cast<std::size_t>(activities.activity[i]);
      const TracePlace place{
          TraceProcess(session.info.process, Layer::kActivities, activities.device[i]),
          static_cast<std::int64_t>(activity), activities.start[i]};
      BeginSlice(out, "", place, Duration(activities.start[i], activities.end[i]),
                 kActivityNames[activity]);
      out += "}}";
    }
  });
}

void WriteCounterEvents(const TraceSource& source, ChunkedFile& file) {
  const raw::Session& session = source.session;
  const raw::CoreFrequencies& frequencies = session.frequencies;
  file.Write(DeviceRows(session, frequencies.device, "AI Core Freq", Layer::kCoreFrequency));
  file.WriteRows(frequencies.Size(), [&](std::size_t begin, std::size_t end, std::string& out) {
    for (std::size_t i = begin; i < end; ++i) {
      const TracePlace place{
          TraceProcess(session.info.process, Layer::kCoreFrequency, frequencies.device[i]), 0,
          frequencies.time[i]};
      PutCounter(out, "AI Core Freq", place, "MHz", frequencies.mhz[i]);
    }
  });
  file.Write(DeviceRows(session, session.device_memory.device, "NPU MEM", Layer::kMemory));
  file.WriteRows(session.device_memory.Size(),
                 [&](std::size_t begin, std::size_t end, std::string& out) {
                   for (std::size_t i = begin; i < end; ++i) PutMemory(source, i, out);
                 });
}

}  // namespace mpa::profiler_output
