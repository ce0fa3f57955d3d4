// SPDX-License-Identifier: Apache-2.0
// PROF_* and FRAMEWORK: a capture that was not parsed.
#include <array>
#include <utility>

#include "mpa/raw/session.h"
#include "mpa/readers/reader.h"
#include "raw_tables.h"

namespace mpa::readers {
namespace {

using raw::Parts;

// The parts of the capture from which the wanted tables are made.
Parts PartsOf(Tables wanted) {
  struct Source {
    Tables tables;
    Parts parts;
  };
  constexpr Tables kDevice = Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications |
                             Tables::kCommTasks | Tables::kOverlaps | Tables::kKernelStatistics |
                             Tables::kTransfers | Tables::kCommSummary | Tables::kHostCalls |
                             Tables::kDeviceRuns | Tables::kModelIterations;
  constexpr std::array<Source, 9> kSources = {{
      {Tables::kHostOps | Tables::kBackwardLinks | Tables::kQueuedWork | Tables::kPythonCalls |
           Tables::kGarbageCollections,
       Parts::kFramework},
      {kDevice, Parts::kCann},
      // Steps have a side on the device.
      {Tables::kLaunches | Tables::kSteps | Tables::kStepTimes | Tables::kKernels |
           Tables::kTransfers | Tables::kCommSummary,
       Parts::kFramework | Parts::kCann},
      {Tables::kOpDetails, Parts::kDetails},
      {Tables::kOpStacks, Parts::kStacks},
      {Tables::kKernels, Parts::kCounters},
      {Tables::kMemorySamples | Tables::kAllocations,
       Parts::kFramework | Parts::kCann | Parts::kAllocations | Parts::kMemory},
      {Tables::kMstx, Parts::kMarks | Parts::kFramework},
      {Tables::kCoreClocks, Parts::kFrequency},
  }};
  Parts parts = Parts::kNone;
  for (const Source& source : kSources) {
    if (Overlap(wanted, source.tables)) parts = parts | source.parts;
  }
  return parts;
}

// As databases name them.
void FillJob(const raw::SessionInfo& info, JobInfo& job) {
  job.host_uid = info.host_uid;
  job.host_name = info.host_name;
  for (const raw::Device& device : info.devices) job.devices.push_back({info.rank, device.id});
}

void ReadRawCapture(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  raw::Session session = raw::ReadSession(file.path, PartsOf(request.wanted));
  TrackNumbers tracks(trace.tracks);
  FillHostTables(session, request.wanted, tracks, trace);
  FillDeviceTables(session, request.wanted, tracks, trace);
  FillSummaryTables(session, request.wanted, trace);
  FillJob(session.info, trace.job);
  trace.strings = std::move(session.strings);
  trace.issues.Merge(session.issues);
}

}  // namespace

Reader RawCapture() {
  return {"raw captures", FileKind::kRawCapture,
          Tables::kHostOps | Tables::kOpDetails | Tables::kOpStacks | Tables::kLaunches |
              Tables::kKernels | Tables::kKernelTensors | Tables::kDeviceTasks |
              Tables::kCommunications | Tables::kCommTasks | Tables::kOverlaps |
              Tables::kMemorySamples | Tables::kAllocations | Tables::kKernelStatistics |
              Tables::kTransfers | Tables::kCommSummary | Tables::kSteps | Tables::kStepTimes |
              Tables::kPythonCalls | Tables::kBackwardLinks | Tables::kQueuedWork | Tables::kMstx |
              Tables::kCoreClocks | Tables::kHostCalls | Tables::kDeviceRuns |
              Tables::kModelIterations | Tables::kGarbageCollections,
          ReadRawCapture};
}

}  // namespace mpa::readers
